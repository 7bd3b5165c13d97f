import { setTimeout as delay } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { stepped } from "../../src/agent/agent.ts"
import { defineTool } from "../../src/agent/tool.ts"
import { canonical, sha256 } from "../../src/core/digest.ts"
import { edit } from "../../src/core/edit.ts"
import type { Rule } from "../../src/core/policy.ts"
import { openAsks, type Run } from "../../src/core/run.ts"
import { pending } from "../../src/core/suspension.ts"
import { rooted } from "../../src/core/thread.ts"
import { took, type Planned } from "../../src/core/turn.ts"
import { scriptedModel, type ScriptedModel, type ScriptedTurn } from "../fakes/model.ts"
import { ADA, eventually, heldTool, quickTool, ROBIN, RULE, startCrew, type Crew, type Member } from "./crew.ts"

const call = (tool: string, args = {}) => ({ tool, args })
const restart = { calls: [call("restart", { service: "web" })] }

describe("claiming", () => {
  test("a run whose message does not stand yet is left alone, and goes on when it does", async () => {
    const crew = await startCrew()
    const waits = await crew.begin({ rooted: false })
    const { steps } = await crew.join({ model: scriptedModel(["hello", "hello"]), tools: [] })
    const other = await crew.begin()
    await crew.when(other, (run) => run.ended !== undefined)
    expect(steps.filter((step) => step.run.id === waits)).toEqual([])
    await crew.door.apply(waits, (run, now) => stepped(run && rooted(run, "1700000000.000100", now)))
    expect((await crew.when(waits, (run) => run.ended !== undefined)).ended?.how).toBe("done")
  })

  test("a run whose message could not be posted within an hour is cancelled", async () => {
    const crew = await startCrew()
    const id = await crew.begin({ rooted: false, age: 3_600_001 })
    const model = scriptedModel([])
    await crew.join({ model, tools: [] })
    const { ended } = await crew.when(id, (run) => run.ended !== undefined)
    expect(ended).toMatchObject({ how: "cancelled", words: expect.stringMatching(/could not be posted/) })
    expect(model.requests).toEqual([])
  })

  test("two processes share the runs, and each call is executed once", async () => {
    const crew = await startCrew()
    const ran: unknown[] = []
    const said: ScriptedTurn = ({ prompt }) => (prompt.at(-1)?.role === "tool" ? "done" : restart)
    const member = () => crew.join({ model: scriptedModel(Array(80).fill(said)), tools: [quickTool("restart", ran)] })
    const ids = await Promise.all(Array.from({ length: 20 }, () => crew.begin()))
    const members = [await member(), await member()]
    await Promise.all(ids.map((id, n) => crew.answer(id, "restart", true, {}, members[n % 2]?.store)))
    for (const id of ids) expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
    expect(ran).toHaveLength(20)
  })

  test("no more runs are held than may be at once", async () => {
    const crew = await startCrew()
    const { tool, next, count } = heldTool("look", { effects: "none" })
    const looking: ScriptedTurn = ({ prompt }) => (prompt.at(-1)?.role === "tool" ? "done" : { calls: [call("look")] })
    const ids = [await crew.begin(), await crew.begin()]
    const { worker } = await crew.join({ model: scriptedModel(Array(4).fill(looking)), tools: [tool], atOnce: 1 })
    const first = await next()
    worker.wake()
    // A round trip that the worker's claim would have come before.
    await crew.door.peek()
    expect(count()).toBe(1)
    first.finish("seen")
    const second = await next()
    second.finish("seen")
    for (const id of ids) expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
  })
})

