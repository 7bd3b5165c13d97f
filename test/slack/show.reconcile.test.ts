import { describe, expect, test } from "vitest"
import { remind } from "../../src/core/remind.ts"
import { APPROVALS, BOT, LEADS, OPS, SCOPES } from "../../src/sandbox/seed.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { samples } from "../../src/slack/blocks/samples.ts"
import { slackClient } from "../../src/slack/client.ts"
import { post } from "../../src/slack/show/send.ts"
import { printOf } from "../../src/slack/show/print.ts"
import { buttonsOf, rig, type Rig } from "./show.rig.ts"

const FAST = { every: 5, burst: 3 }
const RATES = {
  "chat.postMessage": FAST,
  "chat.update": FAST,
  "chat.delete": FAST,
  "conversations.replies": { every: 20, burst: 1 },
}
const LIVE = ["approve", "decline"]

const looking = (more: Parameters<typeof rig>[0] = {}): Promise<Rig> =>
  rig({ ...more, show: { rates: RATES, lookEvery: 30, ...more.show } })

async function asked(bot: Rig, rule: Parameters<Rig["ask"]>[1][number]["rule"] = {}): Promise<[string, string]> {
  const id = await bot.begin()
  await bot.settled(id)
  const [request = ""] = await bot.ask(id, [{ rule }])
  await bot.settled(id)
  return [id, request]
}

