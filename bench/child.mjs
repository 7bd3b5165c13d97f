// One contender, asked over IPC: child.mjs <name> <options as JSON>. Whatever its `open` gives can be called; `lifecycles` is
// made of its `one`, which lives one run and returns the ms from answer to done.
import { countTrips, repeat } from "./measure.mjs"
import { recorded } from "./profile.mjs"

const [name, options] = process.argv.slice(2)
const trips = countTrips()
const opened = import(`./contenders/${name}.mjs`).then(({ open }) => open(JSON.parse(options)))

async function lifecycles(how) {
  const { one } = await opened
  const before = trips()
  const cpu = process.cpuUsage()
  const { perSecond, done, results } = await repeat(one, how)
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond, done, latencies: results, trips: (trips() - before) / done, cpuUs: (user + system) / done }
}

/** What a second without anything to do costs. */
async function idle(ms) {
  const before = trips()
  const cpu = process.cpuUsage()
  await new Promise((resolve) => setTimeout(resolve, ms))
  const { user, system } = process.cpuUsage(cpu)
  return { trips: ((trips() - before) * 1000) / ms, cpuMs: (user + system) / ms }
}

/** Bytes of heap in use after a collection, for which Node must run with --expose-gc. */
async function heap() {
  for (let i = 0; i < 3; i += 1) {
    globalThis.gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

/** Records what a call does, into a file. */
const profile = (file, what, ...args) => recorded(file, () => call(what, args))

const own = { ready: async () => void (await opened), lifecycles, idle, heap, profile }

// Whatever is still open here ends with whoever asked.
process.on("disconnect", () => process.exit())
async function call(what, args) {
  return Object.hasOwn(own, what) ? own[what](...args) : (await opened)[what](...args)
}

async function answer({ id, what, args }) {
  try {
    process.send({ id, value: await call(what, args) })
  } catch (error) {
    process.send({ id, error: error.stack })
  }
}

process.on("message", (message) => void answer(message))
