/**
 * What the configuration may say of MCP servers: a mapping as every MCP client has it, or the path of a JSON file that holds
 * one. In a file that other clients share, what is theirs alone is passed over with a word. It connects to none of them.
 */
import { readFileSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { z } from "zod"
import { isRecord } from "../core/json.ts"
import { duration } from "./asking.ts"
import { mapping, said, show } from "./forms.ts"
import { headers } from "./headers.ts"
import { oauth, type OAuth } from "./oauth.ts"
import { expanded, isPrivate, NOT_PRIVATE, type Surroundings } from "./references.ts"

/** What is said of every server, whatever the way to it. */
interface Common {
  /** As the file calls it; its tools' names begin with it. */
  name: string
  disabled: boolean
  /** Globs of the server's own tool names; absent: all. */
  allow?: readonly string[] | undefined
  deny: readonly string[]
  /** ms that a call may take without a sign of progress. */
  timeout: number
  /** Whether what it says of its tools' effects counts. */
  trustAnnotations: boolean
}

export type McpServer =
  | (Common & { kind: "stdio"; command: string; args: string[]; env: Record<string, string>; cwd: string })
  | (Common & {
      kind: "http"
      url: string
      headers: Record<string, string>
      /** People sign in to it, each for themselves. */
      oauth?: OAuth | undefined
    })

export interface McpSettings {
  servers: McpServer[]
  /** Sentences without a full stop: what of a shared file was passed over. */
  notes: string[]
}

/** The most servers, and the most bytes of a shared file. */
const MOST = 100
const MAX_FILE = 1_000_000

/** Headers that the protocol itself sets. */
const TAKEN = /^(?:accept|content-type|last-event-id|mcp-.*)$/i

/** Names whose values are secrets also where they stand in the file as they are. */
const SECRET = /auth|cookie|credential|key|pass|secret|token/i

const GLOBS = "a list of tools by the server's own names, such as [ get_*, list_* ]"

export function mcpServers(around: Surroundings) {
  return z
    .union([z.string(), z.record(z.string(), z.unknown())], {
      error: said("a mapping of servers by name, or the path of a JSON file that holds one, such as ./.mcp.json"),
    })
    .transform((given, context): McpSettings => {
      const issue: Issue = (message, path = []) =>
        void context.issues.push({ code: "custom", input: given, message, path: [...path] })
      if (typeof given === "string") return sharedFile(around, resolve(around.folder, given), issue)
      const servers = Object.entries(given).flatMap(([name, value]) => {
        const read = serverOf(around, name, value)
        for (const { message, path } of read.issues) issue(message, [name, ...path])
        return read.server ?? []
      })
      if (servers.length > MOST) issue(`names ${servers.length} servers; there may be ${MOST}`)
      return { servers, notes: [] }
    })
}

type Issue = (message: string, path?: readonly PropertyKey[]) => void

/** Of a server that can't be used the others are used all the same: the file may be meant for other clients as well. */
function sharedFile(around: Surroundings, file: string, issue: Issue): McpSettings {
  const read = readShared(file)
  if (!read.ok) {
    issue(read.fault)
    return { servers: [], notes: [] }
  }
  const notes: string[] = []
  const here = { ...around, folder: dirname(file) }
  const servers = Object.entries(read.servers)
    .slice(0, MOST)
    .flatMap(([name, value]) => {
      const { server, issues, foreign } = serverOf(here, name, value, true)
      const place = `${file}: ${show(name)}`
      if (foreign.length > 0) notes.push(`${place} has ${foreign.join(", ")}, which means nothing here`)
      if (server) return [server]
      const faults = issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim())
      notes.push(`${place} is left out: ${faults.join("; ")}`)
      return []
    })
  return { servers, notes }
}

type Shared = { ok: true; servers: Record<string, unknown> } | { ok: false; fault: string }

function readShared(file: string): Shared {
  const wrong = (fault: string): Shared => ({ ok: false, fault })
  let data: unknown
  try {
    if (statSync(file).size > MAX_FILE) return wrong(`names ${file}, which is larger than ${MAX_FILE} bytes`)
    data = JSON.parse(readFileSync(file, "utf8"))
  } catch (error) {
    const missing = (error as { code?: unknown }).code === "ENOENT"
    const why = missing ? "does not exist: correct its path" : `can't be read: ${(error as Error).message}`
    return wrong(`names ${file}, which ${why}`)
  }
  const keys = ["mcpServers", "servers", "mcp"]
  const key = keys.find((one) => isRecord(data) && isRecord(data[one]))
  if (!isRecord(data) || key === undefined) {
    return wrong(`names ${file}, which has no servers: they stand in it under ${keys.join(", ")} as a mapping by name`)
  }
  const servers = data[key] as Record<string, unknown>
  // One client keeps them one level below.
  const { servers: below } = servers
  const isBelow = key === "mcp" && isRecord(below) && Object.values(below).every(isRecord)
  return { ok: true, servers: isBelow ? below : servers }
}

interface ReadServer {
  server?: McpServer
  issues: { message: string; path: PropertyKey[] }[]
  /** Keys of other clients. */
  foreign: string[]
}

