/** Long texts: what is made of them takes time linear in their length, or is bounded with a word about it. */
import { describe, expect, test } from "vitest"
import { mask } from "../../../src/core/mask.ts"
import type { Run } from "../../../src/core/run.ts"
import { fits, type Message } from "../../../src/slack/blocks/limits.ts"
import { markdown } from "../../../src/slack/blocks/markdown.ts"
import { answers } from "../../../src/slack/blocks/messages.ts"
import { cautions, chunks, clip, legible, oneLine, visible, visibleEnds } from "../../../src/slack/blocks/text.ts"

const ended = {
  id: "r00aaaaaaaaaaaa",
  requester: { team: "T1", user: "U1" },
  channel: "C1",
  title: "tell me",
  ended: { how: "done", at: 0 },
} as Run

/** All text of a message, in order. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join("")
  if (typeof value !== "object" || value === null) return ""
  const { text, elements } = value as { text?: unknown; elements?: unknown }
  return typeof text === "string" ? text : textOf(text) + textOf(elements)
}

const shown = (messages: readonly Message[]): string => textOf(messages.map(({ blocks }) => blocks))

const SECRET = `xoxb-${"1234567890-abcdefghij".repeat(2)}`
const LENGTH = 300_000
const long = (unit: string): string => unit.repeat(Math.ceil(LENGTH / unit.length))

describe("a final answer of 300,000 characters", () => {
  test.each<[string, string, string, boolean]>([
    ["one word", "a", "aaaa", true],
    ["backticks", "`", "", false],
    ["signs that Slack escapes", "<", "<<<<", true],
    ["emoji", "😀", "😀😀", true],
    ["lines", "a\n", "a\na\n", true],
    ["bold words", "**a** b ", "a b a b", true],
    ["hidden characters between letters", "a\u202E", "a\\u{202e}a\\u{202e}", true],
    ["secrets", `${SECRET} `, `[slack token, ${SECRET.length} characters] [slack token`, false],
  ])("%s: as much as a thread can take, and that there is more", (_, unit, begins, more) => {
    const messages = answers(ended, { answer: long(unit) })
    expect(messages.length).toBeLessThanOrEqual(50)
    expect(messages.flatMap(fits)).toEqual([])
    const text = shown(messages)
    expect(text).toContain(begins)
    expect(text.includes(`The answer goes on: it has ${long(unit).length.toLocaleString("en-US")} characters`)).toBe(
      more,
    )
  })

  test.each(["\u202E", "\u200B", "\u{E0041}"])("%j alone: the first are written out, the others counted", (hidden) => {
    const messages = answers(ended, { answer: `before ${hidden.repeat(100_000)} after` })
    expect(messages).toHaveLength(1)
    const code = `\\u{${hidden.codePointAt(0)?.toString(16)}}`
    expect(shown(messages)).toContain(`before ${code.repeat(40)} … (99,960 more characters that can't be seen) after`)
  })

  test("is looked through once, not once for each of its messages", () => {
    const answer = `${"word ".repeat(20_000)}end`
    const elements = (messages: readonly { blocks: readonly object[] }[]): unknown[] =>
      messages.flatMap(({ blocks }) => blocks.slice(1).flatMap((block) => (block as { elements: unknown[] }).elements))
    const [first, again] = [answers(ended, { answer }), answers(ended, { answer, mention: false })]
    expect(first.length).toBeGreaterThan(10)
    elements(again).forEach((element, index) => expect(element).toBe(elements(first)[index]))
  })
})

/** Each of these took time with the square of its length: minutes for this one, in which nothing else was done. */
describe("takes no time with the square of a text's length", () => {
  const blanks = `a${" ".repeat(LENGTH)}b`

  test("many blanks on one line", () => {
    expect(oneLine(blanks)).toBe(blanks)
    expect(oneLine(`a${" ".repeat(LENGTH)}\nb`)).toBe("a ⏎ b")
    expect(visibleEnds(blanks)).toBe(blanks)
  })

  test("many blanks within a paragraph", () => {
    const [section] = markdown(blanks)
    expect(textOf(section)).toBe(`a${" ".repeat(2799)}`)
  })

  test("many dashes below a line that might be the head of a table", () => {
    const text = `a | b\n${"-".repeat(LENGTH)}`
    expect([...markdown(text)].map(textOf).join("")).toMatch(/^a \| b\n———/)
  })

  test("many signs behind a heading", () => {
    const line = `# a ${"#".repeat(2700)}b ##`
    for (let times = 0; times < 60; times += 1) {
      expect([...markdown(line)].map(textOf)).toEqual([`a ${"#".repeat(2700)}b`])
    }
  })

  test("many hosts that pose as others, and many words of two alphabets", () => {
    const words = Array.from(
      { length: 5000 },
      (_, n) => `b${[...String(n)].map((digit) => "аеорсухіјѕ"[Number(digit)]).join("")}`,
    )
    const text = words.map((word) => `${word} x${word}.com`).join(" ")
    expect(cautions(text, text)).toHaveLength(6)
  })

  test("a long text of which the beginning is shown", () => {
    expect(clip(`${"word ".repeat(20)}${"\u{E0041}".repeat(LENGTH)}`, 100)).toBe(
      `${"word ".repeat(13).trimEnd()} … (300,035 more characters)`,
    )
  })

  test("secrets, one after another", () => {
    expect(mask(long(`${SECRET} `)).count).toBe(Math.ceil(LENGTH / (SECRET.length + 1)))
  })
})

test("pieces of a long text are the text, each within its limit, with nothing torn apart", () => {
  const text = visible(long("a\u202Eе\u0301👨‍👩‍👧‍👦<1\uFE0F\u20E3[masked, 7 characters] "))
  const pieces = chunks(text, 2800, true)
  expect(pieces.join("")).toBe(text)
  expect(
    pieces.every((piece) => /(?:\[masked, 7 characters\] ?|\\u\{202e\}|[aе<]|е\u0301|👨‍👩‍👧‍👦|1\uFE0F\u20E3)$/u.test(piece)),
  ).toBe(true)
  expect(pieces.every((piece) => !/^(?:\u0301|\uFE0F|\u200D|u\{|\{|masked)/u.test(piece))).toBe(true)
})

test("few hidden characters are all written out", () => {
  expect(legible("a\u202E\n\u202Eb")).toBe("a\\u{202e}\n\\u{202e}b")
})
