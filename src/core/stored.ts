/**
 * A run as it is stored. Knows what may be left out because something else says it; not where it is stored.
 *
 * A parked run costs what its state takes, each commit writes it and each click reads it. So it is a list in which what every
 * run has goes by its place, digests are shortened, nothing is said twice (an ask's tool and args are its call's), and what is
 * rare, or mostly the same, stands by its name in an object at the end.
 */
import { lengthened, shortened } from "./digest.ts"
import type { Person } from "./fact.ts"
import type { Rule } from "./policy.ts"
import { FORMAT, NewerFormat } from "./run.ts"
import type { Ask, Call, CallState, Run } from "./run.ts"
import { wholeAsk, wholeCall, wholeRun } from "./shape.ts"

type StoredPerson = [team: string, user: string, name: string | null, enterprise: string | null]
type StoredRule = [
  approvers: Rule["approvers"],
  selfApproval: Rule["selfApproval"],
  expiresIn: number,
  startWithin: number,
  more?: Partial<Rule>,
]
type StoredCall = [
  id: string,
  ref: string,
  tool: string,
  digest: string,
  state: CallState,
  ask: string | null,
  more?: Partial<Call>,
]
type StoredAsk = [id: string, call: string, at: number, rule: StoredRule, more?: Partial<Ask>]
type StoredRun = [
  format: number,
  id: string,
  cause: string,
  requester: StoredPerson | string[],
  channel: string,
  title: string,
  at: number,
  keep: number,
  rooted: 0 | 1,
  turns: number,
  prompt: number,
  completion: number,
  calls: StoredCall[],
  asks: StoredAsk[],
  facts: number,
  hash: string,
  more?: Partial<Run>,
]

/** The state as it is stored. */
export function writeRun(run: Run): string {
  const stored: StoredRun = [
    run.format,
    run.id,
    run.cause,
    storedPerson(run.requester),
    run.channel,
    run.title,
    run.at,
    run.keep,
    run.rooted ? 1 : 0,
    run.turns,
    run.usage.prompt,
    run.usage.completion,
    run.calls.map(storedCall),
    run.asks.map((ask) => storedAsk(ask, theirs(run.calls, ask.call))),
    run.facts.n,
    shortened(run.facts.hash),
  ]
  const { thread, below, asker, speakers, said, heard, stretch } = run
  const { agent, counts, spent, grants, lately, retry, cancelled, ended } = run
  // One literal without a spread: putting objects together took eight times as long as writing their text.
  const more = {
    thread,
    below,
    asker,
    speakers,
    said,
    heard,
    stretch,
    agent,
    counts,
    spent,
    refusals: isEmpty(run.refusals) ? undefined : run.refusals,
    grants,
    lately,
    retry,
    cancelled,
    ended,
  } as Partial<Run>
  if (!isEmpty(more)) stored.push(more)
  return JSON.stringify(stored)
}

const storedPerson = ({ team, user, name, enterprise }: Person): StoredPerson | string[] => {
  if (enterprise !== undefined) return [team, user, name ?? null, enterprise]
  return name === undefined ? [team, user] : [team, user, name]
}

function storedCall(call: Call): StoredCall {
  const { destructive, hints, since, print, edit, yes, grant, answered, attempt, outcome } = call
  const effects = call.effects === "once" ? undefined : call.effects
  const more = {
    effects,
    destructive,
    hints,
    since,
    print,
    edit,
    yes,
    grant,
    answered,
    attempt,
    outcome,
  } as Partial<Call>
  const stored: StoredCall = [call.id, call.ref, call.tool, shortened(call.digest), call.state, call.ask ?? null]
  if (!isEmpty(more)) stored.push(more)
  return stored
}

function storedAsk(ask: Ask, { tool, digest }: Pick<Ask, "tool" | "digest">): StoredAsk {
  const { held, votes, edit, editors, reminded, escalated, shownAt, settled, ran, notRun } = ask
  const usual = {
    tool: ask.tool === tool ? undefined : ask.tool,
    digest: ask.digest === digest ? undefined : shortened(ask.digest),
    from: ask.from === "guard" ? undefined : ask.from,
    kind: ask.kind === "approval" ? undefined : ask.kind,
    version: ask.version === 1 ? undefined : ask.version,
    expiresAt: ask.expiresAt === ask.at + ask.rule.expiresIn ? undefined : ask.expiresAt,
    held,
    votes,
    edit,
    editors,
    reminded,
    escalated,
    shownAt,
    settled,
    ran,
    notRun,
  } as Partial<Ask>
  const stored: StoredAsk = [ask.id, ask.call, ask.at, storedRule(ask.rule)]
  if (!isEmpty(usual)) stored.push(usual)
  return stored
}

/** Few rules stand in many asks. */
const rules = new WeakMap<Rule, StoredRule>()

function storedRule(rule: Rule): StoredRule {
  const known = rules.get(rule)
  if (known) return known
  const { approvers, selfApproval, expiresIn, startWithin, ...more } = rule
  const stored: StoredRule = [approvers, selfApproval, expiresIn, startWithin]
  if (!isEmpty(more)) stored.push(more)
  rules.set(rule, stored)
  return stored
}

