/**
 * The card of an ask: a pure function of the stored run. What is decided about stands on it whole, or in the thread before
 * it, or it offers no yes. Knows nothing of how a message gets to Slack.
 */
import type { KnownBlock, RichTextElement } from "@slack/types"
import { utc } from "../../core/ask.ts"
import { ruleOf, type Ask, type Call, type Run, type Vote } from "../../core/run.ts"
import type { Request } from "../../core/suspension.ts"
import { guarded, type Message } from "./limits.ts"
import { beside, isLong, material, type Part } from "./material.ts"
import { buttons, refusals } from "./buttons.ts"
import { differences } from "./difference.ts"
import { headline, outcome } from "./outcome.ts"
import {
  bold,
  code,
  exactly,
  header,
  instant,
  mention,
  nameById,
  nameOf,
  quote,
  rich,
  section,
  until,
  words,
  type Rich,
} from "./rich.ts"
import { cautions, clip, count, escape, oneLine, visible, visibleJson } from "./text.ts"
import { isGrantable } from "../../core/grant.ts"
import { mask, shownArgs } from "../../core/mask.ts"
import { grantLabel, grantWords } from "./rule.ts"

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

/** Characters of a fingerprint that are shown: enough to compare by eye. */
export const short = (digest: string): string => digest.slice(0, 12)

export function card(view: CardView): Message {
  const { ask } = view
  const parts = material(view)
  const blocks: KnownBlock[] = [header(title(view))]
  if (ask.settled) blocks.push(rich(section(...outcome(ask, ask.settled)), ...reasonOf(view)))
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
  const tool = clip(oneLine(view.ask.tool), 100)
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
  const why = visible(beside(view, view.why ?? "")).trim()
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
  return visible(beside(view, request.prompt)).trim()
}

function doubtful(view: CardView): KnownBlock[] {
  const { ask, run } = view
  const call = run.calls.find((call) => call.id === ask.call)
  const started = call?.attempt?.at
  const since = started === undefined ? [] : [words(" "), instant(started)]
  const again = (ruleOf(ask).quorum ?? 1) > 1 ? " It takes as many approvals as the call itself." : ""
  return [
    rich(
      section(
        code(clip(oneLine(ask.tool), 100)),
        " was started",
        ...since,
        `, in the run of ${nameOf(run.requester)}, and whoever ran it stopped before its result arrived. It may have run wholly, in part or not at all. Check whether it took effect, then press what is true; it will not run again by itself.`,
      ),
      list([
        [bold("It was done"), words(": it is not run again, and the agent is told that it was done.")],
        [
          bold("Run it again"),
          words(`: it starts once more with the same arguments; what it did before may happen twice.${again}`),
        ],
        [bold("It failed"), words(": it is not run again, and the agent is told that it failed.")],
      ]),
    ),
  ]
}

const list = (items: RichTextElement[][][]): Rich => ({
  type: "rich_text_list",
  style: "bullet",
  elements: items.map((parts) => section(...parts)),
})

/** Where somebody is to sign in, as far as everybody may know. */
function signingIn({ run, ask, request }: CardView): KnownBlock[] {
  if (ask.settled || ask.from !== "tool" || ask.kind !== "authorization" || request.url === undefined) return []
  const host = URL.canParse(request.url) ? new URL(request.url).host : "an address that can't be read"
  const odd = cautions(request.url, request.url).map((warning) => `\n• ${clip(visible(warning), 300)}`)
  return [
    rich(
      section(
        bold("Sign in at "),
        code(clip(oneLine(host), 300)),
        `. The address is shown to ${nameOf(run.requester)} alone, by Open sign-in. Opening it answers nothing; whether it was done is checked by the tool.`,
        ...odd,
      ),
    ),
  ]
}

/** What a call does, as the tool's author declares it. */
const EFFECTS: Record<Call["effects"], string> = {
  none: "Read-only: it changes nothing.",
  repeatable: "Has effects. Running it twice does no more than once.",
  once: "Has effects.",
}

