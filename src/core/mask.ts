/**
 * Takes other people's secrets out of text that is shown, logged or audited. Knows shapes and names of secrets, and the
 * paths that a rule gives, not where the text comes from; what runs never passes through here.
 */
import { keyBlocks, KEY_KIND } from "./mask/blocks.ts"
import { enclosed, PLACE_KINDS } from "./mask/enclosed.ts"
import { matches, type Found } from "./mask/found.ts"
import { named } from "./mask/named.ts"
import { valuesAtPaths } from "./mask/paths.ts"
import { SHAPE_KINDS, shapes } from "./mask/shapes.ts"

export interface Masked {
  text: string
  /** How many places were masked. */
  count: number
  /** How many of them hold blanks or signs that a shell obeys: whoever decides should have a look at what is behind. */
  loose: number
}

const BY_NAME = "masked"
const BY_RULE = "masked by rule"

/**
 * What stands in a secret's place: `[slack token, 57 characters]`, `[masked, 7 characters]` where a name alone says that it
 * is one, `[masked by rule, 7 characters]`. The characters are those of the text as it was written. Text that is masked once
 * more stays as it is.
 */
export const MASKED = new RegExp(
  String.raw`\[(?:${[...new Set([BY_NAME, BY_RULE, KEY_KIND, ...SHAPE_KINDS, ...PLACE_KINDS])].join("|")}), \d{1,3}(?:,\d{3}){0,3} characters?\]`,
  "g",
)

/** `text` with every secret masked. Takes time linear in the text's length, as all here do. */
export const mask = (text: string): Masked => covered(text, [], EVERY)

/**
 * `text` with the secrets masked that show by their own shape or place, whose masks hide nothing else; what only a name
 * calls a secret stays, such as a token that leads to the next page.
 */
export const maskScanned = (text: string): Masked => covered(text, [], [shapes, keyBlocks, enclosed])

/** The args of a call (canonical JSON) with the values at a rule's paths masked, whatever their type, and no more. */
export const maskPaths = (args: string, paths: readonly string[]): Masked => covered(args, byRule(args, paths), [])

/** The args of a call as anybody may see them: masked at a rule's paths, and wherever else they hold a secret. */
export const shownArgs = (args: string, paths: readonly string[] = []): Masked =>
  covered(args, byRule(args, paths), EVERY)

/**
 * Text that goes with a call, such as its summary: masked, and wherever a value that a rule masks in its args turns up.
 * Values of fewer than four characters stay: they would be found in anything.
 */
export function shownBeside(text: string, args: string, paths: readonly string[] = []): Masked {
  const values = byRule(args, paths).flatMap(({ start, end }) => writings(args.slice(start, end)))
  const written = [...new Set(values)].filter((value) => value.length >= 4)
  if (written.length === 0) return mask(text)
  // The longest first: one may begin as another does.
  const sorted = written.sort((a, b) => b.length - a.length).slice(0, MOST_VALUES)
  const any = new RegExp(
    sorted.map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)).join("|"),
    "g",
  )
  const known = [...matches(text, any)].map(({ start, end }) => ({ start, end, kind: BY_RULE }))
  return covered(text, known, EVERY)
}

const MOST_VALUES = 50

/** How a value, or what is in it, may be written elsewhere: as in JSON, and as it is. What any text has is nothing to look for. */
function writings(json: string): string[] {
  if (/^(?:true|false|null)$/.test(json)) return []
  if (!/^[[{]/.test(json)) return [json, parsed(`"${json}"`, json) as string]
  const found: string[] = []
  const left = [parsed(json, "")]
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (typeof one === "string") found.push(one, JSON.stringify(one).slice(1, -1))
    else if (typeof one === "number") found.push(String(one))
    else if (typeof one === "object" && one !== null) left.push(...Object.values(one).slice(0, MOST_VALUES))
  }
  return found
}

function parsed(json: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return otherwise
  }
}

const byRule = (args: string, paths: readonly string[]): Found[] =>
  valuesAtPaths(args, paths).map((one) => ({ ...one, kind: BY_RULE }))

type Finder = (text: string) => Found[]
/** In this order: what is found twice is called what the first says. */
const EVERY: readonly Finder[] = [shapes, keyBlocks, enclosed, named]

/** A masked place may make another one visible (an address that now ends elsewhere); more rounds than this were never needed. */
const ROUNDS = 6

interface Place extends Found {
  /** A mask that stood there before: it stays, and counts for nothing. */
  given?: boolean
}

