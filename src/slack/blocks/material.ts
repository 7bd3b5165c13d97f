/**
 * What is decided about, as it is shown: masked, nothing hidden, whole. Says which part of it is too long for a card.
 */
import { canonical } from "../../core/digest.ts"
import { ruleOf } from "../../core/run.ts"
import { MASKED, shownArgs, shownBeside, type Masked } from "../../core/mask.ts"
import type { CardView } from "./card.ts"
import { Kept } from "./kept.ts"
import { exactly } from "./rich.ts"
import { cautions, cost, UNSEEN, visible, visibleEnds, visibleJson } from "./text.ts"

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
  const args = part(view, "Arguments", view.args, { exact: true, room: 2400 })
  if (ask.from !== "tool") return [args]
  const { schema: _schema, path: _path, ...data } = request.data ?? {}
  const asked =
    request.prompt.trim() === "" ? [] : [part(view, "The tool asks", request.prompt, { exact: false, room: 3200 })]
  // Where somebody signs in is shown to them alone.
  const address = request.url === undefined || request.kind === "authorization" ? [] : [link(view, request.url)]
  const details =
    Object.keys(data).length === 0
      ? []
      : [part(view, "Details from the tool", canonical(data), { exact: true, room: 1000 })]
  return [...asked, ...address, ...details, args]
}

/** Text that goes with a call, as anybody may see it: without what is masked in its args. */
export const beside = ({ ask, args }: Pick<CardView, "ask" | "args">, text: string): string =>
  shownBeside(text, args, ruleOf(ask).mask).text

const said = new Kept<string>()

/** The same as it is shown, whole. */
export const saidBeside = (view: Pick<CardView, "ask" | "args">, text: string): string =>
  said.get([text, ...ofRule(view)], () => visible(beside(view, text)).trim())

/** What a text that goes with a call is masked by. */
function ofRule({ ask, args }: Pick<CardView, "ask" | "args">): (string | readonly string[])[] {
  const paths = ruleOf(ask).mask ?? []
  return [paths, paths.length === 0 ? "" : args]
}

interface How {
  exact: boolean
  room: number
}

const parts = new Kept<Part>()

function part(view: CardView, title: string, raw: string, how: How): Part {
  const { ask, args } = view
  const paths = ruleOf(ask).mask ?? []
  return parts.get([raw, title, how.exact, how.room, raw === args, ...ofRule(view)], () =>
    made(title, raw, how, raw === args ? shownArgs(raw, paths) : shownBeside(raw, args, paths)),
  )
}

function made(title: string, raw: string, how: How, { text: seen, count, loose }: Masked): Part {
  const text = how.exact ? visibleJson(seen) : visibleEnds(visible(seen))
  let pieces: Part["pieces"] | undefined
  return {
    title,
    raw,
    text,
    masked: count,
    warnings: warningsOf(seen, text, how.exact, { count, loose }),
    long: cost(text) > how.room,
    get pieces() {
      return (pieces ??= exactly(text).elements)
    },
    ...how,
  }
}

/** Masks count as one word there: what is warned of may go on behind one. A warning repeats no secret. */
function warningsOf(seen: string, text: string, exact: boolean, masks: Pick<Masked, "count" | "loose">): string[] {
  const [plain, shown] = [seen, text].map((one) => one.replaceAll(MASKED, "masked"))
  const controls = exact && CONTROL.test(text) ? [UNSEEN] : []
  return [...new Set([...controls, ...cautions(plain ?? "", shown ?? ""), ...masking(seen, masks)])]
}

/** JSON's own escape of a character that can't be seen, not the letters of one. */
const CONTROL = /(?<!\\)(?:\\\\)*\\(?:u[\da-f]{4}|[bf])/

/** What a mask might hide, and what only looks like one. */
function masking(seen: string, { count, loose }: Pick<Masked, "count" | "loose">): string[] {
  const found: string[] = []
  if (loose > 0)
    found.push(
      "A masked value has blanks or signs in it, and a command could hide there: have it shown before you agree.",
    )
  if ([...seen.matchAll(MASKED)].length > count)
    found.push("Words in brackets look like a masked value and are none: they are what the call gets.")
  return found
}

/** The whole address, as a link only where the link can be just that: https, and nothing in it masked. */
function link(view: CardView, raw: string): Part {
  const url = new URL(raw)
  const one = part(view, "Address to open", url.href, { exact: true, room: 700 })
  const safe = url.protocol === "https:" && one.masked === 0 && one.text === url.href && !isLong(one)
  const plain =
    url.protocol === "https:"
      ? []
      : ["The address is not encrypted (http): others may read or change what passes there."]
  // As an address it is written, its host is the real one already.
  const posing = warningsOf(beside(view, raw), one.text, false, { count: 1, loose: 0 })
  return {
    ...one,
    raw,
    warnings: [...new Set([...posing, ...one.warnings]), ...plain],
    ...(safe ? { url: url.href } : {}),
  }
}
