// The minimal loop: what a lifecycle costs when nothing is kept but the bytes. Four scripts, one round trip each: park,
// answer, a stream entry, the final write.
import { randomUUID } from "node:crypto"
import { Redis } from "ioredis"

const SCRIPTS = {
  park: "redis.call('HSET', KEYS[1], 'state', ARGV[1]) redis.call('RPUSH', KEYS[2], ARGV[2]) redis.call('ZADD', KEYS[3], 1, KEYS[1]) return 1",
  answer:
    "local state = redis.call('HGET', KEYS[1], 'state') redis.call('HSET', KEYS[1], 'answer', ARGV[1]) return state",
  note: "return redis.call('XADD', KEYS[1], 'MAXLEN', '~', 10000, '*', 'fact', ARGV[1])",
  finish:
    "redis.call('HSET', KEYS[1], 'state', ARGV[1]) redis.call('RPUSH', KEYS[2], ARGV[2]) redis.call('ZREM', KEYS[3], KEYS[1]) return 1",
}
const KEYS = { park: 3, answer: 1, note: 1, finish: 3 }

/** `one` runs a lifecycle with a transcript of `bytes`, and a state and facts of the size that ours have. */
export async function plainLoop(url, bytes) {
  const redis = new Redis(url)
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: KEYS[name] })
  const state = "s".repeat(1200)
  const fact = "f".repeat(400)
  const transcript = "t".repeat(bytes)
  return {
    async one() {
      const id = randomUUID()
      await redis.park(`run:${id}`, `log:${id}`, "agenda", state, transcript)
      await redis.answer(`run:${id}`, fact)
      await redis.note("stream", fact)
      await redis.finish(`run:${id}`, `log:${id}`, "agenda", state, fact)
    },
    close: () => redis.quit(),
  }
}
