/** A thread is a conversation: what people say there is read once, in order, decides nothing, and is lost by no crash and no race. */
import { describe, expect, test, vi } from "vitest"
import { brokenAt } from "../../src/core/fact.ts"
import type { Run } from "../../src/core/run.ts"
import { envelope } from "../../src/sandbox/socket.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { APP1, APP2, OPS, OUT, REQ, Team, must, until, type Message } from "./team.ts"

vi.setConfig({ testTimeout: 120_000 })

const BOT = "@countersign"

const say = (it: Team, text: string, { user = REQ, thread = "", channel = OPS } = {}): Message =>
  must(it.slack.workspace.say(user, channel, text, thread === "" ? undefined : thread))

/** What people said, as the model was given it, in the order of the transcript. */
async function read(it: Team, run: Run): Promise<string[]> {
  const entries = (await it.store.transcript(run.id)).map((text) => JSON.parse(text) as Entry)
  return entries.filter(({ role }) => role === "user").flatMap(({ content }) => content.map(({ text }) => text))
}

interface Entry {
  role: string
  content: { text: string }[]
}

function gate(): { open: () => void; passed: Promise<void> } {
  let open: () => void = () => undefined
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { open: () => open(), passed }
}

const threadOf = (it: Team, ts: string, channel = OPS): string[] =>
  it.slack.workspace.messages(channel, ts).map((message) => JSON.stringify([message.text, message.blocks ?? []]))

/** Resolves when so many messages of the thread say it. */
const shows = (it: Team, ts: string, words: string, times = 1, channel = OPS): Promise<void> =>
  until(
    () => threadOf(it, ts, channel).filter((text) => text.includes(words)).length === times,
    () => `${times} × “${words}” in ${threadOf(it, ts, channel).join("\n")}`,
  )

const settled = (run: Run): boolean => run.ended !== undefined

