/** Secrets that show by their names alone: values of pairs, of flags, of lists of variables, of YAML. */
import { matched, matches, type Found } from "./found.ts"
import { openingAt, valueAt, valuesAt } from "./values.ts"

/** A name that says that its value is secret, as the last words of a longer one (`DB_PASSWORD`, `x-api-key`). */
const NAMES = [
  "pass(?:words?|wd|phrase|code|wort)?", "pwd", "pgpassword", "secret", "secrets", "client[_-]?secret", "secret[_-]?(?:access[_-]?)?key", "secret[_-]?(?:id|token|value|string)",
  "(?:api|access|account|private|signing|encryption|master|license|shared|shared[_-]?access|storage|service[_-]?role|webhook|app|auth)[_-]?key",
  "token", "jwt", "api[_-]?token", "credentials?", "connection[_-]?string", "session[_-]?id", "otp", "pin[_-]?code", "cvv", "cvc",
] // prettier-ignore
const NAME = `(?:[A-Za-z0-9_.-]{0,60}?[_.-]|[_$]?[a-z0-9]{1,40}?(?=[A-Z])|(?<![A-Za-z0-9]))(?:${NAMES.join("|")})`
/** Names that end like those and say something else. */
const HARMLESS =
  /(?:(?:com|by|over|under|tres|sur)pass|(?:page|next|continuation|pagination|resume|sync|delta)[_-]?token)(?![\w.-])/i

const KEY = new RegExp(
  String.raw`(?<![A-Za-z0-9_.-])(?:--?)?${NAME}(?![A-Za-z0-9_-])(?:\\{0,32}["'\x60\]]{0,2})(?:[ \t]{0,40}(?:=>|:=|[:=])[ \t]{0,40}|\s{0,4},\s{0,4}|[ \t]{1,4})`,
  "gi",
)

/** Values of pairs: `password=x`, `"token": "x"`, also as JSON within JSON; `--token x`, `["--token","x"]`. */
export function named(text: string): Found[] {
  const found: Found[] = []
  let done = 0
  for (const { start, end, whole } of matches(text, KEY)) {
    if (end < done || HARMLESS.test(whole) || !takesValue(whole)) continue
    const block = /:[ \t]*$/.test(whole) ? blockAt(text, start, end) : undefined
    const secrets = block ?? valuesOf(text, whole, end)
    found.push(...secrets)
    done = secrets.at(-1)?.end ?? done
  }
  return [...found, ...paired(text)]
}

function valuesOf(text: string, key: string, start: number): Found[] {
  const values = valuesAt(text, start).filter((one) => isSecret(text.slice(one.start, one.end), key))
  // A shell takes what follows `PASSWORD= ` for a command.
  return /[^\s=:]=[ \t]+$/.test(key) ? values.map((one) => ({ ...one, open: true })) : values
}

