import { describe, expect, test } from "vitest"
import { blocksText, checkBlocks, checkView } from "../../src/sandbox/validate.ts"
import { actions, button, mrkdwn, section, text } from "./call.ts"

const x = (count: number): string => "x".repeat(count)
const rich = (...elements: unknown[]) => ({ type: "rich_text", elements })
const line = (...elements: unknown[]) => ({ type: "rich_text_section", elements })
const input = (element: unknown) => ({ type: "input", label: text("Name"), element })

const taken: [string, unknown[]][] = [
  ["a section of 3,000 characters", [section(x(3000))]],
  ["a header of 150", [{ type: "header", text: text(x(150)) }]],
  ["a button with 75 of text and 2,000 of value", [actions(button("a", { text: text(x(75)), value: x(2000) }))]],
  ["25 buttons", [actions(...Array.from({ length: 25 }, (_, i) => button(`a${i}`)))]],
  ["50 blocks", Array.from({ length: 50 }, () => ({ type: "divider" }))],
  ["the same action_id in two blocks", [actions(button("a")), actions(button("a"))]],
  ["10 fields of 2,000", [{ type: "section", fields: Array.from({ length: 10 }, () => mrkdwn(x(2000))) }]],
  [
    "rich text of every kind of part",
    [
      rich(
        line({ type: "text", text: "a & <b>", style: { bold: true } }, { type: "user", user_id: "U1" }),
        { type: "rich_text_quote", elements: [{ type: "broadcast", range: "here" }] },
        { type: "rich_text_preformatted", elements: [{ type: "text", text: "code" }], border: 1 },
        { type: "rich_text_list", style: "bullet", elements: [line({ type: "text", text: "one" })] },
      ),
    ],
  ],
  [
    "a button with a confirmation",
    [
      actions(
        button("a", {
          style: "danger",
          confirm: { title: text("Sure?"), text: mrkdwn("*really*"), confirm: text("Yes"), deny: text("No") },
        }),
      ),
    ],
  ],
  [
    "a menu beside a text",
    [
      {
        ...section("x"),
        accessory: { type: "static_select", action_id: "a", options: [{ text: text("One"), value: "1" }] },
      },
    ],
  ],
]

const refused: [why: string, blocks: unknown[], pointer: string][] = [
  ["an empty text", [section("")], "/blocks/0/text/text"],
  ["a section of 3,001 characters", [section(x(3001))], "/blocks/0/text/text"],
  ["a section of 3,000 that escaping makes longer", [section(`${x(2999)}&`)], "/blocks/0/text/text"],
  ["a section without text and fields", [{ type: "section" }], "/blocks/0"],
  ["11 fields", [{ type: "section", fields: Array.from({ length: 11 }, () => text("x")) }], "/blocks/0/fields"],
  ["a field of 2,001", [{ type: "section", fields: [text(x(2001))] }], "/blocks/0/fields/0/text"],
  ["a header of 151", [{ type: "header", text: text(x(151)) }], "/blocks/0/text/text"],
  ["a header in mrkdwn", [{ type: "header", text: mrkdwn("x") }], "/blocks/0/text/type"],
  ["51 blocks", Array.from({ length: 51 }, () => ({ type: "divider" })), "/blocks"],
  ["an unknown block", [{ type: "sectoin", text: text("x") }], "/blocks/0/type"],
  ["a block for modals", [{ type: "alert", text: text("x") }], "/blocks/0/type"],
  ["no type", [{ text: text("x") }], "/blocks/0/type"],
  ["a property that doesn't exist", [{ ...section("x"), txet: 1 }], "/blocks/0"],
  ["26 buttons", [actions(...Array.from({ length: 26 }, (_, i) => button(`a${i}`)))], "/blocks/0/elements"],
  ["no buttons", [actions()], "/blocks/0/elements"],
  ["a repeated action_id", [actions(button("a"), button("a"))], "/blocks/0/elements/1/action_id"],
  [
    "a repeated block_id",
    [
      { ...section("x"), block_id: "b" },
      { ...section("y"), block_id: "b" },
    ],
    "/blocks/1/block_id",
  ],
  ["a block_id of 256", [{ ...section("x"), block_id: x(256) }], "/blocks/0/block_id"],
  ["an action_id of 256", [actions(button(x(256)))], "/blocks/0/elements/0/action_id"],
  ["a button text of 76", [actions(button("a", { text: text(x(76)) }))], "/blocks/0/elements/0/text/text"],
  ["a button text in mrkdwn", [actions(button("a", { text: mrkdwn("x") }))], "/blocks/0/elements/0/text/type"],
  ["a button value of 2,001", [actions(button("a", { value: x(2001) }))], "/blocks/0/elements/0/value"],
  ["a button style that doesn't exist", [actions(button("a", { style: "green" }))], "/blocks/0/elements/0/style"],
  [
    "a label of 76 for screen readers",
    [actions(button("a", { accessibility_label: x(76) }))],
    "/blocks/0/elements/0/accessibility_label",
  ],
  [
    "a confirmation of 301",
    [actions(button("a", { confirm: { title: text("t"), text: text(x(301)), confirm: text("y"), deny: text("n") } }))],
    "/blocks/0/elements/0/confirm/text/text",
  ],
  [
    "11 context elements",
    [{ type: "context", elements: Array.from({ length: 11 }, () => text("x")) }],
    "/blocks/0/elements",
  ],
  [
    "6 overflow options",
    [
      actions({
        type: "overflow",
        action_id: "a",
        options: Array.from({ length: 6 }, (_, i) => ({ text: text("x"), value: `${i}` })),
      }),
    ],
    "/blocks/0/elements/0/options",
  ],
  [
    "101 options",
    [
      actions({
        type: "static_select",
        action_id: "a",
        options: Array.from({ length: 101 }, (_, i) => ({ text: text("x"), value: `${i}` })),
      }),
    ],
    "/blocks/0/elements/0/options",
  ],
  [
    "an option text of 76",
    [actions({ type: "static_select", action_id: "a", options: [{ text: text(x(76)), value: "1" }] })],
    "/blocks/0/elements/0/options/0/text/text",
  ],
  ["an input inside actions", [actions({ type: "plain_text_input", action_id: "a" })], "/blocks/0/elements/0/type"],
  ["rich text without elements", [rich()], "/blocks/0/elements"],
  ["text directly in rich text", [rich({ type: "text", text: "x" })], "/blocks/0/elements/0/type"],
  ["an empty rich text element", [rich(line({ type: "text", text: "" }))], "/blocks/0/elements/0/elements/0/text"],
  [
    "a mention in preformatted text",
    [rich({ type: "rich_text_preformatted", elements: [{ type: "user", user_id: "U1" }] })],
    "/blocks/0/elements/0/elements/0/type",
  ],
  [
    "a link to a script",
    [rich(line({ type: "link", url: "javascript:alert(1)" }))],
    "/blocks/0/elements/0/elements/0/url",
  ],
  [
    "markdown of 12,001 in two blocks",
    [
      { type: "markdown", text: x(6001) },
      { type: "markdown", text: x(6000) },
    ],
    "/blocks",
  ],
  [
    "two tables",
    Array.from({ length: 2 }, () => ({ type: "table", rows: [[{ type: "raw_text", text: "x" }]] })),
    "/blocks",
  ],
]

