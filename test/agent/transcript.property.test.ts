/** Whatever mixture a turn has, every request to the model is balanced, and only what was approved has run. */
import type { Answer, Request, RunResult, ToolDefinition } from "countersign"
import { answerDeclined, createToolkit, pending } from "countersign"
import fc from "fast-check"
import { afterAll, expect, test } from "vitest"
import { calling, carried, clientOf, closeAll, provide, resultsIn, STYLES } from "./wires.ts"

afterAll(closeAll)

const FATES = ["plain", "fails", "yes", "no", "expired", "again", "unknown"] as const
type Fate = (typeof FATES)[number]

const OUTPUT: Record<Fate, RegExp> = {
  plain: /^ran plain$/,
  fails: /^broken$/,
  yes: /^ran yes$/,
  no: /^declined\/expired: yes or no\?$/,
  expired: /^declined\/expired: too late\?$/,
  again: /^unresolved: again\?$/,
  unknown: /^Unknown tool: unknown$/,
}

function toolsOf(ran: string[]): ToolDefinition[] {
  const tool = (name: Fate, run: ToolDefinition["run"]): ToolDefinition => ({ name, description: "d", run })
  const acts = (name: string) => {
    ran.push(name)
    return `ran ${name}`
  }
  return [
    tool("plain", () => acts("plain")),
    tool("fails", () => {
      throw new Error("broken")
    }),
    tool("yes", (_args, ctx) => (ctx?.answer ? acts("yes") : pending({ kind: "approval", prompt: "yes or no?" }))),
    tool("no", (_args, ctx) =>
      ctx?.answer ? acts("no") : pending({ kind: "approval", prompt: "yes or no?", data: { no: true } }),
    ),
    tool("expired", (_args, ctx) =>
      ctx?.answer
        ? acts("expired")
        : pending({ kind: "approval", prompt: "too late?", expiresAt: "2020-01-01T00:00:00Z" }),
    ),
    tool("again", () => pending({ kind: "approval", prompt: "again?" })),
  ]
}

const answerTo = ({ id, data }: Request): Answer => (data?.["no"] === true ? answerDeclined(id) : { id, ok: true })

test.each(STYLES)("with a waitFor and by resuming, on the wire of %s", async (style) => {
  const turn = fc.array(fc.constantFrom(...FATES), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(turn, turn, fc.boolean(), async (first, second, waits) => {
      const ran: string[] = []
      const provider = await provide(style, [
        calling(...first.map((fate): [string] => [fate])),
        calling(...second.map((fate): [string] => [fate])),
        { text: "done" },
      ])
      const toolkit = await createToolkit({ extraTools: toolsOf(ran) })
      const client = clientOf(style, provider, waits ? { waitFor: async (request) => answerTo(request) } : {})
      let result: RunResult = await client.run("go", { toolkit })
      while (result.pending !== undefined) {
        result = await client.resume(carried(result), answerTo(result.pending), { toolkit })
      }
      expect(result).toMatchObject({ status: "done", text: "done", turns: 3 })
      expect(provider.requests).toHaveLength(3)
      for (const [index, fates] of [first, second].entries()) {
        const outputs = resultsIn(style, provider.requests[index + 1]).map((one) => one.output)
        expect(outputs).toHaveLength(fates.length)
        for (const [n, fate] of fates.entries()) expect(outputs[n]).toMatch(OUTPUT[fate])
      }
      const all = [...first, ...second]
      expect(result.toolCalls.map((call) => call.name)).toEqual(all)
      expect([...ran].sort()).toEqual(all.filter((fate) => fate === "plain" || fate === "yes").sort())
    }),
    { numRuns: 30 },
  )
})
