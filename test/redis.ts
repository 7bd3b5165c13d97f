/** Real Redis for tests: the shared server with a prefix of one's own, or a server of one's own to stop, kill or starve. */
import { randomUUID } from "node:crypto"
import { mkdtemp } from "node:fs/promises"
import { join } from "node:path"
import { inject } from "vitest"
import { type RedisServer, startRedis as start } from "../src/sandbox/redis.ts"

/** The server that all test files share: no FLUSHALL, no CONFIG SET, no SCRIPT FLUSH there, and a fresh prefix each. */
export function redisUrl(): string {
  return inject("redisUrl")
}

/** A key prefix that nobody else has. */
export function freshPrefix(): string {
  return `t-${randomUUID().slice(0, 13)}`
}

/** An empty folder of one's own, removed after the last test. */
export function scratchFolder(name: string): Promise<string> {
  return mkdtemp(join(inject("scratch"), `${name}-`))
}

export type TestRedis = {
  url: string
  port: number
  /** Not one byte more after this: SIGKILL. */
  kill(): Promise<void>
  stop(): Promise<void>
  /** Freezes and thaws it: connections stay open, nothing is answered. */
  pause(): void
  resume(): void
  /** Starts it again on the same port, with the data it had. */
  restart(): Promise<void>
}

/**
 * A server of one's own. Call `stop()` in the end (a forgotten one ends with the test process).
 * `args` are redis-server settings, e.g. `["--maxmemory", "4mb"]`.
 */
export async function startRedis(options: { args?: readonly string[] } = {}): Promise<TestRedis> {
  const dir = await scratchFolder("redis")
  const program = inject("redisProgram")
  const args = options.args ?? []
  let server: RedisServer = await start(program, { dir, args })
  const { url, port } = server
  return {
    url,
    port,
    async kill() {
      process.kill(server.pid, "SIGKILL")
      await server.ended
    },
    stop: () => server.stop(),
    pause: () => void process.kill(server.pid, "SIGSTOP"),
    resume: () => void process.kill(server.pid, "SIGCONT"),
    async restart() {
      await server.stop()
      server = await start(program, { dir, args, port })
    },
  }
}
