/**
 * What a worker does while more is due than it can hold: what nobody answered in time is answered first, with one commit a
 * run, and the run goes on under the lease it has as soon as there is room. It knows deadlines, and no other step.
 */
import { stepped } from "../agent/agent.ts"
import { remind } from "../core/remind.ts"
import { nextFor, openAsks, type Run } from "../core/run.ts"
import type { Log } from "../log.ts"
import type { Held } from "../store/claimed.ts"
import type { Store } from "../store/store.ts"

export interface OverdueOptions {
  store: Store
  owner: string
  /** ms that a lease lasts unrenewed. */
  leaseMs: number
  log: Log
}

/** A run that waits for room: its revision, and until when it is surely ours, of `performance.now()`. */
interface Waiting {
  revision: number
  until: number
}

/** Whoever goes on with a run renews its lease after a second. */
const MARGIN = 2000

export class Overdue {
  readonly #options: OverdueOptions
  /** Those that are being settled or read. */
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #waiting = new Map<string, Waiting>()

  constructor(options: OverdueOptions) {
    this.#options = options
  }

  /** How many places are taken. */
  get size(): number {
    return this.#underWay.size
  }

  has(id: string): boolean {
    return this.#underWay.has(id) || this.#waiting.has(id)
  }

  /** Whether a claimed run is one of these: nothing of it has begun, and something of it is overdue. */
  static isOf({ run, now }: Held): boolean {
    if (run.ended || run.cancelled || run.calls.some(({ state }) => state === "running")) return false
    return openAsks(run).some((ask) => nextFor(ask) <= now)
  }

  /** Settles what is overdue of a claimed run, and keeps its lease; `done` is called when a place is free again. */
  settle(claimed: Held, done: () => void): void {
    const { id, seenAt = performance.now() } = claimed
    const { leaseMs } = this.#options
    this.#place(id, done, async () => {
      const revision = await this.#settled(claimed)
      if (revision !== undefined) this.#waiting.set(id, { revision, until: seenAt + leaseMs - MARGIN })
    })
  }

  /** The revision with which it is settled; undefined when it is another's by now, or was not stored. */
  async #settled({ id, ...known }: Held): Promise<number | undefined> {
    const { store, owner, log } = this.#options
    const transition = (run: Run | undefined, now: number) => stepped(run && remind(run, now))
    const applied = await store.apply(id, transition, { owner, lease: "keep", known })
    if (applied.kind === "applied") return applied.revision
    if (applied.kind !== "not owner") {
      log.error({ err: applied.error, run: id }, "a step failed; the run is due again when its lease is over")
    }
    return undefined
  }

  /** Reads the next that waits and gives it to `take`; false when none does. The lease's end takes care of any that is late. */
  goOn(take: (held: Held) => void, done: () => void): boolean {
    for (const [id, { until }] of this.#waiting) {
      this.#waiting.delete(id)
      if (until <= performance.now()) continue
      this.#place(id, done, async () => {
        const loaded = await this.#options.store.load(id)
        if (loaded) take({ id, ...loaded, texts: new Map() })
      })
      return true
    }
    return false
  }

  #place(id: string, done: () => void, work: () => Promise<void>): void {
    const place = work()
      .catch((error: unknown) => {
        this.#options.log.error({ err: error, run: id }, "a step failed; the run is due again when its lease is over")
      })
      .finally(() => {
        this.#underWay.delete(id)
        done()
      })
    this.#underWay.set(id, place)
  }

  /** Gives all back that wait, due at once. */
  async release(): Promise<void> {
    const { store, owner, log } = this.#options
    await Promise.all(this.#underWay.values())
    const left = [...this.#waiting].filter(([, { until }]) => until > performance.now())
    this.#waiting.clear()
    const given = left.map(([id, { revision }]) => store.giveBack(id, owner, { revision, at: 0 }))
    await Promise.all(given).catch((error: unknown) => {
      log.warn({ err: error }, "what waits could not be given back; it is due again when its lease is over")
    })
  }
}
