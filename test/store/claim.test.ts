import { Redis } from "ioredis"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { FORMAT, type Run, step } from "../../src/core/run.ts"
import type { Change, Claim, Store } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { asking, beginning, clicking, freshId, HOUR, marking, marks, openStore } from "./runs.ts"

let prefix: string
let store: Store
let redis: Redis
beforeAll(() => {
  redis = new Redis(redisUrl())
})
beforeEach(async () => {
  await store?.close()
  prefix = freshPrefix()
  store = await openStore({ prefix })
})
afterAll(async () => {
  await store.close()
  redis.disconnect()
})

const key = (kind: string, id = "") => `{${prefix}:0}:${kind}${id}`
const scoreOf = async (id: string) => Number(await redis.zscore(key("agenda"), id))

async function begun(): Promise<string> {
  const id = freshId()
  expect((await store.apply(id, beginning(id))).kind).toBe("applied")
  return id
}

type Held = Claim & { kind: "run" }
async function claimed(owner = "w1", leaseMs = 10_000): Promise<Held> {
  const claim = await store.claim(owner, leaseMs)
  if (claim.kind !== "run") throw new Error("nothing to claim")
  return claim
}

/** Sets when the run next needs a worker, by a retry that waits until then. */
const waitUntil =
  (at: number) =>
  (run: Run | undefined, now: number): Change<string> =>
    run
      ? { step: step({ ...run, retry: { count: 1, at, words: "" } }, now, [], { show: "" }), outcome: "waits" }
      : { outcome: "none" }

