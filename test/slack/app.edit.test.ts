import { describe, expect, test } from "vitest"
import { createToolkit } from "../../src/agent/tool.ts"
import type { Rule } from "../../src/core/policy.ts"
import type { ApprovalRule } from "../../src/core/rules.ts"
import { merge } from "../../src/core/run.ts"
import { starting, suspended } from "../../src/core/turn.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { callsOf } from "../../src/work/guard.ts"
import { ADA, GRACE, OPS, rig, ROBIN, RULE, type Rig } from "./app.rig.ts"
import { buttonsOf } from "./show.rig.ts"

const DEPLOY = {
  name: "deploy",
  description: "Deploys",
  inputSchema: {
    type: "object",
    properties: { env: { type: "string" }, replicas: { type: "integer", maximum: 9 }, token: { type: "string" } },
    required: ["env"],
    additionalProperties: false,
  },
  summary: ({ env }: Record<string, unknown>) => `Deploy to ${String(env)}`,
  run: () => "ok",
}
const ARGS = { env: "prod", replicas: 2, token: "s3cret-s3cret" }
const EDIT: Partial<Rule> = { edit: { by: "approvers" }, mask: ["args.token"] }

async function asked(how: { rule?: Partial<Rule>; rules?: ApprovalRule[]; args?: unknown } = {}) {
  const toolkit = await createToolkit({ extraTools: [DEPLOY] })
  const rule = { ...EDIT, ...how.rule }
  const policy = { rules: how.rules ?? [], defaults: { ...RULE, ...rule } }
  const it = await rig({ calls: callsOf(policy, toolkit) })
  const id = await it.start()
  const [card] = await it.ask(id, { tool: "deploy", args: how.args ?? ARGS, rule })
  if (!card) throw new Error("no card")
  return { it, id, card }
}

const shown = (it: Rig, user: string): string => JSON.stringify(it.slack.workspace.views(user).at(-1) ?? "")

async function opened(it: Rig, user: string, card: Message): Promise<string> {
  expect((await it.press(user, card, "edit")).acked).toBe(true)
  return it.slack.workspace.waitFor(() => {
    const text = shown(it, user)
    return text !== '""' && !text.includes("Checking…") && it.slack.workspace.views(user).at(-1)?.id
  })
}

/** By the label of each field, what is to stand in it. */
function typed(it: Rig, user: string, values: Record<string, string>): Record<string, Record<string, string>> {
  const blocks = (it.slack.workspace.views(user).at(-1)?.blocks ?? []).filter(({ type }) => type === "input")
  return Object.fromEntries(
    blocks.flatMap((block) => {
      const { text } = block["label"] as { text: string }
      const value = values[text]
      return value === undefined ? [] : [[block.block_id ?? "", { v: value }]]
    }),
  )
}

const save = async (it: Rig, user: string, view: string, values: Record<string, string>) =>
  it.slack.workspace.submit(user, view, typed(it, user, values))
const facts = async (it: Rig, id: string, what: string) => (await it.facts(id)).filter((fact) => fact.what === what)

