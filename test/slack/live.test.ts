import { describe, expect, onTestFinished, test } from "vitest"
import { OPS } from "../../src/sandbox/seed.ts"
import { slackClient } from "../../src/slack/client.ts"
import { startLive, type LiveOptions, type Telling } from "../../src/slack/live.ts"
import { Pace } from "../../src/slack/show/pace.ts"
import { rig, type Rig } from "./show.rig.ts"

const RATES = Object.fromEntries(
  ["live", "chat.postMessage", "chat.startStream", "chat.appendStream"].map((key) => [key, { every: 5, burst: 3 }]),
)

type LiveRig = Rig & { telling: Telling; teller(options?: Partial<LiveOptions>): Telling }

/** A run's messages are shown by the show loop, what is under way by another part, as in the bot. */
async function liveRig(options: Parameters<typeof rig>[0] = {}): Promise<LiveRig> {
  const all: Telling[] = []
  const bot = await rig({ ...options, onCommit: (_id, step) => all.forEach((one) => one.committed(step.run)) })
  const teller = (more: Partial<LiveOptions> = {}): Telling => {
    const client = slackClient({ token: bot.slack.botToken, apiUrl: bot.slack.apiUrl, timeout: 2000 })
    const say = () => undefined
    const telling = startLive({
      store: bot.store,
      client,
      pace: new Pace(bot.store, RATES),
      log: {
        info: say,
        warn: (about, words) => bot.logged.push(`error ${words} ${JSON.stringify(about)}`),
        error: say,
      },
      patience: 0,
      every: 10,
      streams: false,
      ...more,
    })
    onTestFinished(() => telling.stop())
    all.push(telling)
    return telling
  }
  return Object.assign(bot, { telling: teller(), teller })
}

async function rooted(bot: Rig): Promise<string> {
  const id = await bot.begin()
  await bot.settled(id)
  return id
}

/** What stands in the thread below the first message, as text. */
const thread = (bot: Rig): string[] =>
  bot
    .messages(OPS)
    .slice(1)
    .map(({ blocks }) => JSON.stringify(blocks))
const calls = (bot: Rig, method: string) => bot.slack.workspace.calls.filter((call) => call.method === method)

test("what the model says stands in the thread while it says it, changed as it goes on, and is gone with the answer", async () => {
  const bot = await liveRig()
  const id = await rooted(bot)
  const run = await bot.run(id)
  bot.telling.said(run, "")
  bot.telling.said(run, "I look at the log first. The ")
  await expect.poll(() => thread(bot)).toEqual([expect.stringContaining("I look at the log first. The")])
  expect(thread(bot)[0]).toContain("not the answer yet")
  bot.telling.said(run, "disk is ful")
  await expect.poll(() => thread(bot)).toEqual([expect.stringMatching(/The disk is"/)])
  await bot.answer(id, "The disk is full.")
  await bot.settled(id)
  expect(thread(bot)).toEqual([expect.stringContaining("The disk is full.")])
  expect(thread(bot)[0]).not.toContain("not the answer yet")
  expect(calls(bot, "chat.delete")).toHaveLength(1)
})

test("a step that is over soon is not told of", async () => {
  const bot = await liveRig()
  const id = await rooted(bot)
  const quick = bot.teller({ patience: 60_000 })
  quick.said(await bot.run(id), "Quick words. ")
  await bot.answer(id, "Done.")
  await bot.settled(id)
  await quick.stop()
  expect(thread(bot)).toHaveLength(1)
  expect(calls(bot, "chat.postMessage")).toHaveLength(2)
})

test("what tools tell is a line for each call, the latest word of each, masked and of one line", async () => {
  const bot = await liveRig()
  const id = await rooted(bot)
  const run = await bot.run(id)
  bot.telling.told(run, { id: "1.1", tool: "copy" }, "1 of 7")
  bot.telling.told(run, { id: "1.2", tool: "index" }, "password=hunter2-and-more\n<!channel> @here *bold*")
  bot.telling.told(run, { id: "1.1", tool: "copy" }, "2 of 7")
  await expect.poll(() => thread(bot)[0]).toContain("2 of 7")
  const [shown = ""] = thread(bot)
  expect(thread(bot)).toHaveLength(1)
  expect(shown).not.toContain("1 of 7")
  expect(shown).not.toContain("hunter2")
  expect(shown).toContain("<!channel> @here *bold*")
  expect(shown).not.toMatch(/"type":"(?:user|usergroup|broadcast|mrkdwn|link)"/)
  expect(bot.slack.workspace.notifications().filter(({ text }) => text.includes("at work"))).toEqual([])
})

test("who goes on after a crash changes the message that stands, and posts no second one", async () => {
  const bot = await liveRig()
  const id = await rooted(bot)
  const run = await bot.run(id)
  bot.telling.said(run, "The first half of it ")
  await expect.poll(() => thread(bot)).toHaveLength(1)
  await bot.telling.stop()
  const next = bot.teller()
  next.said(run, "")
  next.said(run, "Anew from the beginning ")
  await expect.poll(() => thread(bot)).toEqual([expect.stringContaining("Anew from the beginning")])
  expect(thread(bot)[0]).not.toContain("first half")
})

test("it goes while people are asked, also when nobody who told is alive, and comes anew below the card", async () => {
  const bot = await liveRig()
  const id = await rooted(bot)
  bot.telling.said(await bot.run(id), "I would restart it ")
  await expect.poll(() => thread(bot)).toHaveLength(1)
  await bot.telling.stop()
  const [ask = ""] = await bot.ask(id, [{}])
  await bot.settled(id)
  expect(thread(bot)).toEqual([expect.stringContaining("Fingerprint")])
  await bot.decide(id, ask, true)
  const next = bot.teller()
  next.told(await bot.run(id), { id: "1.1", tool: "restart" }, "1 of 3")
  await expect.poll(() => thread(bot)).toEqual([expect.any(String), expect.stringContaining("1 of 3")])
})

test("a post whose reply was lost is found again when the run no longer works", async () => {
  const bot = await liveRig()
  const id = await rooted(bot)
  bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "lose-reply", times: 1 })
  bot.telling.said(await bot.run(id), "Lost in the post ")
  await expect.poll(() => thread(bot)).toHaveLength(1)
  await bot.telling.stop()
  await bot.answer(id, "Done.")
  await bot.settled(id)
  expect(thread(bot)).toEqual([expect.stringContaining("Done.")])
})

test("one that comes only after it was looked for goes, too", async () => {
  const bot = await liveRig()
  const id = await rooted(bot)
  const held = bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "hold", times: 1 })
  bot.telling.said(await bot.run(id), "Late in the post ")
  await expect.poll(() => held.hits).toBe(1)
  await bot.telling.stop()
  await bot.answer(id, "Done.")
  await bot.settled(id)
  held.release()
  await expect.poll(() => thread(bot)).toHaveLength(2)
  await bot.passed(id)
  await expect.poll(() => thread(bot), { timeout: 20_000 }).toEqual([expect.stringContaining("Done.")])
}, 60_000)

