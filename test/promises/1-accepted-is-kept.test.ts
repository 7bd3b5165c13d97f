/** Promise 1: once a person was told "started" or "recorded", it survives a kill -9 of everything but Redis. */
import { describe, expect, test, vi } from "vitest"
import { brokenAt } from "../../src/core/fact.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { APP1, APP2, OPS, REQ, Team, until } from "./team.ts"

vi.setConfig({ testTimeout: 180_000 })

/** A turn that wants one call, and the last word. */
const wanting = (name: string, args: Record<string, unknown> = {}): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name, args }] },
  { text: "That is all." },
]

function gate(): { open: () => void; passed: Promise<void> } {
  let open: () => void = () => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, passed }
}

describe.concurrent("a bot that is killed", () => {
  test("while runs are at every point at once: all of them finish with the next bot", async ({ onTestFinished }) => {
    const rooms = ["ROOT", "MODEL", "CARD", "WAITS", "READ", "SCALE", "RESTART", "LAST"].map((name) => `C0${name}`)
    const [model, card, last] = [gate(), gate(), gate()]
    const scripts: Record<string, WireTurn[]> = {
      root: wanting("restart"),
      model: wanting("restart").map((turn, index) => (index === 0 ? { ...turn, hold: model.passed } : turn)),
      card: wanting("restart").map((turn, index) => (index === 0 ? { ...turn, hold: card.passed } : turn)),
      waits: wanting("restart"),
      last: wanting("restart").map((turn, index) => (index === 1 ? { ...turn, hold: last.passed } : turn)),
    }
    const it = await Team.during(onTestFinished, { scripts, config: { channels: rooms } })
    for (const room of rooms) it.room(room)
    for (const name of ["read", "scale", "restart"]) scripts[name] = wanting(name, { holdFile: it.path("go") })
    const { workspace } = it.slack
    const first = await it.process()

    // The first message of one run stands, and Slack's reply to it is under way; so it is with the card of another.
    const rootHeld = workspace.misbehave({
      do: "hold",
      method: "chat.postMessage",
      channel: "C0ROOT",
      after: true,
      times: 1,
    })
    const started = await Promise.all(
      Object.keys(scripts).map((name) => it.begin(name, REQ, `C0${name.toUpperCase()}`)),
    )
    const run = Object.fromEntries(started.map((one) => [one.title, one]))
    const of = (name: string) => {
      const found = run[name]
      if (!found) throw new Error(`no run ${name}`)
      return found
    }
    await it.runOf("card", ({ rooted }) => rooted)
    const cardHeld = workspace.misbehave({
      do: "hold",
      method: "chat.postMessage",
      channel: "C0CARD",
      after: true,
      times: 1,
    })
    card.open()
    for (const name of ["scale", "restart", "last"]) await it.click(APP1, await it.cardOf(of(name)), "approve")
    await it.cardOf(of("waits"))
    await until(
      () => rootHeld.hits + cardHeld.hits === 2 && it.executions().length === 4,
      () => `everything to hang: ${JSON.stringify(it.executions())}`,
    )
    await it.runOf("last", ({ turns, calls }) => turns === 1 && calls.length === 0)
    await it.runOf("model", ({ rooted }) => rooted)
    expect((await it.runOf("root")).rooted).toBe(false)

    await first.kill()
    it.release("go")
    for (const { open } of [model, last]) open()
    for (const { remove } of [rootHeld, cardHeld]) remove()
    await it.process()
    for (const name of ["waits", "root", "model", "card"])
      await it.click(APP2, await it.cardOf(of(name), "approve", 1, 60_000), "approve")
    await it.click(APP2, await it.cardOf(of("restart"), "done", 1, 60_000), "done")

    for (const name of Object.keys(scripts)) {
      const ended = await it.endOf(name, REQ, 60_000)
      expect([name, ended.ended?.how]).toEqual([name, "done"])
      await it.closed(ended, 60_000)
      expect(brokenAt(await it.facts(ended))).toBeUndefined()
      // The provider refuses a transcript that isn't balanced; this is what it was told last.
      expect((await it.results(ended)).length).toBe(1)
    }
    const byTool = (name: string) => it.executions(name).length
    // root, model, card, waits, last and the one whose outcome a person knew: once each. What may be repeated was.
    expect({ restart: byTool("restart"), scale: byTool("scale"), read: byTool("read") }).toEqual({
      restart: 6,
      scale: 2,
      read: 2,
    })
  })

  test("after an answer was stored, and the next one before the call began: the yes is carried out once", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, { scripts: { once: wanting("restart", { service: "web" }) } })
    const [before, between] = [await it.proxy(), await it.proxy()]
    const first = await it.process({ REDIS_URL: before.url })
    const run = await it.begin("once")
    const card = await it.cardOf(run)
    // It is stored, and whoever stored it never gets to know.
    await it.runOf("once", ({ asks }) => asks[0]?.shownAt !== undefined)
    const deaf = before.holdFrom('"what":"settled"', "replies")
    await it.click(APP1, card, "approve")
    await deaf
    const stored = await it.runOf("once", ({ asks }) => asks[0]?.settled !== undefined)
    expect(stored.asks[0]?.settled).toMatchObject({ ok: true, by: { user: APP1 } })
    expect(stored.calls[0]?.state).toBe("ready")
    await first.kill()

    const starts = between.holdFrom('"via":"bot","what":"started"')
    const second = await it.process({ REDIS_URL: between.url })
    await starts
    await second.kill()
    expect(it.executions()).toEqual([])

    await it.process()
    expect((await it.endOf("once", REQ, 60_000)).ended?.how).toBe("done")
    expect(it.executions()).toMatchObject([{ name: "restart", args: { service: "web" } }])
    // What the dead had sent arrives at last, and changes nothing.
    const after = await it.store.load(run.id)
    between.release()
    for (let round = 0; round < 50; round++) {
      expect((await it.store.load(run.id))?.revision).toBe(after?.revision)
    }
    expect(it.executions()).toHaveLength(1)
    expect(it.provider.requests).toHaveLength(2)
    await it.closed(run)
  })
})

