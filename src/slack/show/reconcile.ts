/**
 * Compares runs that people decide about with Slack, slowly, one thread after another: what was deleted, changed behind our
 * back, or posted without our knowing it is noted, and the show loop repairs it. So are runs of which a call had an unknown outcome,
 * as soon as Slack can't carry it out any more. Without the history scopes only these are cared for: written once more, unread.
 */
import { setTimeout as delay } from "node:timers/promises"
import type { Store } from "../../store/store.ts"
import { Duty } from "../../store/duty.ts"
import type { ToLook } from "../../store/show.ts"
import type { Log } from "../client.ts"
import { differences, threadsOf, type Difference, type Thread } from "./compare.ts"
import { overdue, readingsOf, settledOf, type Reading } from "./late.ts"
import type { Looked, Own, Sight } from "./look.ts"
import type { Pace, Urgency } from "./pace.ts"
import { readSlots } from "./record.ts"

export interface ReconcileOptions {
  store: Store
  shard: number
  owner: string
  sight: Sight
  pace: Pace
  log: Log
  /** ms from one look at a run to the next. */
  every: number
  /** How long after it was sent a call that was not answered may be carried out, ms. */
  lateFor: number
}

/** ms from one look at a run to the next: at five seconds a thread, more than 120 of them take longer. */
export const LOOK_EVERY = 600_000

const LEASE = 60_000
/** What reading one thread may take, ms. */
const READING = 30_000
/** How long nobody tries again to read where we may not, ms. */
const BLIND = 3_600_000
/** A run of which nothing is open any more, and that nobody got round to looking at for so long, is left as it is, ms. */
const TOO_LATE = 3_600_000
const REPLIES = "conversations.replies"
const HISTORY = "conversations.history"

export class Reconciler {
  readonly #options: ReconcileOptions
  readonly #duty: Duty
  readonly #ended = new AbortController()
  #isDue = false
  /** Another process has the lease: ms of a clock that only goes forward. */
  #notBefore = 0
  /** Until when nobody looks there, by channel, ms of a clock that only goes forward. */
  readonly #blind = new Map<string, number>()

