/**
 * What is decided about, as it is shown: masked, nothing hidden, whole. Says which part of it is too long for a card.
 */
import { canonical } from "../../core/digest.ts"
import { mask } from "../../core/mask.ts"
import type { CardView } from "./card.ts"
import { cost, visible, visibleJson } from "./text.ts"

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
  /** The most that the card has room for. */
  room: number
  warnings: string[]
  /** Set when the text may be a link to what it says. */
  url?: string
}

export const isLong = (part: Part): boolean => cost(part.text) > part.room

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
    Object.keys(data).length === 0 ? [] : [part("Details from the tool", canonical(data), { exact: true, room: 1200 })]
  return [...asked, ...address, ...details, ...parts]
}

function part(title: string, raw: string, how: { exact: boolean; room: number }): Part {
  const { text, count } = mask(raw)
  return { title, raw, text: how.exact ? visibleJson(text) : visible(text), masked: count, warnings: [], ...how }
}

/** The whole address, as a link only where the link can be just that: https, and nothing in it masked. */
function link(raw: string): Part {
  const url = new URL(raw)
  const one = part("Address to open", url.href, { exact: true, room: 1500 })
  const safe = url.protocol === "https:" && one.masked === 0 && one.text === url.href && !isLong(one)
  const plain =
    url.protocol === "https:"
      ? []
      : ["The address is not encrypted (http): others may read or change what passes there."]
  return { ...one, raw, warnings: plain, ...(safe ? { url: url.href } : {}) }
}
