import type { InputBlock } from "@slack/types"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { answerSchemaFault, validateAnswerData } from "../../../src/core/answer-schema.ts"
import { fieldsOf, readFields, type Blocks } from "../../../src/slack/blocks/fields.ts"
import { editFields, readEdit } from "../../../src/slack/blocks/fields/edit.ts"
import { questionBlocks, readQuestions } from "../../../src/slack/blocks/fields/questions.ts"
import { fill, type Given } from "../../../src/sandbox/form.ts"
import { checkView } from "../../../src/sandbox/validate.ts"
import { hostile, nodes } from "./hostile.ts"

type Schema = Record<string, unknown>
const form = (properties: Schema, more: Schema = {}): Schema => ({ type: "object", properties, ...more })
const one = (field: Schema, more: Schema = {}): Schema => form({ x: field }, more)

/** The blocks as Slack keeps them. */
function kept(made: Blocks | { ok: boolean; blocks?: InputBlock[] }) {
  if (!made.ok || !("blocks" in made) || made.blocks === undefined) throw new Error(JSON.stringify(made))
  const view = { type: "modal", title: plain("Form"), submit: plain("Send"), blocks: made.blocks }
  const checked = checkView(JSON.parse(JSON.stringify(view)))
  expect(checked).toMatchObject({ ok: true })
  return checked.ok ? checked.value.blocks : []
}

const plain = (text: string) => ({ type: "plain_text", text })
const element = (made: Blocks, index = 0): InputBlock["element"] => {
  kept(made)
  if (!made.ok) throw new Error(made.why)
  const block = made.blocks[index]
  if (block === undefined) throw new Error("no block")
  return block.element
}
const blockOf = (made: Blocks): InputBlock => {
  if (!made.ok || made.blocks[0] === undefined) throw new Error("no block")
  return made.blocks[0]
}

const idOf = (made: { ok: boolean; blocks?: InputBlock[] }, index: number): string =>
  made.blocks?.[index]?.block_id ?? `no block ${index}`
/** With `f0`, `f1` and so on for the block ids in this order, which say more than that. */
const named = (made: { ok: boolean; blocks?: InputBlock[] }, state: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(state).map(([key, value]) => [idOf(made, Number(key.slice(1))), value]))
/** What was read, with the errors by `f0`, `f1` and so on. */
function short<R extends { ok: boolean }>(answer: R): R | { ok: false; errors: Record<string, unknown> } {
  if (!("errors" in answer) || typeof answer.errors !== "object" || answer.errors === null) return answer
  return {
    ok: false,
    errors: Object.fromEntries(Object.entries(answer.errors).map(([id, error]) => [id.replace(/-.*/, ""), error])),
  }
}

/** `state.values` when this was typed or chosen, in the order of the fields; undefined leaves one as it is. */
const typed = (made: Blocks, ...said: unknown[]): Given =>
  fill(
    kept(made),
    Object.fromEntries(said.flatMap((one, index) => (one === undefined ? [] : [[idOf(made, index), { v: one }]]))),
  )
const read = (schema: Schema, ...said: unknown[]) => short(readFields(schema, typed(fieldsOf(schema), ...said)))
const readState = (schema: Schema, state: Record<string, unknown>, given?: Schema) =>
  short(readFields(schema, named(fieldsOf(schema, given), state), given))

