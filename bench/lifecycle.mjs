// Measures the whole life of a run (start, ask, approve, done) against a minimal loop of EVALSHA commands that moves the
// same bytes, in the same process on the same Redis, by turns: what counts are the ratios. Needs dist/ and REDIS_URL
// (npm run bench).
import { randomUUID } from "node:crypto"
import { Redis } from "ioredis"
import { sha256 } from "../dist/core/digest.js"
import { took } from "../dist/core/turn.js"
import { runIdOf } from "../dist/store/keys.js"
import { Store } from "../dist/store/store.js"
import { click, log, openBot, RULE, start, text, userMessage } from "./bot.mjs"
import { plainLoop } from "./plain.mjs"

const url = process.env.REDIS_URL
if (!url) throw new Error("REDIS_URL is missing: run it with npm run bench")

/** What is measured, and for how long: enough rounds for a median, few enough for two minutes on a small machine. */
const AT_ONCE = [1, 16, 64]
const ROUNDS = 7
const OURS_MS = 600
const PLAIN_MS = 300
/** Lifecycles until the machine's code for them is what it is in a process of some age; on a slow machine as many as that takes. */
const WARM = { count: 8000, ms: 15_000 }
const WARM_AGAIN_MS = 400
/** Bytes of a transcript when its run is parked: what was asked for, and the model's call. */
const TRANSCRIPT = 2000
const CALL_BYTES = 122
const PARKED = 10_000
const CLICKS = 60

// Every command that leaves this process is a round trip: nothing is pipelined automatically.
let sent = 0
// oxlint-disable-next-line typescript/unbound-method -- it is called with the client it belongs to
Redis.prototype.sendCommand = new Proxy(Redis.prototype.sendCommand, {
  apply(send, redis, args) {
    sent += 1
    return Reflect.apply(send, redis, args)
  },
})

const admin = new Redis(url)
const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))]
const median = (list) => quantile(list, 0.5)
const n = (value, digits = 0) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
const row = (...cells) =>
  console.log(cells.map((cell, index) => (index === 0 ? String(cell).padEnd(34) : String(cell).padStart(13))).join(""))

