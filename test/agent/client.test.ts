import type { Answer, MetricEvent, Request, ToolContext, ToolDefinition } from "countersign"
import { answerDeclined, answerOutput, createToolkit, pending } from "countersign"
import { afterEach, describe, expect, test, vi } from "vitest"
import { calling, clientOf, closeAll, gate, provide, resultsIn, sent, setUp, STYLES } from "./wires.ts"

afterEach(closeAll)

type Call = { args: Record<string, unknown>; ctx: ToolContext | undefined }

/** A tool that asks before it acts, and the calls it got. */
function asking(name: string, more: { again?: boolean; request?: Partial<Request> } = {}) {
  const calls: Call[] = []
  const tool: ToolDefinition = {
    name,
    description: "Asks first",
    inputSchema: { type: "object" },
    run: (args, ctx) => {
      calls.push({ args: structuredClone(args), ctx })
      const what = typeof args["item"] === "string" ? args["item"] : name
      if (ctx?.answer !== undefined && more.again !== true) return `did ${what}`
      return pending({ kind: "approval", prompt: `Approve ${what}?`, ...more.request })
    },
  }
  return { tool, calls }
}

function plain(name: string, output = `${name} done`) {
  const calls: Call[] = []
  const tool: ToolDefinition = {
    name,
    description: "Acts at once",
    inputSchema: { type: "object" },
    run: (args, ctx) => {
      calls.push({ args: structuredClone(args), ctx })
      return output
    },
  }
  return { tool, calls }
}

const yes = (request: Request): Promise<Answer> => Promise.resolve({ id: request.id, ok: true })

