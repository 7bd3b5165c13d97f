/**
 * The one place that turns what came of somebody's attempt into a sentence for them. Says only what is known to be true.
 */
import type { CancelOutcome } from "../../core/ask.ts"
import { utc } from "../../core/ask.ts"
import { MOST_KEPT, type Heard } from "../../core/converse.ts"
import type { EditOutcome } from "../../core/edit.ts"
import type { RevokeOutcome } from "../../core/grant.ts"
import type { Denial } from "../../core/policy.ts"
import type { Ask } from "../../core/run.ts"
import type { Outcome } from "../../core/settle.ts"
import type { Message } from "./limits.ts"
import { verdict } from "./outcome.ts"
import { nameOf, rich, section } from "./rich.ts"
import { chunks, clip, count, escape, oneLine, toolName, visible } from "./text.ts"

/** What is said to one person, after what they did. */
export type Said =
  | { about: "decision"; outcome: Outcome }
  | { about: "cancel"; outcome: CancelOutcome | { kind: "unknown" } }
  /** `ref`: what people call the grant by. */
  | { about: "revoke"; outcome: RevokeOutcome; ref: string }
  /** Refused at the door of a command, or of looking at masked values. */
  | { about: "start" | "reveal" | "sign in"; why: Denial }
  /** Of going on with a run by a message. */
  | { about: "speak"; why: Denial }
  /** A way to the agent that the configuration closes; `command` has its slash. */
  | { about: "closed door"; door: "command" | "mention" | "reply" | "message"; command: string }
  /** What was said in a run's thread. */
  | { about: "heard"; how: Heard }
  /** A mention or a message without anything to do, or below something that is no run's. */
  | { about: "no words" | "no run here" }
  /** Of everything: by somebody who may or may not, and when it is so already, since when. */
  | { about: "pause" | "resume"; outcome: PauseOutcome }
  /** An agent was named that the person can't use there, or that there is not. */
  | { about: "no agent"; name: string }
  /** The same of an agent whose tools were asked for; `command` has its slash. */
  | { about: "no such agent"; name: string; command: string }
  /** Nothing new starts: who said so, and when. */
  | { about: "start in a pause"; by: string; at: number }
  /** As many runs as may be at once are not over, of whoever asked or in the channel; `command` has its slash. */
  | { about: "full"; of: "requester" | "channel"; count: number; command: string }
  | { about: "edit"; outcome: EditOutcome }
  /** Args that the tool can't take, an answer that can't be asked for, a change that can't be made here: why, as a clause. */
  | { about: "unfit args" | "unanswerable" | "uneditable"; why: string }
  /** Of a form; each with what was wrong. */
  | { about: "faults"; faults: readonly string[] }
  /** Where somebody would have had to sign in, and nobody says that it may be there. */
  | { about: "wrong address"; why: string }
  /** A form that was closed and not sent. */
  | { about: "closed" }
  /** A window that Slack did not open, or did not fill. */
  | { about: "no window" | "empty window" }
  /** Stored: the run exists. */
  | { about: "started" }
  /** Taken in, but not yet known to be stored. */
  | { about: "received" }
  /** Surely not stored: pressing again is right. */
  | { about: "not recorded" | "command not recorded" | "message not recorded" }
  /** Stored or not, nobody can say yet. */
  | { about: "not known" | "command not known" | "message not known" }
  /** Masked values that Slack did not take. */
  | { about: "not shown" }
  /** A newer release wrote what was to be changed. */
  | { about: "updating" }
  /** The press named nothing that we know. */
  | { about: "stale" }
  /** A run whose first message could not be posted; `error` is Slack's word for why. */
  | { about: "channel"; error: string }
  | { about: "no id" }

/** done: from now on · before: it was so already; `by` is whoever paused, and undefined where nothing is paused. */
export type PauseOutcome =
  | { kind: "done" }
  | { kind: "before"; by?: string; at?: number }
  | { kind: "denied"; why: Denial }

type OfKind<K extends Said["about"]> = Extract<Said, { about: K }>
type Plain = keyof typeof PLAIN
/** What says more than its kind does. */
type Telling = Exclude<Said["about"], Plain>

/** One or two plain sentences, with no formatting and nothing to escape. */
export function words(said: Said): string {
  if (said.about in PLAIN) return PLAIN[said.about as Plain]
  const tell = TELLING[said.about as Telling] as (said: Said) => string
  return tell(said)
}

