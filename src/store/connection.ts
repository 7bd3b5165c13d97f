/**
 * The connection to Redis: its time limits, the scripts, and what an error of it says about a command. It never repeats
 * a command by itself, and keeps none for later: whoever sends one knows whether it may be sent twice.
 */
import { readFileSync } from "node:fs"
import { Redis } from "ioredis"

/** How many keys each script takes; `lua/<name>.lua` says which. */
const SCRIPTS = {
  commit: 7,
  load: 1,
  claim: 1,
  renew: 2,
  release: 2,
  remove: 8,
  list: 1,
  peek: 6,
  showAll: 2,
  lease: 1,
  showDue: 2,
  showLeave: 5,
  lookNext: 1,
  lookDone: 3,
  showLater: 3,
  showRecord: 3,
  auditAdvance: 3,
  pace: 1,
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
const BUSY = /(?:^|-)(?:LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS)\b/
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

export class Connection {
  readonly client: Redis
  readonly #name: string
  #corked = false

  constructor(url: string, name: string, log?: Pick<Log, "warn">) {
    this.#name = name
    this.client = new Redis(url, {
      lazyConnect: true,
      connectionName: `countersign-${name}`,
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
    })
    // Everybody who waits for the connection is a listener.
    this.client.setMaxListeners(0)
    let said = ""
    this.client.on("error", (error: Error) => {
      // One line per kind of trouble, not one per attempt.
      if (said !== error.message) log?.warn({ connection: name }, `Redis: ${error.message}`)
      said = error.message
    })
    this.client.on("ready", () => {
      said = ""
    })
    for (const [script, keys] of Object.entries(SCRIPTS)) {
      this.client.defineCommand(script, { numberOfKeys: keys, lua: sources.get(script) ?? "" })
    }
  }

  /** Runs a script: its keys, then its arguments. */
  run(script: Script, args: readonly string[]): Promise<unknown> {
    this.#cork()
    const scripts = this.client as unknown as Record<Script, (...args: readonly string[]) => Promise<unknown>>
    return scripts[script](...args)
  }

  /** What is sent in one turn of the event loop leaves in one write: with many runs at once, writing is most of the cost. */
  #cork(): void {
    const { stream } = this.client
    if (this.#corked || !stream) return
    this.#corked = true
    stream.cork()
    process.nextTick(() => {
      this.#corked = false
      stream.uncork()
    })
  }

  /** Resolves when commands can be sent, or rejects ("unsent") after `within` ms. */
  async ready(within: number): Promise<void> {
    const { client } = this
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
    const rest = fault === "busy" || fault === "refused" ? 100 : 10
    await new Promise((resolve) => setTimeout(resolve, Math.min(rest, left)))
    await this.ready(left)
  }

  async close(): Promise<void> {
    if (this.client.status === "ready") await this.client.quit().catch(() => {})
    this.client.disconnect()
  }
}
