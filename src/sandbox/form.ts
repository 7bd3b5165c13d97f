/**
 * What a person does to the elements of a message or form, as an app is told of it: the action of a press, the values of a form,
 * and what a client refuses to send. Pure. https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
 */
import { LIMITS } from "./limits.ts"
import { elementsOf } from "./validate.ts"
import type { Block } from "./workspace.ts"

type Element = Record<string, unknown>
/** By block_id and action_id: a string for what was typed or chosen, a list for several, or a whole state value. */
export type Given = Record<string, Record<string, unknown>>

export interface Found {
  block_id: string
  element: Element
}

/** The element with this action_id. */
export function pick(blocks: Block[], action_id: string, block_id?: string): Found | undefined {
  for (const block of blocks) {
    const element = elementsOf(block).find((it) => it["action_id"] === action_id)
    if (element && (block_id ?? block.block_id) === block.block_id) {
      return { block_id: block.block_id ?? "", element }
    }
  }
  return undefined
}

/** The entry of `actions` that tells of a press. `value` names the chosen option of a menu. */
export function actionOf({ block_id, element }: Found, value: string | undefined, action_ts: string): Element {
  const { type, action_id, text, value: own, style } = element
  const shared = { type, action_id, block_id, action_ts }
  if (type !== "button") return { ...shared, ...stateOf(element, value) }
  return { ...shared, text, ...(own === undefined ? {} : { value: own }), ...(style === undefined ? {} : { style }) }
}

/** `state.values` of a form that was filled in like this; what was not touched keeps its initial value. */
export function fill(blocks: Block[], given: Given): Given {
  const values: Given = {}
  for (const block of blocks) {
    const id = block.block_id ?? ""
    for (const element of elementsOf(block)) {
      const action = String(element["action_id"])
      const touched = given[id]?.[action]
      const filled = typeof touched === "object" && touched !== null && !Array.isArray(touched)
      values[id] = { ...values[id], [action]: filled ? touched : stateOf(element, touched) }
    }
  }
  return values
}

/** What the client marks before it sends anything: a required input left empty, or a text of the wrong length. */
export function missing(blocks: Block[], values: Given): Record<string, string> | undefined {
  const errors = blocks
    .filter((block) => block.type === "input")
    .flatMap((block) => {
      const id = block.block_id ?? ""
      const element = elementsOf(block)[0] ?? {}
      const fault = faultOf(element, values[id]?.[String(element["action_id"])], block["optional"] === true)
      return fault === undefined ? [] : [[id, fault] as const]
    })
  return errors.length === 0 ? undefined : Object.fromEntries(errors)
}

function faultOf(element: Element, state: unknown, optional: boolean): string | undefined {
  const value = Object.entries(state ?? {}).find(([key]) => key !== "type")?.[1] as unknown
  if (isEmpty(value)) return optional ? undefined : "Please complete this required field."
  if (Array.isArray(value)) return tooMany(element, value.length)
  return typeof value === "string" ? CHECKS[String(element["type"])]?.(element, value) : undefined
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)

function wrongLength({ min_length = 0, max_length = LIMITS.input }: Element, value: string): string | undefined {
  if (value.length < Number(min_length)) return `Please enter at least ${Number(min_length)} characters.`
  return value.length > Number(max_length) ? `Please enter no more than ${Number(max_length)} characters.` : undefined
}

function wrongNumber({ is_decimal_allowed, min_value, max_value }: Element, value: string): string | undefined {
  if (!/^-?\d+(\.\d+)?$/.test(value)) return "Please enter a number."
  if (is_decimal_allowed !== true && value.includes(".")) return "Please enter a whole number."
  if (typeof min_value === "string" && Number(value) < Number(min_value)) return `At least ${min_value}.`
  return typeof max_value === "string" && Number(value) > Number(max_value) ? `At most ${max_value}.` : undefined
}

function tooMany({ max_selected_items: most }: Element, count: number): string | undefined {
  return typeof most === "number" && count > most ? `Please choose at most ${most}.` : undefined
}

const CHECKS: Record<string, (element: Element, value: string) => string | undefined> = {
  plain_text_input: wrongLength,
  number_input: wrongNumber,
  email_text_input: (_, value) =>
    /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value) ? undefined : "Please enter a valid email address.",
  url_text_input: (_, value) =>
    /^https?:\/\//.test(value) && URL.canParse(value) ? undefined : "Please enter a valid URL.",
}

/** By type of element: its key in a state value, and the property with its initial value. */
const STATE: Record<string, [key: string, initial: string]> = {
  static_select: ["selected_option", "initial_option"],
  radio_buttons: ["selected_option", "initial_option"],
  overflow: ["selected_option", "initial_option"],
  multi_static_select: ["selected_options", "initial_options"],
  checkboxes: ["selected_options", "initial_options"],
  users_select: ["selected_user", "initial_user"],
  multi_users_select: ["selected_users", "initial_users"],
  conversations_select: ["selected_conversation", "initial_conversation"],
  channels_select: ["selected_channel", "initial_channel"],
  datepicker: ["selected_date", "initial_date"],
  timepicker: ["selected_time", "initial_time"],
  datetimepicker: ["selected_date_time", "initial_date_time"],
}

function stateOf(element: Element, given: unknown): Element {
  const type = String(element["type"])
  const [key, initial] = STATE[type] ?? ["value", "initial_value"]
  const said = given === undefined ? element[initial] : chosenOf(element, key, given)
  return { type, [key]: key === "value" ? inInput(element, said) : (said ?? (key.endsWith("s") ? [] : null)) }
}

function chosenOf(element: Element, key: string, given: unknown): unknown {
  if (key === "selected_option") return optionOf(element, given)
  if (key !== "selected_options") return given
  return (Array.isArray(given) ? given : [given]).map((it) => optionOf(element, it)).filter((it) => it !== undefined)
}

/** A text as an input holds it: with line breaks of one kind, or none on a single line; an empty one is no value. */
function inInput({ multiline }: Element, given: unknown): unknown {
  if (typeof given !== "string") return given ?? null
  const text = multiline === true ? given.replace(/\r\n?/g, "\n") : given.replace(/[\r\n]/g, "")
  return text === "" ? null : text
}

function optionOf(element: Element, value: unknown): Element | undefined {
  const groups = (element["option_groups"] ?? []) as { options: Element[] }[]
  const options = [...((element["options"] ?? []) as Element[]), ...groups.flatMap((it) => it.options)]
  return options.find((it) => it["value"] === value)
}