/** Lifecycles per second with `atOnce` at a time, until `ms` have gone by, or so many are done. */
async function rate(one, atOnce, ms, most = Infinity) {
  const began = performance.now()
  let done = 0
  const lane = async () => {
    while (performance.now() - began < ms && done < most) {
      await one()
      done += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return { perSecond: (done * 1000) / (performance.now() - began), done }
}

/** What to ask for, so that the transcript is as long as it should be. */
const asking = () => text(TRANSCRIPT - CALL_BYTES - userMessage("").length)

const bytesOf = ({ texts, append }) =>
  [...Object.values(texts), ...append.filter((entry) => typeof entry === "string")].join("").length

/** How many bytes a lifecycle writes, by what it is for, in the four steps of the minimal loop. */
async function measure() {
  const sizes = { transcript: TRANSCRIPT, parking: 0, answering: 0, facts: 0, ending: 0 }
  const bot = await openBot(url, "measured", (step) => {
    const { asks, ended } = step.run
    const part = asks.some(({ settled }) => settled) ? "answering" : asks.length > 0 || !ended ? "parking" : "ending"
    sizes[part] += JSON.stringify(step.run).length + bytesOf(step)
    sizes.facts += JSON.stringify(step.facts).length
  })
  await bot.lifecycle(asking())
  await bot.close()
  sizes.parking -= sizes.transcript
  return sizes
}

/** Commands that Redis has executed, those inside of scripts included. */
async function executed() {
  const stats = await admin.info("commandstats")
  return [...stats.matchAll(/calls=(\d+)/gu)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}

async function lifecycles() {
  const sizes = await measure()
  const total = Object.values(sizes).reduce((sum, size) => sum + size)
  console.log(
    `\nWhole lifecycles (start, ask, approve, done; ${n(TRANSCRIPT)} bytes of transcript, ${n(total)} bytes written in all): ` +
      `medians of ${ROUNDS} rounds each, by turns\n`,
  )
  await warm(sizes)
  row("at once", ...AT_ONCE)
  const columns = []
  for (const atOnce of AT_ONCE) columns.push(await compare(atOnce, sizes))
  const print = (name, digits, of) => row(name, ...columns.map((column) => n(of(column), digits)))
  print("countersign, per second", 0, ({ ours }) => median(ours))
  print("plain EVALSHA loop, per second", 0, ({ plain }) => median(plain))
  print("ratio", 2, ({ ours, plain }) => median(ours.map((one, round) => one / plain[round])))
  print("answer to done, p50 ms", 1, ({ latencies }) => median(latencies))
  print("answer to done, p99 ms", 1, ({ latencies }) => quantile(latencies, 0.99))
  print("round trips per lifecycle", 1, ({ trips }) => trips)
  print("Redis commands per lifecycle", 1, ({ commands }) => commands)
}

async function warm(sizes) {
  const bot = await openBot(url, "warm")
  const loop = plainLoop(url, sizes)
  const transcript = asking()
  await rate(() => bot.lifecycle(transcript), 64, WARM.ms, WARM.count)
  await rate(loop.one, 64, PLAIN_MS)
  await bot.close()
  await loop.close()
}

async function compare(atOnce, sizes) {
  await admin.flushall()
  const bot = await openBot(url, "bench")
  const loop = plainLoop(url, sizes)
  const transcript = asking()
  const latencies = []
  const one = async () => latencies.push(await bot.lifecycle(transcript))
  const counts = { trips: 0, commands: 0, done: 0 }
  const rounds = { ours: [], plain: [] }
  await rate(one, atOnce, WARM_AGAIN_MS)
  await rate(loop.one, atOnce, WARM_AGAIN_MS)
  latencies.length = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = { trips: sent, commands: await executed() }
    const ours = await rate(one, atOnce, OURS_MS)
    counts.trips += sent - before.trips - 1
    counts.commands += (await executed()) - before.commands - 1
    counts.done += ours.done
    rounds.ours.push(ours.perSecond)
    rounds.plain.push((await rate(loop.one, atOnce, PLAIN_MS)).perSecond)
  }
  await bot.close()
  await loop.close()
  return { ...rounds, latencies, trips: counts.trips / counts.done, commands: counts.commands / counts.done }
}

const memory = async () => Number(/used_memory:(\d+)/u.exec(await admin.info("memory"))?.[1])

async function parked() {
  await admin.flushall()
  const bot = await openBot(url, "parked")
  const transcript = asking()
  const before = await memory()
  let left = PARKED
  const lane = async () => {
    while (left > 0) {
      left -= 1
      await bot.park(transcript)
    }
  }
  await Promise.all(Array.from({ length: 64 }, lane))
  const each = ((await memory()) - before) / PARKED
  console.log(`\n${n(PARKED)} parked runs: ${n(each)} bytes each, ${n(each - TRANSCRIPT)} beyond the transcript`)
  const seconds = 4
  const idle = sent
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  console.log(`with nothing due: ${n((sent - idle) / seconds, 1)} commands a second`)
  await bot.close()
}

/** A run with two asks whose first call already has its output, so that a click finds a sibling's output beside it. */
async function parkTwo(store, transcript, output) {
  const id = runIdOf("T1", randomUUID(), 1)
  await start(store, id, transcript)
  const args = '{"service":"web"}'
  const result = { type: "tool-result", toolCallId: "a", toolName: "read", output: { type: "text", value: output } }
  const message = JSON.stringify({ role: "tool", content: [result] })
  const base = { tool: "restart", effects: "once", args, digest: sha256(args) }
  const asked = (ref, id) => ({
    ...base,
    ref,
    next: { do: "ask", rule: RULE, request: { id, kind: "approval", prompt: ref } },
  })
  const planned = [
    { ...base, ref: "a", next: { do: "result", message, isError: false, why: "ok" } },
    asked("b", "ask-b"),
    asked("c", "ask-c"),
  ]
  const turn = { message: '{"role":"assistant","content":[]}', text: "", usage: { prompt: 1, completion: 1 }, planned }
  await store.apply(id, (run, now) => ({ step: took(run, turn, now), outcome: undefined }))
  return id
}

/** Median ms of a click for each of the sizes, which take turns: what else the machine does meets all alike. */
async function clickTimes(store, sizes, park) {
  const times = sizes.map(() => [])
  for (let i = 0; i < CLICKS; i += 1) {
    for (const [index, size] of sizes.entries()) {
      const id = await park(size)
      await store.now()
      const began = performance.now()
      await click(store, id, "ask-b")
      times[index].push(performance.now() - began)
      await admin.flushall("ASYNC")
    }
  }
  return times.map((of) => n(median(of), 2))
}

async function clicks() {
  console.log(`\nOne click (read and commit), median ms of ${CLICKS}, by what stands beside the state\n`)
  const small = text(TRANSCRIPT)
  const store = await Store.open({ url, prefix: "clicks", shards: 1, confirm: 0, outbox: false, log })
  row("bytes", "2 kB", "200 kB", "2 MB")
  const sizes = [2e3, 2e5, 2e6].map(text)
  row("transcript", ...(await clickTimes(store, sizes, (big) => parkTwo(store, big, small))))
  row("a sibling's output", ...(await clickTimes(store, sizes, (big) => parkTwo(store, small, big))))
  await store.close()
}

// Rewriting its file takes a core for seconds, from whoever happens to be measured then.
await admin.config("SET", "auto-aof-rewrite-percentage", "0")
const version = /redis_version:(\S+)/u.exec(await admin.info("server"))?.[1]
console.log(`Node ${process.version}, Redis ${version}, append-only, everysec`)
await lifecycles()
await parked()
await clicks()
await admin.flushall()
await admin.quit()
