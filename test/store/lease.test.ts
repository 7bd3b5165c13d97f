import { afterEach, describe, expect, test } from "vitest"
import type { Left, Store, StoreOptions } from "../../src/store/store.ts"
import { startProxy } from "../fakes/proxy.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { ARGS, asking, beginning, clicking, freshId, openStore } from "./runs.ts"

const closing: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A store whose commits take leases for `me`, and what its commits left. */
async function taking(options: Partial<StoreOptions> = {}): Promise<{ store: Store; left: Left[] }> {
  const left: Left[] = []
  const store = await openStore({ onCommit: (_id, _step, at) => left.push(at), ...options })
  closing.push(() => store.close())
  store.takeFor(() => ({ owner: "me", leaseMs: 10_000 }))
  return { store, left }
}

describe("a commit that leaves something to do now", () => {
  test("takes the lease for whoever it is told, with what the next worker needs; nobody else can claim", async () => {
    const { store, left } = await taking()
    const id = freshId()
    await store.apply(id, beginning(id))
    expect(left.at(-1)?.taken?.log).toHaveLength(1)
    expect((await store.claim("other", 1000)).kind).toBe("idle")
    await store.apply(id, asking("a"), { owner: "me", lease: "while due" })
    expect(left.at(-1)?.taken).toBeUndefined()
    await store.apply(id, clicking("a", "click"))
    expect(left.at(-1)?.taken?.texts).toEqual(new Map([["args:1.1", ARGS]]))
    expect((await store.claim("other", 1000)).kind).toBe("idle")
    expect(await store.renew(id, "me", 1000)).toMatchObject({ held: true, revision: 3 })
  })

  test("takes none that stands", async () => {
    const { store, left } = await taking()
    store.takeFor(() => undefined)
    const id = freshId()
    await store.apply(id, beginning(id))
    await store.claim("other", 10_000)
    await store.apply(id, asking("a"), { owner: "other" })
    store.takeFor(() => ({ owner: "me", leaseMs: 10_000 }))
    await store.apply(id, clicking("a", "click"))
    expect(left.at(-1)?.taken).toBeUndefined()
    expect(await store.renew(id, "other", 1000)).toMatchObject({ held: true })
  })

  test("takes one that has run out, as a claim would", async () => {
    const { store, left } = await taking()
    store.takeFor(() => undefined)
    const id = freshId()
    await store.apply(id, beginning(id))
    await store.claim("other", 1)
    await store.apply(id, asking("a"), { owner: "other" })
    await expect.poll(async () => (await store.load(id))?.now).toBeGreaterThan((left.at(-1)?.now ?? 0) + 1)
    store.takeFor(() => ({ owner: "me", leaseMs: 10_000 }))
    await store.apply(id, clicking("a", "click"))
    expect(left.at(-1)?.taken).toBeDefined()
    expect(await store.renew(id, "other", 1000)).toMatchObject({ held: false })
  })

  test("takes none while nobody has room: the run is due, and can be claimed", async () => {
    const { store, left } = await taking()
    store.takeFor(() => undefined)
    const id = freshId()
    await store.apply(id, beginning(id))
    expect(left.at(-1)?.taken).toBeUndefined()
    expect(await store.claim("other", 1000)).toMatchObject({ kind: "run", id })
  })

  test("has taken it also when its reply was lost and it was sent again", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    closing.push(() => proxy.close())
    const { store, left } = await taking({ url: proxy.url, prefix: freshPrefix() })
    const id = freshId()
    const swallowed = proxy.swallowReplyTo(`log:${id}`)
    expect(await store.apply(id, beginning(id))).toMatchObject({ kind: "applied", revision: 1 })
    await swallowed
    expect(left.at(-1)?.taken?.log).toHaveLength(1)
    expect((await store.claim("other", 1000)).kind).toBe("idle")
  })
})

test("a claim brings the texts that calls run on, and none for a run that only waits", async () => {
  const { store } = await taking()
  store.takeFor(() => undefined)
  const id = freshId()
  await store.apply(id, beginning(id))
  await store.apply(id, asking("a"))
  await store.apply(id, clicking("a", "click"))
  const { runs } = await store.claims("w", 1000, 5)
  expect(runs).toMatchObject([{ id, texts: new Map([["args:1.1", ARGS]]) }])
  expect(runs[0]?.log).toBeUndefined()
})
