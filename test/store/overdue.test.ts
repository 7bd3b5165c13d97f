import { Redis } from "ioredis"
import { afterAll, beforeAll, expect, test } from "vitest"
import { FORMAT } from "../../src/core/run.ts"
import type { Store } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { asking, beginning, clicking, freshId, HOUR, openStore } from "./runs.ts"

let redis: Redis
beforeAll(() => {
  redis = new Redis(redisUrl())
})
afterAll(() => redis.disconnect())

/** What is found, batch by batch. */
async function found(
  store: Store,
  atMost = 100,
): Promise<{ ids: string[]; more: boolean; nextIn: number | undefined }[]> {
  const all = []
  for await (const { runs, more, nextIn } of store.overdue(atMost))
    all.push({ ids: runs.map(({ id }) => id), more, nextIn })
  return all
}

test("all that is overdue is found once, among whatever else has been due longer, and then left alone for a while", async () => {
  const prefix = freshPrefix()
  const store = await openStore({ prefix })
  const key = (kind: string, id = "") => `{${prefix}:0}:${kind}${id}`
  const one = freshId()
  await store.apply(one, beginning(one))
  await store.apply(one, asking("ask", HOUR))
  const state = (await redis.hget(key("run:", one), "state")) ?? ""
  const now = await store.now()
  const next = now + HOUR / 2
  const heads = [
    // Overdue; due for something else and not overdue; due, and its deadline comes; of a newer release; no head.
    `2 token 1 ${FORMAT} !${now - 1000}`,
    `2 token 1 ${FORMAT} args:1.1`,
    `2 token 1 ${FORMAT} args:1.1!${next}`,
    `2 token 1 ${FORMAT + 1} !${now - 1000}`,
    "password hunter2",
  ]
  const overdue = new Set<string>()
  const lines = redis.pipeline()
  for (let n = 0; n < 1500; n += 1) {
    const id = freshId()
    // All of the same millisecond: none may be passed over for that.
    lines.hset(key("run:", id), "head", heads[n % 5] ?? "", "state", state).zadd(key("agenda"), now - 1000, id)
    if (n % 5 === 0) overdue.add(id)
  }
  await lines.exec()
  const wrong = freshId()
  await redis
    .pipeline()
    .set(key("run:", wrong), "x")
    .zadd(key("agenda"), now - 2000, wrong)
    .exec()
  const batches = await found(store)
  expect(batches.flatMap(({ ids }) => ids).toSorted()).toEqual([...overdue].toSorted())
  expect(batches.every(({ ids }) => ids.length <= 100)).toBe(true)
  expect(batches.map(({ more }) => more)).toEqual(batches.map((_, n) => n < batches.length - 1))
  const soonest = Math.min(...batches.map(({ nextIn }) => nextIn ?? Infinity))
  expect(soonest).toBeGreaterThan(0)
  // What was put off comes before what is due later.
  expect(soonest).toBeLessThanOrEqual(5000)
  expect((await found(store)).flatMap(({ ids }) => ids)).toEqual([])
  const [id = ""] = overdue
  expect(Number(await redis.zscore(key("agenda"), id))).toBeGreaterThan(now + 4000)
  await store.close()
})

test("over all shards, with its state, until its asks are answered or its run is over", async () => {
  const store = await openStore({ shards: 3 })
  const ids = new Set<string>()
  while (new Set([...ids].map((id) => id.slice(1, 3))).size < 3) ids.add(freshId(3))
  for (const id of ids) {
    await store.apply(id, beginning(id))
    await store.apply(id, asking("ask", -1))
  }
  const [answered = "", ...left] = ids
  await store.apply(answered, clicking("ask", "click"))
  const runs = []
  for await (const batch of store.overdue(10)) runs.push(...batch.runs)
  expect(runs.map(({ id }) => id).toSorted()).toEqual(left.toSorted())
  expect(runs.map(({ run }) => run)).toEqual(await Promise.all(runs.map(async ({ id }) => (await store.load(id))?.run)))
  await store.close()
})
