/**
 * A Redis and its replica, real ones, with a link between them that can be held up, and one address that leads to whichever
 * of the two is the primary. It knows no run and no bot.
 */
import { Redis } from "ioredis"
import { startRedis, type TestRedis } from "../redis.ts"
import { startProxy, type Proxy } from "./proxy.ts"

export interface Pair {
  /** Where the primary is, whichever that is by now. */
  url: string
  /** The way there, which every bot takes. */
  way: Proxy
  /** From now on the replica misses what is written; what was written before, it has. */
  fallBehind(): Promise<void>
  /** The replica gets all that it has missed. */
  catchUp(): void
  /** The primary dies (SIGKILL), the replica is promoted with what it has, and the address leads to it. */
  failOver(): Promise<void>
  /** Whoever is the primary by now gets a replica of its own. */
  heal(): Promise<void>
  close(): Promise<void>
}

export async function startPair(): Promise<Pair> {
  const primary = await startRedis({ args: ["--repl-diskless-sync-delay", "0"] })
  const link = await startProxy({ port: primary.port })
  const replica = await startRedis({ args: ["--replicaof", "127.0.0.1", String(link.port)] })
  const way = await startProxy({ port: primary.port })
  const [writer, admin] = [primary, replica].map(({ url }) => new Redis(url)) as [Redis, Redis]
  for (const client of [writer, admin]) client.on("error", () => {})
  await linked(admin)
  const others: TestRedis[] = []
  return {
    url: way.url,
    way,
    async fallBehind() {
      // WAIT is about its own connection's last write.
      await writer.set("fence", "")
      if ((await writer.wait(1, 10_000)) !== 1) throw new Error("the replica lags behind")
      link.hold("replies")
    },
    catchUp: () => link.release(),
    async failOver() {
      writer.disconnect()
      await primary.kill()
      await admin.replicaof("NO", "ONE")
      way.lead(replica.port)
    },
    async heal() {
      const other = await startRedis({ args: ["--replicaof", "127.0.0.1", String(replica.port)] })
      others.push(other)
      const client = new Redis(other.url)
      await linked(client)
      client.disconnect()
    },
    async close() {
      writer.disconnect()
      admin.disconnect()
      await Promise.all([way.close(), link.close()])
      await Promise.all([primary, replica, ...others].map(ended))
    },
  }
}

/** Resolves when a replica has all that its primary has. */
async function linked(client: Redis): Promise<void> {
  for (let looks = 0; !(await client.info("replication")).includes("master_link_status:up"); looks++) {
    if (looks === 1500) throw new Error("the replica has found no primary in 30 s")
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Redis takes no SIGTERM while it writes its first append-only file after a synchronisation. */
const ended = (redis: TestRedis): Promise<void> => redis.kill().catch(() => undefined)