describe("while slow tools hold every place", () => {
  const looking: ScriptedTurn = ({ prompt }) => (prompt.at(-1)?.role === "tool" ? "done" : { calls: [call("look")] })

  test("what nobody answered in time is answered all the same, however much is due before it", async () => {
    const crew = await startCrew()
    const { tool, next, count } = heldTool("look", { effects: "none" })
    const { steps, worker } = await crew.join({
      model: scriptedModel(Array(40).fill(looking)),
      tools: [tool],
      atOnce: 1,
    })
    const [holds, waits] = [await crew.begin(), await crew.begin()]
    const first = await next()
    const late = [await crew.begin({ age: 20_000 }), await crew.begin({ age: 20_000 })]
    for (const id of late)
      await crew.door.apply(id, (run, now) => stepped(run && took(run, asking(1000), now - 11_000)))
    // Here a sibling may start as soon as there is room, so that the run is due for that already.
    const both = await crew.begin({ age: 20_000 })
    await crew.door.apply(both, (run, now) => stepped(run && took(run, asking(1000, true), now - 11_000)))
    worker.wake()
    for (const id of [...late, both]) {
      const { asks, ended } = await crew.when(id, (run) => openAsks(run).length === 0 && run.asks.length > 0)
      expect([asks[0]?.settled?.reason, ended]).toEqual(["expired", undefined])
    }
    expect(count()).toBe(1)
    expect(steps.filter(({ run }) => run.id === waits)).toEqual([])
    first.finish("seen")
    for (const _ of [waits, both]) (await next()).finish("seen")
    for (const id of [holds, waits, ...late, both]) {
      expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
    }
  })

  test("a burst of answers takes no more of them than there are", async () => {
    const crew = await startCrew()
    const { tool, next, count } = heldTool("restart")
    const asked: ScriptedTurn = ({ prompt }) => (prompt.at(-1)?.role === "tool" ? "done" : restart)
    const ids = await Promise.all(Array.from({ length: 6 }, () => crew.begin()))
    const { store, worker } = await crew.join({ model: scriptedModel(Array(12).fill(asked)), tools: [tool], atOnce: 2 })
    for (const id of ids) await crew.when(id, (run) => openAsks(run).length > 0)
    await Promise.all(ids.map((id) => crew.answer(id, "restart", true, {}, store)))
    worker.wake()
    await store.peek()
    await eventually(() => count() >= 2)
    expect(count()).toBe(2)
    for (const _ of ids) (await next()).finish("done")
    for (const id of ids) expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
  })
})

/** A turn whose call was asked about for so many ms; `beside`: another one may start at once. */
function asking(expiresIn: number, beside = false): Parameters<typeof took>[1] {
  const next = { do: "ask", rule: { ...RULE, expiresIn }, request: { id: "ask", kind: "approval", prompt: "?" } }
  const planned = { ref: "1", tool: "restart", effects: "once", args: "{}", digest: sha256("{}"), next } as Planned
  const other: Planned = { ...planned, ref: "2", tool: "look", effects: "none", next: { do: "run" } }
  const all = beside ? [planned, other] : [planned]
  const content = all.map(({ ref, tool }) => ({ type: "tool-call", toolCallId: ref, toolName: tool, input: {} }))
  return {
    message: JSON.stringify({ role: "assistant", content }),
    text: "",
    usage: { prompt: 1, completion: 1 },
    planned: all,
  }
}

describe("more overdue than can be held", () => {
  const SO_MANY = 12

  /** Runs that waited for an answer until ten seconds ago. */
  async function overdue(crew: Crew): Promise<string[]> {
    const ids = await Promise.all(Array.from({ length: SO_MANY }, () => crew.begin({ age: 20_000 })))
    for (const id of ids) {
      const asked = (run: Run | undefined, now: number) => run && took(run, asking(1000), now - 11_000)
      await crew.door.apply(id, (run, now) => stepped(asked(run, now)))
    }
    return ids
  }

  /** A process with room for two, once it knows that nothing is paused; it looks for what is due when it is woken. */
  async function joined(crew: Crew, model: ScriptedModel): Promise<Member> {
    const member = await crew.join({ model, tools: [], atOnce: 2, leaseMs: 600_000, looks: false })
    await eventually(() => !member.isPaused())
    return member
  }

  test("all of it is answered before a run goes on, and then each goes on", async () => {
    const crew = await startCrew()
    const { steps, worker } = await joined(crew, scriptedModel(Array(SO_MANY).fill("done")))
    const ids = await overdue(crew)
    worker.wake()
    for (const id of ids) expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
    const expired = steps.flatMap(({ facts }, at) => (facts.some(({ what }) => what === "expired") ? [at] : []))
    expect(expired).toHaveLength(SO_MANY)
    // The last ones leave nothing overdue, and so are taken whole.
    const first = steps.findIndex(({ run }) => run.ended)
    expect(expired.filter((at) => at < first).length).toBeGreaterThanOrEqual(SO_MANY - 2)
  })

  test("what has not gone on when the process stops is others' at once", async () => {
    const crew = await startCrew()
    const silent: ScriptedTurn = () => new Promise(() => undefined)
    const model = scriptedModel(Array(2).fill(silent))
    const { worker } = await joined(crew, model)
    const ids = await overdue(crew)
    worker.wake()
    await eventually(() => model.requests.length === 2)
    await worker.stop(100)
    await crew.join({ model: scriptedModel(Array(SO_MANY).fill("done")), tools: [] })
    for (const id of ids) expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
  })
})

