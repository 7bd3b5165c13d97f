import { describe, expect, test } from "vitest"
import { fits, guarded, type Message } from "../../../src/slack/blocks/limits.ts"

const plain = (text: string) => ({ type: "plain_text" as const, text })
const button = (change: object = {}) => ({
  type: "button" as const,
  action_id: "a",
  text: plain("A"),
  value: "v",
  ...change,
})
const actions = (...elements: object[]) => ({ type: "actions", block_id: "b", elements })
const rich = (text: string) => ({
  type: "rich_text",
  elements: [{ type: "rich_text_section", elements: [{ type: "text", text }] }],
})
const message = (...blocks: object[]): Message => ({ text: "x", blocks: blocks as Message["blocks"] })

test("what Slack takes has no fault", () => {
  expect(
    fits(message({ type: "header", text: plain("x".repeat(150)) }, rich("x".repeat(3000)), actions(button()))),
  ).toEqual([])
})

describe("what Slack refuses is found", () => {
  test.each<[string, Message, RegExp]>([
    ["an empty text", { ...message(rich("x")), text: " " }, /text is empty/],
    ["a text too long for an update", { ...message(rich("x")), text: "&".repeat(801) }, /text has 4005 characters/],
    ["no blocks", message(), /no blocks/],
    ["51 blocks", message(...Array.from({ length: 51 }, () => ({ type: "divider" }))), /51 blocks/],
    [
      "blocks too long together",
      message(...Array.from({ length: 5 }, () => rich("x".repeat(2600)))),
      /characters of blocks/,
    ],
    ["an element too long once it is escaped", message(rich("<".repeat(751))), /text has 3004 characters/],
    ["an empty element", message(rich("")), /empty text/],
    ["an empty rich text", message({ type: "rich_text", elements: [] }), /empty rich_text/],
    ["a header of 151", message({ type: "header", text: plain("x".repeat(151)) }), /header has 151/],
    ["a section of 3,001", message({ type: "section", text: plain("x".repeat(3001)) }), /section has 3001/],
    ["the same action twice", message(actions(button(), button())), /action_id a stands twice/],
    ["the same block twice", message(actions(button()), actions(button())), /block_id b stands twice/],
    [
      "26 buttons",
      message(actions(...Array.from({ length: 26 }, (_, n) => button({ action_id: `a${n}` })))),
      /26 elements/,
    ],
    ["no buttons", message(actions()), /0 elements/],
    ["a button's text of 76", message(actions(button({ text: plain("x".repeat(76)) }))), /button has 76/],
    ["a value of 2,001", message(actions(button({ value: "x".repeat(2001) }))), /value has 2001/],
    ["a label of 76", message(actions(button({ accessibility_label: "x".repeat(76) }))), /label has 76/],
    ["an id of 256", message(actions(button({ action_id: "x".repeat(256) }))), /action_id is empty or too long/],
  ])("%s", (_, faulty, fault) => {
    expect(fits(faulty).join("\n")).toMatch(fault)
  })
})

test("the last guard sends what is small and true instead", () => {
  const small = message(rich("small"))
  expect(guarded(message(rich("x".repeat(3001))), () => small)).toBe(small)
  const good = message(rich("good"))
  expect(guarded(good, () => small)).toBe(good)
})
