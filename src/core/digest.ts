/**
 * One text for one value: canonical JSON (RFC 8785), its sha-256, and the strict reading of the args a model wrote.
 * Knows no meaning of what it digests.
 */
import { hash } from "node:crypto"
import { canonicalize } from "json-canonicalize"
import { jsonCopy, LONE_SURROGATE } from "./json.ts"

/** Deeper args are refused: nobody can check them on a card. */
const MAX_DEPTH = 64

/**
 * Canonical JSON: keys sorted, no white space, one spelling per number and string.
 * @throws TypeError naming the place of anything that JSON can't hold.
 */
export function canonical(value: unknown): string {
  const copied = jsonCopy(value, { strict: true })
  if (!copied.ok) throw new TypeError(`canonical: ${copied.error}`)
  return canonicalize(copied.value)
}

/** The same of a value that was put together here out of texts and numbers: it is neither checked nor copied first. */
export function canonicalOwn(value: object): string {
  return canonicalize(value)
}

/** Hex, of the UTF-8 bytes. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex")
}

/** Digests as they are stored: each commit of a run writes the same ones again. */
const known = new Map<string, string>()
/** How many of them are kept. */
const KNOWN = 1000

/** A digest as it is stored: in 43 characters. Any other text stays as it is. */
export function shortened(digest: string): string {
  const before = known.get(digest)
  if (before !== undefined) return before
  if (!/^[0-9a-f]{64}$/.test(digest)) return digest
  if (known.size === KNOWN) known.clear()
  const short = Buffer.from(digest, "hex").toString("base64url")
  known.set(digest, short)
  return short
}

/** A stored digest in hex again. */
export const lengthened = (stored: string): string =>
  /^[\w-]{43}$/.test(stored) ? Buffer.from(stored, "base64url").toString("hex") : stored

export type Parsed = { ok: true; value: Record<string, unknown> } | { ok: false; error: string }

/**
 * Reads the args text of a model as the object it says and nothing else. Refused, in words for the model: what is no
 * JSON object, and what parsing would change without a word (a key given twice, `__proto__`, a number that a double
 * can't hold exactly, half a character), because a person must see the very thing that runs. Empty text means no args.
 */
export function parseExact(raw: string): Parsed {
  const text = raw.trim() === "" ? "{}" : raw
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return {
      ok: false,
      error: `the arguments are not valid JSON: ${error instanceof Error ? error.message : "unreadable"}`,
    }
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, error: "the arguments must be one JSON object" }
  }
  const fault = changedByParsing(text)
  return fault === undefined ? { ok: true, value: value as Record<string, unknown> } : { ok: false, error: fault }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]/g

/** The first thing in a *valid* JSON text that a parsed value would not show. */
function changedByParsing(text: string): string | undefined {
  /** The keys seen so far of each open object; those of an array stay empty. */
  const open: Set<string>[] = []
  let previous = ""
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") open.push(new Set())
    if (token === "}" || token === "]") open.pop()
    if (open.length > MAX_DEPTH) return `the arguments are nested deeper than ${MAX_DEPTH} levels`
    // Only an object has colons, each right after its key.
    const keys = token === ":" ? open.at(-1) : undefined
    const fault = keys === undefined ? scalarFault(token) : keyFault(previous, keys)
    if (fault !== undefined) return fault
    previous = token
  }
  return undefined
}

function keyFault(token: string, seen: Set<string>): string | undefined {
  const key = JSON.parse(token) as string
  if (key === "__proto__") return 'the arguments have a key "__proto__", which is not allowed'
  if (seen.has(key)) return `the arguments have the key ${JSON.stringify(key)} twice in one object`
  seen.add(key)
  return undefined
}

function scalarFault(token: string): string | undefined {
  if (token.startsWith('"')) {
    const broken = token.includes("\\u") || LONE_SURROGATE.test(token)
    if (!broken || !LONE_SURROGATE.test(JSON.parse(token) as string)) return undefined
    return "the arguments contain half a character (a lone surrogate such as \\ud83d)"
  }
  if (!/^[-\d]/.test(token) || decimal(token) === decimal(String(Number(token)))) return undefined
  return `the number ${token.length > 60 ? `${token.slice(0, 60)}…` : token} can't be kept exactly; pass it as a string`
}

/** A number's value as sign, significant digits and exponent, so that two spellings of one value are equal. */
function decimal(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) return text
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match
  const digits = `${whole}${fraction}`.replace(/^0+/, "")
  if (digits === "") return "0"
  const significant = digits.replace(/0+$/, "")
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)
  return `${sign}${significant}e${power}`
}
