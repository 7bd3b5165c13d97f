/**
 * What the command answers: help, lists of runs, one run, grants. Pure functions of what is stored; nothing in a foreign text
 * makes a mention, a button or a link that hides its address. People and groups are mentioned: only one person sees these
 * messages, and nobody is pinged by them.
 */
import type { RichTextElement } from "@slack/types"
import { grantRef } from "../../core/grant.ts"
import { decidersOf, ruleOf, wishOf, type Ask, type Grant, type Run } from "../../core/run.ts"
import { guarded, type Message } from "./limits.ts"
import { state } from "./messages.ts"
import { verdict } from "./outcome.ts"
import {
  agentIn,
  bold,
  code,
  header,
  instant,
  mention,
  nameOf,
  quote,
  rich,
  section,
  until,
  words,
  type Rich,
} from "./rich.ts"
import { clip, cost, count, escape, oneLine, safe, toolName } from "./text.ts"

/** A run of a list. */
export interface Listed {
  run: Run
  /** Address of the run's thread, or of the card that waits, from Slack. */
  link?: string | undefined
  /** What of it waits for the reader. */
  ask?: Ask
}

export type Inline = (string | RichTextElement | RichTextElement[])[]

export const titleOf = ({ title }: Pick<Run, "title">, max = 120): string =>
  clip(oneLine(safe(title)), max) || "(no words)"

/** Slack's own addresses; the local one's are of this machine. */
const ADDRESS = /^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])/

/** A link to a message, if it is one that may be shown. */
export function linkTo(link: string | undefined, text: string): Inline {
  const isSafe = link !== undefined && ADDRESS.test(link) && link.length < 1000
  return isSafe ? [" · ", [{ type: "link" as const, url: link, text }]] : []
}

/** What the entries of one list may cost of a message, and the most of them. */
const ROOM = 5400
const MANY = 10

/** As many entries as there is room for, and how many are left out. */
function fill(entries: readonly Rich[], room = ROOM): { shown: Rich[]; rest: number } {
  const shown: Rich[] = []
  let left = room
  for (const entry of entries.slice(0, MANY)) {
    left -= cost(JSON.stringify(entry))
    if (left < 0) break
    shown.push(entry)
  }
  return { shown, rest: entries.length - shown.length }
}

/** What waits for the person, the soonest deadline first, and their own runs, the newest first. `command` begins with a slash. */
export function list(view: { waiting: readonly Listed[]; mine: readonly Listed[]; command?: string }): Message {
  const { waiting, mine, command = "/agent" } = view
  const text = `${waiting.length} waiting for you, ${count(mine.length, "run")} of yours`
  const none = `You have no runs. Start one: ${oneLine(command)} and what is to be done.`
  const blocks = [
    header("Waiting for you"),
    rich(...listOf(waiting.map(waitingEntry), "Nothing waits for you.")),
    header("Your runs"),
    rich(...listOf(mine.map(entry), none)),
  ]
  return guarded({ text, blocks }, () => ({
    text,
    blocks: [rich(section(`${text}. The list is too long for one message; the app's home has all of it.`))],
  }))
}

function listOf(entries: readonly Rich[], none: string): Rich[] {
  const { shown, rest } = fill(entries)
  const more =
    rest > 0 ? [section(`and ${count(rest, "more")}`.replace("mores", "more"), ": the app's home has all.")] : []
  return entries.length === 0 ? [section(none)] : [...shown, ...more]
}

/** One of the person's own, or any run of a list. */
export function entry({ run, link }: Listed): Rich {
  const { head, more } = state(run)
  return section(
    bold(titleOf(run)),
    `${agentIn(run)}\n${head}`,
    ...more,
    `\n`,
    code(run.id),
    ...linkTo(link, "open the thread"),
    "\n",
  )
}

function waitingEntry(listed: Listed): Rich {
  const { run, link, ask } = listed
  if (!ask) return entry(listed)
  return section(
    bold(askTitle(ask)),
    `, for ${nameOf(run.requester)}${agentIn(run)}: ${titleOf(run)}\nDecide by `,
    until(ask),
    ...missing(ask),
    `\n`,
    code(run.id),
    ...linkTo(link, "open the card"),
    "\n",
  )
}

