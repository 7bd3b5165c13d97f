/**
 * One of each of what a run says to people beside its cards, made by the very functions that make the real ones. Made up
 * from end to end.
 */
import type { Person } from "../../core/fact.ts"
import type { Ask, Grant, Run } from "../../core/run.ts"
import type { Message } from "./limits.ts"
import { calledIn, changedCall, ranUnasked, refusedCalls, reminder, unplaced } from "./notices.ts"

/** By name, for a run with one ask that waits. */
export function noticeSamples(run: Run, ask: Ask, [ana, ben]: readonly [Person, Person]): [string, Message][] {
  const to = { pinged: ["S0SRE"] }
  const asker = { pinged: [ana.user] }
  const { at, id, tool, rule } = ask
  const grant: Grant = { id: `g0-${id}`, ask: id, tool, mark: "m", rule, by: ben, at, until: at + 3_600_000 }
  const granted: Run = { ...run, grants: [grant] }
  const declined: Ask = { ...ask, settled: { ok: false, reason: "declined", by: ben, via: "click", at, cause: "c" } }
  const notes = new Map([[id, "Not before the backup is through"]])
  const call = { call: { id: ask.call, tool }, args: '{"env":"staging","service":"web"}', grant, command: "/agent" }
  return [
    ["reminder", reminder([ask], to)],
    ["reminder of several", reminder([ask, { ...ask, id: "another", tool: "deploy" }], to)],
    ["called in", calledIn([ask], { pinged: ["S0LEADS"] })],
    ["changed since", changedCall(ask, ben, to)],
    ["ran unasked", ranUnasked(granted, call)],
    ["declined, to who asked", refusedCalls("declined", [declined], notes, asker)],
    ["expired, to who asked", refusedCalls("expired", [ask], new Map(), asker)],
    ["no place for a card", unplaced("C0APPROVALS", "not_in_channel", [ask], asker)],
  ]
}
