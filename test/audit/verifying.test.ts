import { Redis } from "ioredis"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { exportAudit, type Exported } from "../../src/audit/export.ts"
import { fold } from "../../src/audit/journal.ts"
import { verifyAudit } from "../../src/audit/verifying.ts"
import type { Fact } from "../../src/core/fact.ts"
import type { Store } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { asking, beginning, clicking, freshId, openStore } from "../store/runs.ts"

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

const SECRET = "xoxb-1234567890-abcdefghij"
const keyOf = (id: string): string => `{${prefix}:0}:run:${id}`
const factsOf = async (id: string): Promise<Fact[]> => (await store.facts(id)).map((text) => JSON.parse(text) as Fact)

/** A run that was decided: several facts. */
async function decided(): Promise<string> {
  const id = freshId()
  await store.apply(id, beginning(id, `restart with ${SECRET}`))
  await store.apply(id, asking(`ask-${id}`))
  await store.apply(id, clicking(`ask-${id}`, "click"))
  expect((await factsOf(id)).length).toBeGreaterThanOrEqual(3)
  return id
}

describe("verifying", () => {
  test("says of every run that its chain is unbroken, and what that does not show", async () => {
    const ids = [await decided(), await decided()]
    const facts = (await Promise.all(ids.map(factsOf))).flat()
    const { lines, faults } = await verifyAudit(store, {})
    expect(faults).toEqual([])
    expect(lines[0]).toBe(`2 runs of 2 verified, with ${facts.length} facts: each chain is unbroken.`)
    expect(lines[1]).toBe("Shard 0: no line was posted to an audit channel yet.")
    expect(lines.join(" ")).toContain("could still chain a run's facts anew")
  })

  test("one run alone: how many facts, and the last one's hash, which the channel has too", async () => {
    const [id] = [await decided(), await decided()]
    const facts = await factsOf(id)
    const { lines, faults } = await verifyAudit(store, { run: id })
    expect(faults).toEqual([])
    const last = facts.at(-1)?.hash
    expect(lines[0]).toBe(`Run ${id}: ${facts.length} facts, the chain is unbroken. The last is ${last}.`)
    expect((await verifyAudit(store, { run: freshId() })).faults).toEqual([
      expect.stringMatching(/^Run r\w+: Redis holds no such run; it may have been deleted/),
    ])
  })

  test.each<[string, (key: string) => Promise<unknown>, number]>([
    [
      "forged",
      async (key) => redis.hset(key, "fact:2", ((await redis.hget(key, "fact:2")) ?? "").replace("restart", "reboot")),
      2,
    ],
    ["removed", (key) => redis.hdel(key, "fact:2"), 2],
    ["removed at the end", async (key) => redis.hdel(key, `fact:${await factCount(key)}`), 3],
    [
      "put in another's place",
      async (key) => {
        const [second, third] = await redis.hmget(key, "fact:2", "fact:3")
        await redis.hset(key, "fact:2", third ?? "", "fact:3", second ?? "")
      },
      2,
    ],
    ["overwritten with no JSON", (key) => redis.hset(key, "fact:1", "x"), 1],
  ])("a fact that was %s breaks the chain there, and no other run's", async (_, tamper, at) => {
    const [id] = [await decided(), await decided()]
    await tamper(keyOf(id))
    const { lines, faults } = await verifyAudit(store, {})
    expect(lines[0]).toMatch(/^1 run of 2 verified, with \d+ facts: their chains are unbroken\.$/)
    expect(faults).toEqual([expect.stringContaining(`Run ${id}: the chain breaks at fact ${at}:`)])
  })

  const factCount = async (key: string): Promise<number> =>
    (await redis.hkeys(key)).filter((field) => field.startsWith("fact:")).length

  test("a run that can't be read is not verified", async () => {
    const [id] = [await decided(), await decided()]
    await redis.hset(keyOf(id), "state", "x")
    const { faults } = await verifyAudit(store, {})
    expect(faults).toEqual([
      `Run ${id}: it can't be read in Redis, so its chain can't be verified: restore its key from a backup.`,
    ])
  })

  test("finds every run among many, also those that wait for ever; those that are gone are none", async () => {
    const ids = [await decided(), await decided(), await decided()]
    const gone = Array.from({ length: 700 }, (_, index) => [String(index), freshId()]).flat()
    await redis.zadd(`{${prefix}:0}:agenda`, ...gone, "+inf", ids[0] ?? "")
    const { lines } = await verifyAudit(store, {})
    expect(lines[0]).toMatch(/^3 runs of 3 verified/)
  })
})

