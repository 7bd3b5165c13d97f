/** Draws the elements that hold a value, with the browser's own controls. */
import type {
  Checkboxes,
  Datepicker,
  EmailInput,
  MultiStaticSelect,
  NumberInput,
  Option,
  OptionGroup,
  PlainTextInput,
  RadioButtons,
  StaticSelect,
  URLInput,
} from "@slack/types"
import { el, on } from "../dom.ts"
import { type Field, makeField, missing } from "./fields.ts"
import { drawLabel, type Place } from "./place.ts"

export type InputElement =
  | PlainTextInput
  | EmailInput
  | URLInput
  | NumberInput
  | Datepicker
  | StaticSelect
  | MultiStaticSelect
  | RadioButtons
  | Checkboxes

/** Those that are one control, which a label can name. */
export const SINGLE = [
  "plain_text_input", "email_text_input", "url_text_input", "number_input", "datepicker", "static_select",
] // prettier-ignore

export interface Situation {
  place: Place
  block: string
  /** The id of the control, for its label, and of what describes it. */
  id: string
  name: string | undefined
  describedBy: string | undefined
  optional: boolean
  /** Told after a choice; with the chosen value where it is one. */
  changed: (value: string | undefined, from: HTMLElement) => void
}

type Choice = StaticSelect | MultiStaticSelect
const optionsOf = (element: Choice): Option[] =>
  element.options ?? (element.option_groups ?? []).flatMap((group) => group.options)

const field = (
  element: InputElement,
  { block }: Situation,
  rest: Pick<Field, "read" | "write" | "problem">,
): Field => ({
  block,
  action: element.action_id ?? "",
  ...rest,
})

const attributes = (element: InputElement, { block, id, name, describedBy }: Situation) => ({
  id,
  "aria-label": name,
  "aria-describedby": describedBy,
  "data-control": `${block}/${element.action_id ?? ""}`,
})

function lengthProblem(text: string, min: number, max: number): string | undefined {
  if (text.length < min) return `Please enter at least ${min} characters.`
  return text.length > max ? `Please enter at most ${max} characters.` : undefined
}

function textInput(element: PlainTextInput, at: Situation): HTMLElement {
  const shared = { ...attributes(element, at), class: "input", placeholder: element.placeholder?.text }
  const input =
    element.multiline === true ? el("textarea", { ...shared, rows: 4 }) : el("input", { ...shared, type: "text" })
  input.value = element.initial_value ?? ""
  return writable(element, at, input, (text) =>
    lengthProblem(text, element.min_length ?? 0, element.max_length ?? 3000),
  )
}

/** A field of words. `wrong` says what is wrong with some; none at all are wrong only where they are needed. */
function writable(
  element: PlainTextInput | EmailInput | URLInput,
  at: Situation,
  input: HTMLInputElement | HTMLTextAreaElement,
  wrong: (text: string) => string | undefined,
): HTMLElement {
  return makeField(
    input,
    field(element, at, {
      read: () => ({ type: element.type, value: input.value === "" ? null : input.value }),
      write: ({ value }) => void (input.value = value ?? ""),
      problem: () => {
        if (input.value.trim() === "") return at.optional ? undefined : missing
        return wrong(input.value)
      },
    }),
  )
}

/** What Slack checks before it sends an address. */
const ADDRESSES = {
  email_text_input: {
    fits: (text: string) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
    says: "Please enter a valid email address.",
  },
  url_text_input: {
    fits: (text: string) => /^https?:\/\//.test(text) && URL.canParse(text),
    says: "Please enter a valid URL.",
  },
}

function addressInput(element: EmailInput | URLInput, at: Situation): HTMLElement {
  const shared = { ...attributes(element, at), class: "input", placeholder: element.placeholder?.text }
  const kind = element.type === "email_text_input" ? "email" : "url"
  const input = el("input", { ...shared, type: "text", inputmode: kind, autocomplete: "off", spellcheck: "false" })
  input.value = element.initial_value ?? ""
  const { fits, says } = ADDRESSES[element.type]
  return writable(element, at, input, (text) => (fits(text) ? undefined : says))
}

function datepicker(element: Datepicker, at: Situation): HTMLElement {
  const input = el("input", { ...attributes(element, at), class: "input", type: "date" })
  input.value = element.initial_date ?? ""
  on(input, { change: () => at.changed(input.value, input) })
  return makeField(
    input,
    field(element, at, {
      read: () => ({ type: element.type, selected_date: input.value === "" ? null : input.value }),
      write: ({ selected_date }) => void (input.value = selected_date ?? ""),
      problem: () => (at.optional || input.value !== "" ? undefined : missing),
    }),
  )
}

function numberProblem(text: string, element: NumberInput): string | undefined {
  const number = Number(text)
  if (!/^-?\d+(\.\d+)?$/.test(text)) return "Please enter a number."
  if (!element.is_decimal_allowed && text.includes(".")) return "Please enter a whole number."
  if (element.min_value !== undefined && number < Number(element.min_value)) return `At least ${element.min_value}.`
  if (element.max_value !== undefined && number > Number(element.max_value)) return `At most ${element.max_value}.`
  return undefined
}

