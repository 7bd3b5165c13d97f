/**
 * Tools from the modules that the configuration lists (each file's default export is an array of tools), and from its HTTP
 * endpoints. It knows nothing of who may use them or what they do.
 */
import { existsSync, statSync } from "node:fs"
import { setTimeout as after } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { type Tool, toolOf, WrongTool } from "../agent/tool.ts"
import type { HttpTool } from "../config/http-tools.ts"
import { httpFaults, httpTool } from "./http.ts"

const LOAD_MS = 10_000

export type LoadedTools = {
  /** Those that are right, whatever is wrong with others. */
  tools: Tool[]
  /** Where each comes from, by its name. */
  from: ReadonlyMap<string, string>
} & (
  | { ok: true; names: string[] }
  | {
      ok: false
      /** The names of all tools, broken ones as well; undefined when some can't be told. */
      names: string[] | undefined
      faults: string[]
    }
)

/**
 * Imports the files (absolute paths) and gives their tools in order, then those of the endpoints; or every fault of every item
 * at once, as sentences that begin with the place. A module that isn't through after `loadMs` (it awaits something at its top)
 * is a fault as well.
 */
export async function loadTools(
  files: readonly string[],
  endpoints: readonly HttpTool[] = [],
  loadMs = LOAD_MS,
): Promise<LoadedTools> {
  const faults: string[] = []
  const items: Item[] = []
  let allNamed = true
  for (const file of files) {
    const loaded = await load(file, loadMs)
    if (!loaded.ok) faults.push(`${file} ${loaded.fault}.`)
    const read = loaded.ok ? loaded.list.map((given, index) => readItem(file, index, given)) : []
    faults.push(...read.flatMap((item) => item.faults), ...twice(items, read))
    items.push(...read)
    allNamed &&= loaded.ok && read.every(({ name }) => name !== undefined)
  }
  const http = endpoints.map(readEndpoint)
  faults.push(...http.flatMap((item) => item.faults), ...twice(items, http))
  items.push(...http)
  const names = [...new Set(items.flatMap(({ name }) => name ?? []))]
  const tools = items.flatMap(({ tool }) => tool ?? [])
  // The first of a name is the one that is told twice.
  const from = new Map(items.map(({ name, file }): [string, string] => [name ?? "", file]).reverse())
  if (faults.length > 0) return { ok: false, names: allNamed ? names : undefined, faults, tools, from }
  return { ok: true, names, from, tools }
}

/** One item of a module's list, or of the endpoints. */
interface Item {
  /** Or the place in the configuration. */
  file: string
  /** Also of a tool that is wrong in other things. */
  name: string | undefined
  tool?: Tool
  faults: string[]
}

function readItem(file: string, index: number, given: unknown): Item {
  try {
    const tool = toolOf(given)
    return { file, name: tool.name, tool, faults: [] }
  } catch (error) {
    const wrong = error instanceof WrongTool ? error : undefined
    const faults = wrong?.faults ?? [error instanceof Error ? error.message : String(error)]
    return { file, name: wrong?.tool, faults: faults.map((fault) => `${file}: item ${index}: ${fault}.`) }
  }
}

function readEndpoint(settings: HttpTool): Item {
  const { name, method, url } = settings
  const file = `httpTools (${method} ${url.origin})`
  const place = `httpTools: tool ${name}`
  try {
    const faults = httpFaults(settings).map((fault) => `${place}: ${fault}.`)
    return { file, name, tool: httpTool(settings), faults }
  } catch (error) {
    if (!(error instanceof WrongTool)) throw error
    return { file, name, faults: error.faults.map((fault) => `httpTools: ${fault}.`) }
  }
}

/** What is said of items whose name an earlier one has. */
function twice(earlier: readonly Item[], items: readonly Item[]): string[] {
  const all = [...earlier, ...items]
  return items.flatMap(({ name, file }, index) => {
    const first = name === undefined ? undefined : all.slice(0, earlier.length + index).find((one) => one.name === name)
    return first ? [`${file}: tool ${name} is there twice, first in ${first.file}: rename one.`] : []
  })
}

async function load(file: string, ms: number): Promise<{ ok: true; list: unknown[] } | { ok: false; fault: string }> {
  if (!existsSync(file)) return { ok: false, fault: "does not exist: correct its path in tools" }
  if (statSync(file).isDirectory()) {
    return { ok: false, fault: "is a folder: put the path of each tool file in it into tools" }
  }
  const patience = new AbortController()
  let loaded: unknown
  try {
    loaded = await Promise.race([
      import(pathToFileURL(file).href),
      // A timer that keeps the process alive: without it, Node would leave silently when nothing else is under way.
      after(ms, "late", { signal: patience.signal }),
    ])
  } catch (error) {
    return { ok: false, fault: `could not be loaded: ${wordsOf(error)}` }
  } finally {
    patience.abort()
  }
  if (loaded === "late") {
    return { ok: false, fault: `was not loaded after ${ms / 1_000} s: it awaits something that does not come` }
  }
  const list = (loaded as { default?: unknown }).default
  if (list === undefined) return { ok: false, fault: "has no default export: write export default [ … ]" }
  if (!Array.isArray(list))
    return { ok: false, fault: "must export an array of tools as its default: export default [ … ]" }
  return { ok: true, list }
}

function wordsOf(error: unknown): string {
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  const old = /unknown file extension/i.test(words)
  return `${words.replace(/[.\s]+$/, "")}${old ? ": compile it to .mjs first, this Node reads JavaScript alone" : ""}`
}
