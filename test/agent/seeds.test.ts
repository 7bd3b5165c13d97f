/** The examples of the two documentation pages: the JavaScript ones as they stand, the C# ones in TypeScript. */
import assert from "node:assert"
import { createServer } from "node:http"
import type { RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, test } from "vitest"
import type { Answer } from "countersign"
import { answerDeclined, createClient, createToolkit, defineTool, pending } from "countersign"

describe("answerDeclined, JavaScript", () => {
  test("1. the smallest useful call: the default reason", () => {
    const answer = answerDeclined("req-1")
    assert.deepEqual(answer, { id: "req-1", ok: false, reason: "declined" })
    assert.equal(JSON.stringify(answer), '{"id":"req-1","ok":false,"reason":"declined"}')
  })

  test("2. the realistic case: an explicit reason distinguishing expiry from refusal", () => {
    // A human actively said no.
    const declined = answerDeclined("req-1")
    assert.equal(declined.reason, "declined")

    // The request expired before anyone answered: a different reason, same shape, same `ok: false`.
    const expired = answerDeclined("req-1", "expired")
    assert.deepEqual(expired, { id: "req-1", ok: false, reason: "expired" })

    // A caller that only checks `.ok` needs no reason-specific branch to behave correctly.
    for (const a of [declined, expired]) {
      assert.equal(a.ok, false)
    }
  })

  test("3. the full surface: id is required, and reason is purely advisory", () => {
    // id is required: it must match the Request's id the suspension carried.
    assert.throws(() => answerDeclined(""), /id is required/)

    // Any reason string is accepted; the loop never branches on its value, only on `ok`.
    const cancelled = answerDeclined("req-1", "cancelled")
    assert.equal(cancelled.ok, false)
    assert.equal(cancelled.reason, "cancelled")
  })
})

/** A server on loopback, as the page's own stub. */
async function stub(listener: RequestListener): Promise<{ baseUrl: string; close(): Promise<void> }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

describe("Answer.Declined, C#", () => {
  test("1. the smallest useful call: the default reason", () => {
    const d = answerDeclined("req-1", "declined")
    if (d.ok) throw new Error("answerDeclined always sets ok = false")
    if (d.reason !== "declined") throw new Error(d.reason)

    // The parameter default is the same string: answerDeclined(id) alone means the same thing.
    const withDefault = answerDeclined("req-2")
    if (withDefault.reason !== "declined") throw new Error(withDefault.reason)
    if (withDefault.ok) throw new Error("ok must be false regardless of the reason text")
  })

  test("2. the realistic case: a declined answer feeds back as a tool error, the loop keeps going", async () => {
    let httpCalls = 0
    const server = await stub((_request, response) => {
      httpCalls++
      response.writeHead(200, { "content-type": "application/json" })
      response.end(
        httpCalls === 1
          ? String.raw`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"approve_purchase","arguments":"{\"item\":\"gpu\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
          : `{"choices":[{"message":{"role":"assistant","content":"The purchase was declined."},"finish_reason":"stop"}],"usage":{"prompt_tokens":15,"completion_tokens":4,"total_tokens":19}}`,
      )
    })

    const approve = defineTool({
      name: "approve_purchase",
      description: "Requests spend approval before proceeding",
      inputSchema: { type: "object", properties: { item: { type: "string" } } },
      run: (a, ctx) =>
        ctx?.answer !== undefined
          ? { output: "declined", isError: true }
          : pending({ kind: "approval", prompt: `Approve purchase of ${String(a["item"])}?` }),
    })

    const client = createClient({
      baseUrl: server.baseUrl,
      style: "openai",
      model: "gpt-4o-mini",
      apiKey: "test-key",
      // A human said no.
      waitFor: (req) => Promise.resolve(answerDeclined(req.id, "declined")),
    })

    const tk = await createToolkit({ extraTools: [approve] })
    const result = await client.run("buy a gpu", { toolkit: tk })

    if (result.status !== "done") throw new Error(`status: ${result.status}`) // NOT "pending": waitFor resolved it
    if (result.toolCalls[0]?.isError !== true) throw new Error("the fed-back tool result must carry the decline")
    assert.equal(result.text, "The purchase was declined.")
    assert.equal(result.toolCalls[0].output, "declined/expired: Approve purchase of gpu?")
    assert.deepEqual(result.usage, { promptTokens: 25, completionTokens: 9, totalTokens: 34 })
    await tk.close()
    await server.close()
  })

  test("3. full surface: a custom reason string, and why `reason` is advisory only", () => {
    // Any string is accepted: none of "declined"/"cancelled"/"expired" is enforced here.
    const expired = answerDeclined("req-3", "expired")
    const cancelled = answerDeclined("req-4", "cancelled")
    const custom = answerDeclined("req-5", "manager rejected: over budget")

    for (const a of [expired, cancelled, custom]) {
      if (a.ok) throw new Error(`${a.id}: ok must be false regardless of the reason text`)
    }

    // Nothing validates the reason; only ok drives the loop.
    // A host that wants the MCP-elicitation-bridge mapping applies it itself:
    const toElicitAction = (a: Answer) => (a.ok ? "accept" : a.reason === "declined" ? "decline" : "cancel")

    if (toElicitAction(expired) !== "cancel") throw new Error(toElicitAction(expired))
    if (toElicitAction(custom) !== "cancel") throw new Error(toElicitAction(custom))
    if (toElicitAction(answerDeclined("req-6")) !== "decline") throw new Error("default reason maps to decline")
  })
})
