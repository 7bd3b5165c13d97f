// The minimal loop: what a lifecycle costs when nothing is kept but the bytes. Four scripts, one round trip each: park,
// answer, a stream entry, the final write.
import { randomUUID } from "node:crypto"
import { Redis } from "ioredis"

const SCRIPTS = {
  park: "redis.call('HSET', KEYS[1], 'state', ARGV[1]) redis.call('RPUSH', KEYS[2], ARGV[2]) redis.call('ZADD', KEYS[3], 1, KEYS[1]) return 1",
  answer:
    "local state = redis.call('HGET', KEYS[1], 'state') redis.call('HSET', KEYS[1], 'state', ARGV[1]) return state",
  note: "return redis.call('XADD', KEYS[1], 'MAXLEN', '~', 10000, '*', 'facts', ARGV[1])",
  finish:
    "redis.call('HSET', KEYS[1], 'state', ARGV[1]) redis.call('RPUSH', KEYS[2], ARGV[2]) redis.call('ZREM', KEYS[3], KEYS[1]) return 1",
}
const KEYS = { park: 3, answer: 1, note: 1, finish: 3 }

/** Answers what is due, at most so many in one step: returns {now, when the next is due, id, deadline, …}. */
const DUE = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'WITHSCORES', 'LIMIT', 0, 100)
for i = 1, #due, 2 do
  redis.call('ZREM', KEYS[1], due[i])
  redis.call('HSET', due[i], 'state', ARGV[1])
end
local next = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return {now, next[2] or '', unpack(due)}`

/**
 * `one` is a lifecycle that moves as many bytes as one of ours: `transcript` and `parking` until it waits, `answering` with
 * the answer, `facts` through a stream, and `ending` with what is left. It returns the ms from answer to done.
 */
export function plainLoop(url, { transcript, parking, answering, facts, ending }) {
  const redis = new Redis(url)
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: KEYS[name] })
  const bytes = (count) => "x".repeat(count)
  const texts = [transcript, parking, answering, facts, ending].map(bytes)
  async function park() {
    const id = randomUUID()
    await redis.park(`run:${id}`, `log:${id}`, "agenda", texts[1], texts[0])
    return id
  }

  async function finish(id) {
    await redis.answer(`run:${id}`, texts[2])
    await redis.note("stream", texts[3])
    await redis.finish(`run:${id}`, `log:${id}`, "agenda", texts[4], "")
  }

  return {
    park,
    finish,
    async one() {
      const id = await park()
      const parked = performance.now()
      await finish(id)
      return performance.now() - parked
    },
    close: () => redis.quit(),
  }
}

/** Runs with a deadline that nobody meets: answered by a sorted set, then noted and finished as above. `seen` is told. */
export function plainTimer(url, { transcript, parking, answering, facts, ending }, seen) {
  const redis = new Redis(url)
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: KEYS[name] })
  redis.defineCommand("due", { lua: DUE, numberOfKeys: 1 })
  const texts = [transcript, parking, answering, facts, ending].map((count) => "x".repeat(count))
  let closed = false

  async function resume(id) {
    await redis.note("stream", texts[3])
    await redis.finish(id, `log:${id}`, "agenda", texts[4], "")
    seen.ended(id)
  }

  async function loop() {
    while (!closed) {
      const [now, next, ...due] = await redis.due("timers", texts[2])
      for (let i = 0; i < due.length; i += 2) {
        seen.recorded(now - Number(due[i + 1]), true)
        void resume(due[i])
      }
      if (next === "" || Number(next) > now) {
        await new Promise((resolve) => setTimeout(resolve, next === "" ? 1000 : Math.min(Number(next) - now, 1000)))
      }
    }
  }

  let looping
  return {
    async park(count, dueAt) {
      for (let i = 0; i < count; i += 1000) {
        const pipeline = redis.pipeline()
        for (let k = i; k < Math.min(count, i + 1000); k += 1) {
          const id = `run:${randomUUID()}`
          pipeline.hset(id, "state", texts[1]).rpush(`log:${id}`, texts[0]).zadd("timers", dueAt(k), id)
        }
        await pipeline.exec()
      }
      looping = loop()
    },
    async close() {
      closed = true
      await looping
      await redis.quit()
    },
  }
}
