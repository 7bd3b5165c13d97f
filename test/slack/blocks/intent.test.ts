import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { card } from "../../../src/slack/blocks/card.ts"
import { intentOf, readRef, refOf } from "../../../src/slack/blocks/intent.ts"
import { reasonForm, wordsIn } from "../../../src/slack/blocks/forms.ts"
import { root } from "../../../src/slack/blocks/messages.ts"
import { sampleRun, sampleView } from "../../../src/slack/blocks/samples.ts"

const press = (action: object, change: object = {}) => ({
  type: "block_actions",
  user: { id: "U0BEN", team_id: "T0HOME", username: "ben", name: "ben" },
  team: { id: "T0HOME", domain: "x" },
  container: { type: "message", message_ts: "1.2", channel_id: "C0OPS", thread_ts: "1.1" },
  trigger_id: "t1",
  response_url: "http://127.0.0.1/r",
  actions: [{ type: "button", block_id: "b", action_ts: "17.5", ...action }],
  ...change,
})

/** The buttons of a message, as Slack would send them back. */
function buttonsOf(message: { blocks: unknown[] }): { action_id: string; value: string }[] {
  return (message.blocks as { type: string; elements: { action_id: string; value: string }[] }[])
    .filter((block) => block.type === "actions")
    .flatMap((block) => block.elements)
    .map(({ action_id, value }) => ({ action_id, value }))
}
const presses = (message: { blocks: unknown[] }) => buttonsOf(message).map((button) => intentOf(press(button)))
const ref = { run: sampleRun.id, ask: "pnd-5f3a", version: 1 }

describe("what a button says is what is read back", () => {
  test("of a card", () => {
    const masked = sampleView({ args: '{"password":"hunter2"}' })
    expect(presses(card(masked))).toMatchObject([
      { kind: "decide", says: "approve", ...ref },
      { kind: "decide", says: "decline", ...ref },
      { kind: "reveal", ...ref },
      { kind: "open", window: "details", ...ref },
    ])
  })

  test("of a card with a question", () => {
    expect(presses(card(sampleView({}, { from: "tool" }, { kind: "input", prompt: "Which?" })))).toMatchObject([
      { kind: "open", window: "answer", ...ref },
      { kind: "decide", says: "decline", ...ref },
      { kind: "open", window: "details", ...ref },
    ])
  })

  test("of a doubt", () => {
    expect(presses(card(sampleView({}, { from: "doubt" }, { kind: "doubt" })))).toMatchObject([
      { kind: "decide", says: "done" },
      { kind: "decide", says: "again" },
      { kind: "decide", says: "failed" },
      { kind: "open", window: "details" },
    ])
  })

  test("of a run", () => {
    expect(presses(root(sampleRun, { prompt: "x" }))).toMatchObject([{ kind: "cancel", run: sampleRun.id }])
  })

  test("whatever the id of the Request", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: "grapheme" }),
        fc.integer({ min: 1, max: 999_999 }),
        (id, version) => {
          expect(readRef(refOf(sampleRun, { id, version }))).toEqual({ run: sampleRun.id, ask: id, version })
        },
      ),
    )
  })
})

test("who pressed, where, and by what it is known again", () => {
  expect(intentOf(press({ action_id: "approve", value: "r1:1:a" }))).toEqual({
    kind: "decide",
    run: "r1",
    version: 1,
    ask: "a",
    says: "approve",
    press: {
      user: "U0BEN",
      team: "T0HOME",
      name: "ben",
      channel: "C0OPS",
      ts: "1.2",
      thread: "1.1",
      responseUrl: "http://127.0.0.1/r",
      trigger: "t1",
      cause: "approve:17.5:U0BEN",
    },
  })
})

test("what is missing from an organisation's payload is simply not known", () => {
  const body = press(
    { action_id: "approve", value: "r1:1:a" },
    {
      team: null,
      enterprise: { id: "E1" },
      channel: undefined,
      response_url: undefined,
      container: { type: "message" },
      user: { id: "W1" },
    },
  )
  expect(intentOf(body)).toMatchObject({ kind: "decide", press: { user: "W1", enterprise: "E1" } })
})

