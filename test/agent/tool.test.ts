import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { ToolContext, ToolDefinition } from "../../src/agent/tool.ts"
import { checkArgs, createToolkit, defineTool, runTool, toolOf } from "../../src/agent/tool.ts"
import { answerOutput, pending, pendingOf } from "../../src/core/suspension.ts"

const run = (body: ToolDefinition["run"], more: Partial<ToolDefinition> = {}) =>
  runTool(defineTool({ name: "t", description: "d", run: body, ...more }), "{}")

describe("what a tool returns", () => {
  test.each([
    ["text", "text"],
    ["", ""],
    [undefined, ""],
    [null, "null"],
    [5, "5"],
    [{ a: [1] }, '{"a":[1]}'],
    [{ output: "x" }, '{"output":"x"}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["half \ud83d", "half \ufffd"],
  ])("%j is the output %j", async (value, output) => {
    expect(await run(() => value)).toEqual({ output, isError: false })
    expect(await run(async () => value)).toEqual({ output, isError: false })
  })

  test("a ToolResult passes through", async () => {
    const result = { output: "no", isError: true, metadata: { code: 5 } }
    expect(await run(() => result)).toEqual(result)
    expect(await run(() => ({ output: undefined, isError: false }))).toEqual({ output: "", isError: false })
  })

  test.each([
    [new Error("disk full"), "disk full"],
    [new TypeError(""), "TypeError"],
    ["just words", "just words"],
    [undefined, "the tool failed and did not say why"],
    [{ code: 5 }, "the tool failed and did not say why"],
  ])("a throw of %j is an error result", async (thrown, output) => {
    const throwing = () => {
      throw thrown
    }
    expect(await run(throwing)).toEqual({ output, isError: true })
  })

  test("a throw of what throws when it is looked at is one, too", async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    for (const thrown of [proxy, Object.assign(new Error("x"), { message: {} })]) {
      const throwing = () => {
        throw thrown
      }
      expect(await run(throwing)).toEqual({ output: "the tool failed and did not say why", isError: true })
    }
  })

  test.each([() => () => 1, () => 10n, () => Symbol("s")])(
    "what is neither text nor JSON is an error: case %#",
    async (body) => {
      expect(await run(body)).toMatchObject({ isError: true })
    },
  )

  test("a suspension passes, in its wire form", async () => {
    const result = await run(() => ({
      output: "?",
      isError: true,
      metadata: { pending: { prompt: "p", kind: "k", id: "r", extra: 1 }, more: 2 },
    }))
    expect(JSON.stringify(result.metadata)).toBe('{"pending":{"id":"r","kind":"k","prompt":"p"},"more":2}')
  })

  test.each([
    ["through pending()", () => pending({ kind: "approval", prompt: "p", expiresAt: "tomorrow" }), /RFC 3339/],
    [
      "by hand",
      () => ({
        output: "",
        isError: true,
        metadata: { pending: { id: "r", kind: "k", prompt: "p", expiresAt: "soon" } },
      }),
      /can't be put to a person.*RFC 3339/,
    ],
    [
      "asking for a password",
      () => pending({ kind: "input", prompt: "p", data: { schema: { properties: { password: { type: "string" } } } } }),
      /"authorization"/,
    ],
    [
      "with a nested form",
      () => pending({ kind: "input", prompt: "p", data: { schema: { properties: { a: { type: "object" } } } } }),
      /flat/,
    ],
  ])("a Request that nobody can be shown is an error naming the remedy: %s", async (_how, body, words) => {
    const result = await run(body)
    expect(result).toMatchObject({ isError: true, output: expect.stringMatching(words) })
    expect(pendingOf(result)).toBeUndefined()
  })
})

