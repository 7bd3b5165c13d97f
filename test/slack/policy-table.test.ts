/** Rule by person by state: who may say yes and no, and what they are told. The table is a file, so that it can be read. */
import { expect, test } from "vitest"
import { cancelled, expire } from "../../src/core/ask.ts"
import { edit } from "../../src/core/edit.ts"
import type { Rule, Who } from "../../src/core/policy.ts"
import { remind } from "../../src/core/remind.ts"
import type { Run, Step } from "../../src/core/run.ts"
import { settle, type Attempted } from "../../src/core/settle.ts"
import { took } from "../../src/core/turn.ts"
import { words } from "../../src/slack/blocks/words.ts"
import { newLife, REQ, turnOf } from "../core/life.ts"

const SRE = "S0SRE"
const LEADS = "S0LEADS"
const BASE: Rule = { approvers: ["U0ADA", SRE], selfApproval: false, expiresIn: 3_600_000, startWithin: 900_000 }
const RULES: Record<string, Rule> = {
  plain: BASE,
  "two people": { ...BASE, quorum: 2 },
  "requester may": { ...BASE, selfApproval: true },
  "requester alone": { ...BASE, selfApproval: "confirm" },
  "two lists": { ...BASE, also: [["U0ADA", LEADS]] },
  "nobody listed": { ...BASE, approvers: [] },
  "reasons, editing, escalation": {
    ...BASE,
    reason: { decline: "required" },
    edit: { by: "approvers" },
    escalate: { after: 60_000, to: [LEADS] },
  },
}

const member = (user: string, groups: string[] = [], standing: Who["standing"] = "member"): Who => ({
  person: { team: "T1", user },
  standing,
  member: Object.fromEntries([SRE, LEADS].map((group) => [group, groups.includes(group) ? "yes" : "no"])),
})
const ADA = member("U0ADA", [])
const PEOPLE: Record<string, Who> = {
  requester: { ...member(REQ.user), person: REQ },
  "requester in the group": { ...member(REQ.user, [SRE]), person: REQ },
  "approver by name": ADA,
  "approver by group": member("U0GRACE", [SRE]),
  lead: member("U0LENA", [LEADS]),
  outsider: member("U0OUT"),
  "outsider, groups unknown": { ...member("U0OUT"), member: { [SRE]: "unknown", [LEADS]: "unknown" } },
  "guest in the group": member("U0GUS", [SRE], "guest"),
  "approver, deactivated": member("U0ADA", [], "deactivated"),
  "approver's id elsewhere": { ...member("U0ADA"), person: { team: "T2", user: "U0ADA" }, standing: "foreign" },
  "approver, not looked up": member("U0ADA", [], "unknown"),
}

const MINUTE = 60_000
const tried = (who: Who, ok: boolean, version = 1): Attempted => ({
  ask: "ask-1-1",
  version,
  ok,
  who,
  voters: [ADA],
  via: "click",
  cause: `${who.person.user}:${String(ok)}`,
})
const after = (run: Run, step: Step | undefined): Run => step?.run ?? run
const STATES: Record<string, (run: Run) => Run> = {
  waiting: (run) => run,
  "approved by Ada": (run) => after(run, settle(run, tried(ADA, true), 3000).step),
  "declined by Ada": (run) => after(run, settle(run, { ...tried(ADA, false), note: "no" }, 3000).step),
  "edited by Ada": (run) => {
    const decision = { do: "allow" } as const
    const request = { id: "ask-1-1", kind: "approval", prompt: "Run it" }
    const how = { args: '{"n":2}', digest: "d".repeat(64), decision, request, via: "form", cause: "edit" } as const
    return after(run, edit(run, { ask: "ask-1-1", version: 1, who: ADA, ...how }, 3000).step)
  },
  escalated: (run) => after(run, remind(run, 2000 + MINUTE)),
  expired: (run) => after(run, expire(run, 2000 + 60 * MINUTE)),
  cancelled: (run) => after(run, cancelled(run, { via: "bot", cause: "x" }, 3000)),
}

function asked(rule: Rule): Run {
  const { run } = newLife()
  const turn = turnOf(run, [{ do: "ask" }])
  const planned = turn.planned.map((one) => (one.next.do === "ask" ? { ...one, next: { ...one.next, rule } } : one))
  return after(run, took(run, { ...turn, planned }, 2000))
}

/** What the person is told when they press, with the reason given that a rule may want. */
function saidTo(run: Run, who: Who, ok: boolean): string {
  const version = run.asks[0]?.version ?? 1
  const how = { ...tried(who, ok, version), cause: `now:${String(ok)}`, ...(ok ? {} : { note: "because" }) }
  const { outcome } = settle(run, how, Math.max(4000, (run.asks[0]?.escalated ?? 0) + 1))
  return words({ about: "decision", outcome })
}

const isChanged = (before: Run, after: Run): boolean => JSON.stringify(before.asks) !== JSON.stringify(after.asks)

/** Those who are told the same, together. */
function rowsOf(run: Run, ok: boolean): string[] {
  const told = new Map<string, string[]>()
  for (const [name, who] of Object.entries(PEOPLE)) {
    const said = saidTo(run, who, ok)
    told.set(said, [...(told.get(said) ?? []), name])
  }
  return [...told].map(
    ([said, names]) => `  ${ok ? "yes" : "no "}  ${told.size === 1 ? "everybody" : names.join(" · ")}\n       ${said}`,
  )
}

test("who may decide what, and what they are told", async () => {
  const lines = Object.entries(RULES).flatMap(([ruleName, rule]) =>
    Object.entries(STATES).flatMap(([stateName, state]) => {
      const waiting = asked(rule)
      const run = state(waiting)
      // A state that this rule knows nothing of.
      if (stateName !== "waiting" && !isChanged(waiting, run)) return []
      const rows = [true, false].flatMap((ok) => rowsOf(run, ok))
      return [`${ruleName} · ${stateName}`, ...rows, ""]
    }),
  )
  await expect(lines.join("\n")).toMatchFileSnapshot("policy-table.txt")
})
