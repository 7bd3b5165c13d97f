import { describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import { checkArgs, createToolkit, defineTool, toolOf } from "../../src/agent/tool.ts"

const zodTool = (inputSchema: z.ZodType) => defineTool({ name: "t", description: "d", inputSchema, run: () => "" })
const fault = (schema: z.ZodType, args: unknown): string | undefined => checkArgs(zodTool(schema), args)

describe("the args of a tool have the types", () => {
  test("of its zod schema", async () => {
    const inputSchema = z.object({ service: z.enum(["web", "api"]), count: z.int().optional() })
    const tool = defineTool({
      name: "scale",
      description: "d",
      inputSchema,
      summary: ({ service }) => `Scale ${service}`,
      run(args, ctx) {
        expectTypeOf(args).toEqualTypeOf<{ service: "web" | "api"; count?: number | undefined }>()
        expectTypeOf(ctx.callId).toEqualTypeOf<string | undefined>()
        return `${args.service} ${args.count ?? 1}`
      },
    })
    const kit = await createToolkit({ extraTools: [tool] })
    expect(await kit.execute("scale", { service: "web", count: 2 })).toEqual({ output: "web 2", isError: false })
    expect(tool.summary?.({ service: "web" })).toBe("Scale web")
    expect(tool.inputSchema).toEqual({
      type: "object",
      properties: {
        service: { type: "string", enum: ["web", "api"] },
        count: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      },
      required: ["service"],
      additionalProperties: false,
    })
  })

  test("of a JSON Schema that is written out", () => {
    defineTool({
      name: "t",
      description: "d",
      inputSchema: {
        type: "object",
        properties: {
          env: { enum: ["prod", "test"] },
          tags: { type: "array", items: { type: "string" } },
          at: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
          dry: { const: true },
        },
        required: ["env"],
      },
      run(args) {
        expectTypeOf(args.env).toEqualTypeOf<"prod" | "test">()
        expectTypeOf(args.tags).toEqualTypeOf<string[] | undefined>()
        expectTypeOf(args.at?.n).toEqualTypeOf<number | undefined>()
        expectTypeOf(args.dry).toEqualTypeOf<true | undefined>()
      },
    })
    const schema: Record<string, unknown> = { type: "object" }
    defineTool({
      name: "t",
      description: "d",
      inputSchema: schema,
      run: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>(),
    })
    defineTool({
      name: "t",
      description: "d",
      run: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>(),
    })
  })
})

describe("zod's schema", () => {
  test("checks beyond what JSON Schema can say", () => {
    const schema = z
      .object({ from: z.int(), to: z.int(), mail: z.email().optional() })
      .refine(({ from, to }) => from < to, { error: "from must be before to" })
    expect(fault(schema, { from: 1, to: 2 })).toBeUndefined()
    expect(fault(schema, { from: 2, to: 1 })).toBe("invalid arguments for t: the arguments: from must be before to")
    expect(fault(schema, { from: 1, to: 2, mail: "x" })).toMatch(/^invalid arguments for t: mail must match/)
    expect(fault(schema, { from: 1, to: 2, more: 1 })).toMatch(/must NOT have additional properties: "more"/)
  })

  test("never makes of args what no card has shown", () => {
    expect(fault(z.object({ env: z.string().default("prod") }), {})).toMatch(/must have required property 'env'/)
    expect(fault(z.object({ env: z.string().trim().toLowerCase() }), { env: " Prod" })).toBe(
      'invalid arguments for t: they must be as they will be used: {"env":"prod"}',
    )
    expect(fault(z.object({ env: z.string().trim().toLowerCase() }), { env: "prod" })).toBeUndefined()
    expect(fault(z.object({ n: z.number().catch(5) }), { n: "x" })).toMatch(/n must be number/)
    expect(fault(z.looseObject({ n: z.number() }), { n: 1, more: { a: 1 } })).toBeUndefined()
  })

  test("that fails to check lets nothing pass", () => {
    expect(
      fault(
        z.object({ n: z.number() }).refine(async () => true),
        { n: 1 },
      ),
    ).toMatch(/belongs into its run/)
    const throwing = z.object({ n: z.number() }).refine(() => {
      throw new Error("secret place")
    })
    expect(fault(throwing, { n: 1 })).toBe("invalid arguments for t: the tool's schema could not check them")
  })

  test.each<[string, unknown, RegExp]>([
    [
      "a transform",
      z.object({ n: z.string().transform(Number) }),
      /can't be shown to a model .*: take it as JSON, and convert it in run/,
    ],
    ["a date", z.object({ at: z.date() }), /can't be shown to a model/],
    ["no object", z.string(), /inputSchema must have type "object"/],
    ["zod 3's", Object.assign(Object.create({ parse: () => 1 }), { _def: {} }), /is of zod 3/],
    ["something like zod's", { _zod: 1, type: "string" }, /must have type "object"/],
  ])("with %s is refused", (_, inputSchema, words) => {
    expect(() => toolOf({ name: "t", description: "d", inputSchema, run: () => "" })).toThrow(words)
  })
})

describe("a check of the tool's own", () => {
  const tool = (check: (args: Record<string, unknown>) => unknown) =>
    toolOf({ name: "t", description: "d", inputSchema: { type: "object" }, check, run: () => "" })

  test.each<[string, (args: Record<string, unknown>) => unknown, string | undefined]>([
    ["says nothing", () => undefined, undefined],
    ["says what is wrong", ({ n }) => `n is ${String(n)}`, "invalid arguments for t: n is 1"],
    ["throws", () => { throw new Error("no list") }, "invalid arguments for t: they could not be checked: no list"], // prettier-ignore
    ["takes its time", async () => undefined, "invalid arguments for t: they could not be checked in time"],
  ])("that %s", (_, check, words) => {
    expect(checkArgs(tool(check), { n: 1 })).toBe(words)
  })

  test("comes along with a tool of another copy of the library", () => {
    const own = zodTool(z.object({ n: z.number() }).refine(({ n }) => n > 1, { error: "too small" }))
    expect(checkArgs(toolOf({ ...own }), { n: 1 })).toBe("invalid arguments for t: the arguments: too small")
  })
})
