/**
 * The window with everything about an ask: what is decided about in full, under which rule, who said what, and its history.
 * Pure; masked values stay masked here. What does not fit into a window is said, with where it stands.
 */
import type { KnownBlock, ModalView } from "@slack/types"
import { utc } from "../../core/ask.ts"
import type { Fact } from "../../core/fact.ts"
import { decidersOf, ruleOf, type Ask } from "../../core/run.ts"
import { mask } from "../../core/mask.ts"
import type { CardView } from "./card.ts"
import { windowOf } from "./forms.ts"
import { material, type Part } from "./material.ts"
import { headline, outcome } from "./outcome.ts"
import { agentIn, bold, code, header, instant, nameById, nameOf, rich, section, words, type Rich } from "./rich.ts"
import { ruleLines } from "./rule.ts"
import { chunks, clip, count, cost, oneLine, visible } from "./text.ts"
import { refusalOf } from "./why.ts"

export interface DetailsView extends Pick<CardView, "run" | "ask" | "request" | "args" | "names"> {
  /** Oldest first. */
  history: readonly Fact[]
}

/** Slack takes 250,000 bytes and 100 blocks of a view; a character may cost six of them. */
const ROOM = 150_000
/** Of which the history has at most these. */
const HISTORY = 40_000
const PIECE = 2800

export function detailsView(view: DetailsView): ModalView {
  const { ask, request } = view
  const parts = material({ ...view, argsPosted: false, mention: false })
  const history = told(view)
  let room = ROOM - history.reduce((sum, line) => sum + cost(line), 0)
  const blocks: KnownBlock[] = [header(headline(ask, request)), rich(state(view))]
  for (const part of parts) {
    const { block, spent } = whole(part, room)
    room -= spent
    blocks.push(...block)
  }
  blocks.push(rich(section(bold("Digest of the arguments"), "\n", code(ask.digest))))
  blocks.push(rich(section(bold("Rule "), code(ruleOf(ask).name ?? "the file's defaults"), ...rule(view))))
  if ((ask.votes ?? []).length > 0) blocks.push(rich(votes(ask)))
  return windowOf("details", [...blocks, ...listed(history)])
}

function state({ run, ask }: DetailsView): Rich {
  const what = ask.settled
    ? outcome(ask, ask.settled)
    : [...words("Open until "), ...instant(ask.expiresAt, true), ...words(".")]
  return section(
    what,
    "\n",
    bold("Asked for by "),
    `${nameOf(run.requester)}${agentIn(run)}: “${clip(oneLine(mask(run.title).text), 400)}”`,
    "\n",
    bold("Asked "),
    instant(ask.at),
    `, version ${ask.version}, call ${ask.call}, run `,
    code(run.id),
  )
}

/** A part in full, as far as there is room. */
function whole(part: Part, room: number): { block: KnownBlock[]; spent: number } {
  const pieces = chunks(part.text === "" ? " " : part.text, PIECE)
  const shown: string[] = []
  let spent = 0
  for (const piece of pieces) {
    if (spent + cost(piece) > room || shown.length >= MOST) break
    shown.push(piece)
    spent += cost(piece)
  }
  const left = pieces.slice(shown.length).reduce((sum, piece) => sum + piece.length, 0)
  const rest =
    left === 0
      ? []
      : [
          section(
            words(
              `${count(left, "more character")} don't fit here. All of it stands in the thread, in the messages beside its card.`,
              { italic: true },
            ),
          ),
        ]
  const hidden = part.masked === 0 ? "" : `, ${count(part.masked, "value")} masked`
  const title = rich(section(bold(part.title), ` (${count(part.text.length, "character")}${hidden})`))
  const blocks = shown.map((piece) =>
    rich({ type: "rich_text_preformatted" as const, elements: [{ type: "text" as const, text: piece }] }),
  )
  return { block: [title, ...blocks, ...rest.map((it) => rich(it))], spent }
}

/** Blocks of one part. */
const MOST = 40

function rule({ ask, names = {} }: DetailsView): string[] {
  const now = ruleOf(ask)
  const called = (id: string): string => nameById(id, names[id])
  const lists = [now.approvers, ...(now.also ?? [])].map((list) => list.map(called).join(", ") || "nobody")
  const who = now.selfApproval === "confirm" ? [] : [`Who decides: ${lists.join("; and also one of: ")}`]
  const { escalate } = ask.rule
  const later = escalate ? [`Who decides as well after that: ${escalate.to.map(called).join(", ")}`] : []
  const since =
    ask.escalated === undefined
      ? []
      : [`More people were brought in at ${utc(ask.escalated)}: ${decidersOf(ask).map(called).join(", ")}`]
  return [...who, ...since, ...ruleLines(now), ...(ask.escalated === undefined ? later : [])].map(
    (line) => `\n• ${clip(visible(line), 1500)}`,
  )
}

function votes(ask: Ask): Rich {
  const lines = (ask.votes ?? []).map(({ by, at }) => `\n• ${nameOf(by)}, ${utc(at)}`)
  return section(bold(`Approved so far by ${lines.length} of ${ruleOf(ask).quorum ?? 1}`), ...lines)
}

/** The newest facts that there is room for, oldest first, each a line. */
function told({ history }: DetailsView): string[] {
  const lines: string[] = []
  let spent = 0
  for (const fact of history.toReversed()) {
    const line = factLine(fact)
    spent += cost(line)
    if (spent > HISTORY) break
    lines.unshift(line)
  }
  const left = history.length - lines.length
  return left === 0 ? lines : [`(${count(left, "earlier entry").replace("entrys", "entries")} left out)`, ...lines]
}

/** `2026-11-29 12:30 UTC  refused, Oscar (U0OSCAR), by click, version 1: not among those who may decide` */
export function factLine(fact: Fact): string {
  const { at, what, by, via, version, note, repeats } = fact
  const who = by ? `${nameOf(by)} by ${via}` : via === "bot" ? "" : `by ${via}`
  const head = [`${utc(at)}  ${what}`, who, version === undefined ? "" : `version ${version}`].filter((it) => it !== "")
  const reason = what === "refused" ? refusalOf(fact) : reminderOf(fact)
  const said = [reason, note === undefined ? "" : `“${mask(note).text}”`].filter((it) => it !== "").join(": ")
  const more = repeats === undefined ? "" : ` (and ${repeats} more like it)`
  return clip(oneLine(`${head.join(", ")}${said === "" ? "" : `: ${said}`}${more}`), 1200)
}

const reminderOf = ({ what, outcome = "" }: Fact): string =>
  what === "reminded" && outcome !== "" ? `reminder ${outcome}` : outcome

function listed(lines: readonly string[]): KnownBlock[] {
  if (lines.length === 0) return []
  const pieces = chunks(lines.join("\n"), PIECE, true)
  return [
    rich(section(bold("History"), ", as it is recorded")),
    ...pieces.map((piece) =>
      rich({
        type: "rich_text_preformatted" as const,
        elements: [{ type: "text" as const, text: piece.trimEnd() || " " }],
      }),
    ),
  ]
}
