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
 * allowed. chat.update: 50 a minute and more, whatever the channel. chat.postEphemeral: 100 a minute and more.
 */
export const RATES: Readonly<Record<string, Rate>> = {
  "chat.postMessage": { every: 1000, burst: 3 },
  "chat.update": { every: 1100, burst: 5 },
  "chat.postEphemeral": { every: 550, burst: 5 },
}

const FREE: Rate = { every: 0, burst: 1 }

export class Pace {
  readonly #store: Store
  readonly #rates: Readonly<Record<string, Rate>>

  constructor(store: Store, rates: Readonly<Record<string, Rate>> = RATES) {
    this.#store = store
    this.#rates = rates
  }

  /** When a call of this kind may be made, ms; what is stored is when the last of them would be due at the steady rate. */
  async freeAt(key: string): Promise<number> {
    const { every, burst } = this.#rateOf(key)
    return (await this.#store.show.paceUntil(key)) - every * (burst - 1)
  }

  /** A call is about to be made. */
  async take(key: string, now: number): Promise<void> {
    const { every } = this.#rateOf(key)
    await this.#store.show.setPace(key, Math.max(now, await this.#store.show.paceUntil(key)) + every)
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
