/**
 * The connection to Redis (one server, whichever is the primary by its sentinels' word, or the nodes of a cluster): its time
 * limits, the scripts, and what an error of it says about a command. It never repeats a command by itself, and keeps none
 * for later: whoever sends one knows whether it may be sent twice.
 */
import { readFileSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"
import { Redis, type RedisOptions } from "ioredis"
import { type Address, addressOf, type Server } from "./address.ts"
import { Cluster } from "./cluster.ts"

/** How many keys each script takes (undefined: its first argument says it); `lua/<name>.lua` says which. */
const SCRIPTS = {
  commit: undefined,
  load: 1,
  admit: 2,
  claim: 1,
  overdue: 1,
  renew: 2,
  release: 2,
  remove: 9,
  list: 1,
  peek: 7,
  showAll: 2,
  lease: 1,
  showDue: 2,
  showLeave: 5,
  lookNext: 2,
  lookDone: 3,
  lateDone: 1,
  showLater: 4,
  showRecord: 4,
  auditAdvance: 3,
  pace: 1,
  swap: 1,
} as const

export type Script = keyof typeof SCRIPTS

const sources = new Map(
  Object.keys(SCRIPTS).map((name) => [name, readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), "utf8")]),
)

/**
 * unsent: it never left this process · lost: it may have been executed · busy: Redis can't just now, and did nothing ·
 * refused: Redis doesn't want to, and did nothing · broken: anything else, so nothing is known.
 */
export type Fault = "unsent" | "lost" | "busy" | "refused" | "broken"

// Inside a script older servers wrap the code: "ERR Error running script …: -OOM command not allowed …"
const BUSY = /(?:^|-)(?:LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|MOVED|ASK|TRYAGAIN|NOREPLICAS)\b/
const REFUSED = /(?:^|-)(?:OOM|MISCONF|NOAUTH|WRONGPASS|DENIED|MISSING)\b/

/** The one place that reads ioredis' and Redis' error texts: neither gives codes for all of these. */
export function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return "broken"
  if (error.name === "ReplyError") {
    if (BUSY.test(error.message)) return "busy"
    return REFUSED.test(error.message) ? "refused" : "broken"
  }
  if (/isn't writeable|not ready in time/.test(error.message)) return "unsent"
  return "lost"
}

/** An error of ioredis carries the command's arguments, which are people's texts and must not reach a log: its words go on alone. */
export function errorOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  if (!("command" in error)) return error
  const bare = new Error(error.message)
  bare.name = error.name
  return bare
}

export interface Log {
  warn(about: Record<string, unknown>, words: string): void
  error(about: Record<string, unknown>, words: string): void
}

/** How long a command may take before its outcome counts as unknown, ms. */
const COMMAND_TIMEOUT = 6000

const OPTIONS = {
  lazyConnect: true,
  connectTimeout: 5000,
  commandTimeout: COMMAND_TIMEOUT,
  socketTimeout: 2 * COMMAND_TIMEOUT,
  // Nothing waits in here for a connection, and nothing is sent a second time behind our back: a queue that outlives
  // the caller's patience executes what nobody waits for any more.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableAutoPipelining: false,
  retryStrategy: (attempt) => Math.min(25 * 2 ** Math.min(attempt, 6), 1000),
  // After a failover the same address may lead to a new primary.
  reconnectOnError: (error) => /(?:^|-)READONLY\b/.test(error.message),
} satisfies RedisOptions

/** How often a cluster is asked whether it is there yet, ms. */
const CLUSTER_AGAIN = 50

export class Connection {
  readonly #name: string
  readonly #log: Pick<Log, "warn"> | undefined
  /** Undefined in a cluster. */
  readonly #one: Redis | undefined
  readonly #cluster: Cluster | undefined
  /** What was said last, so that there is one line per kind of trouble, not one per attempt. */
  #said = ""
  /** The servers that were met, by their own id: in a cluster all, else the last one. */
  readonly #servers = new Set<string>()
  #opened = false
  #restarts = 0

