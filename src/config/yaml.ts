/**
 * Reads a YAML file into plain data, with the line of every value, and says in words what of it can't be read.
 * It knows nothing of what the settings mean.
 */
import { readFileSync } from "node:fs"
import { type Document, isMap, LineCounter, parseDocument } from "yaml"
import { mistakesOf } from "./mistakes.ts"

export type YamlFile = {
  /** What could be read, by its key. */
  data: Record<string, unknown>
  /** Keys whose value could not be read; they are not in `data`. */
  unread: ReadonlySet<string>
  /** Whether `data` and `unread` hold every key; else there may be more behind a mistake. */
  whole: boolean
  /** The line (from 1) of the value at a path, or of the nearest thing around it that is in the file. */
  lineOf(path: readonly PropertyKey[]): number
}

const MAX_BYTES = 1_000_000
/** Enough for a hand-written file; a few lines of nested aliases can stand for gigabytes. */
const MAX_ALIASES = 50

/**
 * What of the file can be read, and its faults: sentences without a full stop that begin with the file's name, and line
 * and column where known. `file` is undefined when nothing of it is known.
 */
export function readYaml(path: string): { file?: YamlFile; faults: string[] } {
  const read = readText(path)
  if (!read.ok) return { faults: [`${path} ${read.fault}`] }

  const lines = new LineCounter()
  const document = parseDocument(read.text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const { mistakes, unread, whole } = mistakesOf(document, read.text)
  const faults = mistakes.map(({ at, words }) => {
    const { line, col } = lines.linePos(at)
    return `${path}:${line}:${col}: ${words}`
  })
  const wrong = faults.length > 0 ? undefined : wrongContents(document)
  if (wrong !== undefined) return { faults: [`${path} ${wrong}`] }
  const data = dataOf(document, unread)
  if (!data.ok) return { faults: [`${path}: ${data.fault}`] }
  return { file: { data: data.data, unread, whole, lineOf: (at) => lineOf(document, lines, at) }, faults }
}

function wrongContents({ contents }: Document.Parsed): string | undefined {
  if (contents === null) return 'is empty: README, "Configuration", has a file to start from'
  return isMap(contents) ? undefined : 'must be a mapping of settings, such as "starters: [ U0123 ]"'
}

/** Value by value: what is wrong with one must not take the others along. */
function dataOf(
  document: Document.Parsed,
  unread: ReadonlySet<string>,
): { ok: true; data: Record<string, unknown> } | { ok: false; fault: string } {
  const entries: [string, unknown][] = []
  try {
    for (const { key, value } of isMap(document.contents) ? document.contents.items : []) {
      const name = String(key)
      if (!unread.has(name)) entries.push([name, value?.toJS(document, { maxAliasCount: MAX_ALIASES }) ?? null])
    }
  } catch (error) {
    return { ok: false, fault: error instanceof Error ? error.message : String(error) }
  }
  // Not by assignments: a key named `__proto__` must stay a key.
  return { ok: true, data: Object.fromEntries(entries) }
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

function lineOf(document: Document.Parsed, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)) {
      return lines.linePos(Number(node.range[0])).line
    }
  }
  return 1
}