describe.each(STYLES)("with a waitFor, on the wire of %s", (style) => {
  test("a refusal is the call's error result, and the model decides what then", async () => {
    const buy = asking("approve_purchase")
    const waitFor = vi.fn(async (request: Request) => answerDeclined(request.id))
    const turns = [calling(["approve_purchase", { item: "gpu" }]), { text: "It was declined." }]
    const { provider, client, toolkit } = await setUp(style, { turns, tools: [buy.tool], options: { waitFor } })
    const result = await client.run("buy a gpu", { toolkit })
    expect(result).toMatchObject({ status: "done", text: "It was declined.", toolCallCount: 1, turns: 2 })
    expect(result.toolCalls).toEqual([
      { name: "approve_purchase", args: { item: "gpu" }, output: "declined/expired: Approve gpu?", isError: true },
    ])
    expect(result).not.toHaveProperty("pending")
    expect(buy.calls).toHaveLength(1)
    expect(waitFor).toHaveBeenCalledTimes(1)
    expect(provider.requests).toHaveLength(2)
    expect(resultsIn(style, provider.requests[1])).toEqual([
      sent(style, "call_1", "declined/expired: Approve gpu?", true),
    ])
  })

  test("a yes runs the tool exactly once more, with the whole Answer and the args that were shown", async () => {
    const buy = asking("buy")
    let shown: Request | undefined
    const waitFor = async (request: Request): Promise<Answer> => {
      shown = structuredClone(request)
      request.prompt = "something else"
      return { id: request.id, ok: true, data: { by: "U1", "odd key": [1, { a: null }] }, reason: "fine" }
    }
    const turns = [calling(["buy", { item: "gpu", n: 1 }]), { text: "Bought." }]
    const { provider, client, toolkit } = await setUp(style, { turns, tools: [buy.tool], options: { waitFor } })
    const result = await client.run("buy", { toolkit })
    const id = shown?.id
    const answer = { id, ok: true, data: { by: "U1", "odd key": [1, { a: null }] }, reason: "fine" }
    const args = { item: "gpu", n: 1 }
    expect(buy.calls.map((call) => call.args)).toEqual([args, args])
    const [first, retry] = buy.calls.map((call) => call.ctx ?? {})
    expect(first).not.toHaveProperty("answer")
    expect(retry).toMatchObject({ request: shown, callId: first?.callId })
    expect(retry?.answer).toEqual(answer)
    expect(retry?.attempt).not.toBe(first?.attempt)
    expect(result.toolCalls).toEqual([{ name: "buy", args: { item: "gpu", n: 1 }, output: "did gpu", isError: false }])
    expect(resultsIn(style, provider.requests[1])).toEqual([sent(style, "call_1", "did gpu", false)])
  })

  test("a yes without data stays without", async () => {
    const buy = asking("buy")
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "ok" }],
      tools: [buy.tool],
      options: { waitFor: yes },
    })
    await client.run("go", { toolkit })
    expect(buy.calls[1]?.ctx?.answer).toEqual({ id: buy.calls[1]?.ctx?.request?.id, ok: true })
  })

  test("whatever the reason of a no, the provider gets the same bytes", async () => {
    const bodies = new Set<string>()
    for (const reason of [undefined, "declined", "expired", "cancelled", "over budget", ""]) {
      const { provider, client, toolkit } = await setUp(style, {
        turns: [calling(["buy"]), { text: "ok" }],
        tools: [asking("buy").tool],
        options: { waitFor: async ({ id }) => (reason === undefined ? { id, ok: false } : answerDeclined(id, reason)) },
      })
      await client.run("go", { toolkit })
      bodies.add(provider.requests[1]?.raw ?? "")
    }
    expect(bodies.size).toBe(1)
  })

  test("a note of the no follows the pinned line", async () => {
    const { provider, client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "ok" }],
      tools: [asking("buy").tool],
      options: { waitFor: async ({ id }) => ({ id, ok: false, data: { note: "Too dear.", other: 1 } }) },
    })
    await client.run("go", { toolkit })
    expect(resultsIn(style, provider.requests[1])[0]?.output).toBe("declined/expired: Approve buy?\nToo dear.")
  })

  test("a retry that suspends again is unresolved, and nobody is asked twice", async () => {
    const buy = asking("buy", { again: true })
    const waitFor = vi.fn(yes)
    const { provider, client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "ok" }],
      tools: [buy.tool],
      options: { waitFor },
    })
    const result = await client.run("go", { toolkit })
    expect(waitFor).toHaveBeenCalledTimes(1)
    expect(buy.calls).toHaveLength(2)
    expect(result.toolCalls).toMatchObject([{ output: "unresolved: Approve buy?", isError: true }])
    expect(resultsIn(style, provider.requests[1])).toEqual([sent(style, "call_1", "unresolved: Approve buy?", true)])
  })

  test("a retry that throws ends nothing", async () => {
    const tool: ToolDefinition = {
      name: "buy",
      description: "d",
      run: (_args, ctx) => {
        if (ctx?.answer !== undefined) throw new Error("out of stock")
        return pending({ kind: "approval", prompt: "Buy?" })
      },
    }
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "Sorry." }],
      tools: [tool],
      options: { waitFor: yes },
    })
    const result = await client.run("go", { toolkit })
    expect(result).toMatchObject({
      status: "done",
      text: "Sorry.",
      toolCalls: [{ output: "out of stock", isError: true }],
    })
  })

  test("Requests of one id are told apart: everybody is asked, and each answer is to one of them", async () => {
    const buy = asking("buy", { request: { id: "mine" } })
    const sell = plain("sell")
    const beforeTool = ({ name }: { name: string }) =>
      name === "sell" ? { result: pending({ id: "mine", kind: "approval", prompt: "Sell?" }) } : undefined
    const waitFor = vi.fn(yes)
    const turn = calling(["buy", { item: "a" }], ["buy", { item: "b" }], ["sell"], ["sell"])
    const options = { waitFor, hooks: { beforeTool }, timeoutMs: 5000 }
    const turns = [turn, calling(["sell"], ["buy", { item: "c" }]), { text: "Done." }]
    const { client, toolkit } = await setUp(style, { turns, tools: [buy.tool, sell.tool], options })
    const { toolCalls } = await client.run("go", { toolkit })
    const outputs = ["did a", "did b", "sell done", "sell done", "sell done", "did c"]
    expect(toolCalls.map(({ output }) => output)).toEqual(outputs)
    expect(new Set(waitFor.mock.calls.map(([{ id }]) => id)).size).toBe(6)
  })

  test("nobody is asked when nothing suspends, and again when a later turn does", async () => {
    const waitFor = vi.fn(yes)
    const buy = asking("buy")
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["look"]), calling(["buy"]), calling(["buy"]), { text: "ok" }],
      tools: [plain("look").tool, buy.tool],
      options: { waitFor },
    })
    const result = await client.run("go", { toolkit })
    expect(waitFor).toHaveBeenCalledTimes(2)
    expect(new Set(waitFor.mock.calls.map(([request]) => request.id)).size).toBe(2)
    expect(buy.calls).toHaveLength(4)
    expect(result.toolCalls.map((call) => call.name)).toEqual(["look", "buy", "buy"])
  })

  test("an input's answer reaches the tool verbatim", async () => {
    const seen: unknown[] = []
    const tool: ToolDefinition = {
      name: "ask",
      description: "d",
      run: (_args, ctx) => {
        if (ctx?.answer === undefined) return pending({ kind: "input", prompt: "Where?" })
        seen.push(ctx.answer.data)
        return "ok"
      },
    }
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["ask"]), { text: "ok" }],
      tools: [tool],
      options: { waitFor: async ({ id }) => answerOutput(id, "staging") },
    })
    await client.run("go", { toolkit })
    expect(seen).toEqual([{ output: "staging" }])
  })

  test("several suspensions wait side by side, each gets its own answer, results keep the call order", async () => {
    const a = asking("a")
    const b = asking("b")
    const c = asking("c")
    const gates = new Map<string, ReturnType<typeof gate<boolean>>>()
    const all = gate()
    const waitFor = async (request: Request): Promise<Answer> => {
      const own = gate<boolean>()
      gates.set(request.prompt, own)
      if (gates.size === 3) all.open()
      return { id: request.id, ok: await own.opened }
    }
    const { provider, client, toolkit } = await setUp(style, {
      turns: [calling(["a"], ["read"], ["b"], ["c"]), { text: "ok" }],
      tools: [a.tool, b.tool, c.tool, plain("read").tool],
      options: { waitFor },
    })
    const running = client.run("go", { toolkit })
    await all.opened
    expect(provider.requests).toHaveLength(1)
    gates.get("Approve c?")?.open(true)
    gates.get("Approve b?")?.open(false)
    gates.get("Approve a?")?.open(true)
    const result = await running
    const expected: [string, string, boolean][] = [
      ["call_1", "did a", false],
      ["call_2", "read done", false],
      ["call_3", "declined/expired: Approve b?", true],
      ["call_4", "did c", false],
    ]
    expect(resultsIn(style, provider.requests[1])).toEqual(expected.map((one) => sent(style, ...one)))
    expect(result.toolCalls.map((call) => call.output)).toEqual(expected.map(([, output]) => output))
    expect([a.calls.length, b.calls.length, c.calls.length]).toEqual([2, 1, 2])
  })

  test("two calls of one tool keep their own args and answers", async () => {
    const deploy = asking("deploy")
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["deploy", { item: "a" }], ["deploy", { item: "b" }]), { text: "ok" }],
      tools: [deploy.tool],
      options: { waitFor: async ({ id, prompt }) => ({ id, ok: true, data: { for: prompt } }) },
    })
    const result = await client.run("go", { toolkit })
    const retries = deploy.calls.filter((call) => call.ctx?.answer !== undefined)
    expect(retries.map((call) => [call.args["item"], call.ctx?.answer?.data?.["for"]])).toEqual(
      expect.arrayContaining([
        ["a", "Approve a?"],
        ["b", "Approve b?"],
      ]),
    )
    expect(result.toolCalls.map((call) => call.output)).toEqual(["did a", "did b"])
  })
})