/** After a sign, or after a flag as the next word of a command line or the next of a list. */
const takesValue = (key: string): boolean =>
  /[:=]/.test(key) || (key.startsWith("-") && key.includes(",") === /["'`\]]/.test(key))

/** Left alone: what only names a secret or says that there is none. */
function isSecret(value: string, key: string): boolean {
  if (isNothing(value)) return false
  if (/token/i.test(key) && /^\d{1,9}$/.test(value)) return false
  // A colon and a space in prose, not a pair: "the password: must be changed".
  return !(/^[^"'`]*:\s+$/.test(key) && /^[a-z]{1,12}[.?!]?$/.test(value))
}

const isNothing = (value: string): boolean =>
  /^(?:null|nil|none|true|false|undefined|yes|no|\*+|x{3,}|\.{3}|…|\$)$/i.test(value)

const OPEN = String.raw`\\{0,32}["']?`
/** A line break, or its escape within JSON however deep; a blank may stand for the letter of an escape. */
const BREAK = String.raw`(?:\r?\n|\\{1,32}(?:[r ]\\{1,32})?[n ])`

/** `name: DB_PASSWORD` and, before or after it in the same list of fields, `value: …`. */
const NAMED = new RegExp(
  String.raw`(?<![A-Za-z0-9_.-])(?:name|key|variable)${OPEN}\s{0,4}[:=]\s{0,4}${OPEN}${NAME}(?![A-Za-z0-9_.-])`,
  "gi",
)
const VALUE = new RegExp(String.raw`(?<![A-Za-z0-9_-])(?:value|val)${OPEN}\s{0,4}[:=]\s{0,4}`, "gi")
/** Where another object or another item of a YAML list begins. */
const BORDER = new RegExp(String.raw`[{}[\]]|${BREAK}[ \t]{0,40}- |${BREAK}---`, "g")
/** How far from a name its value is looked for. */
const REACH = 250

function paired(text: string): Found[] {
  const found: Found[] = []
  for (const { start, end, whole } of matches(text, NAMED)) {
    if (HARMLESS.test(whole)) continue
    const after = text.slice(end, end + REACH).split(BORDER, 1)[0] ?? ""
    const before =
      text
        .slice(Math.max(0, start - REACH), start)
        .split(BORDER)
        .at(-1) ?? ""
    const [first] = matches(after, VALUE)
    const last = [...matches(before, VALUE)].at(-1)
    for (const at of [first && end + first.end, last && start - before.length + last.end]) {
      if (at === undefined) continue
      found.push(...valuesAt(text, at).filter((one) => !isNothing(text.slice(one.start, one.end))))
    }
  }
  return found
}

const BLOCK = new RegExp(String.raw`(?:[|>][+-]?\d?)?[ \t]*${BREAK}`, "y")
const LINE_END = new RegExp(String.raw`[ \t]*${BREAK}`, "y")
const INDENT = / */y
const ITEM = /-[ \t]+/y
const REST = /[^\n\\"]+/y
/** The key is the first of its line; the line is the first of a text, of a string, or follows another. */
const FIRST = /(?:^|\n|\\[n ]|["'`])( *)((?:- )*)\\{0,32}["']?$/
const MOST_LINES = 200

/**
 * What follows a key of YAML on lines of their own: the items of a list, or a text. Undefined when no line break follows
 * the key; nothing when what follows is neither.
 */
function blockAt(text: string, key: number, after: number): Found[] | undefined {
  const block = matched(BLOCK, text, after)
  if (block === "") return undefined
  const first = FIRST.exec(text.slice(Math.max(0, key - 200), key))
  if (!first) return []
  const indent = (first[1] ?? "").length + (first[2] ?? "").length
  const scalar = /^[|>]/.test(block)
  const found: Found[] = []
  for (let at = after + block.length, line = 0; line < MOST_LINES; line += 1) {
    const one = lineAt(text, at, { indent, scalar, alone: line === 0 })
    if (!one) return found
    found.push(one)
    const quote = openingAt(text, one.end)
    const next = one.end + (openingAt(text, one.start - quote.length) === quote ? quote.length : 0)
    const end = matched(LINE_END, text, next)
    if (end === "") return found
    at = next + end.length
  }
  return found
}

function lineAt(
  text: string,
  at: number,
  { indent, scalar, alone }: { indent: number; scalar: boolean; alone: boolean },
): Found | undefined {
  const blanks = matched(INDENT, text, at).length
  const start = at + blanks
  const item = matched(ITEM, text, start).length
  if (!scalar && item > 0 && blanks >= indent) return scalarAt(text, start + item)
  if (blanks <= indent) return undefined
  if (scalar) return restAt(text, start)
  return alone ? scalarAt(text, start) : undefined
}

/** One value that is alone in its line: in quotes, or a word. */
function scalarAt(text: string, start: number): Found | undefined {
  const quote = openingAt(text, start)
  const value = quote === "" ? restAt(text, start) : valueAt(text, start)[0]
  if (!value || isNothing(text.slice(value.start, value.end))) return undefined
  return quote === "" && /\s|:$/.test(text.slice(value.start, value.end)) ? undefined : value
}

function restAt(text: string, start: number): Found | undefined {
  const rest = matched(REST, text, start).trimEnd()
  return rest === "" ? undefined : { start, end: start + rest.length }
}
