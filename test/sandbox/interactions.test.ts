import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { ADA, AUDIT, BOT, GRACE, NO_BOT, OPS, OSCAR, ROBIN } from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import { actions, button, call, section, text } from "./call.ts"
import { attach, type Peer } from "./peer.ts"

let now = 1_800_000_000_000
let slack: SandboxSlack
let peer: Peer
beforeEach(async () => {
  slack = await startSlack({ clock: () => now })
  peer = await attach(slack)
})
afterEach(async () => {
  await slack.close()
})

const card = async (...elements: unknown[]): Promise<string> =>
  String(
    (
      await call(slack, "chat.postMessage", {
        channel: OPS,
        text: "card",
        blocks: [section("a & b"), actions(...elements)],
      })
    )["ts"],
  )
const form = {
  type: "modal",
  title: text("Form"),
  submit: text("Send"),
  private_metadata: "ask-1",
  blocks: [
    {
      type: "input",
      block_id: "name",
      label: text("Name"),
      element: { type: "plain_text_input", action_id: "v", min_length: 2, max_length: 5 },
    },
    {
      type: "input",
      block_id: "env",
      optional: true,
      label: text("Env"),
      element: { type: "static_select", action_id: "v", options: [{ text: text("Prod"), value: "prod" }] },
    },
  ],
}

/** Opens a modal for Ada by a press on a card. */
async function open(view: unknown = form): Promise<string> {
  const ts = await card(button("go"))
  await slack.workspace.click(ADA, { channel: OPS, ts }, "go")
  const opened = await call(slack, "views.open", { trigger_id: peer.last()["trigger_id"], view })
  return (opened["view"] as { id: string }).id
}

