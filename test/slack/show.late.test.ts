/** Calls that Slack carries out after we gave them up, and after later ones. */
import { describe, expect, test } from "vitest"
import { ADA, OPS, SCOPES } from "../../src/sandbox/seed.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { differences } from "../../src/slack/show/compare.ts"
import { slotOf, type Slots } from "../../src/slack/show/record.ts"
import { newLife } from "../core/life.ts"
import { buttonsOf, rig, type Rig } from "./show.rig.ts"

const FAST = { every: 5, burst: 3 }
const RATES = {
  "chat.postMessage": FAST,
  "chat.update": FAST,
  "conversations.replies": FAST,
  "conversations.history": FAST,
}
const SOON = { timeout: 20_000 }
const LIVE = ["approve", "decline"]
const NO_HISTORY = SCOPES.filter((scope) => !scope.endsWith(":history"))

const impatient = (more: Parameters<typeof rig>[0] = {}): Promise<Rig> =>
  rig({ timeout: 700, ...more, show: { rates: RATES, ...more.show } })

const calls = ({ slack }: Rig, method: string): number =>
  slack.workspace.calls.filter((call) => call.method === method).length
const dm = ({ slack: { workspace } }: Rig, user: string): string =>
  [...workspace.channels.values()].find(({ kind, members }) => kind === "dm" && members.includes(user))?.id ?? ""
const firsts = (bot: Rig): Message[] => bot.messages(OPS, "asked the agent")
/** What can be pressed on the run's messages: of its first, of its cards in the channel, and in private. */
const pressable = (bot: Rig): string[][] =>
  [...firsts(bot), ...bot.cards(), ...bot.cards(dm(bot, ADA))].map((message) => buttonsOf(message))
const nothing = [[], [], []]

/** Resolves when nothing is left to be shown, whatever was tried in vain. */
const rested = (bot: Rig, id: string): Promise<void> => bot.settled(id, 30_000)

async function asked(bot: Rig): Promise<[id: string, request: string]> {
  const id = await bot.begin()
  await rested(bot, id)
  const [request = ""] = await bot.ask(id, [{ rule: { notify: "dm" } }])
  await rested(bot, id)
  return [id, request]
}

/** Holds the next change of each message, which brings a button back; resolves when all of them are under way. */
async function held(bot: Rig, id: string): Promise<() => void> {
  await bot.store.pause.begin({ by: "Grace", at: 1 })
  await bot.store.pause.showAll()
  await rested(bot, id)
  expect(pressable(bot)).toEqual([["cancel"], ["decline"], ["decline"]])
  const messages = [...firsts(bot), ...bot.cards(), ...bot.cards(dm(bot, ADA))].map(({ ts }) => ts)
  const rule = bot.slack.workspace.misbehave({ method: "chat.update", do: "hold" })
  const before = bot.slack.workspace.calls.length
  await bot.store.pause.end()
  await bot.store.pause.showAll()
  const called = () =>
    bot.slack.workspace.calls
      .slice(before)
      .flatMap(({ method, args }) => (method === "chat.update" ? [args["ts"]] : []))
  await expect.poll(() => messages.filter((ts) => !called().includes(ts)), SOON).toEqual([])
  rule.cease()
  return () => rule.release()
}

const late = async (bot: Rig): Promise<number | undefined> => (await bot.store.peek()).looks

