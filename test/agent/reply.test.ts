import type { LanguageModelV3Message } from "@ai-sdk/provider"
import { describe, expect, test } from "vitest"
import { takeTurn } from "../../src/agent/model.ts"
import { scriptedModel, type Said } from "../fakes/model.ts"

const user: LanguageModelV3Message = { role: "user", content: [{ type: "text", text: "go" }] }

describe("half a character in what a model says", () => {
  const half = "\ud83d"

  test.each<[string, Said]>([
    ["an answer", { text: `All is well ${half}` }],
    ["args", { text: half, calls: [{ tool: "deploy", args: `{"env":"${half}"}` }] }],
    ["a tool's name", { calls: [{ tool: `deploy${half}` }] }],
  ])("can be stored: %s", async (_, said) => {
    const turn = await takeTurn(scriptedModel([said]), { messages: [user], tools: [] })
    if (!turn.ok) throw new Error(turn.words)
    const { text, calls, message } = turn
    for (const one of [text, ...calls.flatMap(({ ref, tool, raw, error = "" }) => [ref, tool, raw, error])]) {
      expect(one).toBe(one.toWellFormed())
    }
    expect(JSON.stringify(message)).not.toMatch(/\\ud83d/i)
  })
})
