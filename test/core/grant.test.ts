import { describe, expect, test } from "vitest"
import { cancelled } from "../../src/core/ask.ts"
import { grantFor, grantRef, grantsInForce, markOf, revoke, type RevokeOutcome } from "../../src/core/grant.ts"
import type { Rule, Who } from "../../src/core/policy.ts"
import { indexesOf, type Run } from "../../src/core/run.ts"
import { settle } from "../../src/core/settle.ts"
import { took } from "../../src/core/turn.ts"
import { commit, member, newLife, RULE, turnOf, type Life } from "./life.ts"

const ID = "ask-1-1"
const GRANT: Rule = { ...RULE, approvers: ["U0APP1", "U0APP2"], grant: { for: 5000 } }

/** A run in which U0APP1 gave a grant at 3000; it lasts to 8000. */
function granted(): Life {
  const life = newLife()
  const turn = turnOf(life.run, [{ do: "ask" }])
  const planned = turn.planned.map((one) =>
    one.next.do === "ask" ? { ...one, next: { ...one.next, rule: GRANT } } : one,
  )
  const asked = commit(life, took(life.run, { ...turn, planned }, 2000))
  const tried = {
    ask: ID,
    version: 1,
    ok: true,
    who: member("U0APP1"),
    via: "click",
    cause: "c0",
    grant: "mark",
  } as const
  return commit(asked, settle(asked.run, tried, 3000).step)
}

const grantIn = ({ run }: Life): string => run.grants?.[0]?.id ?? ""

function revokes(life: Life, who: Who, now = 4000, cause = "c1"): { life: Life; outcome: RevokeOutcome } {
  const tried = { grant: grantIn(life), who, admins: ["U0ADMIN"], via: "command", cause } as const
  const { step, outcome } = revoke(life.run, tried, now)
  return { life: commit(life, step), outcome }
}

const listsOf = (run: Run): string[] => [...indexesOf(run).keys()].filter((name) => name.startsWith("grants:"))

describe("taking a grant back", () => {
  test.each(["U0APP1", "U0APP2", "U0REQ", "U0ADMIN"])("is for %s: giver, decider, requester, admin", (user) => {
    const { life, outcome } = revokes(granted(), member(user))
    expect(outcome.kind).toBe("revoked")
    expect(life.facts.at(-1)).toMatchObject({ what: "revoked", by: { user }, tool: "tool1", ask: ID })
    expect(grantFor(life.run, "mark")).toBeUndefined()
    expect(grantsInForce(life.run, 4000)).toEqual([])
    expect(listsOf(life.run)).toEqual([])
  })

  test("is refused to everybody else, with a fact, and the grant goes on", () => {
    const { life, outcome } = revokes(granted(), member("U0OTHER"))
    expect(outcome).toEqual({ kind: "denied", why: "not listed" })
    expect(life.facts.at(-1)).toMatchObject({ what: "refused", outcome: "revoke: not listed" })
    expect(grantsInForce(life.run, 4000)).toHaveLength(1)
    expect(revokes(granted(), { ...member("U0APP1"), standing: "deactivated" }).outcome.kind).toBe("denied")
  })

  test("counts once for one attempt; of what is over nothing is taken back", () => {
    const first = revokes(granted(), member("U0REQ"))
    expect(revokes(first.life, member("U0REQ")).outcome.kind).toBe("revoked")
    expect(revokes(first.life, member("U0REQ")).life.facts).toHaveLength(first.life.facts.length)
    expect(revokes(first.life, member("U0APP1"), 4000, "c2").outcome.kind).toBe("over")
    expect(revokes(granted(), member("U0REQ"), 8000).outcome.kind).toBe("over")
    const life = granted()
    const ended = commit(life, cancelled(life.run, { via: "bot", cause: "x" }, 3500))
    expect(revokes(ended, member("U0REQ")).outcome.kind).toBe("over")
  })

  test("an older grant for the same goes on", () => {
    const life = granted()
    const [first] = life.run.grants ?? []
    if (!first) throw new Error("no grant")
    const run = { ...life.run, grants: [first, { ...first, id: "g1" }] }
    const { step } = revoke(run, { grant: "g1", who: member("U0REQ"), admins: [], via: "click", cause: "c" }, 4000)
    expect(step && grantFor(step.run, "mark")?.id).toBe(first.id)
    expect(step && grantRef(step.run, { id: "g1" })).toBe(`${run.id}.2`)
  })
})

test("a run with grants is in the list of everybody who may take them back", () => {
  expect(listsOf(granted().run)).toEqual(["grants:", "grants:U0REQ", "grants:U0APP1", "grants:U0APP2"])
})

describe("what a grant covers", () => {
  const tool = { name: "deploy", description: "", inputSchema: {} }
  const mark = (args: unknown, same?: string[]): string =>
    markOf({ tool, args, rule: { ...RULE, grant: { for: 5000, ...(same ? { same } : {}) } } })
  const covers = (first: unknown, second: unknown, same?: string[]) => mark(first, same) === mark(second, same)

  test("is the same values at the paths of the rule, or the same args", () => {
    expect(covers({ env: "dev", n: 1 }, { env: "dev", n: 2 }, ["env"])).toBe(true)
    expect(covers({ env: "dev" }, { env: "prod" }, ["env"])).toBe(false)
    expect(covers({ env: "dev" }, { env: ["dev"] }, ["env"])).toBe(false)
    expect(covers({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true)
    expect(covers({ a: 1 }, { a: 2 })).toBe(false)
  })

  test("is the very same args where a path leads nowhere, or can be read in two ways", () => {
    const same = ["target.env"]
    expect(covers({ n: 1 }, { n: 1 }, same)).toBe(true)
    expect(covers({ n: 1 }, { n: 2 }, same)).toBe(false)
    expect(covers({ "target.env": "dev" }, { "target.env": "prod" }, same)).toBe(false)
    expect(covers({ target: [{ env: "dev" }] }, { target: [{ env: "prod" }] }, same)).toBe(false)
    const twice = (env: string) => ({ target: { env: "dev" }, "target.env": env })
    expect(covers(twice("dev"), twice("prod"), same)).toBe(false)
  })
})
