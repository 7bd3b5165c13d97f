import { Redis } from "ioredis"
import { afterEach, describe, expect, test } from "vitest"
import { step } from "../../src/core/run.ts"
import type { Store } from "../../src/store/store.ts"
import { type Proxy, startProxy } from "../fakes/proxy.ts"
import { freshPrefix, redisUrl, startRedis, type TestRedis } from "../redis.ts"
import { asking, beginning, clicking, freshId, marking, marks, openStore, PROMPT } from "./runs.ts"

const closing: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function throughProxy(options: Parameters<typeof openStore>[0] = {}): Promise<{ proxy: Proxy; store: Store }> {
  const proxy = await startProxy({ port: Number(new URL(options.url ?? redisUrl()).port) })
  closing.push(() => proxy.close())
  const store = await openStore({ ...options, url: proxy.url })
  closing.push(() => store.close())
  return { proxy, store }
}

async function ownRedis(args: string[] = []): Promise<TestRedis> {
  const redis = await startRedis({ args })
  closing.push(() => redis.stop())
  return redis
}

async function begun(store: Store): Promise<string> {
  const id = freshId()
  expect((await store.apply(id, beginning(id))).kind).toBe("applied")
  return id
}

const settledBy = async (store: Store, id: string) => (await store.load(id))?.run.asks[0]?.settled?.cause
/** A piece of a commit's text that nothing else sends. */
const commitOf = (id: string) => `log:${id}`

describe("a commit whose reply is lost", () => {
  test("is recognised as ours when it is sent again: stored once, and applied", async () => {
    const { proxy, store } = await throughProxy()
    const id = await begun(store)
    const swallowed = proxy.swallowReplyTo(commitOf(id))
    const result = await store.apply(id, marking("click"), { notAfterMs: 15_000, want: ["prompt"], wantLog: true })
    await swallowed
    expect(result).toMatchObject({
      kind: "applied",
      outcome: "marked",
      revision: 2,
      wanted: [PROMPT],
    })
    expect(result.kind === "applied" && result.log).toHaveLength(1)
    expect(await store.load(id)).toMatchObject({ revision: 2, run: { refusals: { click: 1 } } })
    expect(await store.facts(id)).toHaveLength(2)
  })

  test("and which created the run is recognised likewise", async () => {
    const { proxy, store } = await throughProxy()
    const id = freshId()
    const swallowed = proxy.swallowReplyTo(commitOf(id))
    expect(await store.apply(id, beginning(id))).toMatchObject({ kind: "applied", outcome: "started", revision: 1 })
    await swallowed
  })

  test("and which gave the lease back is recognised although the lease is gone", async () => {
    const { proxy, store } = await throughProxy()
    const id = await begun(store)
    await store.claim("w1", 10_000)
    void proxy.swallowReplyTo(commitOf(id))
    const result = await store.apply(id, asking("a"), { owner: "w1", lease: "release" })
    expect(result).toMatchObject({ kind: "applied", outcome: "asked", revision: 2 })
    const again = store.apply(id, () => ({ outcome: 0 }), { owner: "w1", lease: "release" })
    expect(await again).toEqual({ kind: "not owner" })
  })

  test("and which others overtook is recognised by its cause", async () => {
    const prefix = freshPrefix()
    const { proxy, store } = await throughProxy({ prefix })
    const other = await openStore({ prefix })
    closing.push(() => other.close())
    const id = await begun(store)
    await store.apply(id, asking("a"))
    const swallowed = proxy.swallowReplyTo(commitOf(id))
    const clicked = store.apply(id, clicking("a", "our click"), { notAfterMs: 15_000 })
    proxy.refuse(false)
    await swallowed
    // Between our first and our second try, another process commits.
    proxy.refuse(true)
    await other.apply(id, marking("another"))
    proxy.refuse(false)
    expect(await clicked).toMatchObject({ kind: "applied", outcome: { kind: "recorded" } })
    expect(await settledBy(store, id)).toBe("our click")
    const facts = (await store.facts(id)).map((fact) => JSON.parse(fact).what)
    expect(facts).toEqual(["started", "asked", "settled", "refused"])
  })

  test("is not known while Redis stays away, and later is found by its cause", async () => {
    const { proxy, store } = await throughProxy()
    const id = await begun(store)
    await store.apply(id, asking("a"))
    const swallowed = proxy.swallowReplyTo(commitOf(id))
    const clicked = store.apply(id, clicking("a", "our click"), { notAfterMs: 300 })
    await swallowed
    proxy.refuse(true)
    expect((await clicked).kind).toBe("not known")
    proxy.refuse(false)
    expect(await store.apply(id, clicking("a", "our click"))).toMatchObject({
      kind: "applied",
      outcome: { kind: "recorded" },
    })
    expect(await settledBy(store, id)).toBe("our click")
  })
})

