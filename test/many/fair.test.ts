/** Whoever has much to do holds up nobody else. */
import { expect, test } from "vitest"
import type { ScriptedTurn } from "../fakes/model.ts"
import { scriptedModel } from "../fakes/model.ts"
import { eventually, heldTool, startCrew } from "../work/crew.ts"

/** As many as one turn may have. */
const MOST = 100

test("a run with as many calls under way as there may be leaves room for others", async () => {
  const crew = await startCrew()
  const { tool, count } = heldTool("look", { effects: "none" })
  const calls = Array.from({ length: MOST }, (_, n) => ({ tool: "look", args: { n } }))
  const said: ScriptedTurn = ({ prompt }) => (JSON.stringify(prompt[0]).includes("all of it") ? { calls } : "done")
  await crew.join({
    model: scriptedModel(Array(2).fill(said)),
    tools: [tool],
    atOnce: 2,
    agent: { maxAsksPerTurn: 2000 },
  })
  const big = await crew.begin({ prompt: "all of it" })
  await eventually(() => count() === MOST)
  const small = await crew.begin({ prompt: "a little" })
  expect((await crew.when(small, (run) => run.ended !== undefined)).ended?.how).toBe("done")
  expect((await crew.load(big))?.ended).toBeUndefined()
})

test("of many runs whoever came first is first: hundreds that come later hold up nobody", async () => {
  const crew = await startCrew()
  const order: string[] = []
  const said: ScriptedTurn = ({ prompt }) => {
    order.push(/"text":"(\w+)/.exec(JSON.stringify(prompt[0]))?.[1] ?? "")
    return "done"
  }
  for (let n = 0; n < 10; n++) await crew.begin({ prompt: "before" })
  const mine = await crew.begin({ prompt: "mine" })
  for (let n = 0; n < 200; n++) await crew.begin({ prompt: "after" })
  await crew.join({ model: scriptedModel(Array(211).fill(said)), tools: [], atOnce: 5 })
  await crew.when(mine, (run) => run.ended !== undefined)
  await eventually(() => order.length === 211)
  // Of those that are held at once, one or the other may be quicker.
  expect(order.indexOf("mine")).toBeLessThan(10 + 5)
})
