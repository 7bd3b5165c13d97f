/**
 * Answering an ask: whether the person may, whether enough people have said yes, and what is recorded of it.
 * Pure: clock, ids and what is known of people come in; what a refusal is called in words is not known here.
 */
import { about, answerText, expiredFirst, settled, utc, type Tried } from "./ask.ts"
import type { Entry, Via } from "./fact.ts"
import { isGrantable } from "./grant.ts"
import { editorsVote, mayDecide, samePerson, type Denial, type Who } from "./policy.ts"
import { askOf, merge, ruleOf, saidLately, step, wishOf, withAsk } from "./run.ts"
import type { Ask, DoubtChoice, Grant, Run, Settled, Step, Vote } from "./run.ts"
import type { Answer } from "./suspension.ts"

/** What comes of an attempt to answer: nothing decided is ever re-decided, and whoever asks is told who won. */
export type Outcome =
  | { kind: "recorded"; ask: Ask }
  /** A yes that counts, and `missing` more that are needed. */
  | { kind: "voted"; ask: Ask; missing: number }
  | { kind: "voted before"; ask: Ask; missing: number }
  | { kind: "settled"; ask: Ask }
  | { kind: "changed"; ask: Ask }
  | { kind: "denied"; ask: Ask; why: Denial }
  /** Nothing may be approved just now. */
  | { kind: "paused"; ask: Ask }
  | { kind: "choice missing"; ask: Ask }
  /** The rule wants to know why. */
  | { kind: "reason missing"; ask: Ask }
  /** What the ask does not offer: a grant under a rule without one, a choice where there is no doubt. */
  | { kind: "not offered"; ask: Ask }
  /** Somebody voted who was not looked up: nothing was tried. */
  | { kind: "look again"; ask: Ask }
  | { kind: "unknown" }

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
  /** Countersign is paused: a no counts, and so does what has happened already; a yes would age. */
  paused?: boolean
  who: Who
  /** Those who said yes before, as they are known now: who may no longer decide counts no more. */
  voters?: readonly Who[]
  via: Via
  /** The same over retries and redeliveries of this attempt. */
  cause: string
}

/** Why the attempt decides nothing; undefined when it may count. */
function judged(run: Run, tried: Attempted, ask: Ask): Outcome | undefined {
  if (ask.settled) return { kind: "settled", ask }
  const why = deniedTo(run, ask, tried.who, tried.ok)
  if (why !== undefined) return { kind: "denied", ask, why }
  if (ask.version !== tried.version) return { kind: "changed", ask }
  return lacking(tried, ask)
}

/** What is missing for it to count, of somebody who may. */
function lacking(tried: Attempted, ask: Ask): Outcome | undefined {
  if (!isOffered(ask, tried)) return { kind: "not offered", ask }
  if (tried.paused && tried.ok && tried.choice !== "done") return { kind: "paused", ask }
  if (ask.from === "doubt" && tried.ok && tried.choice === undefined) return { kind: "choice missing", ask }
  return lacksReason(ask, tried) ? { kind: "reason missing", ask } : undefined
}

/** A press is made in somebody else's program: of a guard "done" would be a yes for which one person suffices. */
function isOffered({ from, rule }: Ask, { ok, choice, grant }: Attempted): boolean {
  if (choice !== undefined && from !== "doubt") return false
  return grant === undefined || (ok && from === "guard" && isGrantable(rule))
}

function lacksReason({ rule }: Ask, { ok, note = "" }: Attempted): boolean {
  const need = ok ? rule.reason?.approve : rule.reason?.decline
  return need === "required" && note.trim() === ""
}

