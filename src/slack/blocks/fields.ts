/**
 * The form for `data.schema` of a Request: its fields as input blocks, and the answer read back from what was filled in.
 * What a modal can't hold is said in words. Opens nothing and decides nothing.
 */
import { answerSchemaFault, choicesOf, validateAnswerData } from "../../core/answer-schema.ts"
import { isRecord } from "../../core/json.ts"
import { mask } from "../../core/mask.ts"
import {
  blocksOf,
  quoted,
  saidIn,
  say,
  unsent,
  YES_NO,
  type Blocks,
  type Control,
  type Unfit,
} from "./fields/control.ts"
import { unshowable } from "./fields/exact.ts"

export type { Blocks } from "./fields/control.ts"

/** What was filled in, or what is wrong with it by block_id, as the modal's `errors` want it. */
export type Read = { ok: true; data: Record<string, unknown> } | { ok: false; errors: Record<string, string> }

type Schema = Record<string, unknown>
interface Named {
  name: string
  control: Control
}

/**
 * An input block for each field of the schema, in its order. `given` is what they show at first, before the schema's own
 * defaults. `why` is a clause for a person: "“note” has more than 3,000 characters".
 */
export function fieldsOf(schema: Schema, given: Schema = {}): Blocks {
  const plan = planOf(schema, given)
  return plan.ok ? { ok: true, blocks: plan.blocks } : plan
}

/**
 * The answer's data, typed as the schema says, from the `state.values` of a modal with the blocks of
 * `fieldsOf(schema, given)`. A field that was left as it was has the very value that it showed; an optional one that is
 * empty is left out.
 */
export function readFields(schema: Schema, values: unknown, given: Schema = {}): Read {
  const plan = planOf(schema, given)
  if (!plan.ok) return { ok: false, errors: unsent(values, plan.why) }
  const { fields, blocks } = plan
  const { said, errors } = saidIn(
    values,
    fields.map(({ control }) => control),
  )
  const entries = fields.map(({ name }, index): [string, unknown] => [name, said[index]])
  const data = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  const valid = validateAnswerData(schema, data)
  for (const { field, message } of valid.ok ? [] : valid.errors) {
    const id = blocks[fields.findIndex(({ name }) => name === field)]?.block_id ?? ""
    errors[id] ??= faultWords(message)
  }
  return Object.keys(errors).length === 0 ? { ok: true, data } : { ok: false, errors }
}

/** One fault of an answer as a person reads it under the field. */
export const faultWords = (message: string): string =>
  message === "is required" ? "Please answer this." : `This ${say(message, 300)}.`

function planOf(schema: Schema, given: Schema): (Extract<Blocks, { ok: true }> & { fields: Named[] }) | Unfit {
  const fault = answerSchemaFault("input", schema)
  if (fault !== undefined) return { ok: false, why: fault }
  const required = (schema["required"] ?? []) as unknown[]
  const fields: Named[] = []
  for (const [name, field] of Object.entries((schema["properties"] ?? {}) as Record<string, Schema>)) {
    const start = startOf(name, field, given)
    if (!start.ok) return start
    fields.push({ name, control: controlOf(name, field, required.includes(name), start.value) })
  }
  const made = blocksOf(fields.map(({ control }) => control))
  return made.ok ? { ...made, fields } : made
}

/** What the field shows at first. What doesn't fit the schema is not shown, and a default that a person couldn't see isn't either. */
function startOf(name: string, field: Schema, given: Schema): { ok: true; value: unknown } | Unfit {
  const fits = (value: unknown): boolean =>
    value !== undefined && validateAnswerData({ properties: { [name]: field } }, { [name]: value }).ok
  const own = Object.hasOwn(given, name) ? given[name] : undefined
  if (fits(own)) {
    const fault = hidden(field, own)
    return fault === undefined ? { ok: true, value: own } : { ok: false, why: `${quoted(name)} has ${fault}` }
  }
  const start = field["default"]
  const shows = fits(start) && hidden(field, start) === undefined && mask(String(start)).count === 0
  return { ok: true, value: shows ? start : undefined }
}

function hidden(field: Schema, value: unknown): string | undefined {
  if (choicesOf(field) === undefined) return typeof value === "string" ? unshowable(value) : undefined
  return Array.isArray(value) && new Set(value).size < value.length ? "a choice twice" : undefined
}

