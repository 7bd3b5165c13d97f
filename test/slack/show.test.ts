import { Redis } from "ioredis"
import { describe, expect, onTestFinished, test } from "vitest"
import { step } from "../../src/core/run.ts"
import { ADA, AUDIT, NO_BOT, OPS, ROBIN, SCOPES } from "../../src/sandbox/seed.ts"
import { wordData } from "../../src/slack/word.ts"
import { startRedis } from "../redis.ts"
import { buttonsOf, rig, type Rig } from "./show.rig.ts"

const WITHOUT_HISTORY = SCOPES.filter((scope) => !scope.endsWith(":history"))

const posts = ({ slack }: Rig) => slack.workspace.calls.filter(({ method }) => method === "chat.postMessage")
const updates = ({ slack }: Rig) => slack.workspace.calls.filter(({ method }) => method === "chat.update")
const textOf = (value: unknown): string => JSON.stringify(value)

/** What is told to one person, wherever it reaches them. */
function told({ slack }: Rig, user = ROBIN): string[] {
  const dms = [...slack.workspace.channels.values()].filter((it) => it.kind === "dm" && it.members.includes(user))
  return [...slack.workspace.ephemerals(user), ...dms.flatMap((dm) => slack.workspace.messages(dm.id))].map(textOf)
}

/** A response url of Robin's: that of a command which no app was there to answer. */
async function responseUrl({ slack }: Rig): Promise<string> {
  await slack.workspace.command(ROBIN, OPS, "anything")
  const payload: unknown = slack.workspace.deliveries.at(-1)?.envelope.payload
  return (payload as { response_url: string }).response_url
}

async function rooted(bot: Rig, how?: Parameters<Rig["begin"]>[0]): Promise<string> {
  const id = await bot.begin(how)
  await bot.settled(id)
  return id
}

