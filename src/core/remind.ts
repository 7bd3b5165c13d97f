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
  const entries: Entry[] = []
  const next = { ...ask }
  if (isDue) {
    entries.push(about(ask, { what: "reminded", via: "timer", outcome: `${count} of ${remind.length}` }))
    next.reminded = count
  }
  if (escalates) {
    entries.push(about(ask, { what: "escalated", via: "timer", outcome: escalate.to.join(", ") }))
    next.escalated = now
  }
  return step(withAsk(run, next), now, entries, { show: "cards" })
}
