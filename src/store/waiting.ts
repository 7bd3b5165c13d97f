/**
 * Who waits for a commit of a run, what they want of it, and which of them are committed together. Knows no Redis.
 */
import { merge, needsOf } from "../core/run.ts"
import type { Run, Step } from "../core/run.ts"
import { mustBeStorable } from "./commit.ts"
import type { Lease, Needs } from "./lease.ts"
import type { Unsent } from "./sender.ts"

/** A run as it was read. */
export interface Loaded {
  run: Run
  revision: number
  /** Redis' clock when it was read, ms. */
  now: number
  /** `performance.now()` then: tells how old `now` is. */
  seenAt?: number
}

/** A run as a commit left it; `taken` when the commit left something to do and took the lease for this process. */
export interface Left extends Loaded {
  taken?: Needs
}

/** `step` undefined: nothing is to change. */
export interface Change<O> {
  step?: Step | undefined
  outcome: O
}

/** Pure, and may be asked more than once: `run` undefined when there is none (its step creates it). `now`: Redis' clock, ms. */
export type Transition<O> = (run: Run | undefined, now: number) => Change<O>

export interface ApplyOptions {
  /** How long, from now on, the commit may be stored, ms: for a person, who waits to be told. At most 15,000. */
  notAfterMs?: number
  /** The lease under which it is committed; without, it is committed as everybody else's. */
  owner?: string
  /** What becomes of the owner's lease; `keep` unless said. */
  lease?: Lease
  /**
   * The run as the caller knows it, `none` when there should be none yet: saves reading it. A step made from old knowledge
   * is made again from the newest; an outcome without a step is taken as it is.
   */
  known?: Loaded | "none" | undefined
  /** Texts to return, by field name, as they are after the commit. */
  want?: readonly string[]
  /** Returns the transcript; `for model`: only with a commit after which the model is next. */
  wantLog?: boolean | "for model"
  /** Whether replicas must have it, when the store is opened with `confirm`. */
  confirm?: boolean
}

/**
 * not owner: the lease is another's by now · not known: it may be stored, and no read showed it in time · not recorded: it
 * is not stored and never will be.
 */
export type Applied<O> =
  | {
      kind: "applied"
      outcome: O
      now: number
      seenAt: number
      revision: number
      /** After the commit. Undefined when there is no such run and the transition made none. */
      run: Run | undefined
      wanted: (string | undefined)[]
      log: string[]
      /** Whether the owner's lease was given back. */
      released: boolean
    }
  | Unapplied

export type Unapplied = { kind: "not owner" } | Unsent

/** How long anything is tried, ms. */
const PATIENCE = 15_000
/** Waiting transitions merged into one commit at most. */
const BATCH = 100

export interface Seen {
  run: Run | undefined
  revision: number
  now: number
  seenAt: number
}

/** One caller who waits. */
export class Waiting {
  readonly owner: string
  readonly lease: Lease | ""
  readonly known: Loaded | "none" | undefined
  readonly want: readonly string[]
  readonly wantLog: boolean | "for model"
  readonly confirm: boolean
  /** `performance.now()` at which it gives up; `limited`: the commit itself must carry that. */
  readonly until: number
  readonly limited: boolean
  readonly failed: (how: Unapplied) => void
  readonly broke: (error: unknown) => void
  readonly #transition: Transition<unknown>
  readonly #resolve: (applied: Applied<unknown>) => void
  #asked = false
  #outcome: unknown

  constructor(
    transition: Transition<unknown>,
    { notAfterMs, owner = "", lease = "keep", known, want = [], wantLog = false, confirm = false }: ApplyOptions,
    resolve: (applied: Applied<unknown>) => void,
    reject: (error: unknown) => void,
  ) {
    this.owner = owner
    this.lease = owner === "" ? "" : lease
    this.known = known
    this.want = want
    this.wantLog = wantLog
    this.confirm = confirm
    this.until = performance.now() + Math.min(notAfterMs ?? PATIENCE, PATIENCE)
    this.limited = notAfterMs !== undefined
    this.#transition = transition
    this.#resolve = resolve
    this.failed = resolve
    this.broke = reject
  }

  ask(run: Run | undefined, now: number): Step | undefined {
    const { step, outcome } = this.#transition(run, now)
    this.#asked = true
    this.#outcome = outcome
    return step
  }

  applied(
    { run, revision, now, seenAt }: Seen,
    wanted: (string | undefined)[],
    log: string[],
    released: boolean,
  ): void {
    if (!this.#asked) throw new Error("applied before it was asked")
    this.#resolve({ kind: "applied", outcome: this.#outcome, now, seenAt, revision, run, wanted, log, released })
  }
}

/** Asks everybody in turn, each on the state that the one before leaves. Who can't wait any longer gets no new step. */
export function askAll(batch: readonly Waiting[], seen: Seen): { batch: Waiting[]; step: Step | undefined } {
  let step: Step | undefined
  const still: Waiting[] = []
  for (const waiting of batch) {
    try {
      const own = waiting.ask(step?.run ?? seen.run, seen.now)
      if (own && performance.now() > waiting.until) {
        waiting.failed({ kind: "not recorded", error: new Error("Redis was too slow or too busy") })
        continue
      }
      if (own) mustBeStorable(own)
      step = merge(step, own)
      still.push(waiting)
    } catch (error) {
      waiting.broke(error)
    }
  }
  return { batch: still, step }
}

/** What is committed together next. An owner's commit goes alone: whether its lease stands is nobody else's matter. */
export function take(queue: Waiting[]): Waiting[] {
  const owners = queue.findIndex((waiting) => waiting.owner !== "")
  if (owners === 0) return queue.splice(0, 1)
  return queue.splice(0, Math.min(owners === -1 ? queue.length : owners, BATCH))
}

export const untilOf = (batch: readonly Waiting[]): number => Math.min(...batch.map(({ until }) => until))

/** `taken`: the lease is taken, so the next worker is here. */
export const wantsLog = (batch: readonly Waiting[], run: Run, taken: boolean): boolean =>
  batch.some(({ wantLog }) => wantLog === true) ||
  ((taken || batch.some(({ wantLog }) => wantLog === "for model")) && needsOf(run) === "transcript")

export function failAll(batch: readonly Waiting[], how: Unapplied): void {
  for (const waiting of batch) waiting.failed(how)
}
