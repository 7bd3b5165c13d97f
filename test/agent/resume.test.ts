import type { Answer, RunResult, ToolContext, ToolDefinition } from "countersign"
import { answerDeclined, answerOutput, createToolkit, pending, RunFailed } from "countersign"
import { afterEach, describe, expect, test } from "vitest"
import { calling, carried, clientOf, closeAll, gate, provide, resultsIn, sent, setUp, STYLES } from "./wires.ts"

afterEach(closeAll)

function kit() {
  const ran: { tool: string; args: Record<string, unknown>; ctx: ToolContext | undefined }[] = []
  const tool = (name: string, asks: boolean): ToolDefinition => ({
    name,
    description: "d",
    inputSchema: { type: "object" },
    run: (args, ctx) => {
      if (asks && ctx?.answer === undefined) return pending({ kind: "approval", prompt: `Approve ${name}?` })
      ran.push({ tool: name, args: structuredClone(args), ctx })
      return `did ${name}`
    },
  })
  return { ran, tools: [tool("read", false), tool("note", false), tool("a", true), tool("b", true)] }
}

const idOf = (result: RunResult) => result.pending?.id ?? ""

describe.each(STYLES)("a run without anybody to ask, on the wire of %s", (style) => {
  test("halts as plain data", async () => {
    const { ran, tools } = kit()
    const { provider, client, toolkit } = await setUp(style, { turns: [calling(["a", { n: 1 }])], tools })
    const result = await client.run("go", { toolkit })
    expect(result).toMatchObject({ status: "pending", text: "Approve a?", turns: 1, toolCallCount: 1 })
    expect(result.pending).toEqual({ id: expect.stringMatching(/^pnd-/), kind: "approval", prompt: "Approve a?" })
    expect(result.toolCalls).toEqual([{ name: "a", args: { n: 1 }, output: "Approve a?", isError: true }])
    expect(carried(result)).toEqual(result)
    expect(result.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool"])
    expect(JSON.stringify(result.messages.at(-1))).toContain("Approve a?")
    expect(ran).toEqual([])
    expect(provider.requests).toHaveLength(1)
  })

  test("halts on the first in call order, whoever was quicker; siblings that ran are not forgotten", async () => {
    const slow = gate()
    const { tools } = kit()
    const first: ToolDefinition = {
      name: "first",
      description: "d",
      run: async () => {
        await slow.opened
        return pending({ kind: "approval", prompt: "First?" })
      },
    }
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["read"], ["first"], ["b"], ["note"])],
      tools: [...tools, first],
    })
    const running = client.run("go", { toolkit })
    setTimeout(slow.open, 30)
    const result = await running
    expect(result.pending?.prompt).toBe("First?")
    expect(result.toolCalls.map((call) => [call.name, call.output])).toEqual([
      ["read", "did read"],
      ["first", "First?"],
      ["note", "did note"],
    ])
    const said = JSON.stringify(result.messages)
    expect(said).not.toContain("Approve b?")
    expect(said).toContain("did note")
  })

  test("a guard halts as well, and its code has not run", async () => {
    const { ran, tools } = kit()
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["read"])],
      tools,
      options: { hooks: { beforeTool: () => ({ result: pending({ kind: "approval", prompt: "Guarded?" }) }) } },
    })
    const result = await client.run("go", { toolkit })
    expect(result).toMatchObject({
      status: "pending",
      pending: { prompt: "Guarded?" },
      toolCalls: [{ output: "Guarded?" }],
    })
    expect(ran).toEqual([])
    const provider = await provide(style, [{ text: "ok" }])
    const done = await clientOf(style, provider).resume(carried(result), { id: idOf(result), ok: true }, { toolkit })
    expect(done).toMatchObject({ status: "done", toolCalls: [{ name: "read", output: "did read", isError: false }] })
    expect(ran).toHaveLength(1)
    expect(ran[0]?.ctx).not.toHaveProperty("answer")
  })
})