  /** @throws TypeError when the url is no address. */
  constructor(server: Server, name: string, log?: Pick<Log, "warn">) {
    this.#name = name
    this.#log = log
    const options = { ...OPTIONS, connectionName: `countersign-${name}` }
    const address = addressOf(server.url)
    if (!address) throw new TypeError("the url leads to no Redis")
    if (server.cluster === true) {
      this.#cluster = new Cluster(address.hosts, ({ host, port = 6379 }) =>
        this.#prepared(new Redis({ ...options, ...shared(address), host, port })),
      )
    } else if (server.sentinel === undefined) this.#one = this.#prepared(new Redis(server.url, options))
    else this.#one = this.#prepared(new Redis({ ...options, ...watched(server, server.sentinel, address) }))
  }

  #prepared(client: Redis): Redis {
    // Everybody who waits for the connection is a listener.
    client.setMaxListeners(0)
    client.on("error", (error: Error) => {
      if (this.#said !== error.message) this.#log?.warn({ connection: this.#name }, `Redis: ${error.message}`)
      this.#said = error.message
    })
    client.on("ready", () => {
      this.#said = ""
      void this.#meet(client, this.#opened)
    })
    for (const [script, keys] of Object.entries(SCRIPTS)) {
      client.defineCommand(script, {
        ...(keys === undefined ? {} : { numberOfKeys: keys }),
        lua: sources.get(script) ?? "",
      })
    }
    return client
  }

  /** How often another server was met than before, or one that began anew: it may know less than was acknowledged. */
  get restarts(): number {
    return this.#restarts
  }

  async #meet(client: Redis, later: boolean): Promise<void> {
    try {
      const [, server = ""] = /^run_id:(\w+)/mu.exec(await client.info("server")) ?? []
      if (later && !this.#servers.has(server)) this.#restarts += 1
      if (this.#one) this.#servers.clear()
      this.#servers.add(server)
    } catch {
      // Gone again: it is asked when it is back.
    }
  }

  /** The connection to whatever has the key. @throws ("unsent") when it isn't known, or there is none now. */
  at(key: string): Redis {
    const client = this.#one ?? this.#cluster?.at(key)
    if (!client || (this.#cluster && client.status !== "ready")) {
      throw new Error(`the ${this.#name} connection to the node of Redis that has ${key} is not ready in time`)
    }
    return client
  }

  /** A connection to each server that holds something: its primaries. */
  primaries(): Redis[] {
    return this.#one ? [this.#one] : (this.#cluster?.primaries() ?? [])
  }

  /** What it is doing, in ioredis' words; of a cluster its first node. */
  get status(): string {
    return (this.#one ?? this.#cluster?.all()[0])?.status ?? "wait"
  }

  /** Runs a script: its keys, then its arguments. The first key says where. */
  run(script: Script, args: readonly string[]): Promise<unknown> {
    const client = this.at(args[SCRIPTS[script] === undefined ? 1 : 0] ?? "")
    const scripts = client as unknown as Record<Script, (...args: readonly string[]) => Promise<unknown>>
    return scripts[script](...args)
  }

  /** What Redis says against one part of what a script was to do, `{'error', words}` in its reply, as an error of its own. */
  refusalIn(reply: unknown, key: string): Error | undefined {
    const [word, words] = reply as [unknown, string]
    if (word !== "error") return undefined
    const error = new Error(words)
    error.name = "ReplyError"
    if (OPTIONS.reconnectOnError(error)) (this.#one ?? this.#cluster?.at(key))?.disconnect(true)
    return error
  }

  /** Resolves when commands can be sent (in a cluster: to all primaries), or rejects ("unsent") after `within` ms. */
  async ready(within: number): Promise<void> {
    if (this.#cluster) await this.#wholeCluster(this.#cluster, within)
    if (this.#one) await this.#open(this.#one, within)
    this.#opened = true
  }

  async #wholeCluster(cluster: Cluster, within: number): Promise<void> {
    const until = performance.now() + within
    for (;;) {
      await cluster.look()
      const primaries = cluster.primaries()
      if (primaries.length > 0 && primaries.every(({ status }) => status === "ready")) return
      if (performance.now() > until) {
        const why = cluster.trouble === "" ? "" : `: ${cluster.trouble}`
        throw new Error(`the ${this.#name} connection to the cluster was not ready in time${why}`)
      }
      await delay(CLUSTER_AGAIN)
    }
  }

  async #open(client: Redis, within: number): Promise<void> {
    if (client.status === "ready") return
    if (client.status === "wait") client.connect().catch(() => {})
    if (client.status === "end") throw new Error(`the ${this.#name} connection to Redis is closed, not ready in time`)
    await new Promise<void>((resolve, reject) => {
      const done = () => {
        clearTimeout(timer)
        client.off("ready", done)
        resolve()
      }
      const timer = setTimeout(() => {
        client.off("ready", done)
        reject(new Error(`the ${this.#name} connection to Redis was not ready in time`))
      }, within)
      client.on("ready", done)
    })
  }

  /**
   * Does something that may be done twice, again and again until it is known to have been done or `within` ms are over.
   * Rejects with the last error. The time limit is checked between attempts; one attempt takes 6 s at most.
   */
  async surely<T>(attempt: () => Promise<T>, within = COMMAND_TIMEOUT): Promise<T> {
    const until = performance.now() + within
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        const fault = faultOf(error)
        const left = until - performance.now()
        if (fault === "refused" || fault === "broken" || left <= 0) throw errorOf(error)
        await this.pause(fault, left)
      }
    }
  }

  /** Waits until another attempt makes sense, `left` ms at most. Rejects ("unsent") when there was no connection by then. */
  async pause(fault: Fault, left: number): Promise<void> {
    // Never at once: a connection that has just gone counts as ready until the event loop has had its turn, and an attempt
    // after the other on it would keep that turn away.
    const rest = fault === "busy" || fault === "refused" ? 100 : this.#cluster ? CLUSTER_AGAIN : 10
    await delay(Math.min(rest, left))
    // Whatever the node couldn't do, another may have its keys by now; the others go on meanwhile.
    if (this.#cluster) return this.#cluster.look()
    await this.ready(left)
  }

  async close(): Promise<void> {
    const clients = this.#one ? [this.#one] : (this.#cluster?.all() ?? [])
    await Promise.all(
      clients.map(async (client) => {
        if (client.status === "ready") await client.quit().catch(() => {})
        client.disconnect()
      }),
    )
  }
}

/** What all servers of an address have in common. */
const shared = ({ tls, username, password, db }: Address) => ({
  db,
  ...(username === "" ? {} : { username }),
  ...(password === "" ? {} : { password }),
  ...(tls ? { tls: {} } : {}),
})

/** How long a sentinel may take to answer, ms. */
const SENTINEL_TIMEOUT = 2000

/** The primary that sentinels at the address know. */
function watched({ sentinelPassword }: Server, name: string, address: Address) {
  return {
    ...shared(address),
    name,
    sentinels: address.hosts.map(({ host, port = SENTINEL_PORT }) => ({ host, port })),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(address.tls ? { sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: SENTINEL_TIMEOUT,
    // A primary that was cut off keeps its connections; its sentinels know when it is none any more.
    failoverDetector: true,
  }
}

const SENTINEL_PORT = 26_379
