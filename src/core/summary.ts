/** A conversation that became too long goes on with a summary in the place of what is older. Pure; knows no model. */
import { step } from "./run.ts"
import type { Run, Step } from "./run.ts"
import { withUsed } from "./usage.ts"
import type { Prices, Used } from "./usage.ts"

/** `entry`: of the transcript, JSON text. Nothing before it changes; the model is asked next, as it was before. */
export function summarised(
  run: Run,
  { entry, used, prices }: { entry: string; used: Used; prices?: Prices | undefined },
  now: number,
): Step | undefined {
  if (run.ended || run.cancelled || run.calls.length > 0) return undefined
  return step({ ...withUsed(run, used, { prices }), retry: undefined }, now, [], {
    append: [entry],
    show: run.retry ? "rest" : "",
  })
}