describe("a run's messages", () => {
  test("its root, then its cards in its thread, and the run learns that they stand", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    expect((await bot.run(id)).rooted).toBe(true)
    const [request] = await bot.ask(id, [{ args: { service: "web" } }], "It answers 502.")
    await bot.settled(id)

    const [root, card, ...more] = bot.messages()
    expect(more).toEqual([])
    expect(buttonsOf(root)).toEqual(["cancel"])
    expect(textOf(root)).toContain("Waiting for a decision")
    expect(card?.thread_ts).toBe(root?.ts)
    expect(buttonsOf(card)).toEqual(["approve", "decline"])
    expect(textOf(card)).toContain(String.raw`{\"service\":\"web\"}`)
    expect(textOf(card)).toContain("It answers 502.")
    expect((await bot.run(id)).asks.find((it) => it.id === request)?.shownAt).toBeTypeOf("number")
    expect(told(bot)).toEqual([expect.stringContaining("/archives/C0OPS/p")])
  })

  test("the private link goes by the response url while that works, else by direct message", async () => {
    const bot = await rig({ slack: { ackTimeout: 30 } })
    await rooted(bot, { link: await responseUrl(bot) })
    expect(bot.slack.workspace.calls.filter(({ method }) => method === "response_url")).toHaveLength(1)
    expect(bot.slack.workspace.calls.filter(({ method }) => method === "chat.postEphemeral")).toHaveLength(0)
    expect(told(bot)).toHaveLength(1)
    const gone = new URL("response/nonsense", bot.slack.url).href
    await rooted(bot, { link: gone })
    expect(bot.slack.workspace.calls.filter(({ method }) => method === "chat.postEphemeral")).toHaveLength(0)
    expect(told(bot)).toHaveLength(2)
    expect(textOf(told(bot)[1])).toContain("Its thread: ")
    bot.slack.workspace.messagesEnabled = false
    await rooted(bot, { link: gone })
    expect(bot.slack.workspace.calls.filter(({ method }) => method === "chat.postEphemeral")).toHaveLength(1)
    expect(told(bot)).toHaveLength(3)
  })

  test("a response url takes five words; what comes after them goes by direct message", async () => {
    const bot = await rig({ slack: { ackTimeout: 30 } })
    const id = await rooted(bot)
    const url = await responseUrl(bot)
    const words = Array.from({ length: 7 }, (_, n) => ({
      name: `word:${n}`,
      data: wordData({ user: ROBIN, channel: OPS, responseUrl: url, text: `Word ${n}.` }),
    }))
    await bot.change(id, (run, now) => step(run, now, [], { show: "cards", slots: words }))
    await bot.settled(id)
    const dm = [...bot.slack.workspace.channels.values()].find(
      ({ kind, members }) => kind === "dm" && members.includes(ROBIN),
    )
    expect(bot.messages(dm?.id ?? "", "Word ")).toHaveLength(2)
    for (const { data } of words) expect(told(bot).join()).toContain((JSON.parse(data) as { text: string }).text)
  })

  test("those who may decide are pinged by the first card of a turn, and by it alone", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    await bot.ask(id, [{ args: { n: 1 } }, { args: { n: 2 } }, { args: { n: 3 } }])
    await bot.settled(id)
    // The others reach her because she was pinged in their thread.
    const pings = bot.slack.workspace.notifications(ADA).map(({ ts, why }) => [ts, why])
    const [first, ...others] = bot.cards().map(({ ts }) => ts)
    expect(pings).toEqual([[first, "mention"], ...others.map((ts) => [ts, "thread"])])
  })

  test("cards of one turn stand in the order of its calls", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    await bot.ask(
      id,
      Array.from({ length: 10 }, (_, n) => ({ args: { n } })),
    )
    await bot.settled(id)
    expect(bot.cards().map((card) => /"n\\":(\d)/.exec(textOf(card))?.[1])).toEqual("0123456789".split(""))
  })

  test("long args stand whole in the thread before their card offers a yes", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const args = { command: `echo ok${" ".repeat(4000)}; rm -rf /data ${"x".repeat(20_000)}` }
    await bot.ask(id, [{ args }])
    await bot.settled(id)
    const [, ...thread] = bot.messages()
    const card = thread.at(-1)
    expect(buttonsOf(card)).toEqual(["approve", "decline"])
    expect(textOf(card)).toContain("stand in full in this thread")
    const whole = thread
      .slice(0, -1)
      .flatMap((message) => (message.blocks ?? []).flatMap((block) => block["elements"] as Preformatted[]))
      .filter(({ type }) => type === "rich_text_preformatted")
      .flatMap(({ elements }) => elements.map(({ text }) => text))
      .join("")
    expect(whole).toBe(JSON.stringify(args))
  })

  test("args that Slack refuses in the thread leave a card without a yes", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const refuse = bot.slack.workspace.misbehave({
      method: "chat.postMessage",
      do: "error",
      error: "invalid_blocks",
      times: 2,
    })
    await bot.ask(id, [{ args: { command: "x".repeat(5000) } }])
    await bot.settled(id)
    expect(refuse.hits).toBe(2)
    expect(bot.cards()).toHaveLength(1)
    expect(buttonsOf(bot.cards()[0])).toEqual(["decline"])
  })

  test("a long answer is complete and in order, an empty one is said to be empty", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const lines = Array.from({ length: 400 }, (_, n) => `line ${n} of what was found out`)
    await bot.answer(
      id,
      `Found:\n\n\`\`\`\n${lines.slice(0, 200).join("\n")}\n\`\`\`\n\n${lines.slice(200).join("\n\n")}`,
    )
    await bot.settled(id)
    const [root, ...thread] = bot.messages()
    expect(thread.length).toBeGreaterThan(1)
    const numbers = [
      ...thread
        .map((message) => textOf(message.blocks))
        .join("")
        .matchAll(/line (\d+) of/g),
    ]
    expect(numbers.map(([, n]) => Number(n))).toEqual(lines.map((_, n) => n))
    expect(textOf(root)).toContain("Finished")
    expect(buttonsOf(root)).toEqual([])

    const other = await rooted(bot)
    await bot.answer(other, " \n")
    await bot.settled(other)
    expect(textOf(bot.messages().at(-1))).toContain("gave no final text")
  })

  test("a command of 3,500 characters with much to escape", async () => {
    const bot = await rig()
    const id = await rooted(bot, { prompt: `${">&&".repeat(1160)} the end` })
    await bot.ask(id, [{}])
    await bot.settled(id)
    await bot.expire(id)
    await bot.settled(id)
    expect(textOf(bot.messages()[0])).toMatch(/\([\d,]+ more characters\)/)
    expect(bot.logged).toEqual([])
    expect(buttonsOf(bot.cards()[0])).toEqual([])
  })
})

