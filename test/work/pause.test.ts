import { describe, expect, test } from "vitest"
import type { Guard } from "../../src/agent/agent.ts"
import { markOf, revoke } from "../../src/core/grant.ts"
import { policyGuard } from "../../src/work/guard.ts"
import { KnownPause } from "../../src/work/paused.ts"
import { scriptedModel } from "../fakes/model.ts"
import { ADA, eventually, heldTool, quickTool, RULE, startCrew } from "./crew.ts"

const call = (tool: string, args = {}) => ({ tool, args })
const PAUSED = { by: "Grace", at: 1000 }

describe("while Countersign is paused", () => {
  test("no model is asked, and the run goes on when the pause is over", async () => {
    const crew = await startCrew()
    await crew.door.pause.begin(PAUSED)
    const model = scriptedModel(["hello"])
    const { isPaused, steps } = await crew.join({ model, tools: [] })
    const id = await crew.begin()
    await eventually(() => isPaused())
    // It is looked at and given back, and no more than that.
    await eventually(async () => (await crew.door.peek()).agenda !== undefined)
    expect([model.requests, steps]).toEqual([[], []])
    await crew.door.pause.end()
    expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
  })

  test("a call that is approved does not begin, what had begun ends, and its sibling waits", async () => {
    const crew = await startCrew()
    const slow = heldTool("slow", { effects: "none" })
    const ran: unknown[] = []
    const model = scriptedModel([{ calls: [call("slow"), call("restart")] }, "done"])
    const member = await crew.join({ model, tools: [slow.tool, quickTool("restart", ran)] })
    const id = await crew.begin()
    const execution = await slow.next()
    await crew.door.pause.begin(PAUSED)
    await eventually(() => member.isPaused())
    await crew.answer(id, "restart", true)
    execution.finish("seen")
    await crew.when(id, (run) => run.calls[0]?.state === "done")
    expect((await crew.load(id))?.calls.map(({ state }) => state)).toEqual(["done", "ready"])
    expect(ran).toEqual([])
    await crew.door.pause.end()
    await crew.when(id, (run) => run.ended !== undefined)
    expect(ran).toHaveLength(1)
  })

  test("a grant that is taken back lets nothing begin afterwards: it is asked about", async () => {
    const crew = await startCrew()
    const ran: unknown[] = []
    const restart = quickTool("restart", ran)
    const rule = { ...RULE, grant: { for: 3_600_000 } }
    const granting = policyGuard({ rules: [], defaults: rule }, async () => true)
    const member: { isPaused?: () => boolean } = {}
    const guard: Guard = async (question) => {
      const next = await granting(question)
      if (next.do !== "run") return next
      await crew.door.pause.begin(PAUSED)
      await eventually(() => member.isPaused?.() === true)
      return next
    }
    const model = scriptedModel([{ calls: [call("restart")] }, { calls: [call("restart")] }, "done"])
    Object.assign(member, await crew.join({ model, tools: [restart], agent: { guard } }))
    const id = await crew.begin()
    await crew.answer(id, "restart", true, { grant: markOf({ tool: restart, args: {}, rule }) })
    const granted = await crew.when(id, (run) => run.calls[0]?.grant !== undefined)
    const tried = { grant: granted.grants?.[0]?.id ?? "", who: ADA, admins: [], via: "command", cause: "back" } as const
    await crew.door.apply(id, (run, now) => (run ? revoke(run, tried, now) : { outcome: undefined }))
    await crew.door.pause.end()
    await crew.when(id, ({ asks }) => asks.some(({ settled }) => !settled))
    expect(ran).toHaveLength(1)
    await crew.answer(id, "restart", true)
    await crew.when(id, (run) => run.ended !== undefined)
    expect(ran).toHaveLength(2)
  })

  test("deadlines go on, and what was declined is written down", async () => {
    const crew = await startCrew()
    const rule = { ...RULE, expiresIn: 300 }
    const guard = async () => ({ do: "ask", rule, request: { id: "a", kind: "approval", prompt: "May I?" } }) as const
    const model = scriptedModel([{ calls: [call("restart")] }, "done"])
    const member = await crew.join({ model, tools: [quickTool("restart")], agent: { guard } })
    const id = await crew.begin()
    await crew.when(id, (run) => run.asks.length > 0)
    await crew.door.pause.begin(PAUSED)
    await eventually(() => member.isPaused())
    const run = await crew.when(id, (run) => run.calls.length === 0)
    expect(run.ended).toBeUndefined()
    expect(model.requests).toHaveLength(1)
    await crew.door.pause.end()
    await crew.when(id, (run) => run.ended !== undefined)
    expect(await crew.outputs(id)).toEqual([expect.stringMatching(/expired/)])
  })

  test("runs that wait for its end are looked at now and then, not again and again", async () => {
    const crew = await startCrew()
    await crew.door.pause.begin(PAUSED)
    const id = await crew.begin()
    const { store } = await crew.join({ model: scriptedModel(["hello"]), tools: [] })
    await eventually(async () => {
      const { agenda, now } = await store.peek()
      return agenda !== undefined && agenda > now + 500
    })
    expect((await crew.load(id))?.turns).toBe(0)
    await crew.door.pause.end()
  })
})

describe("what is known of a pause", () => {
  test("is believed for three seconds, and what is not known counts as one", () => {
    let now = 0
    const pause = new KnownPause(() => now)
    expect(pause.paused).toBe(true)
    pause.saw(false, 0)
    expect(pause.paused).toBe(false)
    now = 3000
    expect(pause.paused).toBe(false)
    now = 3001
    expect(pause.paused).toBe(true)
    pause.saw(true, 3001)
    expect(pause.paused).toBe(true)
  })

  test("whoever paused first is the one who did", async () => {
    const { door } = await startCrew()
    expect(await door.pause.read()).toBeUndefined()
    await door.pause.begin(PAUSED)
    await door.pause.begin({ by: "Ada", at: 2000 })
    expect(await door.pause.read()).toEqual(PAUSED)
    expect((await door.peek()).paused).toEqual(PAUSED)
    await door.pause.end()
    expect((await door.peek()).paused).toBeUndefined()
  })
})