describe("defineTool", () => {
  test("defaults: no arguments, effects once", () => {
    const tool = defineTool({ name: "t", description: "d", run: () => "x" })
    expect(tool).toMatchObject({ effects: "once", source: "native" })
    expect(checkArgs(tool, {})).toBeUndefined()
    expect(checkArgs(tool, { a: 1 })).toBe(
      'invalid arguments for t: the arguments must NOT have additional properties: "a"',
    )
  })

  test.each<[unknown, RegExp]>([
    [{ name: "", description: "d", run: () => "" }, /a name has/],
    [{ name: "two words", description: "d", run: () => "" }, /"two words"/],
    [{ name: "t", run: () => "" }, /tool t: a description/],
    [{ name: "t", description: "d" }, /tool t: run/],
    [{ name: "t", description: "d", run: () => "", effects: "maybe" }, /tool t: effects/],
    [{ name: "t", description: "d", run: () => "", destructive: "yes" }, /tool t: destructive must be true or false/],
    [
      { name: "t", description: "d", run: () => "", authorizationHosts: ["https://x.example/"] },
      /tool t: authorizationHosts/,
    ],
    [{ name: "t", description: "d", run: () => "", authorizationHosts: "x.example" }, /tool t: authorizationHosts/],
    [{ name: "t", description: "d", run: () => "", inputSchema: { type: "array" } }, /tool t: inputSchema.*object/],
    [
      { name: "t", description: "d", run: () => "", inputSchema: { properties: { a: { type: "what" } } } },
      /tool t: inputSchema is wrong/,
    ],
    [
      {
        name: "t",
        description: "d",
        run: () => "",
        inputSchema: { properties: { a: { $ref: "https://x.example/y" } } },
      },
      /tool t:/,
    ],
    [{ name: "t", description: "d", run: () => "", inputSchema: z.object({ at: z.date() }) }, /tool t: inputSchema/],
    [{ name: "t", description: "d", run: () => "", inputSchema: 5 }, /tool t: inputSchema/],
    ["t", /a tool is an object/],
    [null, /a tool is an object/],
  ])("a wrong one is refused by name: case %#", (definition, words) => {
    expect(() => toolOf(definition)).toThrow(words)
    expect(() => toolOf(definition)).toThrow(TypeError)
  })

  test("a plain object is a tool, and so is an instance with execute", async () => {
    class Counter {
      name = "count"
      description = "counts"
      n = 0
      async execute() {
        this.n += 1
        return { output: String(this.n), isError: false }
      }
    }
    const kit = await createToolkit({
      extraTools: [{ name: "plain", description: "d", effects: "none", run: () => "p" }, new Counter() as never],
    })
    expect(kit.get("plain")).toMatchObject({ name: "plain", effects: "none" })
    expect(await kit.execute("plain", {})).toEqual({ output: "p", isError: false })
    await kit.execute("count", {})
    expect(await kit.execute("count", {})).toEqual({ output: "2", isError: false })
  })

  test("a schema that its author changes later is not the tool's any more", () => {
    const inputSchema = { type: "object", properties: { a: { type: "string" } } }
    const tool = defineTool({ name: "t", description: "d", inputSchema, run: () => "" })
    inputSchema.properties.a.type = "number"
    expect(checkArgs(tool, { a: "x" })).toBeUndefined()
  })
})

