/**
 * What is decided about, as it is shown: masked, nothing hidden, whole. Says which part of it is too long for a card.
 */
import { canonical } from "../../core/digest.ts"
import { mask } from "../../core/mask.ts"
import type { CardView } from "./card.ts"
import { exactly } from "./rich.ts"
import { cautions, cost, visible, visibleJson } from "./text.ts"

export interface Part {
  title: string
  /** As it came, for warnings; never shown. */
  raw: string
  /** As it is shown, whole. */
  text: string
  /** How many places are masked. */
  masked: number
  /** JSON or an address, in which every character counts; else prose. */
  exact: boolean
  /** The most that the card has room for, and whether it is more. */
  room: number
  long: boolean
  /** What of it looks like something else. */
  warnings: string[]
  /** The text for messages of its own. */
  readonly pieces: ReturnType<typeof exactly>["elements"]
  /** Set when the text may be a link to what it says. */
  url?: string
}

export const isLong = (part: Part): boolean => part.long

/** In the order in which it is shown. The prompt of a guard or a doubt is our own, and the card's title says it. */
export function material(view: CardView): Part[] {
  const { ask, request } = view
  const parts = [part("Arguments", view.args, { exact: true, room: 2400 })]
  if (ask.from !== "tool") return parts
  const { schema: _schema, path: _path, ...data } = request.data ?? {}
  const asked =
    request.prompt.trim() === "" ? [] : [part("The tool asks", request.prompt, { exact: false, room: 3200 })]
  const address = request.url === undefined ? [] : [link(request.url)]
  const details =
    Object.keys(data).length === 0 ? [] : [part("Details from the tool", canonical(data), { exact: true, room: 1000 })]
  return [...asked, ...address, ...details, ...parts]
}

/** Texts of so many characters are looked at once, not each time that a message of their run is: it takes a while. */
const LONG = 4000
const KEPT = 32
const kept = new Map<string, Part>()

function part(title: string, raw: string, how: { exact: boolean; room: number }): Part {
  if (raw.length < LONG) return made(title, raw, how)
  const key = `${title}\n${String(how.exact)}\n${how.room}\n${raw}`
  const one = kept.get(key) ?? made(title, raw, how)
  kept.delete(key)
  kept.set(key, one)
  const [oldest] = kept.keys()
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest)
  return one
}

function made(title: string, raw: string, how: { exact: boolean; room: number }): Part {
  const { text: seen, count } = mask(raw)
  const text = how.exact ? visibleJson(seen) : visible(seen)
  let pieces: Part["pieces"] | undefined
  return {
    title,
    raw,
    text,
    masked: count,
    warnings: cautions(raw, text),
    long: cost(text) > how.room,
    get pieces() {
      return (pieces ??= exactly(text).elements)
    },
    ...how,
  }
}

/** The whole address, as a link only where the link can be just that: https, and nothing in it masked. */
function link(raw: string): Part {
  const url = new URL(raw)
  const one = part("Address to open", url.href, { exact: true, room: 700 })
  const safe = url.protocol === "https:" && one.masked === 0 && one.text === url.href && !isLong(one)
  const plain =
    url.protocol === "https:"
      ? []
      : ["The address is not encrypted (http): others may read or change what passes there."]
  return { ...one, raw, warnings: [...cautions(raw, one.text), ...plain], ...(safe ? { url: url.href } : {}) }
}
