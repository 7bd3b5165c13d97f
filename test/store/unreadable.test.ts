import { Redis } from "ioredis"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import type { Store } from "../../src/store/store.ts"
import { ASIDE, Unreadable } from "../../src/store/unreadable.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { asking, beginning, clicking, freshId, marking, openStore, REQUESTER } from "./runs.ts"

let prefix: string
let store: Store
let redis: Redis
let logged: [fields: unknown, message: string][]
beforeAll(() => {
  redis = new Redis(redisUrl())
})
beforeEach(async () => {
  await store?.close()
  prefix = freshPrefix()
  logged = []
  const log = { warn: () => {}, error: (fields: object, message: string) => void logged.push([fields, message]) }
  store = await openStore({ prefix, log, outbox: true })
})
afterAll(async () => {
  await store.close()
  redis.disconnect()
})

const key = (kind: string, id = "") => `{${prefix}:0}:${kind}${id}`

async function begun(): Promise<string> {
  const id = freshId()
  expect((await store.apply(id, beginning(id))).kind).toBe("applied")
  return id
}

/** What else may write into a run's key, or a disk may leave of it. */
const GARBAGE: [string, (id: string) => Promise<unknown>][] = [
  ["its head is no head", (id) => redis.hset(key("run:", id), "head", "password hunter2")],
  ["its head is cut off", async (id) => redis.hset(key("run:", id), "head", "2 to")],
  ["it has no head", (id) => redis.hdel(key("run:", id), "head")],
  ["its state is no JSON", (id) => redis.hset(key("run:", id), "state", "password hunter2")],
  ["its state is another value", (id) => redis.hset(key("run:", id), "state", '{"format":1,"calls":[null]}')],
  ["it has no state", (id) => redis.hdel(key("run:", id), "state")],
  ["its key holds a text", (id) => redis.set(key("run:", id), "password hunter2")],
]

describe.each(GARBAGE)("a run that can't be read: %s", (_, spoil) => {
  test("holds up nobody who works; it is set aside, and told of once with what to do", async () => {
    const [first, spoilt, last] = [await begun(), await begun(), await begun()]
    await spoil(spoilt)
    const claims = await store.claims("w1", 10_000, 10)
    expect(claims.runs.map(({ id, run }) => [id, run.id])).toEqual([first, last].map((id) => [id, id]))
    const at = async (): Promise<number> => Number(await redis.zscore(key("agenda"), spoilt)) - claims.now
    await expect.poll(at).toBe(ASIDE)
    const told = { run: spoilt, key: key("run:", spoilt) }
    expect(logged).toEqual([[told, expect.stringMatching(/restore its key .* or delete it/)]])
    expect(JSON.stringify(logged)).not.toContain("hunter2")
    // Others go on; looked at again, it is put off again, and not told of again.
    await redis.zadd(key("agenda"), 1, spoilt)
    expect((await store.apply(first, asking("a"))).kind).toBe("applied")
    expect((await store.apply(first, clicking("a", "click"))).kind).toBe("applied")
    expect(await store.claim("w2", 10_000)).toMatchObject({ kind: "idle" })
    await expect.poll(at).toBeGreaterThanOrEqual(ASIDE)
    expect(logged).toHaveLength(1)
  })

  test("holds up nobody who shows", async () => {
    const [spoilt, other] = [await begun(), await begun()]
    await spoil(spoilt)
    expect(await store.show.showDue(0)).toMatchObject({ id: other })
    expect(Number(await redis.zscore(key("show:cards"), spoilt)) - (await store.now())).toBeGreaterThan(ASIDE - 10_000)
    expect(await store.show.leaveShow(other, 1, "", 0)).toBe(true)
    await redis.lpush(key("looks"), `1 ${spoilt}`)
    expect(await store.show.lookNext(0, 60_000)).toMatchObject({ id: other })
    expect(logged.map(([fields]) => fields)).toEqual([{ run: spoilt, key: key("run:", spoilt) }])
  })

  test("is left out of lists, and read by nobody", async () => {
    const [spoilt, other] = [await begun(), await begun()]
    await spoil(spoilt)
    const index = `requester:${REQUESTER.team}:${REQUESTER.user}`
    const names = (await redis.keys(key("index:", "*"))).map((name) => name.slice(key("index:").length))
    expect(names).toContain(index)
    expect((await store.list(names, 10)).map(({ run }) => run.id)).toEqual([other])
    await expect(store.load(spoilt)).rejects.toThrow(Unreadable)
    const changed = await store.apply(spoilt, marking("m")).catch((error: unknown) => ({ kind: "failed", error }))
    expect(changed).toMatchObject({ kind: expect.stringMatching(/^(?:not recorded|failed)$/) })
    expect(JSON.stringify(changed)).not.toContain("hunter2")
    expect((await store.peek()).agenda).toBeDefined()
  })

  test("goes on when it was restored", async () => {
    const id = await begun()
    const backup = await redis.dumpBuffer(key("run:", id))
    await spoil(id)
    expect(await store.claim("w1", 10_000)).toMatchObject({ kind: "idle" })
    await expect.poll(() => redis.hget(key("run:", id), "owner").catch(() => null)).toBeNull()
    await redis.restore(key("run:", id), 0, backup ?? "", "REPLACE")
    await redis.zadd(key("agenda"), 1, id)
    expect(await store.claim("w1", 10_000)).toMatchObject({ kind: "run", id, revision: 1 })
  })
})

test("what was sent of a run, and its transcript, may be broken as well", async () => {
  const [spoilt, other] = [await begun(), await begun()]
  await redis.set(key("sent:", spoilt), "x")
  await redis.del(key("log:", spoilt))
  await redis.set(key("log:", spoilt), "x")
  expect((await store.claims("w1", 10_000, 10)).runs.map(({ id }) => id)).toEqual([spoilt, other])
  await expect(store.transcript(spoilt)).rejects.toThrow(/WRONGTYPE/)
  expect(await store.show.showDue(0)).toMatchObject({ id: other })
})

test("a run that is gone is no broken one", async () => {
  const [gone, other] = [await begun(), await begun()]
  await redis.del(key("run:", gone))
  expect((await store.claims("w1", 10_000, 10)).runs.map(({ id }) => id)).toEqual([other])
  expect(await store.load(gone)).toBeUndefined()
  expect(await redis.zscore(key("agenda"), gone)).toBeNull()
  expect(logged).toEqual([])
})