const SORTS: Record<string, string> = { input: "question of ", question: "question of ", authorization: "sign-in for " }

/** A few words for what is asked. */
export function askTitle(ask: Ask): string {
  const tool = toolName(ask.tool)
  if (ask.from === "doubt") return `unknown outcome of ${tool}`
  return `${SORTS[ask.kind] ?? ""}${tool}`
}

/** How far an ask is that several must agree to. */
export function missing(ask: Ask): Inline {
  const quorum = ruleOf(ask).quorum ?? 1
  if (quorum === 1) return []
  const votes = ask.votes ?? []
  const who = votes.length === 0 ? "" : ` (${votes.map(({ by }) => nameOf(by)).join(", ")})`
  return [` · ${votes.length} of ${quorum} have approved${who}`]
}

/** Several that an id's beginning could mean, or nothing that it means. */
export function choices(said: string, runs: readonly Listed[]): Message {
  const about = clip(oneLine(said), 80)
  const text = escape(`${about} could mean ${count(runs.length, "run")}`)
  const { shown, rest } = fill(runs.map(entry), 10_000)
  return {
    text,
    blocks: [
      rich(
        section(code(about), " could mean any of these. Say more of the id:\n"),
        ...shown,
        ...(rest > 0 ? [section(`and ${rest} more`)] : []),
      ),
    ],
  }
}

/** Some of those that are under way, where there is no room for another. */
export function newest(runs: readonly Listed[]): Message {
  const { shown } = fill(runs.map(entry), 10_000)
  return { text: "The newest of them", blocks: [rich(section("The newest of them:\n"), ...shown)] }
}

/** What `show` says of one run. */
export interface Shown extends Listed {
  /** Links to cards, by their ask. */
  cards: ReadonlyMap<string, string>
  grants: readonly Grant[]
  /** With its slash. */
  command: string
}

/** One run: what was asked for, where it stands, what waits, and what was said to what is over in the turn under way. */
export function shownRun(view: Shown): Message {
  const { run, link, cards, grants, command } = view
  const { head, more } = state(run)
  const name = oneLine(command)
  const top = [
    section(bold(nameOf(run.requester)), " asked the agent, ", instant(run.at), ", in ", mention(run.channel), ":"),
    quote(titleOf(run, 300)),
    section(bold(head), ...more, "\n", code(run.id), ...linkTo(link, "open the thread")),
  ]
  const { shown, rest } = fill(
    run.asks.map((ask) => askEntry(ask, run, cards.get(ask.id))),
    7000,
  )
  const tail = [
    ...(rest > 0 ? [section(`and ${count(rest, "more request")}, in the thread`)] : []),
    ...grants.slice(0, 5).map((grant) => section("\n", ...grantWords(run, grant))),
    section("\n", code(`${name} why ${run.id}`), " tells how it came to this", ...cancelHint(run, name), "."),
  ]
  const text = escape(`Run ${run.id}: ${titleOf(run)}. ${head}`)
  return guarded({ text, blocks: [rich(...top, ...shown, ...tail)] }, () => ({ text, blocks: [rich(...top)] }))
}

const cancelHint = (run: Run, name: string): Inline =>
  run.ended || run.cancelled ? [] : ["; ", code(`${name} cancel ${run.id}`), " ends it"]

function askEntry(ask: Ask, run: Run, link: string | undefined): Rich {
  const card = linkTo(link, "open the card")
  if (ask.settled) {
    const by = ask.settled.by ? ` by ${nameOf(ask.settled.by)}` : ""
    return section("\n", bold(askTitle(ask)), `: ${verdict(ask, ask.settled)}${by}, `, instant(ask.settled.at), ...card)
  }
  return section(
    "\n",
    bold(askTitle(ask)),
    ": waits since ",
    instant(ask.at),
    ", until ",
    until(ask),
    "\nMay decide: ",
    ...deciders(ask, run),
    ...missing(ask),
    ...card,
  )
}

/** Everybody who may decide now, and how. */
export function deciders(ask: Ask, run: Run): Inline {
  const { selfApproval } = ruleOf(ask)
  if (selfApproval === "confirm") return [mention(wishOf(run).asker.user), " alone, who asked for it"]
  return [
    ...mentions(decidersOf(ask)),
    selfApproval ? "" : `, but not whoever ${run.speakers ? "spoke in" : "asked for"} the run`,
  ]
}

