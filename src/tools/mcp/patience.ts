/**
 * How long a call may still take: so long without a sign of progress, and so long in all. While a person is asked about it,
 * no time passes.
 */

/** ms that a call may take however much progress it tells. */
const IN_ALL = 3_600_000

export class Patience {
  readonly #idle: number
  readonly #over = new AbortController()
  #left: number
  #since = performance.now()
  #timer: NodeJS.Timeout | undefined
  #held = 0
  #quietSince = performance.now()
  /** Why the call was given up. */
  why: string | undefined

  /** `idle`: ms without progress. */
  constructor(idle: number) {
    this.#idle = idle
    this.#left = Math.max(idle, IN_ALL)
    this.#run()
  }

  /** Aborted when the call is to be given up. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  progress(): void {
    this.#quietSince = performance.now()
  }

  /** No time passes until what is returned is called. */
  hold(): () => void {
    this.#held += 1
    clearTimeout(this.#timer)
    if (this.#held === 1) this.#left -= performance.now() - this.#since
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#held -= 1
      if (this.#held > 0) return
      this.#since = performance.now()
      this.progress()
      this.#run()
    }
  }

  giveUp(why: string): void {
    if (this.#over.signal.aborted) return
    this.end()
    this.why = why
    this.#over.abort(new Error(why))
  }

  /** The call is over. */
  end(): void {
    clearTimeout(this.#timer)
    this.#held = Infinity
  }

  #run(): void {
    if (this.#over.signal.aborted || this.#held > 0) return
    const now = performance.now()
    const quiet = this.#idle - (now - this.#quietSince)
    const left = this.#left - (now - this.#since)
    if (quiet <= 0) return this.giveUp(`it did not answer within ${this.#idle / 1000} s`)
    if (left <= 0)
      return this.giveUp(`it was not through after ${Math.round(Math.max(this.#idle, IN_ALL) / 60_000)} minutes`)
    this.#timer = setTimeout(() => this.#run(), Math.ceil(Math.min(quiet, left, 2 ** 30)))
  }
}
