/**
 * How an ask changes other than by people's answers to it: raised, shown, expired, withdrawn, cancelled with its run.
 * Pure: clock and ids come in; what anything is called in words is not known here.
 */
import { endSlot } from "./converse.ts"
import type { Entry, Person, Via } from "./fact.ts"
import { instantOf } from "./instant.ts"
import { mayCancel, type Denial, type Rule, type Who } from "./policy.ts"
import { askOf, callOf, merge, openAsks, saidLately, step, wishOf, withAsk, withCall } from "./run.ts"
import type { Ask, Call, Run, Settled, Step, Text } from "./run.ts"
import { wholeAsk } from "./shape.ts"
import type { Answer, Request } from "./suspension.ts"

export interface Tried<O> {
  step?: Step
  outcome: O
}

/** An entry about an ask, with what it names of that. */
export const about = (ask: Ask, { what, via, by, version, outcome, note, cause, repeats }: Entry): Entry => ({
  what,
  via,
  by,
  ask: ask.id,
  call: ask.call,
  tool: ask.tool,
  args: ask.digest,
  version: version ?? ask.version,
  outcome,
  note,
  cause,
  repeats,
})

/** The call as it goes on after its ask was settled. */
function callAfter(call: Call, ask: Ask, settled: Settled): Call {
  const yes = { ask: ask.id, at: settled.at, within: ask.rule.startWithin }
  const over = !settled.ok || (ask.from === "doubt" && settled.choice !== "again")
  if (over) return { ...call, state: "decided", ask: ask.id }
  const next: Call = { ...call, state: "ready", yes, attempt: undefined, grant: undefined }
  if (ask.from === "doubt") return { ...next, ask: ask.id }
  return ask.from === "tool" ? { ...next, answered: ask.id } : next
}

/** The run with the ask settled, and its call going on as that says. */
export function settled(run: Run, ask: Ask, how: Settled): Run {
  const call = callOf(run, ask.call)
  const said = how.by && how.reason !== "cancelled" ? saidLately(run, how.by, ask, how.at) : run
  const next = withAsk(said, { ...ask, settled: how })
  const counted =
    how.ok || ask.from === "doubt" || ask.held !== undefined || how.reason !== "declined"
      ? next
      : { ...next, refusals: { ...next.refusals, [refusalKey(ask)]: (next.refusals[refusalKey(ask)] ?? 0) + 1 } }
  // A call that holds its ask open is running, and goes on with whatever is answered.
  return call && ask.held === undefined ? withCall(counted, callAfter(call, ask, how)) : counted
}

/** Under which name refusals of one and the same call are counted. */
export const refusalKey = (call: { tool: string; digest: string }): string => `${call.tool}:${call.digest.slice(0, 16)}`

/** Whether this very call was refused `limit` times already in this run. */
export const refusedEnough = (run: Run, call: { tool: string; digest: string }, limit: number): boolean =>
  (run.refusals[refusalKey(call)] ?? 0) >= limit

/** The text that holds an Answer. */
export const answerText = (answer: Answer): Text => ({ field: `answer:${answer.id}`, text: JSON.stringify(answer) })

