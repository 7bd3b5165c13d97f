import type { LanguageModelV3Message } from "@ai-sdk/provider"
import { afterEach, describe, expect, test } from "vitest"
import { conversationOf, tokensOf } from "../../src/agent/conversation.ts"
import { createModel, takeTurn } from "../../src/agent/model.ts"
import { userMessage, type Part } from "../../src/core/parts.ts"
import { startProvider, type Provider, type Style, type WireTurn } from "../fakes/provider.ts"

const PNG: Part = {
  type: "file",
  mediaType: "image/png",
  data: Buffer.from("\x89PNG…").toString("base64"),
  filename: "a.png",
}
const PDF: Part = {
  type: "file",
  mediaType: "application/pdf",
  data: Buffer.from("%PDF-1.7").toString("base64"),
  filename: "b.pdf",
}
const asked = (...parts: Part[]): LanguageModelV3Message =>
  JSON.parse(userMessage("what is this?", parts)) as LanguageModelV3Message

const providers: Provider[] = []
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()))
})

async function start(style: Style, turns: WireTurn[]) {
  const provider = await startProvider({ style, turns })
  providers.push(provider)
  const name = style === "openai" ? "openai-compatible" : "anthropic"
  const model = createModel({ provider: name, baseUrl: provider.baseUrl, model: "test-model", apiKey: "k" })
  return { provider, model }
}

/** What was sent with the n-th request, of its last message. */
const sent = ({ requests }: Provider, n: number): unknown =>
  (requests[n]?.body["messages"] as { content: unknown }[] | undefined)?.at(-1)?.content

describe.each<Style>(["openai", "anthropic"])("files on the wire of %s", (style) => {
  test("go as they are", async () => {
    const { provider, model } = await start(style, [{ text: "A cat." }])
    expect(await takeTurn(model, { messages: [asked(PNG, PDF)], tools: [] })).toMatchObject({
      ok: true,
      text: "A cat.",
    })
    const data = "data" in PNG ? PNG.data : ""
    expect(JSON.stringify(sent(provider, 0))).toContain(data)
    expect(JSON.stringify(sent(provider, 0))).toContain("b.pdf")
  })

  test("that the model refuses are left out with a word, at once and from then on", async () => {
    const refusal = { status: 400, body: JSON.stringify({ error: { message: "this model takes no images" } }) }
    const { provider, model } = await start(style, [refusal, { text: "I can't see it." }, { text: "Still not." }])
    const turn = await takeTurn(model, { messages: [asked(PNG)], tools: [] })
    expect(turn).toMatchObject({ ok: true, text: "I can't see it." })
    expect(await takeTurn(model, { messages: [asked(PNG)], tools: [] })).toMatchObject({ text: "Still not." })
    expect(provider.requests).toHaveLength(3)
    for (const n of [1, 2]) {
      expect(JSON.stringify(sent(provider, n))).toContain("the model does not take")
      expect(JSON.stringify(sent(provider, n))).not.toContain("data" in PNG ? PNG.data : "?")
    }
  })

  test("are not to blame for every fault: a key that is refused is, and what has no files is asked once", async () => {
    const { provider, model } = await start(style, [{ status: 401 }, { status: 400 }])
    expect(await takeTurn(model, { messages: [asked(PNG)], tools: [] })).toMatchObject({ ok: false })
    expect(await takeTurn(model, { messages: [asked()], tools: [] })).toMatchObject({ ok: false })
    expect(provider.requests).toHaveLength(2)
  })
})

test("a kind that the provider's own code refuses is left out, too", async () => {
  const { provider, model } = await start("openai", [{ text: "I can't read it." }])
  const odd: Part = { type: "file", mediaType: "application/zip", data: "UEs=", filename: "c.zip" }
  expect(await takeTurn(model, { messages: [asked(odd)], tools: [] })).toMatchObject({ ok: true })
  expect(JSON.stringify(sent(provider, 0))).toContain("application/zip")
})

test("an image weighs what a model sees of it, and not what its data takes", () => {
  const big: Part = { type: "file", mediaType: "image/png", data: "A".repeat(4_000_000), filename: "big.png" }
  const tokens = (...parts: Part[]): number =>
    tokensOf(conversationOf([userMessage("what is this?", parts)]), { last: undefined, beside: 0 })
  expect(tokens(big)).toBeLessThan(3000)
  expect(tokens(big)).toBeGreaterThan(1000)
  expect(tokens({ ...big, mediaType: "application/pdf" })).toBeGreaterThan(100_000)
})