/** The most people and groups that are named. */
const NAMED = 12

export function mentions(ids: readonly string[]): Inline {
  if (ids.length === 0) return ["nobody: no approver is configured"]
  const rest = ids.length - NAMED
  const named = ids
    .slice(0, NAMED)
    .flatMap((id, index): Inline => [
      ...(index === 0 ? [] : [", "]),
      ...(/^[CG]/.test(id) ? ["members of "] : []),
      mention(id),
    ])
  return rest > 0 ? [...named, ` and ${rest} more`] : named
}

/** Its link leads to the card on which it was given, which names the values that count. */
export interface ListedGrant extends Listed {
  grant: Grant
}

/** Grants in force. */
export function grantsList(grants: readonly ListedGrant[], command: string): Message {
  const text = grants.length === 0 ? "No grants in force" : `${count(grants.length, "grant")} in force`
  const { shown, rest } = fill(
    grants.map(({ run, grant, link }) => section(...grantWords(run, grant), ...linkTo(link, "open its card"), "\n")),
    10_000,
  )
  const none = section("There is no grant in force that you could take back.")
  const how = section("Take one back with ", code(`${oneLine(command)} revoke <id>`), ".")
  return {
    text,
    blocks: [
      header("Grants in force"),
      rich(...(grants.length === 0 ? [none] : [...shown, ...(rest > 0 ? [section(`and ${rest} more`)] : []), how])),
    ],
  }
}

/** What a grant lets run, who gave it, and until when. */
export function grantWords(run: Run, grant: Grant): Inline {
  const same = grant.rule.grant?.same
  const like = same ? `with the same ${clip(oneLine(same.join(", ")), 200)}` : "with the same arguments"
  return [
    bold(toolName(grant.tool)),
    ` runs unasked ${like}, until `,
    instant(grant.until),
    `\nGiven by ${nameOf(grant.by)} in “${titleOf(run)}”\n`,
    code(grantRef(run, grant)),
  ]
}

/** What the command can do. `command` begins with a slash. */
export function help(command = "/agent"): Message {
  const name = oneLine(command)
  const line = (said: string, means: string): Rich => section(code(`${name} ${said}`), ` ${means}\n`)
  return {
    text: escape(`How to use ${name}`),
    blocks: [
      rich(
        section(bold(`How to use ${name}`), "\n"),
        line(
          "<what to do>",
          "starts a run. It gets a message in this channel; everything about it is in that message's thread.",
        ),
        line(
          "list",
          "shows what waits for you, and your own runs. My home (click my name) shows more, and you can decide there.",
        ),
        line("show <id>", "shows one run: where it stands, what waits for whom, and its thread."),
        line("why <id>", "tells how it came to this: the rule, who could decide, who tried, what the agent was told."),
        line("cancel <id>", "ends a run. The button Stop under its message does the same."),
        line("@<agent> <what to do>", "starts one with that agent."),
        line("agents", "shows which agents you can use in this channel."),
        line(
          "tools",
          "shows which tools there are, and whether their calls are asked about; “tools @<agent>”, its own.",
        ),
        line("sign-out <server>", "forgets what you got by signing in to a server."),
        line("grants", "shows what may run unasked for a while, and who let it."),
        line("revoke <id>", "takes such a grant back."),
        line("pause", "stops everything for now: nothing starts and nothing can be approved. For admins."),
        line("resume", "ends the pause. For admins."),
        line("help", "shows this."),
        section(
          "\nThe first letters of an id will do. Before the agent does anything that needs a yes, a card in the thread asks for it: Approve, Decline, or no answer, which is a no. Slack allows no commands in threads; use them in the channel.",
        ),
      ),
    ],
  }
}

/** For whom may not see it, it doesn't exist. */
export const NO_RUN = "There is no such run that you can see. “list” shows the ids."
export const NO_GRANT = "There is no such grant that you can see. “grants” shows the ids."
export const WHICH_GRANT = "Which grant? Say its id, as in “revoke r00abc….1”; “grants” shows the ids."

/** A caution under a list. */
export const cautioned = (message: Message, caution: string): Message => ({
  ...message,
  blocks: [...message.blocks, rich(section(words(caution, { italic: true })))],
})
