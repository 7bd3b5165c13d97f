/**
 * One MCP server as long as the bot lives: connected, listed, called, and connected again with more and more time between
 * when it fails. Whatever it does costs no other server and no run but those that call it.
 */
import type { ToolContext } from "../../agent/tool.ts"
import type { ToolResult } from "../../core/suspension.ts"
import type { Log } from "../../log.ts"
import { cleanWithin } from "../echo.ts"
import type { Access } from "./access.ts"
import { call, type Called, type Underway } from "./call.ts"
import { connect, inTime, type Connection, type McpServer } from "./connect.ts"
import { elicitor } from "./elicit.ts"
import { list, type Listing } from "./list.ts"
import { messageOf, oneLine } from "./result.ts"

export interface ServerOptions {
  server: McpServer
  log: Log
  /** Takes our own secrets out of what is said of it, and what it says. */
  clean: (text: string) => string
  /** What it lists is another by now. */
  onListed: () => void
  /** Whom it is called for, where that is one person. */
  access?: Access | undefined
  /** ms until it must have answered first. */
  connectWithin?: number
  /** The first back-off, ms; it doubles. */
  retryBase?: number
}

export type State =
  /** `why` it was away before, if it was. */
  | { kind: "connecting"; why?: string }
  | { kind: "ready" }
  /** `why` is on one line. */
  | { kind: "away"; why: string }
  | { kind: "disabled" }
  | { kind: "stopped" }

/** Why it can't be called, where that is known. */
export const whyAway = (state: State): string | undefined => ("why" in state ? state.why : undefined)

const CONNECT_WITHIN = 30_000
const RETRY_BASE = 1000
const RETRY_MOST = 60_000
/** What stands so long, ms, is not said to fail again and again. */
const STEADY = 60_000
/** Its list is read at most so often, ms, however often it says that it has changed. */
const LIST_EVERY = 1000
const PING_WITHIN = 5000
/** The most that a call waits, ms, for a connection that is being made. */
const WAIT_FOR_IT = 10_000

export class Server {
  readonly #options: ServerOptions
  /** Calls under way, by their mark. */
  readonly underway = new Map<string, Underway>()
  #state: State
  #connection: Connection | undefined
  #connecting: Promise<void> | undefined
  #listing = false
  #listAgain = false
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  readonly #ending = new AbortController()
  #readySince = 0
  #listed: Listing = { tools: [], notes: [] }

  readonly #elicit: ReturnType<typeof elicitor>

  constructor(options: ServerOptions) {
    this.#options = options
    const { server, clean, log } = options
    this.#elicit = elicitor({ server: server.name, underway: this.underway, clean, log })
    this.#state = { kind: options.server.disabled ? "disabled" : "connecting" }
  }

  get config(): McpServer {
    return this.#options.server
  }

  get state(): State {
    return this.#state
  }

  /** As it was when it was last connected. */
  get listed(): Listing {
    return this.#listed
  }

  /** Resolves when a first attempt is over, however it went. */
  start(): Promise<void> {
    return this.#state.kind === "disabled" ? Promise.resolve() : this.#connect()
  }

  async call(tool: string, args: Record<string, unknown>, ctx: ToolContext = {}): Promise<ToolResult> {
    const { server, clean } = this.#options
    // A server that has forgotten us executed nothing; it is asked once more when it knows us again.
    for (let again = false; ; again = true) {
      const connection = await this.#standing()
      if (!connection) return this.#away(ctx)
      const { underway } = this
      const { timeout, name } = server
      const called: Called = await call({ connection, server: name, tool, args, ctx, timeout, underway, clean })
      if (called.kind === "result") return called.result
      if (called.kind === "unknown person") return this.#unknownPerson(called.refusal, ctx)
      this.#lose(connection, called.why)
      if (again || ctx.signal?.aborted === true) return called.refusal ?? this.#away(ctx)
      await this.#connect()
    }
  }

  async #unknownPerson(refusal: ToolResult, ctx: ToolContext): Promise<ToolResult> {
    return (await this.#options.access?.refused(ctx)) ?? refusal
  }

