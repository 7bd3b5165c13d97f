/**
 * The values at paths of a JSON text, such as `args.headers.*`: where they stand. Reads the text as it is and builds
 * nothing from it. What no JSON is, is found as a whole: nobody can tell what of it a path means.
 */
import type { Found } from "./found.ts"

/** A path and how many of its segments have been gone. */
interface Way {
  segments: readonly string[]
  gone: number
}

interface Frame {
  array: boolean
  /** Of an array: the next element's. */
  index: number
  ways: readonly Way[]
}

/**
 * Each path begins with `args`, which stands for the text itself; `*` is any one key or index. Keys count whatever their
 * case, and a key may have dots in it. Of a string what is between its quotes, of anything else all of it. In order, none
 * within another. Takes time linear in the text's length, for a given number of paths.
 */
export function valuesAtPaths(text: string, paths: readonly string[]): Found[] {
  if (paths.length === 0) return []
  if (!isJson(text)) return text === "" ? [] : [{ start: 0, end: text.length }]
  return new Walk(text).spans(paths.map((path) => ({ segments: segmentsOf(path), gone: 0 })))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** What a path names one after another, below the text itself. */
export function segmentsOf(path: string): string[] {
  const segments = path.toLowerCase().split(".")
  return segments[0] === "args" ? segments.slice(1) : segments
}

/** Through a text that is JSON, once. */
class Walk {
  readonly #text: string
  readonly #found: Found[] = []
  readonly #frames: Frame[] = []
  #at = 0
  /** The ways that lead to the value that comes next. */
  #ways: readonly Way[] = []
  /** Where a container began that is found as a whole, and how many are open around it. */
  #whole: { start: number; depth: number } | undefined

  constructor(text: string) {
    this.#text = text
  }

  spans(ways: readonly Way[]): Found[] {
    this.#ways = ways
    for (; this.#at < this.#text.length; this.#at += 1) this.#step(this.#text.charAt(this.#at))
    return this.#found
  }

  #step(char: string): void {
    if (char === "{" || char === "[") this.#open(char === "[")
    else if (char === "}" || char === "]") this.#close()
    else if (char === ",") this.#next()
    else if (char === '"') this.#string()
    else if (!/[\s:]/.test(char)) this.#bare()
  }

  #arrives = (): boolean =>
    this.#whole === undefined && this.#ways.some(({ segments, gone }) => gone === segments.length)

  #open(array: boolean): void {
    if (this.#arrives()) this.#whole = { start: this.#at, depth: this.#frames.length }
    const ways = this.#whole ? [] : this.#ways
    this.#frames.push({ array, index: 0, ways })
    this.#ways = array ? this.#along(ways, "0") : []
    this.#key = !array
  }

  #close(): void {
    this.#frames.pop()
    this.#ways = []
    this.#key = false
    if (this.#whole?.depth !== this.#frames.length) return
    this.#found.push({ start: this.#whole.start, end: this.#at + 1 })
    this.#whole = undefined
  }

  #next(): void {
    const frame = this.#frames.at(-1)
    if (!frame) return
    this.#key = !frame.array
    frame.index += 1
    this.#ways = frame.array ? this.#along(frame.ways, String(frame.index)) : []
  }

  /** The string that comes next is a key. */
  #key = false

  #string(): void {
    const start = this.#at
    const end = stringEnd(this.#text, start)
    this.#at = end - 1
    if (this.#key) {
      this.#key = false
      const ways = this.#frames.at(-1)?.ways ?? []
      this.#ways = ways.length === 0 ? [] : this.#along(ways, JSON.parse(this.#text.slice(start, end)) as string)
    } else if (this.#arrives() && end - start > 2) this.#found.push({ start: start + 1, end: end - 1 })
  }

  #bare(): void {
    const start = this.#at
    BARE.lastIndex = start
    const end = start + (BARE.exec(this.#text)?.[0].length ?? 1)
    this.#at = end - 1
    if (this.#arrives()) this.#found.push({ start, end })
  }

  #along(ways: readonly Way[], key: string): Way[] {
    const name = key.toLowerCase()
    return ways.flatMap(({ segments, gone }) =>
      reaches(segments, gone, name).map((far) => ({ segments, gone: gone + far })),
    )
  }
}

const BARE = /[^\s,:"{}[\]]+/y

/** By how many segments a key goes on: one, or as many as there are dots in it and one. */
export function reaches(segments: readonly string[], gone: number, key: string): number[] {
  const far: number[] = []
  if (segments[gone] === "*" || segments[gone] === key) far.push(1)
  const dots = key.split(".").length
  if (dots > 1 && segments.slice(gone, gone + dots).join(".") === key) far.push(dots)
  return far
}

/** Behind the closing quote of the string that begins there. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === 92) at += 1
    else if (char === 34) return at + 1
  }
  return text.length
}
