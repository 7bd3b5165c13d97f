/**
 * The run: what it waits for and when it next needs a worker.
 * Plain data and questions about it; how it changes is in `turn.ts` and `ask.ts`, how it is written in `stored.ts`. Knows neither
 * Redis nor Slack.
 */
import type { Entry, Fact, Person, Tip, Via } from "./fact.ts"
import { chain } from "./fact.ts"
import { decidingNow, escalatedRule, principalsOf } from "./policy.ts"
import type { Principal, Rule, Wish } from "./policy.ts"
import type { Spent } from "./usage.ts"

/** The format of a stored run. A process reads its own and the one before; a newer one it hands back. */
export const FORMAT = 2

/** none: nothing changes, may run any number of times · repeatable: may be run again after a crash · once: never again unasked. */
export type Effects = "none" | "repeatable" | "once"

/** What a server says of its tool, as MCP has it; nobody has checked it. */
export interface Hints {
  readOnly?: boolean
  destructive?: boolean
  idempotent?: boolean
  openWorld?: boolean
}

/** What became of a tool since the bot started: a rule that allows by a glob is not about it. */
export type Since = "appeared" | "changed"

/** One try at executing a call. Whoever holds its id may deliver its result. */
export interface Attempt {
  id: string
  owner: string
  at: number
}

/** The yes that a guarded call runs on; it ages. */
export interface Yes {
  ask: string
  at: number
  /** ms within which the call must start. */
  within: number
}

/**
 * asked: an ask is open · ready: may start · decided: an ask was settled so that it will not run, its result is to be written ·
 * running: an attempt is under way (or its outcome unknown) · done: its result is stored.
 */
export type CallState = "asked" | "ready" | "decided" | "running" | "done"

export interface Call {
  /** `<turn>.<index>`: with the run's id a stable name, also an idempotency key for tools. */
  id: string
  /** The model's own id of the call; the result must bear it. */
  ref: string
  tool: string
  effects: Effects
  /** What it does may not be undone, as the tool's author says. */
  destructive?: true | undefined
  /** What the server that its tool comes from says of that, if only nothing; absent where its author and its configuration are one. */
  hints?: Hints | undefined
  /** What became of its tool before it was asked for. */
  since?: Since | undefined
  /** What it was planned for: unasked as `Foreign.print` says, asked about as `Foreign.origin` does; absent where it doesn't matter. */
  print?: string | undefined
  /** sha-256 (hex) of the canonical args text stored as `argsField` says. */
  digest: string
  /** How often people changed the args; absent: never. */
  edit?: number | undefined
  state: CallState
  /** The ask that is open (asked), that decided it (decided), or the open doubt about it (running). */
  ask?: string | undefined
  yes?: Yes | undefined
  /** The grant that it may start by, and the Request that is asked should that be over by then. */
  grant?: { id: string; request: string } | undefined
  /** The tool's own Request that was answered yes: the call runs with its Answer, and may not suspend again. */
  answered?: string | undefined
  attempt?: Attempt | undefined
  outcome?: "ok" | "error" | undefined
}

export interface Settled {
  ok: boolean
  reason?: string
  /** The answer to a doubt. */
  choice?: DoubtChoice
  /** Absent when the timer or the bot itself settled it. */
  by?: Person
  via: Via
  at: number
  /** What the settling attempt is recognised by over retries and redeliveries. */
  cause: string
}

/** again: a new attempt · done: a person knows that it was done. */
export type DoubtChoice = "again" | "done"

/** One person's yes to one version, where several are needed. */
export interface Vote {
  by: Person
  at: number
  cause: string
}

/** A Request with its version, policy and Answer. Its texts stand beside the state: `req:<id>`, `answer:<id>`, its call's args. */
export interface Ask {
  /** The Request's id. */
  id: string
  call: string
  tool: string
  /** guard: the policy asked · tool: the tool suspended · doubt: the outcome of an attempt is unknown. */
  from: "guard" | "tool" | "doubt"
  /** The attempt that goes on running while it waits for the Answer, and is handed it; absent: the call waits. */
  held?: string | undefined
  kind: string
  version: number
  /** Digest of the args that are shown. */
  digest: string
  at: number
  /** ms; judged by Redis' clock. */
  expiresAt: number
  rule: Rule
  /** Who said yes so far, where several must; of this version. */
  votes?: Vote[] | undefined
  /** Which args it is about: `Call.edit` of its call. */
  edit?: number | undefined
  /** Who changed the args. */
  editors?: Person[] | undefined
  /** How many of the rule's reminders are over. */
  reminded?: number | undefined
  /** When it was escalated, ms: the rule's further people decide as well since. */
  escalated?: number | undefined
  /** When the card was first seen to be posted. */
  shownAt?: number | undefined
  settled?: Settled | undefined
  /** What came of the call, once decided; `no`: it never started, `notRun` says why. */
  ran?: "running" | "ok" | "error" | "no" | undefined
  notRun?: string | undefined
}

