/**
 * Brings what Slack shows back to what Redis has, when Redis lost what it had acknowledged: a failover to a replica that missed
 * writes, a server that died before its last second was on disk. Only what this process sent lately is known here.
 */
import type { WebClient } from "@slack/web-api"
import type { Store } from "../../store/store.ts"
import type { Log } from "../client.ts"
import { lostOf, type Copy, type Slots } from "./record.ts"
import { update, type About } from "./send.ts"
import { LOST } from "./words.ts"

export interface RegainOptions {
  store: Store
  client: WebClient
  log: Log
  /** Runs are due for showing. */
  wake: () => void
}

export class Regain {
  readonly #options: RegainOptions
  #restarts: number
  #looking = false

  constructor(options: RegainOptions) {
    this.#options = options
    this.#restarts = options.store.show.restarts
  }

  /** Puts the runs of which something may be lost on the show agenda. Never throws. */
  tick(): void {
    const { store, log } = this.#options
    this.#questioned()
    if (this.#looking || store.show.lately.inQuestion().length === 0) return
    this.#looking = true
    this.#lookAgain()
      .catch((error: unknown) =>
        log.warn({ err: error }, "what Redis may have lost could not be looked up; trying again"),
      )
      .finally(() => {
        this.#looking = false
      })
  }

  /** What is recorded of a run, with what Redis lost of it put right. `restarts`: how many there had been when it was read. */
  async mended(id: string, slots: Slots, restarts: number): Promise<Slots> {
    const { show } = this.#options.store
    this.#questioned()
    // What was read from the one before says nothing of what this one has.
    if (restarts !== this.#restarts) return slots
    const { wrong, orphans } = lostOf(slots, show.lately.taken(id))
    for (const { name, sent } of wrong) await show.recordSent(id, name, JSON.stringify(sent), sent.late?.until)
    for (const { name, copy } of orphans) await this.#orphaned({ run: id, slot: name, shows: "" }, copy)
    return new Map([...slots, ...wrong.map((slot) => [slot.name, slot] as const)])
  }

  /** When Redis is another one by now, or began anew, what was recorded lately may be lost. */
  #questioned(): void {
    const { show } = this.#options.store
    if (show.restarts === this.#restarts) return
    this.#restarts = show.restarts
    show.lately.question()
  }

  async #lookAgain(): Promise<void> {
    const { store, wake } = this.#options
    const { show } = store
    const { restarts } = show
    const now = await store.now()
    for (const id of show.lately.inQuestion()) {
      const isThere = await show.showLater(id, "cards", now)
      if (!isThere) await this.mended(id, new Map(), restarts)
    }
    wake()
  }

  /** A message about something that is stored no more: nobody shall wait for what they decide there. */
  async #orphaned(about: About, copy: Copy): Promise<void> {
    const { client, log, store } = this.#options
    const sending = await update(client, copy, LOST, about)
    // What it can't be told now it is told with the next tick.
    if (sending.kind === "limited" || sending.kind === "unknown") {
      return store.show.lately.acknowledged(about.run, about.slot, JSON.stringify({ copies: [copy] }), "in question")
    }
    log.error({ ...about, ...copy, sending: sending.kind }, "Redis lost what a message is about; the message says so")
  }
}