describe("claiming", () => {
  test("takes what has been due longest, and tells what comes next", async () => {
    const now = await store.now()
    const order: [string, number][] = []
    for (const at of [now - 1000, now - 3000, now + 60_000, now - 2000]) {
      const id = await begun()
      await store.apply(id, waitUntil(at))
      order.push([id, at])
    }
    const taken = [await claimed(), await claimed(), await claimed()].map(({ id }) => id)
    expect(taken).toEqual([1, 3, 0].map((i) => order[i]?.[0]))
    // Those three are due again when their leases are over, which is sooner.
    const idle = await store.claim("w1", 10_000)
    expect(idle.kind).toBe("idle")
    if (idle.kind === "idle") expect(Math.abs((idle.next ?? 0) - idle.now - 10_000)).toBeLessThan(500)
  })

  test("is in the order of time also for what is due now, whatever the ids", async () => {
    const ids: string[] = []
    for (let i = 0; i < 12; i++) {
      ids.push(await begun())
      const made = await store.now()
      await expect.poll(() => store.now(), { interval: 1 }).toBeGreaterThan(made)
    }
    const taken: string[] = []
    for (const _ of ids) taken.push((await claimed()).id)
    expect(taken).toEqual(ids)
  })

  test("takes several at once, and says when there are more", async () => {
    const ids = new Set([await begun(), await begun(), await begun(), await begun(), await begun()])
    const first = await store.claims("w1", 10_000, 3)
    expect(first.runs).toHaveLength(3)
    expect(first.next).toBeLessThanOrEqual(first.now)
    const second = await store.claims("w1", 10_000, 3)
    expect(second.runs).toHaveLength(2)
    expect((second.next ?? 0) - second.now).toBeGreaterThan(5000)
    expect(new Set([...first.runs, ...second.runs].map(({ id }) => id))).toEqual(ids)
    expect(first.runs[0]).toMatchObject({ revision: 1, log: ['{"role":"user","content":"restart web"}'] })
    expect(await store.claims("w1", 10_000, 3)).toMatchObject({ runs: [] })
  })

  test("an idle agenda says so", async () => {
    expect(await store.claim("w1", 1000)).toMatchObject({ kind: "idle", next: undefined })
    const id = await begun()
    await store.apply(id, asking("a", HOUR))
    const idle = await store.claim("w1", 1000)
    expect(idle).toMatchObject({ kind: "idle", next: await scoreOf(id) })
  })

  test("brings the transcript when the model is next, and only then", async () => {
    const id = await begun()
    expect(await claimed()).toMatchObject({ id, revision: 1, log: ['{"role":"user","content":"restart web"}'] })
    await store.apply(id, asking("a"), { owner: "w1", lease: "release" })
    await store.apply(id, clicking("a", "c"))
    const claim = await claimed()
    expect(claim).toMatchObject({ id, revision: 3 })
    expect(claim.log).toBeUndefined()
    expect(claim.previousOwner).toBeUndefined()
  })

  test("takes over a lease that ran out, and names who had it", async () => {
    const id = await begun()
    await claimed("dead", 30)
    await expect.poll(async () => (await store.claim("w2", 10_000)).kind).toBe("run")
    expect(await redis.hget(key("run:", id), "owner")).toBe("w2")
    await store.apply(id, marking("by the new one"), { owner: "w2", lease: "release" })
    const again = await claimed("w3")
    expect(again.previousOwner).toBeUndefined()
    await claimedAfter(id, "w3")
  })

  /** The lease of `owner` is taken away by letting it run out. */
  async function claimedAfter(id: string, owner: string): Promise<void> {
    await redis.zadd(key("agenda"), 1, id)
    expect(await claimed("w4")).toMatchObject({ id, previousOwner: owner })
  }

  test("cleans away what is left of runs that are gone", async () => {
    await redis.zadd(key("agenda"), -2, "r00000000000000", -1, "r00000000000001")
    const id = await begun()
    expect((await claimed()).id).toBe(id)
    expect(await redis.zrange(key("agenda"), "0", "-1")).toEqual([id])
  })

  test("leaves runs of a newer format to a newer release, and is not held up by them", async () => {
    const [newer, ours] = [await begun(), await begun()]
    const state = JSON.stringify({ ...(await store.load(newer))?.run, format: FORMAT + 1 })
    await redis.hset(key("run:", newer), "state", state, "head", `1 token 1 ${FORMAT + 1} model`)
    await redis.zadd(key("agenda"), 1, newer)
    expect((await claimed()).id).toBe(ours)
    const idle = await store.claim("w1", 1000)
    expect(idle.kind === "idle" && (idle.next ?? 0) - idle.now).toBe(1000)
    expect(await redis.zscore(key("agenda"), newer)).toBe("1")
    await expect(store.load(newer)).rejects.toThrow(`format ${FORMAT + 1}`)
    expect(await store.apply(newer, marking("m"))).toMatchObject({
      kind: "not recorded",
      error: { name: "NewerFormat" },
    })
    expect(await store.list(["requester:T1:U_REQ"], 10)).toHaveLength(1)
  })

  test("finds work in every shard", async () => {
    const three = await openStore({ shards: 3 })
    const ids = new Set<string>()
    while (new Set([...ids].map((id) => id.slice(1, 3))).size < 3) ids.add(freshId(3))
    for (const id of ids) await three.apply(id, beginning(id))
    const taken = new Set<string>()
    for (const _ of ids) {
      const claim = await three.claim("w1", 10_000)
      if (claim.kind === "run") taken.add(claim.id)
    }
    expect(taken).toEqual(ids)
    expect((await three.claim("w1", 10_000)).kind).toBe("idle")
    await three.close()
  })
})

