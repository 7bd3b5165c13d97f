/**
 * Promise 6: a deadline is judged by Redis' clock in the atomic step. What is overdue has expired, whoever looks first, also
 * after downtime, and for a second as for ten years; an expired request never runs.
 */
import { Redis } from "ioredis"
import { afterEach, describe, expect, test, vi } from "vitest"
import type { TestContext } from "vitest"
import { utc } from "../../src/core/ask.ts"
import type { Ask, Run } from "../../src/core/run.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { redisUrl } from "../redis.ts"
import { wordsOf } from "./seen.ts"
import { APP1, APP2, must, OPS, REQ, Team, until } from "./team.ts"

vi.setConfig({ testTimeout: 120_000 })

const wanting = (name: string, args: Record<string, unknown> = {}): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name, args }] },
  { text: "That is all." },
]

const within = (expiresIn: string) => ({ approvals: [{ tool: "restart", do: "ask", expiresIn }] })

/** Resolves when Redis' clock is past the instant. */
const past = (it: Team, at: number): Promise<void> =>
  until(
    async () => (await it.store.now()) > at,
    () => "the deadline to pass",
    60_000,
  )

/** The only ask of a run whose turn is over. */
async function askOf(it: Team, run: Run): Promise<Ask> {
  const asked = must((await it.facts(run)).find(({ what }) => what === "asked"))
  const [text] = await it.store.texts(run.id, [`ask:${asked.ask}`])
  return JSON.parse(must(text)) as Ask
}

/** The whole story of a request that nobody answered. */
async function expectExpired(it: Team, run: Run): Promise<Ask> {
  const ended = await it.endOf(run.title, REQ, 60_000)
  expect(ended.ended?.how).toBe("done")
  expect(it.executions().filter(({ name }) => name === "restart")).toEqual([])
  const ask = await askOf(it, run)
  const settled = must(ask.settled)
  expect(settled).toMatchObject({ ok: false, reason: "expired", via: "timer" })
  expect(settled).not.toHaveProperty("by")
  expect(settled.at).toBeGreaterThanOrEqual(ask.expiresAt)
  const seen = ask.shownAt === undefined ? "the card is not known to have been delivered" : "nobody answered"
  const note = `${seen} before ${utc(ask.expiresAt)}`
  const facts = (await it.facts(run)).filter(({ what, ask: of }) => of && /^(settled|expired)$/.test(what))
  expect(facts).toMatchObject([{ what: "expired", via: "timer", outcome: "expired" }])
  expect(must(facts[0]).note).toBe(note)
  const [answer] = await it.store.texts(run.id, [`answer:${ask.id}`])
  expect(JSON.parse(must(answer))).toEqual({
    id: ask.id,
    ok: false,
    data: { note },
    reason: "expired",
  })
  expect(await it.results(run)).toEqual([
    { isError: true, output: expect.stringMatching(/^declined\/expired: [^\n]*\n/) as string },
  ])
  await it.closed(run, 60_000)
  return ask
}

describe.concurrent("a request that nobody answers", () => {
  test("for a second expires a second later, and its card says so", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, { scripts: { second: wanting("restart") }, config: within("1s") })
    await it.bot()
    const run = await it.begin("second")
    await it.endOf("second")
    const ask = await askOf(it, run)
    expect(ask.expiresAt - ask.at).toBe(1000)
    await expectExpired(it, run)
    // The look comes with the deadline, not with the next tick; the rest is for a busy machine.
    expect(must(ask.settled).at - ask.expiresAt).toBeLessThan(2500)
    await until(
      () => it.slack.workspace.messages(OPS).some(({ text }) => text.startsWith("Expired: restart")),
      () => "the card to say so",
    )
  })

  test("says that it could not be shown, when Slack took no card in time", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, { scripts: { hidden: wanting("restart") }, config: within("3s") })
    const { workspace } = it.slack
    await it.bot()
    let down: { remove: () => void } | undefined
    onTestFinished(
      workspace.on("call", () => {
        if (workspace.messages(OPS).length === 1)
          down ??= workspace.misbehave({ do: "status", status: 503, method: "chat.postMessage" })
      }),
    )
    const run = await it.begin("hidden")
    await it.endOf("hidden")
    must(down).remove()
    expect((await expectExpired(it, run)).shownAt).toBeUndefined()
  })

  test("holds up no other of its turn, which has a deadline of its own", async ({ onTestFinished }) => {
    const calls = [
      { id: "c1", name: "restart" },
      { id: "c2", name: "page" },
    ]
    const it = await Team.during(onTestFinished, {
      scripts: { both: [{ text: "Both.", calls }, { text: "Fine." }] },
      config: within("4s"),
    })
    await it.bot()
    const run = await it.begin("both")
    await it.runOf("both", ({ calls: [first] }) => first?.state === "done")
    const card = await it.slack.workspace.waitFor(
      () => it.cards().find(({ text }) => text.startsWith("The agent wants to run page")),
      30_000,
    )
    await it.click(APP1, card, "approve")
    await it.endOf("both")
    expect(it.executions().map(({ name }) => name)).toEqual(["page"])
    expect((await it.results(run)).map(({ isError }) => isError)).toEqual([true, false])
  })
})

