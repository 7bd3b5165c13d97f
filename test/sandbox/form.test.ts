import { expect, test } from "vitest"
import { fill, missing } from "../../src/sandbox/form.ts"
import { checkView } from "../../src/sandbox/validate.ts"

const text = (words: string) => ({ type: "plain_text", text: words })
const option = (value: string) => ({ text: text(value), value })
const options = ["a", "b", "c"].map(option)
const block = (element: Record<string, unknown>, optional = true) => ({
  type: "input",
  block_id: "x",
  label: text("X"),
  optional,
  element: { action_id: "v", ...element },
})
const view = (element: Record<string, unknown>) => ({
  type: "modal",
  title: text("Form"),
  submit: text("Send"),
  blocks: [block(element)],
})

test.each<[Record<string, unknown>, string]>([
  [{ type: "static_select", options, initial_option: option("d") }, "match one of the options"],
  [{ type: "static_select", options, initial_option: { ...option("a"), text: text("A") } }, "match one of the options"],
  [{ type: "static_select", options: [{ text: { type: "mrkdwn", text: "a" }, value: "a" }] }, "plain_text"],
  [{ type: "radio_buttons", options, initial_option: option("d") }, "match one of the options"],
  [{ type: "checkboxes", options, initial_options: [option("a"), option("d")] }, "match one of the options"],
  [{ type: "multi_static_select", options, initial_options: [option("d")] }, "match one of the options"],
  [{ type: "plain_text_input", min_length: 3, max_length: 2 }, "min_length"],
  [{ type: "plain_text_input", initial_value: "abc", max_length: 2 }, "initial_value"],
  [{ type: "number_input", is_decimal_allowed: false, min_value: "3", max_value: "2" }, "min_value"],
  [{ type: "number_input", is_decimal_allowed: false, initial_value: "1e3" }, "pattern"],
  [{ type: "datepicker", initial_date: "2026-02-30" }, "date"],
])("%j is refused", (element, why) => {
  const checked = checkView(view(element))
  expect(checked).toMatchObject({ ok: false, faults: [{ message: expect.stringContaining(why) as string }] })
})

test("an initial option in a group is taken", () => {
  const option_groups = [{ label: text("G"), options }]
  expect(checkView(view({ type: "static_select", option_groups, initial_option: option("b") })).ok).toBe(true)
})

test.each<[Record<string, unknown>, unknown, unknown]>([
  [{ type: "plain_text_input", multiline: true, initial_value: "a\r\nb\r" }, undefined, "a\nb\n"],
  [{ type: "plain_text_input", initial_value: "a\r\nb" }, undefined, "ab"],
  [{ type: "plain_text_input", initial_value: "a" }, "", null],
  [{ type: "plain_text_input", initial_value: "a" }, null, null],
  [{ type: "number_input", is_decimal_allowed: true, initial_value: "1" }, undefined, "1"],
])("%j filled with %j holds %j", (element, given, value) => {
  const values = fill([block(element)], given === undefined ? {} : { x: { v: given } })
  expect(values).toEqual({ x: { v: { type: element["type"], value } } })
})

test.each<[Record<string, unknown>, unknown, string | undefined]>([
  [{ type: "number_input", is_decimal_allowed: false }, "1.5", "Please enter a whole number."],
  [{ type: "number_input", is_decimal_allowed: true }, "1.5", undefined],
  [{ type: "number_input", is_decimal_allowed: true }, "1e3", "Please enter a number."],
  [{ type: "number_input", is_decimal_allowed: false, min_value: "2" }, "1", "At least 2."],
  [{ type: "number_input", is_decimal_allowed: false, max_value: "2" }, "3", "At most 2."],
  [{ type: "email_text_input" }, "nobody", "Please enter a valid email address."],
  [{ type: "email_text_input" }, "a@b.example", undefined],
  [{ type: "url_text_input" }, "a.example", "Please enter a valid URL."],
  [{ type: "url_text_input" }, "https://a.example/?x=1", undefined],
  [{ type: "multi_static_select", options, max_selected_items: 1 }, ["a", "b"], "Please choose at most 1."],
  [{ type: "checkboxes", options }, ["a", "b"], undefined],
  [{ type: "datepicker" }, "2026-10-01", undefined],
])("a client checks %j: %j", (element, given, fault) => {
  const blocks = [block(element)]
  expect(missing(blocks, fill(blocks, { x: { v: given } }))).toEqual(fault === undefined ? undefined : { x: fault })
})
