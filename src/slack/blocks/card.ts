/**
 * The card of an ask: a pure function of the stored run. What is decided about stands on it whole, or in the thread before
 * it, or it offers no yes. Knows nothing of how a message gets to Slack.
 */
import type { KnownBlock } from "@slack/types"
import { utc } from "../../core/ask.ts"
import type { Ask, Run } from "../../core/run.ts"
import type { Request } from "../../core/suspension.ts"
import { guarded, type Message } from "./limits.ts"
import { isLong, material, type Part } from "./material.ts"
import { buttons } from "./buttons.ts"
import { headline, outcome } from "./outcome.ts"
import {
  bold,
  code,
  exactly,
  header,
  instant,
  mention,
  nameOf,
  quote,
  rich,
  section,
  words,
  type Rich,
} from "./rich.ts"
import { cautions, clip, count, escape, oneLine, visible } from "./text.ts"
import { mask } from "../../core/mask.ts"

export interface CardView {
  run: Run
  ask: Ask
  request: Request
  /** The canonical args text, whole and unmasked. */
  args: string
  /** What the model said in the turn of the call. */
  why?: string
  /** Whether every message of `argsMessages` stands in the thread. */
  argsPosted: boolean
  /** Set for the first card of a turn: it pings those who may decide. */
  mention: boolean
  /** Nothing may be approved at the moment. */
  paused?: boolean
  /** Names of people, groups and channels by id, as far as they are known. */
  names?: Readonly<Record<string, string>>
}

/** Characters of a fingerprint that are shown: enough to compare by eye. */
export const short = (digest: string): string => digest.slice(0, 12)

export function card(view: CardView): Message {
  const { ask } = view
  const parts = material(view)
  const blocks: KnownBlock[] = [header(headline(ask, view.request))]
  if (ask.settled) blocks.push(rich(section(...outcome(ask, ask.settled))))
  if (ask.from === "doubt" && !ask.settled) blocks.push(doubtful(view))
  blocks.push(...parts.map((part) => shownPart(part, view)))
  const warned = cautionsOf(parts)
  if (warned) blocks.push(warned)
  blocks.push(...reasons(view), rich(facts(view)))
  if (!ask.settled) blocks.push(...buttons(view, parts))
  return guarded({ text: sentence(view), blocks }, () => minimal(view))
}

/** The messages that hold what is too long for the card, whole, in order; none when the card has it all. */
export function argsMessages(view: CardView): Message[] {
  return material(view)
    .filter(isLong)
    .flatMap((part) => inFull(part, view))
}

/** Pieces of one long part in one message. */
const TOGETHER = 3

function inFull(part: Part, view: CardView): Message[] {
  const pieces = exactly(part.text).elements
  const total = Math.ceil(pieces.length / TOGETHER)
  return Array.from({ length: total }, (_, index) => {
    const shown = pieces.slice(index * TOGETHER, (index + 1) * TOGETHER)
    const title = `${part.title}, part ${index + 1} of ${total}`
    const about = ` · for the request “${headline(view.ask, view.request)}” below · ${count(part.text.length, "character")} in all · fingerprint `
    return {
      text: escape(`${title}: ${headline(view.ask, view.request)}`),
      blocks: [
        rich(
          section(bold(title), about, code(short(view.ask.digest))),
          ...shown.map((piece): Rich => ({ type: "rich_text_preformatted", elements: [piece] })),
          ...masked(part),
        ),
      ],
    }
  })
}

function shownPart(part: Part, view: CardView): KnownBlock {
  if (isLong(part)) {
    const where = view.argsPosted
      ? "They stand in full in this thread, right above this card."
      : "They are being posted to this thread in full; Approve appears when all of it is there."
    return rich(
      section(bold(part.title), `: ${count(part.text.length, "character")}, too long for this card. ${where}`),
      ...masked(part),
    )
  }
  const title = section(bold(part.title))
  if (part.url !== undefined) return rich(title, section({ type: "link", url: part.url, text: part.text }))
  return rich(title, part.exact ? exactly(part.text) : quote(part.text), ...masked(part))
}