describe.each(STYLES)("resume, on the wire of %s", (style) => {
  const park = async (turn = calling(["read"], ["a", { n: 1 }], ["note"])) => {
    const { ran, tools } = kit()
    const { client, toolkit } = await setUp(style, { turns: [turn], tools })
    return { ran, tools, parked: carried(await client.run("go", { toolkit })) }
  }
  /** Another process: fresh provider, client and toolkit. */
  const elsewhere = async (tools: ToolDefinition[], turns = [{ text: "ok" }] as Parameters<typeof provide>[1]) => {
    const provider = await provide(style, turns)
    return { provider, client: clientOf(style, provider), toolkit: await createToolkit({ extraTools: tools }) }
  }

  test("a yes runs the call once, with the Answer, and repeats nothing else", async () => {
    const { ran, tools, parked } = await park()
    expect(ran.map((one) => one.tool)).toEqual(["read", "note"])
    const { provider, client, toolkit } = await elsewhere(tools)
    const answer: Answer = { id: idOf(parked), ok: true, data: { by: "U1", any: { key: [1] } } }
    const result = await client.resume(parked, answer, { toolkit })
    expect(result).toMatchObject({ status: "done", text: "ok", turns: 2, toolCallCount: 3 })
    expect(result).not.toHaveProperty("parked")
    expect(ran.map((one) => one.tool)).toEqual(["read", "note", "a"])
    expect(ran[2]).toMatchObject({ args: { n: 1 }, ctx: { answer, request: parked.pending } })
    expect(result.toolCalls.map((call) => call.output)).toEqual(["did read", "did a", "did note"])
    expect(resultsIn(style, provider.requests[0])).toEqual([
      sent(style, "call_1", "did read", false),
      sent(style, "call_2", "did a", false),
      sent(style, "call_3", "did note", false),
    ])
    expect(provider.requests[0]?.raw).not.toContain("Approve a?")
    expect(result.usage.totalTokens).toBe(30)
  })

  test("a no is the pinned error result; nothing runs", async () => {
    const { ran, tools, parked } = await park()
    const { provider, client, toolkit } = await elsewhere(tools)
    const result = await client.resume(parked, answerDeclined(idOf(parked), "over budget"), { toolkit })
    expect(result).toMatchObject({ status: "done", text: "ok" })
    expect(resultsIn(style, provider.requests[0])[1]).toEqual(
      sent(style, "call_2", "declined/expired: Approve a?", true),
    )
    expect(ran.map((one) => one.tool)).toEqual(["read", "note"])
  })

  test.each<[string, (id: string) => unknown]>([
    ["another id", () => ({ id: "pnd-other", ok: true })],
    ["no id", () => ({ ok: true })],
    ["none", () => undefined],
    ["null", () => null],
  ])("an Answer with %s is an error, and the run stays parked", async (_how, answerFor) => {
    const { ran, tools, parked } = await park(calling(["a"]))
    const { provider, client, toolkit } = await elsewhere(tools)
    await expect(client.resume(parked, answerFor(idOf(parked)) as Answer, { toolkit })).rejects.toThrow(/resume:/)
    expect(ran).toEqual([])
    expect(provider.requests).toHaveLength(0)
    expect(await client.resume(parked, answerOutput(idOf(parked), "yes"), { toolkit })).toMatchObject({
      status: "done",
    })
    expect(ran).toHaveLength(1)
  })

  test("nothing parked is an error", async () => {
    const { tools } = kit()
    const { provider, client, toolkit } = await elsewhere(tools)
    const done = await client.run("go", { toolkit })
    for (const nothing of [done, {}, null, undefined, "x", { parked: {} }]) {
      await expect(client.resume(nothing as never, { id: "x", ok: true }, { toolkit })).rejects.toThrow(
        /nothing is parked/,
      )
    }
    expect(provider.requests).toHaveLength(1)
  })

  test("two suspensions: one at a time, in call order, balanced, nothing twice", async () => {
    const { ran, tools, parked } = await park(calling(["a"], ["read"], ["b"]))
    const second = await elsewhere(tools, [])
    const waiting = carried(
      await second.client.resume(parked, { id: idOf(parked), ok: true }, { toolkit: second.toolkit }),
    )
    expect(waiting).toMatchObject({ status: "pending", pending: { prompt: "Approve b?" } })
    expect(waiting.toolCalls.map((call) => call.output)).toEqual(["did a", "did read", "Approve b?"])
    expect(second.provider.requests).toHaveLength(0)
    const third = await elsewhere(tools)
    const result = await third.client.resume(waiting, answerDeclined(idOf(waiting)), { toolkit: third.toolkit })
    expect(result.status).toBe("done")
    expect(resultsIn(style, third.provider.requests[0])).toEqual([
      sent(style, "call_1", "did a", false),
      sent(style, "call_2", "did read", false),
      sent(style, "call_3", "declined/expired: Approve b?", true),
    ])
    expect(ran.map((one) => one.tool)).toEqual(["read", "a"])
  })

  test("the second Request is the one minted the first time, and the first Answer does not do for it", async () => {
    const { ran, tools, parked } = await park(calling(["a"], ["b"]))
    const { client, toolkit } = await elsewhere(tools, [])
    const answer: Answer = { id: idOf(parked), ok: true }
    const waiting = await client.resume(parked, answer, { toolkit })
    const stored = Object.keys(parked.parked?.texts ?? {})
    expect(stored).toContain(`req:${idOf(waiting)}`)
    await expect(client.resume(waiting, answer, { toolkit })).rejects.toThrow(/waits for one to/)
    expect(ran.map((one) => one.tool)).toEqual(["a"])
  })

  test("a later turn that suspends parks again", async () => {
    const { ran, tools, parked } = await park(calling(["a"]))
    const { client, toolkit } = await elsewhere(tools, [calling(["b"]), { text: "ok" }])
    const again = await client.resume(parked, { id: idOf(parked), ok: true }, { toolkit })
    expect(again).toMatchObject({ status: "pending", pending: { prompt: "Approve b?" } })
    expect(await client.resume(again, { id: idOf(again), ok: true }, { toolkit })).toMatchObject({ status: "done" })
    expect(ran.map((one) => one.tool)).toEqual(["a", "b"])
  })

  test("a call that suspends again is unresolved", async () => {
    const stubborn: ToolDefinition = {
      name: "stubborn",
      description: "d",
      run: () => pending({ kind: "approval", prompt: "Please?" }),
    }
    const { client, toolkit } = await setUp(style, { turns: [calling(["stubborn"])], tools: [stubborn] })
    const parked = carried(await client.run("go", { toolkit }))
    const { provider, client: other } = await elsewhere([stubborn])
    const result = await other.resume(parked, { id: idOf(parked), ok: true }, { toolkit })
    expect(result).toMatchObject({ status: "done", toolCalls: [{ output: "unresolved: Please?", isError: true }] })
    expect(resultsIn(style, provider.requests[0])).toEqual([sent(style, "call_1", "unresolved: Please?", true)])
  })

  test.each<[string, Partial<Answer>]>([
    ["a text for ok", { ok: "true" as never }],
    ["a no with data", { ok: false, data: { output: "yes" } }],
  ])("%s never approves", async (_how, partial) => {
    const { ran, tools, parked } = await park(calling(["a"]))
    const { client, toolkit } = await elsewhere(tools)
    const result = await client.resume(parked, { id: idOf(parked), ok: false, ...partial }, { toolkit })
    expect(result.toolCalls).toMatchObject([{ output: "declined/expired: Approve a?", isError: true }])
    expect(ran).toEqual([])
  })

  test("a yes after the deadline never approves", async () => {
    const { ran, tools, parked } = await park(calling(["a"]))
    for (const ask of parked.parked?.run.asks ?? []) ask.expiresAt = Date.now() - 1
    const { client, toolkit } = await elsewhere(tools)
    const result = await client.resume(parked, { id: idOf(parked), ok: true }, { toolkit })
    expect(result.toolCalls).toMatchObject([{ output: "declined/expired: Approve a?", isError: true }])
    expect(ran).toEqual([])
  })

  test("double and simultaneous answers run the tool once; another answer is refused", async () => {
    const { ran, tools, parked } = await park(calling(["a"]))
    const { provider, client, toolkit } = await elsewhere(tools)
    const answer: Answer = { id: idOf(parked), ok: true }
    const [one, two] = await Promise.all([
      client.resume(parked, answer, { toolkit }),
      client.resume(carried(parked), answer, { toolkit }),
    ])
    expect(two).toEqual(one)
    expect(await client.resume(parked, answer, { toolkit })).toEqual(one)
    await expect(client.resume(parked, answerDeclined(answer.id), { toolkit })).rejects.toThrow(/answered before/)
    expect(ran).toHaveLength(1)
    expect(provider.requests).toHaveLength(1)
  })

  test("when the provider fails afterwards, the run goes on from the stored result", async () => {
    const { ran, tools, parked } = await park(calling(["a"]))
    const failing = await elsewhere(tools, [{ status: 400 }])
    const answer: Answer = { id: idOf(parked), ok: true }
    const failed = await failing.client.resume(parked, answer, { toolkit: failing.toolkit }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failed).toBeInstanceOf(RunFailed)
    expect(failed).toMatchObject({ message: expect.stringMatching(/refused the request \(400\)/) })
    expect(ran).toHaveLength(1)
    // Here, with the same answer.
    const here = await elsewhere(tools)
    expect(await here.client.resume(parked, answer, { toolkit: here.toolkit })).toMatchObject({ status: "done" })
    // In another process, from what the error carries.
    const there = await elsewhere(tools)
    const carriedOn = carried((failed as RunFailed).parked)
    const result = await there.client.resume(carriedOn, undefined, { toolkit: there.toolkit })
    expect(result).toMatchObject({ status: "done", toolCalls: [{ output: "did a" }], turns: 2 })
    expect(resultsIn(style, there.provider.requests[0])).toEqual([sent(style, "call_1", "did a", false)])
    expect(ran).toHaveLength(1)
  })

  test("aborted while the tool ran: its outcome is unknown, and it is not run again", async () => {
    const started = gate()
    let runs = 0
    const tool: ToolDefinition = {
      name: "a",
      description: "d",
      run: (_args, ctx) => {
        if (ctx?.answer === undefined) return pending({ kind: "approval", prompt: "Approve a?" })
        runs += 1
        started.open()
        return new Promise(() => {})
      },
    }
    const { client, toolkit } = await setUp(style, { turns: [calling(["a"]), { text: "ok" }], tools: [tool] })
    const parked = carried(await client.run("go", { toolkit }))
    const answer: Answer = { id: idOf(parked), ok: true }
    const stop = new AbortController()
    const first = client.resume(parked, answer, { toolkit, signal: stop.signal })
    first.catch(() => {})
    await started.opened
    stop.abort(new Error("enough"))
    await expect(first).rejects.toThrow("enough")
    const result = await client.resume(parked, answer, { toolkit })
    expect(result.toolCalls.length + runs).toBeGreaterThan(0)
    expect(runs).toBe(1)
    expect(JSON.stringify(result.messages)).toContain("outcome unknown")
  })

  test("a tool that is gone, or whose args were changed meanwhile, does not run", async () => {
    const { ran, tools, parked } = await park(calling(["a", { n: 1 }]))
    const gone = await elsewhere(tools.filter((tool) => tool.name !== "a"))
    const result = await gone.client.resume(parked, { id: idOf(parked), ok: true }, { toolkit: gone.toolkit })
    expect(result.toolCalls).toMatchObject([{ isError: true, output: expect.stringMatching(/not available any more/) }])
    const other = await park(calling(["a", { n: 1 }]))
    const texts = other.parked.parked?.texts ?? {}
    texts["args:1.1"] = '{"n":999}'
    const { client, toolkit } = await elsewhere(other.tools)
    const changed = await client.resume(other.parked, { id: idOf(other.parked), ok: true }, { toolkit })
    expect(changed.toolCalls).toMatchObject([
      { isError: true, output: expect.stringMatching(/not those that were shown/) },
    ])
    expect([...ran, ...other.ran]).toEqual([])
  })
})
