/**
 * What the promises mean when Redis fails over to a replica that missed writes. What was acknowledged can be taken back then;
 * but nothing is half stored, no chain of facts breaks, nothing runs twice without a person's word, and people can go on.
 * With `redis.confirm` nothing that anybody was told, and no call that began, is taken back.
 */
import { describe, expect, test, vi, type TestContext } from "vitest"
import { brokenAt } from "../../src/core/fact.ts"
import type { Run } from "../../src/core/run.ts"
import { startPair, type Pair } from "../fakes/pair.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { isLive, reads, wordsOf } from "./seen.ts"
import { APP1, APP2, OPS, REQ, Team, until, type TeamOptions } from "./team.ts"

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

const wanting = (args: Record<string, unknown> = {}): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name: "restart", args }] },
  { text: "That is all." },
]

async function during(
  finished: TestContext["onTestFinished"],
  options: TeamOptions & { confirm?: number },
): Promise<{ pair: Pair; it: Team }> {
  const pair = await startPair()
  finished(() => pair.close())
  const { confirm = 0, config, ...rest } = options
  const it = await Team.start({ ...rest, redisUrl: pair.url })
  it.reconfigure({ redis: { prefix: it.prefix, confirm }, ...config })
  // Closed before the pair: what is registered last goes first.
  finished(() => it.close())
  return { pair, it }
}

/** The story of a run that ended after all that: whole, and closed. */
async function expectWhole(it: Team, run: Run, how = "done"): Promise<void> {
  const ended = await it.endOf(run.title, REQ, 90_000)
  expect(ended.ended?.how).toBe(how)
  expect(brokenAt(await it.facts(ended))).toBeUndefined()
  await it.closed(ended, 60_000)
}

