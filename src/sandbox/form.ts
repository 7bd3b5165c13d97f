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
  return typeof value === "string" && element["type"] === "plain_text_input" ? wrongLength(element, value) : undefined
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)

function wrongLength({ min_length = 0, max_length = LIMITS.input }: Element, value: string): string | undefined {
  if (value.length < Number(min_length)) return `Please enter at least ${Number(min_length)} characters.`
  return value.length > Number(max_length) ? `Please enter no more than ${Number(max_length)} characters.` : undefined
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
  const none = key.endsWith("s") ? [] : null
  if (given === undefined) return { type, [key]: element[initial] ?? none }
  if (key === "selected_option") return { type, [key]: optionOf(element, given) ?? none }
  if (key !== "selected_options") return { type, [key]: given }
  const chosen = (Array.isArray(given) ? given : [given]).map((it) => optionOf(element, it))
  return { type, [key]: chosen.filter((it) => it !== undefined) }
}

function optionOf(element: Element, value: unknown): Element | undefined {
  const groups = (element["option_groups"] ?? []) as { options: Element[] }[]
  const options = [...((element["options"] ?? []) as Element[]), ...groups.flatMap((it) => it.options)]
  return options.find((it) => it["value"] === value)
}
