/**
 * A run held under a lease in Redis: the newest state known, and the way to change it while the lease is ours. It knows
 * the store, and nothing of the steps it is used for.
 */
import { setImmediate as immediate, setTimeout as delay } from "node:timers/promises"
import type { Held } from "../agent/agent.ts"
import type { Tried } from "../core/ask.ts"
import { NewerFormat, nextFor, openAsks, wakeAt } from "../core/run.ts"
import type { Run } from "../core/run.ts"
import type { Log } from "../log.ts"
import type { Applied, Loaded, Needs, Store } from "../store/store.ts"

/** The lease is another's by now: nothing may be started any more. */
export class LeaseLost extends Error {
  override name = "LeaseLost"
}

/** How often a holder looks whether others changed its run, and renews the lease, ms. */
const LOOK_EVERY = 1000
/** How long to wait before a result that could not be stored is tried again, ms. */
const DELIVER_AGAIN = 1000

export interface HeldOptions {
  store: Store
  owner: string
  leaseMs: number
  id: string
  loaded: Loaded
  /** What came with the lease. */
  needs: Needs
  log: Log
}

type Transition<O> = (run: Run, now: number) => Tried<O>

export class RedisHeld implements Held {
  readonly owner: string
  readonly #options: HeldOptions
  #run: Run
  #revision: number
  /** Redis' clock at `#seenAt` of ours, ms. */
  #now: number
  #seenAt: number
  /** Redis' clock when this revision was seen, ms. */
  #since: number
  #transcript: string[] | undefined
  #released = false
  #lost = false
  /** Who wants to look at a change. */
  #watching: (() => void) | undefined

  constructor(options: HeldOptions) {
    const { loaded, needs, owner } = options
    this.owner = owner
    this.#options = options
    this.#run = loaded.run
    this.#revision = loaded.revision
    this.#now = loaded.now
    this.#since = loaded.now
    this.#seenAt = loaded.seenAt ?? performance.now()
    this.#transcript = needs.log
  }

  run(): Run {
    return this.#run
  }

  now(): number {
    return this.#now + (performance.now() - this.#seenAt)
  }

  /** Somebody in this process changed the run, perhaps we ourselves: there is nothing to read. */
  committed(at: Loaded): void {
    this.#saw(at)
    this.notify()
  }

  /** Whoever waits for a change looks again. */
  notify(): void {
    this.#watching?.()
  }

  /** Stores a change; the lease goes back with one that leaves nothing to do now. */
  async apply<O>(transition: Transition<O>, options: { confirm?: boolean } = {}): Promise<{ outcome: O }> {
    const applied = await this.#commit(transition, this.owner, options.confirm)
    if (applied.kind === "applied") return { outcome: applied.outcome }
    if (applied.kind === "not owner") throw this.#leaseLost()
    throw applied.error
  }

  /** Stores a result, whatever it takes while this process lives: without the lease it counts by its attempt's id. */
  async deliver<O>(transition: Transition<O>): Promise<O> {
    let owned = true
    for (;;) {
      const applied = await this.#commit(transition, owned ? this.owner : "")
      if (applied.kind === "applied") return applied.outcome
      if (applied.kind === "not owner") owned = false
      else {
        this.#options.log.error(
          { err: applied.error, run: this.#options.id },
          "a result could not be stored; trying again",
        )
        await delay(DELIVER_AGAIN)
      }
    }
  }