describe("a run through to its end", () => {
  test("edited and approved: the call runs with the args of that version, and the model is told so", async () => {
    const crew = await startCrew()
    const ran: unknown[] = []
    const rule: Rule = { ...RULE, edit: { by: "requester" } }
    const request = { id: "a", kind: "approval", prompt: "May I?" }
    const guard = async () => ({ do: "ask", rule, request }) as const
    const model = scriptedModel([restart, "It was restarted."])
    await crew.join({ model, tools: [quickTool("restart", ran)], agent: { guard } })
    const id = await crew.begin()
    await crew.when(id, (run) => run.asks.length > 0)
    const args = canonical({ service: "api" })
    const who = { person: ROBIN, standing: "member", member: {} } as const
    const how = { ask: "a", version: 1, who, via: "form", cause: "e", args, digest: sha256(args), request } as const
    await crew.door.apply(id, (run, now) =>
      run ? edit(run, { ...how, decision: { do: "allow" } }, now) : { outcome: undefined },
    )
    await crew.answer(id, "restart", true, { version: 2 })
    await crew.when(id, (run) => run.ended !== undefined)
    expect(ran).toEqual([{ service: "api" }])
    expect(await crew.outputs(id)).toEqual([
      'A person changed the arguments before they were approved. Executed with: {"service":"api"}\n\nrestart is done',
    ])
  })

  test("approved: the call runs with what was shown, and the model is told", async () => {
    const crew = await startCrew()
    const ran: unknown[] = []
    const model = scriptedModel([restart, "It was restarted."])
    await crew.join({ model, tools: [quickTool("restart", ran)] })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const { ended } = await crew.when(id, (run) => run.ended !== undefined)
    expect(ended?.how).toBe("done")
    expect(ran).toEqual([{ service: "web" }])
    expect(await crew.outputs(id)).toEqual(["restart is done"])
    expect(await crew.door.texts(id, ["answer"])).toEqual(["It was restarted."])
  })

  test("declined: nothing runs, and the model is told why", async () => {
    const crew = await startCrew()
    const ran: unknown[] = []
    await crew.join({ model: scriptedModel([restart, "Then not."]), tools: [quickTool("restart", ran)] })
    const id = await crew.begin()
    await crew.answer(id, "restart", false, { note: "not during the sale" })
    expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
    expect(ran).toEqual([])
    expect(await crew.outputs(id)).toEqual([expect.stringContaining("not during the sale")])
  })

  test("expired: the deadline alone wakes the run, and nothing runs", async () => {
    const crew = await startCrew()
    const ran: unknown[] = []
    const rule = { ...RULE, expiresIn: 400 }
    await crew.join({
      model: scriptedModel([restart, "Nobody answered."]),
      tools: [quickTool("restart", ran)],
      agent: { guard: async () => ({ do: "ask", rule, request: { id: "ask-1", kind: "approval", prompt: "May I?" } }) },
    })
    const id = await crew.begin()
    await crew.when(id, (run) => run.ended !== undefined)
    expect(ran).toEqual([])
    const facts = (await crew.door.facts(id)).map((text) => JSON.parse(text) as { what: string; at: number })
    const [asked, expired] = ["asked", "expired"].map((what) => facts.find((fact) => fact.what === what)?.at ?? 0)
    expect((expired ?? 0) - (asked ?? 0)).toBeGreaterThanOrEqual(400)
    expect(await crew.outputs(id)).toEqual([expect.stringMatching(/^declined\/expired: May I\?/)])
  })

  test("deadlines are met in time, each at its own, without a look at Redis every second", async () => {
    const crew = await startCrew()
    const within = [600, 300, 450]
    const asked = (n: number) => ({ id: `ask-${n}`, kind: "approval", prompt: "May I?" })
    const guard = async () => {
      const expiresIn = within.pop() ?? 0
      return { do: "ask", rule: { ...RULE, expiresIn }, request: asked(expiresIn) } as const
    }
    const said: ScriptedTurn = ({ prompt }) => (prompt.at(-1)?.role === "tool" ? "done" : restart)
    const model = scriptedModel(Array(6).fill(said))
    const member = await crew.join({ model, tools: [quickTool("restart")], agent: { guard }, looks: false })
    const { worker, steps, isPaused } = member
    await eventually(() => !isPaused())
    const ids = [await crew.begin(), await crew.begin(), await crew.begin()]
    // They were begun by another process; from here on nobody wakes it.
    worker.wake()
    for (const id of ids) await crew.when(id, (run) => run.ended !== undefined)
    expect(steps.flatMap(({ facts }) => facts).filter(({ what }) => what === "expired")).toHaveLength(3)
  })

  test("a call that is approved starts while its sibling runs", async () => {
    const crew = await startCrew()
    const [deploy, migrate] = [heldTool("deploy"), heldTool("migrate")]
    const turns = [{ calls: [call("deploy"), call("migrate")] }, "Both are done."]
    await crew.join({ model: scriptedModel(turns), tools: [deploy.tool, migrate.tool] })
    const id = await crew.begin()
    await crew.answer(id, "deploy", true)
    const first = await deploy.next()
    await crew.answer(id, "migrate", true)
    const second = await migrate.next()
    second.finish("migrated")
    first.finish("deployed")
    await crew.when(id, (run) => run.ended !== undefined)
    expect(await crew.outputs(id)).toEqual(["deployed", "migrated"])
  })

  test("ended, it is kept as long as it should be, then deleted with all its keys", async () => {
    const crew = await startCrew()
    const { steps } = await crew.join({ model: scriptedModel(["hello"]), tools: [] })
    const id = await crew.begin({ keep: 700 })
    await eventually(() => steps.some(({ run }) => run.ended !== undefined))
    const loaded = await crew.door.load(id)
    // It has been shown: nobody waits for it any more.
    await crew.door.show.leaveShow(id, loaded?.revision ?? 0)
    expect(await crew.load(id)).toBeDefined()
    await eventually(async () => (await crew.load(id)) === undefined)
    expect(await crew.door.transcript(id)).toEqual([])
    expect(await crew.door.facts(id)).toEqual([])
    expect(await crew.door.list([`requester:T1:U_ROBIN`], 10)).toEqual([])
  })
})

