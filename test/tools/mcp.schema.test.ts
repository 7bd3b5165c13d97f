import { describe, expect, test } from "vitest"
import { checkArgs, defineTool } from "../../src/agent/tool.ts"
import { resultOf } from "../../src/tools/mcp/result.ts"
import { tame } from "../../src/tools/mcp/schema.ts"

function checked(schema: unknown, args: unknown): string | undefined {
  const tamed = tame(schema)
  if (!tamed.ok) throw new Error(tamed.fault)
  return checkArgs(defineTool({ name: "t", description: "d", inputSchema: tamed.schema, run: () => "" }), args)
}

const chain = Object.fromEntries(
  Array.from({ length: 30 }, (_, at) => [
    `a${at}`,
    { allOf: [{ $ref: `#/$defs/a${at + 1}` }, { $ref: `#/$defs/a${at + 1}` }] },
  ]),
)

describe("a schema of a stranger", () => {
  test.each<[string, unknown, unknown, boolean]>([
    [
      "keeps what says something of values",
      { type: "object", properties: { n: { type: "integer", minimum: 2 } } },
      { n: 1 },
      false,
    ],
    ["tries no pattern", { properties: { s: { pattern: "^(a+)+$" } } }, { s: `${"a".repeat(50_000)}!` }, true],
    [
      "tries no pattern of a name",
      { patternProperties: { "^(a+)+$": { type: "null" } }, additionalProperties: false },
      { [`${"a".repeat(1000)}!`]: 1 },
      true,
    ],
    [
      "compares no thousands with each other",
      { properties: { l: { uniqueItems: true } } },
      { l: Array.from({ length: 30_000 }, () => ({})) },
      true,
    ],
    [
      "resolves what it refers to",
      { properties: { a: { $ref: "#/$defs/n" } }, $defs: { n: { type: "number" } } },
      { a: "x" },
      false,
    ],
    [
      "resolves what is beside a reference, too",
      { properties: { a: { $ref: "#/$defs/n", minimum: 5 } }, $defs: { n: { type: "number" } } },
      { a: 4 },
      false,
    ],
    [
      "takes anything where it leads to itself",
      { properties: { a: { $ref: "#/properties/b" }, b: { $ref: "#/properties/a" } } },
      { a: 1 },
      true,
    ],
    [
      "reads a tree as deep as it can",
      {
        properties: { t: { $ref: "#/$defs/t" } },
        $defs: { t: { type: "object", properties: { t: { $ref: "#/$defs/t" } } } },
      },
      { t: { t: 5 } },
      true,
    ],
    ["fetches nothing", { properties: { a: { $ref: "https://evil.example/schema.json" } } }, { a: 1 }, true],
    [
      "is not tried twice as often at each step",
      { properties: { a: { $ref: "#/$defs/a0" } }, $defs: { ...chain, a30: { type: "string" } } },
      { a: 1 },
      true,
    ],
    [
      "does not forbid what a pattern would have excluded from a no",
      { properties: { a: { not: { pattern: "x" } } } },
      { a: "y" },
      true,
    ],
    [
      "takes a choice that it can't tell apart",
      { properties: { a: { oneOf: [{ pattern: "^a" }, { pattern: "^b" }] } } },
      { a: "a" },
      true,
    ],
    [
      "has all that a choice at its top names",
      {
        oneOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "string" } } }],
      },
      { b: 5 },
      false,
    ],
  ])(
    "%s",
    (_, schema, args, isFine) => {
      expect(checked(schema, args) === undefined).toBe(isFine)
    },
    5000,
  )

  test("tells the model the pattern that is not tried", () => {
    const tamed = tame({ properties: { s: { type: "string", description: "a name", pattern: "^a+$" } } })
    expect(tamed).toEqual({
      ok: true,
      schema: { type: "object", properties: { s: { type: "string", description: "a name · pattern: ^a+$" } } },
    })
  })
})

describe("a result", () => {
  const plain = (answer: Record<string, unknown>) => resultOf(answer, (text) => text)
  const text = (words: string) => ({ type: "text", text: words })

  test.each<[string, Record<string, unknown>, string]>([
    ["texts, one a line", { content: [text("a"), text("b")] }, "a\nb"],
    ["structured content", { content: [], structuredContent: { a: [1] } }, '{"a":[1]}'],
    [
      "structured content that a text repeats",
      { content: [text('{ "b": 2, "a": 1 }')], structuredContent: { a: 1, b: 2 } },
      '{ "b": 2, "a": 1 }',
    ],
    [
      "a picture, said",
      { content: [{ type: "image", mimeType: "image/png", data: "A".repeat(16_000) }] },
      "[image image/png, 12 kB, left out]",
    ],
    [
      "a sound, said",
      { content: [{ type: "audio", mimeType: "audio/wav", data: "AAAA" }] },
      "[audio audio/wav, 3 bytes, left out]",
    ],
    [
      "a resource of text",
      { content: [{ type: "resource", resource: { uri: "file:///a", text: "inside" } }] },
      "[resource file:///a]\ninside",
    ],
    [
      "a resource of bytes",
      { content: [{ type: "resource", resource: { uri: "file:///a", mimeType: "x/y", blob: "AAAA" } }] },
      "[resource file:///a, x/y, 3 bytes, left out]",
    ],
    [
      "a link",
      { content: [{ type: "resource_link", name: "a\nb", uri: "file:///a" }] },
      "[link to a resource: a b, file:///a]",
    ],
    [
      "what is new",
      { content: [{ type: "hologram" }, 5] },
      "[a part of type hologram, left out]\n[a part that can't be read, left out]",
    ],
    ["what can't be seen", { content: [text("a\u0000b\u001b[2J\u{e0041}c\n\td")] }, "a\ufffdb\ufffd[2J\ufffdc\n\td"],
  ])("has %s", (_, answer, output) => {
    expect(plain(answer)).toEqual({ output, isError: false })
  })

  test("that is an error is one, and one that is too long is cut with a mark", () => {
    expect(plain({ content: [text("no")], isError: true })).toEqual({ output: "no", isError: true })
    const { output } = plain({ content: [text("x".repeat(300_000))] })
    expect(output).toHaveLength(100_000 + "\n[cut here: it has 300000 characters in all]".length)
  })
})
