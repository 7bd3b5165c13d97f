// Further Redis servers of this bench's own, each on a folder that goes with it, and what they say of themselves.
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Redis } from "ioredis"
import { needRedis, startRedis } from "../dist/sandbox/redis.js"

/** Starts one as the bench's own is: append-only, everysec. */
export async function furtherRedis(dir) {
  const found = await needRedis()
  if (!found.ok) throw new Error(found.fault)
  const at = mkdtempSync(join(dir, "redis-"))
  const server = await startRedis(found.program, { dir: at, args: ["--auto-aof-rewrite-percentage", "0"] })
  const admin = new Redis(server.url)
  return {
    url: server.url,
    admin,
    async stop() {
      await admin.quit()
      await server.stop()
      rmSync(at, { recursive: true, force: true })
    },
  }
}

/** Bytes that Redis uses for what it holds. */
export const memory = async (admin) => Number(/used_memory:(\d+)/u.exec(await admin.info("memory"))?.[1])

/** Commands that Redis has executed, those inside of scripts included. */
export async function executed(admin) {
  const stats = await admin.info("commandstats")
  return [...stats.matchAll(/calls=(\d+)/gu)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}