test("stopping changes nothing that waits, and the next bot takes the click", async ({ onTestFinished }) => {
  const it = await Team.during(onTestFinished, { scripts: { stop: wanting("restart") } })
  const first = await it.bot()
  const run = await it.begin("stop")
  const card = await it.cardOf(run)
  await it.runOf("stop", ({ asks }) => asks[0]?.shownAt !== undefined)
  const before = await it.store.load(run.id)
  await first.stop()
  const after = await it.store.load(run.id)
  expect([after?.revision, after?.run]).toEqual([before?.revision, before?.run])
  await it.bot()
  await it.click(APP1, card, "approve")
  expect((await it.endOf("stop")).ended?.how).toBe("done")
  expect(it.executions()).toHaveLength(1)
})

describe.concurrent("when Redis' replies are lost", () => {
  test("a command starts one run, and a click, a start and a result count once", async ({ onTestFinished }) => {
    const names = ["started", "settled", "running", "finished"]
    const it = await Team.during(onTestFinished, {
      scripts: Object.fromEntries(names.map((name) => [name, wanting("restart", { run: name })])),
      config: { channels: names.map((name) => `C0${name.toUpperCase()}`) },
    })
    const proxy = await it.proxy()
    await it.bot({ redisUrl: proxy.url })
    const lost = {
      started: '"via":"command","what":"started"',
      settled: '"what":"settled"',
      running: '"via":"bot","what":"started"',
      finished: '"outcome":"ok","prev"',
    }
    for (const [name, text] of Object.entries(lost)) {
      const room = it.room(`C0${name.toUpperCase()}`)
      let swallowed = name === "started" ? proxy.swallowReplyTo(text) : Promise.resolve()
      const seen = await it.command(name, REQ, room)
      await swallowed
      expect(seen.acked).toBe(true)
      const run = await it.runOf(name)
      const card = await it.cardOf(run)
      if (name !== "started") swallowed = proxy.swallowReplyTo(text)
      await it.click(APP1, card, "approve")
      await swallowed
      expect([name, (await it.endOf(name)).ended?.how]).toEqual([name, "done"])
      const facts = await it.facts(run)
      const count = (what: string) => facts.filter((fact) => fact.what === what).length
      expect([name, count("settled"), count("refused"), brokenAt(facts)]).toEqual([name, 1, 0, undefined])
      expect(it.executions().filter(({ args }) => args["run"] === name)).toHaveLength(1)
    }
    expect(await it.runs()).toHaveLength(names.length)
    // Nobody is told anything but what became of it.
    expect(it.told(APP1).filter((text) => !text.startsWith("Recorded"))).toEqual([])
    expect(it.told(REQ).filter((text) => !/^(Started|Received)/.test(text))).toEqual([])
  })

  test("a click that nobody knows of is never recorded afterwards, and pressing again works", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, { scripts: { unknown: wanting("restart") } })
    const proxy = await it.proxy()
    await it.bot({ redisUrl: proxy.url })
    const run = await it.begin("unknown")
    const card = await it.cardOf(run)
    // Nothing else changes the run, so that what is held would still be stored when it arrives.
    await it.runOf("unknown", ({ asks }) => asks[0]?.shownAt !== undefined)
    const held = proxy.holdFrom('"what":"settled"')
    const seen = await it.click(APP1, card, "approve")
    expect(seen).toMatchObject({ acked: true })
    await held
    await it.hears(APP1, "Not known yet", 40_000)
    proxy.release()
    await it.click(APP2, card, "decline")
    await it.endOf("unknown", REQ, 60_000)
    const settled = (await it.facts(run)).filter(({ what }) => what === "settled")
    expect(settled).toMatchObject([{ outcome: "declined", by: { user: APP2 } }])
    expect(it.executions()).toEqual([])
  })
})

