import { expect, test } from "vitest"
import { createToolkit, defineTool, outcomeUnknown, type Tool } from "../../src/agent/tool.ts"
import type { Rule } from "../../src/core/policy.ts"
import type { ApprovalRule } from "../../src/core/rules.ts"
import type { Run, Since } from "../../src/core/run.ts"
import { fallsOf, policyGuard } from "../../src/work/guard.ts"
import { scriptedModel } from "../fakes/model.ts"
import { startCrew } from "./crew.ts"

const defaults: Rule = { approvers: ["S0SRE"], selfApproval: false, expiresIn: 1000, startWithin: 1000 }

const toolOf = (since?: Since): Tool =>
  defineTool({
    name: "docs_read",
    description: "reads",
    run: () => "",
    foreign: {
      server: "docs",
      tool: "read",
      print: "p",
      origin: "o",
      hints: {},
      ...(since === undefined ? {} : { since }),
    },
  })

const ask = (rules: ApprovalRule[], tool: Tool) =>
  policyGuard(
    { rules, defaults },
    async () => true,
  )({ run: { channel: "C1" } as Run, id: "1.1", ref: "r", tool, args: "{}" })

test("a glob lets run unasked what there was at the start; what appeared or changed since is asked about, and why is told", async () => {
  const rules: ApprovalRule[] = [{ tool: "docs_*", do: "allow" }]
  expect(await ask(rules, toolOf())).toEqual({ do: "run" })
  for (const since of ["appeared", "changed"] as const) {
    expect(await ask(rules, toolOf(since))).toMatchObject({
      do: "ask",
      rule: { ...defaults, name: `approvals[0] allows docs_* as it was at the start; this tool ${since} later` },
    })
  }
})

test("who names a tool in full means it whatever becomes of it, and no is no", async () => {
  expect(await ask([{ tool: "docs_read", do: "allow" }], toolOf("changed"))).toEqual({ do: "run" })
  expect(await ask([{ tool: "docs_*", do: "deny" }], toolOf("changed"))).toMatchObject({ do: "result" })
})

test.each<[ApprovalRule[], Since | undefined, string]>([
  [[], undefined, "ask"],
  [[{ tool: "docs_*", do: "allow" }], undefined, "allow"],
  [[{ tool: "docs_*", do: "allow" }], "changed", "ask"],
  [
    [
      { tool: "other", do: "deny" },
      { tool: "docs_?ead", do: "deny" },
    ],
    "changed",
    "deny",
  ],
  [[{ tool: "docs_*", when: { a: 1 }, do: "allow" }], undefined, "depends"],
  [[{ tool: "docs_*", when: { a: 1 }, do: "ask" }], undefined, "ask"],
  [
    [
      { tool: "*", when: { a: 1 }, do: "deny" },
      { tool: "*", do: "allow" },
    ],
    undefined,
    "depends",
  ],
])("under %j a tool that %s falls under %s", (rules, since, falls) => {
  expect(fallsOf({ rules, defaults }, toolOf(since))).toBe(falls)
})

const AGENT = (rules: ApprovalRule[]) => ({ agent: "web", rules, asking: {} })

test.each<[ApprovalRule[], ApprovalRule[], string]>([
  [[{ tool: "*", do: "allow" }], [], "allow"],
  [[{ tool: "*", do: "allow" }], [{ tool: "docs_*", do: "ask" }], "ask"],
  [[{ tool: "*", do: "allow" }], [{ tool: "docs_*", do: "deny" }], "deny"],
  [[{ tool: "*", do: "allow" }], [{ tool: "docs_*", when: { a: 1 }, do: "deny" }], "depends"],
  // The agent's yes opens nothing that the file asks about or refuses.
  [[], [{ tool: "*", do: "allow" }], "ask"],
  [[{ tool: "*", do: "deny" }], [{ tool: "*", when: { a: 1 }, do: "ask" }], "deny"],
  [[{ tool: "*", when: { a: 1 }, do: "ask" }], [{ tool: "*", do: "ask" }], "ask"],
])("under %j and an agent's %j it falls under %s", (rules, own, falls) => {
  expect(fallsOf({ rules, defaults, own: AGENT(own) }, toolOf())).toBe(falls)
})

