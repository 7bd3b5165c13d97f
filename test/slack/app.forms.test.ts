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

/** The window, once it is filled; `action` is what opens it. */
async function opened(it: Rig, user: string, card: Message, action = "answer"): Promise<string> {
  expect((await it.press(user, card, action)).acked).toBe(true)
  const view = await it.slack.workspace.waitFor(() => {
    const top = it.slack.workspace.views(user).at(-1)
    return top !== undefined && !JSON.stringify(top).includes("Checking…") && top
  })
  return view.id
}

/** What is typed or chosen in the fields of the window on top, in their order. */
function filled(it: Rig, user: string, ...values: string[]): Record<string, Record<string, string>> {
  const inputs = (it.slack.workspace.views(user).at(-1)?.blocks ?? []).filter(({ type }) => type === "input")
  return Object.fromEntries(inputs.map(({ block_id = "" }, index) => [block_id, { v: values[index] ?? "" }]))
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
    await it.told(ADA, "Nothing was recorded: Slack did not open the window")
  })

  test("opens before Redis is asked anything", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    const it = await rig()
    const { card } = await questioned(it)
    await it.bot.app.stop(1000)
    const slow = await it.another({ redisUrl: proxy.url, show: false })
    proxy.hold("requests")
    const pressed = it.press(ADA, card, "answer")
    await it.slack.workspace.waitFor(() => shown(it, ADA).includes("Checking…"))
    proxy.release()
    await pressed
    const view = await it.slack.workspace.waitFor(
      () => !shown(it, ADA).includes("Checking…") && it.slack.workspace.views(ADA).at(-1)?.id,
    )
    proxy.hold("requests")
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
  await opened(it, ADA, card)
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

describe("an answer in fields", () => {
  const schema = {
    type: "object",
    properties: {
      env: { type: "string", enum: ["prod", "staging"], enumNames: ["Production", "Staging"] },
      replicas: { type: "integer", minimum: 0, maximum: 9 },
      drain: { type: "boolean" },
      note: { type: "string", pattern: "^[a-z ]*$" },
    },
    required: ["env", "replicas", "drain"],
  }
  const request = { kind: "input", prompt: "Where, and how many?", data: { schema } }
  /** The last one, a note, stays empty. */
  const fields = (it: Rig, ...values: string[]) => filled(it, ADA, ...values)
  const answerOf = async (it: Rig, id: string): Promise<unknown> => {
    const [ask] = await it.asks(id)
    const [answer] = await it.store.texts(id, [`answer:${ask?.id}`])
    return answer === undefined ? undefined : JSON.parse(answer)
  }

  test("comes to the tool typed as the schema says, no and nothing included", async () => {
    const it = await rig()
    const { id, card } = await questioned(it, request)
    expect(buttonsOf(card)).toEqual(["answer", "decline"])
    const view = await opened(it, ADA, card)
    expect(shown(it, ADA)).toContain("Where, and how many?")
    const seen = await it.slack.workspace.submit(ADA, view, fields(it, "1", "0", "1"))
    expect(seen).toMatchObject({ acked: true, response: { response_action: "close" } })
    expect(await answerOf(it, id)).toMatchObject({ ok: true, data: { env: "staging", replicas: 0, drain: false } })
    expect(Object.keys(((await answerOf(it, id)) as { data: object }).data)).toEqual(["env", "replicas", "drain"])
  })

  test("that breaks the schema is marked field by field, and can be mended in the same window", async () => {
    const it = await rig()
    const { id, card } = await questioned(it, request)
    const view = await opened(it, ADA, card)
    const wrong = await it.slack.workspace.submit(ADA, view, fields(it, "0", "1", "0", "NOW"))
    expect(wrong.response).toMatchObject({
      response_action: "errors",
      errors: { [Object.keys(fields(it))[3] ?? ""]: expect.stringContaining("must match") },
    })
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
    await it.slack.workspace.submit(ADA, view, fields(it, "0", "9", "0"))
    expect(await answerOf(it, id)).toMatchObject({ data: { env: "prod", replicas: 9, drain: true } })
  })

  test("can't be a plain yes, whoever forges one; a no needs no fields", async () => {
    const it = await rig()
    const { id, card } = await questioned(it, request)
    const blocks = structuredClone(card.blocks ?? [])
    const forged = JSON.parse(JSON.stringify(blocks).replace('"answer"', '"approve"')) as typeof blocks
    await it.press(ADA, { ...card, blocks: forged }, "approve")
    await it.told(ADA, "Not recorded")
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
    await it.press(ADA, card, "decline")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: false, reason: "declined" })
  })

  test("to questions is a choice or words for each", async () => {
    const it = await rig()
    const questions = [{ question: "Which one?", options: ["web-1", "web-2"] }, { question: "Why?" }]
    const { id, card } = await questioned(it, { kind: "question", prompt: "Two things", data: { questions } })
    const view = await opened(it, ADA, card)
    await it.slack.workspace.submit(ADA, view, filled(it, ADA, "1", "it is slow"))
    expect(await answerOf(it, id)).toMatchObject({
      data: {
        answers: [
          { question: "Which one?", answer: "web-2" },
          { question: "Why?", answer: "it is slow" },
        ],
      },
    })
  })

  test("of two who answer at once one counts, and the other reads who was first", async () => {
    const it = await rig()
    const { id, card } = await questioned(it, request)
    const [first, second] = [await opened(it, ADA, card), await opened(it, GRACE, card)]
    await Promise.all([
      it.slack.workspace.submit(ADA, first, fields(it, "0", "1", "0")),
      it.slack.workspace.submit(GRACE, second, filled(it, GRACE, "0", "1", "0", "")),
    ])
    const [ask] = await it.asks(id)
    const loser = ask?.settled?.by?.user === ADA ? GRACE : ADA
    await it.told(loser, "Already settled: answered, restart by")
  })
})

