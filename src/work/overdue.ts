/**
 * What becomes of asks that nobody answered in time: that takes no place among the runs that are held, and comes before
 * them, so neither slow tools nor a crowd hold it up. It knows deadlines, and no other step.
 */
import { stepped } from "../agent/agent.ts"
import { remind } from "../core/remind.ts"
import type { Run } from "../core/run.ts"
import type { Log } from "../log.ts"
import type { Loaded, Store } from "../store/store.ts"

/** Runs settled side by side. */
const AT_ONCE = 100

export class Overdue {
  readonly #store: Store
  readonly #log: Log
  #isCrowded = false

  constructor(store: Store, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Whether more is overdue than is being settled: nothing should go on before it. */
  get isCrowded(): boolean {
    return this.#isCrowded
  }

  /**
   * Settles all that is overdue, unless `stopped` meanwhile. Returns in how many ms something else will be; undefined: of
   * nothing it is known.
   */
  async settle(stopped: () => boolean): Promise<number | undefined> {
    let next = Infinity
    let before: Promise<unknown> = Promise.resolve()
    try {
      for await (const { runs, more, nextIn = Infinity } of this.#store.overdue(AT_ONCE)) {
        this.#isCrowded = more
        next = Math.min(next, performance.now() + nextIn)
        const settling = Promise.all(runs.map((run) => this.#settle(run)))
        // The next ones are read while these are stored.
        await before
        before = settling
        if (stopped()) break
      }
    } catch (error) {
      this.#log.error({ err: error }, "could not look for what is overdue; trying again with the next tick")
    } finally {
      await before
      this.#isCrowded = false
    }
    return Number.isFinite(next) ? next - performance.now() : undefined
  }

  /** As nobody in particular: it needs no lease, as a click needs none. */
  async #settle({ id, ...known }: Loaded & { id: string }): Promise<void> {
    const transition = (run: Run | undefined, now: number) => stepped(run && remind(run, now))
    try {
      const applied = await this.#store.apply(id, transition, { known })
      if (applied.kind === "not known" || applied.kind === "not recorded") throw applied.error
    } catch (error) {
      this.#log.error({ err: error, run: id }, "what is overdue could not be settled; it is due again in some seconds")
    }
  }
}