describe("the field of a schema", () => {
  test.each<[string, Schema, Schema]>([
    ["a short text", { type: "string", minLength: 2, maxLength: 9 }, { type: "plain_text_input", multiline: false, min_length: 2, max_length: 9 }],
    ["a text of any length", { type: "string" }, { type: "plain_text_input", multiline: true, max_length: 3000 }],
    ["a text longer than a form takes", { type: "string", maxLength: 9000 }, { type: "plain_text_input", multiline: true, max_length: 3000 }],
    ["an e-mail address", { type: "string", format: "email" }, { type: "email_text_input" }],
    ["a web address", { type: "string", format: "uri", default: "https://a.example" }, { type: "url_text_input", initial_value: "https://a.example" }],
    ["an address that Slack takes for none", { type: "string", format: "uri", default: "urn:x:y" }, { type: "plain_text_input", initial_value: "urn:x:y" }],
    ["a day", { type: "string", format: "date", default: "2026-10-01" }, { type: "datepicker", initial_date: "2026-10-01" }],
    ["an instant", { type: "string", format: "date-time" }, { type: "plain_text_input", multiline: false }],
    ["a whole number", { type: "integer", minimum: 0.5, maximum: 9, default: 3 }, { type: "number_input", is_decimal_allowed: false, min_value: "1", max_value: "9", initial_value: "3" }],
    ["a number", { type: "number", minimum: 1e-7, default: 1e21 }, { type: "number_input", is_decimal_allowed: true, min_value: "0.0000001", initial_value: "1000000000000000000000" }],
    ["yes or no", { type: "boolean", default: false }, { type: "radio_buttons", options: [{ text: { ...plain("Yes"), emoji: false }, value: "0" }, { text: { ...plain("No"), emoji: false }, value: "1" }], initial_option: { text: plain("No") } }],
    ["few choices", { enum: ["a", "b"], default: "b" }, { type: "radio_buttons", initial_option: { text: plain("b"), value: "1" } }],
    ["many choices", { enum: [1, 2, 3, 4, 5, 6], default: 6 }, { type: "static_select", initial_option: { text: plain("6") } }],
    ["several of few", { type: "array", items: { enum: ["a", "b"] }, default: ["b"] }, { type: "checkboxes", initial_options: [{ text: plain("b") }] }],
    ["several of few, not all", { type: "array", items: { enum: ["a", "b"] }, maxItems: 1 }, { type: "multi_static_select", max_selected_items: 1 }],
    ["several of many", { type: "array", items: { enum: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] } }, { type: "multi_static_select" }],
  ])("%s", (_, field, expected) => {
    expect(element(fieldsOf(one(field)))).toMatchObject(expected)
  }) // prettier-ignore

  test("is required as the schema says, and named by its title", () => {
    const named = form({ env: { type: "string", title: "Where?", description: "The target." } }, { required: ["env"] })
    expect(fieldsOf(named)).toEqual({
      ok: true,
      blocks: [
        {
          type: "input",
          block_id: expect.stringMatching(/^f0-[0-9a-f]{8}$/) as string,
          label: { type: "plain_text", text: "Where?", emoji: false },
          hint: { type: "plain_text", text: "The target.", emoji: false },
          optional: false,
          element: { type: "plain_text_input", action_id: "v", multiline: true, max_length: 3000 },
        },
      ],
    })
    expect(blockOf(fieldsOf(one({ type: "string" })))).toMatchObject({ label: { text: "x" }, optional: true })
  })

  test("says the rules that its input doesn't show", () => {
    const hint = (field: Schema) => blockOf(fieldsOf(one(field))).hint?.text
    expect(hint({ type: "string", pattern: "^v\\d+$", description: "A tag." })).toBe("A tag. It must match ^v\\d+$")
    expect(hint({ type: "number", exclusiveMinimum: 0, multipleOf: 0.5 })).toBe("More than 0. A multiple of 0.5.")
    expect(hint({ type: "array", items: { enum: ["a", "b"] }, minItems: 1, maxItems: 2 })).toBe(
      "Choose at least 1. Choose at most 2.",
    )
    expect(hint({ type: "string", format: "date-time" })).toMatch(/zone/)
    expect(hint({ type: "string" })).toBeUndefined()
  })

  test("titles stand for values, which are said beside them", () => {
    const titled = {
      oneOf: [
        { const: "#f00", title: "Red" },
        { const: "blue", title: "blue" },
      ],
      type: "string",
    }
    expect(element(fieldsOf(one(titled)))).toMatchObject({
      options: [
        { text: plain("Red"), value: "0", description: plain("#f00") },
        { text: plain("blue"), value: "1" },
      ],
    })
    expect(read(one(titled), "0")).toEqual({ ok: true, data: { x: "#f00" } })
    const listed = {
      type: "array",
      items: {
        anyOf: [
          { const: 1, title: "Mon" },
          { const: 2, title: "Tue" },
        ],
      },
    }
    expect(read(one(listed), ["1", "0"])).toEqual({ ok: true, data: { x: [1, 2] } })
    expect(read(one({ enum: [0, 1], enumNames: ["None", "One"] }), "0")).toEqual({ ok: true, data: { x: 0 } })
  })

  test("choices that differ by blanks or kind can be told apart", () => {
    const texts = (values: unknown[]) => {
      const made = element(fieldsOf(one({ enum: values })))
      return "options" in made ? made.options?.map(({ text }) => text.text) : []
    }
    expect(texts(["a", "a ", ""])).toEqual(["a", '"a "', '""'])
    expect(texts(["1", 1])).toEqual(['"1"', "1"])
    expect(texts(["a\u202eb"])).toEqual(['"a\\u202eb"'])
  })

  test("names of any kind are no ids, and foreign words are plain text", () => {
    const names = ["__proto__", "constructor", "", "  ", "<!channel>", "a".repeat(5000), "x\n*Approved*"]
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]))
    const made = fieldsOf(form(properties))
    expect(kept(made).every(({ block_id }) => /^f\d-[0-9a-f]{8}$/.test(block_id ?? ""))).toBe(true)
    const labels = made.ok ? made.blocks.map(({ label }) => label.text) : []
    expect(labels.slice(2, 5)).toEqual(["(no name)", "(no name)", "<!channel>"])
    expect(labels[6]).toBe("x ⏎ *Approved*")
    const data = readFields(form(properties), typed(made, "a", "b", "c", "d", "e", "f", "g"))
    expect(data.ok ? Object.entries(data.data).map(([, value]) => value) : data).toEqual([
      "a",
      "b",
      "c",
      "d",
      "e",
      "f",
      "g",
    ])
  })

  test("nothing foreign becomes more than plain text", () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (name, title, choice) => {
        const made = fieldsOf(form({ [name]: { enum: [choice, "b"], title, description: title, enumNames: [title] } }))
        if (!made.ok) return
        kept(made)
        const texts = nodes(made.blocks).filter(({ text }) => typeof text === "string")
        expect(texts.every(({ type, emoji }) => type === "plain_text" && emoji === false)).toBe(true)
        // eslint-disable-next-line no-control-regex
        expect(texts.some(({ text }) => /[\n\u202e\u200b]/.test(String(text)))).toBe(false)
      }),
    )
  })

  test("secrets in foreign words are masked, and a default that holds one isn't shown", () => {
    const secret = `ghp_${"a1B2".repeat(9)}`
    const made = fieldsOf(one({ type: "string", title: `For ${secret}`, description: secret, default: secret }))
    expect(JSON.stringify(made)).not.toContain(secret)
  })
})

