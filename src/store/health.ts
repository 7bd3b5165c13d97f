/**
 * What a set-up check wants to know of a Redis: whether it keeps what it is given. It reports; what is a fault, and its
 * remedy, is said elsewhere.
 */
import type { Redis } from "ioredis"
import type { Connection } from "./connection.ts"

/** Of a cluster it is what holds for all of its primaries: the worst of each. */
export interface Health {
  /** Such as `7.0.15`. Valkey reports the Redis version it is compatible with. */
  version: string
  /** `maxmemory-policy`; anything but `noeviction` lets Redis delete runs when memory is full. */
  policy: string
  /** Whether there is an append-only file. */
  aof: boolean
  /** How many replicas are connected. */
  replicas: number
  role: string
  /** How far Redis' clock is ahead of ours, ms. */
  clockSkewMs: number
  /** `standalone`, `cluster` or `sentinel`. */
  mode: string
  /** How many primaries there are. */
  primaries: number
}

export async function healthOf(connection: Connection): Promise<Health> {
  const all = await Promise.all(connection.primaries().map((client) => healthAt(connection, client)))
  const [first] = all
  if (!first) throw new Error("the connection to Redis was not ready in time")
  const worst = (isWorse: (one: Health, other: Health) => boolean): Health =>
    all.reduce((bad, one) => (isWorse(one, bad) ? one : bad))
  return {
    version: worst((one, bad) => isOlder(one.version, bad.version)).version,
    policy: worst((one, bad) => one.policy !== "noeviction" && bad.policy === "noeviction").policy,
    aof: all.every(({ aof }) => aof),
    replicas: Math.min(...all.map(({ replicas }) => replicas)),
    role: first.role,
    clockSkewMs: worst((one, bad) => Math.abs(one.clockSkewMs) > Math.abs(bad.clockSkewMs)).clockSkewMs,
    mode: first.mode,
    primaries: all.length,
  }
}

async function healthAt(connection: Connection, client: Redis): Promise<Health> {
  const info = await connection.surely(() => client.info())
  const fields = new Map(
    info.split("\r\n").map((line) => [line.split(":", 1)[0] ?? "", line.slice(line.indexOf(":") + 1)]),
  )
  const mode = fields.get("redis_mode") ?? ""
  return {
    version: fields.get("redis_version") ?? "",
    policy: fields.get("maxmemory_policy") ?? "",
    aof: fields.get("aof_enabled") === "1",
    replicas: Number(fields.get("connected_slaves") ?? 0),
    role: fields.get("role") ?? "",
    // A sentinel tells no time.
    clockSkewMs: mode === "sentinel" ? 0 : await skewAt(connection, client),
    mode,
    primaries: 1,
  }
}

async function skewAt(connection: Connection, client: Redis): Promise<number> {
  const before = Date.now()
  const [seconds, micros] = await connection.surely(() => client.time())
  const ours = (before + Date.now()) / 2
  return Math.round(Number(seconds) * 1000 + Number(micros) / 1000 - ours)
}

const isOlder = (one: string, other: string): boolean =>
  one.localeCompare(other, "en", { numeric: true, sensitivity: "base" }) < 0

/** True for Redis 6.2 and whatever came later. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > 6 || (major === 6 && minor >= 2)
}
