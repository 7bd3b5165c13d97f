/**
 * `data.schema` of a Request: which fields its Answer should have (SPEC §10). Flat fields only, a choice of several among
 * them, and none that asks a person for a credential. Knows no form and no Slack.
 */
import { credentialWord } from "./credential.ts"
import { instantOf } from "./instant.ts"
import { isRecord } from "./json.ts"

export interface FieldError {
  /** The field's name; empty when the answer as a whole is wrong. */
  field: string
  message: string
}

const TYPES = new Set(["string", "number", "integer", "boolean"])
const SCHEMA_KEYS = new Set([
  "type",
  "properties",
  "required",
  "title",
  "description",
  "additionalProperties",
  "$schema",
])
const FIELD_KEYS = new Set([
  "type", "title", "description", "default", "examples", "enum", "enumNames", "minLength", "maxLength", "pattern", "format",
  "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "oneOf", "anyOf",
]) // prettier-ignore
const LIST_KEYS = new Set(["type", "title", "description", "default", "items", "minItems", "maxItems", "uniqueItems"])
const ITEM_KEYS = new Set(["type", "enum", "enumNames", "oneOf", "anyOf"])
const ALLOWED =
  "an answer's schema has flat string, number, integer, boolean or enum fields, and lists of an enum, only"

/** One of the values that a field can have. */
export interface Choice {
  value: string | number | boolean
  /** What people read in its place. */
  title?: string
}

/**
 * The choices of a field, or of the items of a list: an `enum`, titled by `enumNames`, or a `oneOf` or `anyOf` of titled
 * constants. Undefined where anything of the type may be said. Source: MCP 2025-11-25, elicitation, enum schemas.
 */
export function choicesOf(field: Field): Choice[] | undefined {
  const { type, items, enum: values, enumNames: names } = field
  if (type === "array") return isRecord(items) ? choicesOf(items) : undefined
  if (Array.isArray(values)) {
    const titles: unknown[] = Array.isArray(names) ? names : []
    return values.map((value: Choice["value"], index) => titled(value, titles[index]))
  }
  const constants = field["oneOf"] ?? field["anyOf"]
  return isTitled(constants) ? constants.map(({ const: value, title }) => ({ value, title })) : undefined
}

const titled = (value: Choice["value"], title: unknown): Choice =>
  typeof title === "string" && title !== "" ? { value, title } : { value }

/**
 * Why this schema can't be put to a person, in words that name the remedy; undefined when it can (or there is none).
 * Under `authorization` a credential may be named: it is given at the url, not to us.
 */
export function answerSchemaFault(kind: string, schema: unknown): string | undefined {
  if (schema === undefined || schema === null) return undefined
  if (!isRecord(schema)) return `data.schema must be an object: ${ALLOWED}`
  const shape = shapeFault(schema)
  if (shape !== undefined) return `data.schema ${shape}: ${ALLOWED}`
  for (const [name, field] of Object.entries(fieldsOf(schema))) {
    const fault = fieldFault(field)
    if (fault !== undefined) return `data.schema field ${JSON.stringify(name)} ${fault}: ${ALLOWED}`
    const word = kind === "authorization" ? undefined : credentialIn(name, field)
    if (word !== undefined) {
      return (
        `data.schema field ${JSON.stringify(name)} asks for a credential (${word}): ` +
        `passwords, keys, tokens and payment secrets go through kind "authorization" with a url, never through a form`
      )
    }
  }
  return undefined
}

/** Every fault of an Answer's data under an accepted schema, one per field. Keys the schema doesn't name are let through unless it says `additionalProperties: false`. */
export function validateAnswerData(
  schema: Record<string, unknown>,
  data: Record<string, unknown> | undefined,
): { ok: true } | { ok: false; errors: FieldError[] } {
  const fields = fieldsOf(schema)
  const given = data ?? {}
  const required = (schema["required"] ?? []) as string[]
  const errors: FieldError[] = []
  for (const [name, field] of Object.entries(fields)) {
    const message = answerFault(field, Object.hasOwn(given, name) ? given[name] : undefined, required.includes(name))
    if (message !== undefined) errors.push({ field: name, message })
  }
  if (schema["additionalProperties"] === false) {
    const extra = Object.keys(given).filter((name) => !Object.hasOwn(fields, name))
    errors.push(...extra.map((field) => ({ field, message: "is not asked for" })))
  }
  return errors.length === 0 ? { ok: true } : { ok: false, errors }
}