describe.each(STYLES)("nothing but a true yes approves, on the wire of %s", (style) => {
  test.each([undefined, null])("an Answer of %j is a no", async (none) => {
    const buy = asking("buy")
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "ok" }],
      tools: [buy.tool],
      options: { waitFor: async () => none },
    })
    const result = await client.run("go", { toolkit })
    expect(result.toolCalls).toMatchObject([{ output: "declined/expired: Approve buy?", isError: true }])
    expect(buy.calls).toHaveLength(1)
  })

  test.each(["true", "yes", "false", 1, {}, [], null, undefined])("ok: %j is a no", async (ok) => {
    const buy = asking("buy")
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "ok" }],
      tools: [buy.tool],
      options: { waitFor: async ({ id }) => ({ id, ok, data: { output: "yes" } }) as never },
    })
    const result = await client.run("go", { toolkit })
    expect(result.toolCalls).toMatchObject([{ output: "declined/expired: Approve buy?", isError: true }])
    expect(buy.calls).toHaveLength(1)
  })

  test.each<[string, unknown]>([
    ["another id", { id: "pnd-other", ok: true }],
    ["no id", { ok: true }],
    ["no object", true],
    ["no data object", { ok: true, data: "x" }],
  ])("an Answer with %s ends the run with an error, and nothing runs", async (_how, answer) => {
    const buy = asking("buy")
    const { provider, client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "never" }],
      tools: [buy.tool],
      options: { waitFor: async () => answer as never },
    })
    await expect(client.run("go", { toolkit })).rejects.toThrow(/waitFor:/)
    expect(buy.calls).toHaveLength(1)
    expect(provider.requests).toHaveLength(1)
  })

  test("a yes to one Request does not approve another", async () => {
    const stage = asking("stage")
    const wipe = asking("wipe")
    const ids: string[] = []
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["stage"], ["wipe"]), { text: "never" }],
      tools: [stage.tool, wipe.tool],
      options: {
        waitFor: async ({ id }) => {
          ids.push(id)
          return { id: ids[0] ?? id, ok: true }
        },
      },
    })
    await expect(client.run("go", { toolkit })).rejects.toThrow(/the answer is to/)
    expect(wipe.calls.filter((call) => call.ctx?.answer !== undefined)).toEqual([])
  })

  test("a yes after the deadline is an expiry", async () => {
    let runs = 0
    const buy: ToolDefinition = {
      name: "buy",
      description: "d",
      run: () => {
        runs += 1
        const expiresAt = new Date(Date.now() + 200).toISOString()
        return pending({ kind: "approval", prompt: "Approve buy?", expiresAt })
      },
    }
    const late = gate<Answer>()
    const { provider, client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "ok" }],
      tools: [buy],
      options: {
        waitFor: ({ id }) => {
          setTimeout(() => late.open({ id, ok: true }), 400)
          return late.opened
        },
      },
    })
    const result = await client.run("go", { toolkit })
    expect(result.toolCalls).toMatchObject([{ output: "declined/expired: Approve buy?", isError: true }])
    await late.opened
    expect(runs).toBe(1)
    expect(provider.requests).toHaveLength(2)
  })

  test("a Request that is stale from the start is an expiry; one of the year 9999 waits", async () => {
    const stale = asking("stale", { request: { expiresAt: "2020-01-01T00:00:00Z" } })
    const far = asking("far", { request: { expiresAt: "9999-12-31T23:59:59Z" } })
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["stale"], ["far"]), { text: "ok" }],
      tools: [stale.tool, far.tool],
      options: { waitFor: yes },
    })
    const result = await client.run("go", { toolkit })
    expect(result.toolCalls.map((call) => call.output)).toEqual(["declined/expired: Approve stale?", "did far"])
  })

  test.each(["tomorrow", "2026-10-01T12:00:00"])("a Request with the deadline %j is never asked", async (expiresAt) => {
    const waitFor = vi.fn(yes)
    const buy = asking("buy", { request: { expiresAt } })
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "ok" }],
      tools: [buy.tool],
      options: { waitFor },
    })
    const result = await client.run("go", { toolkit })
    expect(result.toolCalls).toMatchObject([{ isError: true, output: expect.stringMatching(/RFC 3339/) }])
    expect(waitFor).not.toHaveBeenCalled()
  })
})

