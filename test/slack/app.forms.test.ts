import { describe, expect, test } from "vitest"
import type { Request } from "../../src/core/suspension.ts"
import { OSCAR } from "../../src/sandbox/seed.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { startProxy } from "../fakes/proxy.ts"
import { redisUrl } from "../redis.ts"
import { ADA, GRACE, rig, type Rig } from "./app.rig.ts"
import { buttonsOf } from "./show.rig.ts"

const QUESTION = { kind: "question", prompt: "Which environment?" }

/** A run whose tool asks something; the card stands. A guard's Request asks for no words, so it must be the tool's. */
async function questioned(it: Rig, request: Partial<Request> = QUESTION): Promise<{ id: string; card: Message }> {
  const id = await it.start()
  const [card] = await it.ask(id, { from: "tool", request })
  if (!card) throw new Error("no card")
  return { id, card }
}

async function opened(it: Rig, user: string, card: Message): Promise<string> {
  expect((await it.press(user, card, "answer")).acked).toBe(true)
  const view = await it.slack.workspace.waitFor(() => it.slack.workspace.views(user).at(-1))
  return view.id
}

const shown = (it: Rig, user: string): string => JSON.stringify(it.slack.workspace.views(user))

describe("an answer in words", () => {
  test("is written in a form, settles the ask, and goes to the tool as it was written", async () => {
    const it = await rig()
    const { id, card } = await questioned(it)
    expect(buttonsOf(card)).toEqual(["answer", "decline"])
    const view = await opened(it, ADA, card)
    const words = "staging,\n  *not* <prod> & \u{1f600}"
    const seen = await it.slack.workspace.submit(ADA, view, { words: { words } })
    expect(seen).toMatchObject({ acked: true, response: { response_action: "close" } })
    expect(it.slack.workspace.views(ADA)).toEqual([])
    const [ask] = await it.asks(id)
    expect(ask?.settled).toMatchObject({ ok: true, by: { user: ADA }, via: "form" })
    const [answer] = await it.store.texts(id, [`answer:${ask?.id}`])
    expect(JSON.parse(answer ?? "")).toEqual({ id: ask?.id, ok: true, data: { output: words } })
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
  })

  test("counts once when Slack sends the form again", async () => {
    const it = await rig()
    const { id, card } = await questioned(it)
    const view = await opened(it, ADA, card)
    await it.slack.workspace.submit(ADA, view, { words: { words: "staging" } })
    const envelope = it.slack.workspace.deliveries.at(-1)?.envelope
    if (!envelope) throw new Error("nothing was sent")
    const again = await it.slack.workspace.deliver({ ...envelope, envelope_id: "again" })
    expect(again.acked).toBe(true)
    expect((await it.facts(id)).filter(({ what }) => what === "settled")).toHaveLength(1)
    expect(it.slack.workspace.ephemerals(ADA)).toEqual([])
  })

  test("whoever may not answer reads so before they write, and can't by sending the form either", async () => {
    const it = await rig()
    const { id, card } = await questioned(it)
    const view = await opened(it, ADA, card)
    await opened(it, OSCAR, card)
    await it.slack.workspace.waitFor(() => shown(it, OSCAR).includes("You are not among those who may decide this"))
    it.slack.workspace.alterGroup("S0SRE", { users: [GRACE] })
    it.clock.later += 61_000
    await it.slack.workspace.submit(ADA, view, { words: { words: "prod" } })
    await it.told(ADA, "You are not among those")
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
    expect((await it.facts(id)).filter(({ what }) => what === "refused")).toMatchObject([
      { by: { user: ADA }, via: "form" },
    ])
  })

  test("of what is settled by now is refused with who was first", async () => {
    const it = await rig()
    const { id, card } = await questioned(it)
    const view = await opened(it, ADA, card)
    await it.press(GRACE, card, "decline")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    await it.slack.workspace.submit(ADA, view, { words: { words: "staging" } })
    await it.told(ADA, "Already settled: declined, restart by grace")
    await opened(it, ADA, card)
    await it.slack.workspace.waitFor(() => shown(it, ADA).includes("Already settled"))
    expect((await it.asks(id))[0]?.settled?.ok).toBe(false)
  })

  test("when the form can't be opened the person hears that nothing was recorded", async () => {
    const it = await rig()
    const { card } = await questioned(it)
    it.slack.workspace.misbehave({ do: "error", error: "expired_trigger_id", method: "views.open" })
    await it.press(ADA, card, "answer")
    await it.told(ADA, "Not recorded")
  })

  test("opens before Redis is asked anything", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    const it = await rig()
    const { card } = await questioned(it)
    await it.bot.app.stop(1000)
    const slow = await it.another({ redisUrl: proxy.url, show: false })
    proxy.hold("requests")
    const view = await opened(it, ADA, card)
    // The window says what is true while nothing is stored yet, and the person hears the rest.
    const seen = await it.slack.workspace.submit(ADA, view, { words: { words: "staging" } })
    expect(seen).toMatchObject({ acked: true, response: { response_action: "update" } })
    expect(seen.ackMs).toBeLessThan(2000)
    expect(shown(it, ADA)).toContain("Received.")
    proxy.release()
    await it.told(ADA, "Recorded: answered")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    await slow.stop()
    await proxy.close()
  }, 60_000)
})

test("a plain yes is no answer to a question, whoever forges one", async () => {
  const it = await rig()
  const { id, card } = await questioned(it)
  await it.press(ADA, card, "answer")
  const delivery = it.slack.workspace.deliveries.find(({ envelope }) => envelope.type === "interactive")
  if (!delivery) throw new Error("nothing was delivered")
  const { payload, ...envelope } = structuredClone(delivery.envelope)
  const [action] = payload["actions"] as object[]
  const forged = { ...payload, actions: [{ ...action, action_id: "approve" }] }
  await it.slack.workspace.deliver({ ...envelope, envelope_id: "forged", payload: forged })
  await it.told(ADA, "Not recorded")
  expect((await it.asks(id))[0]?.settled).toBeUndefined()
})

test("a sign-in is confirmed with a plain yes", async () => {
  const it = await rig()
  const { id, card } = await questioned(it, { kind: "authorization", prompt: "Sign in", url: "https://example.com/x" })
  await it.press(ADA, card, "approve")
  await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
  expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: true })
})

test("fields can't be answered with a yes", async () => {
  const it = await rig()
  const schema = { type: "object", properties: { env: { type: "string" } }, required: ["env"] }
  const { id, card } = await questioned(it, { kind: "input", prompt: "Where?", data: { schema } })
  expect(buttonsOf(card)).toEqual(["decline"])
  await it.press(ADA, card, "decline")
  await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
  expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: false, reason: "declined" })
})
