import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { cancelled, expire } from "../../src/core/ask.ts"
import { settle, type Attempted, type Outcome } from "../../src/core/settle.ts"
import { canonical, sha256 } from "../../src/core/digest.ts"
import { doubted } from "../../src/core/doubt.ts"
import { edit, type EditOutcome, type Editing } from "../../src/core/edit.ts"
import { brokenAt } from "../../src/core/fact.ts"
import { grantFor, mayStillGrant, revoke } from "../../src/core/grant.ts"
import { wishOnly, type Rule, type Who } from "../../src/core/policy.ts"
import { remind } from "../../src/core/remind.ts"
import type { Decision } from "../../src/core/rules.ts"
import { argsField, askOf, callOf, nextFor, wakeAt, type Ask } from "../../src/core/run.ts"
import { isMarked, requestOf } from "../../src/core/attempt.ts"
import { readRun, writeRun } from "../../src/core/stored.ts"
import { askedAgain, starting, took } from "../../src/core/turn.ts"
import { commit, member, newLife, RULE, turnOf, type Life } from "./life.ts"

const ID = "ask-1-1"
const TWO: Rule = { ...RULE, quorum: 2 }

/** A run whose one call is asked about under `rule`, at 2000. */
function asked(rule: Rule): Life {
  const life = newLife()
  const turn = turnOf(life.run, [{ do: "ask" }])
  const planned = turn.planned.map((one) => (one.next.do === "ask" ? { ...one, next: { ...one.next, rule } } : one))
  return commit(life, took(life.run, { ...turn, planned }, 2000))
}

const askIn = ({ run }: Life): Ask => {
  const ask = askOf(run, ID)
  if (!ask) throw new Error("the ask is gone")
  return ask
}

let causes = 0
/** One attempt; whoever voted before is looked up, and is a member like everybody. */
function press(life: Life, user: string, how: Partial<Attempted> = {}, now = 3000): { life: Life; outcome: Outcome } {
  const voters = (askOf(life.run, ID)?.votes ?? []).map(({ by }) => member(by.user))
  const tried = {
    ask: ID,
    version: 1,
    ok: true,
    who: member(user),
    via: "click",
    cause: `c${++causes}`,
    voters,
    ...how,
  } as const
  const { step, outcome } = settle(life.run, tried, now)
  return { life: commit(life, step), outcome }
}

const edits = (
  life: Life,
  how: Partial<Editing> & { value?: number },
  now = 3000,
): { life: Life; outcome: EditOutcome } => {
  const args = canonical({ n: how.value ?? 9 })
  const decision: Decision = { do: "ask", rule: askIn(life).rule }
  const tried: Editing = {
    ask: ID, version: 1, who: member("U0APP1"), via: "form", cause: `c${++causes}`, args, digest: sha256(args), decision,
    request: { id: "another", kind: "approval", prompt: "Run it otherwise" }, ...how,
  } // prettier-ignore
  const { step, outcome } = edit(life.run, tried, now)
  return { life: commit(life, step), outcome }
}

const lastFacts = ({ facts }: Life, count: number) =>
  facts.slice(-count).map(({ what, outcome }) => `${what}: ${outcome ?? ""}`)