export interface Ended {
  how: "done" | "failed" | "incomplete" | "cancelled"
  at: number
  /** For people: the limit reached, what failed, who cancelled. The final answer is the text `answer`. */
  words?: string
}

/** An approver's word that the like of a call may run unasked in this run; who gave it is asked about again at each use. */
export interface Grant {
  id: string
  /** The ask that was approved with it. */
  ask: string
  tool: string
  /** What calls it covers, as `markOf` says. */
  mark: string
  /** Under which it was given: whoever gave it must be able to decide under it still. */
  rule: Rule
  /** Whoever the rule brings in later decided as well by then. */
  escalated?: true
  by: Person
  at: number
  /** ms; judged by Redis' clock. */
  until: number
  /** Who took it back. */
  revoked?: { by: Person; at: number; cause: string }
}

/** That somebody voted or decided. */
export interface Said {
  /** `<team>:<user>` */
  by: string
  ask: string
  at: number
}

/** What somebody said in the run's thread while it was busy: the agent reads it at its next turn. */
export interface Kept {
  by: Person
  at: number
  /** What the message is recognised by when it comes again. */
  cause: string
  /** The text beside the state that holds it, as the transcript entry that it becomes. */
  field: string
}

export interface Usage {
  prompt: number
  completion: number
}

export interface Run {
  format: number
  /** How the texts are sealed; `plain` is all there is yet. */
  seal: "plain"
  id: string
  /** The trigger id of the command that started it. */
  cause: string
  requester: Person
  channel: string
  /** The ts of the message that its thread hangs on; absent until that stands. */
  thread?: string | undefined
  /** That message is a person's, so what the bot posts of the run stands below it. */
  below?: true | undefined
  /** Who spoke last before the turn under way; absent: the requester. */
  asker?: Person | undefined
  /** Everybody beside the requester whose words the agent has read in it. */
  speakers?: Person[] | undefined
  /** What was said meanwhile, in the order in which it came. */
  said?: Kept[] | undefined
  /** What the last messages are recognised by that were taken up or kept, the newest last. */
  heard?: string[] | undefined
  /** Each time that it goes on after its end a new stretch begins; the first has none. With what was used before it. */
  stretch?: { n: number; turns: number; tokens: number } | undefined
  /** Which agent works on it, by its name in the configuration; absent: the one of the whole file. */
  agent?: string | undefined
  /** The first line of what was asked for, masked, at most 150 characters; the whole, where it is more, is the text `prompt`. */
  title: string
  at: number
  /** ms that an ended run is kept. */
  keep: number
  /** False until the run's root message stands in Slack; the model is not called before. */
  rooted: boolean
  /** It counts as one of those that its requester and its channel may have at once, until it has ended. */
  counts?: true | undefined
  turns: number
  usage: Usage
  /** What else the model's work came to. */
  spent?: Spent | undefined
  /** The calls of the turn under way, in call order. Empty: the model is next. */
  calls: Call[]
  asks: Ask[]
  /** How often a call (by tool and digest) was refused in this run. */
  refusals: Record<string, number>
  grants?: Grant[] | undefined
  /** What each person said last in it: by it they find the run again. */
  lately?: Said[] | undefined
  retry?: { count: number; at: number; words: string } | undefined
  cancelled?: { by?: Person; via: Via; at: number; cause: string } | undefined
  ended?: Ended | undefined
  facts: Tip
}

/** Something owed to Slack that the state alone does not imply; `data` is JSON for the show loop. */
export interface Slot {
  name: string
  data: string
}

/** A text that stands beside the state, by the name of its field. */
export interface Text {
  field: string
  text: string
}

/** What one transition changes: the next state and all that goes beside it, for one commit. */
export interface Step {
  run: Run
  facts: Fact[]
  /** Written beside the state; of two for one field the later counts. */
  texts: Text[]
  /** Transcript entries, in order: JSON text, or the name of a text that is moved there. */
  append: (string | { field: string })[]
  slots: Slot[]
  /** Which class of messages must be brought up to date. */
  show: "cards" | "rest" | ""
}

