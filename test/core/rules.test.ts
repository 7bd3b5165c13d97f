import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { escalatedRule, mayDecide, wishOnly, type Rule, type Who } from "../../src/core/policy.ts"
import { type ApprovalRule, decide, globMatches, globsMeet, type Decision, together } from "../../src/core/rules.ts"

const RULE: Rule = { approvers: ["U0ADA", "S0SRE"], selfApproval: false, expiresIn: 3_600_000, startWithin: 900_000 }
const decideOn = (rules: readonly ApprovalRule[], tool: string, args: unknown = {}, schema?: unknown): Decision =>
  decide(rules, RULE, { tool, args, schema })

describe("which rule a call falls under", () => {
  const ask: ApprovalRule = { tool: "deploy", do: "ask", approvers: ["U0ADA"], expiresIn: 60_000 }
  const rules: ApprovalRule[] = [
    { tool: "get_secret", do: "deny" },
    { tool: "get_*", do: "allow" },
    ask,
    { tool: "restart_?", do: "ask", selfApproval: "confirm", startWithin: 1000 },
  ]
  test.each<[string, string, ReturnType<typeof decide>]>([
    ["the first that matches: deny", "get_secret", { do: "deny", rule: "get_secret", index: 0 }],
    ["the first that matches: allow", "get_status", { do: "allow", index: 1 }],
    [
      "asked, with what the rule says and else the defaults",
      "deploy",
      { do: "ask", rule: { ...RULE, approvers: ["U0ADA"], expiresIn: 60_000, name: "approvals[2]" }, index: 2 },
    ],
    [
      "asked, with the rule's selfApproval and startWithin",
      "restart_a",
      {
        do: "ask",
        rule: { ...RULE, selfApproval: "confirm", startWithin: 1000, name: "approvals[3]" },
        index: 3,
      },
    ],
    ["asked, by the defaults, when none matches", "drop_table", { do: "ask", rule: RULE }],
    ["names are told apart by case", "GET_STATUS", { do: "ask", rule: RULE }],
    ["a name that only begins like a rule's falls under none", "deploy_all", { do: "ask", rule: RULE }],
  ])("%s", (_, tool, decision) => {
    expect(decideOn(rules, tool)).toEqual(decision)
  })

  test("without rules everything is asked", () => {
    expect(decideOn([], "get_status")).toEqual({ do: "ask", rule: RULE })
  })

  test("a rule that says selfApproval: false stays false under defaults that allow it", () => {
    const rules: ApprovalRule[] = [{ tool: "*", do: "ask", selfApproval: false }]
    expect(decide(rules, { ...RULE, selfApproval: true }, { tool: "deploy", args: {} })).toEqual({
      do: "ask",
      rule: { ...RULE, name: "approvals[0]" },
      index: 0,
    })
  })
})