describe.concurrent("a deadline that passes", () => {
  test("while the bot is dead: expired, whatever is pressed as soon as it is back", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, { scripts: { dead: wanting("restart") }, config: within("9s") })
    const first = await it.process()
    const run = await it.begin("dead")
    const card = await it.cardOf(run)
    await it.runOf("dead", ({ asks }) => asks[0]?.shownAt !== undefined)
    await first.kill()
    await past(it, must((await it.runOf("dead")).asks[0]).expiresAt)
    expect((await it.runOf("dead")).asks[0]?.settled).toBeUndefined()
    await it.process()
    await it.click(APP1, card, "approve")
    const ask = await expectExpired(it, run)
    await it.hears(APP1, `Too late: restart expired at ${utc(ask.expiresAt)} and counts as declined.`)
  })

  test("while Redis is out of reach: expired when it is back", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, { scripts: { away: wanting("restart") }, config: within("7s") })
    const proxy = await it.proxy()
    await it.bot({ redisUrl: proxy.url })
    const run = await it.begin("away")
    await it.cardOf(run)
    const { expiresAt } = must((await it.runOf("away")).asks[0])
    proxy.refuse(true)
    await past(it, expiresAt + 1500)
    proxy.refuse(false)
    const back = await it.store.now()
    const ask = await expectExpired(it, run)
    expect(must(ask.settled).at - back).toBeLessThan(5000)
  })

  /** Makes everybody believe that nothing is due, so that a press is the first to look. */
  async function blind(finished: TestContext["onTestFinished"], it: Team, run: Run): Promise<void> {
    const redis = new Redis(redisUrl())
    finished(() => redis.disconnect())
    await it.runOf(run.title, ({ asks }) => asks[0]?.shownAt !== undefined)
    const never = (await it.store.now()) + 86_400_000
    await redis.zadd(`{${it.prefix}:0}:agenda`, never, run.id)
    await past(it, must((await it.runOf(run.title)).asks[0]).expiresAt)
    expect((await it.runOf(run.title)).asks[0]?.settled).toBeUndefined()
  }

  test.for(["approve", "decline"])("is seen by the press that comes too late: %s", async (action, context) => {
    const { onTestFinished } = context
    const it = await Team.during(onTestFinished, { scripts: { late: wanting("restart") }, config: within("6s") })
    await it.bot()
    const run = await it.begin("late")
    const card = await it.cardOf(run)
    await blind(onTestFinished, it, run)
    await it.click(APP1, card, action)
    const ask = await expectExpired(it, run)
    await it.hears(APP1, `Too late: restart expired at ${utc(ask.expiresAt)}`)
    const facts = (await it.facts(run)).filter(({ what, via }) => what === "refused" && via === "click")
    expect(facts).toMatchObject([{ outcome: "too late", by: { user: APP1 }, ask: ask.id }])
  })

  test("is seen by whoever cancels too late: the request has expired, and then the run is cancelled", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, { scripts: { stop: wanting("restart") }, config: within("6s") })
    await it.bot()
    const run = await it.begin("stop")
    await it.cardOf(run)
    await blind(onTestFinished, it, run)
    await it.command(`cancel ${run.id}`)
    expect((await it.endOf("stop")).ended?.how).toBe("cancelled")
    expect((await askOf(it, run)).settled).toMatchObject({ reason: "expired", via: "timer" })
    const facts = (await it.facts(run)).map(({ what }) => what)
    expect(facts.slice(facts.indexOf("expired"))).toEqual(["expired", "cancelled", "finished", "finished"])
    expect(it.executions()).toEqual([])
  })
})

