import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import type { WireTurn } from "../fakes/provider.ts"
import { startRedis, type TestRedis } from "../redis.ts"
import { isLive, reads, wordsOf } from "./seen.ts"
import { APP1, APP2, OPS, REQ, Team, until, type Message } from "./team.ts"

// Each waits for what it says, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const RESTART: WireTurn = { calls: [{ id: "c1", name: "restart", args: { service: "web" } }] }
const QUESTION: WireTurn = { calls: [{ id: "c1", name: "confirm", args: { kind: "question", prompt: "Where?" } }] }
const DONE: WireTurn = { text: "Fine." }

let redis: TestRedis
let team: Team
beforeAll(async () => {
  redis = await startRedis()
  const names = ["short", "press", "form", "long", "slack", "groups", "all of slack"]
  const scripts = Object.fromEntries(names.map((name) => [name, [name === "form" ? QUESTION : RESTART, DONE]]))
  team = await Team.start({ scripts: { ...scripts, "never stored": [DONE] }, redisUrl: redis.url })
  await team.bot()
})
afterEach(() => {
  redis.resume()
  team.slack.workspace.behave()
})
afterAll(async () => {
  await team.close()
  await redis.stop()
})

const asked = async (prompt: string, action = "approve"): Promise<Message> =>
  team.cardOf(await team.begin(prompt), action)

type Seen = Awaited<ReturnType<Team["command"]>>

/** Slack had its ack in time, and what it said to the person. */
function inTime(seen: Seen): string {
  expect(seen).toMatchObject({ acked: true })
  expect(seen.ackMs).toBeLessThan(3000)
  return seen.response === undefined ? "" : JSON.stringify(seen.response)
}

/** How often somebody was told something like it. */
const heard = (user: string, words: RegExp): number => team.told(user).filter((text) => words.test(text)).length
const CLAIMS = /^(?:Started|Recorded|Cancelled)/

describe("while Redis does not answer", () => {
  test("a command gets a word that claims nothing, and the truth when it is stored", async () => {
    redis.pause()
    const before = heard(REQ, CLAIMS)
    const said = inTime(await team.command("short"))
    expect(said).toContain("Received. I'll tell you here when it is recorded.")
    expect(said).not.toContain("Started")
    expect(heard(REQ, CLAIMS)).toBe(before)
    redis.resume()
    await team.hears(REQ, /^Started/)
    const runs = (await team.runs()).filter(({ title }) => title === "short")
    expect(runs).toHaveLength(1)
    await team.cardOf(runs[0] ?? (await team.runOf("short")))
  })

  test("a press gets its ack, no claim, and its effect when it is stored", async () => {
    const card = await asked("press")
    redis.pause()
    inTime(await team.click(APP1, card, "approve"))
    expect(heard(APP1, CLAIMS)).toBe(0)
    expect(isLive(team.now(card))).toBe(true)
    expect(team.executions()).toEqual([])
    redis.resume()
    expect((await team.endOf("press")).ended?.how).toBe("done")
    await until(
      () => !isLive(team.now(card)),
      () => wordsOf(team.now(card)),
    )
  })

  test("a form says that it was received, and later what came of it", async () => {
    const { workspace } = team.slack
    const card = await asked("form", "answer")
    await team.click(REQ, card, "answer")
    await until(
      () => JSON.stringify(workspace.views(REQ)).includes("Send answer"),
      () => "the form",
    )
    const [view] = workspace.views(REQ)
    const before = heard(REQ, CLAIMS)
    redis.pause()
    inTime(await workspace.submit(REQ, view?.id ?? "", { words: { words: "in eu-west" } }))
    expect(JSON.stringify(workspace.views(REQ))).toContain("Received.")
    expect(heard(REQ, CLAIMS)).toBe(before)
    redis.resume()
    await team.hears(REQ, "Recorded: answered, confirm.")
    expect((await team.endOf("form")).ended?.how).toBe("done")
    expect(team.executions("confirm").at(-1)?.answer).toMatchObject({ data: { output: "in eu-west" } })
  })

  test("for longer than anybody waits, nobody is told that it was recorded, and nothing is recorded afterwards", async () => {
    const card = await asked("long")
    const before = team.told(REQ).length
    redis.pause()
    inTime(await team.command("never stored"))
    inTime(await team.click(APP1, card, "decline"))
    const unsure = /^Not (?:recorded|known)/
    await until(
      () =>
        team
          .told(REQ)
          .slice(before)
          .some((text) => unsure.test(text)) && heard(APP1, unsure) > 0,
      () => `the truth: ${JSON.stringify([team.told(REQ).slice(before), team.told(APP1)])}`,
      40_000,
    )
    redis.resume()
    // What was under way to Redis arrives now, too late; a later command shows that it has been dealt with.
    await until(
      async () => (await team.store.load((await team.runOf("long")).id)) !== undefined,
      () => "Redis to answer again",
    )
    await team.click(APP2, card, "approve")
    expect((await team.endOf("long")).ended?.how).toBe("done")
    expect(team.executions("restart").length).toBeGreaterThan(0)
    expect((await team.runs()).map(({ title }) => title)).not.toContain("never stored")
    expect(
      team
        .told(REQ)
        .slice(before)
        .filter((text) => text.startsWith("Started")),
    ).toEqual([])
    expect(heard(APP1, /^Recorded: declined/)).toBe(0)
  }, 90_000)
})