describe("a commit that arrives after its time", () => {
  test("is not stored, and so is said to be not recorded", async () => {
    const { proxy, store } = await throughProxy()
    const id = await begun(store)
    await store.apply(id, asking("a"))
    const known = await store.load(id)
    proxy.hold("requests")
    const clicked = store.apply(id, clicking("a", "late click"), { notAfterMs: 400, known })
    setTimeout(() => proxy.release(), 700)
    expect((await clicked).kind).toBe("not recorded")
    expect(await store.load(id)).toMatchObject({ revision: 2 })
    expect(await settledBy(store, id)).toBeUndefined()
  })

  test("delivered by the network long after its sender gave up changes nothing", async () => {
    const { proxy, store } = await throughProxy()
    const id = await begun(store)
    await store.apply(id, asking("a"))
    const known = await store.load(id)
    const held = proxy.holdFrom(commitOf(id))
    const clicked = store.apply(id, clicking("a", "ghost"), { notAfterMs: 200, known })
    await held
    proxy.cut()
    expect((await clicked).kind).toBe("not known")
    proxy.release()
    await expect.poll(() => store.now()).toBeGreaterThan(0)
    expect(await settledBy(store, id)).toBeUndefined()
    expect(await store.load(id)).toMatchObject({ revision: 2 })
  })

  test("is never stored over what was decided meanwhile", async () => {
    const prefix = freshPrefix()
    const { proxy, store } = await throughProxy({ prefix })
    const direct = await openStore({ prefix })
    closing.push(() => direct.close())
    const id = await begun(direct)
    await direct.apply(id, asking("a"))
    const known = await store.load(id)
    const held = proxy.holdFrom(commitOf(id))
    const slow = store.apply(id, clicking("a", "slow"), { known })
    await held
    await direct.apply(id, clicking("a", "fast", false))
    proxy.release()
    expect(await slow).toMatchObject({
      kind: "applied",
      outcome: { kind: "settled", ask: { settled: { cause: "fast" } } },
    })
    expect(await settledBy(direct, id)).toBe("fast")
  })
})

describe("a claim whose reply is lost", () => {
  test("gets the same run when it is sent again", async () => {
    const { proxy, store } = await throughProxy()
    const ids = [await begun(store), await begun(store)]
    const swallowed = proxy.swallowReplyTo("w1")
    const first = await store.claim("w1", 10_000)
    await swallowed
    const second = await store.claim("w1", 10_000)
    expect(new Set([first, second].map((claim) => claim.kind === "run" && claim.id))).toEqual(new Set(ids))
    expect(first).toMatchObject({ log: ['{"role":"user","content":"restart web"}'] })
    expect((await store.claim("w1", 10_000)).kind).toBe("idle")
  })

  test("gets all the same runs", async () => {
    const { proxy, store } = await throughProxy()
    const ids = [await begun(store), await begun(store), await begun(store)]
    const swallowed = proxy.swallowReplyTo("w1")
    const { runs } = await store.claims("w1", 10_000, 2)
    await swallowed
    expect(new Set(runs.map(({ id }) => id)).size).toBe(2)
    const rest = await store.claims("w1", 10_000, 9)
    expect(new Set([...runs, ...rest.runs].map(({ id }) => id))).toEqual(new Set(ids))
  })
})

describe("a connection that is cut", () => {
  test("holds up reading and claiming only as long as it is gone", async () => {
    const { proxy, store } = await throughProxy()
    const id = await begun(store)
    proxy.cut()
    expect(await store.load(id)).toMatchObject({ revision: 1 })
    proxy.refuse(true)
    setTimeout(() => proxy.refuse(false), 300)
    expect(await store.claim("w1", 1000)).toMatchObject({ kind: "run", id })
    expect(await store.peek()).toMatchObject({ outbox: 0 })
  })

  test("before a commit was sent leaves it not recorded", async () => {
    const { proxy, store } = await throughProxy()
    const id = await begun(store)
    const known = await store.load(id)
    proxy.refuse(true)
    await expect.poll(() => proxy.refused()).toBeGreaterThan(0)
    expect((await store.apply(id, marking("m"), { notAfterMs: 300, known })).kind).toBe("not recorded")
    proxy.refuse(false)
    expect(marks((await store.load(id))?.run)).toBe(0)
  })

  test("for good ends a wait with an error, and opening with a remedy", async () => {
    const { proxy, store } = await throughProxy()
    proxy.refuse(true)
    await store.close()
    await expect(store.now()).rejects.toThrow(/closed/)
  })
})

