/**
 * One thing that a person is asked in a modal: as the input block that asks it, and as the answer read back from the
 * modal's state. Foreign words are literal here, and foreign names never become ids. Knows no schema and no modal.
 */
import type { InputBlock, PlainTextElement, PlainTextOption } from "@slack/types"
import type { Choice } from "../../../core/answer-schema.ts"
import { sha256 } from "../../../core/digest.ts"
import { mask } from "../../../core/mask.ts"
import { chunks, clip, oneLine, visibleJson } from "../text.ts"
import { decimal, INPUT, typedNumber, typedText, type Typed } from "./exact.ts"

/** Why a modal can't hold it: goes on from "it", or names what it speaks of. */
export interface Unfit {
  ok: false
  why: string
}
export type Blocks = { ok: true; blocks: InputBlock[] } | Unfit

export interface Control {
  label: string
  hint?: string | undefined
  /** Whether it may be left empty. */
  optional: boolean
  /** What an empty one stands for; undefined is no answer. */
  empty?: unknown
  input: Input
}

export type Input =
  | {
      kind: "text"
      type: "plain_text_input" | "email_text_input" | "url_text_input"
      multiline: boolean
      min?: number | undefined
      max?: number | undefined
      initial?: string | undefined
    }
  | {
      kind: "number"
      whole: boolean
      min?: number | undefined
      max?: number | undefined
      initial?: number | undefined
    }
  | { kind: "date"; initial?: string | undefined }
  /** `initial` has one value at most unless `several` may be chosen; then the answer is a list. */
  | { kind: "choice"; choices: Choice[]; several: boolean; max?: number | undefined; initial?: unknown[] | undefined }

/** Slack's limits for what modals have. Source: docs.slack.dev/reference/block-kit, the pages of the elements. */
const LIMITS = { blocks: 100, label: 2000, option: 75, options: 100, ticks: 10, view: 250_000 } as const
/** Of the blocks of a modal these many are for whatever stands around the fields. */
const AROUND = 10
/** So few choices are read faster than a menu is opened. */
const FEW = 5

const ACTION = "v"

/**
 * Tells what is asked, so that a form that was opened when something else was (the tool has other args by now) is not
 * read as this one.
 */
export function blockId({ label, input }: Control, index: number): string {
  const choices = input.kind === "choice" ? [input.several, input.choices] : []
  return `f${index}-${sha256(JSON.stringify([label, input.kind, ...choices])).slice(0, 8)}`
}
const OURS = /^f\d+-/

/** Foreign words on one line, masked and with nothing hidden in them; `max`, at least 60, is what Slack may count. */
export const say = (text: string, max: number): string => clip(oneLine(mask(text).text), max)
export const quoted = (name: string): string => `“${say(name, 80)}”`

const plain = (text: string): PlainTextElement => ({ type: "plain_text", text, emoji: false })

/** Yes and no, so that no is an answer as well. */
export const YES_NO: Choice[] = [
  { value: true, title: "Yes" },
  { value: false, title: "No" },
]

/** The blocks of the controls in their order, if a modal has room for them. */
export function blocksOf(controls: readonly Control[]): Blocks {
  const most = LIMITS.blocks - AROUND
  if (controls.length > most) return { ok: false, why: `there are ${controls.length} fields, and a form holds ${most}` }
  const blocks: InputBlock[] = []
  for (const [index, control] of controls.entries()) {
    const element = elementOf(control.input)
    if (!element.ok) return { ok: false, why: `${quoted(control.label)} ${element.why}` }
    const hint = control.hint === undefined || control.hint === "" ? {} : { hint: plain(say(control.hint, 1500)) }
    blocks.push({
      type: "input",
      block_id: blockId(control, index),
      label: plain(say(control.label, LIMITS.label) || "(no name)"),
      optional: control.optional,
      element: element.element,
      ...hint,
    })
  }
  const size = Buffer.byteLength(JSON.stringify(blocks))
  return size > LIMITS.view * 0.8 ? { ok: false, why: "it is more than a form holds" } : { ok: true, blocks }
}

