import { Redis } from "ioredis"
import { expect, test } from "vitest"
import type { Store } from "../../src/store/store.ts"
import { startRedis } from "../redis.ts"
import { asking, beginning, freshId, openStore } from "./runs.ts"

test("a parked run that was shown and audited takes less than 1.5 kB beyond the texts it holds", async () => {
  const redis = await startRedis()
  const store = await openStore({ url: redis.url, outbox: true })
  const admin = new Redis(redis.url)
  const used = async () => Number(/^used_memory:(\d+)/m.exec(await admin.info("memory"))?.[1])

  // The first ones pay for what all share, and for tables that grow by doubling.
  await park(store, 600)
  const before = await used()
  const ids = await park(store, 400)
  const each = ((await used()) - before) / 400

  const [run = ""] = await admin.keys(`*:run:${ids[0]}`)
  const texts = [
    ...Object.entries(await admin.hgetall(run)),
    ...Object.entries(await admin.hgetall(run.replace(":run:", ":sent:"))),
    await store.transcript(ids[0] ?? ""),
  ]
  const bytes = Buffer.byteLength(texts.flat().join(""))
  expect(bytes).toBeGreaterThan(1000)
  expect(each - bytes).toBeGreaterThan(300)
  expect(each - bytes).toBeLessThan(1500)
  await store.close()
  admin.disconnect()
  await redis.stop()
})

async function park(store: Store, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => freshId())
  await Promise.all(
    ids.map(async (id) => {
      const ask = `pnd-${id}`
      await store.apply(id, beginning(id))
      await store.apply(id, asking(ask))
      for (const slot of ["root", `card:${ask}`]) {
        await store.show.recordSent(id, slot, '{"ts":"1795993465.344123","hash":"0123456789abcdef"}')
      }
      expect(await store.show.leaveShow(id, 2, "", 600_000)).toBe(true)
    }),
  )
  expect(await store.lease(0, "audit", "me", 60_000)).toBe(true)
  const entries = await store.outbox.read(0, "", 100_000)
  await store.outbox.advance(0, "me", {}, entries.at(-1)?.entry)
  return ids
}
