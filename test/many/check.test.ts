/** What commands make of a Redis that is no single server, or something else than the configuration takes it for. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { auditVerify } from "../../src/check/audit.ts"
import { checkRedis } from "../../src/check/redis.ts"
import { readConfig } from "../../src/config.ts"
import { freshPrefix, redisUrl, scratchFolder } from "../redis.ts"
import { startCluster, startWatched } from "./servers.ts"

vi.setConfig({ testTimeout: 60_000 })

async function read(url: string, redis: Record<string, unknown>) {
  const path = join(await scratchFolder("check-redis"), "countersign.yaml")
  writeFileSync(path, JSON.stringify({ model: { provider: "demo" }, redis }))
  const tokens = { SLACK_BOT_TOKEN: "xoxb-1-of-a-test", SLACK_APP_TOKEN: "xapp-1-of-a-test" }
  return readConfig({ ...tokens, REDIS_URL: url, COUNTERSIGN_CONFIG: path })
}

const found = async (url: string, redis: Record<string, unknown>) => checkRedis((await read(url, redis)).known)

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

test("the audit is verified in a cluster, and behind sentinels", async ({ onTestFinished }) => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.close())
  const watched = await startWatched()
  onTestFinished(() => watched.close())
  for (const [url, redis] of [
    [cluster.url, { cluster: true, shards: 3, prefix: freshPrefix() }],
    [watched.url, { sentinel: watched.name, prefix: freshPrefix() }],
  ] as const) {
    const { lines, faults } = await auditVerify(await read(url, redis), {})
    expect(faults).toEqual([])
    expect(lines[0]).toMatch(/^0 runs of 0 verified/)
  }
})