describe("a change that comes after a later one", () => {
  test.each([
    ["is found where messages can be read, and put right", {}, "says something else"],
    ["is written over where they can't", { slack: { scopes: NO_HISTORY } }, "can't be read"],
  ])(
    "%s: of the first message, of a card, of one in private",
    async (_, how, words) => {
      const bot = await impatient(how)
      const [id, request] = await asked(bot)
      const release = await held(bot, id)
      await bot.decide(id, request, false)
      await bot.cancel(id)
      await rested(bot, id)
      expect(pressable(bot)).toEqual(nothing)
      release()
      await expect.poll(() => pressable(bot), SOON).toEqual([["cancel"], LIVE, LIVE])
      // Nobody looks before the last of them can have come.
      expect(((await late(bot)) ?? 0) - (await bot.store.now())).toBeGreaterThan(30_000)
      const before = calls(bot, "chat.update")
      await bot.passed(id)
      await expect.poll(() => pressable(bot), SOON).toEqual(nothing)
      await rested(bot, id)
      expect(calls(bot, "chat.update") - before).toBe(3)
      expect(calls(bot, "conversations.replies")).toBe(1)
      expect(bot.logged.filter((line) => line.includes(words)).length).toBeGreaterThanOrEqual(2)
    },
    60_000,
  )

  test("is found when whoever sent it died", async () => {
    const bot = await impatient({ idle: true })
    const one = await bot.mortal()
    const id = await bot.begin()
    await rested(bot, id)
    const hold = bot.slack.workspace.misbehave({ method: "chat.update", do: "hold", times: 1 })
    const [request = ""] = await bot.ask(id, [{}])
    await expect.poll(() => hold.hits, SOON).toBe(1)
    await one.die(id)
    bot.another()
    await bot.decide(id, request, false)
    await bot.cancel(id)
    await rested(bot, id)
    hold.release()
    await expect.poll(() => pressable(bot), SOON).toEqual([["cancel"], []])
    await bot.passed(id)
    await expect.poll(() => pressable(bot), SOON).toEqual([[], []])
  }, 60_000)

  test("is told from what Slack spells in its own way, also where it was found before", () => {
    const { run } = newLife()
    const place = { channel: OPS, ts: "1.0" }
    const root = slotOf(new Map(), "root")
    const copy = { ...place, hash: "new", seen: "print" }
    const slots: Slots = new Map([["root", { ...root, sent: { copies: [copy] }, copies: [copy] }]])
    const found = (shows: string) =>
      differences(
        run,
        slots,
        [{ ...place, holds: () => true }],
        [{ ...place, slot: "root", shows, print: "print", whole: shows === "old" }],
      ).length
    expect([found("new"), found("old")]).toEqual([0, 1])
  })
})

describe("a message that is posted after it was posted again", () => {
  test("follows the run like the other one: its first message, and a card", async () => {
    const bot = await impatient()
    const { workspace } = bot.slack
    const root = workspace.misbehave({ method: "chat.postMessage", do: "hold", times: 1 })
    const id = await bot.begin()
    await rested(bot, id)
    const card = workspace.misbehave({ method: "chat.postMessage", do: "hold", times: 1 })
    const [request = ""] = await bot.ask(id, [{}])
    await rested(bot, id)
    expect(pressable(bot)).toEqual([["cancel"], LIVE])
    root.release()
    card.release()
    await expect.poll(() => pressable(bot), SOON).toEqual([["cancel"], ["cancel"], LIVE, LIVE])
    await bot.passed(id)
    await expect
      .poll(async () => [...(await bot.store.show.shown(id)).copies.keys()].toSorted(), SOON)
      .toEqual([`card:${request}`, "root"])
    await bot.decide(id, request, false)
    await bot.cancel(id)
    await rested(bot, id)
    expect(pressable(bot)).toEqual([[], [], [], []])
  }, 60_000)
})

test("nobody looks at what Slack answered, were it with a refusal that we don't know", async () => {
  const bot = await rig({ show: { rates: RATES } })
  bot.slack.workspace.misbehave({ method: "chat.update", do: "error", error: "internal_error", times: 1 })
  const [id, request] = await asked(bot)
  await bot.decide(id, request, false)
  await bot.cancel(id)
  await rested(bot, id)
  const { sent } = await bot.store.show.shown(id)
  expect([...sent.values()].filter((text) => text.includes("late"))).toEqual([])
  // All that waits is the look that every run gets.
  expect(((await late(bot)) ?? 0) - (await bot.store.now())).toBeGreaterThan(300_000)
})
