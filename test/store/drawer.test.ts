import { expect, onTestFinished, test } from "vitest"
import { Store } from "../../src/store/store.ts"
import { startProxy } from "../fakes/proxy.ts"
import { freshPrefix, redisUrl } from "../redis.ts"

async function drawers(count: number, prefix = freshPrefix(), url = redisUrl()) {
  const stores = await Promise.all(
    Array.from({ length: count }, () => Store.open({ url, prefix, shards: 1, confirm: 0, outbox: false })),
  )
  onTestFinished(() => Promise.all(stores.map((store) => store.close())).then(() => undefined))
  return stores.map(({ drawer }) => drawer)
}

test("a text stands under its name until its time is over, it is taken, or it goes", async () => {
  const [drawer] = await drawers(1)
  expect(await drawer?.read("a")).toBeUndefined()
  await drawer?.put("a", "one", 60_000)
  expect(await drawer?.read("a", 60_000)).toBe("one")
  expect(await drawer?.take("a")).toBe("one")
  expect(await drawer?.take("a")).toBeUndefined()
  await drawer?.put("a", "two", 1)
  await expect.poll(() => drawer?.read("a")).toBeUndefined()
})

test("of several who change what they saw one does", async () => {
  const many = await drawers(4)
  const [drawer] = many
  await drawer?.put("a", "old", 60_000)
  const done = await Promise.all(many.map((one, index) => one.swap("a", "old", `new ${index}`, 60_000)))
  expect(done.filter(Boolean)).toHaveLength(1)
  expect(await drawer?.read("a")).toBe(`new ${done.indexOf(true)}`)
  expect(await Promise.all(many.map((one, index) => one.swap("b", undefined, `lock ${index}`, 60_000)))).toContain(true)
  const owner = (await drawer?.read("b")) ?? ""
  expect(await drawer?.swap("b", "another", undefined)).toBe(false)
  expect(await drawer?.swap("b", owner, undefined)).toBe(true)
  expect(await drawer?.read("b")).toBeUndefined()
})

test("a change whose reply is lost is known again", async () => {
  const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
  onTestFinished(() => proxy.close())
  const [drawer] = await drawers(1, freshPrefix(), proxy.url)
  await drawer?.put("a", "old", 60_000)
  const lost = proxy.swallowReplyTo("newest")
  expect(await drawer?.swap("a", "old", "newest", 60_000)).toBe(true)
  await lost
  expect(await drawer?.read("a")).toBe("newest")
})
