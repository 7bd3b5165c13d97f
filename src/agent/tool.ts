/**
 * What a tool is, and the kit an agent holds: defining, checking args, running one call. Knows no model and no run;
 * who agreed to a call, and whether it may start, is decided before it comes here.
 */
import { canonical } from "../core/digest.ts"
import type { Person } from "../core/fact.ts"
import { isRecord, jsonCopy } from "../core/json.ts"
import type { Effects, Hints, Since } from "../core/run.ts"
import type { Answer, Request, ToolResult } from "../core/suspension.ts"
import { suspensionOf } from "../core/suspension.ts"
import { inputOf, type ArgsOf, type InputRead, type ToolInput } from "./input.ts"
import { schemaFault, type JsonSchema } from "./schema.ts"

export type { JsonSchema } from "./schema.ts"

/** What a tool is told about the call it executes. */
export interface ToolContext {
  /** Aborted when the run is cancelled or out of time. */
  signal?: AbortSignal
  /** ms that the call may take. */
  timeout?: number
  /** On the retry after a suspension alone: what was answered. */
  answer?: Answer
  /** The tool's own Request that `answer` answers. */
  request?: Request
  /** Stable over attempts: what a tool makes an idempotency key of. */
  callId?: string
  /** Fresh for every execution. */
  attempt?: string
  /** The run's id. */
  run?: string
  /** Who asked for what is being done, as Slack names them. */
  requester?: Person
  /**
   * Tells people how far the call is, in a few words ("3 of 7 pages read"), while it runs: only the latest is shown, when
   * there is time for it, masked, and nothing of it is kept.
   */
  progress?: (text: string) => void
  /**
   * Asks a person while the call goes on, as MCP's elicitation does, and resolves with the Answer; a no without a reason of its
   * own when nobody waits any more. Absent where nobody answers. The call must be there when the answer comes: what may take
   * long, or must outlive this process, is better asked by returning `pending(…)`.
   */
  hold?: (request: Request, stop?: AbortSignal) => Promise<Answer>
}

type Args = Record<string, unknown>

/** What a tool has that comes from a server and may change there while the bot runs. */
export interface Foreign {
  /** As the configuration calls it. */
  server: string
  /** As the server calls it. */
  tool: string
  /** Sixteen digits of the sha-256 of what the server says of it: name, description, schema and annotations. */
  print: string
  /** Twelve digits of the sha-256 of server and tool: of two that share a name here, which it is. */
  origin: string
  hints: Hints
  /** Absent: it is what it was when the bot started. */
  since?: Since
}

/** A tool as its author writes it; a plain object of this shape is a tool as well. */
export interface ToolDefinition<Input extends ToolInput = ToolInput> {
  /** 1 to 64 of a-z, A-Z, 0-9, _ and -, as the providers want it. */
  name: string
  description: string
  /** Of an object: zod 4, or JSON Schema (draft-07 or 2020-12); none means no arguments. `summary` and `run` have its types. */
  inputSchema?: Input
  /** Whether a call may be repeated after a crash: `once` (the default) is never repeated unasked. */
  effects?: Effects
  /** What a call does may not be undone: its card says so. */
  destructive?: boolean
  /** Hosts where it may ask a person to sign in, such as `login.example.com` or `*.example.com`, beside the configuration's. */
  authorizationHosts?: readonly string[]
  /**
   * What a result holds that looks like a secret of a known kind (a token, a private key, a password in an address) is
   * masked before the model reads it; `keep`: it isn't, for a tool whose results the model must hand on as they are.
   */
  secrets?: "keep"
  /** Where it comes from, for metrics. */
  source?: string
  foreign?: Foreign
  /** What args that fit the schema break beyond it, in words for the model; nothing when nothing. Nobody is asked about those that do. */
  check?(args: ArgsOf<Input>): string | undefined
  /** One sentence for the person who is asked: what these args would do. */
  summary?(args: ArgsOf<Input>): string
  /** A string is the output; a ToolResult passes through; nothing is the empty output; anything else becomes JSON. A throw is an error result. */
  run(args: ArgsOf<Input>, ctx: ToolContext): unknown
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly effects: Effects
  readonly destructive?: true
  readonly authorizationHosts?: readonly string[]
  readonly secrets?: "keep"
  readonly source: string
  /** What args that fit the schema break beyond it, in words. */
  readonly check?: (args: Args) => string | undefined
  readonly foreign?: Foreign
  readonly summary?: (args: Args) => string
  /** Never rejects: what the tool throws is an error result. */
  readonly execute: (args: Args, ctx?: ToolContext) => Promise<ToolResult>
}

