import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { escalatedRule, mayDecide, mayEdit, wishOnly, type Rule, type Who } from "../../src/core/policy.ts"
import { decide, type ApprovalRule, type Asking, type Called } from "../../src/core/rules.ts"
import { tightened, tightenedDefaults, type Tightened, type Tightening } from "../../src/core/tightened.ts"

const RULE: Rule = { approvers: ["S0SRE"], selfApproval: false, expiresIn: 3_600_000, startWithin: 900_000 }
const FILE: ApprovalRule[] = [
  { tool: "get_*", do: "allow" },
  { tool: "drop_*", do: "deny" },
  { tool: "deploy", do: "ask", approvers: ["S0LEADS"], grant: { for: 60_000 } },
]

function decided(own: Partial<Tightening>, tool: string, args: unknown = {}): Tightened {
  const called: Called = { tool, args }
  const whole: Tightening = { agent: "ops", rules: [], asking: {}, ...own }
  return tightened(decide(FILE, RULE, called), whole, RULE, called)
}

describe("an agent's own rules beside the file's", () => {
  test("an agent that says nothing changes nothing", () => {
    for (const tool of ["get_status", "drop_table", "deploy", "restart"]) {
      expect(decided({}, tool)).toEqual(decide(FILE, RULE, { tool, args: {} }))
    }
    expect(tightenedDefaults({ agent: "ops", rules: [], asking: {} }, RULE)).toBe(RULE)
  })

  test("an allow of the agent's allows what the file allows, and nothing else", () => {
    const own = { rules: [{ tool: "*", do: "allow" } as const] }
    expect(decided(own, "get_status").do).toBe("allow")
    expect(decided(own, "drop_table").do).toBe("deny")
    expect(decided(own, "deploy")).toMatchObject({ do: "ask", rule: { approvers: ["S0LEADS"] } })
    expect(decided(own, "restart")).toMatchObject({ do: "ask", rule: RULE })
  })

  test("what the agent denies or asks about, the file's allow doesn't let through", () => {
    const rules: ApprovalRule[] = [
      { tool: "get_secret", do: "deny" },
      { tool: "get_*", when: { env: "prod" }, do: "ask" },
    ]
    expect(decided({ rules }, "get_secret")).toEqual({ do: "deny", rule: "get_secret", index: 0, own: 0 })
    expect(decided({ rules }, "get_status", { env: "prod" })).toEqual({
      do: "ask",
      rule: { ...RULE, name: "agents.ops.approvals[1]" },
      index: 0,
      own: 1,
    })
    expect(decided({ rules }, "get_status", { env: "dev" }).do).toBe("allow")
    // Nobody can tell whether it was meant.
    expect(decided({ rules }, "get_status", {}).do).toBe("ask")
  })

  test("where both ask, whoever approves must be on both lists, and what the agent leaves out is as the file's rule has it", () => {
    const rules: ApprovalRule[] = [{ tool: "deploy", do: "ask", quorum: 2, expiresIn: 60_000 }]
    expect(decided({ rules, asking: { approvers: ["U0ADA"] } }, "deploy")).toMatchObject({
      do: "ask",
      rule: {
        approvers: ["U0ADA"],
        also: [["S0LEADS"]],
        quorum: 2,
        expiresIn: 60_000,
        name: "approvals[2] and agents.ops.approvals[0]",
      },
    })
    expect(decided({ rules }, "deploy")).toMatchObject({ rule: { approvers: ["S0LEADS"], quorum: 2 } })
  })

  test("the agent's people decide about what only the file asks about, too", () => {
    const { rule } = decided({ asking: { approvers: ["U0ADA"], cards: "C0X" } }, "restart") as { rule: Rule }
    expect(rule).toEqual({ ...RULE, approvers: ["U0ADA"], also: [["S0SRE"]], cards: "C0X" })
    expect(decided({ asking: { approvers: ["U0ADA"] } }, "get_status").do).toBe("allow")
  })

  test("an allow of the agent's exempts nothing from the agent's own people", () => {
    const own: Partial<Tightening> = { rules: [{ tool: "*", do: "allow" }], asking: { approvers: ["U0ADA"] } }
    expect(decided(own, "restart")).toMatchObject({ do: "ask", rule: { approvers: ["U0ADA"], also: [["S0SRE"]] } })
    expect(decided(own, "get_status").do).toBe("allow")
  })

  test("a grant of the file stays where the agent takes nothing from it, for the shorter time", () => {
    expect(decided({ asking: { expiresIn: 1000 } }, "deploy")).toMatchObject({ rule: { grant: { for: 60_000 } } })
    expect(decided({ asking: { grant: { for: 1000 } } }, "deploy")).toMatchObject({ rule: { grant: { for: 1000 } } })
    expect(decided({ asking: { grant: { for: 1000, same: ["env"] } } }, "deploy")).not.toHaveProperty("rule.grant")
    expect(decided({ asking: { grant: { for: 1000 } } }, "restart")).not.toHaveProperty("rule.grant")
  })
})

const LISTS = [["U0ADA"], ["S0SRE"], ["S0LEADS", "U0BOB"], ["U0ADA", "S0SRE"]]
const optional = <T>(values: readonly T[]): fc.Arbitrary<T | undefined> => fc.constantFrom(undefined, ...values)