function numberInput(element: NumberInput, at: Situation): HTMLElement {
  const shared = { ...attributes(element, at), class: "input", placeholder: element.placeholder?.text }
  const input = el("input", { ...shared, type: "text", inputmode: element.is_decimal_allowed ? "decimal" : "numeric" })
  input.value = element.initial_value ?? ""
  return makeField(
    input,
    field(element, at, {
      read: () => ({ type: element.type, value: input.value.trim() === "" ? null : input.value.trim() }),
      write: ({ value }) => void (input.value = value ?? ""),
      problem: () => {
        if (input.value.trim() === "") return at.optional ? undefined : missing
        return numberProblem(input.value.trim(), element)
      },
    }),
  )
}

const optionNode = (option: Option): HTMLOptionElement => el("option", { value: option.value ?? "" }, option.text.text)

function optionNodes(element: StaticSelect): HTMLElement[] {
  if (element.options !== undefined) return element.options.map(optionNode)
  const group = ({ label, options }: OptionGroup): HTMLElement =>
    el("optgroup", { label: label.text }, ...options.map(optionNode))
  return (element.option_groups ?? []).map(group)
}

function select(element: StaticSelect, at: Situation): HTMLElement {
  const placeholder = el("option", { value: "" }, element.placeholder?.text ?? "Choose an option")
  const input = el("select", { ...attributes(element, at), class: "input" }, placeholder, ...optionNodes(element))
  input.value = element.initial_option?.value ?? ""
  on(input, { change: () => at.changed(input.value, input) })
  const chosen = (): Option | undefined => optionsOf(element).find((option) => option.value === input.value)
  return makeField(
    input,
    field(element, at, {
      read: () => ({ type: element.type, selected_option: chosen() ?? null }),
      write: ({ selected_option }) => void (input.value = selected_option?.value ?? ""),
      problem: () => (at.optional || chosen() !== undefined ? undefined : missing),
    }),
  )
}

interface Ticks {
  kind: "radio" | "checkbox"
  options: Option[]
  initial: Option[]
  scrolls: boolean
}

function ticksOf(element: RadioButtons | Checkboxes | MultiStaticSelect): Ticks {
  switch (element.type) {
    case "radio_buttons":
      return {
        kind: "radio",
        options: element.options,
        initial: element.initial_option ? [element.initial_option] : [],
        scrolls: false,
      }
    case "checkboxes":
      return { kind: "checkbox", options: element.options, initial: element.initial_options ?? [], scrolls: false }
    default:
      return { kind: "checkbox", options: optionsOf(element), initial: element.initial_options ?? [], scrolls: true }
  }
}

function tooMany(element: InputElement, count: number): string | undefined {
  if (!("max_selected_items" in element) || element.max_selected_items === undefined) return undefined
  return count > element.max_selected_items ? `Please choose at most ${element.max_selected_items}.` : undefined
}

function ticks(element: RadioButtons | Checkboxes | MultiStaticSelect, at: Situation): HTMLElement {
  const { kind, options, initial, scrolls } = ticksOf(element)
  const shared = { type: kind, name: at.id, "aria-describedby": at.describedBy }
  const inputs = options.map((option) =>
    el("input", {
      ...shared,
      checked: initial.some(({ value }) => value === option.value),
      "data-control": `${at.block}/${element.action_id ?? ""}/${option.value ?? ""}`,
    }),
  )
  const rows = options.map((option, index) =>
    el(
      "label",
      { class: "tick" },
      inputs[index],
      el("span", {}, ...drawLabel(option.text, at.place.names)),
      option.description && el("small", {}, option.description.text),
    ),
  )
  const name = at.name ?? element.type.replaceAll("_", " ")
  const node = el("div", { role: kind === "radio" ? "radiogroup" : "group", "aria-label": name, id: at.id }, ...rows)
  node.className = scrolls ? "ticks scrolls" : "ticks"
  const chosen = (): Option[] => options.filter((_, index) => inputs[index]?.checked === true)
  on(node, { change: () => at.changed(kind === "radio" ? chosen()[0]?.value : undefined, node) })
  return makeField(
    node,
    field(element, at, {
      read: () =>
        kind === "radio"
          ? { type: element.type, selected_option: chosen()[0] ?? null }
          : { type: element.type, selected_options: chosen() },
      write: ({ selected_option, selected_options }) => {
        const values = [selected_option, ...(selected_options ?? [])].map((option) => option?.value)
        for (const [index, input] of inputs.entries()) input.checked = values.includes(options[index]?.value)
      },
      problem: () => (chosen().length === 0 && !at.optional ? missing : tooMany(element, chosen().length)),
    }),
  )
}

/** The control of an element, or undefined for one this page does not draw. */
export function drawInput(element: InputElement, at: Situation): HTMLElement | undefined {
  switch (element.type) {
    case "plain_text_input":
      return textInput(element, at)
    case "email_text_input":
    case "url_text_input":
      return addressInput(element, at)
    case "number_input":
      return numberInput(element, at)
    case "datepicker":
      return datepicker(element, at)
    case "static_select":
      return select(element, at)
    case "multi_static_select":
    case "radio_buttons":
    case "checkboxes":
      return ticks(element, at)
    default:
      return undefined
  }
}
