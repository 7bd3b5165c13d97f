/**
 * Whether Redis can be reached, is new enough, and keeps what it is given. It writes nothing there.
 */
import type { Config } from "../config.ts"
import { Connection } from "../store/connection.ts"
import { type Health, healthOf, isNewEnough } from "../store/health.ts"
import { metaKey } from "../store/keys.ts"
import { fault, plain, type Report, together, warning } from "./report.ts"

/** How long it is tried to reach Redis, ms. */
const REACH_WITHIN = 3000
/** ms of difference between the clocks: Slack's signatures allow five minutes. */
const CLOCKS = 60_000

export async function checkRedis(config: Config): Promise<Report> {
  const { redis } = config
  const address = new URL(redis.url)
  const open = checkWire(address, redis.insecure)
  // Not even for a check does a password go where everybody can read it.
  if (open.faults.length > 0 && address.password !== "") return open
  const words = { last: "" }
  const connection = new Connection(redis.url, "check", { warn: (_, said) => (words.last = said) })
  try {
    await connection.ready(REACH_WITHIN)
    return together(open, await look(connection, config))
  } catch (error) {
    const why = words.last.replace(/^Redis: /, "") || (error instanceof Error ? error.message : String(error))
    return together(open, fault(unreached(address, plain(why))))
  } finally {
    await connection.close()
  }
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

function checkWire({ protocol, hostname, password }: URL, insecure: boolean): Report {
  if (insecure || LOOPBACK.test(hostname)) return together()
  const lacks = [...(protocol === "rediss:" ? [] : ["TLS (rediss://)"]), ...(password === "" ? ["a password"] : [])]
  if (lacks.length === 0) return together()
  const words = `REDIS_URL leads to another machine (${hostname}) without ${lacks.join(" and without ")}`
  return fault(
    `${words}: whoever can reach it could read runs and approve them. Add ${lacks.length > 1 ? "both" : "it"}, or, where nobody else can reach it, set redis: { insecure: true }.`,
  )
}

function unreached({ hostname, port }: URL, why: string): string {
  const at = `${hostname}:${port || "6379"}`
  if (/NOAUTH/.test(why)) return `Redis at ${at} wants a password: put it into REDIS_URL (redis://:password@…).`
  if (/WRONGPASS|invalid (username-)?password/i.test(why)) {
    return `Redis at ${at} refuses the name or password of REDIS_URL: correct it.`
  }
  if (/NOPERM/.test(why)) {
    return `Redis at ${at} forbids what the bot needs (${why}): allow the user of REDIS_URL that, and every command on its keys.`
  }
  return `Redis can't be reached at ${at} (${why}): start it, or correct REDIS_URL.`
}

async function look(connection: Connection, { redis, slack }: Config): Promise<Report> {
  const health = await healthOf(connection)
  const fixed = await connection.surely(() => connection.client.hget(metaKey(redis.prefix), "shards"))
  return together(
    checkVersion(health),
    checkPolicy(health),
    checkKeeping(health),
    checkConfirm(health, redis),
    checkShards(redis, fixed),
    checkClock(health, slack.transport.kind),
  )
}

function checkVersion({ version }: Health): Report {
  if (version === "")
    return warning("Redis doesn't say its version, so it couldn't be checked: 6.2 or newer is needed.")
  if (isNewEnough(version)) return together()
  return fault(`Redis ${plain(version)} is too old: update it to 6.2 or newer, or to Valkey.`)
}

function checkPolicy({ policy }: Health): Report {
  if (policy === "noeviction") return together()
  if (policy === "") {
    return warning("Redis doesn't say its maxmemory-policy, so it couldn't be checked: it must be noeviction.")
  }
  return fault(
    `Redis' maxmemory-policy is ${plain(policy)}, so it deletes runs when its memory is full: CONFIG SET maxmemory-policy noeviction, and put the same into redis.conf.`,
  )
}

function checkKeeping({ aof, replicas, role }: Health): Report {
  if (role === "slave") return fault("REDIS_URL leads to a replica, which takes no writes: name the primary.")
  if (aof || replicas > 0) return together()
  return warning(
    "Redis has neither an append-only file nor a replica, so a crash of it loses runs: CONFIG SET appendonly yes, and put the same into redis.conf.",
  )
}

function checkConfirm({ replicas }: Health, { confirm }: Config["redis"]): Report {
  if (confirm <= replicas) return together()
  const words = `redis.confirm wants ${confirm} replicas to have what is accepted, but ${replicas} are connected`
  return warning(`${words}: until there are enough, nothing is confirmed. Start them, or lower redis.confirm.`)
}

function checkShards({ prefix, shards }: Config["redis"], fixed: string | null): Report {
  if (fixed === null || fixed === String(shards)) return together()
  const words = `redis.shards is ${shards}, but Redis holds runs under the prefix "${prefix}" in ${plain(fixed)} shards`
  return fault(`${words}, and that can't be changed: set redis.shards to ${plain(fixed)}, or another redis.prefix.`)
}

function checkClock({ clockSkewMs }: Health, transport: "socket" | "http"): Report {
  if (transport === "socket" || Math.abs(clockSkewMs) <= CLOCKS) return together()
  const seconds = Math.round(Math.abs(clockSkewMs) / 1000)
  return warning(
    `Redis' clock is ${seconds} s ${clockSkewMs > 0 ? "ahead of" : "behind"} this machine's: if this one is wrong, Slack's signed requests are refused. Set both by NTP.`,
  )
}
