/**
 * The schema of a server's tool, made harmless: whatever it says, checking args against it takes time linear in their length,
 * and every provider takes it. What is left out of it the server checks itself; it is never stricter than it was. Knows no
 * server.
 */
import type { JsonSchema } from "../../agent/tool.ts"
import { isRecord } from "../../core/json.ts"

/** The most schemas within one, and how deep they may lie. */
const MAX_NODES = 2000
const MAX_DEPTH = 16
/** Characters of one description within a schema. */
const MAX_TEXT = 1000

/** What Anthropic takes as an argument's name. */
const KEY = /^[a-zA-Z0-9_.-]{1,64}$/

/** Says of a value alone; needs no schema within. */
const PLAIN = [
  "type", "enum", "const", "required", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
  "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "title", "default",
  "examples", "format", "dependentRequired",
] as const // prettier-ignore
const ONE = ["additionalProperties", "items", "additionalItems", "contains", "propertyNames"] as const
const MANY = ["prefixItems", "allOf", "anyOf"] as const

/** They count what others took. */
const COUNTING = ["unevaluatedProperties", "unevaluatedItems", "maxContains"] as const

type Tamed = { ok: true; schema: JsonSchema } | { ok: false; fault: string }

/** `fault` says why no tool can be made of it, and completes the sentence "its schema …". */
export function tame(given: unknown): Tamed {
  const wrong = (fault: string): Tamed => ({ ok: false, fault })
  if (!isRecord(given)) return wrong("is none")
  const taming = new Taming(given)
  const { schema } = taming.one(given, 0)
  if (!isRecord(schema)) return wrong("is none")
  const root = flat(schema)
  const { type = "object" } = root
  if (type !== "object" && !(Array.isArray(type) && type.includes("object"))) return wrong("is not that of an object")
  const odd = Object.keys(isRecord(root["properties"]) ? root["properties"] : {}).find(
    (key) => !KEY.test(key) || key === "__proto__",
  )
  if (odd !== undefined)
    return wrong(`has an argument ${JSON.stringify(odd.slice(0, 70))}, a name that providers refuse`)
  return { ok: true, schema: { ...root, type: "object" } }
}

/** Some providers take no choice at the top: then all that may be said is listed. */
function flat(schema: JsonSchema): JsonSchema {
  const {
    allOf,
    anyOf,
    oneOf,
    not: _not,
    if: _if,
    then: _then,
    else: _else,
    enum: _enum,
    const: _const,
    ...root
  } = schema
  const parts = (list: unknown): JsonSchema[] => (Array.isArray(list) ? list.filter(isRecord).map(flat) : [])
  const all = parts(allOf)
  const some = [...parts(anyOf), ...parts(oneOf)]
  if (all.length + some.length === 0) return root
  // What one part forbids beside its own another may list.
  const { additionalProperties: _more, unevaluatedProperties: _rest, ...open } = root
  const properties = Object.fromEntries(
    [...some, ...all, root].flatMap((part) => (isRecord(part["properties"]) ? Object.entries(part["properties"]) : [])),
  )
  const required = [root, ...all].flatMap(({ required: names }) => (Array.isArray(names) ? (names as unknown[]) : []))
  return { ...open, properties, ...(required.length > 0 ? { required: [...new Set(required)] } : {}) }
}

/** `loose`: it takes more than what it was made of. */
interface One {
  schema: JsonSchema | boolean
  loose: boolean
}

const ANYTHING: One = { schema: {}, loose: true }

class Taming {
  readonly #root: JsonSchema
  readonly #within = new Set<string>()
  #nodes = 0

  constructor(root: JsonSchema) {
    this.#root = root
  }

  one(given: unknown, depth: number): One {
    if (typeof given === "boolean") return { schema: given, loose: false }
    if (!isRecord(given) || depth > MAX_DEPTH || ++this.#nodes > MAX_NODES) return ANYTHING
    const own = this.#own(given, depth)
    return given["$ref"] === undefined ? own : this.#referred(given["$ref"], own, depth)
  }

  /** References are resolved where they stand: one that leads to itself, or elsewhere, says nothing. */
  #referred(to: unknown, own: One, depth: number): One {
    const target = typeof to === "string" && !this.#within.has(to) ? pointed(this.#root, to) : undefined
    if (target === undefined) return { schema: own.schema, loose: true }
    this.#within.add(String(to))
    const meant = this.one(target, depth + 1)
    this.#within.delete(String(to))
    const loose = meant.loose || own.loose
    if (!isRecord(own.schema) || !isRecord(meant.schema)) return { schema: meant.schema, loose }
    return { schema: besides(meant.schema, own.schema, meant.loose), loose }
  }

