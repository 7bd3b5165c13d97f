/**
 * One commit as the arguments of `lua/commit.lua`, and that script's replies as data. Knows the layout and nothing else:
 * neither why a step is made nor what becomes of a reply.
 */
import { indexesOf, needsOf, wakeAt } from "../core/run.ts"
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
      revision: number
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
  // In Node 20, but not yet in this language level's types.
  const [name, value] = [what, text] as (string & { isWellFormed(): boolean })[]
  if (name?.isWellFormed() && value?.isWellFormed()) return
  throw new TypeError(`${what} holds half a character (a lone surrogate) and can't be stored`)
}

function fieldsOf(step: Step, moved: ReadonlySet<string>): string[] {
  const { run } = step
  const fields = ["state", writeRun(run), ...step.facts.flatMap((fact) => [fieldOf(fact.n), packed(fact)])]
  for (const { field, text } of step.texts) {
    if (!moved.has(field)) fields.push(field, text)
  }
  return fields
}

/** Transcript entries; a field that this very step writes goes to the transcript directly. */
function entriesOf(step: Step): { entries: string[]; moved: Set<string> } {
  const entries: string[] = []
  const moved = new Set<string>()
  for (const entry of step.append) {
    if (typeof entry === "string") {
      entries.push("=", entry)
      continue
    }
    const text = step.texts.findLast(({ field }) => field === entry.field)?.text
    if (text === undefined) entries.push("@", entry.field)
    else {
      entries.push("=", text)
      moved.add(entry.field)
    }
  }
  return { entries, moved }
}

/** What changed of the lists that a run is in. */
function indexChanges(before: Run | undefined, after: Run): { set: string[]; leave: string[] } {
  const old = before ? indexesOf(before) : new Map<string, number>()
  const set: string[] = []
  for (const [name, score] of indexesOf(after)) {
    if (old.get(name) !== score) set.push(name, scoreOf(score))
    old.delete(name)
  }
  return { set, leave: [...old.keys()] }
}

/** Keys and arguments in the order that `lua/commit.lua` takes them. */
export function commitArgs(commit: Commit): string[] {
  const { id, keys, step } = commit
  const { entries, moved } = entriesOf(step)
  const fields = fieldsOf(step, moved)
  const facts = commit.outbox ? step.facts.map((fact) => JSON.stringify(fact)) : []
  const index = indexChanges(commit.before, step.run)
  const slots = step.slots.flatMap(({ name, data }) => [name, data])
  const groups = [fields, entries, facts, index.set, index.leave, slots, commit.want]
  const { revision, token, lease } = commit
  const shows = step.show === "" ? 0 : 1
  const times = `${scoreOf(commit.notAfter)} ${lease.what || "-"} ${lease.ms} ${scoreOf(wakeAt(step.run))}`
  const how = `${revision} ${token} ${times} ${shows} ${commit.wantLog ? 1 : 0}`
  return [
    keys.run + id,
    keys.log + id,
    keys.show + id,
    keys.agenda,
    step.show === "cards" ? keys.cards : keys.rest,
    keys.outbox,
    keys.index,
    id,
    commit.lease.owner,
    `${step.run.format} ${String(needsOf(step.run))}`,
    // One argument of many words costs less than many arguments.
    `${how} ${groups.map((group) => group.length).join(" ")}`,
    ...([] as string[]).concat(...groups),
  ]
}

const orUndefined = (text: string | null): string | undefined => text ?? undefined

/** Reads what `lua/commit.lua` replied. */
export function committed(reply: unknown): Committed {
  const [word, now, revision, third, log, taken] = reply as [string, number, number, unknown, string[]?, number?]
  switch (word) {
    case "done":
    case "yours": {
      const wanted = (third as (string | null)[]).map(orUndefined)
      return { kind: "stored", again: word === "yours", now, revision, wanted, log: log ?? [], taken: taken === 1 }
    }
    case "conflict":
      return { kind: "conflict", now, revision, state: orUndefined(third as string | null) }
    case "late":
      return { kind: "late", now }
    case "not owner":
      return { kind: "not owner" }
    default:
      throw new Error(`the commit script replied ${JSON.stringify(word)}`)
  }
}