function latch(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

const running = (it: Team, times = 1): Promise<void> =>
  until(
    () => it.executions("restart").length === times,
    () => `it to run: ${JSON.stringify(it.executions())}`,
  )

describe.concurrent("a failover that takes back", () => {
  test("the mark of a call that is running: its outcome still counts, and it runs once", async ({ onTestFinished }) => {
    const scripts: Record<string, WireTurn[]> = {}
    const { pair, it } = await during(onTestFinished, { scripts })
    scripts["web"] = wanting({ holdFile: it.path("go") })
    await it.bot()
    const run = await it.begin("web")
    const card = await it.cardOf(run)
    // Between the yes and the mark.
    const marking = pair.way.holdFrom('"via":"bot","what":"started"')
    const click = it.click(APP1, card, "approve")
    await marking
    await pair.fallBehind()
    pair.way.release()
    await click
    await running(it)
    await pair.failOver()
    it.release("go")
    await expectWhole(it, run)
    expect(it.executions("restart")).toHaveLength(1)
    expect(await it.results(run)).toEqual([{ isError: false, output: "restarted" }])
  })

  test("a yes on which a call is running: its outcome still counts, and it runs once", async ({ onTestFinished }) => {
    const scripts: Record<string, WireTurn[]> = {}
    const { pair, it } = await during(onTestFinished, { scripts })
    scripts["web"] = wanting({ holdFile: it.path("go") })
    await it.bot()
    const run = await it.begin("web")
    const card = await it.cardOf(run)
    await pair.fallBehind()
    await it.click(APP1, card, "approve")
    await running(it)
    await pair.failOver()
    it.release("go")
    await expectWhole(it, run)
    expect(it.executions("restart")).toHaveLength(1)
    expect(await it.results(run)).toEqual([{ isError: false, output: "restarted" }])
    await reads(it, "It had been answered, and Redis lost the answer. The call ran.")
  })

  test("a turn while the model thinks about the next: it goes on from what is left, and asks no more than it needs to", async ({
    onTestFinished,
  }) => {
    const scripts: Record<string, WireTurn[]> = {}
    const { pair, it } = await during(onTestFinished, { scripts })
    const [go, think] = [it.path("go"), latch()]
    const call = { id: "c1", name: "read", args: { holdFile: go } }
    scripts["look"] = [{ calls: [call] }, { text: "That is all.", hold: think.opened }]
    await it.bot()
    const run = await it.begin("look")
    await it.runOf("look", ({ calls }) => calls.length > 0)
    await pair.fallBehind()
    it.release("go")
    await it.provider.came(2)
    await pair.failOver()
    think.open()
    await expectWhole(it, run)
    expect(await it.results(run)).toHaveLength(1)
    // The first turn, the one whose ground was taken away, and the last.
    expect(it.provider.requests).toHaveLength(3)
  })
  test("an answer: its card is live again, and people can give it anew", async ({ onTestFinished }) => {
    const { pair, it } = await during(onTestFinished, { scripts: { web: wanting() } })
    await it.bot()
    const run = await it.begin("web")
    const card = await it.cardOf(run)
    await pair.fallBehind()
    await it.click(APP1, card, "decline")
    await it.endOf("web")
    await it.closed(run)
    await reads(it, "That is all.")
    await pair.failOver()
    await until(
      () => isLive(it.now(card)),
      () => `live again: ${wordsOf(it.now(card))}`,
      60_000,
    )
    expect((await it.runOf("web")).ended).toBeUndefined()
    await it.click(APP2, it.now(card), "decline")
    await expectWhole(it, run)
    expect(it.executions("restart")).toEqual([])
  })

  test("a request, or a whole run: what stands in Slack of it says so, and people can start it again", async ({
    onTestFinished,
  }) => {
    const scripts = { web: wanting(), api: wanting() }
    const { pair, it } = await during(onTestFinished, { scripts, config: { channels: [OPS, "C0WEB", "C0API"] } })
    for (const room of ["C0WEB", "C0API"]) it.room(room)
    await it.bot()
    const held = pair.way.holdFrom('"what":"asked"')
    await it.command("web", REQ, "C0WEB")
    await held
    await pair.fallBehind()
    pair.way.release()
    const web = await it.cardOf(await it.runOf("web"))
    const api = await it.cardOf(await it.begin("api", REQ, "C0API"))
    await pair.failOver()
    for (const card of [web, api]) {
      await until(
        () => wordsOf(it.now(card)).startsWith("This is lost: Redis failed over"),
        () => `it to be called lost: ${wordsOf(it.now(card))}`,
        60_000,
      )
    }
    expect((await it.runs()).map(({ title }) => title)).toEqual(["web"])
    // The one goes on by itself, the other is begun anew.
    const again = { web: await it.runOf("web"), api: await it.begin("api", REQ, "C0API") }
    for (const run of Object.values(again)) {
      await it.click(APP1, await it.cardOf(run), "approve")
      await expectWhole(it, run)
    }
    expect(it.executions("restart")).toHaveLength(2)
  })
})

describe.concurrent("with redis.confirm, a failover", () => {
  test("takes back no yes that was called recorded: what the replica lacks is called not known, and starts nothing", async ({
    onTestFinished,
  }) => {
    const { pair, it } = await during(onTestFinished, { scripts: { web: wanting(), api: wanting() }, confirm: 1 })
    await it.bot()
    const run = await it.begin("web")
    const card = await it.cardOf(run, "approve", 1, 60_000)
    await pair.fallBehind()
    await it.click(APP1, card, "approve")
    await it.hears(APP1, /^Not known yet whether/, 60_000)
    await it.command("api")
    await it.hears(REQ, /^Not known yet whether/, 60_000)
    expect([...it.told(APP1), ...it.told(REQ)].filter((text) => text.startsWith("Recorded"))).toEqual([])
    expect(it.executions("restart")).toEqual([])
    await pair.failOver()
    await pair.heal()
    await until(
      () => isLive(it.now(card)),
      () => `live again: ${wordsOf(it.now(card))}`,
      60_000,
    )
    await it.click(APP2, it.now(card), "approve")
    await expectWhole(it, run)
    expect(it.executions("restart")).toHaveLength(1)
    const settled = (await it.facts(run)).filter(({ what }) => what === "settled")
    expect(settled).toMatchObject([{ outcome: "approved", by: { user: APP2 } }])
  })

  test("forgets no call that began: where its outcome is lost, people are asked", async ({ onTestFinished }) => {
    const scripts: Record<string, WireTurn[]> = {}
    const { pair, it } = await during(onTestFinished, { scripts, confirm: 1 })
    scripts["web"] = wanting({ holdFile: it.path("go") })
    const bot = await it.process()
    const run = await it.begin("web")
    await it.click(APP1, await it.cardOf(run, "approve", 1, 60_000), "approve")
    await running(it)
    await pair.fallBehind()
    it.release("go")
    await it.endOf("web", REQ, 60_000)
    await bot.kill()
    await pair.failOver()
    await pair.heal()
    await it.process()
    await it.click(APP2, await it.cardOf(run, "done", 1, 90_000), "done")
    await expectWhole(it, run)
    expect(it.executions("restart")).toHaveLength(1)
  })
})