/** Thrown when a stored run is of a format this process doesn't know: a newer release is at work. */
export class NewerFormat extends Error {
  override name = "NewerFormat"
}

/** Begins a step: `run` as it becomes, with its facts chained. */
export function step(
  run: Run,
  now: number,
  entries: readonly Entry[],
  rest: Partial<Omit<Step, "run" | "facts">> = {},
): Step {
  const { facts, tip } = chain(run.id, run.facts, now, entries)
  const { texts = [], append = [], slots = [], show = "rest" } = rest
  return { run: { ...run, facts: tip }, facts, texts, append, slots, show }
}

/** One step after another, as one commit. `second` must have been made from `first.run`. */
export function merge(first: Step | undefined, second: Step | undefined): Step | undefined {
  if (!first || !second) return first ?? second
  return {
    run: second.run,
    facts: [...first.facts, ...second.facts],
    texts: [...first.texts, ...second.texts],
    append: [...first.append, ...second.append],
    slots: [...first.slots, ...second.slots],
    show: first.show === "cards" || second.show === "cards" ? "cards" : first.show || second.show,
  }
}

/** The name of the text that holds a call's args: each change of them is a text of its own. */
export const argsField = ({ id, edit = 0 }: { id: string; edit?: number | undefined }): string =>
  edit === 0 ? `args:${id}` : `args:${id}:${edit}`

/** The name of the text that holds the args that an ask is about. */
export const argsOf = ({ call, edit }: Ask): string => argsField({ id: call, edit })

/** How many people's last words are kept. */
const LATELY = 20

/** The run with it noted that the person voted on the ask, or decided it. */
export function saidLately(run: Run, { team, user }: Person, ask: Pick<Ask, "id">, at: number): Run {
  const by = `${team}:${user}`
  const others = (run.lately ?? []).filter((said) => said.by !== by)
  return { ...run, lately: [...others.slice(1 - LATELY), { by, ask: ask.id, at }] }
}

/** The policy of an ask as it is now. */
export const ruleOf = ({ rule, escalated }: Ask): Rule => (escalated === undefined ? rule : escalatedRule(rule))

/** Whose wish the turn under way is, and whose words the agent has read. */
export const wishOf = ({ requester, asker = requester, speakers = [] }: Run): Wish => ({
  requester,
  asker,
  speakers,
})

/** Everybody and every list that may decide an ask now. */
export const decidersOf = (ask: Ask): Principal[] => decidingNow(ruleOf(ask))

/** When an ask next needs somebody: a reminder, its escalation, its deadline; ms. */
export function nextFor({ at, expiresAt, rule, reminded = 0, escalated }: Ask): number {
  const remind = rule.remind?.[reminded]
  const escalate = escalated === undefined ? rule.escalate?.after : undefined
  return Math.min(expiresAt, at + (remind ?? Infinity), at + (escalate ?? Infinity))
}

/** When an open ask next needs somebody; never in a run that is over or ending. */
export const nextAsk = (run: Run): number =>
  run.ended || run.cancelled ? Infinity : Math.min(...openAsks(run).map(nextFor))

export const openAsks = (run: Run): Ask[] => run.asks.filter((ask) => !ask.settled)
export const callOf = (run: Run, id: string): Call | undefined => run.calls.find((call) => call.id === id)
export const askOf = (run: Run, id: string): Ask | undefined => run.asks.find((ask) => ask.id === id)

export const withCall = (run: Run, call: Call): Run => ({
  ...run,
  calls: run.calls.map((other) => (other.id === call.id ? call : other)),
})
export const withAsk = (run: Run, ask: Ask): Run => ({
  ...run,
  asks: run.asks.map((other) => (other.id === ask.id ? ask : other)),
})

/** How long a run may wait for its root message before it is given up, ms. */
export const ROOT_WITHIN = 3_600_000

/** When the run next needs a worker, ms: 0 is now; its last need is its deletion. */
export function wakeAt(run: Run): number {
  if (run.ended) return run.ended.at + run.keep
  if (!run.rooted) return run.at + ROOT_WITHIN
  if (run.retry) return run.retry.at
  if (run.calls.every((call) => call.state === "done")) return 0
  if (run.calls.some((call) => call.state === "ready" || call.state === "decided" || isUnderway(call, run))) return 0
  return Math.min(...openAsks(run).map(nextFor))
}