  constructor(options: ReconcileOptions) {
    this.#options = options
    const { store, shard, owner, log } = options
    this.#duty = new Duty({
      lease: (ms) => store.lease(shard, "look", owner, ms),
      length: LEASE,
      spare: READING,
      next: () => this.#next(),
      patient: true,
      log,
      interrupted: { about: { shard }, words: "comparing with Slack was interrupted; it goes on by itself" },
    })
  }

  /** A run is due to be looked at. */
  wake(): void {
    this.#isDue = true
    if (performance.now() >= this.#notBefore) this.#duty.wake()
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    await this.#duty.stop()
    await this.#duty.letGo().catch(() => undefined)
  }

  async #next(): Promise<number> {
    if (!this.#isDue) return Infinity
    if (!(await this.#duty.leased())) {
      // Not asked for again with every beat of the pulse.
      this.#notBefore = performance.now() + LEASE / 2
      return Infinity
    }
    const { store, shard, every, lateFor } = this.#options
    const run = await store.show.lookNext(shard, every, lateFor)
    this.#isDue = "id" in run
    if (!("id" in run)) return Infinity
    if (run.why === "late") {
      await this.#settle(run)
      return 0
    }
    const isOpen = run.run.asks.some(({ settled }) => !settled)
    if (!isOpen && run.now - run.due > TOO_LATE) await store.show.lookDone(run)
    else await this.#compare(run, isOpen)
    return 0
  }

  async #compare(looked: ToLook, isOpen: boolean): Promise<void> {
    const { run } = looked
    const slots = readSlots(looked, run.channel)
    const threads = threadsOf(run, slots)
    const own = await this.#read(run.id, threads)
    if (this.#ended.signal.aborted) return
    const found = own ? differences(run, slots, threads, own) : []
    for (const one of found) await this.#note(looked, one)
    // What was decided is looked at once more, and then no longer.
    if (own && found.length === 0 && !isOpen) await this.#options.store.show.lookDone(looked)
  }

  /** Nothing that was sent earlier can change these messages any more: they are brought to what they should say, once. */
  async #settle(looked: ToLook): Promise<void> {
    const { store, log } = this.#options
    const { id, run, now } = looked
    const slots = readSlots(looked, run.channel)
    const late = overdue(slots, now)
    const found = await this.#found(id, readingsOf(run, slots, late, now))
    // It is looked at again after as long.
    if (!found) return
    const { settled, others } = settledOf(run, slots, late, found)
    for (const one of others) await this.#note(looked, one)
    let isLeft = [...slots.values()].some((slot) => slot.sent.late !== undefined && !late.includes(slot))
    for (const { slot, sent, why } of settled) {
      const before = looked.sent.get(slot.name) ?? ""
      const how = why === undefined ? "quiet" : undefined
      const isNoted = await store.show.correct(id, slot.name, before, JSON.stringify(sent), how)
      if (isNoted && why) log.warn({ run: id, slot: slot.name }, WORDS[why])
      isLeft ||= !isNoted
    }
    if (!isLeft) await store.show.lateDone(looked)
  }

  /** Our messages where they may be read, with the threads that were; undefined: not just now. */
  async #found(run: string, readings: readonly Reading[]): Promise<{ threads: Thread[]; own: Own[] } | undefined> {
    const { sight } = this.#options
    const own: Own[] = []
    const threads: Thread[] = []
    for (const reading of readings) {
      const { thread } = reading
      const method = thread ? REPLIES : HISTORY
      const turn = (): Promise<void> => this.#turn(method, "change")
      const { channel } = thread ?? reading
      const look = () => (thread ? sight.thread(thread, run, turn) : sight.since({ channel }, run, reading.since, turn))
      const seen = await this.#seen({ run, channel }, method, look)
      if (seen === "later" || this.#ended.signal.aborted) return undefined
      if (seen === "blind") continue
      own.push(...seen)
      if (thread) threads.push(thread)
    }
    return { threads, own }
  }

  /** Our messages in all of them; undefined when some could not be read. */
  async #read(run: string, threads: readonly Thread[]): Promise<Own[] | undefined> {
    const all: Own[] = []
    for (const thread of threads) {
      const own = await this.#thread(run, thread)
      if (!own) return undefined
      all.push(...own)
    }
    return all
  }

  async #thread(run: string, thread: Thread): Promise<Own[] | undefined> {
    const { sight } = this.#options
    const look = () => sight.thread(thread, run, () => this.#turn(REPLIES, "audit"))
    const seen = await this.#seen({ run, channel: thread.channel }, REPLIES, look)
    return typeof seen === "string" ? undefined : seen
  }

  /** What one reading found; `blind`: nobody may read there · `later`: not just now. */
  async #seen(
    { run, channel }: { run: string; channel: string },
    method: string,
    look: () => Promise<Looked>,
  ): Promise<Own[] | "blind" | "later"> {
    const { pace, log } = this.#options
    if ((this.#blind.get(channel) ?? 0) > performance.now()) return "blind"
    const looked = await look()
    switch (looked.kind) {
      case "seen":
        return looked.own
      case "later":
        await pace.hold(method, looked.ms)
        return "later"
      case "blind":
        if (!this.#blind.has(channel)) log.info({ channel, error: looked.error }, UNSEEN)
        this.#blind.set(channel, performance.now() + BLIND)
        return "blind"
      case "unknown":
        if (!this.#ended.signal.aborted) log.warn({ run, channel, error: looked.error }, "a thread could not be read")
        return "later"
    }
  }

  /** Waits until something may be read. */
  async #turn(method: string, urgency: Urgency): Promise<void> {
    const { signal } = this.#ended
    for (;;) {
      signal.throwIfAborted()
      const { at, now } = await this.#options.pace.take([method], urgency)
      if (at <= now) return
      await delay(Math.min(at - now, READING), undefined, { signal })
    }
  }

  async #note({ id, sent }: ToLook, found: Difference): Promise<void> {
    const { store, log } = this.#options
    if (found.what === "copy") {
      const { channel, ts } = found.place
      if (!(await store.show.addCopy(id, found.slot, ts, channel))) return
      return log.warn(
        { run: id, slot: found.slot },
        "a message that we did not know of stands in Slack; it is kept up to date now",
      )
    }
    const { name } = found.slot
    if (!(await store.show.correct(id, name, sent.get(name) ?? "", JSON.stringify(found.sent)))) return
    log.warn({ run: id, slot: name }, WORDS[found.why])
  }
}

const UNSEEN =
  "nobody looks here whether our messages still stand as they should: that takes the scopes channels:history and groups:history, which are optional"

const WORDS = {
  gone: "a message that people need was deleted in Slack; it is posted again",
  other: "a message in Slack says something else than it should; it is put right",
  unread: "a message in Slack may say something older than it should, and can't be read; it is written once more",
}
