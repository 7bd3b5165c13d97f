/**
 * What a tool takes: as zod 4 or JSON Schema, of which the types of its args come, the schema that a model sees, and what args
 * break of it. It changes no args: what runs is what was shown.
 */
import { z } from "zod"
import { canonical } from "../core/digest.ts"
import { isRecord, jsonCopy } from "../core/json.ts"
import { compileSchema, type JsonSchema } from "./schema.ts"

export type ToolInput = JsonSchema | z.core.$ZodType

type Args = Record<string, unknown>

/** The args of a tool: what zod's schema gives, or what the usual words of a JSON Schema that is written out say. */
export type ArgsOf<Input> = Known<Input extends z.core.$ZodType ? z.output<Input> : ValueOf<Input>>

type Known<Value> = unknown extends Value ? Args : Value

type ValueOf<Schema> = Schema extends { const: infer Value }
  ? Value
  : Schema extends { enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { type: keyof Types }
      ? Types[Schema["type"]]
      : Schema extends { type: "array" }
        ? ValueOf<Schema extends { items: infer Item } ? Item : unknown>[]
        : Schema extends { properties: infer Properties }
          ? ObjectOf<Properties, Schema extends { required: readonly (infer Name)[] } ? Name : never>
          : unknown

type Types = { string: string; number: number; integer: number; boolean: boolean; null: null }

type ObjectOf<Properties, Required> = {
  [Name in keyof Properties as Name extends Required ? Name : never]: ValueOf<Properties[Name]>
} & { [Name in keyof Properties as Name extends Required ? never : Name]?: ValueOf<Properties[Name]> }

export type InputRead =
  | {
      ok: true
      schema: JsonSchema
      /** What args that fit the JSON Schema break beyond it, in words. */
      check?: (args: Args) => string | undefined
    }
  | { ok: false; fault: string }

const NO_ARGS: JsonSchema = { type: "object", properties: {}, additionalProperties: false }

export function inputOf(given: unknown = NO_ARGS): InputRead {
  if (isZod(given)) return zodInput(given)
  if (isRecord(given) || typeof given !== "object" || given === null) return jsonInput(given)
  return "_def" in given ? wrong("inputSchema is of zod 3; use zod 4, or JSON Schema") : jsonInput(given)
}

const wrong = (fault: string) => ({ ok: false as const, fault })

const isZod = (given: unknown): given is z.core.$ZodType =>
  typeof given === "object" && given !== null && "_zod" in given && isDefined(given["_zod"])

const isDefined = (inner: unknown): boolean => typeof inner === "object" && inner !== null && "def" in inner

function jsonInput(given: unknown): InputRead {
  const copied = jsonCopy(given)
  if (!copied.ok || !isRecord(copied.value)) return wrong("inputSchema must be a JSON Schema object, or a zod 4 schema")
  const schema: JsonSchema = { type: "object", ...copied.value }
  if (schema["type"] !== "object") return wrong('inputSchema must have type "object"')
  try {
    compileSchema(schema)
  } catch (error) {
    return wrong(`inputSchema is wrong: ${error instanceof Error ? error.message : "it can't be read"}`)
  }
  return { ok: true, schema }
}

/**
 * By what comes out of the schema, not by what goes in: with a default left out, something would run that no card has shown,
 * so the model must say it. What can't be said so (a transform, a date) is refused.
 */
function zodInput(given: z.core.$ZodType): InputRead {
  let json: JsonSchema
  try {
    const {
      $schema: _dialect,
      "~standard": _standard,
      ...rest
    } = z.toJSONSchema(given, { io: "output", target: "draft-7" })
    json = rest
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : "it can't be read"
    return wrong(
      `inputSchema can't be shown to a model as JSON Schema (${why}): take it as JSON, and convert it in run`,
    )
  }
  const read = jsonInput(json)
  return read.ok ? { ...read, check: (args) => zodFault(given, args) } : read
}

/** The most issues that are named, and characters of args that are told. */
const MOST = 10
const LONGEST = 2000

function zodFault(schema: z.core.$ZodType, args: Args): string | undefined {
  let read: z.ZodSafeParseResult<unknown>
  try {
    read = z.safeParse(schema, structuredClone(args))
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError)
      return "the tool's schema checks what takes time, which belongs into its run"
    return "the tool's schema could not check them"
  }
  if (!read.success) return issuesOf(read.error.issues)
  const made = jsonCopy(read.data)
  if (made.ok && canonical(made.value) === canonical(args)) return undefined
  const text = made.ok ? canonical(made.value) : ""
  return `they must be as they will be used${text === "" || text.length > LONGEST ? "" : `: ${text}`}`
}

const issuesOf = (issues: readonly z.core.$ZodIssue[]): string =>
  issues
    .slice(0, MOST)
    .map(({ path, message }) => `${path.length === 0 ? "the arguments" : path.map(String).join(".")}: ${message}`)
    .join("; ")