interface Preformatted {
  type: string
  elements: { text: string }[]
}

describe("a settled ask", () => {
  test("keeps no buttons when nobody answered in time", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    await bot.ask(id, [{}])
    await bot.settled(id)
    await bot.expire(id)
    await bot.settled(id)
    expect(buttonsOf(bot.cards()[0])).toEqual([])
    expect(textOf(bot.cards()[0])).toContain("Nobody answered in time")
    for (const { args } of updates(bot)) expect(args["blocks"]).toBeTruthy()
    const last = updates(bot).filter(({ args }) => args["ts"] === bot.cards()[0]?.ts)
    expect(last.map(({ args }) => textOf(args["blocks"]).includes("actions"))).toEqual([false])
  })

  test("is honoured when the click comes before the post was answered", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    let clicked: Promise<void> | undefined
    bot.slack.workspace.misbehave({
      method: "chat.postMessage",
      times: 1,
      during: async () => {
        const waiting = (await bot.run(id)).asks[0]?.id ?? ""
        clicked = bot.decide(id, waiting, true)
        await clicked
      },
    })
    await bot.ask(id, [{}])
    await bot.settled(id)
    await clicked
    expect(bot.cards()).toHaveLength(1)
    expect(buttonsOf(bot.cards()[0])).toEqual([])
    expect(textOf(bot.cards()[0])).toContain("Approved by Ada (U0APP1)")
  })

  test("gets a minimal card when Slack refuses the full one, and that has no buttons either", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const [request = ""] = await bot.ask(id, [{ args: { note: "the whole of it" } }])
    await bot.settled(id)
    const ts = bot.cards()[0]?.ts ?? ""
    bot.slack.workspace.misbehave({ method: "chat.update", do: "error", error: "msg_too_long", times: 1 })
    await bot.decide(id, request, false)
    await bot.settled(id)
    const card = bot.slack.workspace.message(OPS, ts)
    expect(buttonsOf(card)).toEqual([])
    expect(textOf(card)).toContain("Declined by Ada")
    expect(textOf(card)).not.toContain("the whole of it")
  })

  test("that Slack took in its least form only offers a yes as soon as Slack takes the full one", async () => {
    const bot = await rig({ show: { rests: { root: 0, card: 0, refused: 400 } } })
    const id = await rooted(bot)
    const { workspace } = bot.slack
    workspace.misbehave({ method: "chat.postMessage", do: "error", error: "invalid_blocks", times: 1 })
    const refused = workspace.misbehave({ method: "chat.update", do: "error", error: "invalid_blocks", times: 2 })
    await bot.ask(id, [{ args: { note: "the whole of it" } }])
    await expect.poll(() => bot.messages(OPS, '"decline"').map(buttonsOf)).toEqual([["decline"]])
    await bot.settled(id)
    expect(refused.hits).toBe(2)
    expect(bot.cards()).toHaveLength(1)
    expect(buttonsOf(bot.cards()[0])).toContain("approve")
    expect(textOf(bot.cards()[0])).toContain("the whole of it")
  })

  test("that Slack took in its least form only is tried in full when it changes", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const { workspace } = bot.slack
    workspace.misbehave({ method: "chat.postMessage", do: "error", error: "invalid_blocks", times: 1 })
    const [request = ""] = await bot.ask(id, [{ args: { note: "the whole of it" } }])
    await expect.poll(() => bot.messages(OPS, '"decline"').map(buttonsOf)).toEqual([["decline"]])
    await bot.decide(id, request, false)
    await bot.settled(id)
    expect(textOf(bot.cards()[0])).toContain("the whole of it")
  })

  test("is posted without buttons when it could not be shown in time", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const held = bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "status", status: 503 })
    await bot.ask(id, [{}])
    await expect.poll(() => held.hits).toBe(1)
    await bot.expire(id)
    held.remove()
    await bot.settled(id)
    expect(bot.cards()).toHaveLength(1)
    expect(buttonsOf(bot.cards()[0])).toEqual([])
    const expired = (await bot.store.facts(id)).map((fact) => JSON.parse(fact) as { what: string; note?: string })
    expect(expired.find(({ what }) => what === "expired")?.note).toContain("not known to have been delivered")
  })
})