describe("blocks of a message", () => {
  test.each(taken)("%s: taken", (_what, blocks) => {
    expect(checkBlocks(blocks)).toMatchObject({ ok: true })
  })

  test.each(refused)("%s: refused, with the place", (_why, blocks, pointer) => {
    const checked = checkBlocks(blocks)
    expect(checked.ok ? [] : checked.faults.map((it) => it.pointer)).toContain(pointer)
  })

  test("every fault is told at once", () => {
    const checked = checkBlocks([section(""), section(x(3001))])
    expect(checked).toEqual({
      ok: false,
      faults: [
        { message: "must be more than 0 characters", pointer: "/blocks/0/text/text" },
        { message: "must be less than 3001 characters", pointer: "/blocks/1/text/text" },
      ],
    })
  })

  test("texts come back escaped, rich text as it is, and what has no id gets one", () => {
    const checked = checkBlocks([
      section("a & b <@U1> &amp; <c>"),
      { type: "section", text: mrkdwn("a & b <@U1> <https://x.y|z> &lt; <c>") },
      rich(line({ type: "text", text: "a & b <@U1>" })),
      actions({ ...button("x"), action_id: undefined }, button("a")),
    ])
    expect(checked).toMatchObject({
      ok: true,
      value: [
        { block_id: "block-1", text: { text: "a &amp; b &lt;@U1&gt; &amp; &lt;c&gt;" } },
        { block_id: "block-2", text: { text: "a &amp; b <@U1> <https://x.y|z> &lt; &lt;c&gt;" } },
        { elements: [{ elements: [{ text: "a & b <@U1>" }] }] },
        { elements: [{ action_id: "action-1" }, { action_id: "a" }] },
      ],
    })
  })

  test("the text of blocks is counted over all of them", () => {
    expect(blocksText([section(x(10)), actions(button("a")), rich(line({ type: "text", text: x(5) }))])).toBe(17)
  })
})

const modal = (more: Record<string, unknown> = {}) => ({ type: "modal", title: text("Title"), blocks: [], ...more })
const views: [why: string, view: unknown, pointer: string][] = [
  ["a title of 25", modal({ title: text(x(25)) }), "/view/title/text"],
  ["no title", modal({ title: undefined }), "/view/title"],
  ["a submit of 25", modal({ submit: text(x(25)) }), "/view/submit/text"],
  ["an input without submit", modal({ blocks: [input({ type: "plain_text_input", action_id: "a" })] }), "/view/submit"],
  ["101 blocks", modal({ blocks: Array.from({ length: 101 }, () => ({ type: "divider" })) }), "/view/blocks"],
  ["private_metadata of 3,001", modal({ private_metadata: x(3001) }), "/view/private_metadata"],
  ["a callback_id of 256", modal({ callback_id: x(256) }), "/view/callback_id"],
  ["an external_id of 256", modal({ external_id: x(256) }), "/view/external_id"],
  [
    "a max_length of 3,001",
    modal({ submit: text("Go"), blocks: [input({ type: "plain_text_input", action_id: "a", max_length: 3001 })] }),
    "/view/blocks/0/element/max_length",
  ],
  [
    "a repeated block_id",
    modal({
      blocks: [
        { type: "divider", block_id: "b" },
        { type: "divider", block_id: "b" },
      ],
    }),
    "/view/blocks/1/block_id",
  ],
  ["a home with a title", { type: "home", blocks: [], title: text("x") }, "/view"],
  ["an unknown kind", { type: "tab", blocks: [] }, "/view/type"],
]

describe("views", () => {
  test("a modal with 100 blocks and an input is taken, an alert as well", () => {
    const blocks = [
      ...Array.from({ length: 98 }, () => ({ type: "divider" })),
      { type: "alert", text: text("careful"), level: "warning" },
      input({ type: "plain_text_input", action_id: "a" }),
    ]
    expect(checkView(modal({ submit: text("Go"), blocks }))).toMatchObject({ ok: true })
  })

  test.each(views)("%s: refused, with the place", (_why, view, pointer) => {
    const checked = checkView(view)
    expect(checked.ok ? [] : checked.faults.map((it) => it.pointer)).toContain(pointer)
  })
})
