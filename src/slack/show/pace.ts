/**
 * How fast Slack may be called, by kind of call: a steady rate with a small burst, and the waits that Slack itself asked
 * for. Kept in Redis by Redis' clock, so that whoever shows next goes on at the same pace. Knows no messages.
 */
import type { Store } from "../../store/store.ts"

/** One call every `every` ms in the long run, `burst` of them at once after a rest. */
export interface Rate {
  every: number
  burst: number
}

/**
 * By method; https://docs.slack.dev/apis/web-api/rate-limits. Posts: about one a second and channel, short bursts
 * allowed. chat.update and chat.delete: 50 a minute and more, whatever the channel. chat.postEphemeral: 100 a minute and more.
 */
export const RATES: Readonly<Record<string, Rate>> = {
  "chat.postMessage": { every: 1000, burst: 3 },
  "chat.update": { every: 1100, burst: 5 },
  "chat.delete": { every: 1200, burst: 5 },
  "chat.postEphemeral": { every: 550, burst: 5 },
}

const FREE: Rate = { every: 0, burst: 1 }

export class Pace {
  readonly #store: Store
  readonly #rates: Readonly<Record<string, Rate>>
  readonly #taking = new Map<string, Promise<void>>()

  constructor(store: Store, rates: Readonly<Record<string, Rate>> = RATES) {
    this.#store = store
    this.#rates = rates
  }

  /**
   * Takes a call of this kind if it may be made at `now`. Returns when it may: up to `now` it is taken. What is stored is
   * when the last one would be due at the steady rate.
   */
  async take(key: string, now: number): Promise<number> {
    // One after the other: two that read the same number would both go.
    const before = this.#taking.get(key) ?? Promise.resolve()
    const taken = before.then(() => this.#take(key, now))
    const settled = taken.then(
      () => undefined,
      () => undefined,
    )
    this.#taking.set(key, settled)
    return taken
  }

  async #take(key: string, now: number): Promise<number> {
    const { every, burst } = this.#rateOf(key)
    const due = await this.#store.show.paceUntil(key)
    const free = due - every * (burst - 1)
    if (free <= now) await this.#store.show.setPace(key, Math.max(now, due) + every)
    return free
  }

  /** Slack asked us to wait for `ms`. */
  async hold(key: string, ms: number, now: number): Promise<void> {
    const { every, burst } = this.#rateOf(key)
    await this.#store.show.setPace(key, now + ms + every * (burst - 1))
  }

  /** ms between two calls of this kind in the long run. */
  every(key: string): number {
    return this.#rateOf(key).every
  }

  #rateOf(key: string): Rate {
    return this.#rates[key.split(":", 1)[0] ?? ""] ?? FREE
  }
}
