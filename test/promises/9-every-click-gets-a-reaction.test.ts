import { Redis } from "ioredis"
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import type { WireTurn } from "../fakes/provider.ts"
import { startProxy } from "../fakes/proxy.ts"
import { redisUrl, startRedis } from "../redis.ts"
import { isLive, nodes, wordsOf } from "./seen.ts"
import { APP1, APP2, OPS, OUT, REQ, Team, until, type Message } from "./team.ts"

// Each waits for what it says, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const RESTART: WireTurn = { calls: [{ id: "c1", name: "restart", args: { service: "web" } }] }
const END: WireTurn = { text: "Fine." }
const ASKS = [RESTART, END]

/** The same message, as a client that changed what its buttons carry would send it. */
function forged(card: Message, value: (value: string) => string): Message {
  const blocks = structuredClone(card.blocks ?? [])
  for (const node of nodes(blocks)) if (node["type"] === "button") node["value"] = value(String(node["value"]))
  return { ...card, blocks }
}

describe("on a bot that is well", () => {
  let team: Team
  let serial = 0

  beforeAll(async () => {
    const questions: WireTurn = { calls: [{ id: "c1", name: "confirm", args: { kind: "question", prompt: "Where?" } }] }
    const secret: WireTurn = { calls: [{ id: "c1", name: "restart", args: { password: "correct-horse-9" } }] }
    const page: WireTurn = { calls: [{ id: "c1", name: "page", args: {} }] }
    const asking = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`run ${n + 1}`, ASKS]))
    team = await Team.start({
      config: {
        approvers: ["S0SRE", "U0GUEST", "U0GONE", "U0FAR"],
        admins: [OUT],
        approvals: [
          { tool: "confirm", do: "allow" },
          { tool: "page", do: "ask", expiresIn: "3s" },
        ],
      },
      scripts: { ...asking, question: [questions, END], secret: [secret, END], page: [page, END] },
    })
    const { people, channels } = team.slack.workspace
    const oscar = people.get(OUT)
    const ops = channels.get(OPS)
    if (!oscar || !ops) throw new Error("no Oscar")
    people.set("U0GUEST", { ...oscar, id: "U0GUEST", name: "gus", is_restricted: true })
    people.set("U0GONE", { ...oscar, id: "U0GONE", name: "gone", deleted: true })
    people.set("U0FAR", { ...oscar, id: "U0FAR", name: "far", team_id: "T2" })
    people.set("U0PLAIN", { ...oscar, id: "U0PLAIN", name: "pat" })
    ops.members.push("U0GUEST", "U0GONE", "U0FAR", "U0PLAIN")
    await team.bot()
  })
  afterEach(() => team.slack.workspace.behave())
  afterAll(() => team.close())

  const asked = async (user = REQ): Promise<{ prompt: string; card: Message }> => {
    serial += 1
    const prompt = `run ${serial}`
    const run = await team.begin(prompt, user)
    return { prompt, card: await team.cardOf(run) }
  }
  /** A card that nothing in these tests decides. */
  let standing: Message
  beforeAll(async () => {
    standing = (await asked()).card
  })
  const stands = async (): Promise<void> => {
    expect(team.now(standing).blocks).toEqual(standing.blocks)
    expect((await team.runOf("run 1")).asks[0]?.settled).toBeUndefined()
  }

  /** How often a person was told something like it. */
  const toldOf = (user: string, words: string): number => team.told(user).filter((text) => text.includes(words)).length

  test.each([
    ["not listed", "U0PLAIN", "You are not among those who may decide this."],
    ["a guest", "U0GUEST", "Guests may not decide this."],
    ["deactivated", "U0GONE", "This account is deactivated and may not decide this."],
    ["of another organisation", "U0FAR", "People of other organisations may not decide this."],
  ])("a press of somebody who is %s is refused in words, and changes nothing", async (_, user, words) => {
    for (const action of ["approve", "decline"]) {
      const before = toldOf(user, words)
      expect(await team.click(user, standing, action)).toMatchObject({ acked: true })
      // Whoever is deactivated reads nothing any more: then it is for the record alone.
      if (user === "U0GONE") continue
      await until(
        () => toldOf(user, words) > before,
        () => `${user} to be told: ${JSON.stringify(team.told(user))}`,
      )
    }
    await stands()
  })

  test("a press that repeats a refusal is answered each time", async () => {
    const words = "You are not among those who may decide this."
    const before = toldOf("U0PLAIN", words)
    for (let n = 1; n <= 3; n += 1) {
      await team.click("U0PLAIN", standing, "approve")
      await until(
        () => toldOf("U0PLAIN", words) === before + n,
        () => `answer ${n}`,
      )
    }
  })

  test("an approver's own request needs somebody else's yes, and they are told so; their no counts", async () => {
    const { prompt, card } = await asked(APP1)
    await team.click(APP1, card, "approve")
    await team.hears(APP1, "You asked for this run, so somebody else has to approve it. You may decline it.")
    expect(isLive(team.now(card))).toBe(true)
    await team.click(APP1, card, "decline")
    await team.endOf(prompt, APP1)
    expect(team.executions()).toEqual([])
  })

  test("a second press is told who was first, and when", async () => {
    const { prompt, card } = await asked()
    await team.click(APP1, card, "decline")
    await team.endOf(prompt)
    await team.click(APP2, card, "approve")
    await team.hears(
      APP2,
      /Already settled: declined, restart by ada \(U0APP1\) at \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Your press changed nothing\./,
    )
    expect(team.executions()).toEqual([])
  })

  test("a press after the deadline is told that it is too late, and what became of it", async () => {
    const card = await team.cardOf(await team.begin("page"))
    await team.endOf("page")
    await team.click(APP1, card, "approve")
    await team.hears(
      APP1,
      /Too late: page expired at \d{4}-\d\d-\d\d \d\d:\d\d UTC and counts as declined\. If it is still needed, start a new run\./,
    )
    expect(team.executions("page")).toEqual([])
  })

  test("a press on another version than the one that stands is refused", async () => {
    const newer = forged(standing, (value) => value.replace(":1:", ":2:"))
    await team.click(APP2, newer, "approve")
    await team.hears(APP2, "the request has changed since you saw it")
    await stands()
  })

  test.each([
    ["no run that exists", (value: string) => value.replace(/^[^:]+/, "r0nosuchrun000000000")],
    ["no ask of its run", (value: string) => value.replace(/:1:.+$/, ":1:pnd-other")],
    ["nothing at all", () => "?"],
  ])("a press that names %s is told so", async (_, value) => {
    const words = "this button belongs to nothing that I know"
    const before = toldOf(OUT, words)
    await team.click(OUT, forged(standing, value), "approve")
    await until(
      () => toldOf(OUT, words) > before,
      () => JSON.stringify(team.told(OUT)),
    )
    await stands()
  })

  test("a recorded press shows on the card, and when Slack is slow to change it, in words", async () => {
    const { prompt, card } = await asked()
    const slow = team.slack.workspace.misbehave({ do: "429", method: "chat.update", retryAfter: 5 })
    await team.click(APP1, card, "decline")
    await team.endOf(prompt)
    await team.hears(APP1, "Recorded: declined, restart.")
    expect(isLive(team.now(card))).toBe(true)
    slow.remove()
    await until(
      () => !isLive(team.now(card)),
      () => "the card to close",
    )
  })

  test("a word that one way does not take goes another", async () => {
    team.slack.workspace.misbehave({ do: "status", method: "response_url", status: 404 })
    const whispers = team.slack.workspace.misbehave({
      do: "error",
      method: "chat.postEphemeral",
      error: "not_in_channel",
    })
    await team.click("U0PLAIN", standing, "decline")
    await until(
      () =>
        [...team.slack.workspace.channels.values()]
          .filter(({ kind, members }) => kind === "dm" && members.includes("U0PLAIN"))
          .some(({ id }) => JSON.stringify(team.slack.workspace.messages(id)).includes("You are not among those")),
      () => "a direct message",
    )
    expect(whispers.hits).toBeGreaterThan(0)
  })

  test("Cancel refuses strangers in words, and shows that it was done", async () => {
    const { prompt, card } = await asked()
    const root = team.slack.workspace.message(OPS, card.thread_ts ?? "")
    if (!root) throw new Error("no root")
    await team.click("U0PLAIN", root, "cancel")
    await team.hears("U0PLAIN", "Not cancelled. You are not among those who may cancel this run.")
    await team.click(OUT, root, "cancel")
    const { ended } = await team.endOf(prompt)
    expect(ended).toMatchObject({ how: "cancelled", words: "cancelled by oscar" })
    await until(
      () => wordsOf(team.now(root)).includes("Cancelled") && !isLive(team.now(card)),
      () => wordsOf(team.now(root)),
    )
    await team.click(REQ, root, "cancel")
    await team.hears(REQ, "Nothing to cancel: the run is over (cancelled).")
    await team.click(APP1, card, "approve")
    await team.hears(APP1, /Already settled: cancelled, restart by oscar/)
    expect(team.executions()).toEqual([])
  })

  test("a question opens a form, whose sending is answered by the form itself and the card", async () => {
    const { workspace } = team.slack
    const card = await team.cardOf(await team.begin("question"), "answer")
    const shows = (user: string, words: string) =>
      until(
        () => JSON.stringify(workspace.views(user)).includes(words),
        () => `a window of ${user} with ${words}`,
      )
    for (const user of [REQ, APP1]) await team.click(user, card, "answer")
    await shows(REQ, "Send answer")
    // It is asked of whoever wanted the run.
    await shows(APP1, "You are not among those who may decide this.")
    const view = workspace.views(REQ).at(-1)?.id ?? ""
    const seen = await workspace.submit(REQ, view, { words: { words: "in eu-west" } })
    expect(seen).toMatchObject({ acked: true, response: { response_action: "close" } })
    await team.endOf("question")
    expect(team.executions("confirm").map(({ answer }) => answer)).toMatchObject([
      undefined,
      { ok: true, data: { output: "in eu-west" } },
    ])
    await team.click(REQ, card, "answer")
    await shows(REQ, "Already settled: answered")
  })

  test("masked values are shown to those who decide, to their eyes alone, and refused to others", async () => {
    const { workspace } = team.slack
    const card = await team.cardOf(await team.begin("secret"))
    await team.click("U0PLAIN", card, "reveal")
    await team.hears("U0PLAIN", "Not shown. You are not among those who may see the masked values.")
    await team.click(APP1, card, "reveal")
    await until(
      () => JSON.stringify(workspace.ephemerals(APP1)).includes("correct-horse-9"),
      () => "the values to be shown",
    )
    const others = [REQ, APP2, OUT, "U0PLAIN"].map((user) => workspace.ephemerals(user))
    expect(JSON.stringify([others, workspace.messages(OPS)])).not.toContain("correct-horse-9")
    expect(isLive(team.now(card))).toBe(true)
  })
})