describe("an outage of Slack that lasts", () => {
  /** As if so many tries had failed already: with their pauses they take longer than a test may. */
  async function failed(bot: Rig, id: string, slot: string, fails: number, more = {}): Promise<void> {
    const sent = JSON.parse((await bot.store.show.shown(id)).sent.get(slot) ?? "{}") as object
    await bot.store.show.recordSent(id, slot, JSON.stringify({ ...sent, ...more, fails, after: 0 }))
  }

  test("leaves a settled card no buttons, and makes no second one", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const [request = ""] = await bot.ask(id, [{}])
    await bot.settled(id)
    const down = bot.slack.workspace.misbehave({ method: "chat.update", do: "status", status: 503 })
    await failed(bot, id, `card:${request}`, 20)
    await bot.decide(id, request, true)
    const count = async () => (await bot.store.show.shown(id)).sent.get(`card:${request}`) ?? ""
    await expect.poll(count).toContain('"fails":21')
    down.remove()
    await failed(bot, id, `card:${request}`, 21)
    await failed(bot, id, "root", 0)
    await bot.change(id, (run, now) => step(run, now, [], { show: "cards" }))
    await expect.poll(() => bot.cards().map(buttonsOf)).toEqual([[]])
  })

  test("takes no word from anybody", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const down = bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "status", status: 503 })
    const word = { name: "word:x", data: wordData({ user: ROBIN, text: "Not recorded." }) }
    await failed(bot, id, "word:x", 20)
    await bot.change(id, (run, now) => step(run, now, [], { show: "cards", slots: [word] }))
    await expect.poll(async () => (await bot.store.show.shown(id)).sent.get("word:x") ?? "").toContain('"fails":21')
    down.remove()
    await failed(bot, id, "word:x", 21)
    await bot.change(id, (run, now) => step(run, now, [], { show: "cards" }))
    await expect.poll(() => told(bot).some((text) => text.includes("Not recorded."))).toBe(true)
  })
})

describe("a lost reply", () => {
  test("makes no second message where we may look for the first", async () => {
    const bot = await rig()
    bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "lose-reply", times: 1 })
    const id = await rooted(bot)
    bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "lose-reply", times: 1 })
    const [request = ""] = await bot.ask(id, [{}])
    await bot.settled(id)
    expect(bot.messages()).toHaveLength(2)
    expect(bot.cards()[0]?.thread_ts).toBe(bot.messages()[0]?.ts)
    await bot.decide(id, request, true)
    await bot.settled(id)
    expect(buttonsOf(bot.cards()[0])).toEqual([])
  })

  test("leaves two cards of one ask where we may not, and a click on the unknown one makes it known", async () => {
    const bot = await rig({ slack: { scopes: WITHOUT_HISTORY } })
    const id = await rooted(bot)
    bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "lose-reply", times: 1 })
    const [request = ""] = await bot.ask(id, [{}])
    await bot.settled(id)
    const [unknown, known] = bot.cards()
    expect(bot.cards().map(buttonsOf)).toEqual([
      ["approve", "decline"],
      ["approve", "decline"],
    ])
    expect(textOf(unknown?.blocks).includes(request)).toBe(true)
    expect(textOf(known?.blocks).includes(request)).toBe(true)

    await bot.decide(id, request, true)
    await bot.store.show.addCopy(id, `card:${request}`, unknown?.ts ?? "", "{}")
    await bot.settled(id)
    expect(bot.cards().map(buttonsOf)).toEqual([[], []])
    expect(bot.cards().map((card) => textOf(card).includes("Approved by Ada"))).toEqual([true, true])
  })

  test("a copy that becomes known long after the end is settled as well", async () => {
    const bot = await rig({ slack: { scopes: WITHOUT_HISTORY } })
    const id = await rooted(bot)
    bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "lose-reply", times: 1 })
    const [request = ""] = await bot.ask(id, [{}])
    await bot.settled(id)
    await bot.cancel(id)
    await bot.settled(id)
    expect(bot.cards().map((card) => buttonsOf(card).length)).toEqual([2, 0])
    await bot.store.show.addCopy(id, `card:${request}`, bot.cards()[0]?.ts ?? "", "{}")
    await bot.settled(id)
    expect(bot.cards().map(buttonsOf)).toEqual([[], []])
  })

  test("a process that ends between post and record leaves no copy with buttons, whoever goes on", async () => {
    const bot = await rig({ idle: true, slack: { scopes: WITHOUT_HISTORY } })
    const first = await bot.mortal()
    const id = await rooted(bot)
    const held = bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "hold", after: true, times: 1 })
    const [request = ""] = await bot.ask(id, [{}])
    await expect.poll(() => bot.cards().length).toBe(1)
    await first.die(id)
    bot.another()
    await expect.poll(() => bot.cards().length, { timeout: 10_000 }).toBe(2)
    await bot.settled(id)
    await bot.decide(id, request, true)
    await bot.store.show.addCopy(id, `card:${request}`, bot.cards()[0]?.ts ?? "", "{}")
    await bot.settled(id)
    expect(bot.cards().map(buttonsOf)).toEqual([[], []])
    held.release()
  })
})