describe("the lease", () => {
  test("lasts as long as a slow tool does", async () => {
    const crew = await startCrew()
    const { tool, next, count } = heldTool("restart")
    await crew.join({ model: scriptedModel([restart, "done"]), tools: [tool], leaseMs: 2500 })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const execution = await next()
    const begun = await crew.door.now()
    await eventually(async () => (await crew.door.now()) > begun + 2600)
    expect(await crew.door.claim("somebody else", 1000)).toMatchObject({ kind: "idle" })
    execution.finish("slow, but done")
    expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
    expect(count()).toBe(1)
  })

  test("run out while Redis is away, and taken by nobody: what is under way goes on, and nobody is asked", async () => {
    const crew = await startCrew()
    const { tool, next, count } = heldTool("restart")
    const { cutOff, worker } = await crew.join({ model: scriptedModel([restart, "done"]), tools: [tool], leaseMs: 300 })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const execution = await next()
    cutOff(true)
    const away = await crew.door.now()
    await eventually(async () => (await crew.door.now()) > away + 400)
    cutOff(false)
    worker.wake()
    execution.finish("restarted")
    await crew.when(id, (run) => run.ended !== undefined)
    expect(count()).toBe(1)
    expect(await crew.outputs(id)).toEqual(["restarted"])
    const facts = (await crew.door.facts(id)).map((text) => JSON.parse(text) as { what: string })
    expect(facts.filter(({ what }) => what === "asked")).toHaveLength(1)
  })

  test("lost to another process: nothing is run again, people are asked; a result that comes after all closes the question", async () => {
    const crew = await startCrew()
    const { tool, next, count } = heldTool("restart")
    const lost = await crew.join({ model: scriptedModel([restart]), tools: [tool], leaseMs: 300 })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const execution = await next()
    lost.cutOff(true)
    const other = await crew.join({ model: scriptedModel(["It was restarted."]), tools: [tool] })
    const doubtful = await crew.when(id, (run) => openAsks(run).length > 0)
    expect(openAsks(doubtful)).toMatchObject([{ from: "doubt", kind: "doubt", tool: "restart", rule: RULE }])
    lost.cutOff(false)
    await eventually(() => execution.ctx.signal?.aborted === true)
    // From here on the other process alone goes on with it.
    const stopped = lost.worker.stop(60_000)
    execution.finish("restarted after all")
    await stopped
    const { ended } = await crew.when(id, (run) => run.ended !== undefined)
    expect(ended?.how).toBe("done")
    await eventually(() => other.steps.at(-1)?.run.ended?.how === "done")
    expect(count()).toBe(1)
    expect(await crew.outputs(id)).toEqual(["restarted after all"])
    expect(lost.logged.join("")).toContain("the lease was lost")
    const facts = (await crew.door.facts(id)).map((text) => JSON.parse(text) as { what: string; outcome?: string })
    expect(facts).toContainEqual(expect.objectContaining({ what: "settled", outcome: "known" }))
  })

  test.each([
    { choice: "again", runs: 2, said: "second" },
    { choice: "done", runs: 1, said: "Ada says that it was done" },
  ] as const)("a doubt is decided: $choice", async ({ choice, runs, said }) => {
    const crew = await startCrew()
    const { tool, next, count } = heldTool("restart")
    const lost = await crew.join({ model: scriptedModel([restart]), tools: [tool], leaseMs: 300 })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const first = await next()
    lost.cutOff(true)
    await crew.join({ model: scriptedModel(["The end."]), tools: [tool] })
    await crew.when(id, (run) => openAsks(run).some(({ from }) => from === "doubt"))
    await crew.answer(id, "restart", true, { choice, cause: "click on the doubt" })
    if (choice === "again") (await next()).finish("second")
    await crew.when(id, (run) => run.ended !== undefined)
    lost.cutOff(false)
    first.finish("too late to count")
    await lost.worker.stop(20_000)
    expect(count()).toBe(runs)
    expect(await crew.outputs(id)).toEqual([expect.stringContaining(said)])
  })
})

