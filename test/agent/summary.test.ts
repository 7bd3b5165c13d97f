import fc from "fast-check"
import { expect, test } from "vitest"
import { APICallError } from "@ai-sdk/provider"
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider"
import { advance } from "../../src/agent/advance.ts"
import type { Agent } from "../../src/agent/agent.ts"
import { MemoryHeld } from "../../src/agent/memory.ts"
import { userMessage, type Part } from "../../src/core/parts.ts"
import { begin } from "../../src/core/turn.ts"
import { unguarded } from "../fakes/agent.ts"
import { scriptedModel, type ScriptedTurn } from "../fakes/model.ts"

const textOf = (options: LanguageModelV3CallOptions | undefined): string => JSON.stringify(options?.prompt ?? [])
/** A summary is the one request without tools. */
const isSummary = (options: LanguageModelV3CallOptions): boolean => options.tools === undefined

async function play(
  turns: ScriptedTurn[],
  how: {
    contextTokens: number
    prompt?: string
    parts?: Part[]
    output?: (n: number) => string
    agent?: Partial<Agent>
  },
) {
  const { prompt = "look after the servers", contextTokens, output = () => "x".repeat(2000) } = how
  const about = { id: "r", cause: "c", requester: { team: "T1", user: "U1" }, channel: "C1", prompt, keep: 1 }
  const user = userMessage(prompt, how.parts)
  const held = MemoryHeld.begin(begin({ ...about, rooted: true, via: "command", transcript: [user] }, Date.now()))
  let count = 0
  const tool = { name: "read", description: "Reads", inputSchema: { type: "object" }, run: () => output(count++) }
  const model = scriptedModel(turns)
  const limits = { maxTurns: 100, maxTokens: Infinity, retries: 0, retryBaseMs: 1, contextTokens }
  await advance(held, await unguarded(model, [tool], { ...limits, ...how.agent }))
  return { held, requests: model.requests, run: held.run(), log: await held.transcript() }
}

const read: ScriptedTurn = { calls: [{ tool: "read" }, { tool: "read" }] }
const tooLong = (): Error =>
  new APICallError({
    message: "prompt is too long: 210000 tokens > 200000 maximum",
    url: "http://x",
    requestBodyValues: {},
    statusCode: 400,
    responseBody: JSON.stringify({ error: { message: "prompt is too long: 210000 tokens > 200000 maximum" } }),
  })

test("older turns are summarised once it gets too long; what was asked first and the latest turns stay as they are", async () => {
  const reading = (prompt: number): ScriptedTurn => ({
    calls: [{ tool: "read" }, { tool: "read" }],
    usage: { prompt, completion: 5 },
  })
  const turns = [reading(50), reading(1300), reading(2600), "Read: all is well, id 4711.", "Done."]
  const { requests, run, log } = await play(turns, { contextTokens: 4000 })
  expect(run.ended?.how).toBe("done")
  expect(requests.map(isSummary)).toEqual([false, false, false, true, false])
  expect(textOf(requests[3])).toContain("look after the servers")
  const last = requests[4]?.prompt ?? []
  expect(JSON.stringify(last[0])).toContain("look after the servers")
  expect(JSON.stringify(last[1])).toContain("all is well, id 4711.")
  expect(last.map(({ role }) => role)).toEqual(["user", "user", "assistant", "tool", "tool"])
  // Nothing was taken out of the log: the summary is one more entry.
  expect(log.map((text) => (JSON.parse(text) as { role: string }).role)).toEqual([
    "user",
    ...Array.from({ length: 3 }, () => ["assistant", "tool", "tool"]).flat(),
    "summary",
    "assistant",
  ])
  expect(run.turns).toBe(4)
  expect(run.usage).toEqual({ prompt: 3970, completion: 25 })
})

test("what the provider itself finds too long is summarised, once, and all of it", async () => {
  const { requests, run } = await play([read, tooLong(), "A summary.", "Done."], { contextTokens: 100_000 })
  expect(run.ended?.how).toBe("done")
  expect(requests.map(isSummary)).toEqual([false, false, true, false])
  expect(requests[3]?.prompt.map(({ role }) => role)).toEqual(["user", "user"])
})

