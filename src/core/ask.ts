/**
 * How an ask changes: answered, expired, cancelled, shown, or raised because an outcome is unknown.
 * Pure: clock, ids and what is known of a person come in; what a refusal is called in words is not known here.
 */
import type { Entry, Person, Via } from "./fact.ts"
import { instantOf } from "./instant.ts"
import { isGrantable } from "./grant.ts"
import { mayCancel, mayDecide, samePerson, type Denial, type Rule, type Who } from "./policy.ts"
import { askOf, callOf, merge, openAsks, ruleOf, step, withAsk, withCall } from "./run.ts"
import type { Ask, Call, DoubtChoice, Grant, Run, Settled, Step, Vote } from "./run.ts"
import type { Answer, Request } from "./suspension.ts"

/** What comes of an attempt to answer: nothing decided is ever re-decided, and whoever asks is told who won. */
export type Outcome =
  | { kind: "recorded"; ask: Ask }
  /** A yes that counts, and `missing` more that are needed. */
  | { kind: "voted"; ask: Ask; missing: number }
  | { kind: "voted before"; ask: Ask; missing: number }
  | { kind: "settled"; ask: Ask }
  | { kind: "changed"; ask: Ask }
  | { kind: "denied"; ask: Ask; why: Denial }
  | { kind: "choice missing"; ask: Ask }
  /** The rule wants to know why. */
  | { kind: "reason missing"; ask: Ask }
  /** What the ask does not offer: a grant under a rule without one. */
  | { kind: "not offered"; ask: Ask }
  /** Somebody voted who was not looked up: nothing was tried. */
  | { kind: "look again"; ask: Ask }
  | { kind: "unknown" }

export interface Tried<O> {
  step?: Step
  outcome: O
}

/** One person's attempt to answer an ask. */
export interface Attempted {
  ask: string
  /** The version that the person saw. */
  version: number
  ok: boolean
  /** Needed for a yes to a doubt. */
  choice?: DoubtChoice
  /** Goes to the tool verbatim with a yes; a refusal carries `note` alone. */
  data?: Record<string, unknown>
  note?: string
  /** The args of the version that the person saw, where people have changed them: they travel with a yes. */
  args?: Record<string, unknown>
  /** With a yes: the like of it may run unasked in this run for the rule's while; what that covers, by `markOf`. */
  grant?: string
  who: Who
  /** Those who said yes before, as they are known now: who may no longer decide counts no more. */
  voters?: readonly Who[]
  via: Via
  /** The same over retries and redeliveries of this attempt. */
  cause: string
}

const about = (ask: Ask): Pick<Entry, "ask" | "call" | "tool" | "args" | "version"> => ({
  ask: ask.id,
  call: ask.call,
  tool: ask.tool,
  args: ask.digest,
  version: ask.version,
})

/** The call as it goes on after its ask was settled. */
function callAfter(call: Call, ask: Ask, settled: Settled): Call {
  const { attempt: _attempt, ...rest } = call
  const yes = { ask: ask.id, at: settled.at, within: ask.rule.startWithin }
  if (!settled.ok) return { ...call, state: "decided", ask: ask.id }
  if (ask.from === "doubt") {
    return settled.choice === "again"
      ? { ...rest, state: "ready", ask: ask.id, yes }
      : { ...call, state: "decided", ask: ask.id }
  }
  return ask.from === "tool" ? { ...rest, state: "ready", answered: ask.id, yes } : { ...rest, state: "ready", yes }
}

function settled(run: Run, ask: Ask, how: Settled): Run {
  const call = callOf(run, ask.call)
  const next = withAsk(run, { ...ask, settled: how })
  const counted =
    how.ok || ask.from === "doubt" || how.reason !== "declined"
      ? next
      : { ...next, refusals: { ...next.refusals, [refusalKey(ask)]: (next.refusals[refusalKey(ask)] ?? 0) + 1 } }
  return call ? withCall(counted, callAfter(call, ask, how)) : counted
}