function controlOf(name: string, field: Schema, required: boolean, initial: unknown): Control {
  const { title, description } = field
  const empty = emptyOf(field, required, initial)
  return {
    label: typeof title === "string" && title.trim() !== "" ? title : name,
    hint: [...(typeof description === "string" ? [description] : []), ...rulesOf(field)].join(" "),
    optional: !required || empty !== undefined,
    empty,
    input: inputOf(field, initial),
  }
}

/** An empty input can't tell "nothing" from an empty text or list: it is what it showed, if that was one. */
function emptyOf(field: Schema, required: boolean, initial: unknown): unknown {
  if (typeof initial === "string" && choicesOf(field) === undefined) return initial.trim() === "" ? initial : undefined
  if (field["type"] !== "array") return undefined
  const none = Array.isArray(initial) ? initial.length === 0 : required && !(Number(field["minItems"] ?? 0) > 0)
  return none ? [] : undefined
}

export function inputOf(field: Schema, initial: unknown): Control["input"] {
  const choices = choicesOf(field)
  if (choices !== undefined) {
    const several = field["type"] === "array"
    const start = several ? (initial as unknown[] | undefined) : initial === undefined ? [] : [initial]
    return { kind: "choice", choices, several, max: amount(field["maxItems"]), initial: start }
  }
  if (field["type"] === "boolean") {
    return { kind: "choice", choices: YES_NO, several: false, initial: initial === undefined ? [] : [initial] }
  }
  return field["type"] === "string"
    ? textOf(field, initial as string | undefined)
    : numberOf(field, initial as number | undefined)
}

/** So long a text gets more than one line. */
const LONG = 200

function textOf(field: Schema, initial: string | undefined): Control["input"] {
  const { format } = field
  if (format === "date") return { kind: "date", initial }
  const [min, max] = [amount(field["minLength"]), amount(field["maxLength"])]
  const multiline = max === undefined || max > LONG || initial?.includes("\n") === true
  const text = { kind: "text" as const, min, max, initial }
  const special = specialOf(format, initial)
  if (special !== undefined) return { ...text, type: special, multiline: false }
  return { ...text, type: "plain_text_input", multiline: multiline && format !== "date-time" }
}

/** Slack's inputs for addresses take what Slack takes for one, which is less than the formats allow. */
function specialOf(format: unknown, initial = ""): "email_text_input" | "url_text_input" | undefined {
  if (format === "email" && (initial === "" || /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(initial)))
    return "email_text_input"
  return format === "uri" && (initial === "" || /^https?:\/\//.test(initial)) ? "url_text_input" : undefined
}

function numberOf(field: Schema, initial: number | undefined): Control["input"] {
  const whole = field["type"] === "integer"
  const bound = (key: string) => (typeof field[key] === "number" ? field[key] : undefined)
  const [min, max] = [bound("minimum"), bound("maximum")]
  return {
    kind: "number",
    whole,
    min: whole && min !== undefined ? Math.ceil(min) : min,
    max: whole && max !== undefined ? Math.floor(max) : max,
    initial,
  }
}

const amount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined

const RULES: [key: string, words: (value: unknown) => string][] = [
  ["pattern", (pattern) => `It must match ${String(pattern)}`],
  ["minimum", (bound) => `At least ${String(bound)}.`],
  ["exclusiveMinimum", (bound) => `More than ${String(bound)}.`],
  ["maximum", (bound) => `At most ${String(bound)}.`],
  ["exclusiveMaximum", (bound) => `Less than ${String(bound)}.`],
  ["multipleOf", (step) => `A multiple of ${String(step)}.`],
  ["minItems", (least) => (least === 0 ? "" : `Choose at least ${String(least)}.`)],
  ["maxItems", (most) => `Choose at most ${String(most)}.`],
]

/** The rules that the input itself doesn't show. */
export function rulesOf(field: Schema): string[] {
  const rules = RULES.flatMap(([key, words]) =>
    ["string", "number"].includes(typeof field[key]) ? [words(field[key])] : [],
  )
  const time = field["format"] === "date-time" ? ["A time with its zone, such as 2026-10-01T12:00:00Z."] : []
  return isRecord(field["items"]) || choicesOf(field) === undefined ? [...time, ...rules] : []
}
