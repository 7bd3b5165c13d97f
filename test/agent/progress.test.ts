import { expect, test } from "vitest"
import { advance } from "../../src/agent/advance.ts"
import { MemoryHeld } from "../../src/agent/memory.ts"
import type { ToolContext } from "../../src/agent/tool.ts"
import { begin } from "../../src/core/turn.ts"
import { unguarded } from "../fakes/agent.ts"
import { scriptedModel } from "../fakes/model.ts"

test("a tool tells how far its call is, while it runs and not after, and can tell no nonsense", async () => {
  const how = { id: "r", cause: "c", requester: { team: "T1", user: "U1" }, channel: "C1", prompt: "p", keep: 1 }
  const user = JSON.stringify({ role: "user", content: [{ type: "text", text: "p" }] })
  const held = MemoryHeld.begin(begin({ ...how, rooted: true, via: "command", transcript: [user] }, 0))
  const told: string[] = []
  const said: string[] = []
  let kept: ToolContext["progress"]
  const tool = {
    name: "count",
    description: "Counts",
    run: (_args: unknown, ctx?: ToolContext) => {
      kept = ctx?.progress
      kept?.("1 of 2")
      for (const wrong of [undefined, 7, { toString: () => "x" }, "  "]) kept?.(wrong as string)
      kept?.("x".repeat(5000))
      return "2"
    },
  }
  const agent = await unguarded(scriptedModel([{ calls: [{ tool: "count" }] }, "done"]), [tool], {
    live: {
      said: (run, delta) => said.push(`${run.turns}: ${delta}`),
      told: (run, call, text) => told.push(`${run.id} ${call.id} ${call.tool}: ${text}`),
    },
  })
  await advance(held, agent)
  kept?.("late")
  expect(held.run().ended?.how).toBe("done")
  expect(told).toEqual(["r 1.1 count: 1 of 2", `r 1.1 count: ${"x".repeat(1000)}`])
  // Each turn begins with nothing said.
  expect(said).toEqual(["0: ", "1: ", "1: done"])
})
