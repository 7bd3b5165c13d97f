/**
 * How it came to this: a run's facts, one line each, in order and masked, with the rule that was asked under and what the
 * agent was told. Says what is recorded and nothing else.
 */
import type { Fact, What } from "../../core/fact.ts"
import { shownArgs } from "../../core/mask.ts"
import { principalsOf, type Rule } from "../../core/policy.ts"
import type { Ask, Run } from "../../core/run.ts"
import { utc } from "../../core/ask.ts"
import type { Message } from "./limits.ts"
import { askTitle, linkTo, mentions, titleOf, type Inline } from "./lists.ts"
import { bold, code, nameOf, rich, section, type Rich } from "./rich.ts"
import { clip, cost, count, escape, oneLine, safe, visibleJson } from "./text.ts"

export interface Why {
  run: Run
  facts: readonly Fact[]
  /** By id, also those of turns that are over. */
  asks: ReadonlyMap<string, Ask>
  /** Canonical args by their digest, and Answers (JSON) by their ask, as far as they are stored. */
  args: ReadonlyMap<string, string>
  answers: ReadonlyMap<string, string>
  link?: string | undefined
}

/** What one message holds, and the most messages. */
const TOGETHER = 8500
const PAGES = 4

/** One message or several, in order. */
export function why(view: Why): Message[] {
  const { run, facts, link } = view
  const text = escape(`How it came to this: run ${run.id}`)
  const first = section(
    bold(`How it came to this: ${titleOf(run)}`),
    "\n",
    code(run.id),
    ...linkTo(link, "open the thread"),
    "\n",
  )
  const lines = facts.map((fact) => line(view, fact))
  const pages = paged([first, ...lines])
  const left = pages.slice(PAGES).flat().length
  return pages.slice(0, PAGES).map((page, index) => ({
    text,
    blocks: [
      rich(
        ...page,
        ...(left > 0 && index === PAGES - 1
          ? [section(`\nand ${count(left, "more fact")}, in the audit channel.`)]
          : []),
      ),
    ],
  }))
}

function paged(lines: readonly Rich[]): Rich[][] {
  const pages: Rich[][] = []
  let room = 0
  for (const one of lines) {
    const price = cost(JSON.stringify(one))
    const page = pages.at(-1)
    if (page && price <= room) page.push(one)
    else pages.push([one])
    room = (page && price <= room ? room : TOGETHER) - price
  }
  return pages
}

function line(view: Why, fact: Fact): Rich {
  const at = `${utc(fact.at).replace(" UTC", "")}${new Date(fact.at).toISOString().slice(16, 19)} UTC`
  return section(code(at), " ", ...saying(view, fact), ...noted(fact), ...repeated(fact))
}

function noted({ what, note }: Fact): Inline {
  if (note === undefined || note.trim() === "") return []
  const said = clip(oneLine(safe(note)), 300)
  return [["expired", "finished", "undelivered"].includes(what) ? `: ${said}` : `, saying “${said}”`]
}

const repeated = ({ repeats = 0 }: Fact): Inline => (repeats > 0 ? [`, and ${count(repeats, "more time")}`] : [])

const WAYS: Partial<Record<Fact["via"], string>> = {
  command: " by a command",
  mention: " by a mention",
  reply: " by a reply",
  message: " in a direct message",
  cli: " on the command line",
  form: " in a form",
}

/** Why somebody was refused, where the record's few words don't tell it by themselves. */
export function refusalOf({ outcome }: Fact): string {
  const [, door = "", why = ""] = /^((?:edit|revoke|cancel): )?(.*)$/su.exec(outcome ?? "") ?? []
  return short(`${door}${REFUSALS[why] ?? why}`)
}

const REFUSALS: Record<string, string> = {
  "not listed": "not among those who may decide",
  "own request": "it is their own run",
  "own words": "they had spoken in the run",
  "own edit": "they changed it themselves",
  "requester only": "only whoever asked for the run may",
  "voted before": "had approved it already",
  "nobody listed": "nobody may, by the configuration",
  "cannot check": "their rights could not be checked",
  foreign: "of another organisation",
  guest: "a guest",
  deactivated: "their account is deactivated",
  changed: "it had changed since they saw it",
  forbidden: "the rules let nobody run it with these arguments",
  "nobody left": "nobody would be left who could approve it",
}

/** Who did it, as the beginning of a sentence. */
const who = ({ by, via }: Fact): string => (by ? nameOf(by) : via === "timer" ? "The timer" : "The bot")

const short = (text: string | undefined, max = 120): string => clip(oneLine(text ?? ""), max)

function saying(view: Why, fact: Fact): Inline {
  const tool = bold(titleFor(view, fact))
  return (fact.ask === undefined ? OF_RUNS : OF_ASKS)[fact.what]?.(view, fact, tool) ?? other(fact)
}

type Words = Partial<Record<What, (view: Why, fact: Fact, tool: Inline[number]) => Inline>>