/** A host name, or with `*.` whatever is below one; no port and no address. */
const HOST = /^(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,20}$/i
const made = new WeakSet<object>()

/** @throws TypeError naming the tool and all that is wrong with its definition (name, schema, effects). */
export function defineTool<const Input extends ToolInput = ToolInput>(given: ToolDefinition<Input>): Tool {
  const definition = given as ToolDefinition
  const { name, description, effects = "once", source = "native" } = definition
  const schema = inputOf(definition.inputSchema)
  const faults = definitionFaults(definition, effects, schema)
  if (faults.length > 0 || !schema.ok) throw new WrongTool(name, faults)
  const tool: Tool = {
    name,
    description,
    inputSchema: schema.schema,
    effects,
    source,
    ...present({
      check: schema.check || typeof definition.check === "function" ? checkOf(schema, definition) : undefined,
      destructive: definition.destructive === true ? (true as const) : undefined,
      authorizationHosts: definition.authorizationHosts && [...definition.authorizationHosts],
      secrets: definition.secrets,
      foreign: definition.foreign,
      summary: definition.summary && ((args: Args) => definition.summary?.(args) ?? ""),
    }),
    execute: async (args, ctx) => {
      try {
        return resultOf(await definition.run(args, ctx ?? {}))
      } catch (error) {
        return failure(wordsOf(error))
      }
    },
  }
  made.add(tool)
  return Object.freeze(tool)
}

