/**
 * The tools of one person: what everybody has, and the servers that they signed in to, each on a connection that is theirs alone.
 * Nobody is given what another person's server lists, and nobody's call goes over another's connection.
 */
import { createToolkit, type Tool, type Toolkit } from "../../agent/tool.ts"
import { isPersonal } from "../../config/oauth.ts"
import type { Person } from "../../core/fact.ts"
import type { Log } from "../../log.ts"
import type { McpServer } from "../mcp/connect.ts"
import { whyAway } from "../mcp/server.ts"
import { Servers, type Standing } from "../mcp/servers.ts"
import { PersonalAccess } from "./access.ts"
import { askingFor, signInTool, type Asking } from "./asks.ts"
import { ownClient } from "./begun.ts"
import type { Passes, Whose } from "./passes.ts"
import type { Signing } from "./provider.ts"

/** An MCP server that people sign in to. */
export type PersonalServer = McpServer & Signing & { kind: "http" }

export interface KitsOptions {
  servers: readonly PersonalServer[]
  /** What everybody has: of the configuration, and of servers that nobody signs in to. */
  tools: readonly Tool[]
  shared: Servers
  passes: Passes
  asking: Asking
  secrets: readonly string[]
  log: Log
  /** How many people are connected at most, those aside whose calls are under way. */
  most?: number
  /** ms after which somebody of whom nothing was wanted is let go. */
  idle?: number
}

/** How a server stands for one person. */
export type PersonalStanding = Omit<Standing, "state"> & { state: Standing["state"] | { kind: "signed out" } }

const MOST = 100
const IDLE = 600_000
const SWEEP_EVERY = 60_000
const RETIRE_EVERY = 1000
/** For so many people it is remembered what their servers listed first. */
const REMEMBERED = 1000
/** Tools that are named to a model that has just got them. */
const NAMED = 40
const NONE: readonly Tool[] = []

interface Connected {
  /** Of the sign-in that it is for. */
  id: string
  all: Servers
}

interface Entry {
  person: Pick<Person, "team" | "user">
  connected: Map<string, Connected>
  signedIn: Set<string>
  kit: Toolkit
  /** One after another: it looks who has signed in, and connects. */
  settling: Promise<void>
  /** ms of a clock that only goes forward. */
  used: number
}

export class Kits {
  readonly #options: KitsOptions
  readonly #entries = new Map<string, Entry>()
  readonly #atStart = new Map<string, Map<string, string>>()
  readonly #signIn: ReadonlyMap<string, Tool>
  readonly #sweeping: NodeJS.Timeout
  /** Of sign-ins that others took the place of. */
  readonly #retiring = new Set<Servers>()
  #stopped = false

  constructor(options: KitsOptions) {
    this.#options = options
    const { servers, asking } = options
    this.#signIn = new Map(
      servers.map((server) => [server.name, signInTool(server, asking, (person) => this.#welcome(server, person))]),
    )
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_EVERY).unref()
  }

  /** Whether it is one of the tools that only ask their person to sign in. */
  isSignIn(tool: Tool): boolean {
    return this.#signIn.get(tool.source.replace(/^mcp:/, "")) === tool
  }

  /** Their tools as of now, once their servers are connected (or were tried). Rejects when Redis doesn't answer. */
  async of(person: Pick<Person, "team" | "user">): Promise<Toolkit> {
    const entry = await this.#entryOf(person)
    entry.settling = entry.settling.catch(() => undefined).then(() => this.#settle(entry))
    await entry.settling
    return entry.kit
  }

  /** Their tools as far as this process knows them already; undefined when it knows none. */
  known(person: Pick<Person, "team" | "user">): Toolkit | undefined {
    return this.#entries.get(keyOf(person))?.kit
  }

  async standing(person: Pick<Person, "team" | "user">): Promise<PersonalStanding[]> {
    await this.of(person)
    const entry = await this.#entryOf(person)
    return this.#options.servers.map(({ name }) => {
      const [standing] = entry.signedIn.has(name) ? (entry.connected.get(name)?.all.standing() ?? []) : []
      const signIn = this.#signIn.get(name)
      return standing ?? { name, state: { kind: "signed out" }, tools: signIn ? [signIn] : [], notes: [] }
    })
  }

