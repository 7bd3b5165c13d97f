import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { mask } from "../../../src/core/mask.ts"
import type { Run } from "../../../src/core/run.ts"
import { fits, type Message } from "../../../src/slack/blocks/limits.ts"
import { answers, root } from "../../../src/slack/blocks/messages.ts"
import { sampleRun, sampleView } from "../../../src/slack/blocks/samples.ts"
import { visible } from "../../../src/slack/blocks/text.ts"
import { checkBlocks } from "../../../src/sandbox/validate.ts"
import { ATTACKS, hostile, live, nodes, readable } from "./hostile.ts"

/** For what must not happen: an answer without a message. */
const NONE: Message = { text: "", blocks: [] }
const ended = (how: "done" | "failed" | "incomplete" | "cancelled", words?: string): Run => ({
  ...sampleRun,
  ended: { how, at: sampleRun.at, ...(words === undefined ? {} : { words }) },
})
const answered = (answer: string): Message[] => answers(ended("done"), { answer })
/** The elements of an answer that fits into one message, without the opening line. */
const elementsOf = (answer: string): unknown[] =>
  ((answered(answer)[0] ?? NONE).blocks.slice(1) as { elements: unknown[] }[]).flatMap((block) => block.elements)
const text = (text: string, style?: object) => ({ type: "text", text, ...(style ? { style } : {}) })
const section = (...elements: unknown[]) => ({ type: "rich_text_section", elements })
/** What an answer says, without the opening line of each message. */
const saidIn = (messages: readonly Message[]): string =>
  messages.map(({ text, blocks }) => readable({ text, blocks: blocks.slice(1) })).join("")
const sendable = (message: Message): void => {
  expect(fits(message)).toEqual([])
  expect(checkBlocks(structuredClone(message.blocks))).toMatchObject({ ok: true })
}

describe("markdown in an answer", () => {
  test.each<[string, string, unknown[]]>([
    ["bold", "a **b** c", [section(text("a "), text("b", { bold: true }), text(" c"))]],
    ["italics, both ways", "*a* _b_", [section(text("a", { italic: true }), text(" "), text("b", { italic: true }))]],
    ["bold within italics is kept apart from stars that mean nothing", "2 * 3 * 4", [section(text("2 * 3 * 4"))]],
    ["names with underscores", "my_var_name and a*b*c", [section(text("my_var_name and a*b*c"))]],
    ["struck out", "~~a~~", [section(text("a", { strike: true }))]],
    ["code", "run `a *b* <c>`", [section(text("run "), text("a *b* <c>", { code: true }))]],
    ["headings", "## Done *now*", [section(text("Done ", { bold: true }), text("now", { bold: true, italic: true }))]],
    ["lines", "a\nb\n\nc", [section(text("a"), text("\n"), text("b"), text("\n"), text("\n"), text("c"))]],
    ["quotes", "> a\n> b", [{ type: "rich_text_quote", elements: [text("a\nb")] }]],
    [
      "a code block",
      "```sh\nls -l\n  x\n```\nafter",
      [{ type: "rich_text_preformatted", elements: [text("ls -l\n  x")] }, section(text("after"))],
    ],
    ["a code block that was not closed", "```\nls", [{ type: "rich_text_preformatted", elements: [text("ls")] }]],
    [
      "backticks within a longer fence",
      "````\n```\nx\n```\n````",
      [{ type: "rich_text_preformatted", elements: [text("```\nx\n```")] }],
    ],
    [
      "numbers, as they were",
      "3. a\n4. **b**",
      [section(text("3. "), text("a"), text("\n"), text("4. "), text("b", { bold: true }))],
    ],
    [
      "bullets",
      "- a\n- b\n  - c",
      [
        { type: "rich_text_list", style: "bullet", indent: 0, elements: [section(text("a")), section(text("b"))] },
        { type: "rich_text_list", style: "bullet", indent: 1, elements: [section(text("c"))] },
      ],
    ],
    [
      "a table",
      "| a | b |\n|---|---|\n| 1 | 2 |",
      [{ type: "rich_text_preformatted", elements: [text("| a | b |\n|---|---|\n| 1 | 2 |")] }],
    ],
    [
      "a link shows its address",
      "see [the docs](https://example.com/a?b=c)",
      [
        section(
          text("see "),
          text("the docs ("),
          { type: "link", url: "https://example.com/a?b=c", text: "https://example.com/a?b=c" },
          text(")"),
        ),
      ],
    ],
    [
      "an address alone",
      "see https://example.com/a, or <https://example.com/b>.",
      [
        section(
          text("see "),
          { type: "link", url: "https://example.com/a", text: "https://example.com/a" },
          text(","),
          text(" or "),
          { type: "link", url: "https://example.com/b", text: "https://example.com/b" },
          text("."),
        ),
      ],
    ],
    [
      "an address whose label is another",
      "[https://bank.example](https://evil.example/)",
      [
        section(
          text("https://bank.example ("),
          { type: "link", url: "https://evil.example/", text: "https://evil.example/" },
          text(")"),
        ),
      ],
    ],
    [
      "an address whose host poses as another",
      "https://аpple.com/",
      [section({ type: "link", url: "https://xn--pple-43d.com/", text: "https://xn--pple-43d.com/" })],
    ],
    ["an address of another scheme", "[x](javascript:alert(1))", [section(text("[x](javascript:alert(1))"))]],
    ["Slack's own signs", "<!channel> <@U0APP1> @here #ops", [section(text("<!channel> <@U0APP1> @here #ops"))]],
  ])("%s", (_, markdown, elements) => {
    expect(elementsOf(markdown)).toEqual(elements)
  })
})

