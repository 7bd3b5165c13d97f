import type { LanguageModelV3Message } from "@ai-sdk/provider"
import { afterEach, describe, expect, test } from "vitest"
import type { Turn } from "../../src/agent/model.ts"
import { Deadline } from "../../src/agent/deadline.ts"
import { createModel, direct, takeTurn } from "../../src/agent/model.ts"
import { defineTool } from "../../src/agent/tool.ts"
import { scriptedModel } from "../fakes/model.ts"
import type { Provider, ProviderOptions, Style, WireTurn } from "../fakes/provider.ts"
import { startProvider } from "../fakes/provider.ts"

const providers: Provider[] = []
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()))
})

async function start(options: ProviderOptions) {
  const provider = await startProvider(options)
  providers.push(provider)
  const model = createModel({
    provider: options.style === "openai" ? "openai-compatible" : "anthropic",
    baseUrl: provider.baseUrl,
    model: "test-model",
    apiKey: "test-key",
  })
  return { provider, model }
}

const deploy = defineTool({
  name: "deploy",
  description: "Deploys",
  inputSchema: { type: "object", properties: { env: { type: "string" } } },
  run: () => "deployed",
})
const user: LanguageModelV3Message = { role: "user", content: [{ type: "text", text: "go" }] }
const result = (ref: string, value: string, type: "text" | "error-text" = "text"): LanguageModelV3Message => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId: ref, toolName: "deploy", output: { type, value } }],
})

function good(turn: Turn): Extract<Turn, { ok: true }> {
  if (!turn.ok) throw new Error(turn.words)
  return turn
}

const styles: Style[] = ["openai", "anthropic"]
const modes = ["whole", "streamed"] as const
const wires = styles.flatMap((style) => modes.map((mode) => [style, mode] as const))