describe("where two must approve", () => {
  test("the first yes counts, the second one settles", () => {
    const one = press(asked(TWO), "U0APP1")
    expect(one.outcome).toMatchObject({ kind: "voted", missing: 1 })
    expect(callOf(one.life.run, "1.1")?.state).toBe("asked")
    expect(lastFacts(one.life, 1)).toEqual(["voted: 1 of 2"])
    const two = press(one.life, "U0APP2")
    expect(two.outcome.kind).toBe("recorded")
    expect(callOf(two.life.run, "1.1")?.state).toBe("ready")
    expect(lastFacts(two.life, 2)).toEqual(["voted: 2 of 2", "settled: approved"])
  })

  test("one person's two presses are one yes", () => {
    const one = press(asked(TWO), "U0APP1")
    const again = press(one.life, "U0APP1")
    expect(again.outcome).toMatchObject({ kind: "voted before", missing: 1 })
    expect(askIn(again.life).votes).toHaveLength(1)
    expect(lastFacts(again.life, 1)).toEqual(["refused: voted before"])
  })

  test("a press that is delivered twice is one press", () => {
    const one = press(asked(TWO), "U0APP1", { cause: "same" })
    const again = press(one.life, "U0APP1", { cause: "same" })
    expect(again.outcome.kind).toBe("voted")
    expect(again.life.facts).toHaveLength(one.life.facts.length)
  })

  test("one no settles it, also of who said yes before", () => {
    const one = press(asked(TWO), "U0APP1")
    const no = press(one.life, "U0APP1", { ok: false })
    expect(no.outcome).toMatchObject({ kind: "recorded", ask: { settled: { ok: false } } })
  })

  test("a yes of somebody who may no longer decide counts no more", () => {
    const one = press(asked(TWO), "U0APP1")
    const gone: Who = { ...member("U0APP1"), standing: "deactivated" }
    const two = press(one.life, "U0APP2", { voters: [gone] })
    expect(two.outcome).toMatchObject({ kind: "voted", missing: 1 })
    expect(askIn(two.life).votes?.map(({ by }) => by.user)).toEqual(["U0APP2"])
    expect(lastFacts(two.life, 2)).toEqual(["refused: vote void: deactivated", "voted: 1 of 2"])
  })

  test("nothing is decided before everybody who voted was looked up", () => {
    const one = press(asked(TWO), "U0APP1")
    const two = press(one.life, "U0APP2", { voters: [] })
    expect(two.outcome.kind).toBe("look again")
    expect(two.life.run).toEqual(one.life.run)
  })

  test("the votes survive being stored", () => {
    const { life } = press(asked(TWO), "U0APP1")
    expect(readRun(writeRun(life.run))).toEqual(life.run)
  })
})

describe("a choice that only a doubt offers", () => {
  test.each<[string, Rule, Partial<Attempted>]>([
    ["in place of a quorum", TWO, { choice: "done" }],
    ["while nothing may be approved", RULE, { choice: "done", paused: true }],
    ["to a single yes", RULE, { choice: "done" }],
    ["again", RULE, { choice: "again" }],
  ])("decides nothing about anything else: %s", (_, rule, how) => {
    const { life, outcome } = press(asked(rule), "U0APP1", how)
    expect(outcome.kind).toBe("not offered")
    expect(lastFacts(life, 1)).toEqual(["refused: not offered"])
    expect([callOf(life.run, "1.1")?.state, askIn(life).settled]).toEqual(["asked", undefined])
  })
})

describe("a rule that wants a reason", () => {
  const WHY: Rule = { ...RULE, reason: { decline: "required", approve: "optional" } }

  test("takes no answer without one", () => {
    for (const note of [undefined, "", "  \n"]) {
      const tried = press(asked(WHY), "U0APP1", { ok: false, ...(note === undefined ? {} : { note }) })
      expect(tried.outcome.kind).toBe("reason missing")
      expect(askIn(tried.life).settled).toBeUndefined()
    }
  })

  test("and hands it on with the Answer, of a no as of a yes", () => {
    const no = press(asked(WHY), "U0APP1", { ok: false, note: "not on a Friday" })
    expect(JSON.parse(no.life.texts.get(`answer:${ID}`) ?? "")).toMatchObject({
      ok: false,
      data: { note: "not on a Friday" },
    })
    const yes = press(asked(WHY), "U0APP1", { note: "looks right" })
    expect(JSON.parse(yes.life.texts.get(`answer:${ID}`) ?? "")).toMatchObject({
      ok: true,
      data: { output: "approved", note: "looks right" },
    })
  })
})