describe("the answer", () => {
  test("of 13,000 characters with a long code block comes whole, in order, with every code block closed and opened again", () => {
    const lines = Array.from({ length: 500 }, (_, n) => `line ${n} ${"x".repeat(4)}`).join("\n")
    const prose = Array.from({ length: 800 }, (_, n) => `w${n}`).join(" ")
    const messages = answered(`${prose}\n\n\`\`\`\n${lines}\n\`\`\`\n\n${prose} end`)
    expect(messages.length).toBeGreaterThan(1)
    messages.forEach(sendable)
    const code = messages
      .flatMap((message) => nodes(message.blocks))
      .filter(({ type }) => type === "rich_text_preformatted")
    expect(
      code
        .map((block) =>
          nodes(block["elements"])
            .map((it) => it["text"])
            .join(""),
        )
        .join(""),
    ).toBe(lines)
    const all = saidIn(messages)
    expect(all.replaceAll(/\s/g, "")).toContain(`${prose}${lines}${prose} end`.replaceAll(/\s/g, ""))
    expect(messages.map((message) => message.text).at(-1)).toMatch(/\(\d of \d\)$/)
  })

  test.each([
    ["bold words", "**w** "],
    ["headings", "# w\n"],
    ["links", "[w](https://e.example/) "],
    ["code in items", "- `w` "],
  ])("of nothing but %s comes whole", (_, piece) => {
    const messages = answered(piece.repeat(1000))
    messages.forEach(sendable)
    expect(saidIn(messages).match(/\bw\b/g)).toHaveLength(1000)
  })

  test.each(["", "   \n\t ", "\n\n"])("that says nothing (%j) is a fixed sentence", (answer) => {
    const messages = answered(answer)
    expect(messages).toHaveLength(1)
    messages.forEach(sendable)
    expect(readable(messages[0] ?? { text: "", blocks: [] })).toContain("gave no final text")
  })

  test.each([
    ["failed", "The run failed: the model refused the key. Nothing more will happen"],
    ["incomplete", "The run stopped before it was done: the model refused the key."],
    ["cancelled", "The run was cancelled: the model refused the key. What had not started"],
  ] as const)("of a run that is %s says so and why", (how, words) => {
    expect(readable(answers(ended(how, "the model refused the key"), { answer: "" })[0] ?? NONE)).toContain(words)
  })

  test("of a cancelled run says by whom", () => {
    const [message] = answers(ended("cancelled", "cancelled by Ben"), { answer: "" })
    expect(readable(message ?? NONE)).toContain("The run was cancelled by Ben. What")
  })

  test("pings whoever asked, once, and nobody else whatever it says", () => {
    const messages = answered(ATTACKS.join("\n\n").repeat(60))
    const mentions = messages.flatMap(live).filter(({ type }) => type !== "link")
    expect(mentions).toEqual([{ type: "user", user_id: "U0ANA" }])
    expect(messages.length).toBeGreaterThan(2)
  })

  test("masks secrets", () => {
    expect(JSON.stringify(answered("**key** `xoxb-1111-2222-abc` and password=hunter2"))).not.toMatch(/1111|hunter2/)
  })

  test("whatever it says, comes whole, in messages that fit, with links that show where they lead", () => {
    fc.assert(
      fc.property(hostile, (answer) => {
        const messages = answered(answer)
        messages.forEach(sendable)
        for (const link of messages.flatMap(live).filter(({ type }) => type === "link")) {
          expect(link["text"]).toBe(link["url"])
          expect(link["url"]).toMatch(/^https?:\/\//)
        }
        const letters = (text: string): string => text.normalize("NFKC").replaceAll(/[^\p{L}\p{N}]/gu, "")
        // What is masked or written out is said in other letters.
        const isPlain = visible(mask(answer).text) === answer && !/https?:|[«»\\]/u.test(answer)
        if (isPlain)
          expect(letters(saidIn(messages))).toContain(letters(answer.replaceAll(/^ {0,3}(```|~~~).*$/gm, "")))
      }),
      { numRuns: 150 },
    )
  })

  test.each([
    "**",
    "[a](",
    "`",
    "*a ",
    "_a ",
    "> ",
    "- ",
    "1. ",
    "|a|\n|-|\n",
    "https://a",
    "<https://",
    "~~a",
    "# ",
    "```\n",
    "![",
    "a\n",
  ])("of nothing but %j is soon taken apart", (bit) => {
    const start = performance.now()
    answered(bit.repeat(100_000 / bit.length)).forEach((message) => expect(fits(message)).toEqual([]))
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})

describe("the run's message", () => {
  test("has what was asked for whole, where it stands, and Cancel until it is over", () => {
    const prompt = `${"please ".repeat(500)}& <done>`
    const open = root(sampleRun, { prompt })
    sendable(open)
    expect(readable(open)).toContain(prompt)
    expect(live(open)).toEqual([expect.objectContaining({ type: "button", action_id: "cancel", value: sampleRun.id })])
    expect(live(root(ended("done"), { prompt })).map(({ type }) => type)).toEqual(["date"])
    expect(
      live(root({ ...sampleRun, cancelled: { via: "click", at: 1, cause: "c" } }, { prompt })).map(({ type }) => type),
    ).toEqual(["date"])
  })

  test("of a very long prompt says how much is missing", () => {
    const message = root(sampleRun, { prompt: "x".repeat(20_000) })
    sendable(message)
    expect(readable(message)).toMatch(/… \(1\d,\d{3} more characters\)/)
  })

  test.each<[string, Partial<Run>, string]>([
    ["working", {}, "Working"],
    ["waiting", { asks: [sampleView().ask] }, "Waiting for a decision: restart, until"],
    [
      "waiting for more",
      { asks: [sampleView().ask, { ...sampleView().ask, id: "b", tool: "page" }] },
      "Waiting for 2 decisions: restart, page, until",
    ],
    [
      "trying again",
      { retry: { count: 2, at: 1_800_000_000_000, words: "the model is overloaded" } },
      "could not be asked: the model is overloaded. Next try",
    ],
    ["being cancelled", { cancelled: { via: "click", at: 1, cause: "c" } }, "Being cancelled"],
    [
      "incomplete",
      ended("incomplete", "maxTurns (20) was reached"),
      "Stopped before it was done: maxTurns (20) was reached, ",
    ],
    ["cancelled", ended("cancelled", "cancelled by Ben"), "Cancelled by Ben, "],
  ])("says that it is %s", (_, change, words) => {
    expect(readable(root({ ...sampleRun, ...change }, { prompt: "x" }))).toContain(words)
  })

  test("whatever was asked for, pings nobody and links nowhere", () => {
    fc.assert(
      fc.property(hostile, hostile, (prompt, name) => {
        const message = root(
          { ...sampleRun, title: prompt.slice(0, 150), requester: { ...sampleRun.requester, name } },
          { prompt },
        )
        sendable(message)
        expect(message.text).not.toMatch(/[<>\n]/)
        expect(live(message).map(({ type }) => type)).toEqual(["button"])
      }),
      { numRuns: 150 },
    )
  })
})