/** Whether nothing in it is said. */
function isEmpty(record: object): boolean {
  for (const key in record) if (record[key as keyof typeof record] !== undefined) return false
  return true
}

/**
 * Reads a stored state; also of the format before, which said everything by its name, as the state in memory does. Throws
 * NewerFormat, or an Error when the text is no run.
 */
export function readRun(text: string): Run {
  const read: unknown = JSON.parse(text)
  const format: unknown = Array.isArray(read) ? read[0] : (read as { format?: unknown } | null)?.format
  if (typeof format !== "number") throw new Error("the stored state is no run")
  if (format > FORMAT) throw new NewerFormat(`the run has format ${format}, this release reads up to ${FORMAT}`)
  return Array.isArray(read) ? runOf(read as StoredRun) : namedRun(read as Run)
}

function runOf(stored: StoredRun): Run {
  const [format, id, cause, requester, channel, title, at, keep, rooted, turns, prompt, completion, ...rest] = stored
  const [storedCalls, storedAsks, n, hash, more = {}] = rest
  const calls = storedCalls.map(callOf)
  const asks = storedAsks.map((ask) => askOf(ask, calls))
  return wholeRun({
    format,
    seal: "plain",
    id,
    cause,
    requester: personOf(requester),
    channel,
    thread: more.thread,
    below: more.below,
    asker: more.asker,
    speakers: more.speakers,
    said: more.said,
    heard: more.heard,
    stretch: more.stretch,
    agent: more.agent,
    title,
    at,
    keep,
    rooted: rooted === 1,
    counts: more.counts,
    turns,
    usage: { prompt, completion },
    spent: more.spent,
    calls,
    asks,
    refusals: more.refusals ?? {},
    grants: more.grants,
    lately: more.lately,
    retry: more.retry,
    cancelled: more.cancelled,
    ended: more.ended,
    facts: { n, hash: lengthened(hash) },
  })
}

function personOf([team = "", user = "", name, enterprise]: StoredPerson | string[]): Person {
  if (enterprise === undefined || enterprise === null)
    return typeof name === "string" ? { team, user, name } : { team, user }
  return typeof name === "string" ? { team, user, name, enterprise } : { team, user, enterprise }
}

function callOf([id, ref, tool, digest, state, ask, more = {}]: StoredCall): Call {
  return wholeCall({
    id,
    ref,
    tool,
    effects: more.effects ?? "once",
    destructive: more.destructive,
    hints: more.hints,
    since: more.since,
    print: more.print,
    digest: lengthened(digest),
    edit: more.edit,
    state,
    ask: ask ?? undefined,
    yes: more.yes,
    grant: more.grant,
    answered: more.answered,
    attempt: more.attempt,
    outcome: more.outcome,
  })
}

function askOf([id, call, at, stored, more = {}]: StoredAsk, calls: readonly Call[]): Ask {
  const { tool, digest } = theirs(calls, call)
  const rule = ruleOf(stored)
  return wholeAsk({
    id,
    call,
    tool: more.tool ?? tool,
    from: more.from ?? "guard",
    held: more.held,
    kind: more.kind ?? "approval",
    version: more.version ?? 1,
    digest: more.digest === undefined ? digest : lengthened(more.digest),
    at,
    expiresAt: more.expiresAt ?? at + rule.expiresIn,
    rule,
    votes: more.votes,
    edit: more.edit,
    editors: more.editors,
    reminded: more.reminded,
    escalated: more.escalated,
    shownAt: more.shownAt,
    settled: more.settled,
    ran: more.ran,
    notRun: more.notRun,
  })
}

function ruleOf(stored: StoredRule): Rule {
  const [approvers, selfApproval, expiresIn, startWithin, more] = stored
  const rule: Rule = { approvers, selfApproval, expiresIn, startWithin, ...more }
  rules.set(rule, stored)
  return rule
}

/** What was just parsed is nobody else's, so it may be changed. */
function namedRun(stored: Run): Run {
  const run = wholeRun(stored)
  run.format = FORMAT
  run.seal ??= "plain"
  run.refusals ??= {}
  run.calls = stored.calls.map((one) => {
    const call = wholeCall(one)
    call.effects ??= "once"
    call.digest = lengthened(call.digest)
    return call
  })
  run.asks = stored.asks.map((ask) => named(ask, theirs(run.calls, ask.call)))
  run.facts.hash = lengthened(run.facts.hash)
  return run
}

/** An ask with what it leaves out because it is usual, or its call's. */
function named(stored: Ask, { tool, digest }: Pick<Ask, "tool" | "digest">): Ask {
  const ask = wholeAsk(stored)
  ask.tool ??= tool
  ask.digest = stored.digest === undefined ? digest : lengthened(stored.digest)
  ask.from ??= "guard"
  ask.kind ??= "approval"
  ask.version ??= 1
  ask.expiresAt ??= ask.at + ask.rule.expiresIn
  return ask
}

function theirs(calls: readonly Call[], id: string): Pick<Ask, "tool" | "digest"> {
  const { tool = "", digest = "" } = calls.find((call) => call.id === id) ?? {}
  return { tool, digest }
}