/** `2026-11-29 12:30 UTC` */
export const utc = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? "the end of time" : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`
}

/** Settles every ask whose deadline has passed at `now`; undefined when there is none. */
export function expire(run: Run, now: number): Step | undefined {
  const overdue = openAsks(run).filter((ask) => ask.expiresAt <= now)
  if (overdue.length === 0 || run.ended) return undefined
  const texts: Text[] = []
  const entries: Entry[] = []
  let next = run
  for (const ask of overdue) {
    const note =
      ask.shownAt === undefined
        ? `the card is not known to have been delivered before ${utc(ask.expiresAt)}`
        : `nobody answered before ${utc(ask.expiresAt)}`
    next = settled(next, ask, { ok: false, reason: "expired", via: "timer", at: now, cause: `timer:${ask.id}` })
    texts.push(answerText({ id: ask.id, ok: false, data: { note }, reason: "expired" }))
    entries.push(about(ask, { what: "expired", via: "timer", outcome: "expired", note }))
  }
  return step(next, now, entries, { texts, show: "cards" })
}

/** What a person attempts, on what is left of the run once everything overdue has expired. */
export function expiredFirst<O>(run: Run, now: number, attempt: (run: Run) => Tried<O>): Tried<O> {
  const late = expire(run, now)
  const { step, outcome } = attempt(late?.run ?? run)
  const all = merge(late, step)
  return all ? { step: all, outcome } : { outcome }
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
  const entry = about(ask, { what: "settled", via: "bot", outcome: ok ? "approved" : reason })
  return step(settled(run, ask, how), now, [entry], { texts: [answerText(answer)], show: "cards" })
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
  if (run.cancelled?.cause === by.cause || run.heard?.includes(by.cause)) return { outcome: { kind: "cancelled" } }
  if (run.ended) return { outcome: { kind: "over", how: run.ended.how } }
  const right = mayCancel(by.people, wishOf(run), by.who)
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
  const texts: Text[] = []
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
    texts.push(answerText({ id: ask.id, ok: false, reason: "cancelled" }))
    entries.push(about(ask, { what: "settled", via: how.via, by: how.by, outcome: "cancelled", cause: how.cause }))
  }
  const words = how.words ?? (how.by ? `cancelled by ${how.by.name ?? how.by.user}` : "cancelled")
  const busy = next.calls.some((call) => call.state === "running")
  if (!busy && next.calls.length === 0) {
    next = { ...next, retry: undefined, ended: { how: "cancelled", at: now, words } }
    entries.push({ what: "finished", via: how.via, outcome: "cancelled" })
  }
  return step(next, now, entries, { texts, show: "cards", slots: next.ended ? [endSlot(next, next.ended)] : [] })
}

/** An ask that can't be put to anybody is answered no ("cancelled") by the bot, so that the run doesn't wait in silence. */
export function withdrawn(run: Run, askId: string, words: string, now: number): Step | undefined {
  const ask = askOf(run, askId)
  if (!ask || ask.settled || run.ended) return undefined
  if (ask.expiresAt <= now) return expire(run, now)
  const cause = `withdrawn:${ask.id}`
  const next = settled(run, ask, { ok: false, reason: "cancelled", via: "bot", at: now, cause })
  const entry = about(ask, { what: "settled", via: "bot", outcome: "cancelled", note: words, cause })
  return step(next, now, [entry], {
    texts: [answerText({ id: ask.id, ok: false, data: { note: words }, reason: "cancelled" })],
    show: "cards",
  })
}

/**
 * Cards of these asks could not be posted to `where`, a place other than the thread; or, without any, what the run's people
 * should have read last. `words`: why.
 */
export function undelivered(
  run: Run,
  ids: readonly string[],
  { where, words }: { where: string; words: string },
  now: number,
): Step {
  const entry = { what: "undelivered", via: "bot", outcome: where, note: words } as const
  const asks = openAsks(run).filter(({ id }) => ids.includes(id))
  return step(run, now, ids.length === 0 ? [entry] : asks.map((ask) => about(ask, entry)))
}

/** The card of an ask was posted: the first time is a fact. */
export function shown(run: Run, askId: string, now: number): Step | undefined {
  const ask = askOf(run, askId)
  if (!ask || ask.shownAt !== undefined) return undefined
  return step(withAsk(run, { ...ask, shownAt: now }), now, [about(ask, { what: "shown", via: "bot" })], { show: "" })
}

/** Who changed the args of a call must not approve them either when it is asked about once more. */
const editorsOf = (run: Run, call: Call): Ask["editors"] =>
  run.asks.findLast((ask) => ask.call === call.id && ask.editors)?.editors

function callAsked(call: Call, { id, from, held }: Ask): Call {
  if (held !== undefined) return call
  if (from === "doubt") return { ...call, ask: id }
  return { ...call, state: "asked", ask: id, attempt: undefined, grant: undefined }
}

/** That a tool is not what it was when the bot started belongs into the audit: it may be why somebody is asked at all. */
const reasonOf = ({ from }: Ask, { since }: Call): string =>
  from === "guard" && since !== undefined ? `${from}; the tool ${since} after the start` : from

/**
 * Raises an ask about a call: an ask and its Request, with the card it is owed. Its deadline is the rule's or the
 * Request's own, whichever is sooner.
 */
export function raise(
  run: Run,
  call: Call,
  how: { request: Request; from: Ask["from"]; rule: Rule; held?: string },
  now: number,
): Step {
  const own = how.request.expiresAt === undefined ? undefined : instantOf(how.request.expiresAt)
  const ask = wholeAsk({
    id: how.request.id,
    call: call.id,
    tool: call.tool,
    from: how.from,
    held: how.held,
    kind: how.request.kind,
    version: 1,
    digest: call.digest,
    edit: call.edit,
    editors: how.from === "tool" ? undefined : editorsOf(run, call),
    at: now,
    expiresAt: Math.min(now + how.rule.expiresIn, own ?? Number.MAX_SAFE_INTEGER),
    rule: how.rule,
  })
  const next = callAsked(call, ask)
  return step(
    { ...withCall(run, next), asks: [...run.asks, ask] },
    now,
    [about(ask, { what: "asked", via: "bot", outcome: reasonOf(ask, call) })],
    {
      texts: [{ field: `req:${ask.id}`, text: JSON.stringify(how.request) }],
      slots: [{ name: `card:${ask.id}`, data: "{}" }],
      show: "cards",
    },
  )
}