describe("payloads", () => {
  test("a command carries what Slack's carries, and no thread", async () => {
    await slack.workspace.command(ROBIN, OPS, "deploy <web> & co")
    expect(peer.last()).toEqual({
      token: "deprecated",
      team_id: "T1",
      team_domain: "sandbox",
      channel_id: OPS,
      channel_name: "ops",
      user_id: ROBIN,
      user_name: "robin",
      command: "/agent",
      text: "deploy &lt;web&gt; &amp; co",
      api_app_id: "A0APP",
      is_enterprise_install: "false",
      response_url: expect.stringContaining(`${slack.url}response/`) as string,
      trigger_id: expect.any(String) as string,
    })
  })

  test("channels that aren't public are named as Slack names them", async () => {
    await slack.workspace.command(ADA, AUDIT, "x")
    expect(peer.last()["channel_name"]).toBe("privategroup")
    await slack.workspace.command(ADA, slack.workspace.openDm(ADA, ROBIN).id, "x")
    expect(peer.last()["channel_name"]).toBe("directmessage")
  })

  test("a press carries the message as stored, the action, and where it happened", async () => {
    const ts = await card(button("go", { value: "ask-1", style: "primary" }))
    slack.workspace.alterPerson(OSCAR, { team_id: "T2" })
    await slack.workspace.click(OSCAR, { channel: OPS, ts }, "go")
    expect(peer.last()).toMatchObject({
      type: "block_actions",
      user: { id: OSCAR, username: "oscar", name: "oscar", team_id: "T2" },
      team: { id: "T1", domain: "sandbox" },
      enterprise: null,
      is_enterprise_install: false,
      container: { type: "message", message_ts: ts, channel_id: OPS, is_ephemeral: false },
      channel: { id: OPS, name: "ops" },
      message: { ts, user: BOT, bot_id: "B0BOT", blocks: [{ text: { text: "a &amp; b" } }, {}] },
      state: { values: {} },
      response_url: expect.stringContaining("/response/") as string,
      actions: [
        {
          type: "button",
          action_id: "go",
          block_id: "block-2",
          value: "ask-1",
          style: "primary",
          text: { text: "Go" },
          action_ts: expect.any(String) as string,
        },
      ],
    })
  })

  test("a press in a thread names the thread; one in an ephemeral has no message", async () => {
    const root = await card(button("go"))
    const { ts } = await call(slack, "chat.postMessage", {
      channel: OPS,
      thread_ts: root,
      text: "x",
      blocks: [actions(button("in"))],
    })
    await slack.workspace.click(ADA, { channel: OPS, ts: String(ts) }, "in")
    expect(peer.last()).toMatchObject({ container: { thread_ts: root } })
    const { message_ts } = await call(slack, "chat.postEphemeral", {
      channel: OPS,
      user: ADA,
      text: "x",
      blocks: [actions(button("eph"))],
    })
    await slack.workspace.click(ADA, { channel: OPS, ts: String(message_ts) }, "eph")
    expect(peer.last()).toMatchObject({ container: { is_ephemeral: true, message_ts } })
    expect(peer.last()).not.toHaveProperty("message")
  })

  test("a choice in a menu tells the option", async () => {
    const options = [
      { text: text("One"), value: "1" },
      { text: text("Two"), value: "2" },
    ]
    const ts = await card({ type: "overflow", action_id: "more", options })
    await slack.workspace.click(ADA, { channel: OPS, ts }, "more", { value: "2" })
    expect(peer.last()).toMatchObject({ actions: [{ type: "overflow", selected_option: { value: "2" } }] })
  })

  test("a form carries every value, and no channel", async () => {
    const id = await open()
    await slack.workspace.submit(ADA, id, { name: { v: "Ada" }, env: { v: "prod" } })
    expect(peer.last()).toMatchObject({
      type: "view_submission",
      view: {
        id,
        private_metadata: "ask-1",
        state: {
          values: {
            name: { v: { type: "plain_text_input", value: "Ada" } },
            env: { v: { type: "static_select", selected_option: { value: "prod" } } },
          },
        },
      },
    })
    expect(peer.last()).not.toHaveProperty("channel")
    expect(peer.last()).not.toHaveProperty("response_url")
  })

  test("a press in the home tells of the view and of no message, and can open a modal", async () => {
    const home = { type: "home", private_metadata: "page 2", blocks: [actions(button("details", { value: "run-1" }))] }
    const published = await call(slack, "views.publish", { user_id: GRACE, view: home })
    const { id } = published["view"] as { id: string }
    await slack.workspace.click(GRACE, { view_id: id }, "details")
    expect(peer.last()).toMatchObject({
      type: "block_actions",
      user: { id: GRACE },
      container: { type: "view", view_id: id },
      view: { id, type: "home", private_metadata: "page 2", state: { values: {} } },
      actions: [{ action_id: "details", value: "run-1" }],
    })
    for (const key of ["channel", "message", "response_url"]) expect(peer.last()).not.toHaveProperty(key)
    const { trigger_id } = peer.last()
    expect(await call(slack, "views.open", { trigger_id, view: form })).toMatchObject({ ok: true })
    expect(slack.workspace.views(GRACE)).toHaveLength(1)
    const again = await call(slack, "views.publish", { user_id: GRACE, view: home })
    expect(again).toMatchObject({ view: { id } })
    expect((again["view"] as { hash: string }).hash).not.toBe((published["view"] as { hash: string }).hash)
  })

  test("the conversation with the app takes presses and commands", async () => {
    const { channel, ts } = await call(slack, "chat.postMessage", {
      channel: ROBIN,
      text: "x",
      blocks: [actions(button("go"))],
    })
    const dm = String(channel)
    await slack.workspace.click(ROBIN, { channel: dm, ts: String(ts) }, "go")
    expect(peer.last()).toMatchObject({
      container: { type: "message", channel_id: dm, message_ts: ts },
      channel: { id: dm, name: "directmessage" },
    })
    peer.ack = () => ({ text: "yours" })
    expect(await slack.workspace.command(ROBIN, dm, "list")).toMatchObject({ response: { text: "yours", channel: dm } })
    expect(peer.last()).toMatchObject({ channel_id: dm, channel_name: "directmessage", text: "list" })
    expect(await slack.workspace.click(ADA, { channel: dm, ts: String(ts) }, "go")).toMatchObject({
      error: "channel_not_found",
    })
  })

  test("the home's opening is an event with an id of its own", async () => {
    await slack.workspace.openHome(ADA)
    await slack.workspace.openHome(ADA, "messages")
    const [first, second] = peer.received.map((it) => it.payload)
    expect(first).toMatchObject({ type: "event_callback", event: { type: "app_home_opened", tab: "home", user: ADA } })
    expect(first?.["event_id"]).not.toBe(second?.["event_id"])
  })
})

