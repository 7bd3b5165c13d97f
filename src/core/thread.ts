/**
 * Where a run lives in Slack: the message that its thread hangs on. Pure; how that is posted, and who writes below it, is not
 * known here.
 */
import { step } from "./run.ts"
import type { Run, Step } from "./run.ts"

/** The root message stands, under this ts: the model may be asked, and who replies below it is heard. */
export function rooted(run: Run, ts: string, now: number): Step | undefined {
  const thread = run.below ? run.thread : ts
  if (run.rooted ? run.thread === thread : run.ended) return undefined
  return step({ ...run, rooted: true, thread }, now, run.rooted ? [] : [{ what: "shown", via: "bot" }], { show: "" })
}

/** The message below which it lived is gone: it lives below its own root message, which is posted anew. */
export function adrift(run: Run, now: number): Step | undefined {
  return run.below ? step({ ...run, below: undefined, thread: undefined }, now, []) : undefined
}
