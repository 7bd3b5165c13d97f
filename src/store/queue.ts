/**
 * Applies transitions to runs: asks the pure function, commits its step, asks again when others were faster or the time
 * was over, and sends a commit whose reply was lost again until it is known what became of it. What waits for one run in
 * this process is merged into one commit. Knows nothing of what a transition is about.
 */
import { deadlinesOf, merge, needsOf, readRun, wakeAt } from "../core/run.ts"
import type { Run, Step } from "../core/run.ts"
import type { Clock } from "./clock.ts"
import { commitArgs, mustBeStorable, scoreOf } from "./commit.ts"
import type { Committed } from "./commit.ts"
import { type Connection, errorOf, faultOf } from "./connection.ts"
import { leaseAfter, leasing, needsFrom, textsFor, type Lease, type Needs, type Taker } from "./lease.ts"
import type { Shard } from "./keys.ts"
import type { Sender, Unsent } from "./sender.ts"

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

interface Seen {
  run: Run | undefined
  revision: number
  now: number
  seenAt: number
}

/** One caller who waits. */
interface Waiting {
  owner: string
  lease: Lease | ""
  known: Loaded | "none" | undefined
  want: readonly string[]
  wantLog: boolean | "for model"
  confirm: boolean
  /** `performance.now()` at which it gives up; `limited`: the commit itself must carry that. */
  until: number
  limited: boolean
  ask(run: Run | undefined, now: number): Step | undefined
  applied(at: Seen, wanted: (string | undefined)[], log: string[], released: boolean): void
  failed(how: Unapplied): void
  broke(error: unknown): void
}

export interface QueueParts {
  connection: Connection
  sender: Sender
  outbox: boolean
  keysOf: (id: string) => Shard
  /** Tries for `within` ms at least once. */
  load(id: string, within: number): Promise<{ run: Run | undefined; revision: number; now: number }>
  texts(id: string, fields: readonly string[]): Promise<(string | undefined)[]>
  transcript(id: string): Promise<string[]>
  /** A token that no other commit has. */
  mint(): string
  onCommit(id: string, step: Step, at: Left): void
  /** Undefined while nobody has room for another run. */
  taker: () => Taker | undefined
  clock: Clock
}

export class RunQueue {
  readonly #parts: QueueParts
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(parts: QueueParts) {
    this.#parts = parts
  }

  apply<O>(id: string, transition: Transition<O>, options: ApplyOptions = {}): Promise<Applied<O>> {
    return new Promise((resolve, reject) => {
      let outcome: { is: O } | undefined
      this.#enqueue(id, {
        ...waitingOf(options),
        ask(run, now) {
          const change = transition(run, now)
          outcome = { is: change.outcome }
          return change.step
        },
        applied({ run, revision, now, seenAt }, wanted, log, released) {
          if (!outcome) throw new Error("applied before it was asked")
          resolve({ kind: "applied", outcome: outcome.is, now, seenAt, revision, run, wanted, log, released })
        },
        failed: resolve,
        broke: reject,
      })
    })
  }

  #enqueue(id: string, waiting: Waiting): void {
    const queue = this.#waiting.get(id)
    if (queue) {
      queue.push(waiting)
      return
    }
    const fresh = [waiting]
    this.#waiting.set(id, fresh)
    void this.#drain(id, fresh)
  }

  async #drain(id: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const batch = take(queue)
      try {
        await this.#settle(id, batch)
      } catch (error) {
        for (const waiting of batch) waiting.broke(error)
      }
    }
    this.#waiting.delete(id)
  }

  async #settle(id: string, batch: Waiting[]): Promise<void> {
    let seen = freshEnough(batch, this.#parts.clock)
    for (;;) {
      seen ??= await this.#load(id, batch)
      if (!seen) return
      const asked = askAll(batch, seen)
      if (!asked.step) return this.#unchanged(id, asked.batch, seen)
      const result = await this.#commit(id, asked.batch, seen, asked.step)
      if (result.kind === "stored") {
        this.#stored(id, asked.batch, asked.step, seen.now, result)
        return
      }
      if (result.kind !== "conflict" && result.kind !== "late") return failAll(asked.batch, result)
      this.#parts.clock.saw(result.now)
      const next = newer(seen, result)
      if ("error" in next) return failAll(asked.batch, { kind: "not recorded", error: next.error })
      seen = next
      batch = asked.batch
    }
  }

  /** The run as it is, or undefined when it can't be read: everybody is told then. */
  async #load(id: string, batch: readonly Waiting[]): Promise<Seen | undefined> {
    try {
      const until = Math.min(...batch.map((waiting) => waiting.until))
      const loaded = await this.#parts.load(id, until - performance.now())
      return { ...loaded, seenAt: performance.now() }
    } catch (error) {
      failAll(batch, { kind: "not recorded", error: errorOf(error) })
      return undefined
    }
  }

  /** Nothing to store: only what was wanted is read, and the lease given back. */
  async #unchanged(id: string, batch: readonly Waiting[], seen: Seen): Promise<void> {
    for (const waiting of batch) {
      if (waiting.lease === "release" && !(await this.#release(id, waiting, seen))) {
        waiting.failed({ kind: "not owner" })
        continue
      }
      const wanted = waiting.want.length > 0 ? await this.#parts.texts(id, waiting.want) : []
      const log = waiting.wantLog === true ? await this.#parts.transcript(id) : []
      waiting.applied(seen, wanted, log, waiting.lease === "release")
    }
  }

  async #release(id: string, { owner }: Waiting, { run, revision }: Seen): Promise<boolean> {
    if (!run) return true
    const { connection, keysOf } = this.#parts
    const keys = keysOf(id)
    const args = [keys.run + id, keys.agenda, id, owner, String(revision), scoreOf(wakeAt(run))]
    let lost = false
    const [held] = (await connection.surely(() =>
      connection.run("release", args).catch((error: unknown) => {
        lost ||= faultOf(error) === "lost"
        throw error
      }),
    )) as [number]
    // After a lost reply the lease may be gone because we gave it back.
    return held === 1 || lost
  }

  async #commit(id: string, batch: readonly Waiting[], seen: Seen, step: Step): Promise<Committed | Unapplied> {
    const first = batch[0]
    const until = Math.min(...batch.map((waiting) => waiting.until))
    const lease = leasing(first, step, seen.now, this.#parts.taker)
    const args = commitArgs({
      id,
      keys: this.#parts.keysOf(id),
      before: seen.run,
      revision: seen.revision,
      step,
      token: this.#parts.mint(),
      notAfter: notAfter(batch, seen),
      lease,
      outbox: this.#parts.outbox,
      want: [...batch.flatMap((waiting) => waiting.want), ...(lease.what === "take" ? textsFor(step.run) : [])],
      wantLog: wantsLog([...batch, { wantLog: lease.what === "take" && "for model" }], step.run),
    })
    const confirm = batch.some((waiting) => waiting.confirm)
    return this.#parts.sender.send(this.#parts.keysOf(id).lease, args, { until, confirm })
  }

  #stored(
    id: string,
    batch: readonly Waiting[],
    step: Step,
    askedAt: number,
    result: Committed & { kind: "stored" },
  ): void {
    const { now, revision, taken, wanted, log } = result
    const at = { run: step.run, revision, now, seenAt: performance.now() }
    this.#parts.clock.saw(now)
    let from = 0
    for (const waiting of batch) {
      const to = from + waiting.want.length
      const released = leaseAfter(waiting.lease, step, askedAt) === "release"
      waiting.applied(at, wanted.slice(from, to), waiting.wantLog === false ? [] : log, released)
      from = to
    }
    const left = taken ? { ...at, taken: needsFrom(textsFor(step.run), wanted.slice(from), log) } : at
    try {
      this.#parts.onCommit(id, step, left)
    } catch (error) {
      // It is stored, whatever the listener says; its error is nobody's who waits here, and must not vanish.
      queueMicrotask(() => {
        throw error
      })
    }
  }
}

