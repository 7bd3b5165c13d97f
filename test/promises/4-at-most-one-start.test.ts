/**
 * Promise 4: before a call with effects starts, that is stored. Whatever dies afterwards, it is not repeated unasked: people
 * are told that the outcome is unknown. Only what a tool declares repeatable runs again by itself.
 */
import { describe, expect, test, vi } from "vitest"
import { brokenAt } from "../../src/core/fact.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { wordsOf } from "./seen.ts"
import { APP1, APP2, must, REQ, Team, until } from "./team.ts"

vi.setConfig({ testTimeout: 180_000 })

const wanting = (name: string, args: Record<string, unknown> = {}): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name, args }] },
  { text: "That is all." },
]

const rooms = (names: readonly string[]): string[] => names.map((name) => `C0${name.toUpperCase()}`)

describe.concurrent("a bot that is killed inside a tool", () => {
  const names = ["again", "done", "failed", "silent", "repeated", "plain", "twice"]

  test("repeats nothing unasked: people say what became of it, and silence counts as failed", async ({
    onTestFinished,
  }) => {
    const tools: Record<string, string> = { silent: "page", repeated: "scale", plain: "read" }
    const scripts: Record<string, WireTurn[]> = {}
    const it = await Team.during(onTestFinished, {
      scripts,
      config: {
        channels: rooms(names),
        approvals: [
          { tool: "read", do: "allow" },
          { tool: "page", do: "ask", expiresIn: "8s" },
        ],
      },
    })
    for (const name of names) {
      it.room(`C0${name.toUpperCase()}`)
      scripts[name] = wanting(tools[name] ?? "restart", { run: name, holdFile: it.path("go") })
    }
    const ran = (name: string) => it.executions().filter(({ args }) => args["run"] === name)
    const first = await it.process()
    const begun = await Promise.all(names.map((name) => it.begin(name, REQ, `C0${name.toUpperCase()}`)))
    for (const run of begun) if (run.title !== "plain") await it.click(APP1, await it.cardOf(run), "approve")
    await until(
      () => it.executions().length === names.length,
      () => `everything to run: ${JSON.stringify(it.executions())}`,
    )
    await first.kill()
    it.release("go")
    await it.process()
    const run = Object.fromEntries(begun.map((one) => [one.title, one]))
    const doubt = async (name: string) => it.cardOf(must(run[name]), "again", 1, 60_000)

    // Both of its attempts may be in doubt.
    const card = await doubt("again")
    expect(card.text).toMatch(/^Unknown outcome: restart\. Asked for by robin\. Please decide by /)
    expect(wordsOf(card)).toContain("It may have run wholly, in part or not at all.")
    for (const name of ["again", "done", "failed", "silent", "twice"]) expect(ran(name)).toHaveLength(1)
    await it.click(APP2, card, "again")
    await it.click(APP2, await doubt("done"), "done")
    await it.click(APP2, await doubt("failed"), "failed")
    // The requester may say that it failed, and no more.
    await it.click(REQ, await doubt("twice"), "again")
    await it.click(REQ, await doubt("twice"), "done")
    await until(
      () => it.told(REQ).filter((text) => text.includes("You asked for this run, so somebody else")).length === 2,
      () => JSON.stringify(it.told(REQ)),
    )
    await it.click(REQ, await doubt("twice"), "failed")

    for (const name of names) {
      const ended = await it.endOf(name, REQ, 60_000)
      expect([name, ended.ended?.how]).toEqual([name, "done"])
      await it.closed(ended, 60_000)
      expect(brokenAt(await it.facts(ended))).toBeUndefined()
    }
    expect(Object.fromEntries(names.map((name) => [name, ran(name).length]))).toEqual({
      again: 2,
      done: 1,
      failed: 1,
      silent: 1,
      repeated: 2,
      plain: 2,
      twice: 1,
    })
    // Both attempts of one call bear its id, so that a tool can tell that it is the same; and each its own.
    const both = ran("repeated")
    expect(new Set(both.map(({ callId }) => callId)).size).toBe(1)
    expect(new Set(both.map(({ attempt }) => attempt)).size).toBe(2)

    const result = async (name: string) => must((await it.results(must(run[name])))[0])
    expect(await result("again")).toEqual({ isError: false, output: "restarted" })
    expect(await result("repeated")).toEqual({ isError: false, output: "scaled" })
    expect(await result("done")).toEqual({
      isError: false,
      output: "done: grace says that it was done. It was not executed again; its output is not known.",
    })
    expect(await result("failed")).toEqual({
      isError: true,
      output:
        "failed: outcome unknown. The attempt was interrupted; grace recorded it as failed. It was not executed again.",
    })
    expect(await result("silent")).toEqual({
      isError: true,
      output:
        "failed: outcome unknown. The attempt was interrupted; nobody could say what came of it. It was not executed again.",
    })
    const facts = async (name: string) =>
      (await it.facts(must(run[name])))
        .filter(({ call }) => call !== undefined)
        .map(({ what, outcome }) => `${what}${outcome === undefined ? "" : ` ${outcome}`}`)
    expect(await facts("silent")).toEqual([
      "asked guard",
      "shown",
      "settled approved",
      "started",
      "asked doubt",
      "shown",
      "expired expired",
      "finished outcome unknown",
    ])
    expect(await facts("again")).toEqual([
      "asked guard",
      "shown",
      "settled approved",
      "started",
      "asked doubt",
      "shown",
      "settled again",
      "started",
      "finished ok",
    ])
  })
})

