import { Redis } from "ioredis"
import { expect, test } from "vitest"
import { cancelled } from "../../src/core/ask.ts"
import { unended } from "../../src/core/run.ts"
import { begin } from "../../src/core/turn.ts"
import { shardKeys, shardOf } from "../../src/store/keys.ts"
import type { Store } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { freshId, openStore, REQUESTER } from "./runs.ts"

const LISTS = unended({ requester: REQUESTER, channel: "C_OPS" })
const limits = (requester: number, channel = 1000) => [
  { index: LISTS.requester, most: requester },
  { index: LISTS.channel, most: channel },
]

async function start(store: Store, id: string, most: number, channel?: number): Promise<boolean> {
  if (await store.admit(id, limits(most, channel))) return false
  const how = {
    id,
    cause: id,
    requester: REQUESTER,
    channel: "C_OPS",
    prompt: "p",
    keep: 1,
    rooted: true,
    transcript: [],
  }
  await store.apply(id, (run, now) =>
    run ? { outcome: undefined } : { outcome: undefined, step: begin({ ...how, counts: true, via: "command" }, now) },
  )
  return true
}

const end = (store: Store, id: string) =>
  store.apply(id, (run, now) => {
    const step = run && cancelled(run, { via: "bot", cause: "end", words: "over" }, now)
    return { outcome: undefined, step }
  })

test("two processes that start at once begin no more than may be, and lose none", async ({ onTestFinished }) => {
  const prefix = freshPrefix()
  const stores = [await openStore({ prefix }), await openStore({ prefix })]
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))))
  const ids = Array.from({ length: 60 }, () => freshId())
  const [one, other] = stores as [Store, Store]
  const begun = await Promise.all(ids.map((id, n) => start(n % 2 === 0 ? one : other, id, 25)))
  expect(begun.filter(Boolean)).toHaveLength(25)
  const stored = await Promise.all(ids.map((id) => one.load(id)))
  expect(stored.map((loaded) => loaded !== undefined)).toEqual(begun)
  expect(await one.admit(freshId(), limits(25))).toEqual({ index: LISTS.requester, most: 25, count: 25 })
  expect((await one.list([LISTS.requester], 5)).map(({ run }) => run.id).every((id) => ids.includes(id))).toBe(true)
})

test("a run that ended makes room, one that waits does not", async ({ onTestFinished }) => {
  const store = await openStore()
  onTestFinished(() => store.close())
  const [first, second, third] = [freshId(), freshId(), freshId()]
  expect(await start(store, first, 1)).toBe(true)
  expect(await start(store, second, 1)).toBe(false)
  // A repeated command finds its run, also when there is no room for another.
  expect(await start(store, first, 1)).toBe(true)
  await end(store, first)
  expect(await start(store, second, 1)).toBe(true)
  expect(await store.admit(third, limits(1))).toMatchObject({ count: 1 })
})

test("a limit of the channel counts all requesters, and a start that it refuses takes no place of its requester's", async ({
  onTestFinished,
}) => {
  const store = await openStore()
  onTestFinished(() => store.close())
  expect(await start(store, freshId(), 2, 1)).toBe(true)
  expect(await store.admit(freshId(), limits(2, 1))).toEqual({ index: LISTS.channel, most: 1, count: 1 })
  expect(await start(store, freshId(), 2, 2)).toBe(true)
})

test("a place that was given and never used is given again after a minute", async ({ onTestFinished }) => {
  const prefix = freshPrefix()
  const store = await openStore({ prefix })
  onTestFinished(() => store.close())
  expect(await store.admit(freshId(), limits(1))).toBeUndefined()
  expect(await start(store, freshId(), 1)).toBe(false)
  await aMinuteLater(prefix)
  expect(await start(store, freshId(), 1)).toBe(true)
})

test("over several shards the limit is of all of them together", async ({ onTestFinished }) => {
  const store = await openStore({ shards: 4 })
  onTestFinished(() => store.close())
  const ids = Array.from({ length: 30 }, () => freshId(4))
  expect(new Set(ids.map((id) => shardOf(id, 4))).size).toBe(4)
  let begun = 0
  for (const id of ids) begun += (await start(store, id, 10)) ? 1 : 0
  expect(begun).toBe(10)
  expect(await store.admit(freshId(4), limits(10))).toMatchObject({ count: 10 })
})

/** As if all places had been given a minute earlier. */
async function aMinuteLater(prefix: string): Promise<void> {
  const redis = new Redis(redisUrl())
  for (const index of Object.values(LISTS)) {
    const key = shardKeys(prefix, 0).index + index
    for (const id of await redis.zrange(key, "0", "-1")) await redis.zadd(key, "0", id)
  }
  redis.disconnect()
}