const TELLING: { [K in Telling]: (said: OfKind<K>) => string } = {
  decision: ({ outcome }) => decision(outcome),
  cancel: ({ outcome }) => cancelling(outcome),
  revoke: ({ outcome, ref }) => revoking(outcome, ref),
  edit: ({ outcome }) => edited(outcome),
  pause: ({ outcome }) => pausing(outcome),
  resume: ({ outcome }) => resuming(outcome),
  "start in a pause": ({ by, at }) =>
    `Not started. Countersign is paused${since(by, at)}: nothing new starts until an admin says “resume”.`,
  full: ({ of, count: runs, command }) => {
    const whose = of === "requester" ? "you have" : "this channel has"
    const out = `“${command} list” shows yours, and “${command} cancel <id>” ends what is not needed any more`
    return `Not started: ${whose} ${count(runs, "run")} that ${runs === 1 ? "is" : "are"} not over, those that wait for somebody included, and no more may be at once. ${out}.`
  },
  "no agent": ({ name }) =>
    `Not started: there is no agent “${clip(oneLine(name), 40)}” that you can use here. What begins with an @ names one.`,
  "no such agent": ({ name, command }) =>
    `There is no agent “${clip(oneLine(name), 40)}” that you can use here; “${command} agents” shows which there are.`,
  start: ({ why }) => `Not started. ${denied(why, "start runs")}`,
  reveal: ({ why }) => `Not shown. ${denied(why, "see the masked values")}`,
  "sign in": ({ why }) =>
    why === "requester only" || why === "not listed"
      ? "Not shown. Only the person who asked for this run can sign in for it; nobody else is shown the address."
      : `Not shown. ${denied(why, "sign in for this run")}`,
  channel: ({ error }) => unpostable(error),
  speak: ({ why }) => `Not taken up. ${denied(why, "go on with this run")}`,
  "closed door": ({ door, command }) => `Nothing was started: ${CLOSED[door]} here. ${wayOut(door, command)}`,
  heard: ({ how }) => HEARD[how],
  "unfit args": ({ why }) => `Not changed: ${clause(why)}.`,
  unanswerable: ({ why }) => `It can't be answered here: ${clause(why)}. It can be declined.`,
  uneditable: ({ why }) => `It can't be changed here: ${clause(why)}. It can be approved or declined as it is.`,
  faults: ({ faults }) =>
    `Not recorded: ${clause(faults.join(" "))} Please press the button and fill the form in again.`,
  "wrong address": ({ why }) => `Not shown: ${clip(oneLine(why), 900)}`,
}

const CLOSED = {
  command: "the command starts no runs",
  mention: "a mention starts no runs",
  reply: "a reply goes on with no run",
  message: "a direct message starts no runs",
} as const

const wayOut = (door: keyof typeof CLOSED, command: string): string =>
  door === "command" ? "Please mention me in a channel." : `Please use ${command} in a channel.`

const HEARD: Record<Heard, string> = {
  kept: "Kept: the agent reads this at its next step. It decides nothing about a card that waits.",
  "goes on": "The run goes on with this.",
  before: "I have this already.",
  "too much": `Not kept: the agent has not read the last ${MOST_KEPT} messages yet. Please say it again once it has gone on.`,
  "too many": "Not kept: so many people spoke in this run that no more may. Please start another one.",
  stopping: "Not kept: the run is being cancelled. Reply again once it is over, and it goes on.",
}

const clause = (text: string): string => clip(oneLine(text), 600)

const PLAIN = {
  started: "Started. Its message comes to this channel, and everything about it to that message's thread.",
  received: "Received. I'll tell you here when it is recorded.",
  "not recorded": "Not recorded: nothing has changed. Please press again.",
  "not known":
    "Not known yet whether this was recorded. Please wait a moment and look at the card before you press again.",
  "command not recorded": "Not recorded: nothing was started or changed. Please send the command again.",
  "command not known":
    "Not known yet whether this was recorded. Please wait a moment and ask for the list before you send it again.",
  "message not recorded": "Not taken up: nothing was started or changed. Please write it again.",
  "message not known":
    "Not known yet whether this was taken up. Please wait a moment and look before you write it again.",
  "no words": "What shall I do? Please write it behind my name, or into the message.",
  "no run here": "There is no run here (any more) that could go on. Please begin with a new message.",
  "not shown": "The masked values could not be shown to you: Slack did not take them. Please press again.",
  closed: "Nothing was recorded: the window was closed before it was sent. The card still waits.",
  "no window": "Nothing was recorded: Slack did not open the window. Please press again.",
  "empty window": "Nothing was recorded: Slack did not fill the window. Please close it and press again.",
  updating: "I'm being updated and did not record this. Please press again in a minute.",
  stale: "Not recorded: this button belongs to nothing that I know. The run may be long over and deleted.",
  "no id": "Which run? Say its id, as in “cancel r00abc…”; “list” shows the ids.",
} as const