test("a call in doubt whose tool is gone by the time it is to run again is not said never to have run", async () => {
  const crew = await startCrew()
  const { tool, next } = heldTool("restart")
  const lost = await crew.join({ model: scriptedModel([restart]), tools: [tool], leaseMs: 300 })
  const id = await crew.begin()
  await crew.answer(id, "restart", true)
  await next()
  lost.cutOff(true)
  await crew.join({ model: scriptedModel(["It is not known."]), tools: [] })
  await crew.when(id, (run) => openAsks(run).length > 0)
  await crew.answer(id, "restart", true, { choice: "again" })
  await crew.when(id, (run) => run.ended !== undefined)
  expect(await crew.outputs(id)).toEqual([
    "tool not available any more: restart; it was not executed again, and what came of the attempt before is not known",
  ])
})

test("two calls of a turn that suspend under one id are two asks", async () => {
  const crew = await startCrew()
  const tool = defineTool({
    name: "ask",
    description: "ask",
    inputSchema: { type: "object" },
    run: ({ n }, ctx) => (ctx?.answer ? `did ${String(n)}` : pending({ id: "mine", kind: "approval", prompt: "?" })),
  })
  const guard = async () => ({ do: "run" }) as const
  const both = { calls: [call("ask", { n: 1 }), call("ask", { n: 2 })] }
  await crew.join({ model: scriptedModel([both, "done"]), tools: [tool], agent: { guard } })
  const id = await crew.begin()
  const { asks } = await crew.when(id, (run) => openAsks(run).length === 2)
  expect(new Set(asks.map((ask) => ask.id)).size).toBe(2)
  await crew.answer(id, "ask", true)
  await crew.answer(id, "ask", true)
  await crew.when(id, (run) => run.ended !== undefined)
  expect(await crew.outputs(id)).toEqual(["did 1", "did 2"])
})