/** Whether somebody is at work on it, or will be as soon as there is anybody. */
export const isWorking = (run: Run): boolean => !run.ended && !run.cancelled && wakeAt(run) === 0

/** When next after `now` an open ask expires, or a yes or a grant on which nothing was started is too old; or never. */
export function nextDeadline(run: Run, now: number): number {
  let next = Infinity
  const at = (ms: number): void => {
    if (ms > now && ms < next) next = ms
  }
  for (const ask of run.asks) if (!ask.settled) at(ask.expiresAt)
  for (const call of run.calls) {
    if (call.state !== "ready") continue
    if (call.yes) at(call.yes.at + call.yes.within + 1)
    at(grantOf(run, call)?.until ?? 0)
  }
  return next
}

/** The grant that the call may start by. */
export const grantOf = (run: Run, { grant }: Call): Grant | undefined =>
  grant && run.grants?.find(({ id }) => id === grant.id)

/** Running and not in doubt: someone should hold the run. */
export const isUnderway = (call: Call, run: Run): boolean =>
  call.state === "running" &&
  !(call.ask !== undefined && askOf(run, call.ask)?.from === "doubt" && !askOf(run, call.ask)?.settled)

/** The texts that a call goes on with: its args, and the Request and Answer that it runs on or was decided by. */
export function textsOf(call: Call): string[] {
  const ask = call.state === "decided" ? call.ask : call.answered
  return ask === undefined ? [argsField(call)] : [argsField(call), `req:${ask}`, `answer:${ask}`]
}

/**
 * What the run's next worker needs beside the state: the transcript, for a model turn, or the texts that calls go on with. A text
 * with a tool's own idea of a name is none of them: they stand in one line.
 */
export function needsOf(run: Run): "transcript" | string[] {
  if (run.ended) return []
  if (run.calls.length === 0) return "transcript"
  const next = run.calls.filter(({ state }) => state === "ready" || state === "decided")
  return next.flatMap(textsOf).filter((name) => /^[\w:.-]+$/.test(name))
}

/**
 * The lists the run is found by, and its place in each: its requester's, those of everybody it waits for, of everybody who
 * said something in it, and of everybody who may take back a grant in it (`grants:` alone has all of these).
 */
export function indexesOf(run: Run): Map<string, number> {
  const { requester, at, asks } = run
  const indexes = new Map([[`requester:${requester.team}:${requester.user}`, at]])
  if (run.thread !== undefined) indexes.set(hungOn(run.channel), placeOf(run.thread))
  for (const { by, at: since } of run.lately ?? []) indexes.set(`decided:${by}`, since)
  if (!run.ended) for (const [name, since] of [...grantIndexes(run), ...countIndexes(run)]) indexes.set(name, since)
  for (const ask of asks) {
    if (ask.settled) continue
    for (const principal of waitedFor(run, ask)) {
      const name = `waits:${principal}`
      if (!indexes.has(name)) indexes.set(name, ask.at)
    }
  }
  return indexes
}

/** In whose lists the ask is; the requester finds what waits for them alone in the list of their own. */
function waitedFor({ asker }: Run, ask: Ask): Principal[] {
  if (ask.rule.selfApproval !== "confirm") return decidersOf(ask)
  return asker ? [asker.user] : []
}

/** The list of a channel's threads in which a run lives. */
export const hungOn = (channel: string): string => `thread:${channel}`

/** The place of a thread in that list, by its ts: µs. Slack gives six digits after the dot, so the number is exact. */
export const placeOf = (ts: string): number => Number(ts.replace(".", ""))

/** The lists by whose length is limited how many runs somebody, or a channel, has at once. */
export const unended = ({ requester, channel }: Pick<Run, "requester" | "channel">) => ({
  requester: `unended:${requester.team}:${requester.user}`,
  channel: `unended:${channel}`,
})

const countIndexes = (run: Run): [string, number][] =>
  run.counts ? Object.values(unended(run)).map((name) => [name, run.at]) : []

function grantIndexes({ requester, grants = [] }: Run): [string, number][] {
  return grants
    .filter(({ revoked }) => revoked === undefined)
    .flatMap(({ by, rule, at }) =>
      ["", requester.user, by.user, ...principalsOf(rule)].map((who): [string, number] => [`grants:${who}`, at]),
    )
}