type DecisionOf<K extends Outcome["kind"]> = Extract<Outcome, { kind: K }>

const DECISION: { [K in Outcome["kind"]]: (outcome: DecisionOf<K>) => string } = {
  recorded: ({ ask }) => `Recorded: ${verdictOf(ask)}.`,
  settled: ({ ask }) => already(ask),
  changed: () =>
    "Not recorded: the request has changed since you saw it. Please read the card again and decide on what it says now.",
  denied: ({ why }) => `Not recorded. ${denied(why, "decide this")}`,
  voted: ({ ask, missing }) => `Recorded: your yes to ${toolName(ask.tool)}. ${stillMissing(missing)}`,
  "voted before": ({ ask, missing }) => `You have approved ${toolName(ask.tool)} already. ${stillMissing(missing)}`,
  paused: () =>
    "Not recorded: Countersign is paused, so nothing can be approved. The card still waits, and its deadline goes on.",
  "choice missing": () => "Not recorded: please say whether it was done or is to run again.",
  "reason missing": () => "Not recorded: please say why. The rule for this wants a reason.",
  "not offered": () => "Not recorded: this request doesn't offer that. Please use the buttons on its card.",
  "look again": () => PLAIN["not recorded"],
  unknown: () => PLAIN.stale,
}

const decision = (outcome: Outcome): string => (DECISION[outcome.kind] as (outcome: Outcome) => string)(outcome)

function edited(outcome: EditOutcome): string {
  switch (outcome.kind) {
    case "edited":
      return `Changed: ${toolName(outcome.ask.tool)} is now version ${outcome.ask.version}. The card shows the difference, and waits for a decision about it.`
    case "unchanged":
      return "Nothing was changed: the arguments are the same as before."
    case "changed":
      return "Not changed: somebody changed the request since you opened it. Please read the card again and edit what it says now."
    case "forbidden":
      return "Not changed: the rules let nobody run it with these arguments. The request stays as it was."
    case "nobody left":
      return "Not changed: the rule for these arguments and the rule it was asked under have nobody in common who may approve. Decline it, and have a new run ask for this."
    case "denied":
      return outcome.why === "requester only"
        ? "Not changed. Only the person who asked for this run may change this request."
        : `Not changed. ${denied(outcome.why, "change this request")}`
    case "settled":
      return already(outcome.ask)
    case "unknown":
      return PLAIN.stale
  }
}

const stillMissing = (missing: number): string =>
  missing === 1 ? "One more person must approve it." : `${missing} more people must approve it.`

const verdictOf = (ask: Ask): string =>
  ask.settled ? `${verdict(ask, ask.settled).toLowerCase()}, ${toolName(ask.tool)}` : toolName(ask.tool)

function already(ask: Ask): string {
  const { settled } = ask
  if (!settled) return PLAIN.stale
  const at = utc(settled.at)
  if (settled.reason === "expired") {
    const expired = `expired at ${utc(ask.expiresAt)}`
    const what =
      ask.from === "doubt"
        ? `the question about ${toolName(ask.tool)} ${expired}, and the call counts as failed`
        : `${toolName(ask.tool)} ${expired} and counts as declined`
    return `Too late: ${what}. If it is still needed, start a new run.`
  }
  const who = settled.by ? ` by ${nameOf(settled.by)}` : ""
  return `Already settled: ${verdictOf(ask)}${who} at ${at}. Your press changed nothing.`
}

function cancelling(outcome: CancelOutcome | { kind: "unknown" }): string {
  switch (outcome.kind) {
    case "cancelled":
      return "Cancelled: nothing new will start. What was running is stopped first."
    case "over":
      return `Nothing to cancel: the run is over (${oneLine(outcome.how)}).`
    case "denied":
      return `Not cancelled. ${denied(outcome.why, "cancel this run")}`
    case "unknown":
      return "Nothing was cancelled: there is no such run that you can see. “list” shows the ids."
  }
}

