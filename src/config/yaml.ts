/**
 * Reads a YAML file into plain data, with the line of every value, or says in words why it can't be read.
 * It knows nothing of what the settings mean.
 */
import { readFileSync } from "node:fs"
import { type Document, isMap, LineCounter, parseDocument } from "yaml"

export type YamlFile = {
  data: Record<string, unknown>
  /** The line (from 1) of the value at a path, or of the nearest thing around it that is in the file. */
  lineOf(path: readonly PropertyKey[]): number
}

const MAX_BYTES = 1_000_000
/** Enough for a hand-written file; a few lines of nested aliases can stand for gigabytes. */
const MAX_ALIASES = 50

/** Faults are sentences without a full stop that begin with the file's name, and line and column where known. */
export function readYaml(path: string): { ok: true; file: YamlFile } | { ok: false; faults: string[] } {
  const read = readText(path)
  if (!read.ok) return { ok: false, faults: [`${path} ${read.fault}`] }

  const lines = new LineCounter()
  const document = parseDocument(read.text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const errors = [...document.errors, ...document.warnings]
  if (errors.length > 0) {
    const faults = errors.map((error) => {
      const at = lines.linePos(error.pos[0])
      return `${path}:${at.line}:${at.col}: ${inWords(error.code, error.message, read.text.split("\n")[at.line - 1] ?? "")}`
    })
    return { ok: false, faults }
  }
  if (document.contents === null) {
    return { ok: false, faults: [`${path} is empty: README, "Configuration", has a file to start from`] }
  }
  if (!isMap(document.contents)) {
    return { ok: false, faults: [`${path} must be a mapping of settings, such as "starters: [ U0123 ]"`] }
  }
  return toData(path, document, lines)
}

function toData(
  path: string,
  document: Document.Parsed,
  lines: LineCounter,
): { ok: true; file: YamlFile } | { ok: false; faults: string[] } {
  try {
    const data = document.toJS({ maxAliasCount: MAX_ALIASES }) as Record<string, unknown>
    return { ok: true, file: { data, lineOf: (at) => lineOf(document, lines, at) } }
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    const hint = /unresolved alias/i.test(words) ? '; a value that begins with * must be quoted, such as "*_user"' : ""
    return { ok: false, faults: [`${path}: ${words.replace(/:? *$/, "")}${hint}`] }
  }
}

function readText(path: string): { ok: true; text: string } | { ok: false; fault: string } {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    return { ok: false, fault: whyUnreadable(error) }
  }
  if (bytes.length > MAX_BYTES) return { ok: false, fault: "is longer than a million bytes: is it the right file?" }
  if (bytes.includes(0)) {
    return { ok: false, fault: "has NUL bytes: save it as UTF-8 text (UTF-16 is not read)" }
  }
  try {
    // A UTF-8 byte order mark, as some editors write it, is dropped here.
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }
  } catch {
    return { ok: false, fault: "is not UTF-8 text: save it as UTF-8" }
  }
}

function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  if (code === "ENOENT") {
    return 'does not exist: write it (README, "Configuration", has a file to start from), or name another in COUNTERSIGN_CONFIG'
  }
  if (code === "EISDIR") return "is a folder: name the file in COUNTERSIGN_CONFIG"
  if (code === "EACCES") return "may not be read by this user: change its permissions"
  return `can't be read (${String(code ?? error)})`
}

/** The parser's own words, with what a person most likely meant. */
function inWords(code: string, message: string, line: string): string {
  if (code === "DUPLICATE_KEY") return "this setting stands in the file twice: keep one"
  if (code === "MULTIPLE_DOCS") return "a second document begins here: keep one, without the --- line between"
  if (code === "BAD_ALIAS" || /:\s*\*/.test(line)) {
    return `${message}; a value that begins with * must be quoted, such as tool: "*"`
  }
  if (/[[,-]\s*#/.test(line)) {
    return `${message}; # begins a comment, so a channel can't be named like that: put its id (C…)`
  }
  if (/[[,:-]\s*@/.test(line)) return `${message}; put a person's id (U…) instead of a name`
  return message
}

function lineOf(document: Document.Parsed, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)) {
      return lines.linePos(Number(node.range[0])).line
    }
  }
  return 1
}
