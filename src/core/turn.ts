/**
 * How a run moves on: it starts, takes a model's turn, starts and finishes calls, completes the turn, ends.
 * Pure; every transition yields the next state and its facts, or says why not. Knows no model, no tool and no store.
 */
import { raise } from "./ask.ts"
import { isMarked, isOf, isRunning, isUnbegun } from "./attempt.ts"
import { answerField, endSlot, goneOn, handedOver } from "./converse.ts"
import type { Entry, Person, Via } from "./fact.ts"
import { closeAsks } from "./hold.ts"
import { mask } from "./mask.ts"
import type { Rule } from "./policy.ts"
import { argsField, callOf, FORMAT, grantOf, merge, step, withCall } from "./run.ts"
import type { Ask, Attempt, Call, Effects, Ended, Hints, Run, Since, Step, Text } from "./run.ts"
import { wholeCall, wholeRun } from "./shape.ts"
import type { Request } from "./suspension.ts"
import { withUsed } from "./usage.ts"
import type { Prices, Used } from "./usage.ts"

/** A new run, with what was asked for as the first entry of its transcript. */
export function begin(
  how: {
    id: string
    cause: string
    requester: Person
    channel: string
    /** The ts of a person's message below which it lives, where it does. */
    below?: string | undefined
    agent?: string | undefined
    prompt: string
    keep: number
    rooted: boolean
    /** Whether it counts against the limits of runs at once. */
    counts?: true
    via: Via
    /** JSON texts that the transcript begins with; the prompt as a user message is the last of them. */
    transcript: string[]
    slots?: Step["slots"]
  },
  now: number,
): Step {
  const title = titleOf(how.prompt)
  const run = wholeRun({
    format: FORMAT,
    seal: "plain",
    id: how.id,
    cause: how.cause,
    requester: how.requester,
    channel: how.channel,
    thread: how.below,
    below: how.below === undefined ? undefined : true,
    agent: how.agent,
    title,
    at: now,
    keep: how.keep,
    rooted: how.rooted,
    counts: how.counts,
    turns: 0,
    usage: { prompt: 0, completion: 0 },
    calls: [],
    asks: [],
    refusals: {},
    facts: { n: 0, hash: "" },
  })
  return step(run, now, [{ what: "started", via: how.via, by: how.requester, outcome: how.agent, cause: how.cause }], {
    texts: how.prompt === title ? [] : [{ field: "prompt", text: how.prompt }],
    append: how.transcript,
    slots: [{ name: "root", data: "{}" }, ...(how.slots ?? [])],
    show: "cards",
  })
}

/** Masked before it is cut: half a secret is no shape that a mask knows. */
const titleOf = (prompt: string): string => {
  const line = mask(prompt).text.trim().split(/\r?\n/u, 1)[0] ?? ""
  return line.length > 150 ? `${line.slice(0, 149).toWellFormed()}…` : line
}

/** One call of a model's turn, looked at before anything runs. */
export interface Planned {
  ref: string
  tool: string
  effects: Effects
  destructive?: true | undefined
  hints?: Hints | undefined
  since?: Since | undefined
  /** What its tool is by now, where that may change by itself. */
  print?: string | undefined
  /** Which tool it is, where its name may become another's. */
  origin?: string | undefined
  /** Canonical text of the parsed args; what can't be parsed is kept as it came. */
  args: string
  digest: string
  /** run: may start · ask: a Request of the guard · result: it is answered at once, with this transcript entry. */
  next:
    | { do: "run"; grant?: { id: string; otherwise: { request: Request; rule: Rule } } }
    | { do: "ask"; request: Request; rule: Rule }
    | { do: "result"; message: string; isError: boolean; why: string }
}

export interface Taken {
  /** The assistant message, JSON text of a transcript entry. */
  message: string
  text: string
  usage: Used
  prices?: Prices | undefined
  planned: Planned[]
  /** The limit at which the model broke off, when it did: what it said is not a whole answer. */
  cut?: string | undefined
}

/** A model's answer: kept whole; its calls are planned, or it is the final answer. */
export function took(run: Run, turn: Taken, now: number): Step | undefined {
  if (run.ended || run.cancelled || run.calls.length > 0) return undefined
  const { usage, prices } = turn
  const used = withUsed(run, usage, { prices, last: usage.prompt + usage.completion })
  const next: Run = { ...used, turns: run.turns + 1, retry: undefined }
  if (turn.planned.length > 0) return withCalls(next, turn, now)
  const said = step(next, now, [], {
    append: [turn.message],
    texts: [{ field: answerField(run.stretch?.n ?? 0), text: turn.text }],
  })
  return merge(
    said,
    end(said.run, turn.cut === undefined ? { how: "done" } : { how: "incomplete", words: turn.cut }, now),
  )
}

