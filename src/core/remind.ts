/**
 * What an open ask does while nobody answers: it reminds those who may decide, and after a while more people may.
 * Pure; how anybody is reminded is not known here.
 */
import { about, expire } from "./ask.ts"
import type { Entry } from "./fact.ts"
import { askOf, merge, nextFor, openAsks, step, withAsk } from "./run.ts"
import type { Ask, Run, Step } from "./run.ts"

/** Does what is due of all open asks at `now`; reminders that were missed become one. Undefined: nothing is due. */
export function remind(run: Run, now: number): Step | undefined {
  if (run.ended || run.cancelled) return undefined
  const late = expire(run, now)
  let all = late
  for (const { id } of openAsks(late?.run ?? run)) {
    const current = all?.run ?? run
    const ask = askOf(current, id)
    if (ask && nextFor(ask) <= now) all = merge(all, reminded(current, ask, now))
  }
  return all
}

function reminded(run: Run, ask: Ask, now: number): Step {
  const { remind = [], escalate } = ask.rule
  const count = remind.filter((after) => ask.at + after <= now).length
  const isDue = count > (ask.reminded ?? 0)
  const escalates = escalate !== undefined && ask.escalated === undefined && ask.at + escalate.after <= now
  const entry = { via: "timer", ...about(ask) } as const
  const entries: Entry[] = [
    ...(isDue ? [{ what: "reminded", ...entry, outcome: `${count} of ${remind.length}` } as const] : []),
    ...(escalates ? [{ what: "escalated", ...entry, outcome: escalate.to.join(", ") } as const] : []),
  ]
  const next: Ask = { ...ask, ...(isDue ? { reminded: count } : {}), ...(escalates ? { escalated: now } : {}) }
  return step(withAsk(run, next), now, entries, { show: "cards" })
}
