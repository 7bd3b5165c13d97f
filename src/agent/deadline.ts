/** Signals that abort after a time, or with others. */

/**
 * A signal that aborts with one of `others`, after `ms` with a TimeoutError, or by `abort`. `clear` when it is of no use
 * any more.
 * Not AbortSignal.any over AbortSignal.timeout: on Node 20 the garbage collector takes the timeout, which then never fires.
 */
export function deadline(
  others: readonly (AbortSignal | undefined)[],
  ms: number | undefined,
): { signal: AbortSignal; abort: (reason: unknown) => void; clear: () => void } {
  const own = new AbortController()
  const known = others.filter((signal) => signal !== undefined)
  const stop = (event: Event): void => own.abort((event.target as AbortSignal).reason)
  for (const signal of known) {
    if (signal.aborted) own.abort(signal.reason)
    signal.addEventListener("abort", stop, { once: true })
  }
  const late = () => own.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"))
  const timer = ms === undefined ? undefined : setTimeout(late, ms)
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    clear() {
      clearTimeout(timer)
      for (const signal of known) signal.removeEventListener("abort", stop)
    },
  }
}