describe("args that are changed before they are approved", () => {
  const EDIT: Rule = { ...RULE, edit: { by: "approvers" } }

  test("are a new version with a text of its own, and the old one stays", () => {
    const { life, outcome } = edits(asked(EDIT), {})
    expect(outcome.kind).toBe("edited")
    const call = callOf(life.run, "1.1")
    expect(call && argsField(call)).toBe("args:1.1:1")
    expect([life.texts.get("args:1.1"), life.texts.get("args:1.1:1")]).toEqual(['{"n":1}', '{"n":9}'])
    expect(call?.digest).toBe(sha256('{"n":9}'))
    expect(askIn(life)).toMatchObject({ version: 2, edit: 1, digest: call?.digest })
    expect(JSON.parse(life.texts.get(`req:${ID}`) ?? "")).toMatchObject({ id: ID, prompt: "Run it otherwise" })
    expect(life.facts.at(-1)).toMatchObject({ what: "edited", args: call?.digest, version: 2 })
    expect(readRun(writeRun(life.run))).toEqual(life.run)
  })

  test("make old buttons refuse, and earlier votes void", () => {
    const voted = press(asked({ ...EDIT, quorum: 2 }), "U0APP2").life
    const { life } = edits(voted, {})
    expect(askIn(life).votes).toBeUndefined()
    expect(press(life, "U0APP2").outcome.kind).toBe("changed")
    expect(press(life, "U0APP2", { version: 2 }).outcome).toMatchObject({ kind: "voted", missing: 1 })
  })

  test("are not approved by who changed them, unless the rule says so; declined they may be", () => {
    const { life } = edits(asked(EDIT), {})
    expect(press(life, "U0APP1", { version: 2 }).outcome).toMatchObject({ kind: "denied", why: "own edit" })
    expect(press(life, "U0APP1", { version: 2, ok: false }).outcome.kind).toBe("recorded")
    const free = edits(asked({ ...RULE, edit: { by: "approvers", votes: true } }), {})
    expect(press(free.life, "U0APP1", { version: 2 }).outcome.kind).toBe("recorded")
  })

  test("are not approved by who changed them either when the yes has aged, or the outcome is unknown", () => {
    const { life } = edits(asked(EDIT), {})
    const yes = press(life, "U0APP2", { version: 2 }).life
    const again = { id: "again", kind: "approval", prompt: "Run tool1" }
    const aged = commit(yes, askedAgain(yes.run, "1.1", again, 20_000))
    expect(press(aged, "U0APP1", { ask: "again" }, 21_000).outcome).toMatchObject({ kind: "denied", why: "own edit" })
    expect(press(aged, "U0APP2", { ask: "again" }, 21_000).outcome.kind).toBe("recorded")
    const ran = commit(yes, starting(yes.run, "1.1", { id: "a", owner: "gone", at: 0 }, 4000).step)
    const how = { ruleOf: () => RULE, mint: () => ({ ...again, kind: "doubt" }) }
    const doubt = commit(ran, doubted(ran.run, how, 5000))
    const choice = { ask: "again", choice: "again" } as const
    expect(press(doubt, "U0APP1", choice, 6000).outcome).toMatchObject({ kind: "denied", why: "own edit" })
    expect(press(doubt, "U0APP2", choice, 6000).outcome.kind).toBe("recorded")
  })

  test("name everybody who changed them once, the last one last", () => {
    let { life } = edits(asked(EDIT), {})
    life = edits(life, { version: 2, value: 8, who: member("U0APP2") }).life
    life = edits(life, { version: 3, value: 9 }).life
    expect(askIn(life).editors?.map(({ user }) => user)).toEqual(["U0APP2", "U0APP1"])
  })

  test("are confirmed by the requester who changed them, where nobody else may decide", () => {
    const alone: Rule = { ...RULE, selfApproval: "confirm", edit: { by: "requester" } }
    const { life } = edits(asked(alone), { who: member("U0REQ") })
    expect(press(life, "U0APP1", { version: 2 }).outcome).toMatchObject({ kind: "denied", why: "requester only" })
    expect(press(life, "U0REQ", { version: 2 }).outcome.kind).toBe("recorded")
  })

  test("travel in the Answer", () => {
    const { life } = edits(asked(EDIT), {})
    const done = press(life, "U0APP2", { version: 2, args: { n: 9 } })
    expect(JSON.parse(done.life.texts.get(`answer:${ID}`) ?? "").data).toEqual({ output: "approved", args: { n: 9 } })
  })

  test("fall under the stricter of the old and the new rule", () => {
    const strict: Rule = { ...RULE, approvers: ["U0APP1"], quorum: 2, expiresIn: 10, edit: { by: "approvers" } }
    const { life } = edits(asked(EDIT), { decision: { do: "ask", rule: strict } })
    expect(askIn(life).rule).toMatchObject({ quorum: 2, approvers: RULE.approvers, also: [["U0APP1"]] })
    expect(askIn(life).expiresAt).toBe(3010)
    const lax = edits(asked(EDIT), { decision: { do: "allow" } })
    expect(askIn(lax.life).rule).toEqual(EDIT)
  })

  test.each<[string, Partial<Editing> & { value?: number }, Rule, string]>([
    ["which the rules deny to everybody", { decision: { do: "deny", rule: "x" } }, EDIT, "forbidden"],
    [
      "for which nobody is left to approve",
      { decision: { do: "ask", rule: { ...RULE, selfApproval: "confirm" } } },
      EDIT,
      "nobody left",
    ],
    ["by somebody who may not", { who: member("U0OUT") }, EDIT, "denied"],
    ["by the requester where approvers do it", { who: member("U0REQ") }, EDIT, "denied"],
    ["by an approver where the requester does it", {}, { ...RULE, edit: { by: "requester" } }, "denied"],
    ["where nobody may", {}, RULE, "denied"],
    ["of a version that is no longer shown", { version: 7 }, EDIT, "changed"],
    ["that are the same", { value: 1 }, EDIT, "unchanged"],
  ])("%s change nothing", (_, how, rule, kind) => {
    const before = asked(rule)
    const { life, outcome } = edits(before, how)
    expect(outcome.kind).toBe(kind)
    expect(askIn(life)).toEqual(askIn(before))
    expect(life.texts.get("args:1.1:1")).toBeUndefined()
    expect(life.facts.length - before.facts.length).toBe(kind === "unchanged" ? 0 : 1)
  })

  test("are of no use after the deadline, nor once it is settled", () => {
    expect(edits(asked(EDIT), {}, 70_000).outcome.kind).toBe("settled")
    const done = press(asked(EDIT), "U0APP2").life
    expect(edits(done, {}).outcome.kind).toBe("settled")
  })
})