describe("what we did not make means nothing", () => {
  test.each([
    ["nothing", undefined],
    ["a text", "approve"],
    ["a list", []],
    ["another kind of payload", { type: "shortcut" }],
    ["no action", press({}, { actions: [] })],
    ["two actions", press({}, { actions: [{}, {}] })],
    ["no user", press({ action_id: "approve", value: "r1:1:a" }, { user: null })],
    ["a user id that is none", press({ action_id: "approve", value: "r1:1:a" }, { user: { id: "<@U1>" } })],
    ["another element", press({ type: "static_select", action_id: "approve", value: "r1:1:a" })],
    ["another action", press({ action_id: "aprove", value: "r1:1:a" })],
    ["an action named like what every object has", press({ action_id: "constructor", value: "r1:1:a" })],
    ["no value", press({ action_id: "approve" })],
    ["a value without an ask", press({ action_id: "approve", value: "r1:1:" })],
    ["a version that is no number", press({ action_id: "approve", value: "r1:x:a" })],
    ["version 0", press({ action_id: "approve", value: "r1:0:a" })],
    ["a run that is a key", press({ action_id: "approve", value: "{x}*:1:a" })],
    ["a reason for what nobody says", press({ action_id: "constructor:why", value: "r1:1:a" })],
    ["a cancel of nothing", press({ action_id: "cancel", value: "" })],
    ["a value beyond all size", press({ action_id: "approve", value: `r1:1:${"a".repeat(5000)}` })],
    ["a value that is an object", press({ action_id: "approve", value: { run: "r1" } })],
    ["another form", { type: "view_submission", view: { callback_id: "x" } }],
  ])("%s", (_, body) => {
    expect(intentOf(body).kind).toBe("none")
  })

  test("and nothing makes it throw", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (action, container) => {
        intentOf(press({ action_id: "approve", value: action }, { container, team: action, user: action }))
        intentOf({
          type: "view_submission",
          view: { callback_id: "answer", private_metadata: action, state: container },
        })
        intentOf(action)
      }),
    )
  })
})

describe("a form", () => {
  const back = { channel: "C0OPS", thread: "1.1", responseUrl: "http://127.0.0.1/r" }
  const form = reasonForm(
    { ref, says: "decline", back },
    { tool: "restart", args: "{}", fingerprint: "3c2f9a7be01d", need: "required" },
  )
  const state = { values: { words: { words: { type: "plain_text_input", value: "web-2\nplease" } } } }
  const sent = (change: object = {}, type = "view_submission") => ({
    type,
    user: { id: "U0BEN", team_id: "T0HOME" },
    team: { id: "T0HOME" },
    view: { id: "V1", callback_id: form.callback_id, private_metadata: form.private_metadata, state, ...change },
  })

  test("brings back what it says, as it was written, with the ask it is about and the way to reply", () => {
    const intent = intentOf(sent())
    expect(intent).toMatchObject({
      kind: "submit",
      form: "reason",
      says: "decline",
      ...ref,
      press: { user: "U0BEN", ...back, cause: "reason:V1:U0BEN" },
    })
    expect(intent.kind === "submit" && wordsIn(intent.values)).toBe("web-2\nplease")
  })

  test("that was closed says so, and nothing else", () => {
    expect(intentOf(sent({}, "view_closed"))).toMatchObject({ kind: "closed", form: "reason", ...ref, press: back })
  })

  test("means nothing with another's data", () => {
    expect(intentOf(sent({ private_metadata: "{" })).kind).toBe("none")
    expect(intentOf(sent({ private_metadata: '{"ref":"x"}' })).kind).toBe("none")
    expect(intentOf(sent({ callback_id: "details" })).kind).toBe("none")
    expect(wordsIn({})).toBeUndefined()
    expect(wordsIn({ words: { words: { value: " \n" } } })).toBeUndefined()
  })
})
