/**
 * What JSON can hold, and a copy of it that shares nothing with the original.
 * Knows no schema and no meaning of any key.
 */

/** Deeper values are refused: they are a mistake or an attack, and circular ones end here too. */
const MAX_DEPTH = 100

export type Copied<T = unknown> = { ok: true; value: T } | { ok: false; error: string }

/** Half a UTF-16 pair: a "character" that no encoding can carry, so it would change on its way. */
export const LONE_SURROGATE = /\p{Cs}/u

export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * A deep copy of a JSON value, key order kept. With `strict` a key whose value is `undefined` is a fault; otherwise it
 * is left out, as JSON would. Everything else that JSON would lose or change (functions, NaN, bigint, dates, class
 * instances, lone surrogates, holes) is a fault, named by its path.
 */
export function jsonCopy(value: unknown, { strict = false } = {}): Copied {
  try {
    return { ok: true, value: copy(value, "", 0, strict) }
  } catch (error) {
    if (error instanceof Fault) return { ok: false, error: error.message }
    throw error
  }
}

class Fault extends Error {
  constructor(path: string, what: string) {
    super(`${path === "" ? "the value" : path.replace(/^\./, "")} is ${what}, which JSON can't hold`)
  }
}

function copy(value: unknown, path: string, depth: number, strict: boolean): unknown {
  if (typeof value === "object" && value !== null) return copyObject(value, path, depth, strict)
  if (typeof value === "string") return wholeText(value, path)
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return value
  const what = value === undefined || typeof value === "number" ? String(value) : `a ${typeof value}`
  throw new Fault(path, what)
}

function copyObject(value: object, path: string, depth: number, strict: boolean): unknown {
  if (depth >= MAX_DEPTH) throw new Fault(path, `circular or nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, index) => copy(item, `${path}[${index}]`, depth + 1, strict))
  }
  if (!isRecord(value)) throw new Fault(path, `a ${value.constructor.name || "class"} object`)
  return copyRecord(value, path, depth, strict)
}

function copyRecord(value: Record<string, unknown>, path: string, depth: number, strict: boolean) {
  const entries: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined && !strict) continue
    const at = `${path}.${wholeText(key, path)}`
    entries.push([key, copy(item, at, depth + 1, strict)])
  }
  // Not an object literal and assignments: a key named `__proto__` must stay a key.
  return Object.fromEntries(entries)
}

function wholeText(text: string, path: string): string {
  if (LONE_SURROGATE.test(text)) throw new Fault(path, "text with half a character (a lone surrogate)")
  return text
}
