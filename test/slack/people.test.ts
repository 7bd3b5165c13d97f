import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { mayDecide, mayStart, wishOnly, type Rule } from "../../src/core/policy.ts"
import { ADA, AUDIT, BOT, GRACE, OPS, OSCAR, ROBIN, SRE } from "../../src/sandbox/seed.ts"
import { startSlack, type SandboxSlack } from "../../src/sandbox/slack.ts"
import { identify, slackClient } from "../../src/slack/client.ts"
import { People } from "../../src/slack/people.ts"

let slack: SandboxSlack
/** The bot's clock, turned by hand. */
let now = 0
let people: People

const person = (user: string, team = "T1") => ({ team, user })
const lookups = (method: string) => slack.workspace.calls.filter((call) => call.method === method).length
const quiet = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => "error" as never,
  setName() {},
}

beforeEach(async () => {
  slack = await startSlack()
  now = 1000
  const client = slackClient({ token: slack.botToken, apiUrl: slack.apiUrl, logger: quiet, timeout: 500 })
  people = new People(client, await identify(client), { now: () => now })
})
afterEach(() => slack.close())

describe("standing", () => {
  test("a member of the workspace has a name and the directory's team", async () => {
    expect(await people.who(person(ADA), [])).toEqual({
      person: { team: "T1", user: ADA, name: "ada" },
      standing: "member",
      member: {},
    })
  })

  test.each([
    ["deactivated", { deleted: true }],
    ["guest", { is_restricted: true }],
    ["guest", { is_restricted: true, is_ultra_restricted: true }],
    ["foreign", { is_stranger: true }],
    ["foreign", { team_id: "T2" }],
    // In no shared channel with the bot or not, false does not mean ours.
    ["foreign", { team_id: "T2", is_stranger: false }],
    ["foreign", { team_id: "T2", enterprise_id: "E2" }],
    ["deactivated", { team_id: "T2", deleted: true }],
    ["bot", { is_bot: true }],
  ] as const)("%s when Slack says %o", async (standing, change) => {
    slack.workspace.alterPerson(ADA, change)
    const team = "team_id" in change ? change.team_id : "T1"
    const who = await people.who(person(ADA, team), [ADA])
    expect(who.standing).toBe(standing)
    expect(mayStart({ starters: [ADA], channels: [OPS] }, who, OPS)).toEqual({ ok: false, why: standing })
  })

  test("the bot itself is a bot", async () => {
    expect((await people.who(person(BOT), [])).standing).toBe("bot")
  })

  test("an interaction that names another team than the directory is foreign", async () => {
    expect((await people.who(person(ADA, "T2"), [])).standing).toBe("foreign")
  })

  test.each([
    ["an error", { do: "error", error: "internal_error" }],
    ["a refusal", { do: "error", error: "missing_scope" }],
    ["a status 500", { do: "status" }],
    ["a 429", { do: "429" }],
    ["silence", { do: "hang" }],
    ["a person Slack doesn't know", { do: "error", error: "user_not_found" }],
  ] as const)("is unknown after %s, and then nothing is allowed", async (_, rule) => {
    slack.workspace.misbehave({ ...rule, method: "users.info" })
    const who = await people.who(person(ADA), [])
    expect(who).toEqual({ person: person(ADA), standing: "unknown", member: {} })
    expect(mayStart({ starters: [ADA], channels: [OPS] }, who, OPS)).toEqual({ ok: false, why: "cannot check" })
  })
})

describe("one organisation", () => {
  const client = () => slackClient({ token: slack.botToken, apiUrl: slack.apiUrl, logger: quiet })

  test("a colleague from another workspace of it is a member, by whichever team they come", async () => {
    slack.workspace.alterPerson(ADA, { team_id: "T2", enterprise_id: "E1" })
    for (const team of ["T2", "E1", "T1"]) {
      const house = new People(client(), { team: "T1", enterprise: "E1" })
      const who = await house.who(person(ADA, team), [])
      expect(who.standing).toBe("member")
      // One person, one identity: an own request stays one, whatever team a payload names.
      expect(who.person).toMatchObject({ team: "T2", user: ADA })
    }
  })

  test("another organisation's people are foreign", async () => {
    slack.workspace.alterPerson(ADA, { team_id: "T2", enterprise_id: "E2" })
    const house = new People(client(), { team: "T1", enterprise: "E1" })
    expect((await house.who(person(ADA, "T2"), [])).standing).toBe("foreign")
    expect((await house.who(person(ADA, "E1"), [])).standing).toBe("foreign")
  })
})