describe("a glob", () => {
  test.each([
    ["get_*", "get_status", true],
    ["get_*", "get_", true],
    ["get_*", "forget_it", false],
    ["*", "", true],
    ["", "", true],
    ["", "a", false],
    ["?", "", false],
    ["?", "ab", false],
    ["?*", "a", true],
    ["*_prod", "deploy_prod_prod", true],
    ["*_prod", "deploy_prod_2", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["a**b", "ab", true],
    ["*a?", "aaab", true],
    // Nothing else has a meaning.
    ["a.c", "abc", false],
    ["[ab]", "a", false],
    ["a+", "aa", false],
    ["(a|b)", "a", false],
    ["a$", "a", false],
    // A name can't smuggle in a star of its own.
    ["get_a", "get_*", false],
    ["?", "\u{1F600}", true],
    ["a*", "a\nb", true],
  ])("%j matches %j: %s", (glob, name, matches) => {
    expect(globMatches(glob, name)).toBe(matches)
  })

  test("matches what the regular expression of the same meaning does", () => {
    const letters = fc.array(fc.constantFrom("a", "b", "*", "?"), { maxLength: 8 }).map((all) => all.join(""))
    const name = fc.array(fc.constantFrom("a", "b"), { maxLength: 8 }).map((all) => all.join(""))
    fc.assert(
      fc.property(letters, name, (glob, text) => {
        const regular = new RegExp(`^${glob.replaceAll("*", ".*").replaceAll("?", ".")}$`)
        expect(globMatches(glob, text)).toBe(regular.test(text))
      }),
    )
  })

  test("of many stars takes no time on a long name that just fails", () => {
    const began = performance.now()
    expect(globMatches("a*".repeat(2000), `${"a".repeat(20_000)}b`)).toBe(true)
    expect(globMatches(`${"a*".repeat(2000)}c`, `${"a".repeat(20_000)}b`)).toBe(false)
    expect(performance.now() - began).toBeLessThan(1000)
  })
})

describe("two globs", () => {
  test.each([
    ["deploy", "deploy", true],
    ["deploy", "deploy_all", false],
    ["deploy*", "*_prod", true],
    ["get_*", "set_*", false],
    ["?", "*", true],
    ["*", "", true],
    ["a?", "?b", true],
    ["a*c", "ab", false],
  ])("%j and %j have a name in common: %s", (a, b, meet) => {
    expect(globsMeet(a, b)).toBe(meet)
    expect(globsMeet(b, a)).toBe(meet)
  })

  test("meet whenever one name matches both", () => {
    const glob = fc.array(fc.constantFrom("a", "b", "*", "?"), { maxLength: 6 }).map((all) => all.join(""))
    const name = fc.array(fc.constantFrom("a", "b"), { maxLength: 6 }).map((all) => all.join(""))
    fc.assert(
      fc.property(glob, glob, name, (a, b, text) => {
        if (globMatches(a, text) && globMatches(b, text)) expect(globsMeet(a, b)).toBe(true)
      }),
    )
  })
})

describe("a rule with when", () => {
  const rules: ApprovalRule[] = [
    { tool: "deploy", when: { env: "prod", "target.region": ["eu", "us-*"] }, do: "deny" },
    { tool: "deploy", when: { env: ["staging", "dev"] }, do: "allow" },
    { tool: "deploy", do: "ask" },
  ]
  const on = (args: unknown, schema?: unknown): string => decideOn(rules, "deploy", args, schema).do
  test.each<[string, unknown, string]>([
    ["holds where every path has its value", { env: "prod", target: { region: "eu" } }, "deny"],
    ["holds for one of a list, by wildcard", { env: "prod", target: { region: "us-west" } }, "deny"],
    ["does not hold for another value", { env: "prod", target: { region: "ap" } }, "ask"],
    ["does not hold for another value at the first path", { env: "dev", target: { region: "eu" } }, "allow"],
    ["holds beside what comes behind it when a value is missing", { env: "prod" }, "deny"],
    ["… or is a list", { env: "prod", target: { region: ["eu"] } }, "deny"],
    ["… or an object", { env: "prod", target: { region: { is: "eu" } } }, "deny"],
    ["… or null", { env: null, target: { region: "eu" } }, "deny"],
    ["… or of another case", { env: "PROD", target: { region: "eu" } }, "deny"],
    ["… or with blanks around it", { env: " prod ", target: { region: "eu" } }, "deny"],
    ["… or in full-width letters", { env: "\uff50rod", target: { region: "eu" } }, "deny"],
    ["… or with a character that can't be seen", { env: "pr\u200bod", target: { region: "eu" } }, "deny"],
    [
      "… or when the path can be read in two ways",
      { env: "prod", "target.region": "x", target: { region: "ap" } },
      "deny",
    ],
    ["… also further down", { env: "prod", target: { region: "ap" }, "target.region": null }, "deny"],
    ["… or when only a key with a dot in it says it", { env: "prod", "target.region": "ap" }, "deny"],
    ["… or when there are no args at all", undefined, "deny"],
    ["… also by what an object inherits", { env: "prod", target: Object.create({ region: "ap" }) as object }, "deny"],
  ])("%s", (_, args, outcome) => {
    expect(on(args)).toBe(outcome)
  })

  test("an odd value opens no laxer rule, and an odd laxer rule opens nothing", () => {
    const lax: ApprovalRule[] = [{ tool: "*", when: { dry: true }, do: "allow" }]
    expect(decideOn(lax, "x", { dry: true }).do).toBe("allow")
    expect(decideOn(lax, "x", { dry: "true" }).do).toBe("ask")
    expect(decideOn(lax, "x", {}).do).toBe("ask")
    expect(decideOn(lax, "x", { dry: false }).do).toBe("ask")
  })

  test("an odd value opens no laxer rule, whatever rules of other tools stand behind it", () => {
    const others: ApprovalRule[] = [{ tool: "restart", do: "ask" }, { tool: "get_*", do: "allow" }] // prettier-ignore
    const lax: ApprovalRule[] = [{ tool: "deploy", when: { env: "dev" }, do: "allow" }, ...others]
    expect(decideOn(lax, "deploy", { env: "dev" }).do).toBe("allow")
    for (const args of [{}, { env: ["dev", "prod"] }, { env: "DEV" }, { env: null }]) {
      expect(decideOn(lax, "deploy", args)).toMatchObject({ do: "ask", rule: RULE })
    }
    const before: ApprovalRule[] = [{ tool: "deploy", when: { env: "dev" }, do: "ask", approvers: ["U1"] }, ...others]
    expect(decideOn(before, "deploy")).toMatchObject({ rule: { approvers: ["U1"], also: [RULE.approvers] } })
    const last: ApprovalRule[] = [...lax, { tool: "*", when: { env: "prod" }, do: "deny" }]
    expect(decideOn(last, "deploy", { env: "DEV" }).do).toBe("ask")
  })

  test("two spellings that the tool's own enum tells apart are two values", () => {
    const schema = { properties: { env: { enum: ["prod", "PROD", "dev"] } } }
    const rules: ApprovalRule[] = [
      { tool: "*", when: { env: "prod" }, do: "deny" },
      { tool: "*", when: { env: "PROD" }, do: "allow" },
    ]
    expect(decideOn(rules, "x", { env: "PROD" }, schema).do).toBe("allow")
    expect(decideOn(rules, "x", { env: "PROD" }).do).toBe("deny")
  })

  test("a spelling of the rule's that the tool's enum doesn't have is odd", () => {
    const schema = { properties: { env: { enum: ["prod", "dev"] }, mode: { enum: [true, "auto"] } } }
    const rules: ApprovalRule[] = [
      { tool: "*", when: { env: "PROD", mode: "auto" }, do: "deny" },
      { tool: "*", when: { mode: true }, do: "allow" },
    ]
    expect(decideOn(rules, "x", { env: "prod", mode: "auto" }, schema).do).toBe("deny")
    expect(decideOn(rules, "x", { env: "dev", mode: "auto" }, schema).do).toBe("ask")
    expect(decideOn(rules, "x", { env: "prod", mode: true }, schema).do).toBe("allow")
  })

  test("a path that leads through a key with dots as well can be read in two ways", () => {
    const rules: ApprovalRule[] = [{ tool: "*", when: { "a.b.c": "x" }, do: "deny" }]
    expect(decideOn(rules, "x", { a: { b: { c: "y" } } }).do).toBe("ask")
    expect(decideOn(rules, "x", { a: { b: { c: "y" } }, "a.b": { c: "x" } }).do).toBe("deny")
    expect(decideOn(rules, "x", { a: { b: { c: "y" }, "b.c": "x" } }).do).toBe("deny")
  })

  test("numbers and booleans are themselves, and odd as texts", () => {
    const rules: ApprovalRule[] = [{ tool: "*", when: { n: [3, true] }, do: "deny" }]
    expect(["3", 3, true, "true", 4, "4"].map((n) => decideOn(rules, "x", { n }).do)).toEqual([
      "deny",
      "deny",
      "deny",
      "deny",
      "ask",
      "ask",
    ])
  })

  test("a number in another spelling is odd, and so is what is no yes or no where one is meant", () => {
    const rules: ApprovalRule[] = [
      { tool: "*", when: { version: 1.1 }, do: "deny" },
      { tool: "*", when: { count: "5" }, do: "deny" },
      { tool: "*", when: { force: true }, do: "deny" },
    ]
    const plain = { version: 2, count: "6", force: false }
    expect(decideOn(rules, "x", plain).do).toBe("ask")
    for (const odd of [{ version: "1.10" }, { version: "11e-1" }, { count: 5 }, { count: "5.0" }, { force: "yes" }, { force: 1 }]) {
      expect(decideOn(rules, "x", { ...plain, ...odd }).do).toBe("deny")
    } // prettier-ignore
  })

  test("of two questions that hold at once both are asked", () => {
    const rules: ApprovalRule[] = [
      { tool: "x", when: { env: "prod" }, do: "ask", approvers: ["S0SRE"], quorum: 2, expiresIn: 60_000 },
      { tool: "x", do: "ask", approvers: ["U0ADA"], reason: { approve: "required" } },
    ]
    expect(decideOn(rules, "x", {})).toMatchObject({
      do: "ask",
      rule: { approvers: ["S0SRE"], also: [["U0ADA"]], quorum: 2, expiresIn: 60_000, reason: { approve: "required" } },
    })
  })
})

describe("two rules together", () => {
  const people = ["U1", "U2", "U3"]
  const rule = fc.record(
    {
      approvers: fc.subarray(people),
      selfApproval: fc.constantFrom<Rule["selfApproval"]>(true, false, "confirm"),
      expiresIn: fc.integer({ min: 1, max: 9 }),
      startWithin: fc.integer({ min: 1, max: 9 }),
      quorum: fc.integer({ min: 1, max: 3 }),
      also: fc.array(fc.subarray(people), { maxLength: 2 }),
      escalate: fc.record({ after: fc.constantFrom(1, 2), to: fc.constantFrom<string[][]>(["U1"], ["U1", "U2"]) }),
    },
    { requiredKeys: ["approvers", "selfApproval", "expiresIn", "startWithin"] },
  )
  const who = (user: string): Who => ({ person: { team: "T1", user }, standing: "member", member: {} })

  test("let nobody approve whom one of them does not", () => {
    fc.assert(
      fc.property(rule, rule, fc.constantFrom(...people), fc.constantFrom(...people), (a, b, requester, approver) => {
        const right = mayDecide(together(a, b), wishOnly({ team: "T1", user: requester }), who(approver), true)
        const both = [a, b].every(
          (one) => mayDecide(one, wishOnly({ team: "T1", user: requester }), who(approver), true).ok,
        )
        if (right.ok) expect(both).toBe(true)
        const later = [together(a, b), a, b].map(
          (one) => mayDecide(escalatedRule(one), wishOnly({ team: "T1", user: requester }), who(approver), true).ok,
        )
        if (later[0]) expect(later).toEqual([true, true, true])
        expect(together(a, b).quorum ?? 1).toBe(Math.max(a.quorum ?? 1, b.quorum ?? 1))
        expect(together(a, b).expiresIn).toBe(Math.min(a.expiresIn, b.expiresIn))
      }),
      { numRuns: 1000 },
    )
  })

  test("are both kept where one names somebody twice", () => {
    const [twice, others]: Rule[] = [
      { ...RULE, approvers: ["U1", "U1"] },
      { ...RULE, approvers: ["U1", "U2"] },
    ]
    for (const [a, b] of [[twice, others], [others, twice]]) {
      expect(a && b && mayDecide(together(a, b), wishOnly({ team: "T1", user: "U9" }), who("U2"), true).ok).toBe(false)
    } // prettier-ignore
  })

  test("bring somebody in when both do", () => {
    const after = (ms: number): Rule => ({ ...RULE, escalate: { after: ms, to: ["S0LEADS"] } })
    for (const both of [together(after(1), after(9)), together(after(9), after(1))]) {
      expect(both.escalate).toEqual({ after: 9, to: ["S0LEADS"] })
    }
    expect(together(after(1), RULE).escalate).toBeUndefined()
  })

  test("say no more than one of them that is both", () => {
    fc.assert(
      fc.property(rule, (one) => {
        expect(together(one, one)).toMatchObject({ approvers: one.approvers, selfApproval: one.selfApproval })
        expect((together(one, one).also ?? []).every((list) => (one.also ?? []).includes(list))).toBe(true)
      }),
    )
  })
})