describe.concurrent("a thread", () => {
  test("goes on for three replies, by two people, across a kill -9 and with each event sent twice", async ({
    onTestFinished,
  }) => {
    const turns: WireTurn[] = [
      { text: "First answer." },
      { text: "Second answer." },
      { text: "I look.", calls: [{ id: "c1", name: "restart", args: { n: 1 } }] },
      { text: "Third answer." },
      { text: "Fourth answer." },
    ]
    const prompt = "look after web"
    const it = await Team.during(onTestFinished, { scripts: { [prompt]: turns } })
    it.slack.workspace.misbehave({ do: "repeat", envelope: "events_api" })
    const first = await it.process()
    const { ts } = say(it, `${BOT} ${prompt}`)
    await shows(it, ts, "First answer.")
    // All of it lives below the message that asked for it.
    expect(it.slack.workspace.messages(OPS).filter(({ thread_ts: root }) => root === undefined)).toEqual([])
    say(it, "and then?", { thread: ts })
    await shows(it, ts, "Second answer.")
    say(it, "restart it", { thread: ts, user: APP1 })
    const card = await it.card()
    await first.kill()
    const second = await it.process()
    await it.click(APP1, card, "approve")
    await it.hears(APP1, "You spoke in this run, so somebody else has to approve it")
    await it.click(APP2, card, "approve")
    await shows(it, ts, "Third answer.")
    say(it, "thanks", { thread: ts })
    await shows(it, ts, "Fourth answer.")
    const run = await it.run(settled)
    expect(await read(it, run)).toEqual([prompt, "and then?", "ada (U0APP1): restart it", "thanks"])
    expect(it.executions("restart")).toHaveLength(1)
    expect(await it.runs()).toHaveLength(1)
    for (const words of ["First", "Second", "Third", "Fourth"]) await shows(it, ts, `${words} answer.`)
    expect(brokenAt(await it.facts(run))).toBeUndefined()
    await second.stop()
  })

  test("keeps what is said while a card waits: it answers nothing, and is read after the decision", async ({
    onTestFinished,
  }) => {
    const turns: WireTurn[] = [
      { text: "It helps.", calls: [{ id: "c1", name: "restart", args: { n: 1 } }] },
      { text: "More.", calls: [{ id: "c2", name: "restart", args: { n: 2 } }] },
      { text: "Done." },
    ]
    const it = await Team.during(onTestFinished, { turns })
    await it.bot()
    await it.command("restart web")
    const card = await it.card()
    const thread = must(card.thread_ts)
    say(it, "approve, and restart worker", { thread, user: APP1 })
    await it.hears(APP1, "Kept: the agent reads this at its next step. It decides nothing about a card that waits.")
    const waits = await it.run()
    expect(waits.asks.map(({ settled: how }) => how)).toEqual([undefined])
    // The agent had not read it when it asked: she is a second person to this card, and to the next one none.
    await it.click(APP1, card, "approve")
    await until(
      () => it.cards().some(({ ts }) => ts !== card.ts),
      () => "the second card",
    )
    const next = must(it.cards().find(({ ts }) => ts !== card.ts))
    expect(JSON.stringify(next.blocks)).toContain("ada (U0APP1) spoke as well")
    await it.click(APP1, next, "approve")
    await it.hears(APP1, "You spoke in this run")
    await it.click(APP2, next, "approve")
    const run = await it.run(settled)
    expect(await read(it, run)).toEqual(["restart web", "ada (U0APP1): approve, and restart worker"])
    expect(it.executions("restart").map(({ args }) => args["n"])).toEqual([1, 2])
  })

  test("wakes once for two replies that come at once to two processes, and both are read", async ({
    onTestFinished,
  }) => {
    const said = Array.from({ length: 8 }, (_, n): WireTurn => ({ text: `Answer ${n}.` }))
    const it = await Team.during(onTestFinished, { turns: said })
    await Promise.all([it.bot(), it.bot()])
    await it.command("look")
    await it.ended()
    const thread = must((await it.run()).thread)
    say(it, "one", { thread })
    say(it, "two", { thread, user: APP1 })
    const run = await it.run((now) => settled(now) && (now.stretch?.n ?? 0) >= 1 && (now.said ?? []).length === 0)
    await until(
      async () => (await read(it, run)).length === 3,
      () => "both to be read",
    )
    expect((await read(it, run)).toSorted()).toEqual(["ada (U0APP1): two", "look", "one"])
    expect(await it.runs()).toHaveLength(1)
    expect((await it.facts(run)).filter(({ what }) => what === "said")).toHaveLength(2)
  })

  test("loses no reply that races the final answer, and shows each answer once", async ({ onTestFinished }) => {
    const races = Array.from({ length: 12 }, (_, n) => ({
      n,
      room: `C0RACE${n}`,
      prompt: `race ${n}`,
      answers: gate(),
    }))
    // How often the agent is asked depends on who is faster.
    const turns = (n: number, first: Promise<void>): WireTurn[] =>
      [0, 1, 2].map((turn) => ({ text: `Answer ${turn} to ${n}.`, ...(turn === 0 ? { hold: first } : {}) }))
    const scripts = Object.fromEntries(races.map(({ n, prompt, answers }) => [prompt, turns(n, answers.passed)]))
    const it = await Team.during(onTestFinished, { scripts, config: { channels: races.map(({ room }) => room) } })
    for (const { room } of races) it.room(room)
    await Promise.all([it.bot(), it.bot()])
    const asked = (prompt: string): boolean =>
      it.provider.requests.some(({ body }) => JSON.stringify(body).includes(prompt))
    await Promise.all(
      races.map(async ({ n, room, prompt, answers }) => {
        const { ts } = say(it, `${BOT} ${prompt}`, { channel: room })
        await until(
          () => asked(`"${prompt}"`),
          () => `the model to be asked ${prompt}`,
        )
        answers.open()
        // Somewhere between the answer's arriving, being stored and being shown.
        await new Promise((resolve) => setTimeout(resolve, n * 4))
        say(it, `reply ${n}`, { thread: ts, channel: room })
        const run = await it.runOf(prompt, (now) => settled(now) && now.heard !== undefined && now.said === undefined)
        expect(await read(it, run)).toEqual([prompt, `reply ${n}`])
        for (let turn = 0; turn < run.turns; turn++) await shows(it, ts, `Answer ${turn} to ${n}.`, 1, room)
      }),
    )
  })
})