const OF_RUNS: Words = {
  started: (_, fact, tool) =>
    fact.call === undefined ? [`${who(fact)} started it${WAYS[fact.via] ?? ""}`] : [tool, " began to run"],
  shown: () => ["Its message was posted"],
  said: (_, fact) => [`${who(fact)} said something${WAYS[fact.via] ?? ""}; it was kept for the agent's next turn`],
  continued: () => ["The run went on after its end, with what was said"],
  finished: (_, fact, tool) =>
    fact.call === undefined ? [`The run ended (${short(fact.outcome)})`] : [tool, ` ended: ${short(fact.outcome)}`],
  refused: (_, fact) => [`${who(fact)} tried and was refused: ${refusalOf(fact)}`],
  cancelled: (_, fact) => [`${who(fact)} cancelled the run`],
  undelivered: (_, fact) => [`What came last could not be posted to ${short(fact.outcome)}`],
}

const OF_ASKS: Words = {
  asked: (view, fact, tool) => ["The agent wanted ", tool, ...withArgs(view, fact), ...underRule(view, fact)],
  shown: (_, __, tool) => ["The card for ", tool, " was shown"],
  voted: (_, fact, tool) => [`${who(fact)} approved `, tool, ` (${short(fact.outcome)})`],
  refused: (_, fact, tool) => [`${who(fact)} tried to answer `, tool, ` and was refused: ${refusalOf(fact)}`],
  settled: (view, fact, tool) => [`${who(fact)} settled `, tool, `: ${short(fact.outcome)}`, ...told(view, fact)],
  expired: (view, fact, tool) => ["Time was up for ", tool, ...told(view, fact)],
  edited: (view, fact, tool) => [
    `${who(fact)} changed `,
    tool,
    ` (version ${fact.version ?? 1}; earlier approvals no longer count)`,
    ...withArgs(view, fact),
  ],
  revealed: (_, fact, tool) => [`${who(fact)} looked at the masked values of `, tool],
  reminded: (_, fact, tool) => ["Those who may decide were reminded of ", tool, ` (reminder ${short(fact.outcome)})`],
  escalated: (_, fact, tool) => [tool, " was handed on to ", ...mentions((fact.outcome ?? "").split(", "))],
  granted: (_, fact, tool) => [`${who(fact)} let the like of `, tool, ` run unasked, ${short(fact.outcome)}`],
  used: (_, fact, tool) => [tool, ` ran unasked, by the grant of ${who(fact)}`],
  undelivered: (_, fact, tool) => ["The card for ", tool, ` could not be posted to ${short(fact.outcome)}`],
  "signed in": (_, fact, tool) => [`Somebody signed in to ${short(fact.outcome)} on the page for `, tool],
  revoked: (_, fact, tool) => [`${who(fact)} took back the grant for `, tool],
}

const other = (fact: Fact): Inline => [`${who(fact)}: ${fact.what} ${short(fact.outcome)}`]

/** What it is about: the ask's own words where it is known, else the tool's name. */
function titleFor({ asks }: Why, { ask, tool }: Fact): string {
  const known = ask === undefined ? undefined : asks.get(ask)
  return known ? askTitle(known) : short(tool, 100) || "something"
}

function withArgs({ args, asks }: Why, fact: Fact): Inline {
  const text = fact.args === undefined ? undefined : args.get(fact.args)
  if (text === undefined) return []
  const paths = asks.get(fact.ask ?? "")?.rule.mask
  return [" with ", code(clip(visibleJson(shownArgs(text, paths).text), 400))]
}

function underRule({ asks, run }: Why, { ask: id }: Fact): Inline {
  const ask = asks.get(id ?? "")
  if (!ask) return []
  const { rule } = ask
  const name = rule.name === undefined ? "the file's defaults, for no rule matched" : short(rule.name)
  return [`\n        Rule: ${name}. `, ...couldDecide(rule, run), ` Until ${utc(ask.expiresAt)}.`]
}

function couldDecide(rule: Rule, run: Run): Inline {
  const { selfApproval, quorum = 1, escalate } = rule
  if (selfApproval === "confirm")
    return [`Could decide: ${run.speakers ? "whoever had spoken last" : nameOf(run.requester)} alone.`]
  const { escalate: _later, ...now } = rule
  const own = selfApproval
    ? ""
    : `, but not ${nameOf(run.requester)}, who asked for it${run.speakers ? ", nor whoever else had spoken by then" : ""}`
  const several = quorum > 1 ? `; ${quorum} of them must agree` : ""
  const later = escalate ? [" Later also: ", ...mentions(escalate.to), "."] : []
  return ["Could decide: ", ...mentions(principalsOf(now)), `${own}${several}.`, ...later]
}

function told({ answers, asks }: Why, { ask }: Fact): Inline {
  const answer = answers.get(ask ?? "")
  if (answer === undefined) return []
  // Args that people changed travel in the Answer.
  const paths = asks.get(ask ?? "")?.rule.mask?.map((path) => path.replace(/^args\b/, "args.data.args"))
  return ["\n        The agent was told: ", code(clip(visibleJson(shownArgs(answer, paths).text), 500))]
}