/** `shared`: keys that are not ours are another client's. */
function serverOf(around: Surroundings, name: string, value: unknown, shared = false): ReadServer {
  const fault = shapeFault(name, value)
  if (fault !== undefined || !isRecord(value)) return { issues: [{ message: fault ?? "", path: [] }], foreign: [] }
  const schema = "command" in value ? stdio(around) : http(around)
  const known = Object.keys(schema.shape)
  const foreign = shared ? Object.keys(value).filter((key) => !known.includes(key)) : []
  const read = schema.safeParse(shared ? own(value, known, foreign) : value)
  if (!read.success) return { issues: read.error.issues, foreign }
  const { type: _type, ...rest } = read.data
  const server = { name, kind: "command" in rest ? "stdio" : "http", ...rest } as McpServer
  return { server, issues: [], foreign }
}

function shapeFault(name: string, value: unknown): string | undefined {
  if (!/^[^\p{C}]{1,50}$/u.test(name)) return "has a name that is empty, longer than 50 characters or unreadable"
  if (!isRecord(value)) return `must be a mapping with command or url, not ${show(value)}`
  if ("command" in value && "url" in value) return "has both command and url: keep one"
  const none = "has neither command (a program) nor url (a streamable HTTP address)"
  return "command" in value || "url" in value ? undefined : none
}

/** What of a shared entry is ours. Other clients count a timeout in seconds or milliseconds. */
function own(value: Record<string, unknown>, known: readonly string[], foreign: string[]): Record<string, unknown> {
  const ours = Object.fromEntries(Object.entries(value).filter(([key]) => known.includes(key)))
  if (typeof ours["timeout"] !== "number") return ours
  delete ours["timeout"]
  foreign.push("a timeout without a unit")
  return ours
}

const flag = z.boolean({ error: said("true or false") }).default(false)
const globs = z.array(z.string({ error: said(GLOBS) }).min(1, { error: said(GLOBS) }), { error: said(GLOBS) })
const common = {
  disabled: flag,
  allow: globs.optional(),
  deny: globs.default([]),
  timeout: duration.prefault("2m"),
  trustAnnotations: flag,
}

function stdio(around: Surroundings) {
  const { folder } = around
  const word = (what: string) =>
    z
      .string({ error: said(what) })
      .min(1, { error: `is empty: put ${what}` })
      .refine((text) => !text.includes("\0") && !text.includes("${"), {
        error: "is taken as it stands: ${NAME} works in args, env, url and headers",
      })
  const program = word("a program, such as npx")
  return mapping({
    type: z.literal("stdio", { error: said("stdio, for a program") }).optional(),
    // With a path it is looked up from the file, as all paths in it are.
    command: program.transform((text) => (/^\.{1,2}[\\/]/.test(text) ? resolve(folder, text) : text)),
    args: z
      .array(text(around, "a list of texts, such as [ -y, some-server ]"), {
        error: said("a list of texts, such as [ -y, some-server ]"),
      })
      .default([]),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: said("a variable's name") }), scalar, {
        error: said("a mapping of variables to texts"),
      })
      .default({})
      .transform((env, context) => filled(around, env, context.issues)),
    cwd: word("a folder")
      .transform((path) => resolve(folder, path))
      .prefault("."),
    ...common,
  })
}

function http(around: Surroundings) {
  return mapping({
    type: z
      .enum(["http", "streamable-http"], {
        error: ({ input }) =>
          input === "sse"
            ? "is sse, the transport before streamable HTTP, which is not supported: put the server's streamable HTTP address, and type: http"
            : said("http (streamable HTTP)")({ input }),
      })
      .optional(),
    url: text(around, "an address, such as https://mcp.example.com/mcp").refine(isPrivate, NOT_PRIVATE),
    headers: headers(around)
      .refine(({ values }) => !Object.keys(values).some((name) => TAKEN.test(name)), {
        error: "has a header that the protocol sets itself: leave out Accept, Content-Type, Last-Event-Id and Mcp-…",
      })
      .transform(({ values }) => values)
      .prefault({}),
    oauth: oauth(around),
    ...common,
  }).refine(({ headers, oauth: signingIn }) => signingIn === undefined || !Object.keys(headers).some(isAuthorization), {
    error: "has both oauth and a header Authorization: keep one",
  })
}

const isAuthorization = (name: string): boolean => name.toLowerCase() === "authorization"

/** A text that may hold `${NAME}`. */
const text = (around: Surroundings, what: string) =>
  z.string({ error: said(what) }).transform((given, context) => {
    const issue = (message: string): void => void context.issues.push({ code: "custom", input: given, message })
    return checked(around, given, issue)
  })

/** YAML reads `1` and `true` as what they are. */
const scalar = z
  .union([z.string(), z.number(), z.boolean()], { error: 'must be a text, such as "${TOKEN}"' })
  .transform(String)

function filled(
  around: Surroundings,
  values: Record<string, string>,
  issues: z.core.$ZodRawIssue[],
): Record<string, string> {
  const entries = Object.entries(values).map(([name, given]): [string, string] => {
    // Its value is never repeated: it may be a secret itself.
    const issue = (message: string): void => void issues.push({ code: "custom", input: name, message, path: [name] })
    const value = checked(around, given, issue)
    if (SECRET.test(name)) around.secret(value)
    return [name, value]
  })
  return Object.fromEntries(entries)
}

/** Other clients have more to put between the braces. */
function checked(around: Surroundings, given: string, issue: (message: string) => void): string {
  const other = /\$\{(?![A-Za-z_][A-Za-z0-9_]*\})[^}]{0,60}\}?/.exec(given)
  if (other) issue(`has ${other[0]}, which means nothing here: put \${NAME}, the name of an environment variable`)
  return expanded(around, given, issue)
}
