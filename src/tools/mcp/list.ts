/**
 * Reads which tools a server has, as far as they can be used: each by itself, so that one that is wrong costs no other, and
 * never more than the limits. Knows no name but the server's own.
 */
import { setImmediate as pause } from "node:timers/promises"
import type { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { z } from "zod"
import type { JsonSchema } from "../../agent/tool.ts"
import { canonical, sha256 } from "../../core/digest.ts"
import { isRecord } from "../../core/json.ts"
import type { Hints } from "../../core/run.ts"
import { isWanted } from "./names.ts"
import { messageOf, oneLine, readable } from "./result.ts"
import { tame } from "./schema.ts"

/** A tool as its server describes it. */
export interface Listed {
  /** The server's own name. */
  name: string
  description: string
  /** Harmless by now. */
  schema: JsonSchema
  hints: Hints
  print: string
}

export interface Listing {
  /** By name, so that what the model reads stays the same however the server sorts. */
  tools: Listed[]
  /** What was left out, and why; a server's words in it are on one line. */
  notes: string[]
}

const LIST_WITHIN = 30_000
const PAGE_WITHIN = 15_000
const MAX_PAGES = 100
const MAX_READ = 20_000
const MAX_TOOLS = 1000
const MAX_NAME = 200
const MAX_DESCRIPTION = 4000
/** Characters of a schema. */
const MAX_SCHEMA = 50_000

const PAGE = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.unknown().optional() })

type Wanted = Parameters<typeof isWanted>[0]

/** Rejects when the server doesn't answer in time, or with something that is no list. */
export async function list(client: Client, wanted: Wanted): Promise<Listing> {
  if (!client.getServerCapabilities()?.tools) return { tools: [], notes: ["it has no tools"] }
  const { raw, notes } = await pages(client)
  const byName = new Map<string, Listed>()
  for (const [index, one] of raw.entries()) {
    const read = listedOf(one, wanted)
    // Thousands of schemas must not hold up everything else.
    if (index % 20 === 19) await pause()
    if (typeof read === "string") notes.push(read)
    else if (read && byName.has(read.name)) notes.push(`${oneLine(read.name)} is listed twice: the first is taken`)
    else if (read) byName.set(read.name, read)
  }
  const tools = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (tools.length > MAX_TOOLS) {
    notes.push(`it has ${tools.length} tools; ${MAX_TOOLS} are taken: say by allow or deny which`)
  }
  return { tools: tools.slice(0, MAX_TOOLS), notes }
}

async function pages(client: Client): Promise<{ raw: unknown[]; notes: string[] }> {
  const until = performance.now() + LIST_WITHIN
  const raw: unknown[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  for (;;) {
    const params = cursor === undefined ? {} : { cursor }
    const timeout = Math.max(1, Math.min(PAGE_WITHIN, until - performance.now()))
    const page = await client.request({ method: "tools/list", params }, PAGE, { timeout })
    // One by one: a list may be longer than what a call takes as arguments.
    for (const one of page.tools) raw.push(one)
    const next: unknown = page.nextCursor
    if (typeof next !== "string" || next === "") return { raw, notes: [] }
    if (seen.has(next)) return { raw, notes: ["its list begins again and again: its first pages are taken"] }
    if (seen.size >= MAX_PAGES || raw.length > MAX_READ) {
      return { raw: raw.slice(0, MAX_READ), notes: ["its list has no end: its first pages are taken"] }
    }
    seen.add(next)
    cursor = next
  }
}

/** Words where it is left out with a word; undefined where nobody wants it. */
function listedOf(given: unknown, wanted: Wanted): Listed | string | undefined {
  const name = isRecord(given) ? given["name"] : undefined
  if (!isRecord(given) || typeof name !== "string" || name === "") return "a tool without a name is left out"
  const label = oneLine(name, 80)
  if (name.length > MAX_NAME) return `${label} is left out: its name has more than ${MAX_NAME} characters`
  if (!isWanted(wanted, name)) return undefined
  try {
    return readTool(name, given)
  } catch (error) {
    return `${label} is left out: ${oneLine(messageOf(error))}`
  }
}

function readTool(name: string, given: Record<string, unknown>): Listed {
  const { description, title, inputSchema, annotations, execution } = given
  if (isRecord(execution) && execution["taskSupport"] === "required") {
    throw new Error("it runs as a task of the server's, which is not supported")
  }
  if (JSON.stringify(inputSchema ?? {}).length > MAX_SCHEMA) {
    throw new Error(`its schema has more than ${MAX_SCHEMA} characters`)
  }
  const tamed = tame(inputSchema ?? {})
  if (!tamed.ok) throw new Error(`its schema ${tamed.fault}`)
  const hints = hintsOf(annotations)
  const said = [description, title, name].find((one): one is string => typeof one === "string" && one !== "") ?? ""
  const print = sha256(canonical([name, description ?? null, inputSchema ?? null, { ...hints }])).slice(0, 16)
  return { name, description: shortened(readable(said)), schema: tamed.schema, hints, print }
}

const shortened = (text: string): string =>
  text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION).toWellFormed()}… [cut]`

/** What a server says of a tool's effects, as far as it is said as MCP has it. */
function hintsOf(given: unknown): Hints {
  const hints: Hints = {}
  if (!isRecord(given)) return hints
  for (const name of ["readOnly", "destructive", "idempotent", "openWorld"] as const) {
    const value = given[`${name}Hint`]
    if (typeof value === "boolean") hints[name] = value
  }
  return hints
}