/** Of a call that is still there. What its author says is said to be theirs. */
function risk({ run, ask }: CardView): KnownBlock[] {
  const call = run.calls.find((call) => call.id === ask.call)
  if (!call || ask.settled) return []
  const destructive = call.destructive === true ? [bold("⚠ Destructive: what it does may not be undone. ")] : []
  const rest = call.destructive === true ? "" : EFFECTS[call.effects]
  return [
    rich(
      section(...destructive, words(rest), words(`${rest === "" ? "" : " "}(As the tool declares.)`, { italic: true })),
    ),
  ]
}

/** Why it was settled so. */
function reasonOf({ ask, note }: CardView): Rich[] {
  if (note === undefined || note.trim() === "") return []
  const { by } = ask.settled ?? {}
  const whose = by ? `, in the words of ${nameOf(by)}:` : ":"
  return [section(bold("Reason"), whose), quote(clip(visible(mask(note).text).trim(), 900))]
}

/** What people changed of what the agent wanted. */
function changes(view: CardView): KnownBlock[] {
  const { ask, before } = view
  if (before === undefined || ask.version === 1) return []
  const found = differences(before, view.args, ruleOf(ask).mask)
  const names = [...new Set((ask.editors ?? []).map(nameOf))].join(", ")
  const lines = found.lines.map((line) => [
    code(line.path),
    words(": "),
    words(line.before),
    words("  →  "),
    words(line.after),
  ])
  const more =
    found.more === 0 ? [] : [[words(`${count(found.more, "further place")}, in the details`, { italic: true })]]
  const none = found.lines.length === 0 ? [[words("Nothing: it is what the agent wanted again")]] : []
  return [
    rich(
      section(bold(`Changed by ${clip(names, 600)}`), `, since the agent asked (now version ${ask.version})`),
      list([...lines, ...more, ...none]),
    ),
  ]
}

function facts(view: CardView): Rich {
  const { run, ask } = view
  const lines = [
    [bold("Asked for by "), words(`${nameOf(run.requester)}: “${clip(oneLine(mask(run.title).text), 400)}”`)],
    ...(ask.settled
      ? []
      : [
          [bold("Decide by "), until(ask), words(`. ${silence(view)}`)],
          ...approvals(view),
          [bold("May decide "), ...deciders(view)],
          ...broughtIn(view),
          ...alsoAsked(view),
          ...grantable(view),
        ]),
    [
      bold("Fingerprint "),
      code(short(ask.digest)),
      words(ask.version > 1 ? `, version ${ask.version}` : ""),
      words(" · run "),
      code(run.id),
      ...threadOf(view),
    ],
  ]
  return section(...lines.flatMap((line, index) => (index === 0 ? line : [words("\n"), ...line])))
}

/** The address of the run's thread, for who reads its card elsewhere. */
function threadOf({ elsewhere }: CardView): ReturnType<typeof words> {
  const link = elsewhere?.link
  return link !== undefined && link.length < 1000
    ? [...words(" · "), { type: "link", url: link, text: "open its thread" }]
    : []
}

const silence = ({ ask }: CardView): string =>
  ask.from === "doubt" ? "Without an answer it counts as failed." : "No answer until then is a no."

/** Where several must agree: who did, and how many are missing. */
function approvals(view: CardView): ReturnType<typeof words>[][] {
  const { quorum, votes } = standing(view.ask)
  if (quorum === 1) return []
  const said = votes.flatMap(({ by, at }, index) => [words(`${index === 0 ? "" : ", "}${nameOf(by)} `), instant(at)])
  const missing = quorum - votes.length
  const start = votes.length === 0 ? "nobody yet" : ""
  const what = view.ask.from === "doubt" ? "must want it to run again" : "must approve; one decline settles it"
  return [
    [
      bold(`Approved by ${votes.length} of ${quorum}: `),
      words(start),
      ...said,
      words(`. ${missing === 1 ? "One more person" : `${missing} more people`} ${what}.`),
    ],
  ]
}

/** Who said yes to this version, and how many must. To say that a call was done takes one. */
const standing = (ask: Ask): { quorum: number; votes: readonly Vote[] } => ({
  quorum: ruleOf(ask).quorum ?? 1,
  votes: ask.votes ?? [],
})

