/** Votes, edits, declines, the deadline and cancelling race on two processes: real Redis decides, and the policy holds. */
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { cancelled, type Tried } from "../../src/core/ask.ts"
import { canonical, sha256 } from "../../src/core/digest.ts"
import { edit, type EditOutcome } from "../../src/core/edit.ts"
import { brokenAt, type Fact } from "../../src/core/fact.ts"
import type { Rule, Who } from "../../src/core/policy.ts"
import { remind } from "../../src/core/remind.ts"
import { argsField, type Ask, type Run } from "../../src/core/run.ts"
import { settle, type Outcome } from "../../src/core/settle.ts"
import { took } from "../../src/core/turn.ts"
import type { Store } from "../../src/store/store.ts"
import { freshPrefix } from "../redis.ts"
import { beginning, freshId, openStore, REQUESTER } from "./runs.ts"

const PEOPLE = ["U0APP1", "U0APP2", REQUESTER.user, "U0OUT"]
const who = (user: string): Who => ({ person: { team: "T1", user }, standing: "member", member: {} })

interface Deed {
  user: string
  does: "yes" | "no" | "edit" | "time" | "cancel"
  version: number
  value: number
  process: number
}

const deed: fc.Arbitrary<Deed> = fc.record({
  user: fc.constantFrom(...PEOPLE),
  // Much agreement and little else, or nothing would ever be approved.
  does: fc.oneof(
    { weight: 12, arbitrary: fc.constant("yes" as const) },
    { weight: 5, arbitrary: fc.constant("edit" as const) },
    { weight: 1, arbitrary: fc.constantFrom("no" as const, "time" as const, "cancel" as const) },
  ),
  version: fc.constantFrom(1, 2, 2),
  value: fc.integer({ min: 1, max: 3 }),
  process: fc.integer({ min: 0, max: 1 }),
})
/** Deeds at the same time. */
const wave = fc.array(deed, { minLength: 1, maxLength: 5 })
const rule: fc.Arbitrary<Rule> = fc
  .record({
    quorum: fc.constantFrom(1, 2, 2),
    selfApproval: fc.boolean(),
    edit: fc.constantFrom<NonNullable<Rule["edit"]>>({ by: "approvers" }, { by: "requester", votes: true }),
    expiresIn: fc.constantFrom(40, 3_600_000),
  })
  .map((change) => ({ approvers: ["U0APP1", "U0APP2"], startWithin: 900_000, ...change }))

let stores: [Store, Store]
beforeAll(async () => {
  const prefix = freshPrefix()
  stores = [await openStore({ prefix }), await openStore({ prefix })]
})
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
})

async function asked(policy: Rule): Promise<string> {
  const id = freshId()
  const [store] = stores
  await store.apply(id, beginning(id))
  const args = canonical({ n: 1 })
  const request = { id: "ask", kind: "approval", prompt: "Run it" }
  const call = { ref: "c", tool: "t", effects: "once", args, digest: sha256(args) } as const
  const turn = { message: "{}", text: "", usage: { prompt: 1, completion: 1 } }
  await store.apply(id, (run, now) => ({
    step: run && took(run, { ...turn, planned: [{ ...call, next: { do: "ask", request, rule: policy } }] }, now),
    outcome: undefined,
  }))
  return id
}

type Done = Outcome["kind"] | EditOutcome["kind"] | "nothing"

/** One deed as a process does it: with what it has looked up, and again when somebody voted meanwhile. */
async function does(id: string, one: Deed, index: number): Promise<Done> {
  const store = stores[one.process] ?? stores[0]
  const cause = `deed ${index}`
  const loaded = await store.load(id)
  const voters = (loaded?.run.asks[0]?.votes ?? []).map(({ by }) => who(by.user))
  const applied = await store.apply<Done>(
    id,
    (run, now) => {
      const { step, outcome } = run
        ? tried(run, one, { cause, voters }, now)
        : { outcome: { kind: "nothing" as const } }
      return { step, outcome: outcome.kind }
    },
    { known: loaded },
  )
  if (applied.kind !== "applied") throw new Error(applied.kind)
  return applied.outcome === "look again" ? does(id, one, index) : applied.outcome
}