describe("where nothing can be posted", () => {
  test.each([
    ["a channel that the bot is not in", NO_BOT, "not_in_channel", "Invite me"],
    ["a conversation between others", "D9", "channel_not_found", "Invite me"],
  ])("%s: the run ends cancelled, and the requester is told how to mend it", async (_, channel, error, remedy) => {
    const bot = await rig({ slack: { ackTimeout: 30 } })
    const id = await bot.begin({ channel, link: await responseUrl(bot) })
    await bot.settled(id)
    const { ended, rooted: stands } = await bot.run(id)
    expect(stands).toBe(false)
    expect(ended).toMatchObject({ how: "cancelled", words: expect.stringContaining(error) })
    expect(told(bot)).toEqual([expect.stringContaining(remedy)])
    expect(posts(bot).filter(({ args }) => args["channel"] === channel)).toHaveLength(1)
  })

  test("without a response url the word goes by direct message", async () => {
    const bot = await rig()
    const id = await bot.begin({ channel: NO_BOT })
    await bot.settled(id)
    expect(told(bot)).toEqual([expect.stringContaining("Invite me")])
  })

  test("a channel that is archived later: the run is cancelled, and nobody waits for a card", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    bot.slack.workspace.channels.set(OPS, { ...bot.slack.workspace.channel(OPS), is_archived: true })
    await bot.ask(id, [{}])
    await expect.poll(async () => (await bot.run(id)).cancelled !== undefined).toBe(true)
    await expect.poll(() => told(bot).some((word) => word.includes("no longer lets me write"))).toBe(true)
    const { asks } = await bot.run(id)
    expect(asks.map(({ settled }) => settled?.reason)).toEqual(["cancelled"])
  })

  test("a card that Slack refuses in every form: the ask is answered no, the requester told, the journal says why", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const refuse = bot.slack.workspace.misbehave({
      method: "chat.postMessage",
      channel: OPS,
      do: "error",
      error: "invalid_blocks",
    })
    const [request = ""] = await bot.ask(id, [{ tool: "reboot" }])
    await bot.settled(id)
    refuse.remove()
    expect(refuse.hits).toBe(2)
    expect((await bot.run(id)).asks[0]?.settled).toMatchObject({ ok: false, reason: "cancelled", via: "bot" })
    const [answer] = await bot.store.texts(id, [`answer:${request}`])
    expect(JSON.parse(answer ?? "")).toMatchObject({ id: request, ok: false, reason: "cancelled" })
    expect(told(bot).join()).toContain("did not take a card")
    const facts = (await bot.store.facts(id)).map((fact) => JSON.parse(fact) as { what: string; note?: string })
    expect(facts.at(-1)).toMatchObject({ what: "settled", note: expect.stringContaining("invalid_blocks") })
  })

  test("a root that was deleted is posted anew, and the thread goes on there", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    bot.slack.workspace.remove(OPS, bot.messages()[0]?.ts ?? "")
    expect(bot.messages()).toEqual([])
    await bot.ask(id, [{}])
    await expect.poll(() => bot.cards().length, { timeout: 10_000 }).toBe(1)
    await bot.settled(id)
    expect(bot.cards()[0]?.thread_ts).toBe(bot.messages()[0]?.ts)
  })
})