describe("a slow Redis", () => {
  test("is waited for", async () => {
    const { proxy, store } = await throughProxy()
    const id = await begun(store)
    proxy.delay(400)
    expect(await store.apply(id, marking("m"), { notAfterMs: 15_000 })).toMatchObject({ kind: "applied", revision: 2 })
    proxy.delay(0)
  })

  test("that froze is asked until it thaws", async () => {
    const redis = await ownRedis()
    const store = await openStore({ url: redis.url })
    closing.push(() => store.close())
    const id = await begun(store)
    redis.pause()
    const applied = store.apply(id, marking("m"))
    setTimeout(() => redis.resume(), 300)
    expect(await applied).toMatchObject({ kind: "applied", revision: 2 })
  })
})

describe("a Redis that is full", () => {
  test("refuses a commit whole, says so at once, and takes it when there is room", async () => {
    const redis = await ownRedis(["--maxmemory-policy", "noeviction"])
    const store = await openStore({ url: redis.url, prefix: "full", outbox: true })
    closing.push(() => store.close())
    const admin = new Redis(redis.url)
    closing.push(() => admin.disconnect())
    const id = await begun(store)
    await store.apply(id, asking("a"))
    const before = await dumpOf(admin)
    await admin.config("SET", "maxmemory", "500kb")

    const started = performance.now()
    const refused = await store.apply(id, clicking("a", "c"), { notAfterMs: 15_000 })
    expect(performance.now() - started).toBeLessThan(2000)
    expect(refused).toMatchObject({ kind: "not recorded", error: { message: expect.stringContaining("OOM") } })
    // With texts to write and to move: nothing of it either.
    const mixed = store.apply(id, (run, now) =>
      run
        ? {
            step: step(run, now, [], { texts: [{ field: "x", text: "x" }], append: [{ field: "why:1" }] }),
            outcome: 1,
          }
        : { outcome: 0 },
    )
    expect((await mixed).kind).toBe("not recorded")
    expect(await dumpOf(admin)).toEqual(before)

    await admin.config("SET", "maxmemory", "0")
    expect(await store.apply(id, clicking("a", "c"))).toMatchObject({ kind: "applied", outcome: { kind: "recorded" } })
  })

  async function dumpOf(admin: Redis): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {}
    for (const name of await admin.keys("{full*")) {
      const type = await admin.type(name)
      if (type === "hash") found[name] = await admin.hgetall(name)
      else if (type === "zset") found[name] = await admin.zrange(name, "0", "-1", "WITHSCORES")
      else found[name] = type === "stream" ? await admin.xrange(name, "-", "+") : await admin.lrange(name, 0, -1)
    }
    return found
  }
})

describe("a Redis that only reads", () => {
  test("after a failover is asked again until it may write", async () => {
    const redis = await ownRedis()
    const store = await openStore({ url: redis.url })
    closing.push(() => store.close())
    const admin = new Redis(redis.url)
    closing.push(() => admin.disconnect())
    const id = await begun(store)
    const connections = async () => Number(/total_connections_received:(\d+)/.exec(await admin.info("stats"))?.[1])
    const before = await connections()
    await admin.replicaof("127.0.0.1", 1)
    const applied = store.apply(id, marking("m"), { notAfterMs: 15_000 })
    setTimeout(() => void admin.replicaof("NO", "ONE"), 400)
    expect(await applied).toMatchObject({ kind: "applied", revision: 2 })
    // The same address may lead to another server by now.
    expect(await connections()).toBeGreaterThan(before)
  })
})

describe("replicas", () => {
  test("that don't confirm leave a commit not known; those that ask for none are not held up", async () => {
    const redis = await ownRedis()
    const store = await openStore({ url: redis.url, confirm: 1 })
    closing.push(() => store.close())
    const id = await begun(store)
    expect(await store.apply(id, marking("plain"))).toMatchObject({ kind: "applied" })
    const unconfirmed = await store.apply(id, marking("sure"), { confirm: true })
    expect(unconfirmed).toMatchObject({ kind: "not known", error: { message: "0 of 1 replicas confirmed it" } })
  })

  test("that confirm make a commit sure, also one whose reply was lost", async () => {
    const redis = await ownRedis()
    const replica = await ownRedis(["--replicaof", "127.0.0.1", String(redis.port)])
    const { proxy, store } = await throughProxy({ url: redis.url, confirm: 1 })
    const id = await begun(store)
    const admin = new Redis(replica.url)
    closing.push(() => admin.disconnect())
    await expect
      .poll(async () => (await admin.info("replication")).includes("master_link_status:up"), { timeout: 15_000 })
      .toBe(true)
    expect(await store.apply(id, marking("sure"), { confirm: true })).toMatchObject({ kind: "applied" })
    void proxy.swallowReplyTo(commitOf(id))
    expect(await store.apply(id, marking("surer"), { confirm: true })).toMatchObject({ kind: "applied", revision: 3 })
  })
})
