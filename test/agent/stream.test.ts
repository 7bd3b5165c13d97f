import type { Answer, Request, StreamEvent, ToolDefinition } from "countersign"
import { answerDeclined, pending } from "countersign"
import { afterEach, describe, expect, test } from "vitest"
import { calling, closeAll, eventsOf, gate, setUp, STYLES } from "./wires.ts"

afterEach(closeAll)

const asking = (name: string): ToolDefinition => ({
  name,
  description: "d",
  inputSchema: { type: "object" },
  run: (_args, ctx) =>
    ctx?.answer === undefined ? pending({ kind: "approval", prompt: `Approve ${name}?` }) : `did ${name}`,
})
const typesOf = (events: StreamEvent[]) =>
  events.map((event) => event.type).filter((type, n, all) => type !== all[n - 1])

describe.each(STYLES)("a stream on the wire of %s", (style) => {
  test("text, calls, the Request before anybody is asked, the result, the end", async () => {
    const order: string[] = []
    const { client, toolkit } = await setUp(style, {
      turns: [{ text: "I will buy one.", ...calling(["buy", { n: 1 }]) }, { text: "Bought it for you." }],
      tools: [asking("buy")],
      options: {
        waitFor: async ({ id }) => {
          order.push("waitFor")
          return { id, ok: true }
        },
      },
    })
    const events: StreamEvent[] = []
    for await (const event of client.stream("go", { toolkit })) {
      order.push(event.type)
      events.push(event)
    }
    expect(order.indexOf("pending")).toBeLessThan(order.indexOf("waitFor"))
    expect(typesOf(events)).toEqual(["text", "tool_call", "pending", "tool_result", "text", "usage", "done"])
    const said = events.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join("")
    expect(said).toBe("I will buy one.Bought it for you.")
    expect(events).toContainEqual({ type: "tool_call", id: "call_1", name: "buy", args: { n: 1 } })
    expect(events).toContainEqual({ type: "tool_result", id: "call_1", name: "buy", output: "did buy", isError: false })
    const done = events.at(-1)
    expect(done?.type === "done" && done.result).toMatchObject({ status: "done", text: "Bought it for you.", turns: 2 })
    expect(done?.type === "done" && done.result.usage).toEqual({
      promptTokens: 20,
      completionTokens: 10,
      totalTokens: 30,
    })
  })

  test("a refusal reads as in run()", async () => {
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["buy"]), { text: "ok" }],
      tools: [asking("buy")],
      options: { waitFor: async ({ id }) => answerDeclined(id, "cancelled") },
    })
    const events = await eventsOf(client.stream("go", { toolkit }))
    expect(events).toContainEqual({
      type: "tool_result",
      id: "call_1",
      name: "buy",
      output: "declined/expired: Approve buy?",
      isError: true,
    })
  })

  test("concurrent suspensions do not wait for each other", async () => {
    const both = gate()
    const waiting: { request: Request; answer: (answer: Answer) => void }[] = []
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["a"], ["b"]), { text: "ok" }],
      tools: [asking("a"), asking("b")],
      options: {
        waitFor: (request) => {
          const own = gate<Answer>()
          waiting.push({ request, answer: own.open })
          if (waiting.length === 2) both.open()
          return own.opened
        },
      },
    })
    const reading = eventsOf(client.stream("go", { toolkit }))
    await both.opened
    for (const { request, answer } of waiting.toReversed()) answer({ id: request.id, ok: true })
    const events = await reading
    expect(typesOf(events)).toEqual(["tool_call", "pending", "tool_result", "text", "usage", "done"])
    expect(events.filter((event) => event.type === "pending")).toHaveLength(2)
  })

  test("with nobody to ask: the first Request, then the end, no result for it", async () => {
    const { client, toolkit } = await setUp(style, {
      turns: [calling(["a"], ["b"])],
      tools: [asking("a"), asking("b")],
    })
    const events = await eventsOf(client.stream("go", { toolkit }))
    expect(events.map((event) => event.type)).toEqual(["tool_call", "tool_call", "pending", "done"])
    const done = events.at(-1)
    const halted = events[2]
    expect(halted?.type === "pending" && halted.request.prompt).toBe("Approve a?")
    expect(done?.type === "done" && done.result).toMatchObject({ status: "pending", pending: { prompt: "Approve a?" } })
  })

  test("a fault of the provider comes out of the iteration; leaving it ends the run", async () => {
    const broken = await setUp(style, { turns: [{ status: 401 }], tools: [] })
    await expect(eventsOf(broken.client.stream("go", { toolkit: broken.toolkit }))).rejects.toThrow(/refuses our key/)
    let given: AbortSignal | undefined
    const slow: ToolDefinition = {
      name: "slow",
      description: "d",
      run: (_args, ctx) => {
        given = ctx?.signal
        return new Promise(() => {})
      },
    }
    const { client, toolkit } = await setUp(style, { turns: [calling(["slow"])], tools: [slow] })
    for await (const event of client.stream("go", { toolkit })) if (event.type === "tool_call") break
    expect(given === undefined || given.aborted).toBe(true)
  })
})