  /** `owner`: empty once the lease is lost. */
  async #commit<O>(transition: Transition<O>, owner: string, confirm = false): Promise<Applied<O>> {
    const { store, id } = this.#options
    const known = { run: this.#run, revision: this.#revision, now: this.#now, seenAt: this.#seenAt }
    const applied = await store.apply(id, (run, now) => transition(mustBe(run, id), now), {
      owner,
      lease: "while due",
      known,
      wantLog: "for model",
      confirm,
    })
    if (applied.kind === "applied") {
      const { revision, now, seenAt } = applied
      this.#saw({ run: mustBe(applied.run, id), revision, now, seenAt })
      if (applied.log.length > 0 && applied.revision === this.#revision) this.#transcript = applied.log
      this.#released ||= applied.released
    }
    return applied
  }

  #saw(seen: Loaded): void {
    if (seen.revision < this.#revision) {
      // Old news, unless it is what stands now: a failover took back what was acknowledged, and nothing may be built on that.
      if (seen.now <= this.#since) return
      const about = { run: this.#options.id, had: this.#revision, has: seen.revision }
      this.#options.log.error(about, "Redis lost what it had acknowledged of a run; it goes on from what is left")
      this.#transcript = undefined
    }
    // What was appended meanwhile is read when a model needs it.
    if (seen.revision > this.#revision) this.#transcript = undefined
    this.#run = seen.run
    this.#revision = seen.revision
    this.#since = seen.now
    this.#now = seen.now
    this.#seenAt = seen.seenAt ?? performance.now()
  }

  async texts(fields: string[]): Promise<(string | undefined)[]> {
    const { store, id, needs } = this.#options
    // A text is written once: what came with the lease is what stands there.
    if (fields.every((field) => needs.texts.has(field))) return fields.map((field) => needs.texts.get(field))
    return store.texts(id, fields)
  }

  async transcript(): Promise<string[]> {
    this.#transcript ??= await this.#options.store.transcript(this.#options.id)
    return this.#transcript
  }

  watch(look: () => void, lost: (error: unknown) => void): () => void {
    let over = false
    let timer: NodeJS.Timeout | undefined
    const later = (): void => {
      if (!over) timer = setTimeout(once, LOOK_EVERY).unref()
    }
    const once = (): void => {
      this.#look().then(look).then(later, lost)
    }
    later()
    this.#watching = look
    return () => {
      over = true
      clearTimeout(timer)
      this.#watching = undefined
    }
  }

  /** Renews the lease and reads what others changed. A Redis that does not answer is no reason to stop what is under way. */
  async #look(): Promise<void> {
    if (this.#released) return
    const { store, id, owner, leaseMs, log } = this.#options
    try {
      const { held, revision, now } = await store.renew(id, owner, leaseMs)
      // A commit of ours that gave it back may be a moment behind.
      if (!held) await immediate()
      if (this.#released) return
      if (!held) throw this.#leaseLost()
      this.#now = now
      this.#seenAt = performance.now()
      if (revision !== this.#revision) await this.#reload()
    } catch (error) {
      if (error instanceof LeaseLost || error instanceof NewerFormat) throw error
      log.warn({ err: error, run: id }, "the lease could not be renewed; trying again")
    }
  }

  #leaseLost(): LeaseLost {
    this.#lost = true
    return new LeaseLost(`run ${this.#options.id} is held by another process`)
  }

  async #reload(): Promise<void> {
    const { store, id } = this.#options
    const loaded = await store.load(id)
    if (loaded) this.#saw(loaded)
  }

  /** Whether the lease is neither given back nor known to be lost. */
  get holds(): boolean {
    return !this.#released && !this.#lost
  }

  /** Gives the lease back, unless it went back with a commit. What is due now is due in `later` ms. */
  async release(later = 0): Promise<void> {
    if (this.#released) return
    this.#released = true
    const { store, id, owner } = this.#options
    if (later > 0) {
      const at = Math.max(wakeAt(this.#run), Math.min(this.now() + later, ...openAsks(this.#run).map(nextFor)))
      return store.giveBack(id, owner, { revision: this.#revision, at })
    }
    await store.apply(id, () => ({ outcome: undefined }), {
      owner,
      lease: "release",
      known: { run: this.#run, revision: this.#revision, now: this.#now, seenAt: this.#seenAt },
    })
  }
}

function mustBe(run: Run | undefined, id: string): Run {
  if (!run) throw new Error(`run ${id} is gone`)
  return run
}
