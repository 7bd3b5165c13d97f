import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { card } from "../../../src/slack/blocks/card.ts"
import { answerForm, commandOf, intentOf, readRef, refOf } from "../../../src/slack/blocks/intent.ts"
import { root } from "../../../src/slack/blocks/messages.ts"
import { sampleRun, sampleView } from "../../../src/slack/blocks/samples.ts"
import { checkView } from "../../../src/sandbox/validate.ts"

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
      { kind: "decide", ok: true, ...ref },
      { kind: "decide", ok: false, ...ref },
      { kind: "reveal", ...ref },
    ])
  })

  test("of a card with a question", () => {
    expect(presses(card(sampleView({}, { from: "tool" }, { kind: "input", prompt: "Which?" })))).toMatchObject([
      { kind: "answer", ...ref },
      { kind: "decide", ok: false, ...ref },
    ])
  })

  test("of a doubt", () => {
    expect(presses(card(sampleView({}, { from: "doubt" }, { kind: "doubt" })))).toMatchObject([
      { kind: "decide", ok: true, choice: "done" },
      { kind: "decide", ok: true, choice: "again" },
      { kind: "decide", ok: false },
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
    ok: true,
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

describe("the form for an answer", () => {
  const form = answerForm(ref, { channel: "C0OPS", responseUrl: "http://127.0.0.1/r" })
  const submit = (change: object = {}) => ({
    type: "view_submission",
    user: { id: "U0BEN", team_id: "T0HOME" },
    team: { id: "T0HOME" },
    view: {
      id: "V1",
      callback_id: form.callback_id,
      private_metadata: form.private_metadata,
      state: { values: { words: { words: { type: "plain_text_input", value: "web-2\nplease" } } } },
      ...change,
    },
  })

  test("is one that Slack takes", () => {
    expect(checkView(structuredClone(form))).toMatchObject({ ok: true })
  })

  test("brings the words back as they are, with the ask they answer and the way to reply", () => {
    expect(intentOf(submit())).toMatchObject({
      kind: "decide",
      ok: true,
      output: "web-2\nplease",
      ...ref,
      press: { user: "U0BEN", channel: "C0OPS", responseUrl: "http://127.0.0.1/r", cause: "answer:V1:U0BEN" },
    })
  })

  test("means nothing without an answer or with another's data", () => {
    expect(intentOf(submit({ state: { values: {} } })).kind).toBe("none")
    expect(intentOf(submit({ private_metadata: "{" })).kind).toBe("none")
    expect(intentOf(submit({ private_metadata: '{"ref":"x"}' })).kind).toBe("none")
  })
})

describe("a command", () => {
  test.each([
    ["", { kind: "help" }],
    ["  ", { kind: "help" }],
    ["help", { kind: "help" }],
    ["HELP ", { kind: "help" }],
    ["list", { kind: "list" }],
    ["List", { kind: "list" }],
    ["cancel r00abc", { kind: "cancel", run: "r00abc" }],
    ["cancel `r00abc`", { kind: "cancel", run: "r00abc" }],
    ["cancel", { kind: "cancel", run: "" }],
    ["list the failing pods", { kind: "start", prompt: "list the failing pods" }],
    ["help me with the deploy", { kind: "start", prompt: "help me with the deploy" }],
    ["cancel the deploy of web", { kind: "start", prompt: "cancel the deploy of web" }],
    ["a &amp;&amp; b &lt;c&gt; &amp;lt;", { kind: "start", prompt: "a && b <c> &lt;" }],
    [" two\nlines ", { kind: "start", prompt: "two\nlines" }],
  ])("%j", (text, command) => {
    expect(commandOf(text)).toEqual(command)
  })
})