  async stop(ms: number): Promise<void> {
    this.#stopped = true
    clearInterval(this.#sweeping)
    const retiring = [...this.#retiring].map((all) => all.stop(ms))
    await Promise.all([...retiring, ...[...this.#entries.keys()].map((key) => this.#letGo(key, ms))])
  }

  async #entryOf(person: Pick<Person, "team" | "user">): Promise<Entry> {
    const key = keyOf(person)
    const known = this.#entries.get(key)
    const entry = known ?? (await this.#made(person))
    // Somebody else may have made it meanwhile.
    const kept = this.#entries.get(key) ?? entry
    kept.used = performance.now()
    this.#entries.set(key, kept)
    this.#makeRoom(key)
    return kept
  }

  async #made({ team, user }: Pick<Person, "team" | "user">): Promise<Entry> {
    const { servers, tools, shared } = this.#options
    const connected = new Map<string, Connected>()
    const signedIn = new Set<string>()
    const sources = servers.map(({ name }) => ({ tools: () => connected.get(name)?.all.tools() ?? NONE }))
    const kit = await createToolkit({
      extraTools: [...tools, ...this.#signIn.values()],
      sources: [shared, ...sources],
    })
    const names = new Set(servers.map(({ name }) => name))
    // Whoever has signed in need not be asked to; of whoever has not, what is parked is found all the same.
    const isOffered = (tool: Tool): boolean => {
      if (this.isSignIn(tool)) return !signedIn.has(tool.source.replace(/^mcp:/, ""))
      return tool.foreign === undefined || !names.has(tool.foreign.server) || signedIn.has(tool.foreign.server)
    }
    const offered: Toolkit = { ...kit, tools: () => kit.tools().filter(isOffered) }
    return { person: { team, user }, connected, signedIn, kit: offered, settling: Promise.resolve(), used: 0 }
  }

  async #settle(entry: Entry): Promise<void> {
    await Promise.all(
      this.#options.servers.map(async (server) => {
        const whose = whoseOf(server, entry.person)
        const pass = await this.#options.passes.read(whose)
        if (!pass) return this.#over(entry, server.name)
        entry.signedIn.add(server.name)
        if (entry.connected.get(server.name)?.id === pass.id || this.#stopped) return
        await this.#connect(entry, server, pass.id)
      }),
    )
  }

  /** What is parked finds its tool all the same, and asks; nothing tries on and on to reach a server for nobody. */
  #over({ signedIn, connected }: Entry, server: string): void {
    signedIn.delete(server)
    const before = connected.get(server)?.all
    if (before?.isBusy === false) void before.stop(1000)
  }

  /** Ends a connection that nobody is given any more once its calls are over: what came of them must be known. */
  #retire(all: Servers): void {
    this.#retiring.add(all)
    if (all.isBusy && !this.#stopped) return void setTimeout(() => this.#retire(all), RETIRE_EVERY).unref()
    void all.stop(1000).finally(() => this.#retiring.delete(all))
  }

  async #connect(entry: Entry, server: PersonalServer, id: string): Promise<void> {
    const { tools, secrets, log, passes, asking } = this.#options
    const before = entry.connected.get(server.name)
    const whose = whoseOf(server, entry.person)
    const access = new PersonalAccess({
      signing: server,
      whose,
      id,
      passes,
      client: ownClient(server),
      ask: askingFor(asking, server),
    })
    const all = new Servers({
      servers: [server],
      taken: [...tools, ...this.#signIn.values()].map(({ name }) => name),
      secrets,
      access,
      atStart: this.#atStartOf(whose),
      log: log.child({ user: entry.person.user }),
    })
    entry.connected.set(server.name, { id, all })
    if (before) this.#retire(before.all)
    await all.start()
  }

  /** What the person's server listed when it was first connected here: that is the start for them. */
  #atStartOf({ server, url, person }: Whose): Map<string, string> {
    const key = JSON.stringify([server, url, person.team, person.user])
    const prints = this.#atStart.get(key) ?? new Map<string, string>()
    this.#atStart.delete(key)
    this.#atStart.set(key, prints)
    const [oldest] = this.#atStart.keys()
    if (this.#atStart.size > REMEMBERED && oldest !== undefined) this.#atStart.delete(oldest)
    return prints
  }

  /** What a model is told once the person is signed in; undefined when they aren't. */
  async #welcome(server: PersonalServer, person: Person): Promise<string | undefined> {
    if (!(await this.#options.passes.read(whoseOf(server, person)))) return undefined
    const standing = (await this.standing(person)).find(({ name }) => name === server.name)
    if (standing?.state.kind !== "ready") {
      const why = standing && "why" in standing.state ? whyAway(standing.state) : undefined
      return `Signed in to ${server.name}, but it can't be reached just now${why === undefined ? "" : ` (${why})`}. Its tools are there as soon as it answers.`
    }
    const names = standing.tools.map(({ name }) => name)
    const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ""
    return `Signed in to ${server.name}. Its tools are there now: ${names.slice(0, NAMED).join(", ") || "none"}${more}.`
  }

  #makeRoom(newest: string): void {
    const { most = MOST } = this.#options
    const idle = [...this.#entries].filter(([key, entry]) => key !== newest && !isBusy(entry))
    const leaving = idle.sort(([, a], [, b]) => a.used - b.used).slice(0, Math.max(0, this.#entries.size - most))
    for (const [key] of leaving) void this.#letGo(key, 1000)
  }

  #sweep(): void {
    const { idle = IDLE } = this.#options
    const before = performance.now() - idle
    for (const [key, entry] of this.#entries) if (entry.used < before && !isBusy(entry)) void this.#letGo(key, 1000)
  }

  async #letGo(key: string, ms: number): Promise<void> {
    const entry = this.#entries.get(key)
    this.#entries.delete(key)
    if (entry) await Promise.all([...entry.connected.values()].map(({ all }) => all.stop(ms)))
  }
}

const keyOf = ({ team, user }: Pick<Person, "team" | "user">): string => JSON.stringify([team, user])

const isBusy = ({ connected }: Entry): boolean => [...connected.values()].some(({ all }) => all.isBusy)

export const whoseOf = ({ name: server, url }: Signing, { team, user }: Pick<Person, "team" | "user">): Whose => ({
  server,
  url,
  person: { team, user },
})

/** Those of a list that are the same for everybody. */
export const sharedOf = (servers: readonly McpServer[]): McpServer[] => servers.filter((server) => !isPersonal(server))

/** Those of a list that people sign in to, each for themselves. */
export const personalOf = (servers: readonly McpServer[]): PersonalServer[] => servers.filter(isPersonal)