describe("what a modal can't hold is said", () => {
  const long = "x".repeat(3001)
  test.each<[RegExp, Schema, Schema?]>([
    [/91 fields/, form(Object.fromEntries(Array.from({ length: 91 }, (_, n) => [`f${n}`, { type: "string" }])))],
    [/“x” has 101 choices/, one({ enum: Array.from({ length: 101 }, (_, n) => n) })],
    [/“x” has a choice/, one({ enum: ["a".repeat(151)] })],
    [/“x” has a choice/, one({ enum: ["a"], enumNames: ["\t "] })],
    [/look the same/, one({ enum: ["a", "a"] })],
    [/“x” needs 3001/, one({ type: "string", minLength: 3001 })],
    [/no number at all/, one({ type: "integer", minimum: 2, maximum: 1 })],
    [/“x” has more than 3,000/, one({ type: "string" }), { x: long }],
    [/“x” has characters that can't be seen/, one({ type: "string" }), { x: "a\u202eb" }],
    [/“x” has line breaks of several kinds/, one({ type: "string" }), { x: "a\r\nb\n" }],
    [/“x” has a choice twice/, one({ type: "array", items: { enum: ["a"] } }), { x: ["a", "a"] }],
    [/flat/, one({ type: "object", properties: {} })],
    [/authorization/, one({ type: "string", title: "Your password" })],
    [/more than a form holds/, form(Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`f${n}`, { enum: Array.from({ length: 100 }, (_, m) => `${m}${"y".repeat(60)}`) }])))],
  ])("%s", (why, schema, given) => {
    const made = fieldsOf(schema, given)
    expect(made).toMatchObject({ ok: false, why: expect.stringMatching(why) as string })
    expect(readFields(schema, {}, given)).toMatchObject({ ok: false, errors: { f0: expect.stringMatching(why) as string } })
  }) // prettier-ignore

  test("the same values look the same only when titles differ", () => {
    // Titles alike, but the values beside them differ.
    expect(fieldsOf(one({ enum: ["a", "b"], enumNames: ["Same", "Same"] })).ok).toBe(true)
  })

  test("a default that isn't one, or can't be shown, is left out", () => {
    for (const start of [long, "a\u200bb", 5, null]) {
      expect(element(fieldsOf(one({ type: "string", default: start })))).not.toHaveProperty("initial_value")
    }
    expect(element(fieldsOf(one({ enum: ["a"], default: "b" })))).not.toHaveProperty("initial_option")
  })
})