describe("what ends a run", () => {
  test("a waitFor that throws: the run rejects with that error, others that wait act no more", async () => {
    const a = asking("a")
    const b = asking("b")
    const bAsked = gate()
    const other = gate<boolean>()
    const fault = new Error("the channel is gone")
    const { provider, client, toolkit } = await setUp("openai", {
      turns: [calling(["a"], ["b"]), { text: "never" }],
      tools: [a.tool, b.tool],
      options: {
        waitFor: async ({ id, prompt }) => {
          if (prompt === "Approve b?") {
            bAsked.open()
            return other.opened.then((ok) => ({ id, ok }))
          }
          await bAsked.opened
          throw fault
        },
      },
    })
    await expect(client.run("go", { toolkit })).rejects.toBe(fault)
    other.open(true)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(a.calls).toHaveLength(1)
    expect(b.calls).toHaveLength(1)
    expect(provider.requests).toHaveLength(1)
  })

  test.each(["signal", "timeout"])(
    "a run that waits is over at once by %s, and a late yes runs nothing",
    async (how) => {
      const buy = asking("buy")
      const asked = gate<string>()
      const late = gate<Answer>()
      const stop = new AbortController()
      const { client, toolkit } = await setUp("openai", {
        turns: [calling(["buy"]), { text: "never" }],
        tools: [buy.tool],
        options: {
          waitFor: ({ id }) => {
            asked.open(id)
            return late.opened
          },
          ...(how === "timeout" ? { timeoutMs: 1500 } : {}),
        },
      })
      const running = client.run("go", { toolkit, signal: stop.signal })
      running.catch(() => {})
      const id = await asked.opened
      if (how === "signal") stop.abort(new Error("enough"))
      await expect(running).rejects.toThrow(how === "signal" ? "enough" : /timeout/i)
      late.open({ id, ok: true })
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(buy.calls).toHaveLength(1)
    },
  )

  test("tools get the run's signal; one that ignores it holds up nobody", async () => {
    let given: AbortSignal | undefined
    const started = gate()
    const tool: ToolDefinition = {
      name: "slow",
      description: "d",
      run: (_args, ctx) => {
        given = ctx?.signal
        started.open()
        return new Promise(() => {})
      },
    }
    const stop = new AbortController()
    const { client, toolkit } = await setUp("openai", { turns: [calling(["slow"])], tools: [tool] })
    const running = client.run("go", { toolkit, signal: stop.signal })
    running.catch(() => {})
    await started.opened
    expect(given?.aborted).toBe(false)
    stop.abort(new Error("enough"))
    await expect(running).rejects.toThrow("enough")
    expect(given?.aborted).toBe(true)
    await expect(client.run("go", { toolkit, signal: stop.signal })).rejects.toThrow("enough")
  })

  test("passing faults of the provider are retried, others are told", async () => {
    const provider = await provide("openai", [{ status: 500 }, { status: 429 }, { text: "at last" }])
    const toolkit = await createToolkit()
    expect(await clientOf("openai", provider).run("go", { toolkit })).toMatchObject({ status: "done", text: "at last" })
    const broken = await provide("openai", [{ status: 401 }])
    await expect(clientOf("openai", broken).run("go", { toolkit })).rejects.toThrow(/refuses our key/)
    expect(broken.requests).toHaveLength(1)
    const down = await provide("openai", [{ status: 500 }, { status: 500 }, { text: "too late" }])
    await expect(clientOf("openai", down, { retries: 1 }).run("go", { toolkit })).rejects.toThrow(/failed \(500\)/)
    expect(down.requests).toHaveLength(2)
  })

  test("the turn limit ends it incomplete, naming the limit", async () => {
    const look = plain("look")
    const { provider, client, toolkit } = await setUp("openai", {
      turns: [{ ...calling(["look"]), text: "Looking." }, calling(["look"]), { text: "never" }],
      tools: [look.tool],
      options: { maxTurns: 2 },
    })
    const result = await client.run("go", { toolkit })
    expect(result).toMatchObject({ status: "incomplete", limit: "maxTurns", turns: 2, toolCallCount: 2 })
    expect(provider.requests).toHaveLength(2)
  })

  test("wrong args and unknown tools go back to the model", async () => {
    const tool: ToolDefinition = {
      name: "set",
      description: "d",
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      run: () => "set",
    }
    const { provider, client, toolkit } = await setUp("anthropic", {
      turns: [
        calling(["set", { n: "x" }], ["nope"]),
        { calls: [{ id: "c1", name: "set", args: '{"n":1,"n":2}' }] },
        calling(["set", { n: 1 }]),
        { text: "ok" },
      ],
      tools: [tool],
    })
    const result = await client.run("go", { toolkit })
    expect(result.toolCalls.map((call) => [call.name, call.isError])).toEqual([
      ["set", true],
      ["nope", true],
      ["set", true],
      ["set", false],
    ])
    expect(result.toolCalls[1]?.output).toBe("Unknown tool: nope")
    expect(provider.requests).toHaveLength(4)
  })

  test("a conversation goes on, also one that was left while it waited", async () => {
    const buy = asking("buy")
    const first = await setUp("anthropic", { turns: [calling(["buy"], ["buy"])], tools: [buy.tool] })
    const parked = await first.client.run("go", { toolkit: first.toolkit })
    expect(parked.status).toBe("pending")
    const provider = await provide("anthropic", [{ text: "Never mind." }, { text: "Bye." }])
    const client = clientOf("anthropic", provider)
    const second = await client.run("forget it", { toolkit: first.toolkit, history: parked.messages })
    expect(second).toMatchObject({ status: "done", text: "Never mind." })
    expect(await client.run("bye", { toolkit: first.toolkit, history: second.messages })).toMatchObject({
      text: "Bye.",
    })
  })
})