const masked = (part: Part): Rich[] =>
  part.masked === 0
    ? []
    : [section(words(`${count(part.masked, "value")} masked: the call gets the real one.`, { italic: true }))]

function cautionsOf(parts: readonly Part[]): KnownBlock | undefined {
  const warnings = [
    ...new Set([...parts.flatMap((part) => cautions(part.raw)), ...parts.flatMap((part) => part.warnings)]),
  ].slice(0, 8)
  if (warnings.length === 0) return undefined
  return rich(section(bold("Look closely"), ...warnings.map((warning) => `\n• ${clip(visible(warning), 300)}`)))
}

/** The model's own words come after what will really run, and are called what they are. */
function reasons(view: CardView): KnownBlock[] {
  const why = visible(mask(view.why ?? "").text).trim()
  if (why === "") return []
  return [rich(section(bold("Why"), ", in the agent's own words, which nobody has checked:"), quote(clip(why, 700)))]
}

function doubtful(view: CardView): KnownBlock {
  const { ask, run } = view
  const started = run.calls.find((call) => call.id === ask.call)?.attempt?.at
  const since = started === undefined ? [] : [words(" It started "), instant(started), words(".")]
  return rich(
    section(
      code(visible(ask.tool)),
      " was started, and whoever ran it stopped before its result arrived. It may have run wholly, in part or not at all.",
      ...since,
      " Please look where it would have left its mark, and then say what is true. It will not run again by itself.",
    ),
  )
}

function facts(view: CardView): Rich {
  const { run, ask } = view
  const lines = [
    [bold("Asked for by "), words(`${nameOf(run.requester)}: “${clip(oneLine(mask(run.title).text), 400)}”`)],
    ...(ask.settled
      ? []
      : [
          [bold("Decide by "), instant(ask.expiresAt), words(". No answer until then is a no.")],
          [bold("May decide "), ...deciders(view)],
        ]),
    [
      bold("Fingerprint "),
      code(short(ask.digest)),
      words(ask.version > 1 ? `, version ${ask.version}` : ""),
      words(" · run "),
      code(run.id),
    ],
  ]
  return section(...lines.flatMap((line, index) => (index === 0 ? line : [words("\n"), ...line])))
}

function deciders(view: CardView): ReturnType<typeof words>[] {
  const { run, ask } = view
  const { approvers, selfApproval } = ask.rule
  const named = (id: string): ReturnType<typeof words> =>
    view.mention
      ? [mention(id)]
      : words(nameOf({ user: id, ...(view.names?.[id] === undefined ? {} : { name: view.names[id] }) }))
  if (selfApproval === "confirm") return [named(run.requester.user), words(", who asked for this run")]
  if (approvers.length === 0) return [words("nobody: no approver is configured")]
  const few = approvers.slice(0, 15)
  const rest = approvers.length - few.length
  const list = few.flatMap((id, index) => (index === 0 ? [named(id)] : [words(", "), named(id)]))
  const more = rest > 0 ? [words(` and ${rest} more`)] : []
  const own = !selfApproval ? [words("; whoever asked for the run may only decline")] : []
  return [...list, ...more, ...own]
}

/** The push notification, and what a screen reader says. */
function sentence(view: CardView): string {
  const { ask, run } = view
  const title = oneLine(headline(ask, view.request))
  const head = `${title} (asked for by ${clip(oneLine(run.requester.name ?? run.requester.user), 80)})`
  if (ask.settled) return escape(`${head}.`)
  return escape(`${head}. Please decide by ${utc(ask.expiresAt)}.`)
}

/** What is shown when Slack would not take the card: true, small, and without a yes. */
export function minimal(view: CardView): Message {
  const { ask } = view
  const blocks: KnownBlock[] = [header(headline(ask, view.request))]
  if (ask.settled) blocks.push(rich(section(...outcome(ask, ask.settled))))
  else {
    const note =
      "This request does not fit into a Slack message, so it can't be approved here. Decline it, or let it expire."
    blocks.push(
      rich(section(note, "\n", bold("Decide by "), instant(ask.expiresAt))),
      ...buttons({ ...view, paused: true }, []),
    )
  }
  return { text: sentence(view), blocks }
}