describe("what was filled in", () => {
  test("falsy answers are answers; an empty optional field is none", () => {
    const schema = form({
      n: { type: "integer" },
      no: { type: "boolean" },
      empty: { type: "string", default: "" },
      zero: { enum: [0, ""] },
      left: { type: "string" },
      many: { type: "array", items: { enum: ["a"] } },
    })
    expect(read(schema, "0", "1", undefined, "0", "", [])).toEqual({
      ok: true,
      data: { n: 0, no: false, empty: "", zero: 0 },
    })
    expect(read(one({ type: "array", items: { enum: ["a"] } }, { required: ["x"] }), [])).toEqual({
      ok: true,
      data: { x: [] },
    })
    expect(read(one({ type: "string" }, { required: ["x"] }), "")).toMatchObject({
      errors: { f0: "Please answer this." },
    })
  })

  test.each<[string, unknown]>([
    ["0", 0], ["-0", 0], ["+7", 7], [" 12 ", 12], ["1e3", 1000], [".5", 0.5], ["5.", 5], ["007", 7], ["0.1", 0.1], ["\u22125", -5],
    ["1.50", 1.5], ["1e21", 1e21], ["9007199254740992", 9007199254740992],
    ["9007199254740993", /more digits than can be kept: it would become 9007199254740992\./],
    ["0.1234567890123456789", /more digits/], ["1e400", /can't be kept/], ["1e-400", /it would become 0\./],
    ["1,5", /such as 1500 or 0.5/], ["1 000", /such as/], ["abc", /such as/], ["-", /such as/], ["0x10", /such as/], ["Infinity", /such as/],
    ["1".repeat(500), /such as/],
  ])("the number %j", (text, expected) => {
    const schema = one({ type: "number" })
    const answer = readState(schema, { f0: { v: { type: "number_input", value: text } } })
    if (expected instanceof RegExp) expect(answer).toMatchObject({ errors: { f0: expect.stringMatching(expected) as string } })
    else expect(answer).toEqual({ ok: true, data: { x: expected } })
    expect(Object.is("data" in answer && answer.data["x"], -0)).toBe(false)
  }) // prettier-ignore

  test.each<[Schema, string, string]>([
    [{ type: "integer" }, "1.5", "This must be a whole number."],
    [{ type: "integer", minimum: 3 }, "2", "This must be at least 3."],
    [{ type: "string", minLength: 3 }, "ab", "This must have at least 3 characters."],
    [{ type: "string", pattern: "^v\\d+$" }, "x", "This must match ^v\\d+$."],
    [{ type: "string", format: "email" }, "nobody", "This must be an e-mail address."],
    [{ type: "string", format: "uri" }, "x", "This must be an address such as https://example.com."],
    [{ type: "string", format: "date-time" }, "2026-10-01T12:00:00", "This must be a time with a zone, such as 2026-10-01T12:00:00Z."],
    [{ type: "string" }, "a\ud83d", "This has half a character in it. Please type it again."],
  ])("%j: %j is refused at its field", (field, said, error) => {
    const schema = form({ first: { type: "boolean" }, x: field })
    expect(readState(schema, { f1: { v: { value: said } } })).toEqual({ ok: false, errors: { f1: error } })
  }) // prettier-ignore

  test("a state of any shape is read without a throw", () => {
    const schema = form({ a: { type: "string" }, b: { enum: ["x"] }, c: { type: "array", items: { enum: ["x"] } } })
    fc.assert(
      fc.property(
        // With a name like those of our blocks it would be an answer to another form.
        fc.anything().filter((any) => !/"f\d+-/.test(JSON.stringify(Object.keys(any ?? {})))),
        fc.dictionary(fc.constantFrom("f0", "f1", "f2"), fc.dictionary(fc.constant("v"), fc.anything())),
        (any, state) => {
          expect(readFields(schema, any)).toEqual({ ok: true, data: {} })
          expect([true, false]).toContain(readState(schema, state).ok)
        },
      ),
    )
    expect(readFields(schema, { "f0-": {} })).toMatchObject({ ok: false })
    const forged = {
      f1: { v: { selected_option: { value: "7" } } },
      f2: { v: { selected_options: [{ value: "__proto__" }] } },
    }
    expect(readState(schema, forged)).toEqual({ ok: true, data: {} })
  })
})

describe("a field that was left as it was", () => {
  test.each(["a\r\nb\r\n", "git ", "  x", "\n", "a\tb", "", "   ", "👩‍💻 ok 🚀"])(
    "%j is the same to the byte",
    (text) => {
      const schema = one({ type: "string" }, { required: ["x"] })
      const made = fieldsOf(schema, { x: text })
      expect(readFields(schema, typed(made), { x: text })).toEqual({ ok: true, data: { x: text } })
      // What clients make of it by themselves: other line breaks, no blanks at the ends.
      for (const left of [text.replaceAll("\r\n", "\n"), text.replaceAll("\r\n", "\n").trim(), text.trimEnd()]) {
        expect(readState(schema, { f0: { v: { value: left === "" ? null : left } } }, { x: text })).toEqual({
          ok: true,
          data: { x: text },
        })
      }
    },
  )

  test("what was typed into it is what counts, with the line breaks that it had", () => {
    const schema = one({ type: "string" })
    const says = (given: string, value: string) => readState(schema, { f0: { v: { value } } }, { x: given })
    expect(says("git ", "git  ")).toEqual({ ok: true, data: { x: "git  " } })
    expect(says("a", " a")).toEqual({ ok: true, data: { x: " a" } })
    expect(says("a\r\nb", "a\nc")).toEqual({ ok: true, data: { x: "a\r\nc" } })
    expect(says("a\nb", "a\nc")).toEqual({ ok: true, data: { x: "a\nc" } })
    expect(says("go 🚀", "go now 🚀")).toEqual({ ok: true, data: { x: "go now 🚀" } })
    expect(says("go 🚀", "go")).toEqual({ ok: true, data: { x: "go" } })
  })

  test("an emoji that came back as a word is never taken for what was meant", () => {
    const back = readState(one({ type: "string" }), { f0: { v: { value: "go :rocket:" } } }, { x: "go 🚀" })
    expect(back).toMatchObject({ ok: false, errors: { f0: expect.stringMatching(/emoji.*:rocket:/) as string } })
  })

  test("a list keeps its order as long as it has the same choices", () => {
    const schema = one({ type: "array", items: { enum: ["a", "b", "c"] } })
    const made = fieldsOf(schema, { x: ["c", "a"] })
    expect(readFields(schema, typed(made), { x: ["c", "a"] })).toEqual({ ok: true, data: { x: ["c", "a"] } })
    expect(readFields(schema, typed(made, ["2", "1"]), { x: ["c", "a"] })).toEqual({
      ok: true,
      data: { x: ["b", "c"] },
    })
  })
})

/** Schemas with data that they allow. */
const plainText = fc.string({ unit: fc.constantFrom(...Array.from("abcXYZ019 .-_/é😀")), maxLength: 30 })
const scalars = fc.uniqueArray(
  fc.oneof(
    plainText,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n || 0),
  ),
  {
    minLength: 1,
    maxLength: 12,
  },
)
const fieldWithData: fc.Arbitrary<{ field: Schema; value: unknown }> = fc.oneof(
  fc
    .string({ unit: "grapheme", maxLength: 40 })
    .map((value) => ({ field: { type: "string" }, value: value as unknown })),
  fc.tuple(plainText, fc.nat(5), fc.nat(50)).map(([value, less, more]) => {
    const length = Array.from(value).length
    return { field: { type: "string", minLength: Math.max(0, length - less), maxLength: length + more }, value }
  }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => ({ field: { type: "number" }, value: n || 0 })),
  fc
    .tuple(fc.maxSafeInteger(), fc.nat(9))
    .map(([n, room]) => ({ field: { type: "integer", minimum: n - room, maximum: n + room }, value: n })),
  fc.boolean().map((value) => ({ field: { type: "boolean" }, value })),
  fc
    .date({ min: new Date("1900-01-01"), max: new Date("2200-01-01"), noInvalidDate: true })
    .map((date) => ({ field: { type: "string", format: "date" }, value: date.toISOString().slice(0, 10) })),
  fc
    .date({ noInvalidDate: true, min: new Date("0001-01-01"), max: new Date("9999-12-31") })
    .map((date) => ({ field: { type: "string", format: "date-time" }, value: date.toISOString() })),
  fc.emailAddress().map((value) => ({ field: { type: "string", format: "email" }, value })),
  fc.webUrl().map((value) => ({ field: { type: "string", format: "uri" }, value })),
  scalars.chain((values) =>
    fc.constantFrom(...values).map((value) => ({ field: { enum: values }, value: value as unknown })),
  ),
  scalars.chain((values) =>
    fc
      .shuffledSubarray(values)
      .map((value) => ({ field: { type: "array", items: { enum: values } }, value: value as unknown })),
  ),
)
const filled = fc
  .dictionary(fc.string({ unit: "grapheme", maxLength: 12 }), fc.tuple(fieldWithData, fc.boolean(), fc.boolean()), {
    maxKeys: 8,
  })
  .map((fields) => {
    const all = Object.entries(fields)
    const used = all.filter(([, [, required, there]]) => required || there)
    return {
      schema: form(Object.fromEntries(all.map(([name, [{ field }]]) => [name, field])), {
        required: all.filter(([, [, required]]) => required).map(([name]) => name),
      }),
      data: Object.fromEntries(used.map(([name, [{ value }]]) => [name, value])),
    }
  })
  .filter(({ schema, data }) => answerSchemaFault("input", schema) === undefined && validateAnswerData(schema, data).ok)

describe("any schema with any data of it", () => {
  test("comes back from an untouched form as the same data, or has no form", () => {
    let forms = 0
    fc.assert(
      fc.property(filled, ({ schema, data }) => {
        const made = fieldsOf(schema, data)
        expect(made.ok ? "the same" : made.why).toMatch(/can't be seen|several kinds|a choice|the same/)
        if (!made.ok) return
        forms += 1
        expect(readFields(schema, typed(made), data)).toEqual({ ok: true, data })
      }),
      { numRuns: 150 },
    )
    expect(forms).toBeGreaterThan(100)
  })

  test("is what a person gets who fills it into an empty form", () => {
    fc.assert(
      fc.property(filled, ({ schema, data }) => {
        const made = fieldsOf(schema)
        const fields = Object.entries(schema["properties"] as Record<string, Schema>)
        const isRequired = (name: string) => (schema["required"] as string[]).includes(name)
        const typedIn = fields.map(([name, field]) =>
          Object.hasOwn(data, name) ? keysOf(field, data[name]) : undefined,
        )
        // Nobody can type an empty text into a field that must be filled.
        fc.pre(made.ok && fields.every(([name], index) => typedIn[index] !== "" || !isRequired(name)))
        const nothing = (name: string) => {
          const said = typedIn[fields.findIndex(([one]) => one === name)]
          return said === "" || (Array.isArray(said) && said.length === 0 && !isRequired(name))
        }
        const kept = Object.entries(data).filter(([name]) => !nothing(name))
        const inOrder = ([name, value]: [string, unknown]): [string, unknown] => {
          const listed = choices(fields.find(([one]) => one === name)?.[1] ?? {})
          return [name, Array.isArray(value) ? listed?.filter((one) => value.includes(one)) : value]
        }
        expect(readFields(schema, typed(made, ...typedIn))).toEqual({
          ok: true,
          data: Object.fromEntries(kept.map(inOrder)),
        })
      }),
      { numRuns: 150 },
    )
  })
})

const choices = (field: Schema) =>
  (field["enum"] ?? (field["items"] as Schema | undefined)?.["enum"]) as unknown[] | undefined

/** What a person types or chooses to say this. */
function keysOf(field: Schema, value: unknown): unknown {
  const listed = choices(field)
  if (field["type"] === "boolean") return value === true ? "0" : "1"
  if (listed === undefined) return String(value)
  return Array.isArray(value) ? value.map((one) => String(listed.indexOf(one))) : String(listed.indexOf(value))
}

describe("questions", () => {
  const questions = [
    { question: "Which one?", header: "Version", options: ["one", "two"] },
    { question: "Which ones?", options: ["a", "b", "c"], multiple: true },
    { question: "Why?" },
    { question: "And?", options: [{ label: "Keep it", description: "As it is" }, { label: "Drop it" }] },
  ]

  test("are asked each with its choices, or as a text", () => {
    const made = questionBlocks(questions)
    kept(made)
    expect(made).toMatchObject({
      blocks: [
        { label: plain("Which one?"), hint: plain("Version"), optional: false, element: { type: "radio_buttons" } },
        { label: plain("Which ones?"), optional: true, element: { type: "checkboxes" } },
        { label: plain("Why?"), optional: false, element: { type: "plain_text_input", multiline: true } },
        { element: { type: "radio_buttons", options: [{ text: plain("Keep it") }, { text: plain("Drop it") }] } },
      ],
    })
  })

  test("are answered in their order, in the words of the options", () => {
    expect(readQuestions(questions, typed(questionBlocks(questions), "1", ["0", "2"], "so <that>", "0"))).toEqual({
      ok: true,
      data: {
        answers: [
          { question: "Which one?", answer: "two" },
          { question: "Which ones?", answer: ["a", "c"] },
          { question: "Why?", answer: "so <that>" },
          { question: "And?", answer: "Keep it" },
        ],
      },
    })
  })

  test("none may be meant of several, but every other one wants an answer", () => {
    expect(short(readQuestions(questions, {}))).toEqual({
      ok: false,
      errors: { f0: "Please answer this.", f2: "Please answer this.", f3: "Please answer this." },
    })
  })

  test.each<[unknown, RegExp]>([
    [undefined, /can't be read/], [[], /can't be read/], ["Why?", /can't be read/], [[{ text: "Why?" }], /can't be read/],
    [[{ question: "Why?", options: [1] }], /can't be read/], [[{ question: "x".repeat(2000) }], /1,900 characters/],
    [[{ question: "What is your GitHub token?" }], /"authorization"/], [[{ question: "?", header: "Password" }], /"authorization"/],
    [[{ question: "Which?", options: ["a".repeat(151)] }], /a choice/],
  ])("no form of %j", (asked, why) => {
    expect(questionBlocks(asked)).toMatchObject({ ok: false, why: expect.stringMatching(why) as string })
    expect(readQuestions(asked, {})).toMatchObject({ ok: false })
  }) // prettier-ignore

  test("a choice between tokens is none of a credential, and an option given twice is one", () => {
    const made = questionBlocks([{ question: "Which token?", options: ["bot", "user", "bot"] }])
    expect(element(made)).toMatchObject({ options: [{ text: plain("bot") }, { text: plain("user") }] })
  })
})

describe("the form for args", () => {
  const schema = form(
    {
      service: { type: "string", description: "What to deploy." },
      replicas: { type: "integer", minimum: 1, maximum: 9 },
      env: { $ref: "#/$defs/env" },
      dry: { type: "boolean" },
      note: { anyOf: [{ type: "string", maxLength: 50 }, { type: "null" }] },
      zones: { type: "array", items: { enum: ["a", "b", "c"] } },
      target: form({ region: { type: "string" }, port: { type: ["integer", "null"] } }, { required: ["region"] }),
      kind: { const: "rolling" },
      token: { type: "string" },
    },
    {
      required: ["service", "env"],
      $defs: { env: { type: "string", enum: ["prod", "staging"], title: "Environment" } },
    },
  )
  const args = {
    service: "web\r\n",
    replicas: 3,
    env: "staging",
    dry: false,
    note: null,
    zones: ["c", "a"],
    target: { region: "eu ", port: null },
    kind: "rolling",
    extra: 1.5,
  }
  const labels = (made: ReturnType<typeof editFields>) => (made.ok ? made.blocks.map(({ label }) => label.text) : made)

  test("has a field for each value, with what it is now", () => {
    const made = editFields(schema, args)
    kept(made)
    expect(labels(made)).toEqual(["service", "replicas", "env", "dry", "note", "zones", "target.region", "target.port", "extra"])
    expect(made).toMatchObject({
      kept: ["kind"],
      blocks: [
        { optional: false, hint: { text: expect.stringMatching(/^What to deploy\. The blanks/) as string }, element: { initial_value: "web\r\n" } },
        { optional: true, element: { type: "number_input", is_decimal_allowed: false, min_value: "1", initial_value: "3" } },
        { optional: false, hint: { text: "Environment" }, element: { type: "radio_buttons", initial_option: { text: plain("staging") } } },
        { element: { type: "radio_buttons", initial_option: { text: plain("No") } } },
        { optional: true, element: { type: "plain_text_input", max_length: 50 } },
        { element: { type: "checkboxes", initial_options: [{ text: plain("a") }, { text: plain("c") }] } },
        { optional: false, element: { initial_value: "eu " } },
        { optional: true, element: { type: "number_input" } },
        { element: { type: "number_input", is_decimal_allowed: true, initial_value: "1.5" } },
      ],
    })
  }) // prettier-ignore

  test("changes what was changed, and nothing else", () => {
    const made = editFields(schema, args)
    const state = (...said: unknown[]) => typed(made, ...said)
    expect(readEdit(schema, args, [], state())).toEqual({ ok: true, args })
    expect(readEdit(schema, args, [], state("web", "4", "0", "0", "now", ["1"], "us", "80", "2"))).toEqual({
      ok: true,
      args: {
        service: "web\r\n",
        replicas: 4,
        env: "prod",
        dry: true,
        note: "now",
        zones: ["b"],
        target: { region: "us", port: 80 },
        kind: "rolling",
        extra: 2,
      },
    })
    expect(args.target.region).toBe("eu ")
  })

  test("an emptied value is gone, or nothing where the tool knows that", () => {
    const full = {
      service: "web",
      replicas: 3,
      env: "prod",
      note: "x",
      zones: ["a"],
      target: { region: "eu", port: 80 },
    }
    const made = editFields(schema, full)
    const state = typed(made, undefined, "", undefined, undefined, "", [], undefined, "")
    expect(readEdit(schema, full, [], state)).toEqual({
      ok: true,
      args: { service: "web", env: "prod", note: null, zones: [], target: { region: "eu", port: null } },
    })
    const forged = { f0: { v: { value: "" } }, f2: { v: { selected_option: null } } }
    expect(short(readEdit(schema, full, [], { ...state, ...named(made, forged) }))).toMatchObject({
      errors: { f0: "Please answer this.", f2: "Please answer this." },
    })
  })

  test("says at the field what the tool would not take", () => {
    const made = editFields(schema, args)
    expect(
      short(readEdit(schema, args, [], typed(made, undefined, "1.5", undefined, undefined, "x".repeat(51)))),
    ).toEqual({
      ok: false,
      errors: { f1: "This must be a whole number.", f4: "This must have at most 50 characters." },
    })
  })

  test("offers what the schema names and the args don't have, but no secret", () => {
    const made = editFields(schema, { service: "web", env: "prod" })
    expect(labels(made)).toEqual(["service", "replicas", "env", "dry", "note"])
    expect(readEdit(schema, { service: "web", env: "prod" }, [], typed(made))).toEqual({
      ok: true,
      args: { service: "web", env: "prod" },
    })
    expect(readEdit(schema, { service: "web", env: "prod" }, [], typed(made, undefined, "2", undefined, "1"))).toEqual({
      ok: true,
      args: { service: "web", env: "prod", replicas: 2, dry: false },
    })
  })

  test("doesn't offer what is masked, by a rule or as a secret, and leaves it as it is", () => {
    const secret = {
      url: "postgres://u:s3cr3tpw@h/db",
      password: "hunter2hunter2",
      pin: 1234,
      db: { password: 12345678 },
      headers: { auth: "x", "x.y": "z" },
      list: [{ deep: "x" }],
      open: "yes",
    }
    const made = editFields(form({}), secret, ["args.headers.*", "args.list.0.deep"])
    expect(made).toMatchObject({ ok: true, blocks: [{ label: plain("open") }] })
    expect(made.ok && made.kept.toSorted()).toEqual([
      "db.password",
      "headers.auth",
      "headers.x.y",
      "list",
      "password",
      "pin",
      "url",
    ])
    expect(readEdit(form({}), secret, ["args.headers.*", "args.list.0.deep"], typed(made, "no"))).toEqual({
      ok: true,
      args: { ...secret, open: "no" },
    })
    for (const mask of ["args", "args.*", "*", "open"]) {
      expect(editFields(form({}), { open: "yes" }, [mask])).toMatchObject({
        ok: false,
        why: expect.stringMatching(/nothing/) as string,
      })
    }
    // As the card reads a rule's paths: whatever their case, and with dots in names.
    for (const mask of ["args.Customer.name", "args.customer.NAME", "args.*.name", "args.customer"]) {
      const made = editFields(form({}), { Customer: { name: "Erika" }, open: "yes" }, [mask])
      expect([made.ok && made.kept.length, JSON.stringify(made)]).toEqual([1, expect.not.stringContaining("Erika")])
    }
    const dotted = editFields(form({}), { "a.b": { "c.d": "Erika" }, open: "yes" }, ["args.*.c.d"])
    expect(JSON.stringify(dotted)).not.toContain("Erika")
    expect(editFields(form({}), { args: { a: 1 }, b: 1 }, ["args.args.a"])).toMatchObject({
      ok: true,
      kept: ["args.a"],
    })
  })

  test.each<[RegExp, Schema]>([
    [/“hosts” is a list/, { hosts: ["a"] }],
    [/“hosts” is a list/, { hosts: [] }],
    [/“a.b.c.d.e.*too deep/, { a: { b: { c: { d: { e: { f: 1 } } } } } }],
    [/“text” has more than 3,000/, { text: "x".repeat(3001) }],
    [/“text” has characters that can't be seen/, { text: "a\u2066b" }],
    [/“text” has characters that can't be seen/, { text: "a\u00a0b" }],
    [/“text” has characters that can't be seen/, { text: "a\u0007b" }],
    [/“text” has line breaks of several kinds/, { text: "a\rb" }],
    [/“none” has no value/, { none: null }],
    [/nothing in it/, {}],
    [/nothing in it/, { a: {} }],
    [/91 fields/, Object.fromEntries(Array.from({ length: 91 }, (_, n) => [`f${n}`, n]))],
  ])("%s: no form", (why, odd) => {
    expect(editFields(form({}), odd)).toMatchObject({ ok: false, why: expect.stringMatching(why) as string })
    expect(readEdit(form({}), odd, [], {})).toMatchObject({ ok: false })
  }) // prettier-ignore

  test("a form that was opened for other fields changes nothing, and says so", () => {
    const before = form({ env: { enum: ["prod", "staging"] }, note: { type: "string" } })
    const after = form({ env: { enum: ["staging", "prod"] }, note: { type: "string" } })
    const values = { env: "staging", note: "x" }
    const state = typed(editFields(before, values), "0", "y")
    expect(readEdit(before, values, [], state)).toEqual({ ok: true, args: { env: "prod", note: "y" } })
    const [first = ""] = Object.keys(state)
    const stale = { ok: false, errors: { [first]: expect.stringMatching(/open it again/) as string } }
    expect(readEdit(after, values, [], state)).toEqual(stale)
    expect(readFields(after, state)).toEqual(stale)
    expect(readEdit(after, { list: [1] }, [], state)).toMatchObject({
      errors: { [first]: expect.stringMatching(/“list”/) as string },
    })
  })

  test("a name that is a secret isn't told either", () => {
    const secret = `ghp_${"a1B2".repeat(9)}`
    const made = editFields(form({}), { [secret]: "x", open: "y" }, [])
    expect(made.ok).toBe(true)
    expect(JSON.stringify(made)).not.toContain(secret)
  })

  test("a line gets one line, a longer text more", () => {
    const lines = (value: string) => element(editFields(form({}), { x: value }))
    expect(lines("git push")).toMatchObject({ multiline: false })
    expect(lines("a\nb")).toMatchObject({ multiline: true })
    expect(lines("x".repeat(61))).toMatchObject({ multiline: true })
  })

  test("schemas of any shape are read without a throw", () => {
    const odd = [
      form({ a: { $ref: "#/$defs/a" } }, { $defs: { a: { $ref: "#/properties/a" } } }),
      form({ a: { $ref: "https://x/y" } }),
      form({ a: { enum: [{ b: 1 }, "x"] } }),
      form({ a: { type: ["string", "number"] } }),
      form({ a: { allOf: [{ type: "string" }] } }),
      form({ a: { anyOf: [{ type: "string" }, { type: "number" }] } }),
      form({ a: true }),
      { type: "object", properties: { __proto__: { type: "string" } } },
      { allOf: [form({ a: { type: "string", enum: ["x", "y"] } })] },
      {},
    ]
    for (const schema of odd) {
      const made = editFields(schema, { a: "x" })
      expect(labels(made)).toEqual(["a"])
      expect(readEdit(schema, { a: "x" }, [], typed(made))).toEqual({ ok: true, args: { a: "x" } })
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const schema = { type: "object", properties: value } as Schema
        expect([true, false]).toContain(editFields(schema, { a: "x" }).ok)
      }),
    )
  })

  test("any args come back untouched to the byte, or have no form", () => {
    const values = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 2 },
        fc.string({ unit: "grapheme" }),
        fc.constantFrom("a\r\nb", "x ", "", " ", "git\t", "null", "9007199254740993", ...ODD),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n || 0),
        fc.boolean(),
        fc.dictionary(fc.string({ unit: "grapheme", maxLength: 8 }), tie("value"), { maxKeys: 3 }),
      ),
    })).value
    let forms = 0
    fc.assert(
      fc.property(fc.dictionary(fc.string({ maxLength: 8 }), values, { maxKeys: 5 }), (any) => {
        const made = editFields(form({}), any)
        if (!made.ok) return
        forms += 1
        expect(readEdit(form({}), any, [], typed(made))).toEqual({ ok: true, args: any })
      }),
      { numRuns: 150 },
    )
    expect(forms).toBeGreaterThan(50)
  })
})

const ODD = ["<@U1> & *b*", "{{x}}", "-1", "https://a.example/?a=b&c=d"]