/** Why the person may not say this; undefined when they may. Who changed a request does not approve it as well. */
function deniedTo(run: Run, ask: Ask, who: Who, ok: boolean): Denial | undefined {
  const right = mayDecide(ruleOf(ask), wishOf(run), who, ok)
  if (!right.ok) return right.why
  const edited = ok && !editorsVote(ask.rule) && ask.editors?.some((editor) => samePerson(editor, who.person))
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
  const counted = repeats > 0 ? repeats : undefined
  const entry = about(ask, { what: "refused", via, by: who.person, version, outcome, cause, repeats: counted })
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
  return expiredFirst(run, now, (left) => settleOpen(left, tried, now, options))
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
  const quorum = needed(ask, tried)
  const again = votedBefore(run, tried, ask, now, repeats)
  if (again) return again
  const before = standing(run, tried, ask)
  if (!before) return { outcome: { kind: "look again", ask } }
  const { who, via, cause, note } = tried
  const votes: Vote[] = [...before.votes, { by: who.person, at: now, cause }]
  const outcome = `${votes.length} of ${quorum}`
  const entry = about(ask, { what: "voted", via, by: who.person, outcome, cause, note })
  const counted = { ...ask, votes }
  const one = step(saidLately(withAsk(run, counted), who.person, ask, now), now, [...before.voided, entry], {
    show: "cards",
  })
  const missing = quorum - votes.length
  if (missing > 0) return { step: one, outcome: { kind: "voted", ask: counted, missing } }
  const all = merge(one, recorded(one.run, now, tried, counted)) ?? one
  return { step: all, outcome: { kind: "recorded", ask: askOf(all.run, ask.id) ?? counted } }
}

/** Nobody's second yes counts; that a press came twice is no second one. */
function votedBefore(run: Run, tried: Attempted, ask: Ask, now: number, repeats: number): Tried<Outcome> | undefined {
  const own = ask.votes?.find(({ by }) => samePerson(by, tried.who.person))
  if (!own) return undefined
  const missing = needed(ask, tried) - (ask.votes?.length ?? 0)
  if (own.cause === tried.cause) return { outcome: { kind: "voted", ask, missing } }
  const outcome = { kind: "voted before", ask, missing } as const
  return { step: refusal(run, now, tried, ask, outcome.kind, repeats), outcome }
}

/** The votes that still stand, and what is to be recorded of those that don't; undefined while a voter is not looked up. */
function standing(run: Run, { voters = [] }: Attempted, ask: Ask): { votes: Vote[]; voided: Entry[] } | undefined {
  const votes: Vote[] = []
  const voided: Entry[] = []
  for (const vote of ask.votes ?? []) {
    const who = voters.find(({ person }) => samePerson(person, vote.by))
    if (!who) return undefined
    const why = deniedTo(run, ask, who, true)
    const { by, cause } = vote
    if (why === undefined) votes.push(vote)
    else voided.push(about(ask, { what: "refused", via: "bot", by, outcome: `vote void: ${why}`, cause }))
  }
  return { votes, voided }
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
  const outcome = tried.ok ? (tried.choice ?? "approved") : "declined"
  const entry = about(ask, { what: "settled", via, by: who.person, outcome, cause, note: tried.note })
  const grant = grantOf(run, tried, ask, now)
  const entries = grant ? [entry, granting(ask, tried, grant)] : [entry]
  const next = settled(grant ? { ...run, grants: [...(run.grants ?? []), grant] } : run, ask, how)
  return step(next, now, entries, { texts: [answerText(answerOf(tried, how))], show: "cards" })
}

function grantOf(run: Run, tried: Attempted, ask: Ask, now: number): Grant | undefined {
  const { grant: mark, who } = tried
  const { rule, tool } = ask
  if (mark === undefined || rule.grant === undefined) return undefined
  const id = `g${run.grants?.length ?? 0}-${ask.id}`
  const escalated = ask.escalated === undefined ? {} : { escalated: true as const }
  return { id, ask: ask.id, tool, mark, rule, ...escalated, by: who.person, at: now, until: now + rule.grant.for }
}

const granting = (ask: Ask, { via, who, cause }: Attempted, { until }: Grant): Entry =>
  about(ask, { what: "granted", via, by: who.person, outcome: `until ${utc(until)}`, cause })

function answerOf(tried: Attempted, how: Settled): Answer {
  const note = tried.note === undefined ? {} : { note: tried.note }
  if (!how.ok) {
    return { id: tried.ask, ok: false, ...(tried.note === undefined ? {} : { data: note }), reason: "declined" }
  }
  if (how.choice) return { id: tried.ask, ok: true, data: { ...tried.data, choice: how.choice } }
  const args = tried.args === undefined ? {} : { args: tried.args }
  return { id: tried.ask, ok: true, data: { ...(tried.data ?? { output: "approved" }), ...args, ...note } }
}