describe("a checkpoint of the audit channel", () => {
  const [first, last] = [fold("", { hash: "a" }), fold(fold("", { hash: "a" }), { hash: "b" })]
  const given = (count: number, root: string) => ({ checkpoint: { shard: 0, count, root } })
  beforeEach(async () => {
    const reached = {
      cursor: "1-1",
      lines: "12",
      root: last,
      checkpoint: "10",
      checkpointRoot: first,
      checkpointAt: "1",
    }
    await redis.hset(`{${prefix}:0}:audit`, reached)
  })

  test("is printed as Redis holds it when none is given", async () => {
    const { lines, faults } = await verifyAudit(store, {})
    expect(faults).toEqual([])
    expect(lines).toContain(`  now: shard 0 · 12 lines · root ${last}`)
    expect(lines).toContain(`  last checkpoint: shard 0 · 10 lines · root ${first}`)
  })

  test.each([
    [10, first],
    [12, last],
    [12, last.toUpperCase()],
  ])("of %i lines is the one that Redis holds", async (count, root) => {
    const { lines, faults } = await verifyAudit(store, given(count, root))
    expect(faults).toEqual([])
    expect(lines).toContain(`Shard 0: the checkpoint of ${count} lines is the one that Redis holds.`)
  })

  test.each([
    [10, last, /^Shard 0: the root of 10 lines is [\da-f]{64} in Redis, and another in the channel/],
    [12, first, /^Shard 0: the root of 12 lines is [\da-f]{64} in Redis, and another in the channel/],
    [13, last, /^Shard 0: the channel had 13 lines, Redis knows of 12: facts were lost or taken out/],
    [
      9,
      first,
      /^Shard 0: Redis knows no root of 9 lines any more, .* give the latest checkpoint .*, that of 10 lines\.$/,
    ],
  ])("of %i lines and another root is no such one", async (count, root, fault) => {
    expect((await verifyAudit(store, given(count, root))).faults).toEqual([expect.stringMatching(fault)])
  })
})

describe("exporting", () => {
  const all = async (how: Partial<Parameters<typeof exportAudit>[1]> = {}): Promise<Exported[]> => {
    const found: Exported[] = []
    for await (const one of exportAudit(store, { since: 0, showsArgs: false, masksOf: () => [], ...how }))
      found.push(one)
    return found
  }

  test("has every fact of every run, each run's in order", async () => {
    const ids = [await decided(), await decided()]
    const exported = await all()
    for (const id of ids) {
      const own = exported.flatMap((one) => ("fact" in one && one.fact["run"] === id ? [one.fact] : []))
      expect(own).toEqual(await factsOf(id))
    }
    expect(exported.every((one) => !("args" in one) && !("prompt" in one))).toBe(true)
    expect((await all({ run: ids[0] ?? "" })).length).toBe((await factsOf(ids[0] ?? "")).length)
    expect(await all({ since: (await store.now()) + 1 })).toEqual([])
  })

  test("has args and prompts only where they may be shown, masked", async () => {
    const id = await decided()
    const exported = await all({ showsArgs: true, masksOf: () => ["args.line"] })
    const text = JSON.stringify(exported)
    expect(text).not.toContain(SECRET)
    expect(exported[0]).toMatchObject({
      prompt: expect.stringMatching(/^restart with \[slack token, \d+ characters\]/),
    })
    expect(exported.find((one) => "args" in one)).toMatchObject({
      fact: { run: id, what: "asked" },
      args: expect.stringContaining('"line":"[masked by rule'),
    })
  })

  test("masks a secret that somebody wrote into a fact, and says that it did", async () => {
    const id = await decided()
    const fact = JSON.parse((await redis.hget(keyOf(id), "fact:1")) ?? "") as object
    await redis.hset(keyOf(id), "fact:1", JSON.stringify({ ...fact, note: `token ${SECRET}` }))
    const exported = await all()
    expect(exported.map((one) => "masked" in one && one.masked)).toEqual(exported.map((_, index) => index === 0))
    expect(JSON.stringify(exported)).not.toContain(SECRET)
  })

  test("tells of a run whose facts can't be told, and goes on", async () => {
    const [id, other] = [await decided(), await decided()]
    await redis.hset(keyOf(id), "head", "x")
    const exported = await all()
    expect(exported).toContainEqual({ run: id, error: "the run can't be read in Redis" })
    expect(exported.filter((one) => "fact" in one)).toHaveLength((await factsOf(other)).length)
    const none = freshId()
    expect(await all({ run: none })).toEqual([{ run: none, error: "Redis holds no such run" }])
  })
})
