/**
 * What a run costs, counted and not timed: what goes to Redis for a whole life (start, ask, approve, done), and what a parked
 * run takes there.
 */
import { randomUUID } from "node:crypto"
import { Redis } from "ioredis"
import { pino } from "pino"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { Agent } from "../../src/agent/agent.ts"
import { createToolkit } from "../../src/agent/tool.ts"
import { settle } from "../../src/core/settle.ts"
import { openAsks, type Run } from "../../src/core/run.ts"
import { mintId } from "../../src/core/suspension.ts"
import { begin } from "../../src/core/turn.ts"
import { runIdOf } from "../../src/store/keys.ts"
import { Store } from "../../src/store/store.ts"
import { startWorker, type Worker } from "../../src/work/worker.ts"
import { scriptedModel, type ScriptedTurn } from "../fakes/model.ts"
import { startRedis, type TestRedis } from "../redis.ts"
import { ADA, eventually, quickTool, ROBIN, RULE } from "./crew.ts"

/** Bytes of what a run is asked for: with the call, no more than fit into 2 kB, where Redis rounds up. */
const TRANSCRIPT = 1800
const RUNS = 300

let redis: TestRedis
let admin: Redis
let store: Store
let worker: Worker
/** The asks that wait, and what ended, by run. */
const waiting = new Map<string, string>()
const ended = new Set<string>()

beforeAll(async () => {
  redis = await startRedis()
  admin = new Redis(redis.url)
  const turn: ScriptedTurn = ({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? "It was restarted." : { calls: [{ tool: "restart", args: { service: "web" } }] }
  const guard: Agent["guard"] = async () => ({
    do: "ask",
    rule: RULE,
    request: { id: mintId(), kind: "approval", prompt: "Restart web" },
  })
  const agent: Agent = {
    model: scriptedModel(Array<ScriptedTurn>(RUNS + 10).fill(turn)),
    tools: await createToolkit({ extraTools: [quickTool("restart")] }),
    maxTurns: 20,
    maxTokens: 1_000_000,
    maxAsksPerTurn: 10,
    retries: 0,
    guard,
    ruleOf: () => RULE,
  }
  const holding: { worker?: Worker } = {}
  store = await Store.open({
    url: redis.url,
    prefix: "cost",
    shards: 1,
    confirm: 0,
    outbox: false,
    onCommit: (id, { run }, at) => {
      const [ask] = openAsks(run)
      if (ask) waiting.set(id, ask.id)
      if (run.ended) ended.add(id)
      holding.worker?.committed(id, at)
    },
  })
  // Without a pulse: its own commits are all that moves a run here, so there is nothing that comes by chance.
  worker = startWorker({ store, owner: randomUUID(), agentOf: () => agent, log: pino({ level: "silent" }) })
  holding.worker = worker
})

afterAll(async () => {
  await worker.stop(1000)
  await store.close()
  admin.disconnect()
  await redis.stop()
})

/** A run, once it waits for an answer. */
async function park(): Promise<string> {
  const id = runIdOf("T1", randomUUID(), 1)
  const prompt = "restart the web tier"
  const transcript = [JSON.stringify({ role: "user", content: [{ type: "text", text: "x".repeat(TRANSCRIPT) }] })]
  const how = { id, cause: id, requester: ROBIN, channel: "C_OPS", prompt, keep: 3_600_000, rooted: true, transcript }
  const transition = (_: unknown, now: number) => ({ outcome: 1, step: begin({ ...how, via: "command" }, now) })
  await store.apply(id, transition, { known: "none" })
  await eventually(() => waiting.has(id))
  return id
}

async function approve(id: string): Promise<void> {
  const ask = waiting.get(id) ?? ""
  const known = await store.load(id)
  const tried = { ask, version: 1, ok: true, who: ADA, via: "click", cause: `click:${ask}` } as const
  const transition = (run: Run | undefined, now: number) =>
    run ? settle(run, tried, now) : { outcome: { kind: "unknown" } as const }
  await store.apply(id, transition, { notAfterMs: 15_000, known })
  await eventually(() => ended.has(id))
}

/** What was executed so far: commands that came from outside, and all, those of scripts included. */
async function executed(): Promise<{ trips: number; commands: number }> {
  const stats = await admin.info("commandstats")
  const calls = [...stats.matchAll(/cmdstat_(\S+?):calls=(\d+)/g)].map(
    ([, name, count]) => [name, Number(count)] as const,
  )
  const sum = (some: readonly (readonly [string | undefined, number])[]) => some.reduce((all, [, n]) => all + n, 0)
  return { trips: sum(calls.filter(([name]) => name === "eval" || name === "evalsha")), commands: sum(calls) }
}

test("a whole life takes seven round trips to Redis, and some fifty commands there", async () => {
  // The first one loads the scripts.
  await approve(await park())
  const before = await executed()
  await approve(await park())
  const after = await executed()
  expect(after.trips - before.trips).toBe(7)
  // Looking at the statistics is one as well.
  expect(after.commands - before.commands - 1).toBeLessThanOrEqual(52)
  expect(after.commands - before.commands - 1).toBeGreaterThan(30)
})

test("a parked run takes less than 2.45 kB beyond its transcript, beside its share of tables", async () => {
  const ids = await Promise.all(Array.from({ length: RUNS }, park))
  const keys = await admin.keys("*")
  expect(keys.filter((key) => key.includes(":run:"))).toHaveLength(RUNS + 2)
  // Not what the server uses in all: that has buffers in it.
  const sizes = await Promise.all(keys.map((key) => admin.memory("USAGE", key, "SAMPLES", 0)))
  const each =
    sizes.reduce<number>((sum, size) => sum + Number(size), 0) / keys.filter((key) => key.includes(":run:")).length
  const transcript = (await store.transcript(ids[0] ?? "")).join("").length
  expect(transcript).toBeGreaterThan(TRANSCRIPT)
  expect(each - transcript).toBeGreaterThan(1000)
  expect(each - transcript).toBeLessThan(2450)
})
