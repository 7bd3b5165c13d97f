/** What `check` says of a Redis that is something else than the configuration takes it for. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { checkRedis } from "../../src/check/redis.ts"
import { readConfig } from "../../src/config.ts"
import { redisUrl, scratchFolder } from "../redis.ts"
import { startCluster, startWatched } from "./servers.ts"

vi.setConfig({ testTimeout: 60_000 })

async function found(url: string, redis: Record<string, unknown>) {
  const path = join(await scratchFolder("check-redis"), "countersign.yaml")
  writeFileSync(path, JSON.stringify({ model: { provider: "demo" }, redis }))
  return checkRedis(readConfig({ REDIS_URL: url, COUNTERSIGN_CONFIG: path }).known)
}

test("a cluster is named as such, and has work for all of its primaries", async ({ onTestFinished }) => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.close())
  expect((await found(cluster.nodes[0]?.url ?? "", {})).faults).toEqual([
    "REDIS_URL leads to a node of a Redis Cluster: set redis: { cluster: true }, and name several of its nodes.",
  ])
  expect(await found(cluster.url, { cluster: true })).toMatchObject({
    faults: [],
    warnings: [expect.stringMatching(/^The cluster has 3 primaries, and redis\.shards is 1:/)],
  })
  expect(await found(cluster.url, { cluster: true, shards: 12 })).toEqual({ faults: [], outages: [], warnings: [] })
  // Each of them must keep what it is given.
  await cluster.ask(
    cluster.nodes[2] ?? (await Promise.reject(new Error())),
    "CONFIG",
    "SET",
    "maxmemory-policy",
    "allkeys-lru",
  )
  expect((await found(cluster.url, { cluster: true, shards: 12 })).faults).toEqual([
    expect.stringMatching(/^Redis' maxmemory-policy is allkeys-lru/),
  ])
})

test("one server is no cluster", async () => {
  expect((await found(redisUrl(), { cluster: true })).faults).toEqual([
    expect.stringMatching(/is no Redis Cluster: leave out redis\.cluster/),
  ])
})

test("sentinels are named as such, with the name that they know the primary by", async ({ onTestFinished }) => {
  const watched = await startWatched()
  onTestFinished(() => watched.close())
  const [first = ""] = watched.url.split(",")
  expect((await found(first, {})).faults).toEqual([expect.stringMatching(/^REDIS_URL leads to a sentinel: say which/)])
  expect(await found(watched.url, { sentinel: watched.name })).toEqual({ faults: [], outages: [], warnings: [] })
  for (const [url, sentinel] of [
    [watched.url, "another"],
    [redisUrl(), watched.name],
  ] as const)
    expect((await found(url, { sentinel })).outages).toEqual([
      expect.stringMatching(/^No sentinel at .* tells where the primary is: see that they run/),
    ])
})