describe("when something fails", () => {
  let team: Team
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    await team.close()
    for (const close of closing.splice(0).reverse()) await close()
  })

  test("a press while rights can't be looked up is refused for now, and counts when they can be", async () => {
    team = await Team.start({ turns: ASKS })
    await team.bot()
    await team.command("restart web")
    const card = await team.card()
    const outage = team.slack.workspace.misbehave({
      do: "error",
      method: "usergroups.users.list",
      error: "fatal_error",
    })
    await team.click(APP1, card, "approve")
    await team.hears(APP1, "I can't check your rights now, and without that nobody may decide this.")
    expect(isLive(team.now(card))).toBe(true)
    outage.remove()
    await team.click(APP1, card, "approve")
    expect((await team.ended()).ended?.how).toBe("done")
  })

  test.each([
    ["for now", { do: "status", method: "chat.update" }],
    ["any more", { do: "error", method: "chat.update", error: "edit_window_closed" }],
  ] as const)("a press on a card that Slack doesn't change %s is answered in words", async (_, rule) => {
    team = await Team.start({ turns: ASKS })
    await team.bot()
    await team.command("restart web")
    const card = await team.card()
    team.slack.workspace.misbehave(rule)
    await team.click(APP1, card, "approve")
    expect((await team.ended()).ended?.how).toBe("done")
    await team.hears(APP1, "Recorded: approved, restart.")
    expect(isLive(team.now(card))).toBe(true)
  })

  test("a press that Redis never heard of is said to be not recorded, the buttons stay, and the next one counts", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    closing.push(() => proxy.close())
    team = await Team.start({ turns: ASKS })
    await team.bot({ redisUrl: proxy.url })
    await team.command("restart web")
    const card = await team.card()
    await team.run((run) => run.asks[0]?.shownAt !== undefined)
    proxy.refuse(true)
    const seen = await team.click(APP1, card, "approve")
    expect(seen).toMatchObject({ acked: true })
    await team.hears(APP1, "Not recorded: nothing has changed. Please press again.", 20_000)
    expect((await team.run()).asks[0]?.settled).toBeUndefined()
    expect(isLive(team.now(card))).toBe(true)
    proxy.refuse(false)
    await until(
      async () => {
        await team.click(APP1, card, "approve")
        return (await team.runs())[0]?.ended !== undefined
      },
      () => "a press that counts",
    )
    expect(team.executions("restart")).toHaveLength(1)
  })

  test("a press whose outcome nobody can know yet is called just that, and turns out to have counted", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    closing.push(() => proxy.close())
    team = await Team.start({ turns: ASKS })
    await team.bot({ redisUrl: proxy.url })
    await team.command("restart web")
    const card = await team.card()
    const { id } = await team.run((run) => run.asks[0]?.shownAt !== undefined)
    const swallowed = proxy.swallowReplyTo(`log:${id}`)
    await team.click(APP1, card, "approve")
    await swallowed
    proxy.refuse(true)
    await team.hears(APP1, "Not known yet whether this was recorded.", 30_000)
    expect(team.told(APP1).join()).not.toContain("Not recorded")
    expect((await team.run()).asks[0]?.settled).toMatchObject({ ok: true })
    proxy.refuse(false)
    expect((await team.ended()).ended?.how).toBe("done")
    await team.closed(await team.run())
  })

  test("a press that a full Redis refuses is said to be not recorded, and counts when there is room", async () => {
    const redis = await startRedis({ args: ["--maxmemory-policy", "noeviction"] })
    const admin = new Redis(redis.url)
    closing.push(
      () => redis.stop(),
      () => admin.disconnect(),
    )
    team = await Team.start({ turns: ASKS, redisUrl: redis.url })
    await team.bot()
    await team.command("restart web")
    const card = await team.card()
    await team.run((run) => run.asks[0]?.shownAt !== undefined)
    await admin.config("SET", "maxmemory", "500kb")
    await team.click(APP1, card, "approve")
    await team.hears(APP1, "Not recorded: nothing has changed. Please press again.")
    await team.click(APP2, card, "decline")
    await team.hears(APP2, "Not recorded: nothing has changed. Please press again.")
    expect((await team.run()).asks[0]?.settled).toBeUndefined()
    expect(isLive(team.now(card))).toBe(true)
    expect(team.executions()).toEqual([])
    await admin.config("SET", "maxmemory", "0")
    await team.click(APP1, card, "approve")
    expect((await team.ended()).ended?.how).toBe("done")
    expect(team.executions("restart")).toHaveLength(1)
  })
})
