/**
 * Whether Redis can be reached, is new enough, and keeps what it is given. It writes nothing there.
 */
import type { Known } from "../config.ts"
import { type Address, addressOf, type Host, type Server } from "../store/address.ts"
import { Connection } from "../store/connection.ts"
import { type Health, healthOf, isNewEnough } from "../store/health.ts"
import { metaKey } from "../store/keys.ts"
import { fault, outage, plain, type Report, together, warning } from "./report.ts"

/** How long it is tried to reach Redis, ms. */
const REACH_WITHIN = 3000
/** ms of difference between the clocks: Slack's signatures allow five minutes. */
const CLOCKS = 60_000

export async function checkRedis(known: Known): Promise<Report> {
  const { redisUrl: url, redis } = known
  const address = url === undefined ? undefined : addressOf(url)
  if (url === undefined || !address) return together()
  const lacks = redis.insecure === true ? [] : missingOf(address)
  // Whether it was meant to be insecure isn't known when that setting could not be read.
  const open = redis.insecure === false ? checkWire(address, lacks) : together()
  // Not even for a check does a password go where everybody can read it.
  if (lacks.length > 0 && address.password !== "") return open
  return together(open, await checkServer({ ...redis, url, sentinelPassword: known.sentinelPassword }, address, known))
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/

const isFar = ({ host }: Host): boolean => !LOOPBACK.test(host)

/** What is missing for others not to get at what is stored there. */
function missingOf({ hosts, tls, password }: Address): string[] {
  if (!hosts.some(isFar)) return []
  return [...(tls ? [] : ["TLS (rediss://)"]), ...(password === "" ? ["a password"] : [])]
}

function checkWire({ hosts }: Address, lacks: readonly string[]): Report {
  if (lacks.length === 0) return together()
  const far = hosts.find(isFar)?.host ?? ""
  const words = `REDIS_URL leads to another machine (${far}) without ${lacks.join(" and without ")}`
  return fault(
    `${words}: whoever can reach it could read runs and approve them. Add ${lacks.length > 1 ? "both" : "it"}, or, where nobody else can reach it, set redis: { insecure: true }.`,
  )
}

async function checkServer(server: Server, { hosts }: Address, known: Known): Promise<Report> {
  const usual = server.sentinel === undefined ? 6379 : 26_379
  const at = hosts.map(({ host, port = usual }) => `${host.includes(":") ? `[${host}]` : host}:${port}`).join(", ")
  const words = { last: "" }
  const connection = new Connection(server, "check", { warn: (_, said) => (words.last = said) })
  let ready = false
  try {
    await connection.ready(REACH_WITHIN)
    ready = true
    return await look(connection, known)
  } catch (error) {
    const why = plain(words.last.replace(/^Redis: /, "") || (error instanceof Error ? error.message : String(error)))
    return refused(at, why) ?? outage(unanswered(at, why, ready, words.last === "" ? connection.status : ""))
  } finally {
    await connection.close()
  }
}

/** What Redis itself says no to. */
function refused(at: string, why: string): Report | undefined {
  if (/NOAUTH/.test(why)) return fault(`Redis at ${at} wants a password: put it into REDIS_URL (redis://:password@…).`)
  if (/WRONGPASS|invalid (username-)?password/i.test(why)) {
    return fault(`Redis at ${at} refuses the name or password of REDIS_URL: correct it.`)
  }
  if (/cluster support disabled/.test(why)) {
    return fault(`Redis at ${at} is no Redis Cluster: leave out redis.cluster, or let REDIS_URL name nodes of one.`)
  }
  if (!/NOPERM/.test(why)) return undefined
  return fault(
    `Redis at ${at} forbids what the bot needs (${why}): allow the user of REDIS_URL that, and every command on its keys.`,
  )
}

/** `status` is the connection's, where nothing has been said of what keeps it. */
function unanswered(at: string, why: string, ready: boolean, status: string): string {
  if (/All sentinels are unreachable/.test(why)) {
    return `No sentinel at ${at} tells where the primary is: see that they run, that REDIS_URL names them and not Redis, and that redis.sentinel is the name in their "sentinel monitor" lines.`
  }
  if (ready) return `Redis at ${at} doesn't answer as it should (${why}): see how it is (redis-cli ping, its log).`
  if (status === "connect") {
    return `Redis at ${at} takes connections but isn't ready (it is loading its data, or hangs): wait until redis-cli ping says PONG; if it doesn't, restart it.`
  }
  if (status === "connecting") {
    return `Redis can't be reached at ${at} (no connection within ${REACH_WITHIN / 1000} s): see that this machine may connect there, and that REDIS_URL is right.`
  }
  return `Redis can't be reached at ${at} (${why}): start it, or correct REDIS_URL.`
}

async function look(connection: Connection, { redis, slack }: Known): Promise<Report> {
  const health = await healthOf(connection)
  const mode = checkMode(health, redis)
  // Whatever else would be said of it is about something else than what is meant.
  if (mode.faults.length > 0) return mode
  const { prefix } = redis
  const meta = prefix === undefined ? undefined : metaKey(prefix)
  const fixed = meta === undefined ? null : await connection.surely(() => connection.at(meta).hget(meta, "shards"))
  return together(
    mode,
    checkVersion(health),
    checkPolicy(health),
    checkKeeping(health),
    checkConfirm(health, redis),
    checkShards(redis, fixed),
    checkClock(health, slack.http),
  )
}

function checkMode({ mode, primaries }: Health, { cluster, sentinel, shards = 1 }: Known["redis"]): Report {
  if (mode === "sentinel") {
    return fault(
      "REDIS_URL leads to a sentinel: say which primary it looks after, with redis: { sentinel: mymaster }, or name Redis itself.",
    )
  }
  if (mode === "cluster" && cluster === false) {
    return fault(
      sentinel === undefined
        ? "REDIS_URL leads to a node of a Redis Cluster: set redis: { cluster: true }, and name several of its nodes."
        : "The sentinels lead to a node of a Redis Cluster: leave out redis.sentinel, set redis: { cluster: true }, and let REDIS_URL name its nodes.",
    )
  }
  if (cluster !== true || primaries <= shards) return together()
  return warning(
    `The cluster has ${primaries} primaries, and redis.shards is ${shards}: so many have work at most. It can't be changed once something is stored; several shards for each primary spread it evenly.`,
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

function checkConfirm({ replicas }: Health, { confirm }: Known["redis"]): Report {
  if (confirm === undefined || confirm <= replicas) return together()
  const words = `redis.confirm wants ${confirm} replicas to have what is accepted, but ${replicas} are connected`
  return warning(`${words}: until there are enough, nothing is confirmed. Start them, or lower redis.confirm.`)
}

function checkShards({ prefix, shards }: Known["redis"], fixed: string | null): Report {
  if (fixed === null || shards === undefined || fixed === String(shards)) return together()
  const words = `redis.shards is ${shards}, but Redis holds runs under the prefix "${prefix}" in ${plain(fixed)} shards`
  return fault(`${words}, and that can't be changed: set redis.shards to ${plain(fixed)}, or another redis.prefix.`)
}

function checkClock({ clockSkewMs }: Health, http: boolean | undefined): Report {
  if (http !== true || Math.abs(clockSkewMs) <= CLOCKS) return together()
  const seconds = Math.round(Math.abs(clockSkewMs) / 1000)
  return warning(
    `Redis' clock is ${seconds} s ${clockSkewMs > 0 ? "ahead of" : "behind"} this machine's: if this one is wrong, Slack's signed requests are refused. Set both by NTP.`,
  )
}
