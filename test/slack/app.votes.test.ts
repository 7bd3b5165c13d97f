import { describe, expect, test } from "vitest"
import type { Rule } from "../../src/core/policy.ts"
import { GUS } from "../../src/sandbox/seed.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { createToolkit } from "../../src/agent/tool.ts"
import { callsOf } from "../../src/work/guard.ts"
import { ADA, GRACE, OPS, rig, ROBIN, RULE, SRE, type Rig } from "./app.rig.ts"
import { buttonsOf } from "./show.rig.ts"

async function asked(it: Rig, rule: Partial<Rule>): Promise<{ id: string; card: Message }> {
  const id = await it.start()
  const [card] = await it.ask(id, { rule })
  if (!card) throw new Error("no card")
  return { id, card }
}

const textOf = (it: Rig, card: Message): string => JSON.stringify(it.now(card))
const facts = async (it: Rig, id: string, what: string) => (await it.facts(id)).filter((fact) => fact.what === what)

describe("two who must agree", () => {
  test("are shown as they come, and the second one settles it", async () => {
    const it = await rig()
    const { id, card } = await asked(it, { quorum: 2 })
    await it.press(ADA, card, "approve")
    await it.slack.workspace.waitFor(() => textOf(it, card).includes("Approved by 1 of 2"))
    expect(textOf(it, card)).toContain("One more person must approve")
    expect(buttonsOf(it.now(card))).toEqual(["approve", "decline"])
    await it.press(GRACE, card, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect(textOf(it, card)).toMatch(/Approved by ada.* and grace/i)
    expect(await facts(it, id, "voted")).toMatchObject([{ outcome: "1 of 2" }, { outcome: "2 of 2" }])
    expect(await facts(it, id, "settled")).toHaveLength(1)
  })

  test("are two people: the same one twice is told that others are missing", async () => {
    const it = await rig()
    const { id, card } = await asked(it, { quorum: 2 })
    await it.press(ADA, card, "approve")
    await it.slack.workspace.waitFor(() => textOf(it, card).includes("Approved by 1 of 2"))
    await it.press(ADA, it.now(card), "approve")
    await it.told(ADA, "You have approved restart already. One more person must approve it.")
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
  })

  test("are not done without by a button that only an unknown outcome has", async () => {
    const it = await rig()
    const { id, card } = await asked(it, { quorum: 2 })
    for (const forged of ["done", "again"]) {
      const blocks = JSON.parse(
        JSON.stringify(card.blocks).replace('"action_id":"approve"', `"action_id":"${forged}"`),
      ) as NonNullable<Message["blocks"]>
      await it.press(ADA, { ...card, blocks }, forged)
      await it.told(ADA, "this request doesn't offer that")
    }
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
    expect(await facts(it, id, "refused")).toMatchObject([{ outcome: "not offered", by: { user: ADA } }])
  })

  test("settle it with one no", async () => {
    const it = await rig()
    const { id, card } = await asked(it, { quorum: 2 })
    await it.press(ADA, card, "approve")
    await it.press(GRACE, card, "decline")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: false, by: { user: GRACE } })
  })

  test("who may no longer decide counts no more", async () => {
    const it = await rig()
    it.slack.workspace.addPerson({ id: "U0THREE" })
    it.slack.workspace.join("C0OPS", "U0THREE")
    it.slack.workspace.alterGroup(SRE, { users: [ADA, GRACE, "U0THREE"] })
    const { id, card } = await asked(it, { quorum: 2 })
    await it.press(ADA, card, "approve")
    await it.slack.workspace.waitFor(() => textOf(it, card).includes("Approved by 1 of 2"))
    it.slack.workspace.alterGroup(SRE, { users: [GRACE, "U0THREE"] })
    it.clock.later += 61_000
    await it.press(GRACE, card, "approve")
    await it.slack.workspace.waitFor(() => /Approved by 1 of 2.*grace/i.test(textOf(it, card)))
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
    expect(await facts(it, id, "refused")).toMatchObject([{ outcome: "vote void: not listed", by: { user: ADA } }])
    await it.press("U0THREE", card, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
  })

  test("at the same moment, against two processes, both count", async () => {
    const it = await rig()
    await it.another()
    const { id, card } = await asked(it, { quorum: 2 })
    await Promise.all([it.press(ADA, card, "approve"), it.press(GRACE, card, "approve")])
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect((await it.asks(id))[0]?.votes).toHaveLength(2)
    expect(it.slack.workspace.ephemerals(ADA)).toEqual([])
  })
})

test("those brought in later decide as well", async () => {
  const it = await rig()
  const { id, card } = await asked(it, { approvers: [ADA], escalate: { after: 1000, to: [GRACE] } })
  await it.press(GRACE, card, "approve")
  await it.told(GRACE, "You are not among those")
  await it.change(id, (run, now) => ({
    run: { ...run, asks: run.asks.map((ask) => ({ ...ask, escalated: now })) },
    facts: [],
    texts: [],
    append: [],
    slots: [],
    show: "cards",
  }))
  await it.slack.workspace.waitFor(() => textOf(it, card).includes("Brought in"))
  await it.press(GRACE, card, "approve")
  await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
  expect((await it.asks(id))[0]?.settled).toMatchObject({ by: { user: GRACE } })
})