test("a tool's question that is asked again, its yes having aged, keeps its own deadline", async () => {
  const crew = await startCrew()
  const expiresAt = new Date(Date.now() + 600_000).toISOString()
  const tool = defineTool({
    name: "ask",
    description: "ask",
    inputSchema: { type: "object" },
    run: (_, ctx) => (ctx?.answer ? "done" : pending({ kind: "approval", prompt: "?", expiresAt })),
  })
  const guard = async () => ({ do: "run" }) as const
  const ruleOf = () => ({ ...RULE, startWithin: -1 })
  await crew.join({ model: scriptedModel([{ calls: [call("ask")] }]), tools: [tool], agent: { guard, ruleOf } })
  const id = await crew.begin()
  await crew.answer(id, "ask", true)
  const { asks } = await crew.when(id, (run) => run.asks.length === 2 && openAsks(run).length === 1)
  expect(asks.map((ask) => ask.expiresAt)).toEqual([Date.parse(expiresAt), Date.parse(expiresAt)])
})

describe("a model that fails", () => {
  test("through a fault of ours is asked again as seldom, and not for ever", async () => {
    const crew = await startCrew()
    const model = scriptedModel(Array.from({ length: 9 }, () => restart))
    const guard = async () => {
      throw new Error("the guard broke")
    }
    await crew.join({ model, tools: [quickTool("restart")], leaseMs: 300, agent: { retries: 2, guard } })
    const id = await crew.begin()
    const { ended } = await crew.when(id, (run) => run.ended !== undefined)
    expect(ended).toMatchObject({ how: "failed", words: expect.stringContaining("could not be dealt with") })
    expect(model.requests).toHaveLength(3)
  })

  test("is asked again after a while, and the run goes on", async () => {
    const crew = await startCrew()
    const model = scriptedModel([new Error("garbled"), "hello"])
    const { steps } = await crew.join({ model, tools: [], agent: { retryBaseMs: 300 } })
    const id = await crew.begin()
    const { ended } = await crew.when(id, (run) => run.ended !== undefined)
    expect(ended?.how).toBe("done")
    const retry = steps.find(({ run }) => run.retry !== undefined)?.run.retry
    expect(retry).toMatchObject({ count: 1, words: expect.stringContaining("could not be read") })
    expect(ended?.at).toBeGreaterThanOrEqual(retry?.at ?? Infinity)
  })

  test("too often ends the run with words", async () => {
    const crew = await startCrew()
    const model = scriptedModel(Array.from({ length: 9 }, () => new Error("garbled")))
    await crew.join({ model, tools: [], agent: { retries: 2 } })
    const id = await crew.begin()
    const { ended } = await crew.when(id, (run) => run.ended !== undefined)
    expect(ended).toMatchObject({ how: "failed", words: expect.stringContaining("could not be read") })
    expect(model.requests).toHaveLength(3)
  })
})

describe("cancelling while a tool runs", () => {
  test.each(["the process that holds the run", "another process"])("through %s", async (through) => {
    const crew = await startCrew()
    const { tool, next } = heldTool("restart", { obeys: true })
    const model = scriptedModel([restart])
    const holder = await crew.join({ model, tools: [tool] })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const { ctx } = await next()
    await crew.cancel(id, through === "another process" ? crew.door : holder.store)
    const { ended } = await crew.when(id, (run) => run.ended !== undefined)
    expect(ctx.signal?.aborted).toBe(true)
    expect(ended).toMatchObject({ how: "cancelled", words: "cancelled by Ada" })
    expect(await crew.outputs(id)).toEqual(["stopped"])
    expect(model.requests).toHaveLength(1)
  })

  test("ends the run also when the tool does not listen: its outcome is called unknown", async () => {
    const crew = await startCrew()
    const { tool, next } = heldTool("restart")
    await crew.join({ model: scriptedModel([restart]), tools: [tool] })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const execution = await next()
    await crew.cancel(id, crew.door)
    const { ended } = await crew.when(id, (run) => run.ended !== undefined)
    expect(ended?.how).toBe("cancelled")
    expect(await crew.outputs(id)).toEqual([expect.stringContaining("outcome unknown")])
    execution.finish("restarted after all")
  })
})