describe("what a person can't do", () => {
  test("open what is switched off, or open anything when they are nobody", async () => {
    Object.assign(slack.workspace, { homeEnabled: false, messagesEnabled: false })
    expect(await slack.workspace.openHome(ADA)).toMatchObject({ error: "not_enabled" })
    expect(await slack.workspace.openHome(ADA, "messages")).toMatchObject({ error: "not_enabled" })
    Object.assign(slack.workspace, { homeEnabled: true })
    expect(await slack.workspace.openHome("U9")).toMatchObject({ error: "user_not_found" })
    expect(peer.received).toEqual([])
  })

  test.each<[string, () => Promise<unknown>, string]>([
    ["type a command where they are not", () => slack.workspace.command(ROBIN, AUDIT, "x"), "channel_not_found"],
    ["type a command that nobody has", () => slack.workspace.command(ROBIN, OPS, "x", "/other"), "invalid_command"],
    [
      "press what isn't there",
      async () => slack.workspace.click(ADA, { channel: OPS, ts: await card(button("a")) }, "b"),
      "no_such_action",
    ],
    [
      "press in a message that isn't there",
      () => slack.workspace.click(ADA, { channel: OPS, ts: "1.1" }, "a"),
      "no_such_action",
    ],
    [
      "press in another's modal",
      async () => slack.workspace.click(GRACE, { view_id: await open() }, "v"),
      "no_such_action",
    ],
    ["send another's form", async () => slack.workspace.submit(GRACE, await open()), "no_such_view"],
    ["leave out what is required", async () => slack.workspace.submit(ADA, await open()), "incomplete"],
    ["write too little", async () => slack.workspace.submit(ADA, await open(), { name: { v: "x" } }), "incomplete"],
    ["write too much", async () => slack.workspace.submit(ADA, await open(), { name: { v: "xxxxxx" } }), "incomplete"],
  ])("%s", async (_what, act, error) => {
    expect(await act()).toMatchObject({ acked: false, error })
  })

  test("a copy of a card that was kept still has its old button", async () => {
    const ts = await card(button("go", { value: "v1" }))
    const old = slack.workspace.messages(OPS)[0]
    await call(slack, "chat.update", { channel: OPS, ts, text: "settled", blocks: [section("settled")] })
    expect(await slack.workspace.click(ADA, { channel: OPS, ts }, "go")).toMatchObject({ error: "no_such_action" })
    expect(await slack.workspace.click(ADA, old ?? { channel: OPS, ts }, "go")).toMatchObject({ acked: true })
    expect(peer.last()).toMatchObject({ actions: [{ value: "v1" }], message: { text: "settled" } })
  })
})

