import { expect, test } from "vitest"
import { advance } from "../../src/agent/advance.ts"
import { MemoryHeld } from "../../src/agent/memory.ts"
import { userMessage } from "../../src/core/parts.ts"
import { begin } from "../../src/core/turn.ts"
import { unguarded } from "../fakes/agent.ts"
import { scriptedModel } from "../fakes/model.ts"

const about = { id: "r", cause: "c", requester: { team: "T1", user: "U1" }, channel: "C1", prompt: "go", keep: 1 }
const begun = () =>
  MemoryHeld.begin(begin({ ...about, rooted: true, via: "command", transcript: [userMessage("go")] }, Date.now()))

test("a call of a name that no provider takes, and its result, are of one name", async () => {
  const held = begun()
  await advance(held, await unguarded(scriptedModel([{ calls: [{ tool: "functions.look at", args: {} }] }, "Done."])))
  const names = (await held.transcript()).flatMap((text) => /"toolName":"([^"]*)"/.exec(text)?.[1] ?? [])
  expect(names).toEqual(["functions_look_at", "functions_look_at"])
})

test("what a turn asks for and a tool gives is bounded, with a word to the model for what is left out", async () => {
  const held = begun()
  let ran = 0
  const look = {
    name: "look",
    description: "looks",
    inputSchema: { type: "object" },
    run: ({ n }: Record<string, unknown>) => {
      ran += 1
      return n === 0 ? "x".repeat(10_000_001) : "seen"
    },
  }
  const calls = Array.from({ length: 103 }, (_, n) => ({ tool: "look", args: { n } }))
  await advance(held, await unguarded(scriptedModel([{ calls }, "Done."]), [look]))
  expect(held.run().ended?.how).toBe("done")
  expect(ran).toBe(100)
  const log = await held.transcript()
  // One result for each call all the same.
  expect(log).toHaveLength(1 + 1 + 103 + 1)
  expect(log[2]).toContain("[cut here: it has 10000001 characters in all]")
  expect(log[101]).toContain("seen")
  for (const text of log.slice(102, 105)) expect(text).toContain("at most 100 calls per turn")
})
