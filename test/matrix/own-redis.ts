/** A Redis that a life has for itself, to be broken: what it acknowledged is on disk. */
import { Redis } from "ioredis"
import { needRedis, startRedis, type RedisServer } from "../../src/sandbox/redis.ts"

export interface OwnRedis {
  url: string
  /** SIGKILL. */
  kill(): Promise<void>
  /** Again, on the same port with what it had. */
  start(): Promise<void>
  /** Stands still and goes on. */
  pause(): void
  resume(): void
  do(command: string, ...args: string[]): Promise<void>
  stop(): Promise<void>
}

const ARGS = ["--appendonly", "yes", "--appendfsync", "always"]

export async function startOwnRedis(dir: string): Promise<OwnRedis> {
  const found = await needRedis()
  if (!found.ok) throw new Error(found.fault)
  let server: RedisServer = await startRedis(found.program, { dir, args: ARGS })
  const { port, url } = server
  let starting = Promise.resolve()
  const signal = (name: NodeJS.Signals): void => void process.kill(server.pid, name)
  return {
    url,
    async kill() {
      await starting
      signal("SIGKILL")
      await server.ended
    },
    start() {
      starting = startRedis(found.program, { dir, args: ARGS, port }).then((again) => {
        server = again
      })
      return starting
    },
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
    async do(command, ...args) {
      const client = new Redis(url)
      client.on("error", () => {})
      await client.call(command, ...args).finally(() => client.disconnect())
    },
    async stop() {
      await starting
      await server.stop()
    },
  }
}
