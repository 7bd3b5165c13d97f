/**
 * The one shape that runs, calls and asks have in memory: every key is there, those that are absent too. As long as all have one
 * shape, a copy with a change is as cheap as the change; one that adds or leaves out a key costs fifty times that. Knows nothing of
 * what the keys mean.
 */
import type { Ask, Call, Run } from "./run.ts"

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
  thread: run.thread,
  below: run.below,
  asker: run.asker,
  speakers: run.speakers,
  said: run.said,
  heard: run.heard,
  stretch: run.stretch,
  agent: run.agent,
  title: run.title,
  at: run.at,
  keep: run.keep,
  rooted: run.rooted,
  counts: run.counts,
  turns: run.turns,
  usage: run.usage,
  spent: run.spent,
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