describe("a grant", () => {
  const restart = { name: "restart", description: "Restarts", run: () => "ok", inputSchema: { type: "object" } }
  const tools = () => createToolkit({ extraTools: [restart] })

  test("comes with a yes, for the rule's while, marked for the like of the call", async () => {
    const toolkit = await tools()
    const it = await rig({ calls: callsOf({ rules: [], defaults: RULE }, toolkit) })
    const { id, card } = await asked(it, { grant: { for: 3_600_000, same: ["service"] } })
    expect(buttonsOf(card)).toEqual(["approve", "grant", "decline"])
    await it.press(ADA, card, "grant")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    const { grants } = await it.run(id)
    expect(grants).toMatchObject([{ tool: "restart", by: { user: ADA } }])
    expect((grants?.[0]?.until ?? 0) - (grants?.[0]?.at ?? 0)).toBe(3_600_000)
    expect(await facts(it, id, "granted")).toHaveLength(1)
  })

  test("is none under a rule that offers none, whoever forges the button", async () => {
    const toolkit = await tools()
    const it = await rig({ calls: callsOf({ rules: [], defaults: RULE }, toolkit) })
    const { id, card } = await asked(it, {})
    const forged = JSON.parse(JSON.stringify(card.blocks).replace('"approve"', '"grant"')) as NonNullable<
      Message["blocks"]
    >
    await it.press(ADA, { ...card, blocks: forged }, "grant")
    await it.told(ADA, "doesn't offer that")
    expect((await it.run(id)).grants).toBeUndefined()
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
  })
})

describe("everything about an ask", () => {
  const details = async (it: Rig, user: string, card: Message): Promise<string> => {
    await it.press(user, card, "details")
    const view = await it.slack.workspace.waitFor(() => {
      const top = JSON.stringify(it.slack.workspace.views(user).at(-1) ?? "Checking…")
      return !top.includes("Checking…") && top
    })
    return view
  }

  test("stands in a window, for whoever may see the run, masked", async () => {
    const it = await rig()
    const id = await it.start()
    const args = { note: "x".repeat(9000), password: "hunter2-hunter2" }
    await it.ask(id, { args, rule: { quorum: 2, name: "approvals[3]" } })
    // What is too long for the card stands in messages before it.
    const card = await it.slack.workspace.waitFor(() =>
      it.slack.workspace.messages(OPS).find((message) => buttonsOf(message).includes("approve")),
    )
    await it.press(ADA, card, "approve")
    await it.slack.workspace.waitFor(() => textOf(it, card).includes("Approved by 1 of 2"))
    const view = await details(it, ROBIN, card)
    const [ask] = await it.asks(id)
    const known = [ask?.digest ?? "?", "approvals[3]", "Who decides: @sre (S0SRE)", "2 different people must approve"]
    for (const words of [...known, "voted", "1 of 2"]) expect(view).toContain(words)
    expect(view.match(/x{500,}/g)?.join("").length).toBe(9000)
    expect(view).not.toContain("hunter2-hunter2")
  })

  test("is nothing to whoever may not: for them there is no such thing", async () => {
    const it = await rig()
    const { card } = await asked(it, {})
    it.slack.workspace.join("C0OPS", GUS)
    const view = await details(it, GUS, card)
    expect(view).toContain("belongs to nothing that I know")
    expect(view).not.toContain("restart")
  })
})

describe("signing in", () => {
  const url = "https://login.example/device?flow=42"
  const request = { kind: "authorization", prompt: "Sign in to the console", url }
  const signing = async (hosts: string[], change: object = {}) => {
    const it = await rig({ calls: callsOf({ rules: [], defaults: RULE }, await createToolkit(), () => hosts) })
    const id = await it.start()
    const rule: Partial<Rule> = { selfApproval: "confirm" }
    const [card] = await it.ask(id, { from: "tool", request: { ...request, ...change }, rule })
    if (!card) throw new Error("no card")
    return { it, id, card }
  }
  const opened = async (it: Rig, user: string, card: Message): Promise<string> => {
    await it.press(user, card, "sign-in")
    return it.slack.workspace.waitFor(() => {
      const top = JSON.stringify(it.slack.workspace.views(user).at(-1) ?? "Checking…")
      return !top.includes("Checking…") && top
    })
  }

  test("is for whoever asked for the run: they alone see the address, and opening it answers nothing", async () => {
    const { it, id, card } = await signing(["login.example"])
    expect(textOf(it, card)).not.toContain("flow=42")
    expect(await opened(it, ROBIN, card)).toContain(url)
    expect(await opened(it, ADA, card)).not.toContain("flow=42")
    expect(JSON.stringify(it.slack.workspace.views(ADA))).toContain(
      "Only the person who asked for this run can sign in",
    )
    const view = it.slack.workspace.views(ROBIN).at(-1)
    await it.slack.workspace.click(ROBIN, { view_id: view?.id ?? "" }, "link")
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
    expect(await facts(it, id, "revealed")).toMatchObject([{ by: { user: ROBIN }, outcome: "where to sign in" }])
    expect(await facts(it, id, "refused")).toMatchObject([{ by: { user: ADA }, outcome: "sign in: requester only" }])
    await it.press(ADA, card, "approve")
    await it.told(ADA, "Only the person who asked")
    await it.press(ROBIN, card, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: true, by: { user: ROBIN } })
  })

  test.each<[string, string[], object, string]>([
    ["a host that nobody listed", [], {}, "is not among the hosts"],
    ["a host that only ends like one", ["example"], {}, "is not among the hosts"],
    ["no encryption", ["login.example"], { url: "http://login.example/" }, "not encrypted"],
    ["a name in front", ["evil.example"], { url: "https://login.example@evil.example/" }, "a name or password in it"],
  ])("goes nowhere with %s", async (_, hosts, change, words) => {
    const { it, card } = await signing(hosts, change)
    const view = await opened(it, ROBIN, card)
    expect(view).toContain(words)
    expect(view).not.toContain('"url"')
  })
})
