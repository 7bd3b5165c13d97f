/**
 * What becomes of calls that were running when whoever ran them went: nobody knows their outcome, and people are asked.
 * Pure; knows neither who holds a run nor how long.
 */
import { raise, withdrawn } from "./ask.ts"
import { closedHeld } from "./hold.ts"
import { isRunning } from "./attempt.ts"
import type { Rule } from "./policy.ts"
import { callOf, grantOf, isUnderway, merge, step, withCall } from "./run.ts"
import type { Call, Run, Step } from "./run.ts"
import type { Request } from "./suspension.ts"

/**
 * A new holder found calls running: whoever ran them is gone, and so is knowledge of the outcome.
 * Repeatable ones may start again; for the others people are asked. `mint` gives the Request of a doubt.
 */
export function doubted(
  run: Run,
  how: { ruleOf: (call: Call) => Rule; mint: (call: Call) => Request },
  now: number,
): Step | undefined {
  let all: Step | undefined
  for (const call of run.calls) {
    if (call.attempt && isUnderway(call, run)) all = merge(all, lost(all?.run ?? run, call, how, now))
  }
  return all
}

/** Whoever ran an attempt is here, and does not know what came of it either. Undefined when that is known by now. */
export function doubtful(
  run: Run,
  how: { call: string; attempt: string; ruleOf: () => Rule; mint: () => Request },
  now: number,
): Step | undefined {
  const call = callOf(run, how.call)
  if (!call || !isRunning(call, how.attempt) || !isUnderway(call, run)) return undefined
  return lost(run, call, how, now)
}

function lost(run: Run, call: Call, how: Parameters<typeof doubted>[1], now: number): Step {
  const closed = closedHeld(run, call, "whoever waited for the answer is gone", now)
  const rest = unknown(closed?.run ?? run, call, how, now)
  return merge(closed, rest) ?? rest
}

/** Nothing is run again in a cancelled run, so there is nothing to decide there: the outcome is unknown, and is called so. */
function unknown(run: Run, call: Call, how: Parameters<typeof doubted>[1], now: number): Step {
  if (call.effects !== "once" && !run.cancelled) {
    return step(withCall(run, { ...call, attempt: undefined, state: "ready" }), now, [])
  }
  // A question of the tool's own may be for others than those who may let the call run.
  const guard = run.asks.findLast((ask) => ask.call === call.id && ask.from === "guard")
  const rule = (guard ?? grantOf(run, call))?.rule ?? how.ruleOf(call)
  const request = how.mint(call)
  const asked = raise(run, call, { request, from: "doubt", rule }, now)
  if (!run.cancelled) return asked
  return merge(asked, withdrawn(asked.run, request.id, "the run was cancelled while it ran", now)) ?? asked
}
