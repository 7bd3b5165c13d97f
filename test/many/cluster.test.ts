/** The store on a Redis Cluster: three primaries, each with a replica. */
import { Redis } from "ioredis"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { openAsks } from "../../src/core/run.ts"
import { slotOf } from "../../src/store/cluster.ts"
import { shardKeys, shardOf } from "../../src/store/keys.ts"
import type { Store } from "../../src/store/store.ts"
import { until } from "../promises/team.ts"
import { freshPrefix, type TestRedis } from "../redis.ts"
import { asking, beginning, clicking, freshId, marking, marks, openStore } from "../store/runs.ts"
import { startCluster, type TestCluster } from "./servers.ts"

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const SHARDS = 8
let cluster: TestCluster
beforeAll(async () => {
  cluster = await startCluster({ replicas: true })
})
afterAll(() => cluster.close())

const open = (prefix: string, more = {}): Promise<Store> =>
  openStore({ url: cluster.url, cluster: true, prefix, shards: SHARDS, outbox: true, ...more })

/** A run in each shard. */
async function spread(store: Store): Promise<string[]> {
  const ids = new Map<number, string>()
  while (ids.size < SHARDS) {
    const id = freshId(SHARDS)
    const shard = shardOf(id, SHARDS) ?? 0
    if (ids.has(shard)) continue
    ids.set(shard, id)
    expect(await store.apply(id, beginning(id))).toMatchObject({ kind: "applied", outcome: "started" })
  }
  return [...ids.values()]
}

/** The primary that has a shard now. */
async function primaryOf(prefix: string, shard: number): Promise<TestRedis> {
  const slot = slotOf(shardKeys(prefix, shard).tag)
  for (const node of cluster.nodes) {
    const ranges = (await cluster.ask(node, "CLUSTER", "SLOTS").catch(() => [])) as [number, number, [string, number]][]
    const range = ranges.find(([from, to]) => from <= slot && slot <= to)
    const primary = cluster.nodes.find(({ port }) => port === range?.[2][1])
    if (primary) return primary
  }
  throw new Error("no node knows")
}

test("each key's slot is what Redis says it is", async () => {
  const [node] = cluster.nodes
  if (!node) throw new Error("no node")
  for (const key of ["foo", "{a}b", "b{a}", "{}a", "{a", "a}{b}c", "{{a}}", "ä{ö}ü", "{countersign:0}:agenda"])
    expect(slotOf(key), key).toBe(await cluster.ask(node, "CLUSTER", "KEYSLOT", key))
})

test("runs of all shards live side by side: begun, asked, answered, listed, claimed and deleted", async ({
  onTestFinished,
}) => {
  const prefix = freshPrefix()
  const store = await open(prefix)
  onTestFinished(() => store.close())
  const ids = await spread(store)
  const { runs } = await store.claims("me", 15_000, 1)
  expect(runs).toHaveLength(1)
  for (const id of ids) {
    await store.apply(id, asking(`ask-${id}`))
    expect(await store.apply(id, clicking(`ask-${id}`, `click-${id}`))).toMatchObject({
      kind: "applied",
      outcome: { kind: "recorded" },
    })
    expect(await store.transcript(id)).toHaveLength(2)
    expect(await store.facts(id)).toHaveLength(3)
  }
  const listed = await store.list(["requester:T1:U_REQ"], 100)
  expect(listed.map(({ run }) => run.id).toSorted()).toEqual(ids.toSorted())
  expect(await store.peek()).toMatchObject({ outbox: 3 * SHARDS })
  await store.pause.begin({ by: "Ada", at: await store.now() })
  expect(await store.pause.read()).toMatchObject({ by: "Ada" })
  await store.pause.end()
  await store.setQuiet("U1", true)
  expect(await store.quiet()).toEqual(new Set(["U1"]))
  const found = new Set<string>()
  for (let rest = ids.length; rest > 0;) {
    const claims = await store.claims("them", 15_000, 10)
    for (const { id } of claims.runs) found.add(id)
    rest = claims.runs.length
  }
  expect(found.size).toBe(SHARDS - 1)

  // Whatever a shard holds is in its one slot, and the shards are on all primaries.
  const keys = await Promise.all(
    cluster.nodes.slice(0, 3).map(async (node) => (await cluster.ask(node, "KEYS", `*${prefix}*`)) as string[]),
  )
  expect(keys.every((some) => some.length > 0)).toBe(true)
  expect(keys.flat().filter((key) => !/^\{[^}]+:\d+\}:/.test(key))).toEqual([])
})

