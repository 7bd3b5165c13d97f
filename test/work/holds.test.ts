import { expect, test } from "vitest"
import { MOST_HELD } from "../../src/agent/hold.ts"
import { defineTool, type ToolContext } from "../../src/agent/tool.ts"
import { openAsks, type Effects } from "../../src/core/run.ts"
import { mintId, type Answer } from "../../src/core/suspension.ts"
import { scriptedModel } from "../fakes/model.ts"
import { heldTool, RULE, startCrew, type Crew } from "./crew.ts"

const SCHEMA = { type: "object", properties: { env: { type: "string" } } }

/** A question, with an id of its own each time. */
const question = () => ({ id: mintId(), kind: "input", prompt: "Which env?", data: { schema: SCHEMA } })

/** A tool that asks in the middle of its work, as often as it is told to. */
function asker({ effects = "none", times = 1 }: { effects?: Effects; times?: number } = {}) {
  const answers: Answer[] = []
  const tool = defineTool({
    name: "asks",
    description: "d",
    effects,
    async run(_args, ctx: ToolContext) {
      for (let n = 0; n < times; n++) answers.push((await ctx.hold?.(question())) ?? { id: "nobody", ok: false })
      return `told: ${answers.map(({ ok, reason, data }) => (ok ? JSON.stringify(data) : reason)).join(", ")}`
    },
  })
  return { tool, answers }
}

const asks = { calls: [{ tool: "asks", args: {} }] }
const join = (
  crew: Crew,
  tools: Parameters<Crew["join"]>[0]["tools"],
  more: Partial<Parameters<Crew["join"]>[0]> = {},
) =>
  crew.join({
    model: scriptedModel([asks, "done"]),
    tools,
    agent: { answers: true, guard: async () => ({ do: "run" }) },
    ...more,
  })
const isOver = (run: { ended?: unknown }): boolean => run.ended !== undefined
const isAsking = (run: Parameters<typeof openAsks>[0]): boolean => openAsks(run).length > 0

test("what a call asks while it runs is answered by whoever may, through any process, and the call goes on", async () => {
  const crew = await startCrew()
  const id = await crew.begin()
  const { tool, answers } = asker({ effects: "once" })
  await join(crew, [tool])
  const run = await crew.when(id, isAsking)
  expect(run.calls[0]).toMatchObject({ state: "running", attempt: { id: run.asks[0]?.held } })
  expect(run.asks[0]).toMatchObject({ from: "tool", kind: "input", rule: RULE })
  await crew.answer(id, "asks", true, { data: { env: "prod" } })
  await crew.when(id, isOver)
  expect(answers).toEqual([{ id: expect.stringMatching(/^pnd-/), ok: true, data: { env: "prod" } }])
  expect(await crew.outputs(id)).toEqual(['told: {"env":"prod"}'])
})

test("a no reaches the call, and counts for no refusal of the call itself", async () => {
  const crew = await startCrew()
  const id = await crew.begin()
  await join(crew, [asker().tool])
  await crew.answer(id, "asks", false)
  const run = await crew.when(id, isOver)
  expect(await crew.outputs(id)).toEqual(["told: declined"])
  expect(run.refusals).toEqual({})
})

test("nobody's answer in time is one, too", async () => {
  const crew = await startCrew()
  const id = await crew.begin()
  await join(crew, [asker().tool], { agent: { answers: true, guard: async () => ({ do: "run" }), ruleOf: () => ({ ...RULE, expiresIn: 50 }) } }) // prettier-ignore
  await crew.when(id, isOver)
  expect(await crew.outputs(id)).toEqual(["told: expired"])
})

test("a cancelled run answers what its calls ask, and ends", async () => {
  const crew = await startCrew()
  const id = await crew.begin()
  const { tool, answers } = asker()
  await join(crew, [tool])
  await crew.when(id, isAsking)
  await crew.cancel(id)
  const run = await crew.when(id, isOver)
  expect(run.ended?.how).toBe("cancelled")
  expect(answers).toEqual([expect.objectContaining({ ok: false, reason: "cancelled" })])
})

test("who asks on and on is told that nobody answers", async () => {
  const crew = await startCrew()
  const id = await crew.begin()
  const { tool, answers } = asker({ times: MOST_HELD + 5 })
  await join(crew, [tool])
  for (let n = 0; n < MOST_HELD; n++) await crew.answer(id, "asks", true, { cause: `click ${n}` })
  await crew.when(id, isOver)
  expect(answers.map(({ ok }) => ok)).toEqual([
    ...Array<boolean>(MOST_HELD).fill(true),
    ...Array<boolean>(5).fill(false),
  ])
})

test("what a call asked and did not wait for is closed", async () => {
  const crew = await startCrew()
  const id = await crew.begin()
  const leaving = defineTool({
    name: "asks",
    description: "d",
    effects: "none",
    async run(_args, { hold }) {
      const stop = new AbortController()
      const first = hold?.(question(), stop.signal)
      const seen = hold?.(question())
      await crew.when(id, (run) => openAsks(run).length === 2)
      stop.abort()
      expect(await first).toMatchObject({ ok: false, reason: "cancelled" })
      void seen
      return "went on"
    },
  })
  const { steps } = await join(crew, [leaving])
  await crew.when(id, isOver)
  expect(await crew.outputs(id)).toEqual(["went on"])
  const settled = steps.flatMap(({ facts }) => facts).filter(({ what }) => what === "settled")
  expect(settled).toEqual([
    expect.objectContaining({ outcome: "cancelled", note: "the tool did not wait for the answer" }),
    expect.objectContaining({ outcome: "cancelled", note: "the tool did not wait for the answer" }),
  ])
})

test("when its process is gone the question is closed, and what came of the call is asked instead", async () => {
  const crew = await startCrew()
  const id = await crew.begin()
  const lost = await join(crew, [asker({ effects: "once" }).tool], { leaseMs: 300 })
  const [asked] = openAsks(await crew.when(id, isAsking))
  lost.cutOff(true)
  const { tool, count } = heldTool("asks", { effects: "once" })
  await join(crew, [tool], { model: scriptedModel(["done"]) })
  const run = await crew.when(id, (run) => openAsks(run).some(({ from }) => from === "doubt"))
  expect(run.asks.find((ask) => ask.id === asked?.id)?.settled).toMatchObject({
    ok: false,
    reason: "cancelled",
    via: "bot",
  })
  expect(count()).toBe(0)
  await crew.answer(id, "asks", true, { choice: "done" })
  await crew.when(id, isOver)
  expect((await crew.outputs(id))[0]).toMatch(/says that it was done/)
})

test("a call without effects asks anew in the next process", async () => {
  const crew = await startCrew()
  const id = await crew.begin()
  const lost = await join(crew, [asker().tool], { leaseMs: 300 })
  await crew.when(id, isAsking)
  lost.cutOff(true)
  const { tool } = asker()
  await join(crew, [tool], { model: scriptedModel(["done"]) })
  await crew.when(id, (run) => run.asks.length === 2 && openAsks(run).length === 1)
  await crew.answer(id, "asks", true, { data: { env: "test" } })
  await crew.when(id, isOver)
  expect(await crew.outputs(id)).toEqual(['told: {"env":"test"}'])
})
