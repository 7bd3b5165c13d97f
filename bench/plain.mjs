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

/**
 * `one` is a lifecycle that moves as many bytes as one of ours: `transcript` and `parking` until it waits, `answering` with
 * the answer, `facts` through a stream, and `ending` with what is left. It returns the ms from answer to done.
 */
export function plainLoop(url, { transcript, parking, answering, facts, ending }) {
  const redis = new Redis(url)
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: KEYS[name] })
  const bytes = (count) => "x".repeat(count)
  const texts = [transcript, parking, answering, facts, ending].map(bytes)
  return {
    one: async () => {
      const id = randomUUID()
      await redis.park(`run:${id}`, `log:${id}`, "agenda", texts[1], texts[0])
      const parked = performance.now()
      await redis.answer(`run:${id}`, texts[2])
      await redis.note("stream", texts[3])
      await redis.finish(`run:${id}`, `log:${id}`, "agenda", texts[4], "")
      return performance.now() - parked
    },
    close: () => redis.quit(),
  }
}