describe.concurrent("a bot that comes back", () => {
  test("after others took its run over delivers what it did: the doubt is closed, and nothing runs twice", async ({
    onTestFinished,
  }) => {
    const scripts: Record<string, WireTurn[]> = {}
    const it = await Team.during(onTestFinished, { scripts })
    scripts["frozen"] = wanting("restart", { holdFile: it.path("go") })
    const first = await it.process()
    const run = await it.begin("frozen")
    await it.click(APP1, await it.cardOf(run), "approve")
    await until(
      () => it.executions().length === 1,
      () => "the tool to run",
    )
    first.freeze()
    await it.bot()
    const doubt = await it.cardOf(run, "again", 1, 60_000)
    first.thaw()
    it.release("go")
    const ended = await it.endOf("frozen")
    expect(ended.ended?.how).toBe("done")
    expect(await it.results(run)).toEqual([{ isError: false, output: "restarted" }])
    expect(it.executions()).toHaveLength(1)
    const facts = await it.facts(run)
    expect(facts.filter(({ what }) => what === "settled").map(({ outcome }) => outcome)).toEqual(["approved", "known"])
    await it.closed(run)
    await until(
      () => it.now(doubt).text.startsWith("Outcome known: restart"),
      () => it.now(doubt).text,
    )
    // Too late to have it run again.
    await it.click(APP2, doubt, "again")
    await it.hears(APP2, /^Already settled: outcome known, restart at /)
    expect(it.executions()).toHaveLength(1)
  })
})

describe.concurrent("a yes", () => {
  test("that was not used in time is asked again, and the old one starts nothing", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, {
      scripts: { aged: wanting("restart") },
      config: { startWithin: "1s" },
    })
    const proxy = await it.proxy()
    await it.bot({ redisUrl: proxy.url })
    const run = await it.begin("aged")
    const first = await it.cardOf(run)
    // It is stored, and the bot can't get to know that before it is too old.
    await it.runOf("aged", ({ asks }) => asks[0]?.shownAt !== undefined)
    const deaf = proxy.holdFrom('"what":"settled"', "replies")
    await it.click(APP1, first, "approve")
    await deaf
    const yes = must((await it.runOf("aged", ({ calls }) => calls[0]?.state === "ready")).calls[0]?.yes)
    await until(
      async () => (await it.store.now()) > yes.at + yes.within,
      () => "the yes to age",
    )
    proxy.release()
    await until(
      () => it.cards().some(({ ts }) => ts !== first.ts),
      () => "the second card",
    )
    const second = must(it.cards().find(({ ts }) => ts !== first.ts))
    expect(it.executions()).toEqual([])
    expect((await it.runOf("aged")).calls[0]?.state).toBe("asked")
    // The first card can't be pressed again to any effect.
    await it.click(APP2, first, "approve")
    await it.hears(APP2, /^Already settled: approved, restart by ada \(U0APP1\)/)
    expect(it.executions()).toEqual([])
    await it.click(APP2, second, "approve")
    await it.endOf("aged")
    expect(it.executions()).toHaveLength(1)
    const settled = (await it.facts(run)).filter(({ what }) => what === "settled")
    expect(settled.map(({ by, outcome }) => [by?.user, outcome])).toEqual([
      [APP1, "approved"],
      [APP2, "approved"],
    ])
    expect(new Set(settled.map(({ ask }) => ask)).size).toBe(2)
    await it.closed(run)
  })

  test("is carried out once by any number of bots", async ({ onTestFinished }) => {
    const names = Array.from({ length: 12 }, (_, index) => `many${index}`)
    const it = await Team.during(onTestFinished, {
      scripts: Object.fromEntries(names.map((name) => [name, wanting("restart", { name })])),
      config: { channels: rooms(names) },
    })
    await Promise.all([it.bot(), it.bot(), it.bot()])
    await Promise.all(
      names.map(async (name) => {
        const run = await it.begin(name, REQ, it.room(`C0${name.toUpperCase()}`))
        await it.click(APP1, await it.cardOf(run), "approve")
        await it.endOf(name)
      }),
    )
    expect(
      it
        .executions()
        .map(({ args }) => String(args["name"]))
        .toSorted(),
    ).toEqual(names.toSorted())
    expect(it.provider.requests).toHaveLength(2 * names.length)
  })
})
