/**
 * One look at Redis a second for the whole process, so that idling costs one command a second: what others committed,
 * and what has become due, wakes the loops of this process. Own commits wake them at once and need no pulse.
 */
import type { Log } from "../log.ts"
import type { Peek, Store } from "../store/store.ts"

/**
 * Calls `beat` with what stands in Redis and when it was asked (of `performance.now()`), at once and every `everyMs`; a
 * failed look is skipped. Returns the stop.
 */
export function startPulse(
  store: Store,
  beat: (seen: Peek, askedAt: number) => void,
  log: Log,
  everyMs = 1000,
): () => void {
  let looking = false
  let quiet = false
  const look = (): void => {
    if (looking) return
    looking = true
    const askedAt = performance.now()
    store
      .peek()
      .then((seen) => {
        if (quiet) log.info("Redis answers again")
        quiet = false
        beat(seen, askedAt)
      })
      .catch((error: unknown) => {
        if (!quiet) log.error({ err: error }, "Redis does not answer; nothing is lost, work goes on when it does")
        quiet = true
      })
      .finally(() => {
        looking = false
      })
  }
  look()
  const timer = setInterval(look, everyMs)
  return () => clearInterval(timer)
}