describe("stopping", () => {
  test("lets what is under way finish, begins nothing more, and leaves the run to others at once", async () => {
    const crew = await startCrew()
    const { tool, next } = heldTool("restart")
    const model = scriptedModel([restart])
    const { worker } = await crew.join({ model, tools: [tool] })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const execution = await next()
    const stopped = worker.stop(60_000)
    execution.finish("restarted")
    await stopped
    expect(execution.ctx.signal?.aborted).toBe(false)
    expect(model.requests).toHaveLength(1)
    expect(await crew.outputs(id)).toEqual(["restarted"])
    await crew.join({ model: scriptedModel(["The end."]), tools: [tool] })
    expect((await crew.when(id, (run) => run.ended !== undefined)).ended?.how).toBe("done")
  })

  test("leaves a tool behind that does not listen, and its run to others at once", async () => {
    const crew = await startCrew()
    const { tool, next } = heldTool("restart")
    // A lease that is not given back outlasts the test.
    const { worker } = await crew.join({ model: scriptedModel([restart]), tools: [tool], leaseMs: 60_000 })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const { ctx, finish } = await next()
    await worker.stop(10)
    expect(ctx.signal?.aborted).toBe(true)
    expect((await crew.load(id))?.calls).toMatchObject([{ state: "running" }])
    await crew.join({ model: scriptedModel(["The end."]), tools: [tool] })
    const doubtful = await crew.when(id, (run) => openAsks(run).length > 0)
    expect(openAsks(doubtful)).toMatchObject([{ from: "doubt", tool: "restart" }])
    // As long as the process lives, what the tool comes to is still the answer.
    finish("restarted after all")
    await crew.when(id, (run) => run.ended !== undefined)
    expect(await crew.outputs(id)).toEqual(["restarted after all"])
  })

  test("takes no error of what it aborted for an outcome: people are asked", async () => {
    const crew = await startCrew()
    const tool = defineTool({
      name: "restart",
      description: "restart",
      inputSchema: { type: "object" },
      run: (_, ctx) => delay(60_000, "", ctx?.signal ? { signal: ctx.signal } : {}),
    })
    const { worker } = await crew.join({ model: scriptedModel([restart]), tools: [tool] })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    await crew.when(id, ({ calls }) => calls.some(({ state }) => state === "running"))
    await worker.stop(10)
    expect((await crew.load(id))?.calls).toMatchObject([{ state: "running" }])
    await crew.join({ model: scriptedModel(["done"]), tools: [tool] })
    const doubtful = await crew.when(id, (run) => openAsks(run).length > 0)
    expect(openAsks(doubtful)).toMatchObject([{ from: "doubt", tool: "restart" }])
  })

  test("aborts what takes too long, and still stores what comes of it", async () => {
    const crew = await startCrew()
    const { tool, next } = heldTool("restart", { obeys: true })
    const { worker } = await crew.join({ model: scriptedModel([restart]), tools: [tool] })
    const id = await crew.begin()
    await crew.answer(id, "restart", true)
    const { ctx } = await next()
    await worker.stop(10)
    expect(ctx.signal?.aborted).toBe(true)
    expect(await crew.outputs(id)).toEqual(["stopped"])
  })
})

test("an unentitled click changes nothing for the worker", async () => {
  const crew = await startCrew()
  const ran: unknown[] = []
  await crew.join({ model: scriptedModel([restart, "done"]), tools: [quickTool("restart", ran)] })
  const id = await crew.begin()
  const stranger = { ...ADA, person: { ...ADA.person, user: "U_MALLORY" } }
  await expect(crew.answer(id, "restart", true, { who: stranger })).rejects.toThrow("not listed")
  expect(ran).toEqual([])
  await crew.answer(id, "restart", true)
  await crew.when(id, (run) => run.ended !== undefined)
  expect(ran).toHaveLength(1)
})
