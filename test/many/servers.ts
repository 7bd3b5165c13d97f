/** Redis as several servers for tests: a cluster, or a primary with a replica and the sentinels that watch them. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Redis } from "ioredis"
import { inject } from "vitest"
import { freePort } from "../fakes/port.ts"
import { until } from "../promises/team.ts"
import { scratchFolder, startRedis, type TestRedis } from "../redis.ts"

/** A replica follows at once. */
const BRISK = ["--repl-diskless-sync-delay", "0"]
/** ms without an answer after which a node or a primary counts as down. */
const DOWN_AFTER = 1000

export interface TestCluster {
  /** Of all nodes. */
  url: string
  /** The nodes, primaries first, then the replica of the first, second, … */
  nodes: TestRedis[]
  /** One command to one node. */
  ask(node: TestRedis, command: string, ...args: (string | number)[]): Promise<unknown>
  close(): Promise<void>
}

/** A cluster of so many primaries, each with a replica where that is wanted. */
export async function startCluster({
  primaries = 3,
  replicas = false,
  args = [] as string[],
} = {}): Promise<TestCluster> {
  const count = primaries * (replicas ? 2 : 1)
  const nodes = await Promise.all(
    Array.from({ length: count }, async () => {
      const settings = [
        "--cluster-enabled",
        "yes",
        "--cluster-node-timeout",
        String(DOWN_AFTER),
        "--cluster-port",
        String(await freePort()),
      ]
      return startRedis({ args: [...settings, ...BRISK, ...args] })
    }),
  )
  const clients = new Map(nodes.map((node) => [node, new Redis(node.url, { lazyConnect: true })]))
  for (const client of clients.values()) client.on("error", () => undefined)
  const ask: TestCluster["ask"] = async (node, command, ...rest) => clients.get(node)?.call(command, ...rest)
  const busPorts = await Promise.all(
    nodes.map(async (node) => ((await ask(node, "CONFIG", "GET", "cluster-port")) as string[])[1]),
  )
  const ids = (await Promise.all(nodes.map((node) => ask(node, "CLUSTER", "MYID")))) as string[]
  const [first] = nodes
  for (const [index, node] of nodes.entries()) {
    if (index < primaries) {
      const [from, to] = [index, index + 1].map((part) => Math.floor((part * 16_384) / primaries)) as [number, number]
      await ask(node, "CLUSTER", "ADDSLOTSRANGE", from, to - 1)
      await ask(node, "CLUSTER", "SET-CONFIG-EPOCH", index + 1)
    }
    if (first && node !== first) await ask(first, "CLUSTER", "MEET", "127.0.0.1", node.port, busPorts[index] ?? "")
  }
  const knows = async (node: TestRedis, words: RegExp, times: number) =>
    (String(await ask(node, "CLUSTER", "NODES")).match(words) ?? []).length >= times
  const everywhere = (holds: (node: TestRedis) => Promise<boolean>) => async () =>
    (await Promise.all(nodes.map(holds))).every(Boolean)
  await until(
    everywhere((node) => knows(node, / connected/g, count)),
    () => "the nodes to know each other",
  )
  for (const [index, node] of nodes.slice(primaries).entries())
    await ask(node, "CLUSTER", "REPLICATE", ids[index] ?? "")
  await until(
    everywhere(
      async (node) =>
        String(await ask(node, "CLUSTER", "INFO")).includes("cluster_state:ok") &&
        (!replicas || (await knows(node, /slave /g, primaries))),
    ),
    () => "the cluster to be whole",
  )
  for (const node of nodes.slice(primaries))
    await until(
      async () => String(await ask(node, "INFO", "replication")).includes("master_link_status:up"),
      () => "a replica to be in step",
    )
  return {
    url: `redis://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    nodes,
    ask,
    async close() {
      for (const client of clients.values()) client.disconnect()
      await Promise.all(nodes.map(end))
    },
  }
}

export interface Watched {
  /** Of the sentinels. */
  url: string
  name: string
  primary: TestRedis
  replica: TestRedis
  close(): Promise<void>
}

/** A primary, its replica, and three sentinels that let the replica take over when the primary is down. */
export async function startWatched(): Promise<Watched> {
  const primary = await startRedis({ args: BRISK })
  const replica = await startRedis({ args: ["--replicaof", `127.0.0.1 ${primary.port}`, ...BRISK] })
  const name = "countersign-test"
  const sentinels = await Promise.all(Array.from({ length: 3 }, () => startSentinel(name, primary.port)))
  const asking = new Redis(sentinels[0]?.port ?? 0, "127.0.0.1")
  asking.on("error", () => undefined)
  await until(
    async () => {
      const [known, others] = await Promise.all([
        asking.call("SENTINEL", "REPLICAS", name),
        asking.call("SENTINEL", "SENTINELS", name),
      ])
      return (known as unknown[]).length === 1 && (others as unknown[]).length === 2
    },
    () => "the sentinels to know everybody",
  )
  asking.disconnect()
  return {
    url: `redis://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    name,
    primary,
    replica,
    async close() {
      await Promise.all(sentinels.map(({ stop }) => stop()))
      await Promise.all([primary, replica].map(end))
    },
  }
}

async function startSentinel(name: string, watched: number): Promise<{ port: number; stop: () => Promise<void> }> {
  const port = await freePort()
  const file = join(await scratchFolder("sentinel"), "sentinel.conf")
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `sentinel monitor ${name} 127.0.0.1 ${watched} 2`,
    `sentinel down-after-milliseconds ${name} ${DOWN_AFTER}`,
    `sentinel failover-timeout ${name} 5000`,
  ]
  await writeFile(file, `${lines.join("\n")}\n`)
  const child = spawn(inject("redisProgram"), [file, "--sentinel"], { stdio: "ignore" })
  const ended = once(child, "exit")
  return {
    port,
    async stop() {
      child.kill("SIGKILL")
      await ended
    },
  }
}

/** A replica that has just taken over everything refuses to end in order; one that was killed is dead already. */
const end = (server: TestRedis): Promise<void> => server.kill().catch(() => undefined)
