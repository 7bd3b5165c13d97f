import { randomUUID } from "node:crypto"
import { Redis } from "ioredis"
import { pino } from "pino"
import { expect, onTestFinished, test } from "vitest"
import { createToolkit } from "../../src/agent/tool.ts"
import { mintId } from "../../src/core/suspension.ts"
import { rooted } from "../../src/core/thread.ts"
import { begin } from "../../src/core/turn.ts"
import type { Rule } from "../../src/core/policy.ts"
import { merge, step } from "../../src/core/run.ts"
import { ADA, AUDIT, BOT, OPS, ROBIN } from "../../src/sandbox/seed.ts"
import { runIdOf } from "../../src/store/keys.ts"
import type { StoreOptions } from "../../src/store/store.ts"
import { startWorker, type Worker } from "../../src/work/worker.ts"
import { scriptedModel } from "../fakes/model.ts"
import { startRedis } from "../redis.ts"
import { buttonsOf, rig, type Rig } from "./show.rig.ts"

/** A third of a thousand, unless it is asked for: the thousand costs half a minute of a processor. */
const RUNS = Number(process.env["CROWD"] ?? 330) / 10
const ASKS = 10
const CHANNELS = [OPS, AUDIT, "C0ROOM1", "C0ROOM2", "C0ROOM3"]
/** One change in 25 ms: so many take longer than the runs do. */
const RATES = {
  "chat.postMessage": { every: 25, burst: 4 },
  "chat.update": { every: 25, burst: 1 },
}

/** A run that waits, and what stands of it in Slack: put there without a call, as it looked when it was asked about. */
async function parked(bot: Rig, channel: string, expiresAt: number): Promise<string> {
  const trigger = randomUUID()
  const id = runIdOf("T1", trigger, 1)
  const requester = { team: "T1", user: ROBIN, name: "Robin" }
  await bot.store.apply(id, (_, now) => {
    const how = { id, cause: trigger, requester, channel, prompt: "look after it", keep: 86_400_000, rooted: false }
    const transcript = [JSON.stringify({ role: "user", content: [{ type: "text", text: how.prompt }] })]
    const first = begin({ ...how, via: "command", transcript }, now)
    return { outcome: undefined, step: merge(first, rooted(first.run, "1700000000.000100", now)) }
  })
  const calls = Array.from({ length: ASKS }, (_, n) => ({ args: { n } }))
  const asks = await bot.ask(id, calls)
  await bot.change(id, (run, now) => {
    const due = { ...run, asks: run.asks.map((ask) => ({ ...ask, expiresAt, shownAt: now })) }
    return step(due, now, [], { show: "" })
  })
  const { workspace } = bot.slack
  const post = async (slot: string, text: string, thread?: string): Promise<string> => {
    const button = { type: "button", action_id: "approve", value: "x" }
    const blocks = [
      { type: "section", text },
      { type: "actions", elements: [button] },
    ]
    const { ts } = workspace.post({ channel, user: BOT, text, blocks, ...(thread ? { thread_ts: thread } : {}) })
    await bot.store.show.recordSent(id, slot, JSON.stringify({ copies: [{ channel, ts, hash: "as it was" }] }))
    return ts
  }
  const root = await post("root", "Waiting")
  for (const ask of asks) await post(`card:${ask}`, "Fingerprint", root)
  return id
}

/** One who works, in this process. */
async function working(bot: Rig): Promise<Worker> {
  const model = scriptedModel(Array.from({ length: RUNS }, () => "Nobody answered, so I leave it."))
  const tools = await createToolkit({ extraTools: [{ name: "restart", description: "restarts", run: () => "done" }] })
  const rule: Rule = { approvers: [ADA], selfApproval: false, expiresIn: 3_600_000, startWithin: 900_000 }
  const worker = startWorker({
    store: bot.store,
    owner: randomUUID(),
    agentOf: () => ({
      model,
      tools,
      maxTurns: 20,
      maxTokens: 1e6,
      maxAsksPerTurn: 10,
      retries: 2,
      guard: async () => ({ do: "ask", rule, request: { id: mintId(), kind: "approval", prompt: "Run it" } }),
      ruleOf: () => rule,
    }),
    log: pino({ level: "silent" }),
  })
  const pulse = setInterval(() => worker.wake(), 500)
  onTestFinished(async () => {
    clearInterval(pulse)
    await worker.stop(100)
  })
  return worker
}

test(`${RUNS * ASKS} requests that expire in the same second: all runs go on at once, every card follows at Slack's pace`, async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const redis = new Redis(server.url)
  onTestFinished(() => redis.disconnect())
  // Each look at a run reads what was sent of it.
  const looks = async (): Promise<number> =>
    Number(/cmdstat_hgetall:calls=(\d+)/.exec(await redis.info("commandstats"))?.[1])
  const at: { work?: Worker } = {}
  const onCommit: StoreOptions["onCommit"] = (id, _, left) => at.work?.committed(id, left)
  const bot = await rig({ redis: server.url, idle: true, show: { rates: RATES, tellAfter: 600_000 }, onCommit })
  const { workspace } = bot.slack
  const { members } = workspace.channel(OPS)
  for (const id of CHANNELS.slice(2)) workspace.addChannel({ id, members: [...members] })
  // Redis' clock, in a while: until then it is made.
  const expiresAt = (await bot.store.now()) + 3000
  const rooms = Array.from({ length: RUNS }, (_, n) => CHANNELS[n % CHANNELS.length] ?? OPS)
  const ids = await Promise.all(rooms.map((room) => parked(bot, room, expiresAt)))
  const cards = () => CHANNELS.flatMap((channel) => bot.cards(channel))
  const live = () => cards().filter((card) => buttonsOf(card).length > 0)
  expect(live()).toHaveLength(RUNS * ASKS)
  await expect.poll(() => bot.store.now(), { timeout: 10_000 }).toBeGreaterThan(expiresAt)

  workspace.misbehave({ method: "chat.update", do: "pace", ms: 5 })
  await redis.config("RESETSTAT")
  at.work = await working(bot)
  // As seldom as in a bot: looking costs more than what is looked for.
  bot.quiet()
  const show = bot.another()
  const pulse = setInterval(
    () =>
      void bot.store.peek().then(
        (seen) => show.tick(seen),
        () => undefined,
      ),
    500,
  )
  onTestFinished(() => clearInterval(pulse))
  const ended = async () => {
    const runs = await Promise.all(ids.map((id) => bot.run(id)))
    return runs.filter((run) => run.ended !== undefined).length
  }
  await expect.poll(ended, { timeout: 90_000, interval: 1000 }).toBe(RUNS)
  // Nobody waited for Slack.
  expect(live().length).toBeGreaterThan(0)
  const due = async () => {
    const { cards, rest } = await bot.store.peek()
    return [cards, rest]
  }
  await expect.poll(due, { timeout: 120_000, interval: 500 }).toEqual([undefined, undefined])
  const calls = workspace.calls.filter(({ method }) => method.startsWith("chat."))
  expect(cards()).toHaveLength(RUNS * ASKS)
  expect(live()).toEqual([])
  expect(cards().filter((card) => JSON.stringify(card).includes("Nobody answered in time"))).toHaveLength(RUNS * ASKS)
  expect(calls.filter(({ method }) => method === "chat.postMessage")).toHaveLength(RUNS)
  expect(calls.filter(({ response }) => response?.["ok"] !== true).length).toBeLessThan(20)
  // Before a call, after it, and now and then in vain: whoever waits for a turn is not looked at meanwhile.
  expect(await looks()).toBeLessThan(4 * calls.length)
}, 240_000)