describe("a grant", () => {
  const GRANT: Rule = { ...RULE, grant: { for: 5000 } }
  const again = (life: Life, now: number, id: string): Life => {
    const turn = turnOf(life.run, [{ do: "run" }])
    const request = { id: "ask-2-1", kind: "approval", prompt: "Run tool1" }
    const grant = { id, otherwise: { request, rule: GRANT } }
    const planned = turn.planned.map((one) => ({ ...one, next: { do: "run", grant } as const }))
    const run = { ...life.run, calls: [], asks: [] }
    return commit({ ...life, run }, took(run, { ...turn, planned }, now))
  }

  test("is given with a yes, used with a fact, and over with its time", () => {
    const { life, outcome } = press(asked(GRANT), "U0APP1", { grant: "mark" })
    expect(outcome.kind).toBe("recorded")
    const grant = grantFor(life.run, "mark")
    expect(grant).toMatchObject({ until: 8000, by: { user: "U0APP1" } })
    expect(lastFacts(life, 2)[1]).toMatch(/^granted: until 1970/)
    const used = again(life, 7999, grant?.id ?? "")
    expect(used.run.calls[0]?.state).toBe("ready")
    expect(used.facts.at(-1)).toMatchObject({ what: "used", by: { user: "U0APP1" }, call: "2.1" })
    const late = again(life, 8000, grant?.id ?? "")
    expect(late.run.calls[0]?.state).toBe("asked")
    expect(grantFor(life.run, "another")).toBeUndefined()
  })

  test("of somebody who was brought in is good for as long as they could give it", () => {
    const later: Rule = { ...GRANT, escalate: { after: 500, to: ["S0LEADS"] } }
    const lead: Who = { ...member("U0LEAD"), member: { S0LEADS: "yes" } }
    const before = asked(later)
    const life = commit(before, remind(before.run, 2600))
    const grant = grantFor(press(life, "U0LEAD", { grant: "mark", who: lead }).life.run, "mark")
    expect(grant && mayStillGrant(grant, wishOnly(life.run.requester), lead)).toBe(true)
    expect(grant && mayStillGrant(grant, wishOnly(life.run.requester), { ...lead, member: { S0LEADS: "no" } })).toBe(
      false,
    )
    const usual = grantFor(press(life, "U0APP1", { grant: "mark" }).life.run, "mark")
    expect(usual && mayStillGrant(usual, wishOnly(life.run.requester), member("U0APP1"))).toBe(true)
    const early = grantFor(press(before, "U0APP1", { grant: "mark" }, 2100).life.run, "mark")
    expect(early && mayStillGrant({ ...early, by: lead.person }, wishOnly(life.run.requester), lead)).toBe(false)
  })

  test("that is over or taken back before the call starts lets nothing start", () => {
    const { life } = press(asked(GRANT), "U0APP1", { grant: "mark" })
    const id = grantFor(life.run, "mark")?.id ?? ""
    const used = again(life, 4000, id)
    const attempt = { id: "a", owner: "o", at: 0 }
    expect(starting(used.run, "2.1", attempt, 7999).outcome.kind).toBe("go")
    expect(starting(used.run, "2.1", attempt, 8000).outcome.kind).toBe("stale yes")
    const tried = { grant: id, who: member("U0APP2"), admins: [], via: "command", cause: "back" } as const
    const back = commit(used, revoke(used.run, tried, 5000).step)
    expect(starting(back.run, "2.1", attempt, 5001).outcome.kind).toBe("stale yes")
    const call = callOf(back.run, "2.1")
    expect(call && [isMarked({ ...call, effects: "none" }), requestOf(call)]).toEqual([true, "ask-2-1"])
    expect(JSON.parse(back.texts.get("req:ask-2-1") ?? "")).toMatchObject({ prompt: "Run tool1" })
    const request = { id: "fresh", kind: "approval", prompt: "Run tool1" }
    const open = commit(back, askedAgain(back.run, "2.1", request, 5002))
    expect(askOf(open.run, "fresh")).toMatchObject({ from: "guard", rule: GRANT, call: "2.1" })
    const yes = press(open, "U0APP2", { ask: "fresh" }, 5003).life
    expect(starting(yes.run, "2.1", attempt, 9000).outcome.kind).toBe("go")
    expect(readRun(writeRun(used.run))).toEqual(used.run)
  })

  test.each<[string, Rule, Partial<Attempted>]>([
    ["a rule without one", RULE, {}],
    ["a rule with a quorum", { ...GRANT, quorum: 2 }, {}],
    ["a no", GRANT, { ok: false }],
  ])("is not to be had with %s", (_, rule, how) => {
    const { life, outcome } = press(asked(rule), "U0APP1", { grant: "mark", ...how })
    expect(outcome.kind).toBe("not offered")
    expect([life.run.grants, askIn(life).settled]).toEqual([undefined, undefined])
  })
})

