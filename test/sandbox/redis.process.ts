/** A process that starts a Redis and then does nothing, so that a test can kill it. */
import { startRedis } from "../../src/sandbox/redis.ts"

const [, , program = "", dir = ""] = process.argv
const server = await startRedis(program, { dir })
process.stdout.write(`${server.pid}\n`)
setInterval(() => undefined, 60_000)