  #own(given: JsonSchema, depth: number): One {
    const schema: JsonSchema = {}
    for (const key of PLAIN) if (given[key] !== undefined) schema[key] = given[key]
    const loose = [
      this.#described(given, schema),
      this.#properties(given, schema, depth),
      ...ONE.map((key) => this.#single(given, schema, { key, depth })),
      ...MANY.map((key) => this.#list(given, schema, { key, depth })),
    ].includes(true)
    const odd = [this.#choice(given, schema, depth), this.#condition(given, schema, depth), loose].includes(true)
    return { schema, loose: this.#rest(given, schema, odd, depth) || odd }
  }

  /** A pattern is told, and not tried: one of a stranger may take for ever. */
  #described({ description, pattern, uniqueItems }: JsonSchema, schema: JsonSchema): boolean {
    const said = typeof description === "string" ? description.slice(0, MAX_TEXT).toWellFormed() : ""
    const told = typeof pattern === "string" ? `pattern: ${pattern.slice(0, 200).toWellFormed()}` : ""
    const both = [said, told].filter((part) => part !== "").join(" · ")
    if (both !== "") schema["description"] = both
    return pattern !== undefined || uniqueItems === true
  }

  #properties(given: JsonSchema, schema: JsonSchema, depth: number): boolean {
    const { properties, patternProperties, dependentSchemas, dependencies } = given
    let loose = patternProperties !== undefined || dependentSchemas !== undefined || dependencies !== undefined
    if (!isRecord(properties)) return loose
    const tamed = Object.entries(properties).map(([name, value]): [string, unknown] => {
      const one = this.one(value, depth + 1)
      loose ||= one.loose
      return [name, one.schema]
    })
    schema["properties"] = Object.fromEntries(tamed)
    return loose
  }

  #single(given: JsonSchema, schema: JsonSchema, { key, depth }: { key: string; depth: number }): boolean {
    if (given[key] === undefined) return false
    if (Array.isArray(given[key])) return this.#list(given, schema, { key, depth })
    // What a pattern lets in, nothing else may keep out.
    if (key === "additionalProperties" && given["patternProperties"] !== undefined) return true
    const one = this.one(given[key], depth + 1)
    schema[key] = one.schema
    return one.loose
  }

  #list(given: JsonSchema, schema: JsonSchema, { key, depth }: { key: string; depth: number }): boolean {
    const list: unknown = given[key]
    if (!Array.isArray(list) || list.length === 0) return list !== undefined
    const tamed = list.map((one) => this.one(one, depth + 1))
    schema[key] = tamed.map((one) => one.schema)
    return tamed.some((one) => one.loose)
  }

  /** Of several that take more than they did, more than one may fit. */
  #choice({ oneOf }: JsonSchema, schema: JsonSchema, depth: number): boolean {
    if (!Array.isArray(oneOf) || oneOf.length === 0) return oneOf !== undefined
    const tamed = oneOf.map((one) => this.one(one, depth + 1))
    const loose = tamed.some((one) => one.loose)
    const list = tamed.map((one) => one.schema)
    if (!loose) schema["oneOf"] = list
    else if (schema["anyOf"] === undefined) schema["anyOf"] = list
    return loose
  }

  /** What takes more than it did forbids more than it did where it is denied. */
  #condition(given: JsonSchema, schema: JsonSchema, depth: number): boolean {
    let loose = false
    if (given["not"] !== undefined) {
      const not = this.one(given["not"], depth + 1)
      if (!not.loose) schema["not"] = not.schema
      loose ||= not.loose
    }
    if (given["if"] === undefined) return loose
    const when = this.one(given["if"], depth + 1)
    if (when.loose) return true
    schema["if"] = when.schema
    return (
      [
        this.#single(given, schema, { key: "then", depth }),
        this.#single(given, schema, { key: "else", depth }),
      ].includes(true) || loose
    )
  }

  #rest(given: JsonSchema, schema: JsonSchema, loose: boolean, depth: number): boolean {
    if (loose) return COUNTING.some((key) => given[key] !== undefined)
    if (given["maxContains"] !== undefined) schema["maxContains"] = given["maxContains"]
    return [
      this.#single(given, schema, { key: "unevaluatedProperties", depth }),
      this.#single(given, schema, { key: "unevaluatedItems", depth }),
    ].includes(true)
  }
}

/** What a reference leads to, with what stands beside it: words about it, or more to hold. */
function besides(meant: JsonSchema, own: JsonSchema, loose: boolean): JsonSchema {
  const isWord = ([key]: [string, unknown]): boolean => ["title", "description", "default"].includes(key)
  const words = Object.fromEntries(Object.entries(own).filter(isWord))
  const rest = Object.entries(own).filter((one) => !isWord(one))
  if (rest.length === 0) return { ...meant, ...words }
  const holds = Object.fromEntries(rest.filter(([key]) => !loose || !COUNTING.some((one) => one === key)))
  const also = Array.isArray(holds["allOf"]) ? (holds["allOf"] as unknown[]) : []
  return { ...words, ...holds, allOf: [meant, ...also] }
}

/** What a reference within the same schema leads to. */
function pointed(root: JsonSchema, to: string): unknown {
  if (to === "#") return root
  if (!to.startsWith("#/")) return undefined
  let at: unknown = root
  for (const part of to.slice(2).split("/")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return at
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
