/**
 * What becomes of a run whose model could not be asked: again later, with more and more time between, or not any more. Pure;
 * knows no model.
 */
import type { Run, Step } from "./run.ts"
import { step } from "./run.ts"
import { end } from "./turn.ts"

/** How long the n-th retry of a model turn waits, ms: `base` (1 s), doubling, at most 5 min. */
export const backOff = (count: number, base = 1000): number => Math.min(base * 2 ** (count - 1), 300_000)

/** The model could not be asked: again later, or (after `limit` retries) the run has failed. */
export function stumbled(
  run: Run,
  how: {
    words: string
    retryable: boolean
    retryAfter?: number | undefined
    limit: number
    /** The first back-off, ms. */
    base?: number | undefined
  },
  now: number,
): Step | undefined {
  if (run.ended || run.cancelled || run.calls.length > 0) return undefined
  const count = (run.retry?.count ?? 0) + 1
  if (!how.retryable || count > how.limit) return end(run, { how: "failed", words: how.words }, now)
  const at = now + Math.max(backOff(count, how.base), how.retryAfter ?? 0)
  return step({ ...run, retry: { count, at, words: how.words } }, now, [])
}