describe("while nobody answers", () => {
  const LATER: Rule = { ...RULE, remind: [10_000, 20_000, 30_000], escalate: { after: 15_000, to: ["U0LEAD"] } }

  test("the run needs somebody at each reminder, at the escalation and at the deadline", () => {
    let life = asked(LATER)
    const times: number[] = []
    for (let round = 0; round < 9 && askIn(life).settled === undefined; round += 1) {
      const at = wakeAt(life.run)
      times.push(at)
      life = commit(life, remind(life.run, at))
    }
    expect(times).toEqual([12_000, 17_000, 22_000, 32_000, 62_000])
    expect(life.facts.slice(-5).map(({ what }) => what)).toEqual([
      "reminded",
      "escalated",
      "reminded",
      "reminded",
      "expired",
    ])
  })

  test("reminders that were missed become one, and expiry goes first", () => {
    const life = commit(asked(LATER), remind(asked(LATER).run, 31_000))
    expect(lastFacts(life, 2)).toEqual(["reminded: 2 of 3", "escalated: U0LEAD"])
    const both = asked(LATER)
    const late = commit(both, remind(both.run, 90_000))
    expect(late.facts.slice(both.facts.length).map(({ what }) => what)).toEqual(["expired"])
    expect(remind(life.run, 31_500)).toBeUndefined()
    expect(nextFor(askIn(life))).toBe(32_000)
  })

  test("whoever is brought in may decide from then on, and not before", () => {
    const before = asked(LATER)
    expect(press(before, "U0LEAD", {}, 16_000).outcome).toMatchObject({ kind: "denied", why: "not listed" })
    const after = commit(before, remind(before.run, 17_000))
    expect(press(after, "U0LEAD", {}, 17_001).outcome.kind).toBe("recorded")
    expect(press(after, "U0APP1", {}, 17_001).outcome.kind).toBe("recorded")
  })
})

