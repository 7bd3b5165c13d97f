/**
 * The forms that settings are made of (ids, durations, mappings) and the words for a value of the wrong form.
 * It knows none of the settings themselves.
 */
import { z } from "zod"
import { isRecord } from "../core/json.ts"

type Wrong = { input?: unknown }

/** The message for a value that is missing or of the wrong form: `what` says what belongs there. */
export function said(what: string): (wrong: Wrong) => string {
  return ({ input }) => {
    if (input === undefined) return `is missing: put ${what}`
    if (input === null) return `is empty: put ${what} (a # begins a comment)`
    return `must be ${what}, not ${show(input)}`
  }
}

/** A value as a person would recognise it in their file, at most a line of it. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object" && value !== null) return "a mapping"
  const text = JSON.stringify(value) ?? "nothing"
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

/** An object in which every unknown key is an error that names the key that was probably meant. */
export function mapping<Shape extends z.ZodRawShape>(shape: Shape, example?: string) {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code === "unrecognized_keys") return unknownKeys(issue.keys, Object.keys(shape))
      return said(example === undefined ? "a mapping" : `a mapping, such as ${example}`)(issue)
    },
  })
}

/**
 * A plain value, or a mapping that says more. Of a mapping it is told what is wrong within, at its place, which a union would
 * hide behind its own words.
 */
export const orMapping = <Plain extends z.ZodType, Whole extends z.ZodObject>(plain: Plain, whole: Whole) =>
  z.unknown().transform((input, { issues }): z.output<Plain> | z.output<Whole> => {
    const read = (isRecord(input) ? whole : plain).safeParse(input)
    if (read.success) return read.data
    issues.push(...read.error.issues.map(({ path, message }) => ({ code: "custom" as const, input, path, message })))
    return z.NEVER
  })

function unknownKeys(unknown: readonly string[], known: readonly string[]): string {
  const each = unknown.map((key) => {
    const meant = known.find((name) => alike(key, name))
    return meant === undefined ? show(key) : `${show(key)} (did you mean ${meant}?)`
  })
  return `has no setting ${each.join(", nor ")}; there ${known.length === 1 ? "is" : "are"} ${known.join(", ")}`
}

/** Whether a word is another one with at most two letters wrong, missing or added, whatever their case. */
export function alike(typed: string, name: string): boolean {
  if (name.length < 4 || typed.length > name.length + 2) return typed.toLowerCase() === name.toLowerCase()
  return distance(typed.toLowerCase(), name.toLowerCase()) <= 2
}

/** Levenshtein's: in each row, the cost of turning what was read of `from` into the first j letters of `to`. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, j) => j)
  for (let i = 0; i < from.length; i++) {
    let before = i + 1
    const costs = row.slice(1).map((above, j) => {
      const kept = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1)
      before = Math.min(above + 1, before + 1, kept)
      return before
    })
    row = [i + 1, ...costs]
  }
  return row.at(-1) ?? from.length
}

type Kind = "U" | "S" | "C"

/** A user's id begins with U or W; a channel's with C, an old private channel's with G. */
const ID: Record<Kind, { pattern: RegExp; words: string }> = {
  U: { pattern: /^[UW][A-Z0-9]{1,30}$/, words: "a user's id (U…)" },
  S: { pattern: /^S[A-Z0-9]{1,30}$/, words: "a user group's id (S…)" },
  C: { pattern: /^[CG][A-Z0-9]{1,30}$/, words: "a channel's id (C…)" },
}

/** A list of Slack ids; `things` names what they may be. */
export function ids(kinds: readonly Kind[], things: string) {
  return z.array(ids.one(kinds), {
    error: (issue) => {
      const { input } = issue
      if (typeof input !== "string") return said(`a list of ${things}`)(issue)
      const words = input.split(/[\s,;]+/).filter((word) => word !== "")
      const remedy = words.every((word) => isId(word, kinds)) ? `: write [ ${words.join(", ")} ]` : ""
      return `must be a list of ${things}, not ${show(input)}${remedy}`
    },
  })
}

/** One id. */
ids.one = (kinds: readonly Kind[]) =>
  z
    .string({ error: said(wordsOf(kinds)) })
    .refine((id) => isId(id, kinds), { error: ({ input }) => notAnId(input, kinds) })

function isId(text: string, kinds: readonly Kind[]): boolean {
  return kinds.some((kind) => ID[kind].pattern.test(text))
}

function wordsOf(kinds: readonly Kind[]): string {
  return kinds.map((kind) => ID[kind].words).join(" or ")
}

function notAnId(input: unknown, kinds: readonly Kind[]): string {
  const id = String(input)
  const wanted = wordsOf(kinds)
  if (id.startsWith("#")) {
    return `must be ${wanted}, not the name ${show(id)}: Slack shows a channel's id at the end of the channel's details`
  }
  if (id.startsWith("@")) {
    return `must be ${wanted}, not the name ${show(id)}: Slack copies a person's id from their profile's menu, a user group's from its own menu among People`
  }
  const other = (["U", "S", "C"] as const).find((kind) => !kinds.includes(kind) && isId(id, [kind]))
  return `must be ${wanted}, not ${other === undefined ? show(id) : `${show(id)}, ${ID[other].words}`}`
}

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Ten years, leap days included. */
const MAX_DAYS = 3_653

/** A duration such as `30m` in milliseconds: one whole number with s, m, h or d, from a second to ten years. */
export function durationOf(text: string): { ok: true; ms: number } | { ok: false; message: string } {
  const [, digits = "", unit = ""] = /^(\d{1,12})([smhd])$/.exec(text) ?? []
  const ms = Number(digits) * (UNIT_MS[unit] ?? Number.NaN)
  if (Number.isNaN(ms)) return { ok: false, message: said("a duration, such as 30s, 15m, 12h or 14d")({ input: text }) }
  if (ms < 1_000) return { ok: false, message: `must be at least 1s, not ${show(text)}` }
  if (ms > MAX_DAYS * 86_400_000)
    return { ok: false, message: `must be at most ${MAX_DAYS}d (ten years), not ${show(text)}` }
  return { ok: true, ms }
}

/** A whole number of things, with what is usual where it is left out. */
export function count(things: string, least: number, most: number, usual: number) {
  const error = said(`a whole number of ${things} from ${least} to ${most}`)
  return z.int({ error }).min(least, { error }).max(most, { error }).default(usual)
}