describe("membership", () => {
  const rule: Rule = { approvers: [SRE], selfApproval: false, expiresIn: 1, startWithin: 1 }

  test("of groups and channels alone is looked up; ids of people are not", async () => {
    const who = await people.who(person(ADA), [ADA, SRE, "U0NOBODY"])
    expect(who.member).toEqual({ [SRE]: "yes" })
    expect((await people.who(person(OSCAR), [SRE])).member).toEqual({ [SRE]: "no" })
    expect(lookups("usergroups.users.list")).toBe(1)
  })

  test("a name that looks like an id is none", async () => {
    slack.workspace.alterPerson(OSCAR, { name: ADA, real_name: ADA })
    const who = await people.who(person(OSCAR), [SRE])
    expect(mayDecide({ ...rule, approvers: [ADA, SRE] }, wishOnly(person(ROBIN)), who, true)).toEqual({
      ok: false,
      why: "not listed",
    })
  })

  test.each([
    ["missing_scope", { do: "error", error: "missing_scope" }],
    ["a paid plan needed", { do: "error", error: "plan_upgrade_required" }],
    ["no such group", { do: "error", error: "no_such_subteam" }],
    ["ratelimited with 200", { do: "error", error: "ratelimited" }],
    ["500", { do: "status" }],
    ["429", { do: "429", retryAfter: 5 }],
    ["silence", { do: "hang" }],
  ] as const)("%s: nobody is in the group, and nobody is told no for sure", async (_, misbehaviour) => {
    slack.workspace.misbehave({ ...misbehaviour, method: "usergroups.users.list" })
    const who = await people.who(person(ADA), [SRE])
    expect(who.member).toEqual({ [SRE]: "unknown" })
    expect(mayDecide(rule, wishOnly(person(ROBIN)), who, true)).toEqual({ ok: false, why: "cannot check" })
    expect(mayDecide(rule, wishOnly(person(ROBIN)), who, false)).toEqual({ ok: false, why: "cannot check" })
  })

  test("an empty group has nobody in it", async () => {
    slack.workspace.alterGroup(SRE, { users: [] })
    const who = await people.who(person(ADA), [SRE])
    expect(mayDecide(rule, wishOnly(person(ROBIN)), who, true)).toEqual({ ok: false, why: "not listed" })
  })

  test("a private, unshared channel counts; one that anybody may enter, or that is shared, does not", async () => {
    expect((await people.who(person(ADA), [AUDIT, OPS])).member).toEqual({ [AUDIT]: "yes", [OPS]: "no" })
    expect((await people.who(person(OSCAR), [AUDIT])).member).toEqual({ [AUDIT]: "no" })
    now += 61_000
    slack.workspace.alterChannel(AUDIT, { is_ext_shared: true })
    expect((await people.who(person(ADA), [AUDIT])).member).toEqual({ [AUDIT]: "no" })
  })

  test.each(["conversations.info", "conversations.members"])("when %s fails, channels are unknown", async (method) => {
    slack.workspace.misbehave({ do: "error", error: "internal_error", method })
    expect((await people.who(person(ADA), [AUDIT])).member).toEqual({ [AUDIT]: "unknown" })
  })

  test("a channel's members may see what goes on in it, and may not decide for that", async () => {
    expect((await people.seer(person(OSCAR), [SRE], OPS)).member).toEqual({ [SRE]: "no", [OPS]: "yes" })
    slack.workspace.leave(OPS, OSCAR)
    now += 61_000
    expect((await people.seer(person(OSCAR), [SRE], OPS)).member).toEqual({ [SRE]: "no", [OPS]: "no" })
    expect((await people.who(person(ROBIN), [OPS])).member).toEqual({ [OPS]: "no" })
  })

  test("a channel of more than a thousand members is read to its end", async () => {
    const crowd = Array.from({ length: 2100 }, (_, n) => `U9${n}`)
    slack.workspace.alterChannel(AUDIT, { members: [BOT, ...crowd, ADA] })
    expect((await people.who(person(ADA), [AUDIT])).member).toEqual({ [AUDIT]: "yes" })
    expect(lookups("conversations.members")).toBe(3)
  })
})

describe("memory", () => {
  test("is a minute and no longer", async () => {
    expect((await people.who(person(ADA), [SRE])).member).toEqual({ [SRE]: "yes" })
    slack.workspace.alterGroup(SRE, { users: [GRACE] })
    now += 60_000
    expect((await people.who(person(ADA), [SRE])).member).toEqual({ [SRE]: "yes" })
    now += 1
    expect((await people.who(person(ADA), [SRE])).member).toEqual({ [SRE]: "no" })
  })

  test("is passed over for somebody who is about to be refused", async () => {
    expect((await people.who(person(OSCAR), [SRE])).member).toEqual({ [SRE]: "no" })
    slack.workspace.alterGroup(SRE, { users: [OSCAR] })
    now += 4000
    expect((await people.who(person(OSCAR), [SRE])).member).toEqual({ [SRE]: "no" })
    expect((await people.who(person(OSCAR), [SRE], { fresh: true })).member).toEqual({ [SRE]: "yes" })
  })

  test("a lookup that fails takes nothing away from one that is still believed, and adds no time to it", async () => {
    await people.who(person(ADA), [SRE])
    slack.workspace.misbehave({ do: "status", method: "usergroups.users.list" })
    now += 50_000
    expect((await people.who(person(ADA), [SRE], { fresh: true })).member).toEqual({ [SRE]: "yes" })
    now += 10_001
    expect((await people.who(person(ADA), [SRE])).member).toEqual({ [SRE]: "unknown" })
  })

  test("fifty who ask at once are one lookup of each kind", async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => people.who(person(OSCAR), [SRE], { fresh: true })))
    expect(new Set(all.map((who) => who.member[SRE]))).toEqual(new Set(["no"]))
    expect([lookups("users.info"), lookups("usergroups.users.list")]).toEqual([1, 1])
  })

  test("a failure is not remembered", async () => {
    const broken = slack.workspace.misbehave({ do: "status", method: "users.info" })
    expect((await people.who(person(ADA), [])).standing).toBe("unknown")
    broken.remove()
    expect((await people.who(person(ADA), [])).standing).toBe("member")
  })

  test("after a 429 the method is left alone for as long as Slack says", async () => {
    slack.workspace.misbehave({ do: "429", retryAfter: 7, times: 1, method: "usergroups.users.list" })
    await people.who(person(ADA), [SRE])
    now += 6999
    expect((await people.who(person(ADA), [SRE])).member).toEqual({ [SRE]: "unknown" })
    expect(lookups("usergroups.users.list")).toBe(1)
    now += 1
    expect((await people.who(person(ADA), [SRE])).member).toEqual({ [SRE]: "yes" })
  })
})
