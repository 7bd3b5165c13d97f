/**
 * What the JSON Schema of a tool says about one of its args, as far as a form can use it. It only helps with the form:
 * whether args fit is for the schema as a whole to say. Reads any schema and never throws.
 */
import { choicesOf, type Choice } from "../../../core/answer-schema.ts"
import { isRecord } from "../../../core/json.ts"

type Schema = Record<string, unknown>

/** One property, with references followed and "or null" taken off. */
export interface Known {
  schema: Schema
  nullable: boolean
  /** The one type that it names. */
  type?: string
  choices?: Choice[]
}

/** More hops are a circle. */
const HOPS = 10

export function knownOf(schema: unknown, root: Schema): Known {
  let at: Schema = isRecord(schema) ? schema : {}
  let nullable = false
  for (let hop = 0; hop < HOPS; hop += 1) {
    const inner = innerOf(at, root)
    if (inner === undefined) break
    nullable ||= inner.nullable
    // What stands beside a reference (a title, a description) says more of this place than what it leads to.
    const { $ref: _ref, anyOf: _any, oneOf: _one, allOf: _all, ...beside } = at
    at = { ...inner.schema, ...beside }
  }
  return { ...typed(at), ...(nullable ? { nullable } : {}) }
}

/** The schema that `schema` only leads to: a reference, the one that isn't null of two, the only part of an `allOf`. */
function innerOf(schema: Schema, root: Schema): { schema: Schema; nullable: boolean } | undefined {
  const { $ref: ref } = schema
  if (typeof ref === "string") return found(pointed(root, ref), false)
  const { allOf, anyOf, oneOf } = schema
  if (Array.isArray(allOf)) return allOf.length === 1 ? found(allOf[0], false) : undefined
  const ways: unknown = anyOf ?? oneOf
  if (!Array.isArray(ways)) return undefined
  const rest: unknown[] = ways.filter((way) => !isNull(way))
  return rest.length === 1 ? found(rest[0], rest.length < ways.length) : undefined
}

const found = (schema: unknown, nullable: boolean) => (isRecord(schema) ? { schema, nullable } : undefined)
const isNull = (way: unknown): boolean => isRecord(way) && (way["type"] === "null" || way["const"] === null)

/** What `#/$defs/name` points at in the tool's own schema. */
function pointed(root: Schema, ref: string): unknown {
  if (!ref.startsWith("#/")) return undefined
  let at: unknown = root
  for (const part of ref.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    at = isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
}

function typed(schema: Schema): Known {
  const { type, enum: values } = schema
  const types: unknown[] = (Array.isArray(type) ? type : [type]).filter((one) => one !== undefined)
  const rest = types.filter((one) => one !== "null")
  const nullable = rest.length < types.length || (Array.isArray(values) && values.includes(null))
  const [only] = rest
  const name = rest.length === 1 && typeof only === "string" ? only : undefined
  const choices = plainChoices(schema, name)
  return {
    schema,
    nullable,
    ...(name === undefined ? {} : { type: name }),
    ...(choices === undefined ? {} : { choices }),
  }
}

/** Choices of anything but texts, numbers, yes and no are none. */
function plainChoices(schema: Schema, type: string | undefined): Choice[] | undefined {
  const of = type === "array" && isRecord(schema["items"]) ? schema["items"] : schema
  const values: unknown = of["enum"]
  const list = Array.isArray(values) ? { ...of, enum: values.filter((value) => value !== null) } : of
  const choices = choicesOf({ ...list, type: "" })
  const plain = choices?.every(({ value }) => ["string", "number", "boolean"].includes(typeof value))
  return plain === true && choices !== undefined && choices.length > 0 ? choices : undefined
}

/** Whether it is one plain value that a form can ask for. */
export const isSimple = ({ type, choices }: Known): boolean =>
  type !== "array" && (choices !== undefined || ["string", "number", "integer", "boolean"].includes(type ?? ""))

/** As a field of a plain form; what a format is worth, nobody checks of args. */
export function fieldOf({ schema, type = "string", choices }: Known): Schema {
  const { format: _format, items: _items, oneOf: _one, anyOf: _any, enum: _enum, enumNames: _names, ...rest } = schema
  if (choices === undefined) return { ...rest, type }
  const titles = choices.map(({ title }) => title ?? "")
  return { ...rest, type, enum: choices.map(({ value }) => value), enumNames: titles }
}