function waitingOf(options: ApplyOptions): Omit<Waiting, "ask" | "applied" | "failed" | "broke"> {
  const { notAfterMs, owner = "", known, want = [], wantLog = false, confirm = false } = options
  return {
    owner,
    lease: owner === "" ? "" : (options.lease ?? "keep"),
    known,
    want,
    wantLog,
    confirm,
    until: performance.now() + Math.min(notAfterMs ?? PATIENCE, PATIENCE),
    limited: notAfterMs !== undefined,
  }
}

const wantsLog = (batch: readonly Pick<Waiting, "wantLog">[], run: Run): boolean =>
  batch.some(({ wantLog }) => wantLog === true || (wantLog === "for model" && needsOf(run) === "transcript"))

/** What is committed together next. An owner's commit goes alone: whether its lease stands is nobody else's matter. */
function take(queue: Waiting[]): Waiting[] {
  const owners = queue.findIndex((waiting) => waiting.owner !== "")
  if (owners === 0) return queue.splice(0, 1)
  return queue.splice(0, Math.min(owners === -1 ? queue.length : owners, BATCH))
}

/** The first deadline after `now`; a step made before it must not be stored after it. */
const deadlineOf = (run: Run | undefined, now: number): number =>
  Math.min(...(run ? deadlinesOf(run) : []).filter((at) => at > now))

/** What a lone caller knows, with the time gone by since; not when a deadline fell into that time: Redis' clock judges it. */
function freshEnough(batch: readonly Waiting[], clock: Clock): Seen | undefined {
  const known = batch.length === 1 ? batch[0]?.known : undefined
  if (!known) return undefined
  const seenAt = performance.now()
  if (known === "none") {
    const now = clock.now()
    return now === undefined ? undefined : { run: undefined, revision: 0, now, seenAt }
  }
  const now = known.now + Math.floor(seenAt - (known.seenAt ?? seenAt))
  if (deadlineOf(known.run, known.now) <= now) return undefined
  return { run: known.run, revision: known.revision, now, seenAt }
}

/** Asks everybody in turn, each on the state that the one before leaves. Who can't wait any longer gets no new step. */
function askAll(batch: readonly Waiting[], seen: Seen): { batch: Waiting[]; step: Step | undefined } {
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

/** Until when a commit holds, by Redis' clock: the open deadlines, and the patience of people. 0 is for ever. */
function notAfter(batch: readonly Waiting[], seen: Seen): number {
  const limits = batch.filter((waiting) => waiting.limited).map((waiting) => seen.now + waiting.until - seen.seenAt)
  const limit = Math.min(deadlineOf(seen.run, seen.now) - 1, ...limits)
  return Number.isFinite(limit) ? Math.max(1, limit) : 0
}

/** The state to ask about after a conflict or a late commit. */
function newer(seen: Seen, result: Committed & { kind: "conflict" | "late" }): Seen | { error: Error } {
  const seenAt = performance.now()
  if (result.kind === "late") return { ...seen, now: result.now, seenAt }
  try {
    const run = result.state === undefined ? undefined : readRun(result.state)
    return { run, revision: result.revision, now: result.now, seenAt }
  } catch (error) {
    return { error: errorOf(error) }
  }
}

function failAll(batch: readonly Waiting[], how: Unapplied): void {
  for (const waiting of batch) waiting.failed(how)
}