describe.concurrent("a message", () => {
  test("that is for others, or of somebody without a say, or no person's, changes nothing; whoever names the bot is told", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, { turns: [{ text: "Hello." }, { text: "Again." }] })
    await it.bot()
    const { workspace } = it.slack
    await it.command("look")
    const thread = must((await it.ended()).thread)
    say(it, "@ada what do you think?", { thread })
    say(it, "restart all of it", { thread, user: OUT })
    say(it, "not in a thread, and names nobody")
    say(it, `${BOT} restart all of it`, { thread, user: OUT })
    await it.hears(OUT, "Not taken up. You are not among those who may go on with this run.")
    say(it, `${BOT} start`, { user: OUT })
    await it.hears(OUT, "You are not among those who may start runs.")
    say(it, BOT)
    await it.hears(REQ, "What shall I do?")
    const last = must(workspace.deliveries.findLast(({ envelope: sent }) => sent.payload["type"] === "event_callback"))
    const base = { type: "message", channel: OPS, channel_type: "channel", user: REQ, text: "go on", thread_ts: thread }
    const odd = [
      { ...base, bot_id: "B1" },
      { ...base, subtype: "message_changed", message: { ...base } },
      { ...base, subtype: "channel_join" },
      { ...base, edited: { user: REQ, ts: "1" } },
      { ...base, user: "U0BOT" },
      { ...base, user: undefined },
      { ...base, ts: "nonsense" },
    ]
    for (const [n, one] of odd.entries()) {
      const payload = { ...last.envelope.payload, event: { ts: `1800000000.00000${n}`, ...one } }
      await workspace.deliver(envelope("events_api", payload))
    }
    // Whoever comes after them is heard, so they have been dealt with.
    say(it, "go on", { thread })
    const after = await it.run((now) => now.turns === 2 && settled(now))
    expect(await read(it, after)).toEqual(["look", "go on"])
    expect((await it.facts(after)).filter(({ what }) => what === "said")).toHaveLength(1)
    expect(await it.runs()).toHaveLength(1)
  })

  test("to the app itself starts a run whose cards stand where others see them", async ({ onTestFinished }) => {
    const turns: WireTurn[] = [
      { text: "It helps.", calls: [{ id: "c1", name: "restart", args: { n: 1 } }] },
      { text: "Restarted." },
      { text: "Any time." },
    ]
    const ROOM = "C0CARDS"
    const doors = { message: { cards: ROOM, prompts: ["Restart web"] } }
    const it = await Team.during(onTestFinished, { turns, config: { doors } })
    it.room(ROOM)
    await it.bot()
    const { workspace } = it.slack
    const { id: channel } = workspace.openDm("U0BOT", REQ)
    await workspace.openHome(REQ, "messages")
    await until(
      () => workspace.beside.promptsOf(channel).some(({ message }) => message === "Restart web"),
      () => "what might be asked to be offered",
    )
    const { ts } = say(it, "restart web", { channel })
    const card = await it.card(1, "approve", ROOM)
    await it.click(APP2, card, "approve")
    await shows(it, ts, "Restarted.", 1, channel)
    // The status went with the first message that the bot wrote there.
    expect(workspace.beside.statusesOf(channel)).toEqual({})
    say(it, "thanks", { channel, thread: ts })
    await shows(it, ts, "Any time.", 1, channel)
    const told = (words: string): boolean => it.told(APP1).some((text) => text.includes(words))
    const { id: closed } = workspace.openDm("U0BOT", OUT)
    say(it, "restart all", { channel: closed, user: OUT })
    await it.hears(OUT, "You are not among those who may start runs.")
    expect(told("restart all")).toBe(false)
    expect(it.executions("restart")).toHaveLength(1)
  })
})