/** What of it there is. */
const present = <T extends object>(parts: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as ReturnType<typeof present<T>>

const checkOf =
  (schema: InputRead & { ok: true }, definition: ToolDefinition) =>
  (args: Args): string | undefined => {
    try {
      const fault: unknown = schema.check?.(args) ?? definition.check?.(args) ?? undefined
      return fault === undefined || typeof fault === "string" ? fault : "they could not be checked in time"
    } catch (error) {
      return `they could not be checked: ${wordsOf(error)}`
    }
  }

/**
 * Anything that calls itself a tool: one from `defineTool`, a plain object with `run`, or one with `execute`.
 * @throws TypeError as `defineTool` does.
 */
export function toolOf(value: unknown): Tool {
  if (typeof value !== "object" || value === null) throw new TypeError(`a tool is an object, not ${String(value)}`)
  if (made.has(value)) return value as Tool
  const given = value as ToolDefinition & { execute?: ToolDefinition["run"] }
  const { name, description, inputSchema, effects, destructive, authorizationHosts, secrets, source } = given
  // Called as methods: an instance of a class may be a tool, too.
  const key = (["run", "execute"] as const).find((key) => typeof given[key] === "function")
  const run = key === undefined ? undefined : (args: Args, ctx: ToolContext) => given[key]?.(args, ctx)
  // A tool of another copy of this library brings what its own schema checks.
  const check = typeof given.check === "function" ? (args: Args) => given.check?.(args) : undefined
  const summary = typeof given.summary === "function" ? (args: Args) => given.summary?.(args) ?? "" : undefined
  const plain = { name, description, inputSchema, effects, destructive, authorizationHosts, secrets, source }
  return defineTool(present({ ...plain, check, summary, run }) as unknown as ToolDefinition)
}

/** What the parsed args of a call break of the tool's schema, in words for the model; undefined when nothing. */
export function checkArgs(tool: Tool, args: unknown): string | undefined {
  const fault = schemaFault(tool.inputSchema, args) ?? tool.check?.(args as Args)
  return fault === undefined ? undefined : `invalid arguments for ${tool.name}: ${fault}`
}

/**
 * Executes one call. The args are parsed afresh from their text each time, so that no execution sees what another one
 * did to them. A suspension that can't be shown to anybody comes back as an error result naming the remedy, for
 * whoever wrote the tool: no card is made of it.
 */
export async function runTool(tool: Tool, args: string, ctx: ToolContext = {}): Promise<ToolResult> {
  return tool.execute(JSON.parse(args) as Args, ctx)
}

/** An error result of a call that may have taken effect: `words` say why nobody knows, without a full stop. */
export const outcomeUnknown = (words: string): ToolResult => ({
  output: `outcome unknown: ${words}. Whether it took effect is not known.`,
  isError: true,
  metadata: { outcome: "unknown" },
})

/** Whether it is such a result. */
export const isUnknown = ({ isError, metadata }: ToolResult): boolean => isError && metadata?.["outcome"] === "unknown"

/** Where tools come from that change while the bot runs. The list is another one whenever something in it is. */
export interface ToolSource {
  tools(): readonly Tool[]
}

export interface ToolkitOptions {
  /** Behind the others: of two tools of one name the first counts. */
  sources?: readonly ToolSource[]
  extraTools?: readonly (Tool | ToolDefinition)[]
  /** There are none; `true` is refused. */
  builtins?: boolean
  /** Answers Requests where the client was given no `waitFor` of its own. */
  waitFor?: (request: Request) => Promise<Answer | null | undefined>
}

export interface Toolkit {
  tools(): Tool[]
  get(name: string): Tool | undefined
  /** @throws TypeError for a wrong tool, and for a name that is taken. */
  register(...tools: (Tool | ToolDefinition)[]): void
  /** One call outside any run: args are checked, an unknown tool is an error result. */
  execute(name: string, args: Args, ctx?: ToolContext): Promise<ToolResult>
  close(): Promise<void>
  readonly waitFor?: ToolkitOptions["waitFor"]
}

/** Rejects with a TypeError naming the tool when one is wrong. */
export async function createToolkit(options: ToolkitOptions = {}): Promise<Toolkit> {
  if (options.builtins === true)
    throw new TypeError("createToolkit: there are no built-in tools; list yours in extraTools")
  const byName = new Map<string, Tool>()
  const register = (...tools: readonly (Tool | ToolDefinition)[]) => {
    for (const tool of tools.map(toolOf)) {
      if (byName.has(tool.name)) throw new TypeError(`tool ${tool.name}: there are two tools of this name`)
      byName.set(tool.name, tool)
    }
  }
  register(...(options.extraTools ?? []))
  const all = merged(byName, options.sources ?? [])
  return {
    tools: () => [...all().values()],
    get: (name) => byName.get(name) ?? all().get(name),
    register,
    execute: async (name, args, ctx) => {
      const tool = all().get(name)
      return tool === undefined ? failure(`Unknown tool: ${name}`) : executeChecked(tool, args, ctx)
    },
    close: async () => byName.clear(),
    ...(options.waitFor === undefined ? {} : { waitFor: options.waitFor }),
  }
}

/** All tools by name, put together anew only when some list has changed. */
function merged(own: ReadonlyMap<string, Tool>, sources: readonly ToolSource[]): () => ReadonlyMap<string, Tool> {
  if (sources.length === 0) return () => own
  let made: { lists: (readonly Tool[])[]; size: number; all: Map<string, Tool> } | undefined
  return () => {
    const lists = sources.map((source) => source.tools())
    if (made?.size === own.size && made.lists.every((list, index) => list === lists[index])) return made.all
    const all = new Map(own)
    for (const tool of lists.flat()) if (!all.has(tool.name)) all.set(tool.name, tool)
    made = { lists, size: own.size, all }
    return all
  }
}

async function executeChecked(tool: Tool, args: Args, ctx?: ToolContext): Promise<ToolResult> {
  const copied = jsonCopy(args ?? {})
  const fault = copied.ok ? checkArgs(tool, copied.value) : `invalid arguments for ${tool.name}: ${copied.error}`
  return fault !== undefined || !copied.ok ? failure(fault ?? "") : runTool(tool, canonical(copied.value), ctx)
}

/** Says all that is wrong with a definition, in one message; `faults` has them one by one. */
export class WrongTool extends TypeError {
  /** Each with the tool's name before it. */
  readonly faults: readonly string[]
  /** The tool's name, where that isn't wrong. */
  readonly tool: string | undefined

  constructor(name: unknown, faults: readonly string[]) {
    const label = isName(name) ? name : quoted(name)
    super(`tool ${label}: ${faults.join("; ")}`)
    this.faults = faults.map((fault) => `tool ${label}: ${fault}`)
    this.tool = isName(name) ? name : undefined
  }
}

const isName = (name: unknown): name is string => typeof name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(name)

/** Of whatever was given; even what JSON can't hold has words. */
function quoted(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return `a ${typeof value}`
  }
}