type Field = Record<string, unknown>

function fieldsOf(schema: Record<string, unknown>): Record<string, Field> {
  return (schema["properties"] ?? {}) as Record<string, Field>
}

function shapeFault(schema: Record<string, unknown>): string | undefined {
  const { type, properties, additionalProperties: extra = true } = schema
  if (type !== undefined && type !== "object") return `has type ${JSON.stringify(type)}`
  if (!isRecord(properties)) return "has no properties"
  const foreign = Object.keys(schema).find((key) => !SCHEMA_KEYS.has(key) && !key.startsWith("x-"))
  if (foreign !== undefined) return `uses ${JSON.stringify(foreign)}`
  if (typeof extra !== "boolean") return "describes additionalProperties"
  return requiredFault(schema["required"], properties)
}

function requiredFault(required: unknown, properties: Record<string, unknown>): string | undefined {
  if (required === undefined) return undefined
  if (!Array.isArray(required)) return "has a required that is no list"
  const names: unknown[] = required
  const index = names.findIndex((name) => typeof name !== "string" || !Object.hasOwn(properties, name))
  return index < 0 ? undefined : `requires ${JSON.stringify(names[index])}, which it doesn't describe`
}

function fieldFault(field: unknown): string | undefined {
  if (!isRecord(field)) return "is no object"
  if (field["type"] === "array") return listFault(field)
  const foreign = foreignKey(field, FIELD_KEYS)
  if (foreign !== undefined) return `uses ${JSON.stringify(foreign)}`
  return choicesFault(field) ?? typeFault(field) ?? patternFault(field["pattern"])
}

function typeFault(field: Field): string | undefined {
  const { type } = field
  if (type === undefined) return choicesOf(field) === undefined ? "has no type" : undefined
  return typeof type === "string" && TYPES.has(type) ? undefined : `has type ${JSON.stringify(type)}`
}

/** A list is a choice of several, and nothing else: no person can be asked for a list of anything. */
function listFault(field: Field): string | undefined {
  const { items } = field
  if (!isRecord(items)) return "is a list without choices"
  const foreign = foreignKey(field, LIST_KEYS) ?? foreignKey(items, ITEM_KEYS)
  if (foreign !== undefined) return `uses ${JSON.stringify(foreign)}`
  const fault = choicesFault(items)
  if (fault !== undefined) return fault
  return choicesOf(items) === undefined ? "is a list without choices" : undefined
}

const foreignKey = (schema: Field, known: ReadonlySet<string>): string | undefined =>
  Object.keys(schema).find((key) => !known.has(key) && !key.startsWith("x-"))

function choicesFault(field: Field): string | undefined {
  const { enum: values, oneOf, anyOf } = field
  if (values !== undefined && !isChoices(values)) return "has an enum that is no list of plain values"
  if ((oneOf !== undefined && !isTitled(oneOf)) || (anyOf !== undefined && !isTitled(anyOf))) {
    return `uses ${oneOf === undefined ? '"anyOf"' : '"oneOf"'} for more than titled constants`
  }
  return undefined
}

function isChoices(choices: unknown): boolean {
  return Array.isArray(choices) && choices.length > 0 && choices.every(isPlain)
}

const isPlain = (value: unknown): value is Choice["value"] => ["string", "number", "boolean"].includes(typeof value)

function isTitled(constants: unknown): constants is { const: Choice["value"]; title: string }[] {
  const isOne = (one: unknown): boolean =>
    isRecord(one) &&
    isPlain(one["const"]) &&
    typeof one["title"] === "string" &&
    Object.keys(one).every((key) => key === "const" || key === "title")
  return Array.isArray(constants) && constants.length > 0 && constants.every(isOne)
}

function patternFault(pattern: unknown): string | undefined {
  if (pattern === undefined) return undefined
  if (typeof pattern !== "string") return "has a pattern that is no text"
  return expressionOf(pattern) === undefined ? "has a pattern that is no regular expression" : undefined
}

/** Choices and yes/no fields can't carry a secret; everything that is typed can. */
function credentialIn(name: string, field: Field): string | undefined {
  if (field["type"] === "boolean" || choicesOf(field) !== undefined) return undefined
  if (field["format"] === "password") return 'format "password"'
  const numeric = field["type"] !== "string"
  return [name, field["title"], field["description"]]
    .filter((text) => typeof text === "string")
    .map(credentialWord)
    .find((word) => word !== undefined && !(numeric && word === "token"))
}

