/**
 * A run as it is stored, and its one shape in memory. Knows what may be left out because something else says it; not where it is
 * stored.
 */
import { lengthened, shortened } from "./digest.ts"
import { FORMAT, NewerFormat } from "./run.ts"
import type { Ask, Call, Run } from "./run.ts"

/**
 * The call with every key, those that are absent too. Here and in `wholeAsk` and `wholeRun`: as long as all have one shape,
 * a copy with a change is as cheap as the change; one that adds or leaves out a key costs fifty times that.
 */
export const wholeCall = (call: Call): Call => ({
  id: call.id,
  ref: call.ref,
  tool: call.tool,
  effects: call.effects,
  destructive: call.destructive,
  digest: call.digest,
  edit: call.edit,
  state: call.state,
  ask: call.ask,
  yes: call.yes,
  grant: call.grant,
  answered: call.answered,
  attempt: call.attempt,
  outcome: call.outcome,
})

export const wholeAsk = (ask: Ask): Ask => ({
  id: ask.id,
  call: ask.call,
  tool: ask.tool,
  from: ask.from,
  kind: ask.kind,
  version: ask.version,
  digest: ask.digest,
  at: ask.at,
  expiresAt: ask.expiresAt,
  rule: ask.rule,
  votes: ask.votes,
  edit: ask.edit,
  editors: ask.editors,
  reminded: ask.reminded,
  escalated: ask.escalated,
  shownAt: ask.shownAt,
  settled: ask.settled,
  ran: ask.ran,
  notRun: ask.notRun,
})

export const wholeRun = (run: Run): Run => ({
  format: run.format,
  seal: run.seal,
  id: run.id,
  cause: run.cause,
  requester: run.requester,
  channel: run.channel,
  title: run.title,
  at: run.at,
  keep: run.keep,
  rooted: run.rooted,
  counts: run.counts,
  turns: run.turns,
  usage: run.usage,
  calls: run.calls,
  asks: run.asks,
  refusals: run.refusals,
  grants: run.grants,
  lately: run.lately,
  retry: run.retry,
  cancelled: run.cancelled,
  ended: run.ended,
  facts: run.facts,
})

/**
 * The state as it is stored. For what a parked run costs, nothing is said twice (an ask's tool and args are its call's),
 * nothing that is mostly the same, and digests are shortened. `readRun` takes the whole spelling as well.
 */
export function writeRun(run: Run): string {
  const stored: Written<Run, "seal" | "refusals" | "calls" | "asks"> = {
    ...run,
    seal: run.seal === "plain" ? undefined : run.seal,
    calls: run.calls.map(storedCall),
    asks: run.asks.map((ask) => storedAsk(ask, theirs(run.calls, ask.call))),
    refusals: isEmpty(run.refusals) ? undefined : run.refusals,
    facts: { n: run.facts.n, hash: shortened(run.facts.hash) },
  }
  return JSON.stringify(stored)
}

/** As it is written: JSON leaves out what is undefined, here also some keys that mostly say the same. */
type Written<T, K extends keyof T> = Omit<T, K> & { [Key in K]: unknown }

const storedCall = (call: Call): Written<Call, "effects"> => ({
  ...call,
  effects: call.effects === "once" ? undefined : call.effects,
  digest: shortened(call.digest),
})

const storedAsk = (
  ask: Ask,
  { tool, digest }: Pick<Ask, "tool" | "digest">,
): Written<Ask, "tool" | "digest" | "from" | "kind" | "version" | "expiresAt"> => ({
  ...ask,
  tool: ask.tool === tool ? undefined : ask.tool,
  digest: ask.digest === digest ? undefined : shortened(ask.digest),
  from: ask.from === "guard" ? undefined : ask.from,
  kind: ask.kind === "approval" ? undefined : ask.kind,
  version: ask.version === 1 ? undefined : ask.version,
  expiresAt: ask.expiresAt === ask.at + ask.rule.expiresIn ? undefined : ask.expiresAt,
})

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

type StoredRun = Omit<Run, "calls" | "asks"> & { calls: StoredCall[]; asks: StoredAsk[] }
type StoredCall = Omit<Call, "effects"> & Partial<Call>
type StoredAsk = Omit<Ask, "tool" | "digest" | "from" | "kind" | "version" | "expiresAt"> & Partial<Ask>

/** Reads a stored state. Throws NewerFormat, or an Error when the text is no run. */
export function readRun(text: string): Run {
  const read: unknown = JSON.parse(text)
  if (typeof read !== "object" || read === null || !("format" in read) || typeof read.format !== "number") {
    throw new Error("the stored state is no run")
  }
  if (read.format > FORMAT) {
    throw new NewerFormat(`the run has format ${read.format}, this release reads up to ${FORMAT}`)
  }
  const stored = read as StoredRun
  const calls = stored.calls.map(readCall)
  // What was just parsed is nobody else's.
  const run = wholeRun(stored as Run)
  run.seal = "plain"
  run.refusals ??= {}
  run.calls = calls
  run.asks = stored.asks.map((ask) => readAsk(ask, theirs(calls, ask.call)))
  run.facts.hash = lengthened(run.facts.hash)
  return run
}

function readCall(stored: StoredCall): Call {
  const call = wholeCall(stored as Call)
  call.effects ??= "once"
  call.digest = lengthened(call.digest)
  return call
}

function readAsk(stored: StoredAsk, { tool, digest }: Pick<Ask, "tool" | "digest">): Ask {
  const ask = wholeAsk(stored as Ask)
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