function tried(run: Run, one: Deed, how: { cause: string; voters: Who[] }, now: number): Tried<{ kind: Done }> {
  const { user, does: what, version, value } = one
  const { cause } = how
  switch (what) {
    case "yes":
    case "no":
      return settle(run, { ask: "ask", version, ok: what === "yes", who: who(user), via: "click", ...how }, now)
    case "edit": {
      const args = canonical({ n: value })
      const decision = { do: "allow" } as const
      const request = { id: "ask", kind: "approval", prompt: "Run it" }
      const given = { ask: "ask", version, who: who(user), via: "form", cause, args, digest: sha256(args) } as const
      return edit(run, { ...given, decision, request }, now)
    }
    case "time":
      return stepped(remind(run, now))
    case "cancel":
      return stepped(run.ended || run.cancelled ? undefined : cancelled(run, { via: "bot", cause }, now))
  }
}

const stepped = (step: ReturnType<typeof remind>): Tried<{ kind: Done }> =>
  step ? { step, outcome: { kind: "nothing" } } : { outcome: { kind: "nothing" } }

/** What must be true of any history. */
async function check(id: string, policy: Rule, deeds: readonly Deed[], outcomes: readonly Done[]): Promise<void> {
  const [store] = stores
  const run = (await store.load(id))?.run
  const facts = (await store.facts(id)).map((fact) => JSON.parse(fact) as Fact)
  const ask = run?.asks[0]
  if (!run || !ask) throw new Error("it is gone")
  expect(brokenAt(facts)).toBeUndefined()
  expect(facts.filter(({ what }) => what === "settled" || what === "expired").length).toBe(ask.settled ? 1 : 0)
  for (const [index, one] of deeds.entries()) {
    if (leavesFact(one, outcomes[index])) expect(facts.map(({ cause }) => cause)).toContain(`deed ${index}`)
  }
  if (ask.settled?.ok) approved(policy, ask, facts)
  const call = run.calls[0]
  const [text] = call ? await store.texts(id, [argsField(call)]) : []
  if (call) expect([call.digest, ask.digest]).toEqual([sha256(text ?? ""), sha256(text ?? "")])
}

const leavesFact = ({ does: what }: Deed, outcome: Done | undefined): boolean =>
  what === "yes" || what === "no" || (what === "edit" && outcome !== "unchanged")

function approved(policy: Rule, ask: Ask, facts: readonly Fact[]): void {
  const settled = facts.findIndex(({ what }) => what === "settled")
  const yes = facts.filter(({ what, version }, index) => index < settled && what === "voted" && version === ask.version)
  const people = new Set([...yes.map(({ by }) => by?.user), ask.settled?.by?.user])
  expect(people.size).toBeGreaterThanOrEqual(policy.quorum ?? 1)
  expect(people).not.toContain("U0OUT")
  if (policy.selfApproval === false) expect(people).not.toContain(REQUESTER.user)
  if (policy.edit?.votes !== true) for (const { user } of ask.editors ?? []) expect(people).not.toContain(user)
  expect(facts[settled]?.version).toBe(ask.version)
  expect(ask.settled?.at).toBeLessThan(ask.expiresAt)
}

test("whatever people do on two processes at once, one outcome that the rule allows, and a fact of each attempt", async () => {
  await fc.assert(
    fc.asyncProperty(rule, fc.array(wave, { minLength: 1, maxLength: 4 }), async (policy, waves) => {
      const id = await asked(policy)
      const deeds = waves.flat()
      const outcomes: Done[] = []
      for (const together of waves) {
        const from = outcomes.length
        outcomes.push(...(await Promise.all(together.map((one, index) => does(id, one, from + index)))))
      }
      await check(id, policy, deeds, outcomes)
    }),
    { numRuns: 100 },
  )
}, 120_000)