describe("changing the args before approving", () => {
  test("is a new version, shown as a difference, that somebody else approves; what runs is what was shown", async () => {
    const { it, id, card } = await asked()
    expect(buttonsOf(card)).toEqual(["approve", "edit", "decline", "reveal"])
    const view = await opened(it, ADA, card)
    expect(shown(it, ADA)).not.toContain("s3cret")
    expect(shown(it, ADA)).toContain("Not offered here, and staying as it is: token.")
    expect(await save(it, ADA, view, { env: "staging" })).toMatchObject({
      acked: true,
      response: { response_action: "close" },
    })
    await it.slack.workspace.waitFor(() => JSON.stringify(it.now(card)).includes("Changed by "))
    const text = JSON.stringify(it.now(card))
    expect(text).toContain("now version 2")
    expect(text).toContain("staging")
    expect(text).not.toContain("s3cret")
    const [ask] = await it.asks(id)
    expect(ask).toMatchObject({ version: 2, editors: [{ user: ADA }] })
    expect(await it.store.texts(id, ["args:1.1", "args:1.1:1"])).toEqual([
      '{"env":"prod","replicas":2,"token":"s3cret-s3cret"}',
      '{"env":"staging","replicas":2,"token":"s3cret-s3cret"}',
    ])
    // An old card's button is about the old version.
    await it.press(GRACE, card, "approve")
    await it.told(GRACE, "the request has changed since you saw it")
    await it.press(ADA, it.now(card), "approve")
    await it.told(ADA, "You changed this request, so somebody else has to approve it")
    await it.press(GRACE, it.now(card), "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    const [answer] = await it.store.texts(id, [`answer:${ask?.id}`])
    expect(JSON.parse(answer ?? "")).toMatchObject({ ok: true, data: { args: { ...ARGS, env: "staging" } } })
    expect(await facts(it, id, "edited")).toMatchObject([{ by: { user: ADA }, via: "form", version: 2 }])
  })

  test("is told with the yes to the call, not with the answer to a question of its tool's own", async () => {
    const { it, id, card } = await asked()
    await save(it, ADA, await opened(it, ADA, card), { env: "staging" })
    await it.slack.workspace.waitFor(() => JSON.stringify(it.now(card)).includes("Changed by "))
    await it.press(GRACE, it.now(card), "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    const request = { id: "own", kind: "approval", prompt: "Really?" }
    await it.change(id, (run, at) => {
      const begun = starting(run, "1.1", { id: "a", owner: "worker", at }, at).step
      return begun && merge(begun, suspended(begun.run, "1.1", "a", { request, rule: RULE }, at))
    })
    const own = await it.slack.workspace.waitFor(() =>
      it.slack.workspace.messages(OPS).find((message) => JSON.stringify(message).includes(":own")),
    )
    await it.press(GRACE, own, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(own)).length === 0)
    const [answer] = await it.store.texts(id, ["answer:own"])
    expect(JSON.parse(answer ?? "")).toEqual({ id: "own", ok: true, data: { output: "approved" } })
  })

  test("makes void what others said about the old version", async () => {
    const { it, id, card } = await asked({ rule: { quorum: 2 } })
    await it.press(GRACE, card, "approve")
    await it.slack.workspace.waitFor(() => JSON.stringify(it.now(card)).includes("Approved by 1 of 2"))
    await save(it, ADA, await opened(it, ADA, it.now(card)), { env: "staging" })
    await it.slack.workspace.waitFor(() => JSON.stringify(it.now(card)).includes("Approved by 0 of 2"))
    expect((await it.asks(id))[0]?.votes).toBeUndefined()
  })

  test("to what is the same changes nothing", async () => {
    const { it, id, card } = await asked()
    await save(it, ADA, await opened(it, ADA, card), {})
    expect(shown(it, ADA)).toContain("Nothing was changed")
    expect((await it.asks(id))[0]?.version).toBe(1)
    expect(await facts(it, id, "edited")).toEqual([])
  })

  test("to what the tool does not take is marked at its field", async () => {
    const { it, id, card } = await asked()
    const view = await opened(it, ADA, card)
    const seen = await save(it, ADA, view, { replicas: "12" })
    expect(seen.response).toMatchObject({ response_action: "errors" })
    expect((await it.asks(id))[0]?.version).toBe(1)
  })

  test("to what the rules let nobody run is refused, and leaves a fact", async () => {
    const rules: ApprovalRule[] = [{ tool: "deploy", when: { env: "moon" }, do: "deny" }]
    const { it, id, card } = await asked({ rules })
    await save(it, ADA, await opened(it, ADA, card), { env: "moon" })
    await it.told(ADA, "the rules let nobody run it with these arguments")
    expect((await it.asks(id))[0]?.version).toBe(1)
    expect(await facts(it, id, "refused")).toMatchObject([{ outcome: "edit: forbidden", by: { user: ADA } }])
  })

  test("falls under the stricter of both rules", async () => {
    const rules: ApprovalRule[] = [{ tool: "deploy", when: { env: "eu" }, do: "ask", quorum: 2 }]
    const { it, id, card } = await asked({ rules })
    await save(it, ADA, await opened(it, ADA, card), { env: "eu" })
    await it.slack.workspace.waitFor(() => JSON.stringify(it.now(card)).includes("Approved by 0 of 2"))
    expect((await it.asks(id))[0]?.rule.quorum).toBe(2)
  })

  test("of what somebody changed meanwhile is refused", async () => {
    const { it, id, card } = await asked()
    const [mine, theirs] = [await opened(it, ADA, card), await opened(it, GRACE, card)]
    await save(it, ADA, mine, { env: "staging" })
    await save(it, GRACE, theirs, { env: "test" })
    await it.told(GRACE, "somebody changed the request since you opened it")
    expect((await it.asks(id))[0]?.version).toBe(2)
    expect(await facts(it, id, "refused")).toMatchObject([{ outcome: "edit: changed" }])
  })

  test("is for whom the rule names", async () => {
    const { it, card } = await asked({ rule: { edit: { by: "requester" } } })
    await opened(it, ADA, card)
    expect(shown(it, ADA)).toContain("Only the person who asked for this run may change this request")
    await opened(it, ROBIN, card)
    expect(shown(it, ROBIN)).toContain("Saving approves nothing")
  })

  test("is not possible once it is settled", async () => {
    const { it, card } = await asked()
    const view = await opened(it, ADA, card)
    await it.press(GRACE, card, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    await save(it, ADA, view, { env: "staging" })
    await it.told(ADA, "Already settled: approved, deploy by")
  })

  test("is not offered for args that no form holds, nor done by a forged button", async () => {
    const { it, card } = await asked({ args: { env: "x\u202ey" } })
    expect(buttonsOf(card)).not.toContain("edit")
    const blocks = JSON.parse(JSON.stringify(card.blocks).replace('"approve"', '"edit"')) as NonNullable<
      Message["blocks"]
    >
    await opened(it, ADA, { ...card, blocks })
    expect(shown(it, ADA)).toContain("It can't be changed here: ")
  })
})