describe.each(wires)("a turn on the wire of %s, %s", (style, mode) => {
  const deltas: string[] = []
  const reading = mode === "streamed" ? { onText: (delta: string) => void deltas.push(delta) } : {}
  const take = async (turns: WireTurn[], messages: LanguageModelV3Message[] = [user]) => {
    const { provider, model } = await start({ style, turns })
    const turn = await takeTurn(model, { messages, tools: [deploy], instructions: "Be brief.", ...reading })
    return { turn, provider, model }
  }

  test("text, usage and what was sent", async () => {
    deltas.length = 0
    const { turn, provider } = await take([
      { text: "All is well, and has been for a while.", usage: { prompt: 12, completion: 7 } },
    ])
    expect(turn).toEqual({
      ok: true,
      text: "All is well, and has been for a while.",
      message: { role: "assistant", content: [{ type: "text", text: "All is well, and has been for a while." }] },
      calls: [],
      usage: { prompt: 12, completion: 7 },
      finish: "stop",
    })
    const [request] = provider.requests
    expect(request?.path).toBe(style === "openai" ? "/chat/completions" : "/v1/messages")
    expect(request?.headers[style === "openai" ? "authorization" : "x-api-key"]).toBe(
      style === "openai" ? "Bearer test-key" : "test-key",
    )
    expect(request?.body.model).toBe("test-model")
    expect(JSON.stringify(request?.body)).toContain("Be brief.")
    expect(request?.body.tools).toHaveLength(1)
    if (mode === "streamed") {
      expect(deltas.join("")).toBe("All is well, and has been for a while.")
      expect(deltas.length).toBeGreaterThan(1)
    }
  })

  test("calls, and the transcript goes back balanced", async () => {
    const calls = [
      { id: "call_1", name: "deploy", args: '{ "env" : "b", "a": 1.0 }' },
      { id: "call_2", name: "deploy", args: { env: "c" } },
    ]
    const { turn, model, provider } = await take([{ text: "Deploying.", calls }, { text: "Done." }])
    const { message, calls: read } = good(turn)
    expect(read).toEqual([
      { ref: "call_1", tool: "deploy", raw: '{ "env" : "b", "a": 1.0 }', args: '{"a":1,"env":"b"}' },
      { ref: "call_2", tool: "deploy", raw: '{"env":"c"}', args: '{"env":"c"}' },
    ])
    const stored = JSON.parse(JSON.stringify(message)) as LanguageModelV3Message
    const messages = [user, stored, result("call_1", "deployed"), result("call_2", "", "error-text")]
    expect(good(await takeTurn(model, { messages, tools: [deploy], ...reading })).text).toBe("Done.")
    const sent = JSON.stringify(provider.requests[1]?.body)
    expect(sent).toContain("deployed")
    expect(sent).toContain("did not say why")
    if (style === "anthropic") expect(provider.requests[1]?.body.messages[2].content[1].is_error).toBe(true)
  })

  test.each([
    ['{"id":15947634569000323}', /15947634569000323 can't be kept exactly/],
    ['{"env":"a","env":"b"}', /"env" twice/],
    ['{"__proto__":{"x":1}}', /__proto__/],
  ])("args that reading would change go back to the model: %s", async (args, words) => {
    const { turn, model } = await take([{ calls: [{ id: "c1", name: "deploy", args }] }, { text: "Sorry." }])
    const { calls, message } = good(turn)
    expect(calls).toEqual([{ ref: "c1", tool: "deploy", raw: args, error: expect.stringMatching(words) }])
    const messages = [user, message, result("c1", calls[0]?.error ?? "", "error-text")]
    expect(await takeTurn(model, { messages, tools: [deploy], ...reading })).toMatchObject({ ok: true, text: "Sorry." })
  })

  test("ids that are missing or come twice, also over turns, are made unique", async () => {
    const calls = [
      { id: "call_0", name: "deploy" },
      { id: "call_0", name: "deploy" },
    ]
    const first = await take([{ calls }])
    if (mode === "whole") {
      const { message, calls: read } = good(first.turn)
      expect(read.map((call) => call.ref)).toEqual(["call_0", "call_0_2"])
      const messages = [user, message, result("call_0", "a"), result("call_0_2", "b")]
      const second = good((await take([{ calls: [{ id: "call_0", name: "deploy" }] }], messages)).turn)
      expect(second.calls.map((call) => call.ref)).toEqual(["call_0_3"])
    }
  })

  test("a call cut off by the length limit is not taken at its word", async () => {
    const { turn } = await take([
      {
        calls: [
          { id: "c1", name: "deploy", args: { env: "a" } },
          { id: "c2", name: "deploy", args: {} },
        ],
        finish: style === "openai" ? "length" : "max_tokens",
      },
    ])
    const { calls, finish } = good(turn)
    expect(finish).toBe("length")
    expect(calls[0]).toMatchObject({ args: '{"env":"a"}' })
    expect(calls[1]).toMatchObject({ error: expect.stringMatching(/cut off/) })
    expect(calls[1]).not.toHaveProperty("args")
  })

  test.each<[WireTurn, { retryable: boolean; tooLong?: true; words: RegExp; retryAfterMs?: number }]>([
    [
      { status: 429, headers: { "retry-after": "3" } },
      { retryable: true, words: /too many requests \(429\)/, retryAfterMs: 3000 },
    ],
    [
      { status: 429, headers: { "retry-after-ms": "250" } },
      { retryable: true, words: /429/, retryAfterMs: 250 },
    ],
    // For ever is a slip: a run would sleep until nobody remembers it.
    [
      { status: 503, headers: { "retry-after": "Infinity" } },
      { retryable: true, words: /503/, retryAfterMs: 3_600_000 },
    ],
    [
      { status: 429, headers: { "retry-after": "99999999999" } },
      { retryable: true, words: /429/, retryAfterMs: 3_600_000 },
    ],
    [{ status: 500 }, { retryable: true, words: /failed \(500\)/ }],
    [{ status: 503 }, { retryable: true, words: /overloaded \(503\)/ }],
    [{ status: 529 }, { retryable: true, words: /overloaded \(529\)/ }],
    [{ status: 408 }, { retryable: true, words: /try again/ }],
    [
      { status: 401, body: '{"error":{"message":"Incorrect API key provided: sk-abcdef123456"}}' },
      { retryable: false, words: /refuses our key/ },
    ],
    [{ status: 403 }, { retryable: false, words: /doesn't let us use the model "test-model"/ }],
    [{ status: 404 }, { retryable: false, words: /doesn't know the model "test-model"/ }],
    [
      {
        status: 400,
        body: '{"error":{"message":"This model\'s maximum context length is 8192 tokens","code":"context_length_exceeded"}}',
      },
      { retryable: false, tooLong: true, words: /too long for the model/ },
    ],
    [
      {
        status: 400,
        body: '{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
      },
      { retryable: false, tooLong: true, words: /too long/ },
    ],
    [{ status: 413 }, { retryable: false, tooLong: true, words: /too long/ }],
    [
      { status: 429, body: '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}' },
      { retryable: false, words: /no credit/ },
    ],
    [
      { status: 400, body: '{"error":{"message":"bad\\nthing with sk-live_1234567890"}}' },
      { retryable: false, words: /refused the request \(400\): bad thing with \*\*\*$/ },
    ],
    [
      {
        status: 400,
        body: JSON.stringify({ error: { message: `${"x ".repeat(85)}postgres://app:${"hunter".repeat(9)}@db` } }),
      },
      { retryable: false, words: /x postgres:\/\/app:\[password, 54 c/ },
    ],
    [
      { status: 307, headers: { location: "http://127.0.0.1:9/" } },
      { retryable: false, words: /points elsewhere/ },
    ],
    [{ cut: "at once" }, { retryable: true, words: /can't be reached/ }],
    [
      { text: "x".repeat(5000), cut: "midway" },
      { retryable: true, words: /./ },
    ],
  ])("the fault %#", async (wire, expected) => {
    const { turn, provider } = await take([wire])
    expect(turn).toEqual({ ok: false, ...expected, words: expect.stringMatching(expected.words) })
    expect(JSON.stringify(turn)).not.toMatch(/sk-|test-key|127\.0\.0\.1|node_modules/)
    expect(provider.requests).toHaveLength(1)
  })

  test("an answer that is none", async () => {
    expect(
      (
        await take([
          {
            body: "<html>log in</html>",
            headers: { "content-type": mode === "whole" ? "text/html" : "text/event-stream" },
          },
        ])
      ).turn,
    ).toMatchObject({ ok: false })
    expect((await take([{ body: "" }])).turn).toMatchObject({ ok: false, retryable: true })
    expect((await take([{ body: '{"choices":[]}' }])).turn).toMatchObject({ ok: false })
  })

  test("no time left, and told to stop", async () => {
    let release = () => {}
    const hold = new Promise<void>((resolve) => (release = resolve))
    const { provider, model } = await start({
      style,
      turns: [
        { text: "late", hold },
        { text: "late", hold },
      ],
    })
    expect(await takeTurn(model, { messages: [user], tools: [], limit: new Deadline([], 50), ...reading })).toEqual({
      ok: false,
      retryable: true,
      words: "the model did not answer in time",
    })
    // On a busy machine its time may have been over before the first request left.
    const before = provider.requests.length
    const limit = new Deadline([], undefined)
    const stopped = takeTurn(model, { messages: [user], tools: [], limit, ...reading })
    await provider.came(before + 1)
    limit.abort("stop")
    expect(await stopped).toEqual({ ok: false, retryable: false, words: "stopped", aborted: true })
    expect(await takeTurn(model, { messages: [user], tools: [], limit })).toMatchObject({ aborted: true })
    expect(provider.requests).toHaveLength(before + 1)
    release()
  })
})

test("the model's server is down", async () => {
  const { provider, model } = await start({ style: "openai", turns: [] })
  await provider.close()
  providers.length = 0
  expect(await takeTurn(model, { messages: [user], tools: [] })).toEqual({
    ok: false,
    retryable: true,
    words: "the model's server can't be reached (ECONNREFUSED)",
  })
})

test.each(["", "/", "/v1", "/v1/"])("Anthropic's address may end in %j", async (end) => {
  const provider = await startProvider({ style: "anthropic", turns: [{ text: "hi" }] })
  providers.push(provider)
  const model = createModel({ provider: "anthropic", baseUrl: `${provider.baseUrl}${end}`, model: "m" })
  expect(await takeTurn(model, { messages: [user], tools: [] })).toMatchObject({ ok: true, text: "hi" })
  expect(provider.requests[0]?.path).toBe("/v1/messages")
})

test("unreadable args go back as an empty object and are quoted to the model", async () => {
  const { model } = await start({
    style: "openai",
    turns: [{ calls: [{ id: "c1", name: "deploy", args: '{"env": "prod"' }] }, { text: "ok" }],
  })
  const turn = good(await takeTurn(model, { messages: [user], tools: [deploy] }))
  expect(turn.calls[0]?.error).toMatch(/not valid JSON.*You wrote: \{"env": "prod"$/)
  expect(turn.message.content).toEqual([{ type: "tool-call", toolCallId: "c1", toolName: "deploy", input: {} }])
  const messages = [user, turn.message, result("c1", turn.calls[0]?.error ?? "", "error-text")]
  expect(await takeTurn(model, { messages, tools: [deploy] })).toMatchObject({ ok: true })
})

test.each(modes)("a thought keeps its signature, %s", async (mode) => {
  const { provider, model } = await start({
    style: "anthropic",
    turns: [
      {
        blocks: [{ type: "thinking", thinking: "Let me think about it", signature: "c2lnbmVk" }],
        calls: [{ id: "c1", name: "deploy", args: { env: "a" } }],
      },
      { text: "done" },
    ],
  })
  const reading = mode === "streamed" ? { onText: () => {} } : {}
  const { message } = good(await takeTurn(model, { messages: [user], tools: [deploy], ...reading }))
  const stored = JSON.parse(JSON.stringify(message)) as LanguageModelV3Message
  good(await takeTurn(model, { messages: [user, stored, result("c1", "ok")], tools: [deploy], ...reading }))
  expect(provider.requests[1]?.body.messages[1].content[0]).toMatchObject({
    type: "thinking",
    thinking: "Let me think about it",
    signature: "c2lnbmVk",
  })
})

test("an unstreamed Anthropic answer keeps odd args and everything around them", async () => {
  const text = 'a "content":[{"input":{}}] in the text'
  const args = '{"a":{"input":{"b":[1,{"c":"}"}]}},"s":"\\"}{","n":12345678901234567890}'
  const { model } = await start({
    style: "anthropic",
    turns: [
      {
        text,
        calls: [
          { id: "c1", name: "deploy", args },
          { id: "c2", name: "deploy", args: "{}" },
        ],
      },
    ],
  })
  const turn = good(await takeTurn(model, { messages: [user], tools: [deploy] }))
  expect(turn.text).toBe(text)
  expect(turn.calls.map((call) => call.raw)).toEqual([args, "{}"])
})

test("an Anthropic answer that leaves out what nobody needs", async () => {
  const { model } = await start({
    style: "anthropic",
    turns: [
      {
        body: '{"content":[{"type":"tool_use","id":"c1","name":"deploy","input":{"n":1.0}}],"stop_reason":"tool_use"}',
      },
    ],
  })
  const turn = good(await takeTurn(model, { messages: [user], tools: [deploy] }))
  expect(turn.calls).toEqual([{ ref: "c1", tool: "deploy", raw: '{"n":1.0}', args: '{"n":1}' }])
})

test("an error in the body of a 200, and in the stream", async () => {
  const { model } = await start({
    style: "openai",
    turns: [
      { body: '{"error":{"message":"Rate limited","code":429}}' },
      { body: 'data: {"error":{"message":"No such model","code":404}}\n\n' },
    ],
  })
  expect(await takeTurn(model, { messages: [user], tools: [] })).toMatchObject({ retryable: true, words: /429/ })
  expect(await takeTurn(model, { messages: [user], tools: [], onText: () => {} })).toMatchObject({
    retryable: false,
    words: /404/,
  })
  const claude = await start({
    style: "anthropic",
    turns: [
      { body: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n' },
    ],
  })
  expect(await takeTurn(claude.model, { messages: [user], tools: [], onText: () => {} })).toMatchObject({
    retryable: true,
    words: /overloaded/,
  })
})

describe("a scripted model", () => {
  const ask = (model: ReturnType<typeof scriptedModel>, messages: LanguageModelV3Message[] = [user]) =>
    takeTurn(model, { messages, tools: [deploy] })

  test("gives its turns in order and says its name when asked too often", async () => {
    const model = scriptedModel(
      ["one", { text: "two", calls: [{ tool: "deploy", args: { env: "a" } }] }, () => "three"],
      "fred",
    )
    expect(await ask(model)).toMatchObject({ text: "one" })
    expect(await ask(model)).toMatchObject({ text: "two", calls: [{ ref: "call_2_1", args: '{"env":"a"}' }] })
    expect(await takeTurn(model, { messages: [user], tools: [], onText: () => {} })).toMatchObject({ text: "three" })
    expect(await ask(model)).toMatchObject({
      ok: false,
      words: expect.stringMatching(/"fred" was asked 4 times and has 3 turns/),
    })
    expect(model.requests).toHaveLength(4)
  })

  test("refuses a transcript without balance", async () => {
    const model = scriptedModel(["x"])
    const call: LanguageModelV3Message = {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "c1", toolName: "deploy", input: {} }],
    }
    expect(await ask(model, [user, call, user])).toMatchObject({
      ok: false,
      words: expect.stringMatching(/without a result: c1/),
    })
  })
})

test("what no provider takes is put right: a strange tool name, an empty answer, bytes", async () => {
  const model = scriptedModel([
    {
      content: [{ type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) }],
      text: " ",
      calls: [{ tool: "functions.deploy it", args: {} }],
    },
    { content: [] },
  ])
  const turn = good(await takeTurn(model, { messages: [user], tools: [deploy] }))
  expect(turn.calls[0]?.tool).toBe("functions.deploy it")
  expect(turn.message.content).toEqual([
    { type: "file", mediaType: "image/png", data: "AQID" },
    { type: "tool-call", toolCallId: "call_1_1", toolName: "functions_deploy_it", input: {} },
  ])
  const messages = [
    user,
    turn.message,
    result("call_1_1", "Unknown tool"),
    { role: "assistant" as const, content: [] },
    { role: "user" as const, content: [{ type: "text" as const, text: " " }] },
  ]
  expect(await takeTurn(model, { messages, tools: [deploy] })).toMatchObject({ ok: true, text: "", calls: [] })
  expect(model.requests[1]?.prompt.filter((message) => message.content.length === 0)).toEqual([])
  expect(model.requests[1]?.prompt.at(-1)).toEqual({
    role: "user",
    content: [{ type: "text", text: "(nothing was said)" }],
  })
})

test("what a server says of an error is read as far as it is told, however long it is", async () => {
  const words = `bad thing with sk-abcdef123456 ${"a".repeat(1_000_000)}`
  const { model } = await start({
    style: "openai",
    turns: [{ status: 400, body: JSON.stringify({ error: { message: words } }) }],
  })
  const turn = await takeTurn(model, { messages: [user], tools: [] })
  expect(turn).toMatchObject({ ok: false, words: expect.stringMatching(/\(400\): bad thing with \*\*\*$/) })
})

test.each(["whole", "streamed"])("an answer without an end is not read to the end, %s", async (mode) => {
  let sent = 0
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1
        controller.enqueue(new TextEncoder().encode(`${mode === "whole" ? "" : "data: "}${"x".repeat(1_000)}`))
      },
    })
  const type = mode === "whole" ? "application/json" : "text/event-stream"
  const answer = async () => new Response(endless(), { headers: { "content-type": type } })
  const model = createModel({
    provider: "openai-compatible",
    baseUrl: "http://127.0.0.1:1/v1",
    model: "m",
    fetch: direct(answer, 100_000),
  })
  const turn = await takeTurn(model, { messages: [user], tools: [], ...(mode === "whole" ? {} : { onText: () => {} }) })
  expect(turn).toMatchObject({ ok: false, retryable: true, words: expect.stringMatching(/could not be read/) })
  expect(sent).toBeLessThan(200)
})
