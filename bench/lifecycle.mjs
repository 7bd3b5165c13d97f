// Measures the whole life of a run (start, ask, approve, done) against a minimal loop of EVALSHA commands that moves the
// same bytes, in the same process on the same Redis: what counts are the ratios. Needs dist/ and REDIS_URL (npm run bench).
import { randomBytes, randomUUID } from "node:crypto"
import { Redis } from "ioredis"
import { pino } from "pino"
import { createToolkit, defineTool } from "../dist/agent/tool.js"
import { settle } from "../dist/core/ask.js"
import { begin, took } from "../dist/core/turn.js"
import { sha256 } from "../dist/core/digest.js"
import { runIdOf } from "../dist/store/keys.js"
import { Store } from "../dist/store/store.js"
import { startPulse } from "../dist/work/pulse.js"
import { startWorker } from "../dist/work/worker.js"
import { plainLoop } from "./plain.mjs"

const url = process.env.REDIS_URL
if (!url) throw new Error("REDIS_URL is missing: run it with npm run bench")

const RULE = { approvers: ["U0APP"], selfApproval: false, expiresIn: 3_600_000, startWithin: 900_000 }
const APPROVER = { person: { team: "T1", user: "U0APP" }, standing: "member", member: {} }
const REQUESTER = { team: "T1", user: "U0REQ", name: "Robin" }
const log = pino({ level: "error" })

// Every command that leaves this process is a round trip: nothing is pipelined automatically.
let sent = 0
const { sendCommand } = Redis.prototype
Redis.prototype.sendCommand = function counted(command, stream) {
  sent += 1
  return sendCommand.call(this, command, stream)
}

const text = (bytes) =>
  randomBytes(Math.ceil(bytes / 2))
    .toString("hex")
    .slice(0, bytes)
const user = (words) => JSON.stringify({ role: "user", content: [{ type: "text", text: words }] })
const usage = {
  inputTokens: { total: 500, noCache: 500, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 50, text: 50, reasoning: 0 },
}

/** One call that must be asked about, then the final answer. */
const model = {
  specificationVersion: "v3",
  provider: "bench",
  modelId: "bench",
  supportedUrls: {},
  doGenerate: async ({ prompt }) => {
    const asked = prompt.at(-1)?.role === "tool"
    const content = asked
      ? [{ type: "text", text: "The web tier was restarted." }]
      : [{ type: "tool-call", toolCallId: "call_1", toolName: "restart", input: '{"service":"web"}' }]
    return { content, finishReason: { unified: asked ? "stop" : "tool-calls", raw: undefined }, usage, warnings: [] }
  },
}
const tools = await createToolkit({
  extraTools: [
    defineTool({
      name: "restart",
      description: "Restarts a service",
      inputSchema: { type: "object", properties: { service: { type: "string" } } },
      run: () => "restarted",
    }),
  ],
})
const agent = {
  model,
  tools,
  maxTurns: 20,
  maxTokens: 1e9,
  maxAsksPerTurn: 10,
  retries: 3,
  guard: async () => ({
    do: "ask",
    rule: RULE,
    request: { id: randomUUID(), kind: "approval", prompt: "Restart web" },
  }),
  ruleOf: () => RULE,
}

/** A bot without Slack: whoever waits for a run's ask or end is told by its commits. */
async function open(prefix) {
  const waiting = new Map()
  let worker
  const store = await Store.open({
    url,
    prefix,
    shards: 1,
    confirm: 0,
    outbox: false,
    log,
    onCommit: (id, step, at) => {
      worker?.committed(id, at)
      const open = step.run.asks.find((ask) => !ask.settled)
      if (open) waiting.get(id)?.asked(open.id)
      if (step.run.ended) waiting.get(id)?.ended()
    },
  })
  worker = startWorker({ store, owner: randomUUID(), agent, log, atOnce: 200 })
  return { store, worker, waiting, close: () => worker.stop(1000).then(() => store.close()) }
}

const start = (store, id, transcript, extra = []) =>
  store.apply(id, (run, now) =>
    run
      ? { outcome: undefined }
      : {
          outcome: undefined,
          step: begin(
            {
              id,
              cause: id,
              requester: REQUESTER,
              channel: "C0OPS",
              prompt: "restart the web tier",
              keep: 60_000,
              rooted: true,
              via: "command",
              transcript: [...extra, user(transcript)],
            },
            now,
          ),
        },
  )

async function click(store, id, ask) {
  const known = await store.load(id)
  const tried = { ask, version: 1, ok: true, who: APPROVER, via: "click", cause: `click:${ask}` }
  const applied = await store.apply(id, (run, now) => settle(run, tried, now), { notAfterMs: 15_000, known })
  if (applied.kind !== "applied" || applied.outcome.kind !== "recorded")
    throw new Error(`the click was not recorded: ${JSON.stringify(applied)}`)
}

async function lifecycle({ store, waiting }, transcript, latencies) {
  const id = runIdOf("T1", randomUUID(), 1)
  const asked = new Promise((resolve) => waiting.set(id, { asked: resolve, ended: () => {} }))
  await start(store, id, transcript)
  const ask = await asked
  const ended = new Promise((resolve) => waiting.set(id, { asked: () => {}, ended: resolve }))
  const began = performance.now()
  await click(store, id, ask)
  await ended
  latencies.push(performance.now() - began)
  waiting.delete(id)
}

/** Lifecycles per second with `atOnce` at a time, until `ms` have gone by. */
async function rate(one, atOnce, ms) {
  const began = performance.now()
  let done = 0
  const lane = async () => {
    while (performance.now() - began < ms) {
      await one()
      done += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return { perSecond: (done * 1000) / (performance.now() - began), done }
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]
const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))]
const n = (value, digits = 0) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
const row = (...cells) =>
  console.log(cells.map((cell, index) => (index === 0 ? String(cell).padEnd(34) : String(cell).padStart(13))).join(""))