describe("acks", () => {
  test("a late one is a timeout", async () => {
    const hasty = await startSlack({ ackTimeout: 50 })
    const mute = await attach(hasty)
    mute.ack = () => undefined
    expect(await hasty.workspace.command(ROBIN, OPS, "x")).toMatchObject({ acked: false, error: "operation_timeout" })
    expect(mute.received).toHaveLength(1)
    await hasty.close()
  })

  test("without an app there is nobody to ask", async () => {
    slack.workspace.sockets.drop()
    await slack.workspace.waitFor(() => slack.workspace.sockets.count === 0)
    expect(await slack.workspace.command(ROBIN, OPS, "x")).toMatchObject({ acked: false, error: "dispatch_failed" })
  })

  test("a command's ack can be for all, have blocks, or be refused", async () => {
    peer.ack = () => ({ response_type: "in_channel", text: "hello" })
    await slack.workspace.command(ROBIN, NO_BOT, "x")
    expect(slack.workspace.messages(NO_BOT)).toMatchObject([{ text: "hello", user: BOT }])
    peer.ack = () => ({ text: "x", blocks: [section("")] })
    expect(await slack.workspace.command(ROBIN, OPS, "x")).toMatchObject({ acked: true, error: "invalid_blocks" })
    expect(slack.workspace.ephemerals(ROBIN)).toEqual([])
  })

  test.each<[string, unknown, string[]]>([
    ["nothing", {}, []],
    ["clear", { response_action: "clear" }, []],
    ["update", { response_action: "update", view: { ...form, private_metadata: "next" } }, ["next"]],
    ["push", { response_action: "push", view: { ...form, private_metadata: "next" } }, ["ask-1", "next"]],
    ["errors", { response_action: "errors", errors: { name: "taken" } }, ["ask-1"]],
    ["errors for no block of the form", { response_action: "errors", errors: { nme: "taken" } }, ["ask-1"]],
    ["a faulty update", { response_action: "update", view: { type: "modal" } }, ["ask-1"]],
    ["a word that isn't one", { response_action: "close" }, ["ask-1"]],
  ])("a form answered with %s", async (what, ack, left) => {
    const id = await open()
    peer.ack = () => ack
    const seen = await slack.workspace.submit(ADA, id, { name: { v: "Ada" } })
    expect(slack.workspace.views(ADA).map((it) => it.private_metadata)).toEqual(left)
    expect(seen.error !== undefined).toBe(/no block|faulty|isn't/.test(what))
  })

  test("closing is told when the form asked for it, with whether all were closed", async () => {
    const id = await open({ ...form, notify_on_close: true })
    await slack.workspace.closeView(ADA, id, true)
    expect(peer.last()).toMatchObject({ type: "view_closed", is_cleared: true, view: { id } })
    const before = peer.received.length
    const silent = await open()
    await slack.workspace.closeView(ADA, silent)
    expect(peer.received.slice(before).map((it) => it.payload["type"])).toEqual(["block_actions"])
  })
})

describe("rights that age", () => {
  test("a trigger is good for three seconds", async () => {
    const ts = await card(button("go"))
    await slack.workspace.click(ADA, { channel: OPS, ts }, "go")
    const trigger_id = peer.last()["trigger_id"]
    now += 3001
    expect(await call(slack, "views.open", { trigger_id, view: form })).toMatchObject({ error: "expired_trigger_id" })
    await slack.workspace.click(ADA, { channel: OPS, ts }, "go")
    now += 3000
    expect(await call(slack, "views.open", { trigger_id: peer.last()["trigger_id"], view: form })).toMatchObject({
      ok: true,
    })
  })

  const respond = async (body: unknown): Promise<[number, unknown]> => {
    const response = await fetch(String(peer.last()["response_url"]), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    return [response.status, await response.json()]
  }

  test("a response URL is good for half an hour", async () => {
    await slack.workspace.command(ROBIN, OPS, "x")
    now += 30 * 60_000
    expect(await respond({ text: "x" })).toEqual([200, { ok: true }])
    now += 1
    expect(await respond({ text: "x" })).toEqual([404, { ok: false, error: "expired_url" }])
  })

  test("and for five uses", async () => {
    await slack.workspace.command(ROBIN, OPS, "x")
    for (let use = 1; use <= 5; use += 1) expect(await respond({ text: `${use}` })).toEqual([200, { ok: true }])
    expect(await respond({ text: "6" })).toEqual([404, { ok: false, error: "used_url" }])
    expect(slack.workspace.ephemerals(ROBIN).map((it) => it.text)).toEqual(["1", "2", "3", "4", "5"])
    expect(slack.workspace.calls.filter((it) => it.method === "response_url")).toHaveLength(6)
  })

  test("it speaks to the person alone, in a thread if told so, or to all, also where the bot isn't", async () => {
    await slack.workspace.command(ROBIN, NO_BOT, "x")
    await respond({ text: "a", thread_ts: "1.1" })
    await respond({ text: "b", response_type: "in_channel" })
    expect(slack.workspace.ephemerals(ROBIN)).toMatchObject([{ text: "a", thread_ts: "1.1", channel: NO_BOT }])
    expect(slack.workspace.messages(NO_BOT)).toMatchObject([{ text: "b" }])
    expect(await respond({ text: "" })).toEqual([400, { ok: false, error: "no_text" }])
  })

  test("it changes or takes away the message that was pressed", async () => {
    const ts = await card(button("go"))
    await slack.workspace.click(ADA, { channel: OPS, ts }, "go")
    await respond({ text: "changed", replace_original: true })
    expect(slack.workspace.message(OPS, ts)).toMatchObject({ text: "changed" })
    expect(slack.workspace.message(OPS, ts)?.blocks).toBeUndefined()
    await respond({ delete_original: "true" })
    expect(slack.workspace.messages(OPS)).toEqual([])
  })

  test("it alone can change an ephemeral", async () => {
    const { message_ts } = await call(slack, "chat.postEphemeral", {
      channel: OPS,
      user: ADA,
      text: "x",
      blocks: [actions(button("eph"))],
    })
    await slack.workspace.click(ADA, { channel: OPS, ts: String(message_ts) }, "eph")
    await respond({ text: "changed", replace_original: true })
    expect(slack.workspace.ephemerals(ADA)).toMatchObject([{ text: "changed", ts: message_ts }])
    await respond({ delete_original: true })
    expect(slack.workspace.ephemerals(ADA)).toEqual([])
  })
})