/** What the button beside Approve stands for. */
function grantable({ ask }: CardView): ReturnType<typeof words>[][] {
  const rule = ruleOf(ask)
  if (ask.from !== "guard" || !isGrantable(rule)) return []
  return [
    [bold(`“${grantLabel(rule)}”`), words(` approves this call and more: ${lowered(clip(grantWords(rule), 600))}`)],
  ]
}

const lowered = (sentence: string): string => `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`

/** Whoever decides since nobody answered for a while. */
function alsoAsked({ alsoIn = [], names }: CardView): ReturnType<typeof words>[][] {
  const channels = alsoIn.map((id) => oneLine(names?.[id] ?? `channel ${id}`)).join(", ")
  return channels === "" ? [] : [[bold("Also asked in "), words(clip(channels, 300))]]
}

function broughtIn(view: CardView): ReturnType<typeof words>[][] {
  const { escalated, rule } = view.ask
  if (escalated === undefined || rule.escalate === undefined) return []
  return [[bold("Brought in "), instant(escalated), words(": "), ...named(view, rule.escalate.to.slice(0, 12))]]
}

function deciders(view: CardView): ReturnType<typeof words>[] {
  const { run, ask } = view
  const { approvers, also = [], selfApproval } = ask.rule
  const asker = nameOf(run.requester)
  if (selfApproval === "confirm") return [...named(view, [run.requester.user]), words(", who asked for this run")]
  if (approvers.length === 0) return [words("nobody: no approver is configured")]
  const lists = [approvers, ...also].map((list, index) => [
    ...(index === 0 ? [] : [words(index === 1 ? "; who must also be one of " : " and of ")]),
    ...few(view, list),
  ])
  return [
    ...lists.flat(),
    words(selfApproval ? "" : `; ${asker} may only ${ask.from === "doubt" ? "say that it failed" : "decline"}`),
  ]
}

function few(view: CardView, list: readonly string[]): ReturnType<typeof words>[] {
  const rest = list.length - FEW
  return [...named(view, list.slice(0, FEW)), ...(rest > 0 ? [words(` and ${rest} more`)] : [])]
}

/** People and groups of one list that are named. */
const FEW = 12

/** People and groups one after another: pinged, or by name. */
function named(view: CardView, ids: readonly string[]): ReturnType<typeof words>[] {
  if (isPinged(view)) return ids.map((id, index) => [...words(index === 0 ? "" : ", "), ...deciderOf(view, id)])
  return [words(clip(ids.map((id) => nameIn(view, id)).join(", "), 1500))]
}

/** Whether anybody is pinged at all. */
const isPinged = ({ ask, mention }: CardView): boolean =>
  !ask.settled && (typeof mention === "boolean" ? mention : mention.length > 0)

const deciderOf = (view: CardView, id: string): RichTextElement[] =>
  view.mention === true || (view.mention !== false && view.mention.includes(id))
    ? [mention(id)]
    : words(nameIn(view, id))

const nameIn = ({ run, names }: CardView, id: string): string =>
  nameById(id, names?.[id] ?? (id === run.requester.user ? run.requester.name : undefined))

/** The push notification, and what a screen reader says. */
function sentence(view: CardView): string {
  const { ask, run } = view
  const title = headline(ask, view.request)
  const what = ask.settled || ask.from === "doubt" ? "" : saying(view)
  const who = clip(oneLine(run.requester.name ?? run.requester.user), 80)
  const until = ask.settled ? "" : ` Please decide by ${utc(ask.expiresAt)}.`
  return escape(`${title}${what}. Asked for by ${who}.${counted(ask)}${until}`)
}

/** How far several have agreed, for the sentence. */
function counted(ask: Ask): string {
  const { quorum, votes } = standing(ask)
  return ask.settled || quorum === 1 ? "" : ` Approved by ${votes.length} of ${quorum}.`
}

/** What it is about, as far as a sentence has room for the whole of it. */
function saying(view: CardView): string {
  const said = oneLine(view.ask.from === "tool" ? beside(view, view.request.prompt) : summary(view))
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