describe("Slack's pace", () => {
  test("changes that must wait hold up no new card, in the same channel or another", async () => {
    const bot = await rig()
    const [one, other, third] = [await rooted(bot), await rooted(bot), await rooted(bot, { channel: AUDIT })]
    const [request = ""] = await bot.ask(one, [{}])
    await bot.settled(one)
    const limited = bot.slack.workspace.misbehave({ method: "chat.update", do: "429", retryAfter: 30 })
    await bot.decide(one, request, false)
    await expect.poll(() => limited.hits).toBe(1)
    await bot.ask(other, [{ args: { n: 2 } }])
    await bot.ask(third, [{ args: { n: 3 } }])
    await expect.poll(() => [bot.cards().length, bot.cards(AUDIT).length]).toEqual([2, 1])
    expect(limited.hits).toBe(1)
  })

  test("a wait that Slack asked for is kept by whoever shows next", async () => {
    const bot = await rig({ idle: true })
    const first = bot.another()
    const id = await rooted(bot)
    const limited = bot.slack.workspace.misbehave({ method: "chat.update", do: "429", retryAfter: 30 })
    await bot.ask(id, [{}])
    await expect.poll(() => limited.hits).toBe(1)
    await first.stop()
    bot.another()
    const other = await bot.begin()
    await expect.poll(async () => (await bot.run(other)).rooted, { timeout: 5000 }).toBe(true)
    await bot.ask(other, [{ args: { n: 2 } }])
    await expect.poll(() => bot.cards().length).toBe(2)
    expect(limited.hits).toBe(1)
  })

  test("a call that hangs holds up no other run", async () => {
    const bot = await rig()
    const [one, other] = [await rooted(bot), await rooted(bot)]
    const held = bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "hold", times: 1 })
    await bot.ask(one, [{}])
    await expect.poll(() => held.hits).toBe(1)
    await bot.ask(other, [{ args: { n: 2 } }])
    await expect.poll(() => bot.cards().length).toBe(1)
    held.release()
    await bot.settled(one)
    expect(bot.cards()).toHaveLength(2)
  })
})

describe("several processes", () => {
  test("show each message once", async () => {
    const bot = await rig({ idle: true })
    for (let n = 0; n < 3; n++) bot.another()
    const ids = await Promise.all(Array.from({ length: 5 }, () => bot.begin()))
    await Promise.all(ids.map((id) => bot.settled(id)))
    await Promise.all(ids.map((id) => bot.ask(id, [{}])))
    await bot.settled(ids[0] ?? "", 50_000)
    expect(bot.messages()).toHaveLength(10)
    expect(bot.cards()).toHaveLength(5)
  })

  test("one that stops hands over at once", async () => {
    const bot = await rig({ idle: true })
    const first = bot.another()
    const id = await rooted(bot)
    await first.stop()
    bot.another()
    await bot.ask(id, [{}])
    await expect.poll(() => bot.cards().length, { timeout: 3000 }).toBe(1)
  })
})

test("no secret of others shows up in a message or a log", async () => {
  const bot = await rig()
  const secrets = ["xoxb-1111111111-2222222222-abcdefabcdef", "hunter2hunter2", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"]
  const id = await rooted(bot, { prompt: `use ${secrets[0]} please` })
  const command = `curl -H 'Authorization: Bearer ${secrets[0]}' postgres://u:${secrets[1]}@h -----BEGIN PRIVATE KEY-----\n${secrets[2]}\n-----END PRIVATE KEY-----`
  const [request = ""] = await bot.ask(id, [{ args: { command } }], `I use ${secrets[0]}`)
  await bot.settled(id)
  await bot.decide(id, request, true)
  await bot.settled(id)
  const seen = textOf(bot.slack.workspace.calls) + bot.logged.join("\n")
  for (const secret of secrets) {
    const at = seen.indexOf(secret)
    expect(at === -1 ? "" : seen.slice(at - 200, at + 100)).toBe("")
  }
  expect(textOf(bot.cards())).toContain("[slack token, ")
})

test("nothing is asked of Redis while nothing is due", async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const bot = await rig({ redis: server.url })
  const id = await rooted(bot)
  await bot.ask(id, [{}])
  await bot.settled(id)
  bot.quiet()
  const redis = new Redis(server.url)
  const processed = async (): Promise<number> =>
    Number(/total_commands_processed:(\d+)/.exec(await redis.info("stats"))?.[1])
  const before = await processed()
  await new Promise((resolve) => {
    setTimeout(resolve, 1500)
  })
  // Our own two looks; the loop would add one a look.
  expect((await processed()) - before).toBeLessThanOrEqual(2)
  await redis.quit()
})