describe("when Redis is slow", () => {
  test("commands and clicks have their ack in time, which claims nothing, and hear of it later", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, { scripts: { slow: wanting("restart") } })
    const proxy = await it.proxy()
    await it.bot({ redisUrl: proxy.url })
    proxy.delay(2000)
    const typed = await it.command("slow")
    // Slack waits for three seconds; ours is one, and the rest is for a busy machine.
    expect(typed.ackMs).toBeLessThan(2500)
    expect(JSON.stringify(typed.response)).toContain("Received. I'll tell you here when it is recorded.")
    expect(await it.runs()).toEqual([])
    const run = await it.runOf("slow")
    await it.hears(REQ, /^Started\./)
    proxy.delay(0)
    const card = await it.cardOf(run)
    // So slow a Redis takes one change of a run within a person's patience, and not always two.
    await it.runOf("slow", ({ asks }) => asks[0]?.shownAt !== undefined)
    proxy.delay(2000)
    const pressed = await it.click(APP1, card, "approve")
    expect(pressed.acked).toBe(true)
    expect(pressed.ackMs).toBeLessThan(2500)
    expect((await it.runOf("slow")).asks[0]?.settled).toBeUndefined()
    await it.runOf("slow", ({ asks, ended }) => asks[0]?.settled?.ok === true || ended !== undefined)
    proxy.delay(0)
    expect((await it.endOf("slow")).ended?.how).toBe("done")
    expect(await it.runs()).toHaveLength(1)
    expect(it.executions()).toHaveLength(1)
  })
})

test("when Redis is gone a click is said not to be recorded, the buttons stay, and the next one works", async ({
  onTestFinished,
}) => {
  const it = await Team.during(onTestFinished, { scripts: { gone: wanting("restart") } })
  const proxy = await it.proxy()
  await it.bot({ redisUrl: proxy.url })
  const run = await it.begin("gone")
  const card = await it.cardOf(run)
  proxy.refuse(true)
  expect(await it.click(APP1, card, "approve")).toMatchObject({ acked: true })
  await it.hears(APP1, "Not recorded: nothing has changed. Please press again.")
  proxy.refuse(false)
  expect(it.cards("approve", OPS)).toHaveLength(1)
  expect((await it.runOf("gone")).asks[0]?.settled).toBeUndefined()
  await it.click(APP1, card, "approve")
  expect((await it.endOf("gone")).ended?.how).toBe("done")
  expect(it.executions()).toHaveLength(1)
})
