/**
 * Asks that a call holds open while it goes on running, such as a question that the server behind a tool asks in the middle of
 * its work: raised, and closed when nobody waits for the Answer any more. Pure; knows neither server nor process.
 */
import { about, raise, withdrawn } from "./ask.ts"
import { isOf } from "./attempt.ts"
import type { Rule } from "./policy.ts"
import { callOf, merge, openAsks, step, withAsk, withCall } from "./run.ts"
import type { Attempt, Call, Run, Step } from "./run.ts"
import type { Request } from "./suspension.ts"

/** Undefined where the attempt is none whose outcome is waited for, and in a run that was cancelled. */
export function heldAsk(
  run: Run,
  callId: string,
  attempt: Attempt,
  how: { request: Request; rule: Rule },
  now: number,
): Step | undefined {
  const call = callOf(run, callId)
  if (!call || run.cancelled || run.ended || !isOf(call, attempt.id)) return undefined
  // What had no mark gets one: whoever goes on when this process is gone must see that somebody was asked.
  const running: Call = { ...call, state: "running", attempt: call.attempt ?? { ...attempt, at: now } }
  return raise(withCall(run, running), running, { ...how, from: "tool", held: attempt.id }, now)
}

/** Nobody waits any more for what the call asked while it ran. `words`: why. */
export function closedHeld(run: Run, call: Call, words: string, now: number): Step | undefined {
  let all: Step | undefined
  for (const ask of openAsks(run)) {
    if (ask.call !== call.id || ask.held === undefined) continue
    all = merge(all, withdrawn(all?.run ?? run, ask.id, words, now))
  }
  return all
}

/** The attempt is over, and nobody waits for what it asked meanwhile. */
export function closeAsks(run: Run, call: Call, attemptId: string, now: number): Step | undefined {
  const unheld = closedHeld(run, call, "the tool did not wait for the answer", now)
  return merge(unheld, closeAsk(unheld?.run ?? run, call, attemptId, now))
}

/** The attempt delivered its outcome after all: nobody needs to decide about it, or about its start once more. */
function closeAsk(run: Run, call: Call, attemptId: string, now: number): Step | undefined {
  const ask = run.asks.find((open) => open.id === call.ask && !open.settled)
  if (!ask) return undefined
  const cause = `result:${attemptId}`
  const settled = { ok: true, choice: "done", via: "bot", at: now, cause } as const
  const entry = about(ask, { what: "settled", via: "bot", outcome: "known", cause })
  return step(withAsk(run, { ...ask, settled }), now, [entry], { show: "cards" })
}
