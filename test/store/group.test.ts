import { Redis } from "ioredis"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import type { Loaded, Store } from "../../src/store/store.ts"
import { startProxy, type Proxy } from "../fakes/proxy.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { beginning, freshId, marking, marks, openStore } from "./runs.ts"

let redis: Redis
beforeAll(() => {
  redis = new Redis(redisUrl())
})
afterAll(() => redis.disconnect())

async function rig(): Promise<{ store: Store; proxy: Proxy; keyOf: (id: string) => string }> {
  const prefix = freshPrefix()
  const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
  const store = await openStore({ prefix, url: proxy.url })
  onTestFinished(async () => {
    await store.close()
    await proxy.close()
  })
  return { store, proxy, keyOf: (id) => `{${prefix}:0}:run:${id}` }
}

async function begun(store: Store): Promise<Loaded & { id: string }> {
  const id = freshId()
  await store.apply(id, beginning(id))
  const loaded = await store.load(id)
  if (!loaded) throw new Error("it was not stored")
  return { id, ...loaded }
}

test("commits of one moment go together, and each stands or falls alone", async () => {
  const { store, proxy, keyOf } = await rig()
  const runs = await Promise.all(Array.from({ length: 5 }, () => begun(store)))
  const [first, broken, incomplete, overtaken, last] = runs.map(({ id }) => id)
  await redis.rename(keyOf(broken ?? ""), `${keyOf(broken ?? "")}:away`)
  await redis.set(keyOf(broken ?? ""), "password hunter2")
  await store.apply(overtaken ?? "", marking("before"))
  proxy.forget()
  const results = await Promise.all(
    runs.map(({ id, ...known }) =>
      store.apply(id, marking("m", id === incomplete ? { append: [{ field: "none" }] } : {}), { known }),
    ),
  )
  // What was overtaken is made again from what the first call says, with a second one.
  expect(proxy.count("evalsha")).toBe(2)
  expect(results.map(({ kind }) => kind)).toEqual(["applied", "not known", "not recorded", "applied", "applied"])
  for (const id of [first, overtaken, last])
    expect(Object.keys((await store.load(id ?? ""))?.run.refusals ?? {})).toContain("m")
  expect(marks((await store.load(incomplete ?? ""))?.run)).toBe(0)
  expect(await redis.get(keyOf(broken ?? ""))).toBe("password hunter2")
})

test("what is lost with the reply is known again, of every run", async () => {
  const { store, proxy } = await rig()
  const runs = await Promise.all(Array.from({ length: 3 }, () => begun(store)))
  const swallowed = proxy.swallowReplyTo(runs[1]?.id ?? "")
  const results = runs.map(({ id, ...known }) => store.apply(id, marking("m"), { known }))
  await swallowed
  expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(["applied", "applied", "applied"])
  for (const { id, revision } of runs) expect((await store.load(id))?.revision).toBe(revision + 1)
})

test("many go in few calls, none of which holds up Redis for long", async () => {
  const { store, proxy } = await rig()
  const ids = Array.from({ length: 120 }, () => freshId())
  await store.peek()
  // The first call of a connection carries the script.
  await begun(store)
  proxy.forget()
  await Promise.all(ids.map((id) => store.apply(id, beginning(id), { known: "none" })))
  expect(proxy.count("evalsha")).toBe(15)
  for (const id of ids) expect((await store.load(id))?.revision).toBe(1)
})
