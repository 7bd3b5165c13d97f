/**
 * The short-lived rights that an interaction gives an app: trigger ids (3 seconds, once) and response URLs (30 minutes, 5 uses).
 * It decides whether one still counts, not what is done with it.
 */
import { randomBytes } from "node:crypto"
import { LIMITS } from "./limits.ts"

/** Where an interaction took place; `message` is the one whose button was pressed. */
export interface Origin {
  user: string
  channel: string
  message?: { ts: string; ephemeral: boolean }
}

interface Trigger {
  user: string
  at: number
  used: boolean
}

interface Reply {
  origin: Origin
  at: number
  uses: number
}

export class Handles {
  readonly #now: () => number
  readonly #triggers = new Map<string, Trigger>()
  readonly #replies = new Map<string, Reply>()

  /** `now` in ms; both kinds of right age by it. */
  constructor(now: () => number) {
    this.#now = now
  }

  mintTrigger(user: string): string {
    const id = `${this.#triggers.size + 1}.${Math.floor(this.#now())}.${randomBytes(8).toString("hex")}`
    this.#triggers.set(id, { user, at: this.#now(), used: false })
    return id
  }

  /** Uses a trigger up: for whom it was minted, or Slack's word for why it doesn't count. */
  useTrigger(id: string): { user: string } | { error: string } {
    const trigger = this.#triggers.get(id)
    if (!trigger) return { error: "invalid_trigger_id" }
    if (trigger.used) return { error: "exchanged_trigger_id" }
    if (this.#now() - trigger.at > LIMITS.trigger) return { error: "expired_trigger_id" }
    trigger.used = true
    return { user: trigger.user }
  }

  /** The last part of a new response URL's path. */
  mintReply(origin: Origin): string {
    const id = randomBytes(12).toString("hex")
    this.#replies.set(id, { origin, at: this.#now(), uses: 0 })
    return id
  }

  useReply(id: string): Origin | { error: string } {
    const reply = this.#replies.get(id)
    if (!reply) return { error: "no_such_url" }
    if (this.#now() - reply.at > LIMITS.responseUrl) return { error: "expired_url" }
    if (reply.uses >= LIMITS.responseUrlUses) return { error: "used_url" }
    reply.uses += 1
    return reply.origin
  }
}
