/**
 * How fast Slack may be called, by kind of call: a steady rate with a small burst, and the waits that Slack itself asked
 * for. Kept in Redis by Redis' clock, so that whoever calls next, also for another shard, goes on at the same pace. What is
 * urgent goes first, since whatever is less so leaves a part of the burst to it. Knows no messages.
 */
import type { Store } from "../../store/store.ts"

/** One call every `every` ms in the long run, `burst` of them at once after a rest. */
export interface Rate {
  every: number
  burst: number
}

/**
 * By method; https://docs.slack.dev/apis/web-api/rate-limits. Posts: about one a second and channel, short bursts allowed, and
 * (`posts`) "several hundred per minute" for all channels together. chat.update, chat.delete and the conversations.* that read:
 * 50 a minute and more, whatever the channel. chat.startStream: 20. chat.postEphemeral and
 * chat.appendStream: 100 a minute and more. What is under way is told once a second
 * and channel (`live`) at most. Reading is never urgent, and some
 * apps may do it once a minute only, so it takes a fifth of what is allowed.
 */
export const RATES: Readonly<Record<string, Rate>> = {
  posts: { every: 200, burst: 20 },
  "chat.postMessage": { every: 1000, burst: 4 },
  "chat.update": { every: 1100, burst: 5 },
  "chat.startStream": { every: 3000, burst: 3 },
  "chat.appendStream": { every: 600, burst: 5 },
  "chat.delete": { every: 1200, burst: 5 },
  "chat.postEphemeral": { every: 550, burst: 5 },
  live: { every: 1000, burst: 1 },
  "conversations.history": { every: 5000, burst: 4 },
  "conversations.replies": { every: 5000, burst: 4 },
}

const FREE: Rate = { every: 0, burst: 1 }

/** Who goes first where not all may: cards that people wait for, final answers, changes of what stands, audit lines. */
const URGENCIES = ["card", "result", "change", "audit"] as const
export type Urgency = (typeof URGENCIES)[number]

/** When a call may be made. */
export interface Turn {
  /** ms by Redis' clock; up to `now` it is taken. */
  at: number
  now: number
  /** Those who wait with it: for the same limit, equally urgent. */
  row: string
}

export class Pace {
  readonly #store: Store
  readonly #rates: Readonly<Record<string, Rate>>
  /** When the last of a row gets its turn, ms: so that they don't all come at once. */
  readonly #rows = new Map<string, number>()

  constructor(store: Store, rates: Readonly<Record<string, Rate>> = RATES) {
    this.#store = store
    this.#rates = rates
  }

  /** Takes a call that falls under these limits, if it may be made at `now` (Redis' clock, unless given). */
  async take(keys: readonly string[], urgency: Urgency, now?: number): Promise<Turn> {
    const level = URGENCIES.indexOf(urgency)
    const limits = keys.map((key) => {
      const { every, burst } = this.#rateOf(key)
      return { key, every, burst, spare: Math.floor((level * burst) / URGENCIES.length) }
    })
    const taken = await this.#store.show.takePace(limits, now)
    return { at: taken.at, now: taken.now, row: `${urgency} ${keys[taken.limit] ?? ""}` }
  }

  /** When the next in a row should look again, ms: behind those who wait already, at the steady rate. */
  queue({ at, now, row }: Turn): number {
    const { every } = this.#rateOf(row.slice(row.indexOf(" ") + 1))
    const last = this.#rows.get(row) ?? 0
    const turn = last <= now ? at : Math.max(at, last + every)
    this.#rows.set(row, turn)
    return turn
  }

  /** Slack asked us to wait for `ms` from `now` on (Redis' clock, unless given). */
  async hold(key: string, ms: number, now?: number): Promise<void> {
    const { every, burst } = this.#rateOf(key)
    for (const urgency of URGENCIES) this.#rows.delete(`${urgency} ${key}`)
    await this.#store.show.setPace(key, (now ?? (await this.#store.now())) + ms + every * (burst - 1))
  }

  #rateOf(key: string): Rate {
    return this.#rates[key.split(":", 1)[0] ?? ""] ?? FREE
  }
}
