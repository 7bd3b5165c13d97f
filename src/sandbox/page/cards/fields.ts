/**
 * Fields that a person fills in, in Slack's terms: a field is found by block and action id, and its value has the shape
 * of Slack's `state.values`. It does not know which form it is in.
 */
import type { Option } from "@slack/types"

export interface FieldValue {
  type: string
  value?: string | null
  selected_option?: Option | null
  selected_options?: Option[]
  selected_date?: string | null
}

export interface Field {
  block: string
  action: string
  read: () => FieldValue
  write: (value: FieldValue) => void
  /** What Slack would say of this value before it sends it. */
  problem: () => string | undefined
}

export type Values = Record<string, Record<string, FieldValue>>

const fields = new WeakMap<Element, Field>()

export function makeField<E extends HTMLElement>(node: E, field: Field): E {
  node.dataset["field"] = `${field.block}/${field.action}`
  fields.set(node, field)
  return node
}

const within = (root: Element): Field[] =>
  [...root.querySelectorAll("[data-field]")].flatMap((node) => fields.get(node) ?? [])

export function readValues(root: Element): Values {
  const values: Values = {}
  for (const { block, action, read } of within(root)) (values[block] ??= {})[action] = read()
  return values
}

/** Writes back what was filled in before a form was drawn anew, where block, action and kind are still the same. */
export function writeValues(root: Element, values: Values): void {
  for (const { block, action, read, write } of within(root)) {
    const value = values[block]?.[action]
    if (value !== undefined && value.type === read().type) write(value)
  }
}

/** The problems of a form, by block id. */
export function problems(root: Element): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { block, problem } of within(root)) {
    const text = problem()
    if (text !== undefined) found[block] = text
  }
  return found
}

export const missing = "Please complete this required field."