describe.concurrent("a deadline far away", () => {
  test("of thirty days, ten years or the year 9999 does not come early, and nothing of the run has a time to live", async ({
    onTestFinished,
  }) => {
    const never = "9999-12-31T23:59:59Z"
    const it = await Team.during(onTestFinished, {
      scripts: {
        month: wanting("restart", { n: 1 }),
        decade: wanting("page", { n: 2 }),
        never: wanting("confirm", { n: 3, expiresAt: never, prompt: "Sure?" }),
      },
      config: {
        expiresIn: "3650d",
        approvals: [
          { tool: "confirm", do: "allow" },
          { tool: "restart", do: "ask", expiresIn: "30d" },
        ],
      },
    })
    const redis = new Redis(redisUrl())
    onTestFinished(() => redis.disconnect())
    const first = await it.bot()
    const DAY = 86_400_000
    for (const [prompt, days] of [
      ["month", 30],
      ["decade", 3650],
      ["never", 3650],
    ] as const) {
      const run = await it.begin(prompt)
      await it.cardOf(run)
      const ask = must((await it.runOf(prompt)).asks[0])
      expect(ask.expiresAt - ask.at).toBe(days * DAY)
    }
    // Several looks at the clock, of two bots.
    const seen = await it.store.now()
    await past(it, seen + 2500)
    await first.stop()
    await it.bot()
    await past(it, seen + 5000)
    const runs = await it.runs()
    expect(runs.map(({ asks }) => asks.map(({ settled }) => settled))).toEqual([[undefined], [undefined], [undefined]])
    const keys = (await redis.keys(`{${it.prefix}:0}:*`)).filter((key) => runs.some(({ id }) => key.includes(id)))
    expect(keys.length).toBeGreaterThanOrEqual(3 * 3)
    expect(await Promise.all(keys.map((key) => redis.ttl(key)))).toEqual(keys.map(() => -1))
    for (const run of runs) await it.click(APP2, await it.cardOf(run), "approve")
    for (const run of runs) await it.endOf(run.title)
    expect(it.executions().map(({ args }) => args["n"])).toEqual(expect.arrayContaining([1, 2, 3]))
  })
})

describe("a deadline of the tool's own", () => {
  const zone = process.env["TZ"]
  afterEach(() => {
    if (zone === undefined) delete process.env["TZ"]
    else process.env["TZ"] = zone
    vi.useRealTimers()
  })

  test("counts as the instant it names, wherever the bot runs, and is never guessed", async ({ onTestFinished }) => {
    process.env["TZ"] = "America/New_York"
    const soon = new Date(Math.floor(Date.now() / 1000) * 1000 + 1_800_000)
    const text = soon.toISOString().slice(0, 19)
    const shifted = new Date(soon.getTime() + 2 * 3_600_000).toISOString().slice(0, 19)
    const names = { z: `${text}Z`, lower: `${text.toLowerCase()}z`, offset: `${shifted}+02:00`, zoneless: text }
    const it = await Team.during(onTestFinished, {
      scripts: Object.fromEntries(
        Object.entries(names).map(([name, expiresAt]) => [name, wanting("confirm", { expiresAt, prompt: "Sure?" })]),
      ),
    })
    await it.bot()
    for (const name of ["z", "lower", "offset"]) {
      const run = await it.begin(name)
      const card = await it.cardOf(run)
      expect([name, must((await it.runOf(name)).asks[0]).expiresAt]).toEqual([name, soon.getTime()])
      // A date that Slack shows in the reader's zone, and UTC beside it.
      expect(wordsOf(card)).toContain(`(${utc(soon.getTime())})`)
    }
    const run = await it.begin("zoneless")
    await it.endOf("zoneless")
    const [result] = await it.results(run)
    expect(result).toMatchObject({ isError: true })
    expect(must(result).output).toContain("expiresAt must be an RFC 3339 time with a zone")
    expect((await it.facts(run)).filter(({ what }) => what === "asked")).toEqual([])
  })

  test("that is over when it asks has expired", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, {
      scripts: { over: wanting("confirm", { expiresAt: "2020-01-01T00:00:00Z", prompt: "Sure?" }) },
    })
    await it.bot()
    const run = await it.begin("over")
    await expectExpired(it, run)
    expect(it.executions("confirm")).toHaveLength(1)
  })

  test.for([26, -26])("is judged by Redis' clock, however wrong ours is (%i h)", async (hours, { onTestFinished }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3_600_000 })
    const it = await Team.during(onTestFinished, {
      scripts: { open: wanting("page"), short: wanting("restart") },
      config: within("4s"),
    })
    await it.bot()
    const open = await it.begin("open")
    const card = await it.cardOf(open)
    await expectExpired(it, await it.begin("short"))
    expect((await it.runOf("open")).asks[0]?.settled).toBeUndefined()
    await it.click(APP1, card, "approve")
    await it.endOf("open")
    expect(it.executions().map(({ name }) => name)).toEqual(["page"])
  })
})
