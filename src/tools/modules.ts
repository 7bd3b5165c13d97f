/**
 * Tools from the modules that the configuration lists: each file's default export is an array of tools.
 * It knows nothing of who may use them or what they do.
 */
import { existsSync } from "node:fs"
import { setTimeout as after } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { type Tool, toolOf } from "../agent/tool.ts"

const LOAD_MS = 10_000

export type LoadedTools = { ok: true; tools: Tool[] } | { ok: false; faults: string[] }

/**
 * Imports the files (absolute paths) and gives their tools in order, or every fault at once, as sentences that begin
 * with the file. A module that isn't through after `loadMs` (it awaits something at its top) is a fault as well.
 */
export async function loadTools(files: readonly string[], loadMs = LOAD_MS): Promise<LoadedTools> {
  const faults: string[] = []
  const tools = new Map<string, { tool: Tool; file: string }>()
  for (const file of files) {
    const loaded = await load(file, loadMs)
    if (!loaded.ok) faults.push(`${file} ${loaded.fault}.`)
    for (const [index, given] of loaded.ok ? loaded.list.entries() : []) {
      const read = readTool(given)
      const first = read.ok ? tools.get(read.tool.name) : undefined
      if (!read.ok) faults.push(`${file}: item ${index}: ${read.fault}.`)
      else if (first === undefined) tools.set(read.tool.name, { tool: read.tool, file })
      else faults.push(`${file}: tool ${read.tool.name} is there twice, first in ${first.file}: rename one.`)
    }
  }
  if (faults.length > 0) return { ok: false, faults }
  return { ok: true, tools: [...tools.values()].map(({ tool }) => tool) }
}

async function load(file: string, ms: number): Promise<{ ok: true; list: unknown[] } | { ok: false; fault: string }> {
  if (!existsSync(file)) return { ok: false, fault: "does not exist: correct its path in tools" }
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

function readTool(given: unknown): { ok: true; tool: Tool } | { ok: false; fault: string } {
  try {
    return { ok: true, tool: toolOf(given) }
  } catch (error) {
    return { ok: false, fault: error instanceof Error ? error.message : String(error) }
  }
}
