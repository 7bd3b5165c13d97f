/**
 * What of a YAML text is no YAML, in words, once for each mistake: a parser that has lost its way complains of all that
 * follows. It knows nothing of what the settings mean.
 */
import { type Document, isMap, isNode, visit, type YAMLError } from "yaml"

export interface Mistake {
  /** Where in the text, in characters from its beginning. */
  at: number
  /** What is wrong and what to do, a sentence without a full stop. */
  words: string
}

export interface Mistakes {
  mistakes: Mistake[]
  /** Keys at the top whose values may not be what was meant. */
  unread: Set<string>
  /** Whether every key at the top was seen. */
  whole: boolean
}

/** Mistakes that leave what stands around them readable. */
const LOCAL = new Set(["DUPLICATE_KEY", "BAD_ALIAS", "BAD_SCALAR_START", "TAG_RESOLVE_FAILED", "BAD_DQ_ESCAPE"])
/** After something that isn't closed the parser finds its way again where a key stands at the margin. */
const UNCLOSED = "BAD_INDENT"

/** A setting at the top, and where in the text it stands. */
interface Top {
  key: string
  from: number
  to: number
}

export function mistakesOf(document: Document.Parsed, text: string): Mistakes {
  const tops = topsOf(document)
  const errors = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0])
  const found: Mistakes = {
    mistakes: deadAliases(document),
    unread: new Set(),
    whole: isMap(document.contents),
  }
  for (const { at } of found.mistakes) markUnread(found, topAt(tops, at, false))

  const open = openings(document, text)
  const broken = new Set<Top | undefined>()
  for (const error of errors) {
    if (LOCAL.has(error.code)) {
      markUnread(found, topAt(tops, error.pos[0], false))
      found.mistakes.push(inWords(error, text))
      continue
    }
    const top = topAt(tops, error.pos[0], true)
    markUnread(found, top)
    // The first in a setting is the mistake; whatever else breaks in it follows from that.
    if (!broken.has(top)) found.mistakes.push(openIn(open, top) ?? inWords(error, text))
    broken.add(top)
    if (findsItsWay(error, top, errors)) continue
    found.whole = false
    for (const later of tops.filter(({ from }) => from >= error.pos[0])) markUnread(found, later)
    break
  }
  found.mistakes.sort((a, b) => a.at - b.at)
  return found
}

function topsOf({ contents }: Document.Parsed): Top[] {
  if (!isMap(contents)) return []
  return contents.items.map(({ key, value }) => {
    const [from = 0, , end = 0] = isNode(key) ? (key.range ?? []) : []
    return { key: String(key), from, to: value?.range?.[1] ?? end }
  })
}

/** `atEnd`: what is missing is missed where the setting ends. */
const topAt = (tops: readonly Top[], at: number, atEnd: boolean): Top | undefined =>
  tops.find(({ from, to }) => from <= at && (at < to || (atEnd && at === to)))

const markUnread = ({ unread }: Mistakes, top: Top | undefined): void => void (top && unread.add(top.key))

function findsItsWay({ code }: YAMLError, top: Top | undefined, errors: readonly YAMLError[]): boolean {
  if (code === UNCLOSED) return true
  const { from, to } = top ?? { from: 0, to: -1 }
  return (
    code !== "UNEXPECTED_TOKEN" && errors.some((one) => one.code === UNCLOSED && from <= one.pos[0] && one.pos[0] <= to)
  )
}

// --- what isn't closed

/** Every bracket and quote that nothing closes, where it stands. */
function openings(document: Document.Parsed, text: string): Mistake[] {
  const open: Mistake[] = []
  const look = (range: readonly number[] | null | undefined): void => {
    const [from = 0, to = 0] = range ?? []
    const closing = CLOSING[text[from] ?? ""]
    if (closing === undefined || (text[to - 1] === closing && to - 1 > from)) return
    const line = lineAt(text, from)
    const what = `the ${text[from]} that begins here is not closed: put the missing ${closing}`
    open.push({ at: from, words: /[[,]\s*#/.test(line) ? `${what}; ${NO_NAME}` : what })
  }
  visit(document, {
    Collection: (_, { flow, range }) => (flow === true ? look(range) : undefined),
    Scalar: (_, { type, range }) => (type?.startsWith("QUOTE_") ? look(range) : undefined),
  })
  return open
}

const CLOSING: Record<string, string> = { "{": "}", "[": "]", '"': '"', "'": "'" }

/** The innermost: what stands around it is open only because it is. */
const openIn = (open: readonly Mistake[], top: Top | undefined): Mistake | undefined =>
  open.findLast(({ at }) => top !== undefined && top.from <= at && at < top.to)

// --- words

const NO_NAME = "# begins a comment, so a channel can't be named like that: put its id (C…)"

/** An alias of nothing: most likely a star that was meant as one. */
function deadAliases(document: Document.Parsed): Mistake[] {
  const dead: Mistake[] = []
  visit(document, {
    Alias: (_, alias) => {
      if (alias.source === "" || alias.resolve(document)) return
      const words = `*${alias.source} stands for nothing; a value that begins with * must be quoted, such as "*_user"`
      dead.push({ at: alias.range?.[0] ?? 0, words })
    },
  })
  return dead
}

/** The parser's own words, with what a person most likely meant. */
function inWords({ code, message, pos: [at] }: YAMLError, text: string): Mistake {
  const line = lineAt(text, at)
  if (code === "DUPLICATE_KEY") return { at, words: "this setting stands in the file twice: keep one" }
  if (code === "MULTIPLE_DOCS") {
    return { at, words: "a second document begins here: keep one, without the --- line between" }
  }
  if (code === "BAD_ALIAS" || /:\s*\*/.test(line)) {
    return { at, words: `${message}; a value that begins with * must be quoted, such as tool: "*"` }
  }
  if (/[[,-]\s*#/.test(line)) return { at, words: `${message}; ${NO_NAME}` }
  if (/[[,:-]\s*@/.test(line)) return { at, words: `${message}; put a person's id (U…) instead of a name` }
  return { at, words: message }
}

function lineAt(text: string, at: number): string {
  return text.slice(text.lastIndexOf("\n", at - 1) + 1).split("\n", 1)[0] ?? ""
}