describe("whatever people do, in any order", () => {
  type Deed = {
    who: string
    does: "yes" | "no" | "edit" | "tick" | "cancel" | "remind"
    version: number
    value: number
    wait: number
  }
  const deed: fc.Arbitrary<Deed> = fc.record({
    who: fc.constantFrom("U0APP1", "U0APP2", "U0REQ", "U0OUT", "U0LEAD"),
    does: fc.constantFrom("yes", "yes", "yes", "no", "edit", "tick", "cancel", "remind"),
    version: fc.integer({ min: 1, max: 3 }),
    value: fc.integer({ min: 1, max: 3 }),
    wait: fc.constantFrom(1, 1, 5000, 30_000),
  })
  const rule: fc.Arbitrary<Rule> = fc
    .record({
      quorum: fc.constantFrom(1, 2),
      selfApproval: fc.boolean(),
      edit: fc.constantFrom(
        { by: "approvers" } as const,
        { by: "requester" } as const,
        { by: "approvers", votes: true } as const,
      ),
      escalate: fc.constant<NonNullable<Rule["escalate"]>>({ after: 4000, to: ["U0LEAD"] }),
    })
    .map((change) => ({ ...RULE, ...change }))

  function does(
    life: Life,
    { who, does: what, version, value }: Deed,
    now: number,
  ): { life: Life; attempted: boolean; counted: boolean } {
    const open = askOf(life.run, ID)?.settled === undefined
    switch (what) {
      case "yes":
      case "no": {
        const { life: next, outcome } = press(life, who, { ok: what === "yes", version }, now)
        return { life: next, attempted: true, counted: outcome.kind === "recorded" || outcome.kind === "voted" }
      }
      case "edit":
        return { life: edits(life, { who: member(who), version, value }, now).life, attempted: false, counted: false }
      case "remind":
        return { life: commit(life, remind(life.run, now)), attempted: false, counted: false }
      case "tick":
        return { life: commit(life, expire(life.run, now)), attempted: false, counted: false }
      case "cancel":
        return open && !life.run.cancelled && !life.run.ended
          ? {
              life: commit(life, cancelled(life.run, { via: "bot", cause: "x" }, now)),
              attempted: false,
              counted: false,
            }
          : { life, attempted: false, counted: false }
    }
  }

  /** Whoever said the yes that settled it could. */
  function allowed(how: Rule, { who, version }: Deed, was: Ask, life: Life, now: number): void {
    if (was.settled || askIn(life).settled?.ok !== true) return
    const said = life.facts.filter((fact) => fact.what === "voted" && fact.ask === ID && fact.version === was.version)
    const people = new Set(said.map(({ by }) => by?.user))
    expect(people.size).toBeGreaterThanOrEqual((how.quorum ?? 1) > 1 ? 2 : 0)
    expect(version).toBe(was.version)
    expect(now).toBeLessThan(was.expiresAt)
    expect(life.run.cancelled).toBeUndefined()
    expect(["U0OUT", ...(how.selfApproval ? [] : ["U0REQ"])]).not.toContain(who)
    const edited = was.editors?.some(({ user }) => user === who) ?? false
    expect(edited && how.edit?.votes !== true).toBe(false)
  }

  test("there is one outcome at most, which the rule allows, and a fact of each attempt", () => {
    fc.assert(
      fc.property(rule, fc.array(deed, { minLength: 1, maxLength: 25 }), (how, deeds) => {
        let life = asked(how)
        let now = 2000
        for (const one of deeds) {
          now += one.wait
          const before = life
          const was = askIn(before)
          const { life: next, attempted } = does(before, one, now)
          life = next
          if (attempted) expect(life.facts.length).toBeGreaterThan(before.facts.length)
          // Nothing decided is re-decided.
          if (was.settled) expect(askIn(life).settled).toEqual(was.settled)
          allowed(how, one, was, life, now)
        }
        expect(
          life.facts.filter(({ what, ask }) => ask === ID && (what === "settled" || what === "expired")).length,
        ).toBeLessThanOrEqual(1)
        expect(brokenAt(life.facts)).toBeUndefined()
        // What would be executed is what the last version shows.
        const call = callOf(life.run, "1.1")
        if (call) expect(sha256(life.texts.get(argsField(call)) ?? "")).toBe(call.digest)
        const at = askIn(life).settled?.at ?? 0
        if (call?.state === "ready")
          expect(starting(life.run, "1.1", { id: "a", owner: "o", at }, at).outcome.kind).toBe("go")
      }),
      { numRuns: 500 },
    )
  })
})
