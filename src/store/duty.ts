/**
 * A duty that one process at a time does for a shard: the loop that does one thing after another under a lease, rests until
 * there may be more to do, and gives the lease back. Knows no duty in particular.
 */
import type { Log } from "./connection.ts"

export interface DutyOptions {
  /** Takes or renews the lease for so many ms. False: another process has it. */
  lease: (ms: number) => Promise<boolean>
  /** How long the lease is, ms. */
  length: number
  /** What must be left of it for anything to be begun, ms: at least what one thing may take. */
  spare: number
  /** Does one thing. Returns for how long there is nothing more to do, ms; Infinity: until woken. */
  next: () => Promise<number>
  /** A rest is not cut short by wake-ups: what comes meanwhile is done together. */
  patient?: boolean
  log: Pick<Log, "error">
  /** What is logged, beside the error, when `next` throws; it is tried again a second later. */
  interrupted: { about: Record<string, unknown>; words: string }
}

export class Duty {
  readonly #options: DutyOptions
  readonly #loop: Promise<void>
  #leasedUntil = 0
  #stopped = false
  #woken = false
  #wake: () => void = () => undefined

  constructor(options: DutyOptions) {
    this.#options = options
    // Not before whoever makes it has it.
    this.#loop = Promise.resolve().then(() => this.#run())
  }

  /** There may be something to do. */
  wake(): void {
    this.#woken = true
    this.#wake()
  }

  /** Begins nothing new; resolves when what `next` was at is done. The lease stays until `letGo`. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.wake()
    await this.#loop
  }

  /** Whether the duty is this process', with enough left of the lease to begin something. */
  async leased(): Promise<boolean> {
    const { length, spare, lease } = this.#options
    if (this.#leasedUntil - performance.now() > spare) return true
    const asked = performance.now()
    const held = await lease(length)
    this.#leasedUntil = held ? asked + length : 0
    return held
  }

  /** Gives the lease back, so that nobody has to wait for it to lapse: not after a crash while nothing was under way, either. */
  async letGo(): Promise<void> {
    const held = this.#leasedUntil > performance.now()
    this.#leasedUntil = 0
    if (held) await this.#options.lease(1)
  }

  /** It turned out to be another's by now. */
  lost(): void {
    this.#leasedUntil = 0
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        // Before anything else: what comes while `next` looks is looked at again.
        this.#woken = false
        await this.#rest(await this.#options.next())
      } catch (error) {
        const { about, words } = this.#options.interrupted
        this.#options.log.error({ err: error, ...about }, words)
        await this.#rest(1000)
      }
    }
  }

  async #rest(ms: number): Promise<void> {
    const until = performance.now() + ms
    const cutShort = ms === Infinity || this.#options.patient !== true
    for (let left = ms; left > 0 && !this.#stopped; left = until - performance.now()) {
      if (this.#woken && cutShort) return
      await new Promise<void>((resolve) => {
        const timer = left === Infinity ? undefined : setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
}