test.each<[string, ScriptedTurn[], string]>([
  [
    "the summary does not help",
    [read, tooLong(), "A summary.", tooLong()],
    "the conversation has become too long for the model, even after it was summarised",
  ],
  ["there is nothing to summarise", [tooLong()], "the conversation has become too long for the model"],
  [
    "the summary itself is too long to make",
    [read, ...Array.from({ length: 6 }, tooLong)],
    "the conversation has become too long for the model, and could not be summarised: the conversation has become too long for the model",
  ],
  [
    "the summary is empty",
    [read, tooLong(), "  "],
    "the conversation has become too long for the model, and could not be summarised: the model gave no summary",
  ],
])("it ends in words, and is not tried over and over, when %s", async (_what, turns, words) => {
  const { run, requests } = await play(turns, { contextTokens: 100_000 })
  expect(run.ended).toMatchObject({ how: "failed", words })
  expect(requests).toHaveLength(turns.length)
})

test("a model that reads less than is thought is given less to summarise", async () => {
  // 30,000 tokens, one for each character, where 100,000 are configured.
  const small = (text: string) => (options: LanguageModelV3CallOptions) => {
    if (textOf(options).length > 30_000) throw tooLong()
    return { text }
  }
  const turns = [read, small("要約"), small("要約"), small("要約"), small("Done.")]
  const { run, requests, log } = await play(turns, { contextTokens: 100_000, output: () => "字".repeat(90_000) })
  expect(run.ended?.how).toBe("done")
  expect(requests.map(isSummary)).toEqual([false, true, true, true, false])
  expect(log.filter((text) => text.startsWith('{"role":"summary"'))).toHaveLength(1)
})

test("files are not to blame for what is too long, unless nothing else can be left out", async () => {
  const parts: Part[] = [{ type: "file", mediaType: "image/png", data: "iVBORw0K", filename: "a.png" }]
  const how = { contextTokens: 100_000, parts }
  const long = await play([read, tooLong(), "A summary.", "Done."], how)
  expect(textOf(long.requests[3])).toContain("iVBORw0K")
  const alone = await play([tooLong(), "I can't see it."], how)
  expect(alone.run.ended?.how).toBe("done")
  expect(textOf(alone.requests[1])).toContain("the model does not take")
})

test("a summary that is far too long is cut, with a mark", async () => {
  const { requests, run } = await play([read, tooLong(), "s".repeat(500_000), "Done."], { contextTokens: 10_000 })
  expect(run.ended?.how).toBe("done")
  expect(textOf(requests[3]).length).toBeLessThan(10_000)
  expect(textOf(requests[3])).toContain("characters left out")
})

test("a provider that counts no tokens is not believed", async () => {
  const nothing = { prompt: 0, completion: 0 }
  const turns = [1, 2, 3, 4, 5, 6, 7].map((): ScriptedTurn => ({ calls: [{ tool: "read" }], usage: nothing }))
  const { requests } = await play([...turns, "Done.", "Done."], {
    contextTokens: 1500,
    output: () => "x".repeat(4000),
    agent: { retries: 0 },
  })
  expect(requests.some(isSummary)).toBe(true)
})

test("whatever was said and done: each request is balanced, begins with what was asked first, and is no longer than may be", async () => {
  const turn = fc.record({ text: fc.string({ maxLength: 400 }), calls: fc.nat(4), bytes: fc.nat(12_000) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1000, max: 8000 }),
      async (plan, contextTokens) => {
        let next = 0
        // A real provider's count, about.
        const say = (options: LanguageModelV3CallOptions) => {
          const usage = { prompt: Math.ceil(JSON.stringify(options.prompt).length / 3.5), completion: 50 }
          if (isSummary(options)) return { text: "A summary.", usage }
          const { text, calls } = plan[next] ?? { text: "Done.", calls: 0 }
          next += 1
          return { text, calls: Array.from({ length: calls }, () => ({ tool: "read" })), usage }
        }
        const { requests, run } = await play(
          Array.from({ length: 60 }, () => say),
          {
            contextTokens,
            output: (n) => "y".repeat((plan[n % plan.length]?.bytes ?? 0) / 4),
          },
        )
        // The scripted model refuses what is not balanced, and then this is "failed".
        expect(run.ended?.how).toBe("done")
        for (const [index, request] of requests.entries()) {
          const { prompt } = request
          const tokens = JSON.stringify(prompt).length / 3.5
          if (!isSummary(request)) expect(JSON.stringify(prompt[0])).toContain("look after the servers")
          expect(tokens).toBeLessThan(contextTokens * 1.1 + 500)
          // Never two summaries one after another.
          if (index > 0 && isSummary(request)) expect(isSummary(requests[index - 1] ?? request)).toBe(false)
        }
      },
    ),
    { numRuns: 30 },
  )
})