function withCalls(run: Run, turn: Taken, now: number): Step {
  const entries: Entry[] = []
  const texts: Text[] = turn.text.trim() === "" ? [] : [{ field: `why:${run.turns}`, text: turn.text }]
  const calls = turn.planned.map(({ ref, tool, effects, destructive, digest, ...of }, index): Call => {
    const { args, next, hints, since, print, origin } = of
    // What runs unasked must be what was allowed; a yes is to what was shown, and to no other tool of that name.
    const foreign = { hints, since, print: next.do === "run" ? print : origin }
    const id = `${run.turns}.${index + 1}`
    const call = wholeCall({ id, ref, tool, effects, destructive, ...foreign, digest, state: "ready" })
    texts.push({ field: argsField(call), text: args })
    if (next.do !== "result") return call
    texts.push({ field: `out:${call.id}`, text: next.message })
    entries.push({ what: "finished", via: "bot", call: call.id, tool, args: digest, outcome: next.why })
    return { ...call, state: "done", outcome: next.isError ? "error" : "ok" }
  })
  let all = step({ ...run, calls }, now, entries, { append: [turn.message], texts })
  for (const [index, { next }] of turn.planned.entries()) {
    const call = all.run.calls[index]
    if (!call) continue
    if (next.do === "ask") all = merge(all, asked(all.run, call, next, now)) ?? all
    if (next.do === "run" && next.grant) all = merge(all, granted(all.run, call, next.grant, now)) ?? all
  }
  return merge(all, complete(all.run, now)) ?? all
}

const asked = (run: Run, call: Call, { request, rule }: { request: Request; rule: Rule }, now: number): Step =>
  raise(run, call, { request, from: "guard", rule }, now)

/** The grant is used, and that can be seen; one that has ended meanwhile is asked about. */
function granted(
  run: Run,
  call: Call,
  { id, otherwise }: { id: string; otherwise: { request: Request; rule: Rule } },
  now: number,
): Step {
  const grant = run.grants?.find((one) => one.id === id && now < one.until)
  if (!grant) return asked(run, call, otherwise, now)
  const { tool, digest } = call
  const entry: Entry = {
    what: "used",
    via: "bot",
    by: grant.by,
    ask: grant.ask,
    call: call.id,
    tool,
    args: digest,
    cause: id,
  }
  const { request } = otherwise
  return step(withCall(run, { ...call, grant: { id, request: request.id } }), now, [entry], {
    texts: [{ field: `req:${request.id}`, text: JSON.stringify(request) }],
    slots: [{ name: `used:${call.id}`, data: JSON.stringify({ grant: id }) }],
  })
}

/**
 * A yes that has aged, or a grant that is over, is not used: the call is asked about again, as it was, with a fresh Request.
 * Where the yes was to a doubt it is still not known what came of the first attempt, so the doubt is asked again.
 */
export function askedAgain(run: Run, callId: string, request: Request, now: number): Step | undefined {
  const call = callOf(run, callId)
  const before = call && allowedBy(run, call)
  if (!call || !before || call.state !== "ready" || run.cancelled) return undefined
  const { from, rule } = before
  const again: Call =
    from === "doubt" ? { ...call, yes: undefined, state: "running" } : { ...call, yes: undefined, answered: undefined }
  return raise(withCall(run, again), again, { request, from, rule }, now)
}

function allowedBy(run: Run, call: Call): Pick<Ask, "from" | "rule"> | undefined {
  if (call.yes) return run.asks.find(({ id }) => id === call.yes?.ask)
  const grant = grantOf(run, call)
  return grant && { from: "guard", rule: grant.rule }
}

export type Starting = { kind: "go" } | { kind: "stale yes" } | { kind: "no" }

/** Whether what the call may start by doesn't hold any more: it was held up for too long, or a grant was taken back. */
function isStale(run: Run, call: Call, now: number): boolean {
  if (call.yes) return call.yes.at + call.yes.within < now
  return call.grant !== undefined && now >= (grantOf(run, call)?.until ?? 0)
}

/** Marks a call as running, before it runs. A yes or grant that is too old is not used: it must be asked about again. */
export function starting(run: Run, callId: string, attempt: Attempt, now: number): { step?: Step; outcome: Starting } {
  const call = callOf(run, callId)
  if (call?.attempt?.id === attempt.id) return { outcome: { kind: "go" } }
  if (!call || call.state !== "ready" || run.cancelled || run.ended) return { outcome: { kind: "no" } }
  if (isStale(run, call, now)) return { outcome: { kind: "stale yes" } }
  const ran = ranOf(run, call, "running")
  const entry: Entry = {
    what: "started",
    via: "bot",
    call: call.id,
    tool: call.tool,
    args: call.digest,
    cause: attempt.id,
  }
  return {
    step: step(withCall(ran, { ...call, state: "running", attempt: { ...attempt, at: now } }), now, [entry]),
    outcome: { kind: "go" },
  }
}

