// Counting and timing alike for all that is measured: rates over a time, medians over rounds, round trips to Redis.
import { createRequire } from "node:module"

export const quantile = (list, q) =>
  list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))]
export const median = (list) => quantile(list, 0.5)
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** How often `one` is done with `atOnce` at a time, until `ms` have gone by or `most` are done; `results` is what it returned. */
export async function repeat(one, { atOnce, ms, most = Infinity }) {
  const began = performance.now()
  const results = []
  let begun = 0
  const lane = async () => {
    while (performance.now() - began < ms && begun < most) {
      begun += 1
      results.push(await one())
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return { perSecond: (results.length * 1000) / (performance.now() - began), done: results.length, results }
}

/**
 * Counts what this process sends to Redis: every command is a round trip, since nothing is pipelined automatically. The
 * product's ioredis and that of bench/node_modules are two.
 */
export function countTrips() {
  let sent = 0
  const counted = new Set()
  for (const from of ["../package.json", "./package.json"]) {
    const { Redis } = createRequire(new URL(from, import.meta.url))("ioredis")
    if (counted.has(Redis)) continue
    counted.add(Redis)
    // oxlint-disable-next-line typescript/unbound-method -- it is called with the client it belongs to
    Redis.prototype.sendCommand = new Proxy(Redis.prototype.sendCommand, {
      apply(send, redis, args) {
        sent += 1
        return Reflect.apply(send, redis, args)
      },
    })
  }
  return () => sent
}

/**
 * What becomes of so many runs that nobody answers in time, from `from` on (ms since 1970): how late each Answer is recorded,
 * and whether the run goes on.
 */
export function arrivals(count, from) {
  const lateness = []
  const ended = new Set()
  const found = { wrong: 0, early: 0, twice: 0 }
  let done
  const all = new Promise((resolve) => (done = resolve))
  return {
    /** `late`: ms after its deadline, by the clock that judges it. */
    recorded(late, isRight) {
      lateness.push(late)
      if (late < 0) found.early += 1
      if (!isRight) found.wrong += 1
    },
    ended(id) {
      if (ended.has(id)) found.twice += 1
      ended.add(id)
      if (ended.size === count) done()
    },
    /** Once all have ended, or after `ms`. */
    async all(ms) {
      await Promise.race([all, sleep(ms)])
      const [p50, p99, max] = [0.5, 0.99, 1].map((q) => quantile(lateness, q))
      const seconds = (Date.now() - from) / 1000
      return { ...found, p50, p99, max, lost: count - lateness.length, unended: count - ended.size, seconds }
    },
  }
}