function answerFault(field: Field, value: unknown, required: boolean): string | undefined {
  if (value === undefined) return required ? "is required" : undefined
  const choices = choicesOf(field)?.map((choice) => choice.value)
  if (choices !== undefined) return choiceFault(field, choices, value)
  if (field["type"] === "boolean") return typeof value === "boolean" ? undefined : "must be yes or no"
  if (field["type"] === "string") return typeof value === "string" ? textFault(field, value) : "must be a text"
  return typeof value === "number" ? numberFault(field, value) : "must be a number"
}

function choiceFault(field: Field, choices: readonly unknown[], value: unknown): string | undefined {
  const named = choices.map(String).join(", ")
  if (field["type"] !== "array") return choices.includes(value) ? undefined : `must be one of ${named}`
  if (!Array.isArray(value)) return "must be a list"
  const list: unknown[] = value
  if (!list.every((one) => choices.includes(one))) return `must be some of ${named}`
  return countFault(field, list)
}

function countFault(field: Field, list: unknown[]): string | undefined {
  if (field["uniqueItems"] === true && new Set(list).size < list.length) return "must not have a choice twice"
  if (list.length < numberOf(field, "minItems", 0)) return `must have at least ${choiceCount(field["minItems"])}`
  return list.length > numberOf(field, "maxItems", Infinity)
    ? `must have at most ${choiceCount(field["maxItems"])}`
    : undefined
}

const choiceCount = (n: unknown): string => `${String(n)} choice${n === 1 ? "" : "s"}`

function textFault(field: Field, value: string): string | undefined {
  const length = Array.from(value).length
  if (length < numberOf(field, "minLength", 0)) return `must have at least ${String(field["minLength"])} characters`
  if (length > numberOf(field, "maxLength", Infinity))
    return `must have at most ${String(field["maxLength"])} characters`
  const { pattern, format } = field
  if (typeof pattern === "string" && expressionOf(pattern)?.test(value) === false) return `must match ${pattern}`
  const form = typeof format === "string" ? FORMATS[format] : undefined
  return form === undefined || form.test(value) ? undefined : `must be ${form.words}`
}

function numberFault(field: Field, value: number): string | undefined {
  if (!Number.isFinite(value)) return "must be a number"
  if (field["type"] === "integer" && !Number.isInteger(value)) return "must be a whole number"
  const bound = BOUNDS.find(({ key, broken }) => typeof field[key] === "number" && broken(value, field[key]))
  return bound === undefined ? undefined : `must be ${bound.words} ${String(field[bound.key])}`
}

const BOUNDS: { key: string; words: string; broken: (value: number, bound: number) => boolean }[] = [
  { key: "minimum", words: "at least", broken: (value, bound) => value < bound },
  { key: "maximum", words: "at most", broken: (value, bound) => value > bound },
  { key: "exclusiveMinimum", words: "more than", broken: (value, bound) => value <= bound },
  { key: "exclusiveMaximum", words: "less than", broken: (value, bound) => value >= bound },
  { key: "multipleOf", words: "a multiple of", broken: (value, step) => step > 0 && !isMultiple(value, step) },
]

/** With room for what binary fractions lose: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  const steps = value / step
  return Math.abs(steps - Math.round(steps)) < 1e-9
}

function numberOf(field: Field, key: string, otherwise: number): number {
  const value = field[key]
  return typeof value === "number" ? value : otherwise
}

/** The formats of MCP's forms; others are notes for the reader. */
const FORMATS: Record<string, { test(value: string): boolean; words: string }> = {
  email: { test: (value) => /^[^\s@]+@[^\s@]+$/.test(value), words: "an e-mail address" },
  uri: { test: (value) => URL.canParse(value), words: "an address such as https://example.com" },
  date: { test: (value) => instantOf(`${value}T00:00:00Z`) !== undefined, words: "a date such as 2026-10-01" },
  "date-time": {
    test: (value) => instantOf(value) !== undefined,
    words: "a time with a zone, such as 2026-10-01T12:00:00Z",
  },
}

function expressionOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u")
  } catch {
    return undefined
  }
}