  /** Ends it within `ms`; it doesn't come back. */
  async stop(ms: number): Promise<void> {
    this.#state = { kind: "stopped" }
    clearTimeout(this.#timer)
    for (const { patience } of this.underway.values()) patience.giveUp("the bot is stopping")
    this.#ending.abort()
    const ending = [this.#connection?.close(), this.#connecting].map(async (one) => one)
    await inTime(Promise.all(ending), ms, "").catch(() => undefined)
  }

  /** Its connection, as soon as it stands, if that is soon. */
  async #standing(): Promise<Connection | undefined> {
    if (this.#connecting) await inTime(this.#connecting, WAIT_FOR_IT, "").catch(() => undefined)
    return this.#state.kind === "ready" ? this.#connection : undefined
  }

  async #away(ctx: ToolContext): Promise<ToolResult> {
    const { access } = this.#options
    if (access && (await access.isOver())) return access.refused(ctx)
    const why = whyAway(this.#state)
    const known = why === undefined ? "" : ` (${why})`
    const output = `the MCP server ${this.config.name} is away${known}; the call was not executed. It is connected again as soon as it answers.`
    return { output, isError: true }
  }

  #connect(): Promise<void> {
    clearTimeout(this.#timer)
    this.#connecting ??= this.#connectOnce().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #connectOnce(): Promise<void> {
    const { server, clean, connectWithin: within = CONNECT_WITHIN } = this.#options
    let connection: Connection | undefined
    try {
      connection = await connect(server, {
        within,
        clean,
        signal: this.#ending.signal,
        onListChanged: () => this.#relist(),
        onOver: (why) => this.#lose(connection, why),
        onTrouble: () => void this.#probe(connection),
        onElicit: this.#elicit,
        access: this.#options.access,
        onCut: (mark) => this.underway.get(mark)?.patience.giveUp("the connection ended before its answer came"),
      })
      const listed = await list(connection.client, server)
      if (this.#isStopped()) return await connection.close()
      if (connection.over !== undefined) throw new Error(connection.over)
      this.#connection = connection
      this.#readySince = performance.now()
      this.#state = { kind: "ready" }
      this.#took(listed)
    } catch (error) {
      const over = connection?.over
      await connection?.close()
      if (!this.#isStopped()) this.#fail(over ?? messageOf(error))
    }
  }

  #isStopped(): boolean {
    return this.#state.kind === "stopped"
  }

  #took(listed: Listing): void {
    const { log, server, clean, onListed } = this.#options
    const before = new Set(this.#listed.notes)
    this.#listed = { tools: listed.tools.map((tool) => cleanWithin(tool, clean)), notes: listed.notes.map(clean) }
    const { tools, notes } = this.#listed
    log.info({ server: server.name, tools: tools.length }, "an MCP server is connected")
    for (const note of notes.filter((one) => !before.has(one)).slice(0, 20)) {
      log.warn({ server: server.name, note }, "not all that an MCP server lists can be used")
    }
    onListed()
  }

  /** A connection is over, or useless. */
  #lose(connection: Connection | undefined, why: string): void {
    if (!connection || this.#connection !== connection) return
    this.#connection = undefined
    void connection.close()
    if (this.#isStopped()) return
    if (performance.now() - this.#readySince > STEADY) this.#failures = 0
    this.#fail(why)
  }

  #fail(why: string): void {
    const { log, server, clean, retryBase = RETRY_BASE } = this.#options
    const words = clean(oneLine(why, 500))
    this.#state = { kind: "away", why: words }
    const ms = Math.min(retryBase * 2 ** this.#failures, RETRY_MOST)
    this.#failures += 1
    log.warn(
      { server: server.name, why: words, again: ms },
      "an MCP server is away; what it has can't be called until it is back",
    )
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#state = { kind: "connecting", why: words }
      void this.#connect()
    }, ms)
  }

  /** A stream was lost: it may have ended quietly, or the server with it. */
  async #probe(connection: Connection | undefined): Promise<void> {
    if (!connection || this.#connection !== connection) return
    try {
      await connection.client.ping({ timeout: PING_WITHIN })
    } catch (error) {
      this.#lose(connection, messageOf(error))
    }
  }

  /** Reads the list again; what is said meanwhile counts for the next time. */
  #relist(): void {
    this.#listAgain = true
    if (this.#listing) return
    this.#listing = true
    void this.#relistAll().finally(() => {
      this.#listing = false
    })
  }

  async #relistAll(): Promise<void> {
    while (this.#listAgain) {
      this.#listAgain = false
      const connection = this.#connection
      if (!connection || this.#state.kind !== "ready") return
      try {
        this.#took(await list(connection.client, this.config))
      } catch (error) {
        this.#lose(connection, `its list could not be read: ${messageOf(error)}`)
      }
      await new Promise((resolve) => setTimeout(resolve, LIST_EVERY).unref())
    }
  }
}
