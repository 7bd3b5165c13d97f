/**
 * Applies transitions to runs: asks the pure function, commits its step, asks again when others were faster or the time
 * was over, and sends a commit whose reply was lost again until it is known what became of it. What waits for one run in
 * this process is merged into one commit. Knows nothing of what a transition is about.
 */
import { nextDeadline, wakeAt } from "../core/run.ts"
import type { Run, Step } from "../core/run.ts"
import type { Clock } from "./clock.ts"
import { scoreOf, sentOf } from "./commit.ts"
import type { Committed } from "./commit.ts"
import { type Connection, errorOf, faultOf } from "./connection.ts"
import { leaseAfter, type Leasing, leasing, needsFrom, textsFor, type Taker } from "./lease.ts"
import type { Shard } from "./keys.ts"
import type { Sender } from "./sender.ts"
import { runFrom } from "./unreadable.ts"
import { askAll, failAll, take, untilOf, Waiting, wantsLog } from "./waiting.ts"
import type { Applied, ApplyOptions, Left, Seen, Transition, Unapplied } from "./waiting.ts"

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
    return new Promise<Applied<unknown>>((resolve, reject) => {
      this.#enqueue(id, new Waiting(transition, options, resolve, reject))
    }) as Promise<Applied<O>>
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
      const lease = leasing(asked.batch[0], asked.step, seen.now, this.#parts.taker)
      try {
        const result = await this.#commit(id, asked.batch, seen, asked.step, lease)
        if (result.kind === "stored") return this.#stored(id, asked.batch, asked.step, seen, result)
        if (result.kind !== "conflict" && result.kind !== "late") return failAll(asked.batch, result)
        this.#parts.clock.saw(result.now)
        const next = newer(seen, result)
        if ("error" in next) return failAll(asked.batch, { kind: "not recorded", error: next.error })
        seen = next
        batch = asked.batch
      } finally {
        lease.over?.()
      }
    }
  }

  /** The run as it is, or undefined when it can't be read: everybody is told then. */
  async #load(id: string, batch: readonly Waiting[]): Promise<Seen | undefined> {
    try {
      const loaded = await this.#parts.load(id, untilOf(batch) - performance.now())
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

  #commit(
    id: string,
    batch: readonly Waiting[],
    seen: Seen,
    step: Step,
    lease: Leasing,
  ): Promise<Committed | Unapplied> {
    const keys = this.#parts.keysOf(id)
    const own = lease.what === "take" ? textsFor(step.run) : []
    const sent = sentOf({
      id,
      keys,
      before: seen.run,
      revision: seen.revision,
      step,
      token: this.#parts.mint(),
      notAfter: notAfter(batch, seen),
      lease,
      outbox: this.#parts.outbox,
      want: batch.flatMap(({ want }) => want).concat(own),
      wantLog: seen.run !== undefined && wantsLog(batch, step.run, lease.what === "take"),
    })
    const confirm = batch.some((waiting) => waiting.confirm)
    return this.#parts.sender.send(keys.lease, sent, { until: untilOf(batch), confirm })
  }

  #stored(id: string, batch: readonly Waiting[], step: Step, seen: Seen, result: Committed & { kind: "stored" }): void {
    const { now, taken, wanted } = result
    const log = seen.run ? result.log : begunWith(step)
    const at = { run: step.run, revision: seen.revision + 1, now, seenAt: performance.now() }
    this.#parts.clock.saw(now)
    let from = 0
    for (const waiting of batch) {
      const to = from + waiting.want.length
      const released = leaseAfter(waiting.lease, step, seen.now) === "release"
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

/** The whole transcript of a run that is new. */
const begunWith = (step: Step): string[] => step.append.filter((entry) => typeof entry === "string")

/** A step made before it must not be stored after it. */
const deadlineOf = (run: Run | undefined, now: number): number => (run ? nextDeadline(run, now) : Infinity)

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

/** Until when a commit holds, by Redis' clock: the open deadlines, and the patience of people. 0 is for ever. */
function notAfter(batch: readonly Waiting[], seen: Seen): number {
  let limit = deadlineOf(seen.run, seen.now) - 1
  for (const { limited, until } of batch) if (limited) limit = Math.min(limit, seen.now + until - seen.seenAt)
  return Number.isFinite(limit) ? Math.max(1, limit) : 0
}

/** The state to ask about after a conflict or a late commit. */
function newer(seen: Seen, result: Committed & { kind: "conflict" | "late" }): Seen | { error: Error } {
  const seenAt = performance.now()
  if (result.kind === "late") return { ...seen, now: result.now, seenAt }
  try {
    const run = result.state === undefined ? undefined : runFrom(result.state)
    return { run, revision: result.revision, now: result.now, seenAt }
  } catch (error) {
    return { error: errorOf(error) }
  }
}
