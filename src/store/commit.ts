/**
 * One commit as the arguments of `lua/commit.lua`, and that script's replies as data. Knows the layout and nothing else:
 * neither why a step is made nor what becomes of a reply.
 */
import { indexesOf, needsOf, nextAsk, wakeAt } from "../core/run.ts"
import type { Run, Step } from "../core/run.ts"
import { writeRun } from "../core/stored.ts"
import { fieldOf, packed } from "./facts.ts"
import type { Shard } from "./keys.ts"
import type { Leasing } from "./lease.ts"

export interface Commit {
  id: string
  keys: Shard
  /** The run that the step was made from, and its revision: 0 and undefined when there was none. */
  before: Run | undefined
  revision: number
  step: Step
  /** Recognises this commit when it is sent again. */
  token: string
  /** ms by Redis' clock; 0 is no limit. */
  notAfter: number
  lease: Leasing
  outbox: boolean
  want: readonly string[]
  wantLog: boolean
}

export type Committed =
  | {
      kind: "stored"
      again: boolean
      now: number
      wanted: (string | undefined)[]
      log: string[]
      /** Whether the lease was taken with it. */
      taken: boolean
    }
  | { kind: "conflict"; now: number; revision: number; state: string | undefined }
  | { kind: "late"; now: number }
  | { kind: "not owner" }

/** An agenda score. Never due is a score too, so that the run stays on the agenda. */
export const scoreOf = (ms: number): string => (Number.isFinite(ms) ? String(Math.floor(ms)) : "+inf")

/**
 * Throws a TypeError when a step holds text that UTF-8 can't carry: it would be stored as something else. States and facts
 * are JSON, which escapes it.
 */
export function mustBeStorable(step: Step): void {
  for (const { field, text } of step.texts) mustBeWhole(field, text)
  for (const entry of step.append) if (typeof entry === "string") mustBeWhole("a transcript entry", entry)
  for (const { name, data } of step.slots) mustBeWhole(`slot ${name}`, data)
}

function mustBeWhole(what: string, text: string): void {
  if (isWellFormed(what) && isWellFormed(text)) return
  throw new TypeError(`${what} holds half a character (a lone surrogate) and can't be stored`)
}

/** In Node 20, but not yet in this language level's types. */
const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed()

/** One commit as `lua/commit.lua` takes it: what its shard has in common with others, the run's own keys, and its arguments. */
export interface Sent {
  shard: Shard
  keys: readonly string[]
  args: readonly string[]
}

/** Keys and arguments in the order that `lua/commit.lua` takes them. */
export function sentOf(commit: Commit): Sent {
  const { id, keys, step, lease } = commit
  // The words, which say where each group ends.
  const args = ["", writeRun(step.run)]
  let ends = ""
  const lists = listsOf(commit)
  const pushSet = (): void => void args.push(...lists.set)
  const pushLeft = (): void => void args.push(...lists.left)
  for (const push of [pushFields, pushEntries, pushFacts, pushSet, pushLeft, pushSlots]) {
    push(args, commit)
    ends += ` ${args.length}`
  }
  for (const field of commit.want) args.push(field)
  const times = `${scoreOf(commit.notAfter)} ${lease.what || "-"} ${lease.ms} ${scoreOf(wakeAt(step.run))}`
  const flags = `${AGENDAS[step.show]} ${commit.wantLog ? 1 : 0} ${kindsOf(step)}`
  const head = `${step.run.format} ${String(needsOf(step.run))}${nextIn(step.run)}`
  const who = `${args.length} ${id} ${lease.owner || "-"} ${commit.revision} ${commit.token}`
  args[0] = `${who} ${times} ${flags}${ends} ${head}`
  return { shard: keys, keys: [keys.run + id, keys.log + id, keys.show + id], args }
}

/** Which of the script's keys is the show agenda of each class. */
const AGENDAS = { "": 0, cards: 2, rest: 3 } as const

/** Some commits of one shard as one call of the script: how many keys, the keys, the arguments. */
export function callOf(sent: readonly Sent[]): string[] {
  const args = [String(SHARED + OWN * sent.length)]
  const shard = sent[0]?.shard
  if (shard) args.push(shard.agenda, shard.cards, shard.rest, shard.outbox, shard.index)
  for (const { keys } of sent) args.push(...keys)
  // A long list is more than one call of push takes.
  for (const one of sent) for (const arg of one.args) args.push(arg)
  return args
}

/** How many keys of the script are the shard's, and how many each run's own. */
const SHARED = 5
const OWN = 3

/** By it the run is found among those that are due, whatever else they wait for. */
function nextIn(run: Run): string {
  const at = nextAsk(run)
  return Number.isFinite(at) ? `!${scoreOf(at)}` : ""
}

/** A text that this very step moves to the transcript goes there directly. */
function pushFields(args: string[], { step }: Commit): void {
  for (const fact of step.facts) args.push(fieldOf(fact.n), packed(fact))
  const moved = step.append.filter((entry) => typeof entry !== "string")
  for (const { field, text } of step.texts) {
    if (!moved.some((entry) => entry.field === field)) args.push(field, text)
  }
}

function pushEntries(args: string[], { step }: Commit): void {
  for (const entry of step.append) args.push(typeof entry === "string" ? entry : (ownText(step, entry) ?? entry.field))
}

/** A letter for each transcript entry: `=` is itself, `@` the name of a text that stands beside the state. */
const kindsOf = (step: Step): string =>
  step.append.map((entry) => (typeof entry === "string" || ownText(step, entry) !== undefined ? "=" : "@")).join("") ||
  "-"

const ownText = ({ texts }: Step, { field }: { field: string }): string | undefined =>
  texts.findLast((text) => text.field === field)?.text

function pushFacts(args: string[], { outbox, step }: Commit): void {
  if (outbox) for (const fact of step.facts) args.push(JSON.stringify(fact))
}

/** The lists that the run is in from now on, or at another place, each with its score; and those that it leaves. */
function listsOf({ before, step }: Commit): { set: string[]; left: string[] } {
  if (before && isListedAlike(before, step.run)) return { set: [], left: [] }
  const old = before ? indexesOf(before) : new Map<string, number>()
  const now = indexesOf(step.run)
  const set: string[] = []
  for (const [name, score] of now) if (old.get(name) !== score) set.push(name, scoreOf(score))
  return { set, left: [...old.keys()].filter((name) => !now.has(name)) }
}

/** Nothing that the lists go by was touched. */
const isListedAlike = (before: Run, after: Run): boolean =>
  before.asks === after.asks &&
  before.thread === after.thread &&
  before.lately === after.lately &&
  before.grants === after.grants &&
  before.ended === after.ended

function pushSlots(args: string[], { step }: Commit): void {
  for (const { name, data } of step.slots) args.push(name, data)
}

const orUndefined = (text: string | null): string | undefined => text ?? undefined

/** Reads what `lua/commit.lua` replied. */
export function committed(reply: unknown): Committed {
  const [word, now] = reply as [string, number]
  switch (word) {
    case "done":
    case "yours": {
      const [, , taken, log = [], wanted = []] = reply as [string, number, number, string[]?, (string | null)[]?]
      return { kind: "stored", again: word === "yours", now, wanted: wanted.map(orUndefined), log, taken: taken === 1 }
    }
    case "conflict": {
      const [, , revision, state] = reply as [string, number, number, string | null]
      return { kind: "conflict", now, revision, state: orUndefined(state) }
    }
    case "late":
      return { kind: "late", now }
    case "not owner":
      return { kind: "not owner" }
    default:
      throw new Error(`the commit script replied ${JSON.stringify(word)}`)
  }
}
