import { describe, expect, test } from "vitest"
import type { Person } from "../../src/core/fact.ts"
import { listed, mayCancel, mayDecide, maySee, mayStart, wishOnly, type Rule, type Who } from "../../src/core/policy.ts"

const OPS = "C0OPS"
const SRE = "S0SRE"
const PRIVATE = "C0PRIV"
const ROBIN: Person = { team: "T1", user: "U0ROBIN" }
const ADA: Person = { team: "T1", user: "U0ADA" }

const who = (person: Person, change: Partial<Who> = {}): Who => ({ person, standing: "member", member: {}, ...change })
const RULE: Rule = { approvers: ["U0ADA", SRE], selfApproval: false, expiresIn: 3_600_000, startWithin: 900_000 }

/** "yes", or why not. */
const words = (right: { ok: true } | { ok: false; why: string }): string => (right.ok ? "yes" : right.why)

const STANDINGS = [
  ["guest", "guest"],
  ["deactivated", "deactivated"],
  ["bot", "bot"],
  ["foreign", "foreign"],
  ["unknown", "cannot check"],
] as const

describe("who is listed", () => {
  test.each<[string, string[], Who, string]>([
    ["nobody, by an empty list", [], who(ADA), "nobody listed"],
    ["a user, by id", ["U0ADA"], who(ADA), "yes"],
    ["not a user of a like id", ["U0ADAM"], who(ADA), "not listed"],
    ["a member of a group", [SRE], who(ADA, { member: { [SRE]: "yes" } }), "yes"],
    ["nobody who is not in it", [SRE], who(ADA, { member: { [SRE]: "no" } }), "not listed"],
    ["nobody while the group can't be looked up", [SRE], who(ADA, { member: { [SRE]: "unknown" } }), "cannot check"],
    ["nobody while it was not looked up", [SRE], who(ADA), "cannot check"],
    [
      "a member of one group while another can't be looked up",
      ["S0X", SRE],
      who(ADA, { member: { S0X: "unknown", [SRE]: "yes" } }),
      "yes",
    ],
    ["a member of a channel", [PRIVATE], who(ADA, { member: { [PRIVATE]: "yes" } }), "yes"],
    [
      "nobody by a membership that the list doesn't name",
      [SRE],
      who(ADA, { member: { S0X: "yes", [SRE]: "no" } }),
      "not listed",
    ],
    // A user's id is never a group: whatever was "looked up" under it opens nothing.
    ["nobody by a membership of a user", ["U0ROBIN"], who(ADA, { member: { U0ROBIN: "yes" } }), "not listed"],
    ["a user of an organisation, by id", ["W0ADA"], who({ team: "T1", user: "W0ADA" }), "yes"],
  ])("%s", (_, principals, person, said) => {
    expect(words(listed(principals, person))).toBe(said)
  })
})

describe("who may start", () => {
  const doors = { starters: ["U0ROBIN", SRE], channels: [OPS] }
  test.each<[string, typeof doors, Who, string, string]>([
    ["a starter, in a listed channel", doors, who(ROBIN), OPS, "yes"],
    ["a starter, not elsewhere", doors, who(ROBIN), "C0ELSE", "wrong channel"],
    ["a member of a listed group", doors, who(ADA, { member: { [SRE]: "yes" } }), OPS, "yes"],
    ["nobody else", doors, who(ADA, { member: { [SRE]: "no" } }), OPS, "not listed"],
    ["nobody whose group can't be looked up", doors, who(ADA), OPS, "cannot check"],
    ["nobody while no starters are listed", { ...doors, starters: [] }, who(ROBIN), OPS, "nobody listed"],
    ["nobody while no channels are listed", { ...doors, channels: [] }, who(ROBIN), OPS, "nobody listed"],
  ])("%s", (_, given, person, channel, said) => {
    expect(words(mayStart(given, person, channel))).toBe(said)
  })

  test.each(STANDINGS)("no %s, though listed", (standing, said) => {
    expect(words(mayStart(doors, who(ROBIN, { standing }), OPS))).toBe(said)
  })
})