describe("where Slack has streams", () => {
  const streaming = async (options?: Parameters<typeof rig>[0]) => {
    const bot = await liveRig(options)
    const id = await rooted(bot)
    const telling = bot.teller({ streams: true })
    const run = await bot.run(id)
    telling.said(run, "")
    return { bot, id, run, telling, said: (text: string) => telling.said(run, text) }
  }

  test("the message grows by whole lines, no code before its end, and is ended and gone with the answer", async () => {
    const { bot, id, said } = await streaming()
    said("One line.\nAnd half")
    await expect.poll(() => thread(bot)).toEqual([expect.stringContaining("One line.")])
    expect(thread(bot)[0]).toContain("not the answer yet")
    expect(thread(bot)[0]).not.toContain("half")
    said(" of another.\n```\ncode\n")
    await expect.poll(() => thread(bot)[0]).toContain("And half of another.")
    expect(thread(bot)[0]).not.toContain("code")
    said("```\nAfter it.\n")
    await expect.poll(() => thread(bot)[0]).toContain("After it.")
    expect(thread(bot)[0]).toContain("code")
    expect(bot.messages(OPS)[1]?.streaming).toBe(true)
    expect(calls(bot, "chat.update")).toEqual([])
    await bot.answer(id, "Done.")
    await bot.settled(id)
    expect(thread(bot)).toEqual([expect.stringContaining("Done.")])
    expect(calls(bot, "chat.stopStream")).toHaveLength(1)
  })

  test("what can't be told by adding to it is told by changing it, once it is ended", async () => {
    const { bot, run, telling, said } = await streaming()
    said("One line.\n")
    await expect.poll(() => thread(bot)).toHaveLength(1)
    telling.told(run, { id: "1.1", tool: "copy" }, "1 of 7")
    await expect.poll(() => thread(bot)).toEqual([expect.stringContaining("1 of 7")])
    expect(calls(bot, "chat.stopStream")).toHaveLength(1)
    expect(bot.messages(OPS)[1]?.streaming).toBe(false)
  })

  test("one that Slack ended by itself is changed from there on", async () => {
    const { bot, said } = await streaming()
    said("One line.\n")
    await expect.poll(() => thread(bot)).toHaveLength(1)
    const [, message] = bot.messages(OPS)
    bot.slack.workspace.edit(OPS, message?.ts ?? "", { text: "", blocks: message?.blocks ?? [], streaming: false })
    said("And another. ")
    said("More.\n")
    await expect.poll(() => thread(bot)).toEqual([expect.stringContaining("And another. More.")])
    expect(calls(bot, "chat.update").length).toBeGreaterThan(0)
  })

  test.each(["unknown_method", "missing_scope", "feature_not_enabled"])(
    "that are refused (%s) it is a message like any other, and they are not tried again",
    async (error) => {
      const bot = await liveRig()
      bot.slack.workspace.misbehave({ method: "chat.startStream", do: "error", error })
      const telling = bot.teller({ streams: true })
      for (const words of ["First run.\n", "Second run.\n"]) {
        const id = await rooted(bot)
        telling.said(await bot.run(id), words)
        await expect.poll(() => bot.messages(OPS, words.trim())).toHaveLength(1)
      }
      expect(calls(bot, "chat.startStream")).toHaveLength(1)
    },
  )

  test("nothing in it pings or hides where it leads", async () => {
    const { bot, said } = await streaming()
    said("<!channel> @here <@U0APP1> [here](https://evil.example)\npassword=hunter2-and-more\n")
    await expect.poll(() => thread(bot)).toHaveLength(1)
    expect(thread(bot)[0]).not.toMatch(/"type":"(?:user|usergroup|broadcast|mrkdwn|markdown)"|hunter2/)
    expect(thread(bot)[0]).toContain('"url":"https://evil.example/","text":"https://evil.example/"')
    expect(bot.slack.workspace.notifications().map(({ text }) => text)).toEqual([])
  })
})
