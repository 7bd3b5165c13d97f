import { expect, onTestFinished, test } from "vitest"
import { OPS } from "../../src/sandbox/seed.ts"
import { slackClient } from "../../src/slack/client.ts"
import { startLive, type LiveOptions, type Telling } from "../../src/slack/live.ts"
import { Pace } from "../../src/slack/show/pace.ts"
import { rig, type Rig } from "./show.rig.ts"

const RATES = { live: { every: 5, burst: 1 }, "chat.postMessage": { every: 5, burst: 3 } }

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