describe("who may decide", () => {
  const other = who(ADA)
  const self = who(ROBIN)
  const inGroup = who(ROBIN, { member: { [SRE]: "yes" } })
  const open = { ...RULE, selfApproval: true }
  const confirm: Rule = { ...RULE, selfApproval: "confirm" }
  test.each<[string, Rule, Who, { yes: string; no: string }]>([
    ["a listed person", RULE, other, { yes: "yes", no: "yes" }],
    ["no unlisted one", { ...RULE, approvers: ["U0X"] }, other, { yes: "not listed", no: "not listed" }],
    ["nobody of an empty list", { ...RULE, approvers: [] }, other, { yes: "nobody listed", no: "nobody listed" }],
    [
      "nobody whose group can't be looked up",
      { ...RULE, approvers: [SRE] },
      other,
      { yes: "cannot check", no: "cannot check" },
    ],
    ["the requester, only to decline, though listed", RULE, inGroup, { yes: "own request", no: "yes" }],
    [
      "the requester to decline, also unlisted",
      { ...RULE, approvers: ["U0ADA"] },
      self,
      { yes: "own request", no: "yes" },
    ],
    [
      "the requester to decline, also while nobody can be looked up",
      { ...RULE, approvers: [SRE] },
      self,
      { yes: "own request", no: "yes" },
    ],
    [
      "the requester to decline, also of an empty list",
      { ...RULE, approvers: [] },
      self,
      { yes: "own request", no: "yes" },
    ],
    ["the requester who is listed, with selfApproval", open, inGroup, { yes: "yes", no: "yes" }],
    [
      "no unlisted requester, with selfApproval",
      { ...open, approvers: ["U0ADA"] },
      self,
      { yes: "not listed", no: "yes" },
    ],
    ["the requester alone, with confirm", confirm, self, { yes: "yes", no: "yes" }],
    ["no listed person, with confirm", confirm, other, { yes: "requester only", no: "requester only" }],
    // The same user id in another team is another person: to them it is not their own request, and no self-approval either.
    [
      "confirm: nobody of the requester's id in another team",
      confirm,
      who({ team: "T2", user: "U0ROBIN" }),
      { yes: "requester only", no: "requester only" },
    ],
  ])("%s", (_, rule, person, said) => {
    const decided = (approve: boolean) => words(mayDecide(rule, wishOnly(ROBIN), person, approve))
    expect({ yes: decided(true), no: decided(false) }).toEqual(said)
  })

  test.each(STANDINGS)("no %s, neither listed nor for their own request", (standing, said) => {
    expect(words(mayDecide(RULE, wishOnly(ROBIN), who(ADA, { standing }), true))).toBe(said)
    expect(words(mayDecide(RULE, wishOnly(ROBIN), who(ADA, { standing }), false))).toBe(said)
    expect(words(mayDecide(confirm, wishOnly(ROBIN), who(ROBIN, { standing }), true))).toBe(said)
  })
})

describe("who may cancel, and who may see", () => {
  const people = ["U0ADA", SRE]
  const outsider: Person = { team: "T1", user: "U0OUT" }
  const notIn = { [SRE]: "no", [OPS]: "no" } as const
  test.each<[string, Who, { cancel: string; see: boolean }]>([
    ["the requester", who(ROBIN, { member: notIn }), { cancel: "yes", see: true }],
    ["a listed person", who(ADA, { member: notIn }), { cancel: "yes", see: true }],
    ["a member of a listed group", who(outsider, { member: { ...notIn, [SRE]: "yes" } }), { cancel: "yes", see: true }],
    [
      "a member of the channel",
      who(outsider, { member: { ...notIn, [OPS]: "yes" } }),
      { cancel: "not listed", see: true },
    ],
    ["nobody else", who(outsider, { member: notIn }), { cancel: "not listed", see: false }],
    ["nobody who can't be looked up", who(outsider), { cancel: "cannot check", see: false }],
    [
      "a namesake in another team",
      who({ team: "T2", user: "U0ROBIN" }, { member: notIn }),
      { cancel: "not listed", see: false },
    ],
  ])("%s", (_, person, said) => {
    expect(words(mayCancel(people, wishOnly(ROBIN), person))).toBe(said.cancel)
    expect(maySee(people, wishOnly(ROBIN), OPS, person)).toBe(said.see)
  })

  test.each(STANDINGS)("no %s, not even of their own run", (standing, said) => {
    expect(words(mayCancel(people, wishOnly(ROBIN), who(ROBIN, { standing })))).toBe(said)
    expect(maySee(people, wishOnly(ROBIN), OPS, who(ROBIN, { standing }))).toBe(false)
  })

  test("an admin list that is empty lets the requester alone cancel", () => {
    expect(words(mayCancel([], wishOnly(ROBIN), who(ROBIN)))).toBe("yes")
    expect(words(mayCancel([], wishOnly(ROBIN), who(ADA)))).toBe("nobody listed")
  })
})