describe.each(STYLES)("hooks and metrics, on the wire of %s", (style) => {
  async function watched(turns: Parameters<typeof setUp>[1]["turns"], tools: ToolDefinition[], more = {}) {
    const metrics: MetricEvent[] = []
    const after: { name: string; output: string; isError: boolean }[] = []
    const options = {
      onMetric: (event: MetricEvent) => void metrics.push(event),
      hooks: {
        afterTool: ({ name, result }: { name: string; result: { output: string; isError: boolean } }) => {
          after.push({ name, output: result.output, isError: result.isError })
        },
      },
      ...more,
    }
    return { ...(await setUp(style, { turns, tools, options })), metrics, after }
  }
  const one = (tool: string, isError: boolean, pending?: true) => ({
    event: "tool",
    tool,
    source: "native",
    isError,
    ms: expect.any(Number) as number,
    ...(pending === undefined ? {} : { pending }),
  })
  const turns = [calling(["buy"]), { text: "ok" }]

  test("approved: pending, then the result; afterTool sees the result alone", async () => {
    const { client, toolkit, metrics, after } = await watched(turns, [asking("buy").tool], { waitFor: yes })
    await client.run("go", { toolkit })
    expect(metrics).toEqual([one("buy", false, true), one("buy", false)])
    expect(after).toEqual([{ name: "buy", output: "did buy", isError: false }])
  })

  test("refused: pending alone, so error rates don't move; afterTool sees the refusal", async () => {
    const { client, toolkit, metrics, after } = await watched(turns, [asking("buy").tool], {
      waitFor: async ({ id }: Request) => answerDeclined(id),
    })
    await client.run("go", { toolkit })
    expect(metrics).toEqual([one("buy", false, true)])
    expect(after).toEqual([{ name: "buy", output: "declined/expired: Approve buy?", isError: true }])
  })

  test("suspended again: pending both times; afterTool sees what became of it, once", async () => {
    const { client, toolkit, metrics, after } = await watched(turns, [asking("buy", { again: true }).tool], {
      waitFor: yes,
    })
    await client.run("go", { toolkit })
    expect(metrics).toEqual([one("buy", false, true), one("buy", false, true)])
    expect(after).toEqual([{ name: "buy", output: "unresolved: Approve buy?", isError: true }])
  })

  test("halted: pending, and afterTool sees nothing", async () => {
    const { client, toolkit, metrics, after } = await watched(turns, [asking("buy").tool])
    expect(await client.run("go", { toolkit })).toMatchObject({ status: "pending" })
    expect(metrics).toEqual([one("buy", false, true)])
    expect(after).toEqual([])
  })

  test("a plain failure counts as one", async () => {
    const tool: ToolDefinition = {
      name: "buy",
      description: "d",
      run: () => {
        throw new Error("no")
      },
    }
    const { client, toolkit, metrics } = await watched(turns, [tool])
    await client.run("go", { toolkit })
    expect(metrics).toEqual([one("buy", true)])
  })

  test("a guard asks before the code it guards: yes runs it once, no never", async () => {
    for (const ok of [true, false]) {
      const wipe = plain("wipe", "wiped")
      const beforeTool = vi.fn(({ name }: { name: string }) => ({
        result: pending({ kind: "approval", prompt: `Really ${name}?` }),
      }))
      const asked: Request[] = []
      const metrics: MetricEvent[] = []
      const { provider, client, toolkit } = await setUp(style, {
        turns: [calling(["wipe"]), { text: "ok" }],
        tools: [wipe.tool],
        options: {
          hooks: { beforeTool },
          onMetric: (event) => void metrics.push(event),
          waitFor: async (request) => {
            expect(wipe.calls).toHaveLength(0)
            asked.push(request)
            return { id: request.id, ok }
          },
        },
      })
      const result = await client.run("go", { toolkit })
      expect(asked.map((request) => request.prompt)).toEqual(["Really wipe?"])
      expect(beforeTool).toHaveBeenCalledTimes(1)
      expect(wipe.calls).toHaveLength(ok ? 1 : 0)
      const output = ok ? "wiped" : "declined/expired: Really wipe?"
      expect(result.toolCalls).toMatchObject([{ name: "wipe", output, isError: !ok }])
      expect(resultsIn(style, provider.requests[1])).toEqual([sent(style, "call_1", output, !ok)])
      expect(metrics[0]).toEqual(one("wipe", false, true))
      expect(metrics.filter((metric) => metric.isError)).toEqual([])
    }
  })

  test("a yes to the guard is no answer to the tool's own question", async () => {
    const pay = asking("pay")
    const prompts: string[] = []
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["pay"]), { text: "ok" }],
      tools: [pay.tool],
      options: {
        hooks: { beforeTool: () => ({ result: pending({ kind: "approval", prompt: "Working hours?" }) }) },
        waitFor: async ({ id, prompt }) => {
          prompts.push(prompt)
          return { id, ok: true }
        },
      },
    })
    const result = await client.run("go", { toolkit })
    expect(prompts).toEqual(["Working hours?", "Approve pay?"])
    expect(pay.calls.map((call) => call.ctx?.request?.prompt)).toEqual([undefined, "Approve pay?"])
    expect(result.toolCalls).toMatchObject([{ output: "did pay" }])
  })

  test("beforeTool may change the args, answer in the tool's place, or throw; afterTool may change the result", async () => {
    const buy = plain("buy")
    const { provider, client, toolkit } = await setUp(style, {
      turns: [calling(["buy", { n: 1 }], ["cached"]), { text: "ok" }],
      tools: [buy.tool, plain("cached").tool],
      options: {
        hooks: {
          beforeTool: ({ name, args }) =>
            name === "buy"
              ? { args: { ...args, n: Number(args["n"]) + 1 } }
              : { result: { output: "from cache", isError: false } },
          afterTool: ({ result }) => ({ result: { ...result, output: result.output.toUpperCase() } }),
        },
      },
    })
    const result = await client.run("go", { toolkit })
    expect(buy.calls.map((call) => call.args)).toEqual([{ n: 2 }])
    expect(result.toolCalls).toMatchObject([{ args: { n: 2 }, output: "BUY DONE" }, { output: "FROM CACHE" }])
    expect(resultsIn(style, provider.requests[1]).map((one) => one.output)).toEqual(["BUY DONE", "FROM CACHE"])
    const throwing = clientOf(style, await provide(style, [calling(["buy"])]), {
      hooks: {
        beforeTool: () => {
          throw new Error("hook broken")
        },
      },
    })
    await expect(throwing.run("go", { toolkit })).rejects.toThrow("hook broken")
    expect(buy.calls).toHaveLength(1)
  })

  test("the toolkit's own waitFor serves a client that has none", async () => {
    const buy = asking("buy")
    const provider = await provide(style, turns)
    const toolkit = await createToolkit({ extraTools: [buy.tool], waitFor: yes })
    expect(await clientOf(style, provider).run("go", { toolkit })).toMatchObject({
      status: "done",
      toolCalls: [{ output: "did buy" }],
    })
  })
})

test("a call may ask while it goes on, where somebody answers, and is told so where nobody does", async () => {
  const tool: ToolDefinition = {
    name: "asks",
    description: "d",
    run: async (_args, { hold }) => {
      const answer = await hold?.({ id: "q1", kind: "input", prompt: "Which env?" })
      return answer === undefined ? "nobody answers" : `${answer.id}: ${String(answer.data?.["env"])}`
    },
  }
  const turns = () => [calling(["asks"]), { text: "ok" }]
  const waitFor = async ({ id }: Request): Promise<Answer> => ({ id, ok: true, data: { env: "prod" } })
  const asked = await setUp("openai", { turns: turns(), tools: [tool], options: { waitFor } })
  expect(await asked.client.run("go", { toolkit: asked.toolkit })).toMatchObject({
    status: "done",
    toolCalls: [{ output: "q1: prod" }],
  })
  const alone = await setUp("openai", { turns: turns(), tools: [tool] })
  expect(await alone.client.run("go", { toolkit: alone.toolkit })).toMatchObject({
    status: "done",
    toolCalls: [{ output: "nobody answers" }],
  })
})