/** Under which name refusals of one and the same call are counted. */
export const refusalKey = (call: { tool: string; digest: string }): string => `${call.tool}:${call.digest.slice(0, 16)}`

const answerText = (answer: Answer): Record<string, string> => ({ [`answer:${answer.id}`]: JSON.stringify(answer) })

/** `2026-11-29 12:30 UTC` */
export const utc = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? "the end of time" : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`
}

/** Settles every ask whose deadline has passed at `now`; undefined when there is none. */
export function expire(run: Run, now: number): Step | undefined {
  const overdue = openAsks(run).filter((ask) => ask.expiresAt <= now)
  if (overdue.length === 0 || run.ended) return undefined
  const texts: Record<string, string> = {}
  const entries: Entry[] = []
  let next = run
  for (const ask of overdue) {
    const note =
      ask.shownAt === undefined
        ? `the card is not known to have been delivered before ${utc(ask.expiresAt)}`
        : `nobody answered before ${utc(ask.expiresAt)}`
    next = settled(next, ask, { ok: false, reason: "expired", via: "timer", at: now, cause: `timer:${ask.id}` })
    Object.assign(texts, answerText({ id: ask.id, ok: false, data: { note }, reason: "expired" }))
    entries.push({ what: "expired", via: "timer", ...about(ask), outcome: "expired", note })
  }
  return step(next, now, entries, { texts, show: "cards" })
}

function judged(run: Run, tried: Attempted, ask: Ask): Outcome | undefined {
  if (ask.settled) return { kind: "settled", ask }
  const why = deniedTo(run, ask, tried.who, tried.ok)
  if (why !== undefined) return { kind: "denied", ask, why }
  if (ask.version !== tried.version) return { kind: "changed", ask }
  if (ask.from === "doubt" && tried.ok && tried.choice === undefined) return { kind: "choice missing", ask }
  if (tried.grant !== undefined && !(ask.from === "guard" && tried.ok && isGrantable(ask.rule)))
    return { kind: "not offered", ask }
  const need = tried.ok ? ask.rule.reason?.approve : ask.rule.reason?.decline
  return need === "required" && (tried.note ?? "").trim() === "" ? { kind: "reason missing", ask } : undefined
}

/** Why the person may not say this; undefined when they may. Who changed a request does not approve it as well. */
function deniedTo(run: Run, ask: Ask, who: Who, ok: boolean): Denial | undefined {
  const right = mayDecide(ruleOf(ask), run.requester, who, ok)
  if (!right.ok) return right.why
  const edited = ok && ask.rule.edit?.votes !== true && ask.editors?.some((editor) => samePerson(editor, who.person))
  return edited ? "own edit" : undefined
}

const refusedAs = (outcome: Outcome): string => {
  if (outcome.kind === "denied") return outcome.why
  if (outcome.kind === "settled") return outcome.ask.settled?.reason === "expired" ? "too late" : "already settled"
  return outcome.kind
}

/** The record of an attempt that decided nothing. */
function refusal(run: Run, now: number, tried: Attempted, ask: Ask, outcome: string, repeats: number): Step {
  const { via, who, version, cause } = tried
  const counted = repeats > 0 ? { repeats } : {}
  const entry: Entry = { what: "refused", via, by: who.person, ...about(ask), version, outcome, cause, ...counted }
  return step(run, now, [entry], { show: "" })
}

/** What the caller of `settle` knows beside the run. */
interface Told {
  archived?: Ask
  repeats?: number
}

/**
 * Answers an ask, if the person may and nobody was first. What is overdue is expired before anything else is looked at.
 * `archived` is the ask when its turn is over already; it can only be told about. `repeats`: how many attempts like this
 * one were refused without a fact of their own.
 */
export function settle(run: Run, tried: Attempted, now: number, options: Told = {}): Tried<Outcome> {
  const late = expire(run, now)
  const { step, outcome } = settleOpen(late?.run ?? run, tried, now, options)
  const all = merge(late, step)
  return all ? { step: all, outcome } : { outcome }
}

function settleOpen(run: Run, tried: Attempted, now: number, { archived, repeats = 0 }: Told): Tried<Outcome> {
  const ask = askOf(run, tried.ask) ?? archived
  if (!ask) return { outcome: { kind: "unknown" } }
  if (ask.settled?.cause === tried.cause) return { outcome: { kind: "recorded", ask } }
  const outcome = judged(run, tried, ask)
  if (outcome) return { step: refusal(run, now, tried, ask, refusedAs(outcome), repeats), outcome }
  if (needed(ask, tried) > 1) return voted(run, tried, ask, now, repeats)
  const step = recorded(run, now, tried, ask)
  return { step, outcome: { kind: "recorded", ask: askOf(step.run, ask.id) ?? ask } }
}

/** How many must say what is tried. Only what makes the call run takes more than one. */
const needed = (ask: Ask, { ok, choice }: Attempted): number => (ok && choice !== "done" ? (ask.rule.quorum ?? 1) : 1)

/** One yes of several. Those of before count as far as they may still be given. */
function voted(run: Run, tried: Attempted, ask: Ask, now: number, repeats: number): Tried<Outcome> {
  const before = ask.votes ?? []
  const quorum = needed(ask, tried)
  const own = before.find(({ by }) => samePerson(by, tried.who.person))
  if (own) {
    const missing = quorum - before.length
    if (own.cause === tried.cause) return { outcome: { kind: "voted", ask, missing } }
    const outcome = { kind: "voted before", ask, missing } as const
    return { step: refusal(run, now, tried, ask, outcome.kind, repeats), outcome }
  }
  const { voters = [] } = tried
  const whoOf = ({ by }: Vote): Who | undefined => voters.find(({ person }) => samePerson(person, by))
  if (before.some((vote) => !whoOf(vote))) return { outcome: { kind: "look again", ask } }
  const entries: Entry[] = []
  const votes: Vote[] = []
  for (const vote of before) {
    const who = whoOf(vote)
    const why = who && deniedTo(run, ask, who, true)
    if (why === undefined) votes.push(vote)
    else
      entries.push({
        what: "refused",
        via: "bot",
        by: vote.by,
        ...about(ask),
        outcome: `vote void: ${why}`,
        cause: vote.cause,
      })
  }
  votes.push({ by: tried.who.person, at: now, cause: tried.cause })
  entries.push({
    what: "voted",
    via: tried.via,
    by: tried.who.person,
    ...about(ask),
    outcome: `${votes.length} of ${quorum}`,
    cause: tried.cause,
    ...(tried.note === undefined ? {} : { note: tried.note }),
  })
  const counted = { ...ask, votes }
  const one = step(withAsk(run, counted), now, entries, { show: "cards" })
  if (votes.length < quorum)
    return { step: one, outcome: { kind: "voted", ask: counted, missing: quorum - votes.length } }
  const all = merge(one, recorded(one.run, now, tried, counted)) ?? one
  return { step: all, outcome: { kind: "recorded", ask: askOf(all.run, ask.id) ?? counted } }
}

function recorded(run: Run, now: number, tried: Attempted, ask: Ask): Step {
  const { who, via, cause } = tried
  const how: Settled = {
    ok: tried.ok,
    ...(tried.ok ? {} : { reason: "declined" }),
    ...(tried.ok && tried.choice ? { choice: tried.choice } : {}),
    by: who.person,
    via,
    at: now,
    cause,
  }
  const entry: Entry = {
    what: "settled",
    via,
    by: who.person,
    ...about(ask),
    outcome: tried.ok ? (tried.choice ?? "approved") : "declined",
    cause,
    ...(tried.note === undefined ? {} : { note: tried.note }),
  }
  const grant = grantOf(run, tried, ask, now)
  const entries = grant ? [entry, granting(ask, tried, grant)] : [entry]
  const next = settled(grant ? { ...run, grants: [...(run.grants ?? []), grant] } : run, ask, how)
  return step(next, now, entries, { texts: answerText(answerOf(tried, how)), show: "cards" })
}

function grantOf(run: Run, tried: Attempted, ask: Ask, now: number): Grant | undefined {
  const { grant: mark, who } = tried
  const { rule, tool } = ask
  if (mark === undefined || rule.grant === undefined) return undefined
  const id = `g${run.grants?.length ?? 0}-${ask.id}`
  return { id, ask: ask.id, tool, mark, rule, by: who.person, at: now, until: now + rule.grant.for }
}

const granting = (ask: Ask, { via, who, cause }: Attempted, { until }: Grant): Entry => ({
  what: "granted",
  via,
  by: who.person,
  ...about(ask),
  outcome: `until ${utc(until)}`,
  cause,
})

function answerOf(tried: Attempted, how: Settled): Answer {
  const note = tried.note === undefined ? {} : { note: tried.note }
  if (!how.ok) {
    return { id: tried.ask, ok: false, ...(tried.note === undefined ? {} : { data: note }), reason: "declined" }
  }
  if (how.choice) return { id: tried.ask, ok: true, data: { ...tried.data, choice: how.choice } }
  const args = tried.args === undefined ? {} : { args: tried.args }
  return { id: tried.ask, ok: true, data: { ...(tried.data ?? { output: "approved" }), ...args, ...note } }
}

/**
 * Answers an ask for a host that holds the run itself and asks its people in its own way: there is no rule to judge by,
 * and the Answer is stored as it came. Undefined when nothing waits for it (any more).
 */
export function answered(run: Run, answer: Answer, now: number): Step | undefined {
  const ask = askOf(run, answer.id)
  if (!ask || ask.settled || run.ended) return undefined
  const { ok, reason = "declined" } = answer
  const how: Settled = { ok, ...(ok ? {} : { reason }), via: "bot", at: now, cause: `host:${ask.id}` }
  const entry: Entry = { what: "settled", via: "bot", ...about(ask), outcome: ok ? "approved" : reason }
  return step(settled(run, ask, how), now, [entry], { texts: answerText(answer), show: "cards" })
}

export type CancelOutcome = { kind: "cancelled" } | { kind: "over"; how: string } | { kind: "denied"; why: Denial }

/**
 * Cancels a run: its open asks are answered no ("cancelled"), calls that have not started never do. What is running is
 * aborted by its holder, and the run ends when its outcome is known. `people`: approvers and admins.
 */
export function cancel(
  run: Run,
  by: { who: Who; people: readonly string[]; via: Via; cause: string },
  now: number,
): Tried<CancelOutcome> {
  if (run.cancelled?.cause === by.cause) return { outcome: { kind: "cancelled" } }
  if (run.ended) return { outcome: { kind: "over", how: run.ended.how } }
  const right = mayCancel(by.people, run.requester, by.who)
  if (!right.ok) {
    const entry: Entry = {
      what: "refused",
      via: by.via,
      by: by.who.person,
      outcome: `cancel: ${right.why}`,
      cause: by.cause,
    }
    return { step: step(run, now, [entry], { show: "" }), outcome: { kind: "denied", why: right.why } }
  }
  if (run.cancelled) return { outcome: { kind: "cancelled" } }
  return {
    step: cancelled(run, { by: by.who.person, via: by.via, cause: by.cause }, now),
    outcome: { kind: "cancelled" },
  }
}

interface Cancelling {
  by?: Person
  via: Via
  cause: string
  words?: string
}

/** The cancelling itself, by a person or (without `by`) the bot. What is overdue has expired, whoever looks first. */
export function cancelled(run: Run, how: Cancelling, now: number): Step {
  const late = expire(run, now)
  const rest = cancelledOpen(late?.run ?? run, how, now)
  return merge(late, rest) ?? rest
}

function cancelledOpen(run: Run, how: Cancelling, now: number): Step {
  const texts: Record<string, string> = {}
  const who = how.by ? { by: how.by } : {}
  const entries: Entry[] = [
    {
      what: "cancelled",
      via: how.via,
      ...who,
      cause: how.cause,
      ...(how.words === undefined ? {} : { note: how.words }),
    },
  ]
  let next: Run = { ...run, cancelled: { ...who, via: how.via, at: now, cause: how.cause } }
  for (const ask of openAsks(run)) {
    next = settled(next, ask, { ok: false, reason: "cancelled", ...who, via: how.via, at: now, cause: how.cause })
    Object.assign(texts, answerText({ id: ask.id, ok: false, reason: "cancelled" }))
    entries.push({ what: "settled", via: how.via, ...who, ...about(ask), outcome: "cancelled", cause: how.cause })
  }
  const words = how.words ?? (how.by ? `cancelled by ${how.by.name ?? how.by.user}` : "cancelled")
  const busy = next.calls.some((call) => call.state === "running")
  if (!busy && next.calls.length === 0) {
    const { retry: _retry, ...rest } = next
    next = { ...rest, ended: { how: "cancelled", at: now, words } }
    entries.push({ what: "finished", via: how.via, outcome: "cancelled" })
  }
  return step(next, now, entries, { texts, show: "cards", slots: next.ended ? [{ name: "end", data: "{}" }] : [] })
}

/** An ask that can't be put to anybody is answered no ("cancelled") by the bot, so that the run doesn't wait in silence. */
export function withdrawn(run: Run, askId: string, words: string, now: number): Step | undefined {
  const ask = askOf(run, askId)
  if (!ask || ask.settled || run.ended) return undefined
  if (ask.expiresAt <= now) return expire(run, now)
  const cause = `withdrawn:${ask.id}`
  const next = settled(run, ask, { ok: false, reason: "cancelled", via: "bot", at: now, cause })
  return step(next, now, [{ what: "settled", via: "bot", ...about(ask), outcome: "cancelled", note: words, cause }], {
    texts: answerText({ id: ask.id, ok: false, data: { note: words }, reason: "cancelled" }),
    show: "cards",
  })
}

/** The card of an ask was posted: the first time is a fact. */
export function shown(run: Run, askId: string, now: number): Step | undefined {
  const ask = askOf(run, askId)
  if (!ask || ask.shownAt !== undefined) return undefined
  return step(withAsk(run, { ...ask, shownAt: now }), now, [{ what: "shown", via: "bot", ...about(ask) }], { show: "" })
}

/**
 * Raises an ask about a call: an ask and its Request, with the card it is owed. Its deadline is the rule's or the
 * Request's own, whichever is sooner.
 */
export function raise(
  run: Run,
  call: Call,
  how: { request: Request; from: Ask["from"]; rule: Rule },
  now: number,
): Step {
  const own = how.request.expiresAt === undefined ? undefined : instantOf(how.request.expiresAt)
  const ask: Ask = {
    id: how.request.id,
    call: call.id,
    tool: call.tool,
    from: how.from,
    kind: how.request.kind,
    version: 1,
    digest: call.digest,
    ...(call.edit === undefined ? {} : { edit: call.edit }),
    at: now,
    expiresAt: Math.min(now + how.rule.expiresIn, own ?? Number.MAX_SAFE_INTEGER),
    rule: how.rule,
  }
  const { attempt: _attempt, ...rest } = call
  const next: Call = how.from === "doubt" ? { ...call, ask: ask.id } : { ...rest, state: "asked", ask: ask.id }
  return step(
    { ...withCall(run, next), asks: [...run.asks, ask] },
    now,
    [{ what: "asked", via: "bot", ...about(ask), outcome: ask.from }],
    {
      texts: { [`req:${ask.id}`]: JSON.stringify(how.request) },
      slots: [{ name: `card:${ask.id}`, data: "{}" }],
      show: "cards",
    },
  )
}