test.each<[ApprovalRule[], ApprovalRule[], string]>([
  [[], [], "allow"],
  [[{ tool: "other", do: "deny" }], [{ tool: "docs_*", do: "allow" }], "allow"],
  [[{ tool: "docs_*", do: "ask" }], [], "ask"],
  [[{ tool: "*", do: "deny" }], [], "deny"],
  [[], [{ tool: "docs_*", do: "ask" }], "ask"],
  [[], [{ tool: "docs_*", do: "deny" }], "deny"],
])("under %j and an agent's %j what only asks its own person falls under %s", async (rules, own, falls) => {
  const tool = toolOf()
  const policy = { rules, defaults, own: AGENT(own), unasked: (one: Tool) => one === tool }
  expect(fallsOf(policy, tool)).toBe(falls)
  const guard = policyGuard(policy, async () => true)
  const guarded = await guard({ run: { channel: "C1" } as Run, id: "1.1", ref: "r", tool, args: "{}" })
  expect({ run: "allow", ask: "ask", result: "deny" }[guarded.do]).toBe(falls)
  // It is known by itself, not by its name.
  expect(fallsOf(policy, toolOf())).toBe(falls === "allow" ? "ask" : falls)
})

test("a call whose outcome its tool does not know is a doubt for people, and what may be repeated is an error", async () => {
  const crew = await startCrew()
  const lost = (name: string, effects: "once" | "repeatable") =>
    defineTool({ name, description: "d", effects, run: () => outcomeUnknown("the server went away") })
  const model = scriptedModel([
    {
      calls: [
        { tool: "pay", args: {} },
        { tool: "read", args: {} },
      ],
    },
    "done",
  ])
  await crew.join({
    model,
    tools: [lost("pay", "once"), lost("read", "repeatable")],
    agent: { guard: async () => ({ do: "run" }) },
  })
  const id = await crew.begin()
  const run = await crew.when(id, ({ asks, calls }) => asks.length === 1 && calls[1]?.state === "done")
  expect(run.asks).toMatchObject([{ from: "doubt", kind: "doubt", tool: "pay" }])
  expect(run.calls).toMatchObject([{ state: "running" }, { state: "done", outcome: "error" }])
})

test("a yes to a call is to the tool that was shown, and to no other server's that has its name by now", async () => {
  const ran: string[] = []
  const named = (server: string, print = "p") =>
    defineTool({
      name: "git_hub_push",
      description: "pushes",
      foreign: { server, tool: "push", print, origin: server, hints: {} },
      run: () => void ran.push(`${server} ${print}`),
    })
  const crew = await startCrew()
  // By its names, a tool `push` of a server `git_hub`, then a tool `hub_push` of one that was away, `git`.
  const tools = [named("git_hub")]
  const call = { calls: [{ tool: "git_hub_push", args: {} }] }
  const kit = await createToolkit({ sources: [{ tools: () => tools.slice() }] })
  await crew.join({ model: scriptedModel([call, call, "done"]), tools: [], agent: { tools: kit } })
  const id = await crew.begin()
  await crew.when(id, ({ asks }) => asks.length === 1)
  tools[0] = named("git")
  await crew.answer(id, "git_hub_push", true)
  await crew.when(id, ({ turns }) => turns === 2)
  expect(await crew.outputs(id)).toEqual([
    "git_hub_push has changed since it was called; call it again as it is now; it was not executed",
  ])
  // One that is the same, but told in other words, is what was agreed to.
  tools[0] = named("git", "q")
  await crew.answer(id, "git_hub_push", true)
  await crew.when(id, ({ ended }) => ended !== undefined)
  expect(ran).toEqual(["git q"])
})