const askings: fc.Arbitrary<Asking> = fc.record({
  approvers: optional(LISTS),
  selfApproval: optional([true, false, "confirm"] as const),
  quorum: optional([1, 2, 3]),
  expiresIn: optional([1000, 60_000, 3_600_000]),
  startWithin: optional([1000, 60_000]),
  escalate: optional([
    { after: 500, to: ["S0LEADS"] },
    { after: 700, to: ["S0LEADS"] },
    { after: 500, to: ["U0BOB"] },
  ]),
  edit: optional(["off", { by: "approvers" }, { by: "requester" }, { by: "approvers", votes: true }] as const),
  grant: optional([{ for: 1000 }, { for: 60_000 }, { for: 1000, same: ["env"] }]),
  mask: optional([["args.token"], ["args.key"]]),
})

const ruleFile: fc.Arbitrary<ApprovalRule[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom("get_*", "get_status", "deploy", "*"),
      optional([{ env: "prod" }, { env: ["prod", "dev"] }, { n: 1 }]),
      fc.constantFrom("allow", "ask", "ask", "deny"),
      askings,
    )
    .map(([tool, when, does, asked]): ApprovalRule => ({ tool, when, do: does, ...(does === "ask" ? asked : {}) })),
  { maxLength: 3 },
)

const called: fc.Arbitrary<Called> = fc.record({
  tool: fc.constantFrom("get_status", "deploy", "restart"),
  args: fc.constantFrom({}, { env: "prod" }, { env: "dev" }, { env: "PROD" }, { env: ["prod"] }, { n: 1 }, { n: "1" }),
})

const whoever: fc.Arbitrary<Who> = fc
  .tuple(
    fc.constantFrom("U0ADA", "U0BOB", "U0REQ"),
    fc.constantFrom("yes", "no", "unknown"),
    fc.constantFrom("yes", "no"),
  )
  .map(([user, sre, leads]) => ({
    person: { team: "T1", user },
    standing: "member",
    member: { S0SRE: sre, S0LEADS: leads },
  }))

const STRICT = { allow: 0, ask: 1, deny: 2 }
const REQUESTER = { team: "T1", user: "U0REQ" }

const may = (rule: Rule, who: Who): boolean => mayDecide(rule, wishOnly(REQUESTER), who, true).ok
const edits = (rule: Rule, who: Who): boolean => mayEdit(rule, wishOnly(REQUESTER), who).ok
const votes = ({ edit }: Rule): boolean => edit?.votes === true

/** Each says whether the first rule lets something happen that the second doesn't. */
const LAXER: Record<string, (agent: Rule, file: Rule, who: Who) => boolean> = {
  approves: (agent, file, who) => may(agent, who) && !may(file, who),
  "approves later": (agent, file, who) => may(escalatedRule(agent), who) && !may(escalatedRule(file), who),
  "is brought in sooner": (agent, file) => (agent.escalate?.after ?? Infinity) < (file.escalate?.after ?? Infinity),
  "fewer agree": (agent, file) => (agent.quorum ?? 1) < (file.quorum ?? 1),
  "asks longer": (agent, file) => agent.expiresIn > file.expiresIn,
  "starts later": (agent, file) => agent.startWithin > file.startWithin,
  edits: (agent, file, who) => edits(agent, who) && !edits(file, who),
  "votes on an edit": (agent, file, who) => votes(agent) && edits(agent, who) && !votes(file),
  "grants longer": (agent, file) => (agent.grant?.for ?? 0) > (file.grant?.for ?? 0),
  "grants more": (agent, file) => agent.grant !== undefined && agent.grant.same?.[0] !== file.grant?.same?.[0],
  "shows more": (agent, file) => (file.mask ?? []).some((path) => !agent.mask?.includes(path)),
}

const laxer = (agent: Rule, file: Rule, who: Who): string[] =>
  Object.entries(LAXER).flatMap(([what, is]) => (is(agent, file, who) ? [what] : []))

test("for no file, agent, call and person is anything laxer than without the agent", () => {
  let asked = 0
  fc.assert(
    fc.property(
      fc.tuple(ruleFile, askings),
      fc.tuple(ruleFile, askings),
      called,
      whoever,
      ([fileRules, fileAsking], [rules, asking], call, who) => {
        const defaults: Rule = Object.assign({}, RULE, defined(fileAsking))
        const own: Tightening = { agent: "ops", rules, asking }
        const file = decide(fileRules, defaults, call)
        const both = tightened(file, own, defaults, call)
        expect(STRICT[both.do]).toBeGreaterThanOrEqual(STRICT[file.do])
        expect(laxer(tightenedDefaults(own, defaults), defaults, who)).toEqual([])
        if (both.do !== "ask") return
        asked += 1
        expect(laxer(both.rule, file.do === "ask" ? file.rule : defaults, who)).toEqual([])
      },
    ),
    { numRuns: 600 },
  )
  expect(asked).toBeGreaterThan(100)
})

/** As `asking` makes the file's own settings of what it says. */
function defined({ edit, notify: _notify, ...rest }: Asking): Partial<Rule> {
  const said = Object.entries(rest).filter(([, value]) => value !== undefined)
  return { ...(Object.fromEntries(said) as Partial<Rule>), ...(edit === undefined || edit === "off" ? {} : { edit }) }
}