test("another number of shards than is stored is refused with the way out", async ({ onTestFinished }) => {
  const prefix = freshPrefix()
  const store = await open(prefix)
  onTestFinished(() => store.close())
  await expect(open(prefix, { shards: 4 })).rejects.toThrow(/set redis\.shards to 8/)
})

test("replicas confirm what is stored in their own shard", async ({ onTestFinished }) => {
  const store = await open(freshPrefix(), { confirm: 1 })
  onTestFinished(() => store.close())
  const ids = await spread(store)
  for (const id of ids)
    expect(await store.apply(id, marking("m"), { confirm: true })).toMatchObject({ kind: "applied" })
  const many = await open(freshPrefix(), { confirm: 2 })
  onTestFinished(() => many.close())
  const id = freshId(SHARDS)
  expect(await many.apply(id, beginning(id), { confirm: true, notAfterMs: 1000 })).toMatchObject({
    kind: "not known",
    error: { message: "1 of 2 replicas confirmed it" },
  })
})

test("a slot that moves makes its shard wait, and loses nothing", async ({ onTestFinished }) => {
  const prefix = freshPrefix()
  const store = await open(prefix)
  onTestFinished(() => store.close())
  const [id = ""] = await spread(store)
  const shard = shardOf(id, SHARDS) ?? 0
  const keys = shardKeys(prefix, shard)
  const slot = slotOf(keys.tag)
  const from = await primaryOf(prefix, shard)
  const to = cluster.nodes.slice(0, 3).find((node) => node !== from) as TestRedis
  const [source, target] = (await Promise.all([from, to].map((node) => cluster.ask(node, "CLUSTER", "MYID")))) as [
    string,
    string,
  ]
  await cluster.ask(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", source)
  await cluster.ask(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", target)
  const move = (...some: string[]) => cluster.ask(from, "MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", ...some)
  // The run is there already, its place in the agenda still here: nobody may take it for a run that is gone.
  await move(keys.run + id)
  await store.claims("me", 15_000, 10).catch(() => undefined)
  await store.list(["requester:T1:U_REQ"], 100).catch(() => undefined)
  const waiting = store.apply(id, marking("while it moved"))
  for (;;) {
    const rest = (await cluster.ask(from, "CLUSTER", "GETKEYSINSLOT", slot, 100)) as string[]
    if (rest.length === 0) break
    await move(...rest)
  }
  for (const node of [to, from, ...cluster.nodes.slice(0, 3)])
    await cluster.ask(node, "CLUSTER", "SETSLOT", slot, "NODE", target)
  expect(await waiting).toMatchObject({ kind: "applied", outcome: "marked" })
  expect(marks((await store.load(id))?.run)).toBe(1)
  const agenda = new Redis(to.url)
  onTestFinished(() => agenda.disconnect())
  expect(await agenda.zscore(keys.agenda, id)).not.toBeNull()
  expect((await store.list(["requester:T1:U_REQ"], 100)).map(({ run }) => run.id)).toContain(id)
})

test("a primary that dies holds up its own shards until its replica takes over: each commit is stored once", async ({
  onTestFinished,
}) => {
  const prefix = freshPrefix()
  const store = await open(prefix)
  onTestFinished(() => store.close())
  const ids = await spread(store)
  const dead = await primaryOf(prefix, 0)
  const causes = ids.map((id) => `before ${id}`)
  for (const [index, id] of ids.entries()) await store.apply(id, asking(`ask-${index}`))
  await dead.kill()
  const results = await Promise.all(
    ids.map((id, index) => store.apply(id, clicking(`ask-${index}`, causes[index] ?? ""), { notAfterMs: 15_000 })),
  )
  expect(results.map(({ kind }) => kind)).toEqual(ids.map(() => "applied"))
  for (const [index, id] of ids.entries()) {
    const run = (await store.load(id))?.run
    expect(run && openAsks(run)).toEqual([])
    expect(run?.asks[0]?.settled?.cause).toBe(causes[index])
    expect(await store.facts(id)).toHaveLength(3)
  }
  await until(
    async () => (await store.peek()).outbox === 3 * SHARDS,
    () => "all facts in the outbox",
  )
})