function revoking(outcome: RevokeOutcome, ref: string): string {
  switch (outcome.kind) {
    case "revoked":
      return `Taken back: from now on the like of ${toolName(outcome.grant.tool)} is asked about again (${oneLine(ref)}).`
    case "over": {
      const { revoked, until } = outcome.grant
      if (revoked) return `Nothing to take back: ${nameOf(revoked.by)} did so at ${utc(revoked.at)}.`
      return `Nothing to take back: it ended with its run, or at ${utc(until)}.`
    }
    case "denied":
      return `Not taken back. ${denied(outcome.why, "take back this grant")}`
    case "unknown":
      return NO_GRANT
  }
}

const since = (by: string, at: number): string =>
  at > 0 ? ` by ${clip(oneLine(by), 100)} since ${utc(at)}` : ` by ${clip(oneLine(by), 100)}`

function pausing(outcome: PauseOutcome): string {
  switch (outcome.kind) {
    case "done":
      return "Paused: nothing new starts, no call begins and nothing can be approved. What was running goes on, deadlines too. An admin ends the pause with “resume”."
    case "before":
      return `It is paused already${since(outcome.by ?? "somebody", outcome.at ?? 0)}.`
    case "denied":
      return `Not paused. ${denied(outcome.why, "pause Countersign")}`
  }
}

function resuming(outcome: PauseOutcome): string {
  switch (outcome.kind) {
    case "done":
      return "Resumed: runs go on where they stopped, and cards can be approved again."
    case "before":
      return "Nothing to resume: Countersign is not paused."
    case "denied":
      return `Not resumed. ${denied(outcome.why, "resume Countersign")}`
  }
}

const NO_GRANT = "There is no such grant (any more)."

function denied(why: Denial, what: string): string {
  return DENIED[why](what)
}

/** `what` is what the person wanted to do, as it goes on after "may". */
const DENIED: Record<Denial, (what: string) => string> = {
  "not listed": (what) => `You are not among those who may ${what}.`,
  "own request": () => "You asked for this run, so somebody else has to approve it. You may decline it.",
  "own words": () => "You spoke in this run, so somebody else has to approve it. You may decline it.",
  "own edit": () => "You changed this request, so somebody else has to approve it. You may decline it.",
  "requester only": () => "Only the person who asked for this run may decide this.",
  guest: (what) => `Guests may not ${what}.`,
  deactivated: (what) => `This account is deactivated and may not ${what}.`,
  bot: (what) => `Bots may not ${what}.`,
  foreign: (what) => `People of other organisations may not ${what}.`,
  "cannot check": (what) =>
    `I can't check your rights now, and without that nobody may ${what}. Please try again in a minute.`,
  "nobody listed": (what) => `Nobody may ${what} yet: Countersign's configuration lists no one for it.`,
  "wrong channel": () => "Runs can't be started in this channel, only in those that Countersign's configuration lists.",
}

function unpostable(error: string): string {
  const head = "Stopped before anything was done: I can't write in this channel"
  switch (error) {
    case "not_in_channel":
    case "channel_not_found":
      return `${head}, because I'm not a member. Invite me (type /invite and my name) and give the command again, or use another channel.`
    case "is_archived":
      return `${head}, because it is archived. Please use another one.`
    case "restricted_action":
    case "restricted_action_read_only_channel":
    case "restricted_action_thread_only_channel":
    case "restricted_action_non_threadable_channel":
      return `${head}, because its settings don't let me. Change who may post here, or use another channel.`
    default:
      return `${head} (Slack says: ${clip(oneLine(error), 100)}). Please use another channel, or tell whoever runs Countersign.`
  }
}

/** A sentence as a private message, with the address of a thread when there is one. */
export function note(sentence: string, link?: string): Message {
  const [text = " "] = chunks(visible(sentence), 2500)
  const open =
    link !== undefined && link.startsWith("https://")
      ? [" ", [{ type: "link" as const, url: link, text: "Open the thread" }]]
      : []
  return { text: escape(text), blocks: [rich(section(text, ...open))] }
}

/** The masked values, for one person who may see them. Pieces beyond the first messages' room are counted. */
export function revealed(text: string): Message[] {
  const pieces = chunks(text, 2800)
  const pages = Array.from({ length: Math.ceil(pieces.length / 3) }, (_, index) =>
    pieces.slice(index * 3, index * 3 + 3),
  )
  return pages.map((page, index) => ({
    text: "The arguments with their masked values",
    blocks: [
      rich(
        section(
          `The arguments as the call gets them${pages.length > 1 ? `, part ${index + 1} of ${pages.length}` : ""}. Only you see this. (${count(text.length, "character")})`,
        ),
        ...page.map((piece) => ({
          type: "rich_text_preformatted" as const,
          elements: [{ type: "text" as const, text: piece }],
        })),
      ),
    ],
  }))
}