test("a window that Slack does not fill decides nothing, and the person hears of it", async () => {
  const it = await rig()
  const { id, card } = await questioned(it)
  it.slack.workspace.misbehave({ do: "error", error: "internal_error", method: "views.update" })
  await it.press(ADA, card, "answer")
  await it.told(ADA, "Slack did not fill the window")
  expect((await it.asks(id))[0]?.settled).toBeUndefined()
})

test("a form that is closed decides nothing, and says so", async () => {
  const it = await rig()
  const { id, card } = await questioned(it)
  const view = await opened(it, ADA, card)
  await it.slack.workspace.closeView(ADA, view)
  await it.told(ADA, "Nothing was recorded: the window was closed")
  expect((await it.asks(id))[0]?.settled).toBeUndefined()
  expect(buttonsOf(it.now(card))).toEqual(["answer", "decline"])
})

describe("where the rule wants to know why", () => {
  const reason = { decline: "required", approve: "optional" } as const
  const why = async (it: Rig): Promise<{ id: string; card: Message }> => {
    const id = await it.start()
    const [card] = await it.ask(id, { rule: { reason } })
    if (!card) throw new Error("no card")
    return { id, card }
  }

  test("a no asks for it, takes none without, and the reason stands on the card and goes to the model", async () => {
    const it = await rig()
    const { id, card } = await why(it)
    expect(buttonsOf(card)).toEqual(["approve:why", "decline:why"])
    const view = await opened(it, ADA, card, "decline:why")
    expect((await it.slack.workspace.submit(ADA, view)).acked).toBe(false)
    expect((await it.slack.workspace.submit(ADA, view, { words: { words: "  " } })).response).toMatchObject({
      response_action: "errors",
    })
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
    expect(it.slack.workspace.ephemerals(ADA)).toEqual([])
    await it.slack.workspace.submit(ADA, view, { words: { words: "Not during the freeze" } })
    await it.slack.workspace.waitFor(() => JSON.stringify(it.now(card)).includes("Not during the freeze"))
    const [ask] = await it.asks(id)
    expect(ask?.settled).toMatchObject({ ok: false, reason: "declined", via: "form" })
    const [answer] = await it.store.texts(id, [`answer:${ask?.id}`])
    expect(JSON.parse(answer ?? "")).toMatchObject({ ok: false, data: { note: "Not during the freeze" } })
    expect(await it.facts(id)).toContainEqual(
      expect.objectContaining({ what: "settled", note: "Not during the freeze" }),
    )
  })

  test("a yes may go without", async () => {
    const it = await rig()
    const { id, card } = await why(it)
    const view = await opened(it, ADA, card, "approve:why")
    await it.slack.workspace.submit(ADA, view)
    expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: true, by: { user: ADA } })
  })

  test("whoever may not decide reads so before they write", async () => {
    const it = await rig()
    const { card } = await why(it)
    await opened(it, OSCAR, card, "decline:why")
    expect(shown(it, OSCAR)).toContain("You are not among those who may decide this")
  })

  test("a press that leaves the window out is refused", async () => {
    const it = await rig()
    const { id, card } = await why(it)
    const forged = JSON.parse(JSON.stringify(card.blocks).replace('"decline:why"', '"decline"')) as NonNullable<
      Message["blocks"]
    >
    await it.press(ADA, { ...card, blocks: forged }, "decline")
    await it.told(ADA, "please say why")
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
  })
})