function covered(text: string, known: readonly Found[], finders: readonly Finder[]): Masked {
  const given = [...text.matchAll(MASKED)].map((one) => ({
    start: one.index,
    end: one.index + one[0].length,
    given: true,
  }))
  let places = merged([...known, ...given])
  for (let round = 0; round < ROUNDS; round += 1) {
    const fresh = found(new Seen(text, places), finders)
    if (fresh.length === 0) break
    places = merged([...places, ...fresh])
  }
  return rendered(text, places)
}

/** What finders see beside the places that are masked already. */
function found(seen: Seen, finders: readonly Finder[]): Found[] {
  const fresh: Found[] = []
  for (const find of finders) {
    for (const reading of seen.readings) {
      for (const one of find(reading)) if (!seen.isMark(one)) fresh.push(seen.original(one))
    }
  }
  return fresh
}

/** One character that no finder takes for part of a name or a token, and all take for part of a value. */
const MARK = "\uFDD0"

/** The text with a mark for each place, and the way back to the text. */
class Seen {
  /** It is read twice where it has escapes. */
  readonly readings: string[]
  /** Where each stretch between marks begins, here and there. */
  readonly #here: number[] = [0]
  readonly #there: number[] = [0]

  constructor(text: string, places: readonly Place[]) {
    let shown = ""
    let from = 0
    for (const { start, end } of places) {
      shown += text.slice(from, start) + MARK
      from = end
      this.#here.push(shown.length)
      this.#there.push(from)
    }
    shown += text.slice(from)
    const other = blanked(shown)
    this.readings = other === shown ? [shown] : [shown, other]
  }

  isMark({ start, end }: Found): boolean {
    return end === start + 1 && this.#here[this.#stretch(start) + 1] === end
  }

  /** The same place in the text. */
  original(one: Found): Found {
    one.start = this.#back(one.start)
    one.end = this.#back(one.end)
    return one
  }

  /** Before a mark is where its secret begins, behind it where that ends. */
  #back(at: number): number {
    const index = this.#stretch(at)
    return (this.#there[index] ?? 0) + at - (this.#here[index] ?? 0)
  }

  #stretch(at: number): number {
    let low = 0
    let high = this.#here.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#here[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return low
  }
}

/**
 * The text as long as it was, with blanks for the letters of JSON's escapes: in `\\nxoxb-…` the n ends a word, or belongs
 * to a line that begins there, and is no part of it. In a path (`C:\\token`) it is, so both readings count.
 */
const blanked = (text: string): string =>
  text.replace(/(?<=\\)(?:[bfnrt]|u[\dA-Fa-f]{4})/g, (letters) => " ".repeat(letters.length))

/** In order, those that touch as one. Its kind is that of the first that is the whole of it. */
function merged(places: readonly Place[]): Place[] {
  const out: Place[] = []
  for (const place of places.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const last = out.at(-1)
    if (last === undefined || place.start > last.end) out.push(place)
    else if (place.start !== last.start || place.end !== last.end) out[out.length - 1] = joined(last, place)
    else if (last.kind === undefined && place.kind !== undefined) out[out.length - 1] = place
  }
  return out
}

/** What is within another has that one's kind; what goes beyond it has none. */
function joined(last: Place, place: Place): Place {
  const { start } = last
  const end = Math.max(last.end, place.end)
  if (place.end <= last.end) return last
  return place.start === start ? place : { start, end }
}

/** Blanks, and what a shell takes for more than a part of a word. */
const LOOSE = /[^!#%*+,./0-9:=?@A-Z[\]^_a-z~\-\u00A1-\uFFFF]/

function rendered(text: string, places: readonly Place[]): Masked {
  let shown = ""
  let from = 0
  let count = 0
  let loose = 0
  for (const { start, end, kind = BY_NAME, given, open } of places) {
    if (given) continue
    const secret = text.slice(start, end)
    const lax = open === true || (kind !== KEY_KIND && kind !== BY_RULE && LOOSE.test(secret))
    shown += text.slice(from, start) + label(lax ? BY_NAME : kind, secret)
    from = end
    count += 1
    if (lax) loose += 1
  }
  return { text: shown + text.slice(from), count, loose }
}

function label(kind: string, secret: string): string {
  let length = 0
  for (const _ of secret) length += 1
  // Not by the locale's means: this is done for each of thousands.
  const digits = String(length).replace(/\B(?=(?:\d{3})+$)/g, ",")
  return `[${kind}, ${digits} ${length === 1 ? "character" : "characters"}]`
}
