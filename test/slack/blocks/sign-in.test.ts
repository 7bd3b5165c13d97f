import { describe, expect, test } from "vitest"
import type { Rule } from "../../../src/core/policy.ts"
import { differences } from "../../../src/slack/blocks/difference.ts"
import { grantWords, lasting, ruleLines } from "../../../src/slack/blocks/rule.ts"
import { placeOf, signInView } from "../../../src/slack/blocks/sign-in.ts"
import { checkView } from "../../../src/sandbox/validate.ts"
import { ATTACKS } from "./hostile.ts"

describe("where somebody may be sent to sign in", () => {
  test.each([
    ["https://login.example/device?flow=42", ["login.example"]],
    ["https://LOGIN.example:8443/", ["login.example"]],
    ["https://eu.login.example/", ["*.login.example"]],
    ["http://localhost:3000/x", ["localhost"]],
    ["http://127.0.0.1/x", ["127.0.0.1"]],
  ])("%s is, with %j", (url, hosts) => {
    expect(placeOf(url, hosts)).toMatchObject({ ok: true, href: new URL(url).href })
  })

  test.each([
    ["https://login.example/", [], "not among the hosts"],
    ["https://evil.example/", ["login.example"], "evil.example is not among the hosts"],
    ["https://login.example.evil.test/", ["login.example"], "not among the hosts"],
    ["https://notlogin.example/", ["*.login.example"], "not among the hosts"],
    ["https://login.example/", ["*.login.example"], "not among the hosts"],
    ["https://login.example@evil.test/", ["login.example", "evil.test"], "a name or password in it"],
    ["http://login.example/", ["login.example"], "not encrypted"],
    ["http://localhost.evil.test/", ["localhost.evil.test"], "not encrypted"],
    ["javascript:alert(1)", ["login.example"], "not encrypted"],
    ["slack://user?id=1", [""], "not encrypted"],
    ["https://login.exаmple/", ["login.example"], "xn--exmple-4nf is not among the hosts"],
    ["login.example", ["login.example"], "no address"],
    [`https://login.example/${"x".repeat(3000)}`, ["login.example"], "too long"],
  ])("%s is not, with %j", (url, hosts, why) => {
    const place = placeOf(url, hosts)
    expect(place.ok ? "" : place.why).toContain(why)
  })

  test.each([
    ["https://xn--pple-43d.com/", "written here as a browser sends it"],
    ["https://login.example/%2561", "browsers may show otherwise"],
    ["https://login.example/a\u202eb", "can't be seen"],
  ])("%j is marked", (url, words) => {
    const place = placeOf(url, [new URL(url).hostname])
    expect(place.ok && place.warnings.join("\n")).toContain(words)
  })

  test.each(ATTACKS)("%j in it stays text", (attack) => {
    const place = placeOf(`https://login.example/?x=${encodeURIComponent(attack)}`, ["login.example"])
    if (!place.ok) throw new Error(place.why)
    const view = signInView(attack, place)
    expect(checkView(structuredClone(view))).toMatchObject({ ok: true })
    expect(JSON.stringify(view)).not.toMatch(/"type":"(?:user|usergroup|channel|broadcast|mrkdwn|link)"/)
  })
})

describe("a rule in words", () => {
  const rule: Rule = { approvers: ["U1"], selfApproval: false, expiresIn: 5_400_000, startWithin: 900_000 }

  test.each([
    [1000, "1 second"],
    [90_000, "90 seconds"],
    [5_400_000, "90 minutes"],
    [3_600_000, "1 hour"],
    [172_800_000, "2 days"],
    [1500, "1,500 milliseconds"],
  ])("%d ms last %s", (ms, words) => {
    expect(lasting(ms)).toBe(words)
  })

  test("says no more than it has", () => {
    expect(ruleLines(rule)).toEqual([
      "One approval or decline settles it",
      "Whoever asked for the run can't approve it",
      "Open for 90 minutes; no answer is a no",
      "An approval is good for 15 minutes: what has not started by then is asked again",
    ])
  })

  test("says what a grant covers, with and without paths", () => {
    expect(grantWords({ ...rule, grant: { for: 3_600_000 } })).toContain("with the very same arguments")
    expect(grantWords({ ...rule, grant: { for: 3_600_000, same: ["a.b"] } })).toContain(
      "with the same a.b are not asked",
    )
  })
})

describe("the difference of two versions", () => {
  test("is every place in which they differ, with dots, and what is not there", () => {
    expect(differences('{"a":{"b":1},"c":[1]}', '{"a":{"b":2,"d":null},"c":[1]}', undefined)).toEqual({
      lines: [
        { path: "a.b", before: "1", after: "2" },
        { path: "a.d", before: "(not there)", after: "null" },
      ],
      more: 0,
    })
  })

  test("counts what it has no room for", () => {
    const many = (value: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`k${n}`, value])))
    expect(differences(many(1), many(2), undefined)).toMatchObject({ more: 18 })
  })

  test("masks what the rule masks, whatever it is now", () => {
    const found = differences('{"token":"aaa-first"}', '{"token":"aaa-second"}', ["args.token"])
    expect(found.lines).toHaveLength(1)
    expect(JSON.stringify(found)).not.toMatch(/first|second/)
  })
})
