/**
 * `data.schema` of a Request: which fields its Answer should have (SPEC §10). Flat fields only, and none that asks a
 * person for a credential. Knows no form and no Slack.
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
  "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
]) // prettier-ignore
const ALLOWED = "an answer's schema has flat string, number, integer, boolean or enum fields only"

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
  const foreign = Object.keys(field).find((key) => !FIELD_KEYS.has(key) && !key.startsWith("x-"))
  if (foreign !== undefined) return `uses ${JSON.stringify(foreign)}`
  const { type, enum: choices } = field
  if (type === undefined && choices === undefined) return "has no type"
  if (type !== undefined && !(typeof type === "string" && TYPES.has(type))) return `has type ${JSON.stringify(type)}`
  if (choices !== undefined && !isChoices(choices)) return "has an enum that is no list of plain values"
  return patternFault(field["pattern"])
}

function isChoices(choices: unknown): boolean {
  return (
    Array.isArray(choices) &&
    choices.length > 0 &&
    choices.every((choice) => ["string", "number", "boolean"].includes(typeof choice))
  )
}

function patternFault(pattern: unknown): string | undefined {
  if (pattern === undefined) return undefined
  if (typeof pattern !== "string") return "has a pattern that is no text"
  return expressionOf(pattern) === undefined ? "has a pattern that is no regular expression" : undefined
}

/** Choices and yes/no fields can't carry a secret; everything that is typed can. */
function credentialIn(name: string, field: Field): string | undefined {
  if (field["type"] === "boolean" || field["enum"] !== undefined) return undefined
  if (field["format"] === "password") return 'format "password"'
  const numeric = field["type"] !== "string"
  return [name, field["title"], field["description"]]
    .filter((text) => typeof text === "string")
    .map(credentialWord)
    .find((word) => word !== undefined && !(numeric && word === "token"))
}

function answerFault(field: Field, value: unknown, required: boolean): string | undefined {
  if (value === undefined) return required ? "is required" : undefined
  const choices = field["enum"]
  if (Array.isArray(choices)) {
    return choices.includes(value) ? undefined : `must be one of ${choices.map(String).join(", ")}`
  }
  if (field["type"] === "boolean") return typeof value === "boolean" ? undefined : "must be yes or no"
  if (field["type"] === "string") return typeof value === "string" ? textFault(field, value) : "must be a text"
  return typeof value === "number" ? numberFault(field, value) : "must be a number"
}

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