describe("a lease", () => {
  test("keeps the run off the agenda until it is over, whatever others commit", async () => {
    const id = await begun()
    const { now } = await claimed("w1", 10_000)
    const until = await scoreOf(id)
    expect(until - now).toBe(10_000)
    expect((await store.apply(id, marking("others"))).kind).toBe("applied")
    expect(await scoreOf(id)).toBe(until)
    expect(await redis.hget(key("run:", id), "wake")).toBe("0")
    expect((await store.claim("w2", 10_000)).kind).toBe("idle")
  })

  test("is kept by its owner's commits, and given back with the one that says so", async () => {
    const id = await begun()
    await claimed("w1", 10_000)
    const until = await scoreOf(id)
    await store.apply(id, marking("kept"), { owner: "w1" })
    expect(await scoreOf(id)).toBe(until)
    const released = await store.apply(id, asking("a", HOUR), { owner: "w1", lease: "release" })
    expect(released).toMatchObject({ kind: "applied", released: true, revision: 3 })
    const { run } = (await store.load(id)) ?? {}
    expect(await scoreOf(id)).toBe(run?.asks[0]?.expiresAt)
    expect(await redis.hmget(key("run:", id), "owner", "until", "wake", "claim")).toEqual([null, null, null, null])
  })

  test("is given back by the commit that leaves nothing to do, and kept by the others", async () => {
    const id = await begun()
    await claimed("w1")
    const due = await store.apply(id, marking("m"), { owner: "w1", lease: "while due" })
    expect(due).toMatchObject({ kind: "applied", released: false })
    const parked = await store.apply(id, asking("a"), { owner: "w1", lease: "while due" })
    expect(parked).toMatchObject({ kind: "applied", released: true })
    expect(await redis.hget(key("run:", id), "owner")).toBeNull()
  })

  test("protects from whoever lost it: their commit is refused", async () => {
    const id = await begun()
    await claimed("w1", 20)
    await expect.poll(async () => (await store.claim("w2", 10_000)).kind).toBe("run")
    expect(await store.apply(id, marking("too late"), { owner: "w1" })).toEqual({ kind: "not owner" })
    expect(await store.renew(id, "w1", 1000)).toMatchObject({ held: false, revision: 1 })
    expect(await store.apply(id, marking("by everybody"))).toMatchObject({ kind: "applied" })
    expect(marks((await store.load(id))?.run)).toBe(1)
  })

  test("that ran out is still its holder's while nobody else took it", async () => {
    const id = await begun()
    await claimed("w1", 1)
    await expect.poll(async () => (await store.now()) > (await scoreOf(id))).toBe(true)
    expect(await store.apply(id, marking("m"), { owner: "w1" })).toMatchObject({ kind: "applied" })
    expect(await store.renew(id, "w1", 5000)).toMatchObject({ held: true, revision: 2 })
    expect((await store.claim("w2", 1000)).kind).toBe("idle")
  })

  test("lasts longer when renewed, and tells what moved meanwhile", async () => {
    const id = await begun()
    await claimed("w1", 1000)
    await store.apply(id, marking("others"))
    const { held, revision, now } = await store.renew(id, "w1", 30_000)
    expect({ held, revision }).toEqual({ held: true, revision: 2 })
    expect((await scoreOf(id)) - now).toBe(30_000)
    expect(await store.renew(freshId(), "w1", 1000)).toMatchObject({ held: false, revision: 0 })
  })

  test("given back without a change names the revision it saw", async () => {
    const id = await begun()
    await store.apply(id, asking("a", HOUR))
    await redis.zadd(key("agenda"), 1, id)
    const known = await claimed("w1")
    const nothing = () => ({ outcome: "nothing" })
    const release = { owner: "w1", lease: "release" as const, known }
    expect(await store.apply(id, nothing, release)).toMatchObject({
      kind: "applied",
      outcome: "nothing",
      released: true,
    })
    expect(await scoreOf(id)).toBe(known.run.asks[0]?.expiresAt)
    expect(await store.apply(id, nothing, release)).toEqual({ kind: "not owner" })
  })

  test("given back after others moved the run leaves it due when they said", async () => {
    const id = await begun()
    await store.apply(id, asking("a", HOUR))
    await redis.zadd(key("agenda"), 1, id)
    const known = await claimed("w1")
    await store.apply(id, clicking("a", "c"))
    await store.apply(id, () => ({ outcome: "nothing" }), { owner: "w1", lease: "release", known })
    expect(await claimed("w2")).toMatchObject({ id, revision: 3 })
  })

  test("on what only one process may do lasts as long as it is renewed", async () => {
    expect(await store.lease(0, "show", "p1", 10_000)).toBe(true)
    expect(await store.lease(0, "show", "p1", 10_000)).toBe(true)
    expect(await store.lease(0, "show", "p2", 10_000)).toBe(false)
    expect(await store.lease(0, "audit", "p2", 10_000)).toBe(true)
    expect(await store.lease(0, "show", "p1", 1)).toBe(true)
    await expect.poll(() => store.lease(0, "show", "p2", 10_000)).toBe(true)
  })
})

describe("peeking", () => {
  test("tells what is due, over all shards, with one command each", async () => {
    const three = await openStore({ shards: 3, outbox: true })
    expect(await three.peek()).toMatchObject({ agenda: undefined, cards: undefined, rest: undefined, outbox: 0 })
    const ids = [freshId(3), freshId(3), freshId(3)]
    for (const id of ids) await three.apply(id, beginning(id))
    const first = await three.peek()
    expect(first).toMatchObject({ rest: undefined, outbox: 3 })
    expect(first.now - (first.agenda ?? 0)).toBeLessThan(5000)
    expect(first.now - (first.cards ?? 0)).toBeLessThan(5000)
    await three.close()
  })
})
