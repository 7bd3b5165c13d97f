/** What an ask is called, and what came of it, in words for whoever reads the card. */
import type { RichTextElement } from "@slack/types"
import type { Person } from "../../core/fact.ts"
import type { Ask, Settled } from "../../core/run.ts"
import type { Request } from "../../core/suspension.ts"
import { bold, instant, nameOf, words } from "./rich.ts"
import { toolName } from "./text.ts"

/** The card's title: what is asked or, once it is settled, what was said. At most 140 characters. */
export function headline(ask: Ask, request: Pick<Request, "kind">): string {
  const tool = toolName(ask.tool)
  if (ask.settled) return `${verdict(ask, ask.settled)}: ${tool}`
  if (ask.from === "doubt") return `Unknown outcome: ${tool}`
  if (ask.from === "guard") return `The agent wants to run ${tool}`
  switch (request.kind) {
    case "authorization":
      return `${tool} needs somebody to sign in`
    case "input":
    case "question":
      return `${tool} has a question`
    default:
      return `${tool} asks for approval`
  }
}

/** A few words, for titles and lists. */
export function verdict(ask: Ask, settled: Settled): string {
  if (ask.from === "doubt" || isKnown(settled)) return doubtVerdict(settled)
  if (settled.ok) return AGREED[ask.kind]?.title ?? "Approved"
  return REFUSED[settled.reason ?? ""] ?? "Declined"
}

/** What a yes is called, by what was asked: in a title, and before the name of who gave it. */
const AGREED: Record<string, { title: string; by: string }> = {
  input: { title: "Answered", by: "Answered by" },
  question: { title: "Answered", by: "Answered by" },
  authorization: { title: "Signed in", by: "Done, says" },
}
const REFUSED: Record<string, string> = { expired: "Expired", cancelled: "Cancelled" }

/** Nobody's answer, but an attempt's own: it ran, whatever is still asked about it. */
const isKnown = ({ ok, choice, by }: Settled): boolean => ok && choice === "done" && by === undefined

function doubtVerdict(settled: Settled): string {
  if (!settled.ok) return REFUSED[settled.reason ?? ""] ?? "Failed"
  if (!settled.by) return "Outcome known"
  return settled.choice === "again" ? "Run again" : "Was done"
}

/** Who said what and when, and what came of the call. */
export function outcome(ask: Ask, settled: Settled): RichTextElement[] {
  return [
    ...bold(head(ask, settled)),
    ...words(", "),
    ...instant(settled.at),
    ...words(`. ${afterwards(ask, settled)}`),
  ]
}

function head(ask: Ask, settled: Settled): string {
  if (settled.reason === "expired") return "Nobody answered in time"
  if (!settled.by) return verdict(ask, settled)
  const who = everyone(ask, settled.by)
  if (ask.from === "doubt" && settled.reason !== "cancelled") return `${who} ${said(settled)}`
  return `${settled.ok ? (AGREED[ask.kind]?.by ?? "Approved by") : `${verdict(ask, settled)} by`} ${who}`
}

/** Of several who agreed all are named. */
function everyone({ settled, votes = [] }: Ask, by: Person): string {
  const names = settled?.ok && votes.length > 1 ? votes.map((vote) => nameOf(vote.by)) : [nameOf(by)]
  return names.length === 1 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`
}

function said(settled: Settled): string {
  if (!settled.ok) return "says that it failed"
  return settled.choice === "again" ? "wants it to run again" : "says that it was done"
}

const RAN: Record<"running" | "ok" | "error", string> = {
  running: "The call has started.",
  ok: "The call ran.",
  error: "The call ran and ended with an error.",
}

const NOT_RUN: Record<string, string> = {
  "not available": "its tool is not available any more",
  "tool changed": "its tool has changed since",
  "args changed": "its stored arguments are not those that were shown",
  cancelled: "the run was cancelled first",
}

/** What came of a yes. */
function done({ ran, notRun = "" }: Ask, notYet: string): string {
  if (ran !== "no") return ran ? RAN[ran] : notYet
  const why = NOT_RUN[notRun]
  return `The call was not run after all${why === undefined ? "" : `: ${why}`}.`
}

const KNOWN = "It had been answered, and Redis lost the answer."

function afterwards(ask: Ask, settled: Settled): string {
  if (ask.from === "doubt") return afterDoubt(ask, settled)
  if (isKnown(settled)) return `${KNOWN} ${done(ask, "")}`
  if (settled.ok) return done(ask, "The call has not started yet.")
  return ask.from === "guard" ? "The call was not run." : "The call went no further."
}

function afterDoubt(ask: Ask, settled: Settled): string {
  if (!settled.ok) {
    return settled.reason === "expired"
      ? "The call counts as failed, its outcome is unknown. It was not run again."
      : "The call counts as failed. It was not run again."
  }
  if (settled.choice === "again") return done(ask, "The new attempt has not started yet.")
  return settled.by ? "The call was not run again." : "Its result arrived after all."
}
