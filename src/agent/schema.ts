/** JSON Schemas of tools: compiled once, and what args break of them in words for a model. Fills in and converts nothing. */
import { Ajv } from "ajv"
import type { ErrorObject, ValidateFunction } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"

export type JsonSchema = Record<string, unknown>

const OPTIONS = {
  // Schemas come from many hands: unknown keywords and formats are notes, not faults.
  strict: false,
  validateFormats: false,
  allErrors: true,
  addUsedSchema: false,
  logger: false,
} as const
const MAX_NAMED = 10

const draft7 = new Ajv(OPTIONS)
const draft2020 = new Ajv2020(OPTIONS)
const compiled = new WeakMap<JsonSchema, ValidateFunction>()

/** Keywords that draft-07 doesn't know and would pass over. */
const NEWER =
  /"(?:prefixItems|unevaluated\w+|dependentRequired|dependentSchemas|minContains|maxContains|\$dynamicRef)":/

/** @throws Error when the schema itself is wrong. */
export function compileSchema(schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const { $schema: dialect, ...rest } = schema
  const newer = typeof dialect === "string" ? /2019-09|2020-12/.test(dialect) : NEWER.test(JSON.stringify(rest))
  if (rest["$async"] === true) throw new Error("$async schemas are not supported")
  const draft = newer ? draft2020 : draft7
  const validate = draft.compile(rest)
  // It would keep every schema it ever saw; those of servers come anew with each change.
  draft.removeSchema(rest)
  compiled.set(schema, validate)
  return validate
}

/** What `value` breaks of the schema, one clause per fault; undefined when nothing. */
export function schemaFault(schema: JsonSchema, value: unknown): string | undefined {
  const validate = compileSchema(schema)
  if (validate(value)) return undefined
  const errors = validate.errors ?? []
  const named = errors.slice(0, MAX_NAMED).map(words)
  if (errors.length > MAX_NAMED) named.push(`and ${errors.length - MAX_NAMED} more`)
  return [...new Set(named)].join("; ")
}

function words(error: ErrorObject): string {
  const place = error.instancePath === "" ? "the arguments" : error.instancePath.slice(1).replaceAll("/", ".")
  const params = error.params as Record<string, unknown>
  const detail =
    error.keyword === "additionalProperties" || error.keyword === "unevaluatedProperties"
      ? `: ${JSON.stringify(params["additionalProperty"] ?? params["unevaluatedProperty"])}`
      : error.keyword === "enum"
        ? `: ${JSON.stringify(params["allowedValues"])}`
        : ""
  return `${place} ${error.message ?? "is wrong"}${detail}`
}
