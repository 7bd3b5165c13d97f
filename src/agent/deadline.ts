/** Signals that abort after a time, or with others. */

export interface Deadline {
  signal: AbortSignal
  abort: (reason: unknown) => void
  /** Whether it was the time that ended it. */
  isLate: () => boolean
  clear: () => void
}

/**
 * A signal that aborts with one of `others`, after `ms` with a TimeoutError, or by `abort`. `clear` when it is of no use
 * any more.
 * Not AbortSignal.any over AbortSignal.timeout: on Node 20 the garbage collector takes the timeout, which then never fires.
 */
export function deadline(others: readonly (AbortSignal | undefined)[], ms: number | undefined): Deadline {
  const own = new AbortController()
  const known = others.filter((signal) => signal !== undefined)
  const stop = (event: Event): void => own.abort((event.target as AbortSignal).reason)
  for (const signal of known) {
    if (signal.aborted) own.abort(signal.reason)
    signal.addEventListener("abort", stop, { once: true })
  }
  let isLate = false
  const late = (): void => {
    isLate = !own.signal.aborted
    own.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"))
  }
  const timer = ms === undefined ? undefined : setTimeout(late, ms)
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    isLate: () => isLate,
    clear() {
      clearTimeout(timer)
      for (const signal of known) signal.removeEventListener("abort", stop)
    },
  }
}