type Made = { ok: true; element: InputBlock["element"] } | Unfit

function elementOf(input: Input): Made {
  switch (input.kind) {
    case "text":
      return textElement(input)
    case "number":
      return numberElement(input)
    case "date":
      return made({ type: "datepicker", action_id: ACTION, ...given("initial_date", input.initial) })
    case "choice":
      return choiceElement(input)
  }
}

const made = (element: InputBlock["element"]): Made => ({ ok: true, element })
const given = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V }

function textElement({ type, multiline, min, max, initial }: Extract<Input, { kind: "text" }>): Made {
  const start = given("initial_value", initial === "" ? undefined : initial)
  if (type !== "plain_text_input") return made({ type, action_id: ACTION, ...start })
  if (min !== undefined && min > INPUT) return { ok: false, why: `needs ${min} characters, and a form holds ${INPUT}` }
  // Slack may count units where a schema counts characters: what is there already always fits.
  const most = Math.min(INPUT, Math.max(max ?? INPUT, initial?.length ?? 0, 1))
  const least = min === undefined || min === 0 ? {} : { min_length: min }
  return made({ type, action_id: ACTION, multiline, ...least, max_length: most, ...start })
}

function numberElement({ whole, min, max, initial }: Extract<Input, { kind: "number" }>): Made {
  if (min !== undefined && max !== undefined && min > max) return { ok: false, why: "allows no number at all" }
  const text = (number: number | undefined) => (number === undefined ? undefined : decimal(number))
  return made({
    type: "number_input",
    action_id: ACTION,
    is_decimal_allowed: !whole,
    ...given("min_value", text(min)),
    ...given("max_value", text(max)),
    ...given("initial_value", text(initial)),
  })
}

function choiceElement({ choices, several, max, initial = [] }: Extract<Input, { kind: "choice" }>): Made {
  if (choices.length > LIMITS.options) {
    return { ok: false, why: `has ${choices.length} choices, and a form holds ${LIMITS.options}` }
  }
  const listed = optionsOf(choices)
  if (!listed.ok) return listed
  const { options } = listed
  const chosen = options.filter((_, index) => initial.includes(choices[index]?.value))
  return made(several ? severalOf(options, chosen, max) : oneOf(options, chosen[0]))
}

function oneOf(options: PlainTextOption[], chosen: PlainTextOption | undefined): InputBlock["element"] {
  const shared = { action_id: ACTION, options, ...given("initial_option", chosen) }
  return options.length > FEW
    ? { type: "static_select", placeholder: plain("Choose one"), ...shared }
    : { type: "radio_buttons", ...shared }
}

function severalOf(options: PlainTextOption[], chosen: PlainTextOption[], max?: number): InputBlock["element"] {
  const shared = { action_id: ACTION, options, ...(chosen.length === 0 ? {} : { initial_options: chosen }) }
  const limited = max !== undefined && max >= 1 && max < options.length
  return options.length > LIMITS.ticks || limited
    ? {
        type: "multi_static_select",
        placeholder: plain("Choose any"),
        ...(limited ? { max_selected_items: max } : {}),
        ...shared,
      }
    : { type: "checkboxes", ...shared }
}

/** Their options: each says what it stands for, whole, and no two look the same. */
function optionsOf(choices: readonly Choice[]): { ok: true; options: PlainTextOption[] } | Unfit {
  const simple = choices.map((choice) => choice.title ?? shown(choice.value))
  const alike = new Set(simple).size < simple.length
  const options = choices.map((choice, index) => optionOf(choice, index, alike))
  const fit = options.filter((option) => option !== undefined)
  if (fit.length < options.length) {
    return { ok: false, why: `has a choice that has no words, or more than ${LIMITS.option} characters` }
  }
  const looks = fit.map(({ text, description }) => JSON.stringify([text.text, description?.text]))
  return new Set(looks).size < looks.length
    ? { ok: false, why: "has choices that look the same" }
    : { ok: true, options: fit }
}

