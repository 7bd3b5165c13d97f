/**
 * All MCP servers of the configuration, and their tools as one list. What a server lists may change while the bot runs; what
 * it listed when the bot started is remembered, and what is other than that says so.
 */
import { defineTool, type Tool, type ToolSource } from "../../agent/tool.ts"
import type { Effects, Since } from "../../core/run.ts"
import type { Log } from "../../log.ts"
import { withoutOurs } from "../echo.ts"
import { inTime, type McpServer } from "./connect.ts"
import type { Listed } from "./list.ts"
import { nameOf, originOf } from "./names.ts"
import { oneLine } from "./result.ts"
import { Server, type ServerOptions, type State } from "./server.ts"

export interface ServersOptions extends Pick<ServerOptions, "access" | "connectWithin" | "retryBase"> {
  servers: readonly McpServer[]
  /** Names that other tools have. */
  taken: readonly string[]
  /** Our own, which servers are sent or not. */
  secrets: readonly string[]
  /** Prints of their tools at what counts as their start, by name, where that was before; else they are learnt. */
  atStart?: Map<string, string> | undefined
  log: Log
}

/** How a server stands, for people. */
export interface Standing {
  name: string
  state: State
  tools: readonly Tool[]
  /** What of it can't be used, and why. */
  notes: readonly string[]
}

/** What the start waits for each server's first answer, ms: what comes later has appeared later. */
export const START_WITHIN = 20_000

export class Servers implements ToolSource {
  readonly #options: ServersOptions
  readonly #servers: readonly Server[]
  /** Prints of the tools that were there at the start, by name; they are learnt until it is over. */
  readonly #atStart: Map<string, string>
  #started: boolean
  #tools: readonly Tool[] = []
  #standing = new Map<Server, { tools: Tool[]; notes: string[] }>()
  /** Tools that were made, by server and print: what hasn't changed is not made anew. */
  #made = new Map<string, Tool | string>()

  constructor(options: ServersOptions) {
    const { servers, secrets, taken: _taken, atStart = new Map<string, string>(), ...rest } = options
    this.#options = options
    this.#atStart = atStart
    this.#started = atStart.size > 0
    const ours = withoutOurs(secrets)
    const clean = (text: string): string => ours(rest.access?.clean(text) ?? text)
    const onListed = (): void => this.#gather()
    this.#servers = servers.map((server) => new Server({ ...rest, server, clean, onListed }))
  }

  /** Resolves when each server was tried, or after `ms`: that is the start. What is away comes later. */
  async start(ms = START_WITHIN): Promise<void> {
    await inTime(Promise.all(this.#servers.map((server) => server.start())), ms, "").catch(() => undefined)
    this.#started = true
  }

  /** The same list as long as nothing in it has changed. */
  tools(): readonly Tool[] {
    return this.#tools
  }

  standing(): Standing[] {
    return this.#servers.map((server) => {
      const { tools = [], notes = [] } = this.#standing.get(server) ?? {}
      return { name: server.config.name, state: server.state, tools, notes: [...server.listed.notes, ...notes] }
    })
  }

  /** Whether a call is under way. */
  get isBusy(): boolean {
    return this.#servers.some(({ underway }) => underway.size > 0)
  }

  async stop(ms: number): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop(ms)))
  }

  #gather(): void {
    const taken = new Map(this.#options.taken.map((name) => [name, "a tool of the configuration's"]))
    const made = new Map<string, Tool | string>()
    this.#standing = new Map()
    for (const server of this.#servers) {
      const own = { tools: [] as Tool[], notes: [] as string[] }
      for (const listed of inOrder(server)) {
        const key = `${server.config.name}\n${listed.print}`
        const tool = this.#made.get(key) ?? toolOf(server, listed)
        made.set(key, tool)
        if (typeof tool === "string") own.notes.push(tool)
        else if (taken.has(tool.name)) own.notes.push(sameName(listed, tool, taken.get(tool.name) ?? ""))
        else {
          taken.set(tool.name, `${oneLine(listed.name, 80)} of the server ${server.config.name}`)
          own.tools.push(this.#sinceStart(tool))
        }
      }
      this.#standing.set(server, own)
    }
    this.#made = made
    const tools = [...this.#standing.values()].flatMap((one) => one.tools)
    const same = tools.length === this.#tools.length && tools.every((tool, index) => tool === this.#tools[index])
    if (!same) this.#tools = tools
  }

  /** The tool, with what became of it since the start. */
  #sinceStart(tool: Tool): Tool {
    const { name, foreign } = tool
    if (!foreign) return tool
    if (!this.#started) this.#atStart.set(name, foreign.print)
    const before = this.#atStart.get(name)
    if (before === foreign.print) return tool
    return this.#late(tool, before === undefined ? "appeared" : "changed")
  }

  readonly #lateOnes = new WeakMap<Tool, Tool>()

  #late(tool: Tool, since: Since): Tool {
    const known = this.#lateOnes.get(tool)
    if (known || !tool.foreign) return known ?? tool
    this.#options.log.warn(
      { tool: tool.name, since },
      "a tool is not what it was at the start: no rule with * or ? lets it run unasked",
    )
    const late = Object.freeze({ ...tool, foreign: { ...tool.foreign, since } })
    this.#lateOnes.set(tool, late)
    return late
  }
}

/** Those first whose names need no change: whoever else would get such a name is left out. */
function inOrder({ config, listed }: Server): Listed[] {
  const plain = ({ name }: Listed): boolean => nameOf(config.name, name).endsWith(`_${name}`)
  return [...listed.tools.filter(plain), ...listed.tools.filter((one) => !plain(one))]
}

const sameName = ({ name }: Listed, tool: Tool, whose: string): string =>
  `${oneLine(name, 80)} is left out: its name here, ${tool.name}, is that of ${whose}. Leave one of them out by deny`

/** Words where none can be made of it. */
function toolOf(server: Server, { name, description, schema, hints, print }: Listed): Tool | string {
  const { config } = server
  try {
    return defineTool({
      name: nameOf(config.name, name),
      description,
      inputSchema: schema,
      effects: config.trustAnnotations ? effectsOf(hints) : "once",
      destructive: hints.destructive === true && hints.readOnly !== true,
      source: `mcp:${config.name}`,
      foreign: { server: config.name, tool: name, print, origin: originOf(config.name, name), hints },
      run: (args, ctx) => server.call(name, args, ctx),
    })
  } catch (error) {
    return `${oneLine(name, 80)} is left out: ${oneLine(error instanceof Error ? error.message : String(error))}`
  }
}

/** `idempotentHint` says something of what has effects alone. */
function effectsOf({ readOnly, idempotent }: Listed["hints"]): Effects {
  if (readOnly === true) return "none"
  return idempotent === true ? "repeatable" : "once"
}
