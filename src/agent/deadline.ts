/** What ends work before it is done: a time that is over, or somebody who says so. Knows no work. */

/**
 * Aborts with any of `others`, for its reason; after `ms` with a TimeoutError; or by `abort`. `clear` it when it is of no use any
 * more.
 *
 * An AbortSignal is made of it only for whoever asks for one: that costs more than all else a step does to be told to stop. Not
 * AbortSignal.any over AbortSignal.timeout: on Node 20 the garbage collector takes the timeout, which then never fires.
 */
export class Deadline {
  readonly #listeners = new Set<() => void>()
  readonly #others: (() => void)[] = []
  readonly #timer: NodeJS.Timeout | undefined
  #controller: AbortController | undefined
  #aborted = false
  #late = false
  #reason: unknown

  constructor(others: readonly (AbortSignal | Deadline | undefined)[], ms: number | undefined) {
    for (const other of others) if (other) this.#others.push(listen(other, () => this.abort(other.reason)))
    if (ms !== undefined) this.#timer = setTimeout(() => this.#over(), ms)
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Whether it was the time that ended it. */
  get isLate(): boolean {
    return this.#late
  }

  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    this.#controller?.abort(reason)
    for (const tell of this.#listeners) tell()
  }

  /** Calls `tell` once it is aborted, which may be now. Returns how to stop listening. */
  whenAborted(tell: () => void): () => void {
    if (this.#aborted) tell()
    else this.#listeners.add(tell)
    return () => this.#listeners.delete(tell)
  }

  clear(): void {
    clearTimeout(this.#timer)
    for (const letGo of this.#others) letGo()
  }

  #over(): void {
    this.#late = !this.#aborted
    this.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"))
  }
}

function listen(to: AbortSignal | Deadline, tell: () => void): () => void {
  if (to instanceof Deadline) return to.whenAborted(tell)
  if (to.aborted) tell()
  else to.addEventListener("abort", tell, { once: true })
  return () => to.removeEventListener("abort", tell)
}