/** Long words go on in the second line of an option, where else the value behind a title stands. */
function optionOf({ value, title }: Choice, index: number, alike: boolean): PlainTextOption | undefined {
  const text = title ?? (alike ? exact(value) : shown(value))
  const [first, second, ...rest] = chunks(say(text, INPUT), LIMITS.option, true)
  const beside = [second ?? "", behind({ value, title })].filter((part) => part !== "").map((part) => say(part, INPUT))
  const description = beside.join(" · ")
  if (first === undefined || rest.length > 0 || chunks(description, LIMITS.option).length > 1) return undefined
  return {
    text: plain(first),
    value: String(index),
    ...(description === "" ? {} : { description: plain(description) }),
  }
}

/** The value that a title stands for; of yes and no it says nothing more. */
const behind = ({ value, title }: { value: Choice["value"]; title: string | undefined }): string =>
  title === undefined || title === String(value) || typeof value === "boolean" ? "" : shown(value)

const exact = (value: unknown): string => visibleJson(JSON.stringify(value) ?? "")

/** As it stands where that says it all, else as JSON, in which blanks and hidden characters can be seen. */
function shown(value: Choice["value"]): string {
  const text = String(value)
  return text !== "" && oneLine(text) === text ? text : exact(value)
}

/** What was filled in, by control; an undefined value is no answer. `errors` has what can't be read, by block_id. */
export interface Said {
  said: unknown[]
  errors: Record<string, string>
}

/** What a modal's state says. Never throws, whatever the state is. */
export function saidIn(values: unknown, controls: readonly Control[]): Said {
  const ids = controls.map(blockId)
  const errors: Record<string, string> = {}
  const stray = keysOf(values).some((key) => OURS.test(key) && !ids.includes(key))
  if (stray)
    Object.assign(errors, anywhere(values, "What is asked here has changed. Please close this form and open it again."))
  const said = controls.map((control, index) => {
    const id = ids[index] ?? ""
    const answer = saidOf(control.input, at(at(values, id), ACTION))
    if (answer.ok) return answer.value ?? control.empty
    errors[id] = `This ${answer.why}`
    return undefined
  })
  return { said, errors }
}

/** An error of the whole form, at a block that the form surely has. */
export const anywhere = (values: unknown, error: string): Record<string, string> => ({
  [keysOf(values)[0] ?? "f0"]: error,
})

/** What is said where a form is sent that can't be made (any more). */
export const unsent = (values: unknown, why: string): Record<string, string> =>
  anywhere(values, `This form can't be sent: ${why}.`)

const keysOf = (value: unknown): string[] => (typeof value === "object" && value !== null ? Object.keys(value) : [])

const at = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined

function saidOf(input: Input, state: unknown): Typed<unknown> {
  if (input.kind === "choice") return { ok: true, value: chosenOf(input, state) }
  const text = at(state, input.kind === "date" ? "selected_date" : "value")
  if (typeof text !== "string" || text === "") return { ok: true, value: undefined }
  if (input.kind === "date") return { ok: true, value: text }
  return input.kind === "number" ? typedNumber(text) : typedText(text, input.initial)
}

/** The values of the chosen options, in the order of the choices; as they were when they are the same. */
function chosenOf({ choices, several, initial = [] }: Extract<Input, { kind: "choice" }>, state: unknown): unknown {
  const picked = several ? at(state, "selected_options") : [at(state, "selected_option")]
  const keys = (Array.isArray(picked) ? picked : []).map((option: unknown) => at(option, "value"))
  const values = choices.filter((_, index) => keys.includes(String(index))).map(({ value }): unknown => value)
  if (!several) return values[0]
  if (values.length === 0) return undefined
  const same = values.length === initial.length && values.every((value) => initial.includes(value))
  return same ? initial : values
}
