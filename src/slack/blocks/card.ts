/**
 * The card of an ask: a pure function of the stored run. What is decided about stands on it whole, or in the thread before
 * it, or it offers no yes. Knows nothing of how a message gets to Slack.
 */
import type { KnownBlock } from "@slack/types"
import { utc } from "../../core/ask.ts"
import { ruleOf, type Ask, type Run } from "../../core/run.ts"
import type { Request } from "../../core/suspension.ts"
import { guarded, type Message } from "./limits.ts"
import { isLong, material, saidBeside, type Part } from "./material.ts"
import { buttons, refusals } from "./buttons.ts"
import { changes, doubtful, reasonOf, risk, signingIn } from "./glance.ts"
import { deciders, facts, granted, standing } from "./standing.ts"
import { headline, outcome } from "./outcome.ts"
import { agentIn, bold, code, exactly, header, quote, rich, section, short, until, words, type Rich } from "./rich.ts"
import { clip, count, escape, oneLine, toolName, visible, visibleJson } from "./text.ts"
import { shownArgs } from "../../core/mask.ts"

export interface CardView {
  run: Run
  ask: Ask
  request: Request
  /** The canonical args text, whole and unmasked. */
  args: string
  /** What the model said in the turn of the call. */
  why?: string
  /** Whether every message of `argsMessages` stands in Slack. */
  argsPosted: boolean
  /** Whom it pings: everybody who may decide, nobody, or these ids. */
  mention: boolean | readonly string[]
  /** Set where it stands outside the run's thread: the thread's address, as far as it is known. */
  elsewhere?: { link?: string }
  /** Ids of the channels where it stands as well. */
  alsoIn?: readonly string[]
  /** Which card it is of those that were asked for at once. */
  among?: { place: number; total: number }
  /** Nothing may be approved at the moment. */
  paused?: boolean
  /** Where people changed the args: the canonical text of what the agent wanted. */
  before?: string
  /** Why it was settled as it was, in the words of whoever settled it. */
  note?: string
  /** Whether its args can be changed in a form; known to the window alone unless said. */
  editable?: boolean
  /** Names of people, groups and channels by id, as far as they are known. */
  names?: Readonly<Record<string, string>>
}

export function card(view: CardView): Message {
  const { ask } = view
  const parts = material(view)
  const blocks: KnownBlock[] = [header(title(view))]
  if (ask.settled) blocks.push(rich(section(...outcome(ask, ask.settled)), ...granted(view), ...reasonOf(view)))
  if (ask.from === "doubt" && !ask.settled) blocks.push(...doubtful(view))
  blocks.push(...risk(view), ...changes(view), ...parts.map((part) => shownPart(part, view)))
  blocks.push(...signingIn(view))
  const warned = cautionsOf(parts)
  if (warned) blocks.push(warned)
  blocks.push(...reasons(view), rich(facts(view)))
  if (!ask.settled) blocks.push(...buttons(view, parts))
  return guarded({ text: sentence(view), blocks }, () => minimal(view))
}

function title({ ask, request, among }: CardView): string {
  const place = among === undefined || ask.settled ? "" : ` (${among.place} of ${among.total})`
  return `${headline(ask, request)}${place}`
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
  const { pieces } = part
  const total = Math.ceil(pieces.length / TOGETHER)
  const tool = toolName(view.ask.tool)
  return Array.from({ length: total }, (_, index) => {
    const title = `${part.title} of ${tool}, part ${index + 1} of ${total}`
    const follows = isAbove(view) ? "; the card with the question follows" : ""
    const about = `. ${count(part.text.length, "character")} in all${follows}. Fingerprint `
    return {
      text: escape(title),
      blocks: [
        rich(
          section(bold(title), about, code(short(view.ask.digest))),
          { type: "rich_text_preformatted", elements: pieces.slice(index * TOGETHER, (index + 1) * TOGETHER) },
          ...masked(part),
        ),
      ],
    }
  })
}

function shownPart(part: Part, view: CardView): KnownBlock {
  if (isLong(part)) {
    const thread = view.elsewhere ? "the thread of this message" : "this thread"
    const where = view.argsPosted
      ? `They stand in full in ${thread}${isAbove(view) ? ", right above this card" : ""}.`
      : `They are being posted to ${thread}, in full.`
    return rich(
      section(bold(part.title), `: ${count(part.text.length, "character")}, too long for this card. ${where}`),
      ...masked(part),
    )
  }
  const title = section(bold(part.title))
  if (part.url !== undefined) return rich(title, section({ type: "link", url: part.url, text: part.text }))
  return rich(title, part.exact ? exactly(part.text) : quote(part.text), ...masked(part))
}

/** The first version's pieces come before their card; those of an edited one, and in other places, after it. */
const isAbove = ({ ask, elsewhere }: CardView): boolean => ask.version === 1 && elsewhere === undefined

const masked = (part: Part): Rich[] =>
  part.masked === 0
    ? []
    : [section(words(`${count(part.masked, "value")} masked: the call gets the real one.`, { italic: true }))]

function cautionsOf(parts: readonly Part[]): KnownBlock | undefined {
  const warnings = [...new Set(parts.flatMap((part) => part.warnings))].slice(0, 8)
  if (warnings.length === 0) return undefined
  return rich(section(bold("⚠ Look closely"), ...warnings.map((warning) => `\n• ${clip(visible(warning), 300)}`)))
}

/** What others say about the call comes after what will really run, and is called what it is. */
function reasons(view: CardView): KnownBlock[] {
  const short = summary(view)
  const why = saidBeside(view, view.why ?? "")
  return [
    ...(short === "" ? [] : [rich(section(bold("In short"), ", by the tool's own summary:"), quote(clip(short, 900)))]),
    ...(why === ""
      ? []
      : [rich(section(bold("Why"), ", in the agent's own words, which nobody has checked:"), quote(clip(why, 700)))]),
  ]
}

/** A tool may sum its calls up; where none does, the Request of a guard says no more than the title. */
function summary(view: CardView): string {
  const { ask, request } = view
  if (ask.from !== "guard" || request.prompt === `Run ${ask.tool}`) return ""
  return saidBeside(view, request.prompt)
}

/** The push notification, and what a screen reader says. */
function sentence(view: CardView): string {
  const { ask, run } = view
  const title = headline(ask, view.request)
  const what = ask.settled || ask.from === "doubt" ? "" : saying(view)
  const who = clip(oneLine(run.requester.name ?? run.requester.user), 80)
  const until = ask.settled ? "" : ` Please decide by ${utc(ask.expiresAt)}.`
  return escape(`${title}${what}. Asked for by ${who}${agentIn(run)}.${counted(ask)}${until}`)
}

/** How far several have agreed, for the sentence. */
function counted(ask: Ask): string {
  const { quorum, votes } = standing(ask)
  return ask.settled || quorum === 1 ? "" : ` Approved by ${votes.length} of ${quorum}.`
}

/** What it is about, as far as a sentence has room for the whole of it. */
function saying(view: CardView): string {
  const said = oneLine(view.ask.from === "tool" ? saidBeside(view, view.request.prompt) : summary(view))
  if (said !== "") return `: ${clip(said, 200).replace(/\.$/, "")}`
  if (view.args.length > 1000) return ""
  const args = visibleJson(shownArgs(view.args, ruleOf(view.ask).mask).text)
  return args.length <= 200 && args !== "{}" ? ` with ${args}` : ""
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
      rich(section(note, "\n", bold("Decide by "), until(ask), "\n", bold("May decide "), ...deciders(view))),
      ...refusals(view),
    )
  }
  return { text: sentence(view), blocks }
}