function definitionFaults(definition: ToolDefinition, effects: unknown, schema: InputRead): string[] {
  const faults: string[] = []
  if (!isName(definition.name)) faults.push("a name has 1 to 64 of a-z, A-Z, 0-9, _ and -")
  if (typeof definition.description !== "string") faults.push("a description is required, a text for the model")
  if (typeof definition.run !== "function") faults.push("run is required, a function (args, ctx)")
  if (!["none", "repeatable", "once"].includes(effects as string)) {
    faults.push(`effects must be "none", "repeatable" or "once", not ${quoted(effects)}`)
  }
  faults.push(...wishFaults(definition))
  if (!schema.ok) faults.push(schema.fault)
  return faults
}

/** Of what a definition may leave out. */
function wishFaults({ destructive, authorizationHosts, secrets }: ToolDefinition): string[] {
  const faults: string[] = []
  if (![undefined, true, false].includes(destructive)) faults.push("destructive must be true or false")
  const hosts: unknown = authorizationHosts
  if (hosts !== undefined && !(Array.isArray(hosts) && hosts.every(isHost))) {
    faults.push("authorizationHosts must be a list of host names, such as login.example.com or *.example.com")
  }
  if (![undefined, "keep"].includes(secrets)) faults.push('secrets must be "keep" or left out, which masks them')
  return faults
}

const isHost = (value: unknown): boolean => typeof value === "string" && HOST.test(value)

/** What a tool returned, as a result whose output is whole text and whose suspension, if it is one, can be shown. */
function resultOf(value: unknown): ToolResult {
  if (!isToolResult(value)) return { output: textOf(value), isError: false }
  const result: ToolResult = {
    output: textOf(value.output),
    isError: value.isError,
    ...(isRecord(value.metadata) ? { metadata: value.metadata } : {}),
  }
  const raised = suspensionOf(result)
  if (raised === undefined) return result
  if (!raised.ok) return failure(`the tool asked for something that can't be put to a person: ${raised.error}`)
  return { ...result, metadata: { ...result.metadata, pending: raised.request } }
}

function isToolResult(value: unknown): value is { output: unknown; isError: boolean; metadata?: unknown } {
  return (
    typeof value === "object" &&
    value !== null &&
    "output" in value &&
    "isError" in value &&
    typeof value.isError === "boolean"
  )
}

/** @throws TypeError when it is neither text nor JSON. */
function textOf(value: unknown): string {
  if (value === undefined) return ""
  const text = typeof value === "string" ? value : JSON.stringify(value)
  if (typeof text !== "string")
    throw new TypeError(`the tool returned a ${typeof value}, which is neither text nor JSON`)
  // Half a character would change on its way to the store and be refused by providers.
  return text.replace(/\p{Cs}/gu, "\ufffd")
}

/** What is thrown is a stranger's: even asking it for its words may throw. */
function wordsOf(error: unknown): string {
  let words: unknown
  try {
    words = error instanceof Error ? error.message || error.name : error
  } catch {
    words = undefined
  }
  const said = typeof words === "string" ? words.replace(/\p{Cs}/gu, "\ufffd") : ""
  return said || "the tool failed and did not say why"
}

/** An error result. */
export function failure(output: string): ToolResult {
  return { output, isError: true }
}