const reads = ({ slack }: Rig) => slack.workspace.calls.filter(({ method }) => method === "conversations.replies")
const changes = ({ slack }: Rig) => slack.workspace.calls.filter(({ method }) => method === "chat.update")
/** So many more looks at Slack than now. */
async function looks(bot: Rig, count: number): Promise<void> {
  const before = reads(bot).length
  await expect.poll(() => reads(bot).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(before + count)
}
const first = <T>(list: readonly T[]): T => {
  const [one] = list
  if (one === undefined) throw new Error("there is none")
  return one
}

/** A second one of a message, as it stands when the reply to its post was lost. */
const twin = ({ slack }: Rig, { ts: _ts, username: _username, is_bot: _isBot, ...message }: Message): Message =>
  slack.workspace.post({ ...message, user: BOT })

describe("what somebody deleted in Slack", () => {
  test("a card is posted again while it waits, and the run goes on by that", async () => {
    const bot = await looking()
    const [id, request] = await asked(bot)
    const { ts } = first(bot.cards())
    bot.slack.workspace.remove(OPS, ts)
    await expect.poll(() => bot.cards().map(buttonsOf), { timeout: 10_000 }).toEqual([LIVE])
    expect(first(bot.cards()).ts).not.toBe(ts)
    await bot.settled(id)
    await bot.decide(id, request, true)
    await bot.settled(id)
    expect(bot.cards().map(buttonsOf)).toEqual([[]])
    expect(bot.logged.filter((line) => line.includes("was deleted in Slack"))).toHaveLength(1)
  })

  test("a card in another channel, too", async () => {
    const bot = await looking()
    await asked(bot, { cards: APPROVALS })
    bot.slack.workspace.remove(APPROVALS, first(bot.cards(APPROVALS)).ts)
    await expect.poll(() => bot.cards(APPROVALS).map(buttonsOf), { timeout: 10_000 }).toEqual([LIVE])
    expect(bot.cards().map(buttonsOf)).toEqual([LIVE])
  })

  test("the first message of a run is posted again, and the cards below the deleted one still follow", async () => {
    const bot = await looking()
    const [id, request] = await asked(bot)
    bot.slack.workspace.remove(OPS, first(bot.messages()).ts)
    await expect.poll(() => bot.messages(OPS, "cancel").length, { timeout: 10_000 }).toBe(1)
    await bot.settled(id)
    await looks(bot, 4)
    expect(bot.cards().map(buttonsOf)).toEqual([LIVE])
    await bot.decide(id, request, false)
    await bot.settled(id)
    expect(bot.cards().map(buttonsOf)).toEqual([[]])
  })

  test("what is decided stays away", async () => {
    const bot = await looking()
    const [id, request] = await asked(bot)
    // A look that is under way; the next one is then the last.
    const look = bot.slack.workspace.misbehave({ method: "conversations.replies", do: "hold" })
    await expect.poll(() => look.hits).toBeGreaterThan(0)
    await bot.decide(id, request, true)
    await bot.settled(id)
    bot.slack.workspace.remove(OPS, first(bot.cards()).ts)
    look.remove()
    await looks(bot, 1)
    await bot.settled(id)
    expect(bot.cards()).toEqual([])
  })
})

describe("what stands and should not", () => {
  test("a card that we never knew of loses its buttons when it is decided", async () => {
    const bot = await looking()
    const [id, request] = await asked(bot)
    twin(bot, first(bot.cards()))
    await looks(bot, 2)
    await bot.decide(id, request, true)
    await expect.poll(() => bot.cards().map(buttonsOf), { timeout: 10_000 }).toEqual([[], []])
    await bot.settled(id)
  })

  test("also one that turns up when all is decided", async () => {
    const bot = await looking()
    const [id, request] = await asked(bot)
    const card = first(bot.cards())
    await bot.decide(id, request, true)
    await bot.answer(id, "Done.")
    twin(bot, card)
    await expect.poll(() => bot.cards().map(buttonsOf), { timeout: 10_000 }).toEqual([[], []])
  })

  test("a reminder of which we don't know that it was posted goes with the others", async () => {
    const bot = await looking()
    const [id, request] = await asked(bot, { remind: [60_000], escalate: { after: 900_000, to: [LEADS] } })
    await bot.change(id, (run, now) => remind(run, now + 60_000))
    await bot.settled(id)
    twin(bot, first(bot.messages(OPS, "Still waiting")))
    await looks(bot, 2)
    await bot.decide(id, request, true)
    await expect.poll(() => bot.messages(OPS, "Still waiting"), { timeout: 10_000 }).toEqual([])
  })

  test.each([
    ["its words", { text: "All is well", blocks: [] }],
    [
      "its buttons",
      { text: "", blocks: [{ type: "actions", elements: [{ type: "button", action_id: "approve", value: "x" }] }] },
    ],
  ])("a message that was changed behind our back is put right: %s", async (_, change) => {
    const bot = await looking()
    const [id] = await asked(bot)
    const before = first(bot.cards())
    bot.slack.workspace.edit(OPS, before.ts, change)
    const now = () => bot.slack.workspace.message(OPS, before.ts)
    await expect.poll(() => printOf(now()?.blocks), { timeout: 10_000 }).toBe(printOf(before.blocks))
    expect(buttonsOf(now())).toEqual(LIVE)
    await bot.settled(id)
  })

  test("one that shows an older state is brought up to date", async () => {
    // What was decided is looked at once more: that look must find what is done to it here.
    const bot = await looking({ show: { lookEvery: 3000 } })
    const [id, request] = await asked(bot)
    const old = first(bot.cards())
    await bot.decide(id, request, true)
    await bot.settled(id)
    const { text, blocks = [], metadata } = old
    bot.slack.workspace.edit(OPS, old.ts, { text, blocks, ...(metadata ? { metadata } : {}) })
    await expect.poll(() => bot.cards().map(buttonsOf), { timeout: 10_000 }).toEqual([[]])
  })
})

describe("looking", () => {
  test("finds nothing to do where all is as it should be", async () => {
    const bot = await looking()
    await asked(bot, { cards: APPROVALS })
    const before = changes(bot).length
    await looks(bot, 6)
    expect(changes(bot)).toHaveLength(before)
    expect(bot.logged).toEqual([])
  })

  test("puts a message that Slack spells in its own way right once, and not again and again", async () => {
    const bot = await looking()
    await asked(bot)
    const card = first(bot.cards())
    const own = {
      text: card.text,
      blocks: [{ type: "section", text: { type: "plain_text", text: "as Slack has it" } }],
    }
    const spell = () =>
      bot.slack.workspace.edit(OPS, card.ts, { ...own, ...(card.metadata ? { metadata: card.metadata } : {}) })
    spell()
    bot.slack.workspace.misbehave({ method: "chat.update", during: spell, after: true })
    const before = changes(bot).length
    await looks(bot, 8)
    expect(changes(bot).length - before).toBe(1)
  })

  test("ends once more after all is decided", async () => {
    const bot = await looking()
    const [id, request] = await asked(bot)
    await bot.decide(id, request, true)
    await bot.answer(id, "Done.")
    await expect.poll(async () => (await bot.store.peek()).looks, { timeout: 10_000 }).toBeUndefined()
    const before = reads(bot).length
    expect(before).toBeGreaterThan(0)
    await bot.settled(id)
    expect(reads(bot)).toHaveLength(before)
  })

  test("is not done where we may not, which is said once", async () => {
    const bot = await looking({ slack: { scopes: SCOPES.filter((scope) => !scope.endsWith(":history")) } })
    const [one] = [await asked(bot), await asked(bot)].map(([id]) => id)
    await expect.poll(() => bot.logged.filter((line) => line.includes("channels:history"))).toHaveLength(1)
    bot.slack.workspace.remove(OPS, first(bot.cards()).ts)
    const looked = async () => (await bot.store.show.shown(one ?? "")).sent.size
    await expect.poll(looked).toBeGreaterThan(0)
    expect(reads(bot)).toHaveLength(1)
    expect(bot.cards()).toHaveLength(1)
  })

  test("waits as long as Slack says, and holds up no card", async () => {
    const bot = await looking()
    const limited = bot.slack.workspace.misbehave({ method: "conversations.replies", do: "429", retryAfter: 30 })
    await asked(bot)
    await expect.poll(() => limited.hits).toBe(1)
    await asked(bot)
    expect(bot.cards()).toHaveLength(2)
    expect(limited.hits).toBe(1)
  })

  test("is done by one process at a time", async () => {
    const bot = await looking({ idle: true })
    for (let n = 0; n < 3; n++) bot.another()
    for (let n = 0; n < 3; n++) await asked(bot)
    // Not before: what is held for longer than a call may take is called anew.
    const held = bot.slack.workspace.misbehave({ method: "conversations.replies", do: "hold" })
    await expect.poll(() => held.hits).toBe(1)
    const overdue = async () => (await bot.store.peek()).looks ?? Infinity
    await expect.poll(async () => (await bot.store.now()) - (await overdue())).toBeGreaterThan(200)
    expect(held.hits).toBe(1)
    held.release()
  })
})

test("what Slack makes of each kind of message has the same print as what we sent", async () => {
  const bot = await rig({ idle: true })
  const { slack } = bot
  const client = slackClient({ token: slack.botToken, apiUrl: slack.apiUrl })
  const prints = new Set<string>()
  for (const [name, message] of samples()) {
    const sending = await post(client, { channel: OPS }, message)
    if (sending.kind !== "sent") throw new Error(`${name}: ${sending.kind}`)
    const stored = slack.workspace.message(OPS, sending.place.ts)?.blocks
    expect([name, printOf(stored)]).toEqual([name, printOf(message.blocks)])
    prints.add(printOf(stored))
  }
  expect(prints.size).toBeGreaterThan(samples().size / 2)
})