const ranOf = (run: Run, call: Call, ran: "running" | "ok" | "error"): Run => ({
  ...run,
  asks: run.asks.map((ask) => (ask.call === call.id && ask.settled ? { ...ask, ran } : ask)),
})

/** Cards must not say that something ran which never started. What is in doubt did start. */
const unrunOf = (run: Run, call: Call, why: string): Run => ({
  ...run,
  asks: run.asks.map((ask) =>
    ask.call === call.id && ask.settled && ask.ran === undefined ? { ...ask, ran: "no", notRun: why } : ask,
  ),
})

/** A call's result, as the transcript entry that will stand for it. */
export interface Result {
  message: string
  isError: boolean
  /** For the journal: `ok`, `error`, `declined`, `outcome unknown`, … */
  outcome: string
}

/**
 * Takes the result of an attempt: by its id, as long as the call is not done, also when a doubt about it is open (which
 * it closes). `began`: the call as it was before it was marked, for whoever ran it. Undefined when nobody waits for it any more.
 */
export function finished(
  run: Run,
  callId: string,
  attemptId: string,
  result: Result,
  now: number,
  began?: Call,
): Step | undefined {
  const call = callOf(run, callId)
  if (!call || !(isRunning(call, attemptId) || isUnbegun(call, began))) return undefined
  const closed = closeAsks(run, call, attemptId, now)
  const ran = ranOf(closed?.run ?? run, call, result.isError ? "error" : "ok")
  return merge(closed, written(ran, call, result, now, attemptId))
}

/**
 * The result of an attempt that has no mark is taken while its call is still ready. Of any other call the attempt that
 * counts is yet to begin: what comes now is of one before it.
 */
export function unmarked(run: Run, callId: string, result: Result, now: number): Step | undefined {
  const call = callOf(run, callId)
  if (call?.state !== "ready" || isMarked(call)) return undefined
  return written(ranOf(run, call, result.isError ? "error" : "ok"), call, result, now)
}

/** Writes the result of a call that will not run (any more). */
export function decided(run: Run, callId: string, result: Result, now: number): Step | undefined {
  const call = callOf(run, callId)
  if (!call || (call.state !== "decided" && call.state !== "ready")) return undefined
  return written(unrunOf(run, call, result.outcome), call, result, now)
}

function written(run: Run, call: Call, result: Result, now: number, cause?: string): Step {
  const outcome = result.isError ? "error" : "ok"
  const next = withCall(run, { ...call, attempt: undefined, state: "done", outcome })
  const entry: Entry = {
    what: "finished",
    via: "bot",
    call: call.id,
    tool: call.tool,
    args: call.digest,
    outcome: result.outcome,
    cause,
  }
  const one = step(next, now, [entry], { texts: [{ field: `out:${call.id}`, text: result.message }] })
  return merge(one, complete(one.run, now)) ?? one
}

/** The tool suspended: its Request is asked, unless this was the run with the Answer (then it is unresolved). */
export function suspended(
  run: Run,
  callId: string,
  attemptId: string,
  how: { request: Request; rule: Rule },
  now: number,
  began?: Call,
): Step | undefined {
  const call = callOf(run, callId)
  if (!call || call.answered !== undefined || run.cancelled) return undefined
  if (!isOf(call, attemptId) && !isUnbegun(call, began)) return undefined
  const closed = closeAsks(run, call, attemptId, now)
  return merge(closed, raise(closed?.run ?? run, call, { ...how, from: "tool" }, now))
}

/** When every call has its result: they go to the transcript in call order, the turn's asks beside the state. */
export function complete(run: Run, now: number): Step | undefined {
  if (run.calls.length === 0 || run.calls.some((call) => call.state !== "done")) return undefined
  const texts = run.asks.map((ask) => ({ field: `ask:${ask.id}`, text: JSON.stringify(ask) }))
  const append = run.calls.map((call) => ({ field: `out:${call.id}` }))
  const next = step({ ...run, calls: [], asks: [] }, now, [], { texts, append })
  if (!run.cancelled) return merge(next, handedOver(next.run, now))
  const words = run.cancelled.by ? `cancelled by ${run.cancelled.by.name ?? run.cancelled.by.user}` : "cancelled"
  return merge(next, end(next.run, { how: "cancelled", words }, now))
}

/** Ends the run, unless somebody said something meanwhile: then it goes on with that. Its calls must be done. */
export function end(run: Run, how: Omit<Ended, "at">, now: number): Step | undefined {
  if (run.ended) return undefined
  const entry: Entry = { what: "finished", via: "bot", outcome: how.how, note: how.words }
  const next = { ...run, retry: undefined, ended: { ...how, at: now } }
  const over = step(next, now, [entry], { slots: [endSlot(run, how)] })
  return how.how === "cancelled" ? over : merge(over, goneOn(over.run, now))
}