const admin = new Redis(url)

async function lifecycles() {
  console.log("\nWhole lifecycles (start, ask, approve, done; 2 kB transcript), three rounds each, medians\n")
  row("at once", "1", "16", "64")
  const table = { ours: [], plain: [], ratio: [], p50: [], p99: [], trips: [] }
  for (const atOnce of [1, 16, 64]) {
    const rounds = { ours: [], plain: [], ratio: [] }
    const latencies = []
    let trips = 0
    let done = 0
    for (let round = 0; round < 3; round += 1) {
      await admin.flushall()
      const bot = await open("bench")
      const transcript = text(2000)
      await rate(() => lifecycle(bot, transcript, []), atOnce, 500)
      const before = sent
      const ours = await rate(() => lifecycle(bot, transcript, latencies), atOnce, 2500)
      trips += sent - before
      done += ours.done
      await bot.close()
      await admin.flushall()
      const loop = await plainLoop(url, 2000)
      await rate(loop.one, atOnce, 500)
      const plain = await rate(loop.one, atOnce, 2500)
      await loop.close()
      rounds.ours.push(ours.perSecond)
      rounds.plain.push(plain.perSecond)
      rounds.ratio.push(ours.perSecond / plain.perSecond)
    }
    table.ours.push(n(median(rounds.ours)))
    table.plain.push(n(median(rounds.plain)))
    table.ratio.push(n(median(rounds.ratio), 2))
    table.p50.push(n(quantile(latencies, 0.5), 1))
    table.p99.push(n(quantile(latencies, 0.99), 1))
    table.trips.push(n(trips / done, 1))
  }
  row("countersign, per second", ...table.ours)
  row("plain EVALSHA loop, per second", ...table.plain)
  row("ratio", ...table.ratio)
  row("answer to done, p50 ms", ...table.p50)
  row("answer to done, p99 ms", ...table.p99)
  row("round trips per lifecycle", ...table.trips)
}

const memory = async () => Number(/used_memory:(\d+)/u.exec(await admin.info("memory"))?.[1])

async function parked() {
  await admin.flushall()
  const bot = await open("parked")
  const transcript = text(2000)
  const before = await memory()
  const count = 10_000
  await inLanes(count, 64, async () => {
    const id = runIdOf("T1", randomUUID(), 1)
    const asked = new Promise((resolve) => bot.waiting.set(id, { asked: resolve, ended: () => {} }))
    await start(bot.store, id, transcript)
    await asked
    bot.waiting.delete(id)
  })
  const each = ((await memory()) - before) / count
  console.log(
    `\n${n(count)} parked runs: ${n(each)} bytes each, ${n(each - Buffer.byteLength(user(transcript)))} beyond the transcript`,
  )
  const idle = sent
  const stop = startPulse(bot.store, () => {}, log)
  await new Promise((resolve) => setTimeout(resolve, 5000))
  stop()
  console.log(`with nothing due: ${n((sent - idle) / 5, 1)} commands a second`)
  await bot.close()
}

async function inLanes(count, lanes, one) {
  let left = count
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (left > 0) {
        left -= 1
        await one()
      }
    }),
  )
}

/** A run with two asks whose first call already has its output, so that a click finds a sibling's output beside it. */
async function parkTwo(store, transcriptBytes, outputBytes) {
  const id = runIdOf("T1", randomUUID(), 1)
  await start(store, id, text(transcriptBytes))
  const args = '{"service":"web"}'
  const output = JSON.stringify({
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "a", toolName: "read", output: { type: "text", value: text(outputBytes) } },
    ],
  })
  const base = { tool: "restart", effects: "once", args, digest: sha256(args) }
  const planned = [
    { ...base, ref: "a", next: { do: "result", message: output, isError: false, why: "ok" } },
    { ...base, ref: "b", next: { do: "ask", rule: RULE, request: { id: "ask-b", kind: "approval", prompt: "b" } } },
    { ...base, ref: "c", next: { do: "ask", rule: RULE, request: { id: "ask-c", kind: "approval", prompt: "c" } } },
  ]
  const message = JSON.stringify({ role: "assistant", content: [] })
  await store.apply(id, (run, now) => ({
    step: took(run, { message, text: "", usage: { prompt: 1, completion: 1 }, planned }, now),
    outcome: undefined,
  }))
  return id
}

async function clicks() {
  console.log("\nOne click (read and commit), p50 ms of 300, by what stands beside the state\n")
  row("bytes", "2 kB", "200 kB", "2 MB")
  const sizes = [2e3, 2e5, 2e6]
  const measure = async (ofTranscript) => {
    const cells = []
    for (const size of sizes) {
      await admin.flushall()
      const store = await Store.open({ url, prefix: "clicks", shards: 1, confirm: 0, outbox: false, log })
      const times = []
      for (let i = 0; i < 300; i += 1) {
        const id = await parkTwo(store, ofTranscript ? size : 2e3, ofTranscript ? 2e3 : size)
        const began = performance.now()
        await click(store, id, "ask-b")
        times.push(performance.now() - began)
        await store.remove(id)
      }
      cells.push(n(quantile(times, 0.5), 2))
      await store.close()
    }
    return cells
  }
  row("transcript", ...(await measure(true)))
  row("a sibling's output", ...(await measure(false)))
}

console.log(
  `Node ${process.version}, Redis ${/redis_version:(\S+)/u.exec(await admin.info("server"))?.[1]}, append-only, everysec`,
)
await lifecycles()
await parked()
await clicks()
await admin.flushall()
await admin.quit()
