import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Redis } from "ioredis"
import { afterEach, describe, expect, inject, test } from "vitest"
import { type RedisServer, startRedis } from "../../src/sandbox/redis.ts"
import { scratchFolder, startRedis as startTestRedis } from "../redis.ts"

const program = inject("redisProgram")
const open: Array<{ stop(): Promise<void> }> = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop()
})

async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 })
  try {
    return await question(redis)
  } finally {
    redis.disconnect()
  }
}

async function started(dir: string): Promise<RedisServer> {
  const server = await startRedis(program, { dir })
  open.push(server)
  return server
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe("a private Redis", () => {
  test("keeps its data in a folder whose name has blanks and quotes, and loads it again", async () => {
    const dir = join(await scratchFolder("redis"), `two words, "quoted" and 'so'`)
    const first = await started(dir)
    await ask(first.url, (redis) => redis.set("kept", "yes"))
    await first.stop()
    expect(await readdir(dir)).toContain("appendonlydir")
    const second = await started(dir)
    expect(await ask(second.url, (redis) => redis.get("kept"))).toBe("yes")
  })

  test("evicts nothing, syncs every second, and listens on loopback alone", async () => {
    const server = await started(await scratchFolder("redis"))
    const read = (key: string) => ask(server.url, (redis) => redis.config("GET", key))
    expect(await read("maxmemory-policy")).toEqual(["maxmemory-policy", "noeviction"])
    expect(await read("appendonly")).toEqual(["appendonly", "yes"])
    expect(await read("appendfsync")).toEqual(["appendfsync", "everysec"])
    expect(await read("bind")).toEqual(["bind", "127.0.0.1"])
  })

  test("refuses a folder that another server uses", async () => {
    const dir = await scratchFolder("redis")
    const server = await started(dir)
    await expect(startRedis(program, { dir })).rejects.toThrow(
      `${dir} is in use by a Redis server on port ${server.port}: end the program that started it first`,
    )
  })

  test("says why it did not start", async () => {
    const dir = await scratchFolder("redis")
    await expect(startRedis(program, { dir, args: ["--no-such-setting", "1"] })).rejects.toThrow(/no-such-setting/)
    await expect(startRedis("/nowhere/redis-server", { dir })).rejects.toThrow(/\/nowhere\/redis-server/)
  })

  test("ends also while it writes its first append-only file, when it takes no SIGTERM", async () => {
    const slowly = ["--appendonly", "no", "--rdb-key-save-delay", "20000"]
    const server = await startRedis(program, { dir: await scratchFolder("redis"), args: slowly })
    open.push(server)
    await ask(server.url, async (redis) => {
      await redis.mset(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`key ${n}`, "a value"])))
      await redis.config("SET", "appendonly", "yes")
    })
    await server.stop()
    expect(await server.ended).toMatchObject({ why: expect.stringMatching(/bye bye/) })
    expect(await readdir(join(server.dir, "appendonlydir"))).not.toEqual([])
  })

  test("tells its owner when it ends by itself", async () => {
    const server = await started(await scratchFolder("redis"))
    process.kill(server.pid, "SIGKILL")
    await expect(server.ended).resolves.toHaveProperty("why")
  })

  test("ends when its parent is killed, even while it is frozen", async () => {
    const dir = await scratchFolder("redis")
    const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))
    const parent = spawn(process.execPath, [script("../source.mjs"), script("redis.process.ts"), program, dir], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    const [line] = (await once(parent.stdout, "data")) as [Buffer]
    const pid = Number(line.toString())
    expect(alive(pid)).toBe(true)
    process.kill(pid, "SIGSTOP")
    parent.kill("SIGKILL")
    await expect.poll(() => alive(pid), { timeout: 5_000 }).toBe(false)
  })
})

describe("a test's own Redis", () => {
  test("comes back on its port with its data after a kill", async () => {
    const server = await startTestRedis({ args: ["--appendfsync", "always"] })
    open.push(server)
    await ask(server.url, (redis) => redis.set("kept", "yes"))
    await server.kill()
    await server.restart()
    expect(await ask(server.url, (redis) => redis.get("kept"))).toBe("yes")
  })
})
