// Whole lifecycles (start, ask, approve, done) beside the minimal loop, and beside what others build: 2,000 bytes of
// transcript, one call that a person approves, a model that answers at once. Everyone takes turns, each in its own process.
import { contender } from "../contender.mjs"
import { median, quantile } from "../measure.mjs"
import { executed } from "../redis.mjs"

const AT_ONCE = [1, 16, 64]
const ROUNDS = 7
/** ms of a round each: the slower it is the longer, for enough of them. */
const TURN = { countersign: 600, plain: 300, bullmq: 400, "openai-agents": 400, langgraph: 600 }
/** Until the machine's code for them is what it is in a process of some age; on a slow machine as many as that takes. */
const WARM = {
  countersign: { most: 8000, ms: 15_000 },
  plain: { most: 8000, ms: 2000 },
  bullmq: { most: 6000, ms: 8000 },
  "openai-agents": { most: 3000, ms: 6000 },
  langgraph: { most: 1000, ms: 6000 },
}
const WARM_AGAIN_MS = 200

const NAMES = {
  plain: "plain EVALSHA loop",
  bullmq: "BullMQ",
  "openai-agents": "OpenAI Agents' RunState in Redis",
  langgraph: "LangGraph, SQLite saver",
}

/** Opens what is asked for, warm; what can't be opened is `missing`, with the reason. */
export async function openAll({ url, dir, table, names, sizes }) {
  const ours = await contender("countersign", { url })
  const bytes = await sizes()
  const all = [ours]
  for (const name of names) {
    try {
      all.push(await contender(name, { url, dir, sizes: bytes, transcript: "x".repeat(bytes.transcript) }))
    } catch (error) {
      table.missing(NAMES[name], error.message.split("\n", 1)[0])
    }
  }
  for (const one of all) await one.call("lifecycles", { atOnce: 16, ...WARM[one.name] })
  return all
}

/** Rounds by turns: of each contender by name, rates by round, all latencies, and round trips per lifecycle. */
export async function byTurns(all, atOnce, rounds = ROUNDS) {
  const found = Object.fromEntries(all.map(({ name }) => [name, { rates: [], latencies: [], trips: [], cpu: [] }]))
  for (const one of all) await one.call("lifecycles", { atOnce, ms: WARM_AGAIN_MS })
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, call } of all) {
      const { perSecond, latencies, trips, cpuUs } = await call("lifecycles", { atOnce, ms: TURN[name] })
      found[name].rates.push(perSecond)
      found[name].latencies.push(...latencies)
      found[name].trips.push(trips)
      found[name].cpu.push(cpuUs)
    }
  }
  return found
}

/** The median of the ratios of rounds that followed each other. */
const ratioOf = (ours, theirs) => median(ours.rates.map((rate, round) => rate / theirs.rates[round]))

export const rateRow = ({ ours, theirs, name, at, least }) => ({
  what: `lifecycles at ${at} at once`,
  unit: "/s",
  ours: median(ours.rates),
  beside: { name: NAMES[name], value: median(theirs.rates) },
  ratio: ratioOf(ours, theirs),
  least,
})

/** Beside the minimal loop. */
export async function lifecycles({ url, dir, table, admin, sizes }) {
  table.group("Lifecycles, beside a loop of four scripts that moves the same bytes")
  const all = await openAll({ url, dir, table, names: ["plain"], sizes })
  const columns = new Map()
  for (const at of AT_ONCE) {
    const found = await byTurns(all, at)
    columns.set(at, found)
    table.add(rateRow({ ours: found.countersign, theirs: found.plain, name: "plain", at, least: 0.4 }))
  }
  for (const at of AT_ONCE) {
    const { countersign, plain } = columns.get(at)
    table.add({
      what: `Node CPU per lifecycle at ${at}`,
      unit: "µs",
      ours: median(countersign.cpu),
      beside: { name: NAMES.plain, value: median(plain.cpu) },
    })
  }
  table.add({
    what: "answer to done, p50 at 1",
    unit: "ms",
    ours: median(columns.get(1).countersign.latencies),
    most: 1,
  })
  const p99 = (name) => quantile(columns.get(16)[name].latencies, 0.99)
  table.add({
    what: "answer to done, p99 at 16",
    unit: "ms",
    ours: p99("countersign"),
    beside: { name: NAMES.plain, value: p99("plain") },
    most: 3,
  })
  const commands = await executed(admin)
  const { done } = await all[0].call("lifecycles", { atOnce: 1, ms: 500 })
  const inside = ((await executed(admin)) - commands) / done
  table.add({ what: "round trips per lifecycle at 1", ours: median(columns.get(1).countersign.trips), most: 9 })
  table.add({ what: "Redis commands per lifecycle at 1, those inside of scripts too", ours: inside })
  for (const one of all) await one.close()
}

/** Beside what others build. */
export async function peers({ url, dir, table, sizes }) {
  table.group("Lifecycles, beside what others build")
  const all = await openAll({ url, dir, table, names: ["bullmq", "openai-agents", "langgraph"], sizes })
  const least = {
    bullmq: { 1: 1.5, 16: 2, 64: 2 },
    "openai-agents": {},
    langgraph: { 1: 10, 16: 10, 64: 10 },
  }
  for (const at of AT_ONCE) {
    const found = await byTurns(all, at, 5)
    for (const { name } of all.slice(1)) {
      table.add(rateRow({ ours: found.countersign, theirs: found[name], name, at, least: least[name][at] }))
    }
    if (at !== 16 || !found.bullmq) continue
    const p99 = (name) => quantile(found[name].latencies, 0.99)
    table.add({
      what: "answer to done, p99 at 16",
      unit: "ms",
      ours: p99("countersign"),
      beside: { name: NAMES.bullmq, value: p99("bullmq") },
      most: 1,
    })
  }
  for (const one of all) await one.close()
}