describe("while Slack does not answer", () => {
  test("a command is acked, and refused in words when nobody can be looked up", async () => {
    // Nobody is remembered from before: whoever asks is looked up anew.
    const { people, channels } = team.slack.workspace
    const robin = people.get(REQ)
    if (!robin) throw new Error("no Robin")
    people.set("U0NEW", { ...robin, id: "U0NEW", name: "nina" })
    channels.get(OPS)?.members.push("U0NEW")
    const hang = team.slack.workspace.misbehave({ do: "hang", method: "users.info" })
    const said = inTime(await team.command("slack", "U0NEW"))
    expect(said).toContain("Received.")
    await team.hears("U0NEW", /^Not started\. I can't check your rights now/)
    expect(hang.hits).toBeGreaterThan(0)
    expect(await team.runs("U0NEW")).toEqual([])
  })

  test("a press is acked and recorded, the call runs, and Slack shows it when it can", async () => {
    const card = await asked("all of slack")
    // The rights of this person were looked up a moment ago.
    await team.click(APP1, card, "reveal")
    const { workspace } = team.slack
    const hung = ["chat.update", "chat.postMessage", "chat.postEphemeral", "response_url"].map((method) =>
      workspace.misbehave({ do: "hang", method }),
    )
    const before = team.executions("restart").length
    inTime(await team.click(APP1, card, "approve"))
    const run = await team.endOf("all of slack")
    expect(run.ended?.how).toBe("done")
    expect(team.executions("restart")).toHaveLength(before + 1)
    expect(isLive(team.now(card))).toBe(true)
    for (const rule of hung) rule.remove()
    await until(
      () => !isLive(team.now(card)),
      () => wordsOf(team.now(card)),
      40_000,
    )
    await reads(team, /Approved by ada/)
  }, 90_000)

  test("a press whose rights can't be looked up is acked, and told that it does not count", async () => {
    const card = await asked("groups")
    team.slack.workspace.misbehave({ do: "hang", method: "usergroups.users.list" })
    team.slack.workspace.misbehave({ do: "hang", method: "users.info" })
    const { people, channels, groups } = team.slack.workspace
    const ada = people.get(APP1)
    if (!ada) throw new Error("no Ada")
    people.set("U0FRESH", { ...ada, id: "U0FRESH", name: "fay" })
    channels.get(OPS)?.members.push("U0FRESH")
    groups.get("S0SRE")?.users.push("U0FRESH")
    inTime(await team.click("U0FRESH", card, "approve"))
    await team.hears("U0FRESH", "I can't check your rights now, and without that nobody may decide this.")
    expect((await team.runOf("groups")).asks[0]?.settled).toBeUndefined()
    team.slack.workspace.behave()
    await team.click("U0FRESH", card, "approve")
    expect((await team.endOf("groups")).ended?.how).toBe("done")
  })
})