describe("checkArgs", () => {
  const tool = (inputSchema: Record<string, unknown>) =>
    defineTool({ name: "t", description: "d", inputSchema, run: () => "" })

  test("names every fault", () => {
    const schema = {
      type: "object",
      properties: { env: { enum: ["a", "b"] }, n: { type: "integer" } },
      required: ["env", "n"],
    }
    expect(checkArgs(tool(schema), { env: "c" })).toBe(
      `invalid arguments for t: the arguments must have required property 'n'; env must be equal to one of the allowed values: ["a","b"]`,
    )
    expect(checkArgs(tool(schema), { env: "a", n: 1 })).toBeUndefined()
  })

  test("converts nothing and fills in nothing", () => {
    const schema = { type: "object", properties: { n: { type: "integer", default: 1 } } }
    const args = {}
    expect(checkArgs(tool(schema), args)).toBeUndefined()
    expect(args).toEqual({})
    expect(checkArgs(tool(schema), { n: "1" })).toMatch(/n must be integer/)
  })

  test("reads draft-07 and 2020-12", () => {
    const draft7 = { properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }] } } }
    expect(checkArgs(tool(draft7), { pair: [1, "a"] })).toMatch(/pair\.0 must be string/)
    const newer = { properties: { pair: { type: "array", prefixItems: [{ type: "string" }] } } }
    expect(checkArgs(tool(newer), { pair: [1] })).toMatch(/pair\.0 must be string/)
    const zod = z.toJSONSchema(z.object({ env: z.enum(["a"]), at: z.iso.datetime().optional() })) as Record<
      string,
      unknown
    >
    expect(checkArgs(tool(zod), { env: "a" })).toBeUndefined()
    expect(checkArgs(tool(zod), { env: "b" })).toMatch(/env/)
    const seven = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { a: { format: "uri", type: "string" } },
    }
    expect(checkArgs(tool(seven), { a: "anything" })).toBeUndefined()
  })

  test("two schemas of one $id are two schemas", () => {
    const one = tool({ $id: "args", type: "object", required: ["a"] })
    const two = tool({ $id: "args", type: "object", required: ["b"] })
    expect(checkArgs(one, { a: 1 })).toBeUndefined()
    expect(checkArgs(two, { b: 1 })).toBeUndefined()
  })
})

describe("runTool", () => {
  test("every execution gets args of its own", async () => {
    const seen: unknown[] = []
    const tool = defineTool({
      name: "t",
      description: "d",
      inputSchema: { type: "object" },
      run: (args) => {
        seen.push(structuredClone(args))
        args["n"] = 999
      },
    })
    await runTool(tool, '{"n":1}')
    await runTool(tool, '{"n":1}')
    expect(seen).toEqual([{ n: 1 }, { n: 1 }])
  })

  test("hands the context on", async () => {
    let told: ToolContext | undefined
    const tool = defineTool({
      name: "t",
      description: "d",
      run: (_args, ctx) => {
        told = ctx
      },
    })
    const ctx: ToolContext = {
      signal: new AbortController().signal,
      callId: "run.1.1",
      attempt: "a1",
      answer: answerOutput("r", "x"),
      request: { id: "r", kind: "k", prompt: "p" },
    }
    await runTool(tool, "{}", ctx)
    expect(told).toEqual(ctx)
    await runTool(tool, "{}")
    expect(told).not.toHaveProperty("answer")
  })
})

describe("a toolkit", () => {
  const echo: ToolDefinition = {
    name: "echo",
    description: "d",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: (args) => String(args["text"]),
  }

  test("finds, lists, registers and executes", async () => {
    const kit = await createToolkit({ extraTools: [echo], builtins: false })
    expect(kit.tools().map((tool) => tool.name)).toEqual(["echo"])
    kit.register({ ...echo, name: "echo2" })
    expect(kit.get("echo2")?.name).toBe("echo2")
    expect(await kit.execute("echo", { text: "hi" })).toEqual({ output: "hi", isError: false })
    await kit.close()
  })

  test("an unknown tool and wrong args are error results", async () => {
    const kit = await createToolkit({ extraTools: [echo] })
    expect(await kit.execute("nope", {})).toEqual({ output: "Unknown tool: nope", isError: true })
    expect(await kit.execute("__proto__", {})).toMatchObject({ isError: true })
    expect(await kit.execute("echo", {})).toMatchObject({
      isError: true,
      output: expect.stringMatching(/required property 'text'/),
    })
    expect(await kit.execute("echo", { text: 10n })).toMatchObject({
      isError: true,
      output: expect.stringMatching(/bigint/),
    })
    expect(await kit.execute("echo", undefined as never)).toMatchObject({ isError: true })
  })

  test("refuses a name that is taken, and built-ins it doesn't have", async () => {
    await expect(createToolkit({ extraTools: [echo, echo] })).rejects.toThrow(/tool echo: there are two/)
    await expect(createToolkit({ builtins: true })).rejects.toThrow(/no built-in tools/)
    await expect(createToolkit({ extraTools: [{ ...echo, inputSchema: { type: "array" } }] })).rejects.toThrow(
      /tool echo/,
    )
  })
})
