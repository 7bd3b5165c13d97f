// Many deadlines within ten seconds that nobody met: how late each Answer is recorded, whether none is early or lost, and
// whether each run goes on; beside a plain sorted set, and beside BullMQ's delayed jobs.
import { contender } from "../contender.mjs"

const WITHIN_MS = 10_000
const CASES = [
  { count: 10_000, most: 50 },
  { count: 100_000, most: 1000 },
]
/** Runs parked first, to know how long parking takes. */
const SAMPLE = 2000
const PEERS = [
  { name: "plain", words: "plain sorted set", perSecond: 10_000 },
  { name: "bullmq", words: "BullMQ's delayed jobs", perSecond: 4000 },
]
/** After the last deadline, how long until all must have gone on. */
const PATIENCE_MS = 120_000

async function measured(one, admin, { count, perSecond }) {
  // Parking takes longer while other things go on here; then all over again, with more time for it.
  for (const slack of [1.4, 4, 12]) {
    const [seconds] = await admin.time()
    const from = Number(seconds) * 1000 + (slack * 1000 * count) / perSecond + 2000
    if (await one.call("parkDue", { count, from, every: WITHIN_MS / count })) {
      return one.call("due", { ms: from - Date.now() + WITHIN_MS + PATIENCE_MS })
    }
    await admin.flushall()
  }
  throw new Error(`${count} runs could not be parked in time: measure again when this machine has less to do`)
}

async function ours(url) {
  const one = await contender("countersign", { url })
  await one.call("lifecycles", { atOnce: 16, ms: 10_000, most: 3000 })
  const began = performance.now()
  await one.call("parkMany", SAMPLE)
  return { one, perSecond: (SAMPLE * 1000) / (performance.now() - began) }
}

const faultsOf = ({ early, lost, unended, twice, wrong }) => early + lost + unended + twice + wrong

export async function due({ url, table, admin, sizes }) {
  for (const { count, most } of CASES) {
    const title = `${count} deadlines within ten seconds`
    table.group(`${title}: how late the Answer is recorded`)
    const { one, perSecond } = await ours(url)
    const found = await measured(one, admin, { count, perSecond })
    await one.close()
    await admin.flushall()
    table.add({
      what: "Answers early, wrong, twice or lost, and runs that did not go on",
      ours: faultsOf(found),
      most: 0,
    })
    table.add({ what: "p99 late", unit: "ms", ours: found.p99, most })
    table.add({ what: "from the first deadline to the last run's end", unit: "s", ours: found.seconds })
    for (const { name, words, perSecond } of PEERS) {
      const peer = await contender(name, { url, sizes: await sizes(), transcript: "x".repeat(2000) })
      const theirs = await measured(peer, admin, { count, perSecond })
      await peer.close()
      await admin.flushall()
      for (const what of ["p50", "p99", "max"]) {
        table.add({ what: `${what} late`, unit: "ms", ours: found[what], beside: { name: words, value: theirs[what] } })
      }
      const faults = faultsOf(theirs)
      if (faults > 0) table.missing(`${words}: ${faults} early, wrong, twice, lost or not gone on`, "")
    }
  }
}
