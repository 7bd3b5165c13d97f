import { afterEach, beforeEach, describe, expect, test } from "vitest"
import {
  ADA,
  AUDIT,
  BOT,
  GRACE,
  GUS,
  LEADS,
  LENA,
  NO_BOT,
  OPS,
  OSCAR,
  ROBIN,
  SHARED,
  SRE,
} from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import { actions, type Answered, button, call, section, text } from "./call.ts"

let slack: SandboxSlack
beforeEach(async () => {
  slack = await startSlack()
})
afterEach(() => slack.close())

const post = (args: Record<string, unknown>): Promise<Answered> =>
  call(slack, "chat.postMessage", { channel: OPS, ...args })
const posted = async (args: Record<string, unknown> = {}): Promise<string> =>
  String((await post({ text: "x", ...args }))["ts"])
const modal = (more: Record<string, unknown> = {}) => ({ type: "modal", title: text("Title"), blocks: [], ...more })

/** A trigger id, as a button press brings it. */
async function trigger(user = ADA): Promise<string> {
  const ts = await posted({ blocks: [actions(button("go"))] })
  await slack.workspace.click(user, { channel: OPS, ts }, "go")
  return String(slack.workspace.deliveries.at(-1)?.envelope.payload["trigger_id"])
}

describe("tokens and scopes", () => {
  test.each([
    ["no token", "auth.test", "", "not_authed"],
    ["a token that nobody has", "auth.test", "xoxb-1", "invalid_auth"],
    ["a method that nobody has", "chat.shout", "", "unknown_method"],
  ])("%s", async (_what, method, token, error) => {
    expect(await call(slack, method, {}, token)).toEqual({ ok: false, error })
  })

  test("each kind of token opens its own methods only", async () => {
    expect(await call(slack, "apps.connections.open")).toMatchObject({ error: "not_allowed_token_type" })
    expect(await call(slack, "chat.postMessage", {}, slack.appToken)).toMatchObject({ error: "not_allowed_token_type" })
    expect(await call(slack, "apps.connections.open", {}, slack.appToken)).toMatchObject({ ok: true })
  })

  test.each([
    ["chat:write", "chat.postMessage", { channel: OPS, text: "x" }],
    ["chat:write", "chat.update", { channel: OPS, ts: "1", text: "x" }],
    ["users:read", "users.info", { user: ADA }],
    ["usergroups:read", "usergroups.users.list", { usergroup: SRE }],
    ["im:write", "conversations.open", { users: ADA }],
    ["channels:read", "conversations.info", { channel: OPS }],
    ["groups:read", "conversations.members", { channel: AUDIT }],
    ["channels:history", "conversations.history", { channel: OPS }],
    ["groups:history", "conversations.replies", { channel: AUDIT, ts: "1" }],
  ])("without %s, %s names what is missing", async (scope, method, args) => {
    slack.workspace.scopes.delete(scope)
    const provided = [...slack.workspace.scopes].join(",")
    expect(await call(slack, method, args)).toEqual({ ok: false, error: "missing_scope", needed: scope, provided })
  })

  test("the granted scopes are in a header", async () => {
    const response = await fetch(`${slack.apiUrl}auth.test`, {
      method: "POST",
      body: `token=${slack.botToken}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    })
    expect(response.headers.get("x-oauth-scopes")?.split(",")).toContain("chat:write")
    expect(await response.json()).toMatchObject({ ok: true, user_id: BOT, team_id: "T1", bot_id: "B0BOT" })
  })

  test("a JSON body works as a form does", async () => {
    const response = await fetch(`${slack.apiUrl}chat.postMessage`, {
      method: "POST",
      headers: { authorization: `Bearer ${slack.botToken}`, "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify({ channel: OPS, text: "x", blocks: [section("y")] }),
    })
    expect(await response.json()).toMatchObject({ ok: true, channel: OPS })
  })
})

describe("chat.postMessage", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["a channel without the bot", { channel: NO_BOT, text: "x" }, "not_in_channel"],
    ["a channel that isn't there", { channel: "C9", text: "x" }, "channel_not_found"],
    ["a person who isn't there", { channel: "U9", text: "x" }, "channel_not_found"],
    ["itself", { channel: BOT, text: "x" }, "channel_not_found"],
    ["nothing to say", { text: " " }, "no_text"],
    ["no text but empty blocks", { blocks: [] }, "no_text"],
    ["blocks that aren't JSON", { text: "x", blocks: "[{" }, "invalid_blocks_format"],
    ["blocks that aren't a list", { text: "x", blocks: { type: "divider" } }, "invalid_blocks_format"],
    ["two buttons with one action_id", { text: "x", blocks: [actions(button("a"), button("a"))] }, "invalid_blocks"],
    [
      "blocks with too much text together",
      { text: "x", blocks: Array.from({ length: 5 }, () => section("x".repeat(2900))) },
      "msg_blocks_too_long",
    ],
    ["a thread that isn't there", { text: "x", thread_ts: "1000000000.000001" }, "thread_not_found"],
    ["a thread_ts that is none", { text: "x", thread_ts: "" }, "invalid_thread_ts"],
    ["metadata without a type", { text: "x", metadata: { event_payload: {} } }, "invalid_metadata_schema"],
    [
      "an event_type of 51",
      { text: "x", metadata: { event_type: "x".repeat(51), event_payload: {} } },
      "invalid_metadata_schema",
    ],
    [
      "metadata that is too large",
      { text: "x", metadata: { event_type: "x", event_payload: { x: "x".repeat(9000) } } },
      "metadata_too_large",
    ],
    ["what this Slack doesn't know", { text: "x", attachments: [{ text: "x" }] }, "attachments_not_in_the_sandbox"],
  ])("%s: refused", async (_what, args, error) => {
    expect(await post(args)).toMatchObject({ ok: false, error })
    expect(slack.workspace.messages(OPS)).toEqual([])
  })

  test("faults in blocks are named with their place", async () => {
    expect(await post({ text: "x", blocks: [section("")] })).toEqual({
      ok: false,
      error: "invalid_blocks",
      errors: ["must be more than 0 characters [json-pointer:/blocks/0/text/text]"],
      response_metadata: { messages: ["[ERROR] must be more than 0 characters [json-pointer:/blocks/0/text/text]"] },
    })
  })

  test("a private channel or a conversation of others doesn't exist for the bot", async () => {
    slack.workspace.leave(AUDIT, BOT)
    const { id } = slack.workspace.openDm(ROBIN, ADA)
    expect(await post({ channel: AUDIT, text: "x" })).toMatchObject({ error: "channel_not_found" })
    expect(await post({ channel: id, text: "x" })).toMatchObject({ error: "channel_not_found" })
  })

  test("an archived channel is closed", async () => {
    slack.workspace.alterChannel(OPS, { is_archived: true })
    expect(await post({ text: "x" })).toMatchObject({ error: "is_archived" })
  })

  test("with the messages tab off nobody can be written to", async () => {
    const { channel } = await post({ channel: ROBIN, text: "x" })
    slack.workspace.messagesEnabled = false
    for (const to of [ROBIN, channel]) {
      expect(await post({ channel: to, text: "x" })).toMatchObject({ error: "messages_tab_disabled" })
    }
    expect(await post({ text: "x" })).toMatchObject({ ok: true })
  })

  test("chat:write.public opens public channels", async () => {
    slack.workspace.scopes.add("chat:write.public")
    expect(await post({ channel: NO_BOT, text: "x" })).toMatchObject({ ok: true })
  })

  test("a reply can't be a root", async () => {
    const root = await posted()
    const reply = await posted({ thread_ts: root })
    expect(await post({ text: "x", thread_ts: reply })).toMatchObject({ error: "cannot_reply_to_message" })
    expect(slack.workspace.message(OPS, root)).toMatchObject({ reply_count: 1, thread_ts: root })
    expect(slack.workspace.messages(OPS, root).map((it) => it.ts)).toEqual([root, reply])
  })

  test("a person's id opens the conversation with them, once", async () => {
    const one = await post({ channel: ROBIN, text: "a" })
    const two = await post({ channel: ROBIN, text: "b" })
    expect(one["channel"]).toMatch(/^D/)
    expect(two["channel"]).toBe(one["channel"])
  })

  test("a text is cut at 40,000 and stored escaped; what is written in <> stays", async () => {
    await posted({ text: `a & b < c <@${ADA}> &lt;` })
    await posted({ text: "x".repeat(40_001) })
    const [first, second] = slack.workspace.messages(OPS)
    expect(first?.text).toBe(`a &amp; b &lt; c <@${ADA}> &lt;`)
    expect(second?.text).toHaveLength(40_000)
  })

  test("timestamps rise also when the clock stands still", async () => {
    const still = await startSlack({ clock: () => 1_700_000_000_000 })
    const ts = [
      await call(still, "chat.postMessage", { channel: OPS, text: "x" }),
      await call(still, "chat.postMessage", { channel: OPS, text: "x" }),
    ]
    expect(ts.map((it) => it["ts"])).toEqual(["1700000000.000000", "1700000000.000001"])
    await still.close()
  })
})

describe("chat.update and chat.delete", () => {
  const update = (args: Record<string, unknown>): Promise<Answered> =>
    call(slack, "chat.update", { channel: OPS, ...args })

  test("text without blocks drops the blocks; blocks without text leave none", async () => {
    const ts = await posted({ blocks: [section("card")] })
    expect(await update({ ts, blocks: [section("new")] })).toMatchObject({ ok: true })
    expect(slack.workspace.message(OPS, ts)).toMatchObject({ text: "", blocks: [{ text: { text: "new" } }] })
    await update({ ts, text: "plain" })
    expect(slack.workspace.message(OPS, ts)?.blocks).toBeUndefined()
    expect(slack.workspace.message(OPS, ts)?.edited).toBeDefined()
  })

  test("metadata stays unless given anew", async () => {
    const metadata = { event_type: "ask", event_payload: { id: "1" } }
    const ts = await posted({ metadata })
    await update({ ts, text: "y" })
    expect(slack.workspace.message(OPS, ts)?.metadata).toEqual(metadata)
  })

  test("what a payload brought back, escaped, can be too long to be sent again", async () => {
    const raw = `${"x".repeat(2990)}>`
    const ts = await posted({ blocks: [section(raw)] })
    const stored = `${"x".repeat(2990)}&gt;`
    expect(slack.workspace.message(OPS, ts)?.blocks).toMatchObject([{ text: { text: stored } }])
    expect(await update({ ts, text: "x", blocks: [section(`${stored}${"&".repeat(2)}`)] })).toMatchObject({
      error: "invalid_blocks",
    })
  })

  test.each<[string, (ts: string) => Record<string, unknown>, string]>([
    ["a text of 4,001", (ts) => ({ ts, text: "x".repeat(4001) }), "msg_too_long"],
    ["a text that escaping makes longer than 4,000", (ts) => ({ ts, text: "&".repeat(1000) }), "msg_too_long"],
    ["nothing", (ts) => ({ ts }), "no_text"],
    ["another ts", () => ({ ts: "1000000000.000001", text: "x" }), "message_not_found"],
    ["a person for a channel", (ts) => ({ ts, channel: ROBIN, text: "x" }), "channel_not_found"],
    ["bad blocks", (ts) => ({ ts, text: "x", blocks: [{ type: "x" }] }), "invalid_blocks"],
  ])("%s: refused", async (_what, args, error) => {
    const ts = await posted()
    expect(await update(args(ts))).toMatchObject({ ok: false, error })
    expect(slack.workspace.message(OPS, ts)?.text).toBe("x")
  })

  test("others' messages and ephemerals are out of reach", async () => {
    const theirs = slack.workspace.say(ADA, OPS, "mine")?.ts
    expect(await update({ ts: theirs, text: "x" })).toMatchObject({ error: "cant_update_message" })
    expect(await call(slack, "chat.delete", { channel: OPS, ts: theirs })).toMatchObject({
      error: "cant_delete_message",
    })
    const { message_ts } = await call(slack, "chat.postEphemeral", { channel: OPS, user: ADA, text: "x" })
    expect(await update({ ts: message_ts, text: "x" })).toMatchObject({ error: "message_not_found" })
  })

  test("what the bot wrote to one person can be changed and taken back there, under the name of that place alone", async () => {
    const { channel, ts } = await post({ channel: ROBIN, text: "x" })
    expect(await update({ channel, ts, text: "y" })).toMatchObject({ ok: true, channel })
    expect(await call(slack, "chat.delete", { channel: ROBIN, ts })).toMatchObject({ error: "channel_not_found" })
    expect(await call(slack, "chat.delete", { channel, ts })).toMatchObject({ ok: true, channel, ts })
    expect(await call(slack, "chat.delete", { channel, ts })).toMatchObject({ error: "message_not_found" })
    expect(slack.workspace.messages(String(channel))).toEqual([])
  })

  test("in a channel that was left or archived nothing can be changed", async () => {
    const ts = await posted()
    slack.workspace.alterChannel(OPS, { is_archived: true })
    expect(await update({ ts, text: "y" })).toMatchObject({ error: "is_inactive" })
    slack.workspace.alterChannel(OPS, { is_archived: false })
    slack.workspace.leave(OPS, BOT)
    expect(await update({ ts, text: "y" })).toMatchObject({ error: "not_in_channel" })
  })

  test("a deleted message is gone; a root with replies leaves a stub", async () => {
    const root = await posted({ blocks: [actions(button("a"))] })
    const reply = await posted({ thread_ts: root })
    await call(slack, "chat.delete", { channel: OPS, ts: root })
    expect(slack.workspace.message(OPS, root)).toMatchObject({ deleted: true })
    expect(slack.workspace.message(OPS, root)?.blocks).toBeUndefined()
    expect(await update({ ts: root, text: "x" })).toMatchObject({ error: "message_not_found" })
    await call(slack, "chat.delete", { channel: OPS, ts: reply })
    expect(slack.workspace.messages(OPS).map((it) => it.ts)).toEqual([root])
  })
})

describe("chat.postEphemeral and chat.getPermalink", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["a person who isn't in the channel", { channel: AUDIT, user: ROBIN }, "user_not_in_channel"],
    ["a channel without the bot", { channel: NO_BOT, user: ROBIN }, "not_in_channel"],
    ["a thread that isn't there", { channel: OPS, user: ROBIN, thread_ts: "1000000000.000001" }, "thread_not_found"],
  ])("%s: refused", async (_what, args, error) => {
    expect(await call(slack, "chat.postEphemeral", { text: "x", ...args })).toMatchObject({ ok: false, error })
  })

  test("somebody can be told something alone in a thread, in a private channel and in their own conversation", async () => {
    const root = await posted()
    const { channel } = await post({ channel: ADA, text: "x" })
    const places = [{ channel: OPS, thread_ts: root }, { channel: AUDIT }, { channel }]
    for (const place of places) {
      expect(await call(slack, "chat.postEphemeral", { ...place, user: ADA, text: "x" })).toMatchObject({ ok: true })
    }
    expect(slack.workspace.ephemerals(ADA)).toMatchObject(places)
    expect(await call(slack, "chat.postEphemeral", { channel, user: ROBIN, text: "x" })).toMatchObject({
      error: "user_not_in_channel",
    })
  })

  test("a link names the message and leads to it", async () => {
    const root = await posted()
    const reply = await posted({ thread_ts: root })
    const { permalink } = await call(slack, "chat.getPermalink", { channel: OPS, message_ts: reply })
    expect(permalink).toBe(`${slack.url}archives/${OPS}/p${reply.replace(".", "")}?thread_ts=${root}&cid=${OPS}`)
    const response = await fetch(String(permalink), { redirect: "manual" })
    expect(response.headers.get("location")).toBe(`/#in=${OPS}&thread=${root}&at=${reply}`)
    expect(await call(slack, "chat.getPermalink", { channel: OPS, message_ts: "1.1" })).toMatchObject({
      error: "message_not_found",
    })
  })
})

describe("views", () => {
  test("a trigger counts once; a faulty view leaves it usable", async () => {
    const trigger_id = await trigger()
    expect(await call(slack, "views.open", { trigger_id, view: modal({ title: text("x".repeat(25)) }) })).toMatchObject(
      {
        error: "invalid_arguments",
        response_metadata: { messages: ["[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"] },
      },
    )
    expect(await call(slack, "views.open", { trigger_id, view: modal() })).toMatchObject({ ok: true })
    expect(await call(slack, "views.open", { trigger_id, view: modal() })).toMatchObject({
      error: "exchanged_trigger_id",
    })
    expect(await call(slack, "views.open", { trigger_id: "1.2.3", view: modal() })).toMatchObject({
      error: "invalid_trigger_id",
    })
  })

  test("three modals make a stack, a fourth is refused", async () => {
    await call(slack, "views.open", { trigger_id: await trigger(), view: modal({ callback_id: "1" }) })
    await call(slack, "views.push", { trigger_id: await trigger(), view: modal({ callback_id: "2" }) })
    await call(slack, "views.push", { trigger_id: await trigger(), view: modal({ callback_id: "3" }) })
    const [root, second] = slack.workspace.views(ADA)
    expect(second).toMatchObject({ root_view_id: root?.id, previous_view_id: root?.id })
    expect(await call(slack, "views.push", { trigger_id: await trigger(), view: modal() })).toMatchObject({
      error: "push_limit_reached",
    })
    expect(slack.workspace.views(ADA).map((it) => it.callback_id)).toEqual(["1", "2", "3"])
  })

  test("an update with an old hash conflicts; an external_id is one view's alone", async () => {
    const opened = await call(slack, "views.open", { trigger_id: await trigger(), view: modal({ external_id: "e" }) })
    const { id, hash } = opened["view"] as { id: string; hash: string }
    expect(
      await call(slack, "views.update", { external_id: "e", hash, view: modal({ external_id: "e" }) }),
    ).toMatchObject({ ok: true })
    expect(await call(slack, "views.update", { view_id: id, hash, view: modal() })).toMatchObject({
      error: "hash_conflict",
    })
    expect(await call(slack, "views.update", { view_id: "V9", view: modal() })).toMatchObject({ error: "not_found" })
    expect(
      await call(slack, "views.push", { trigger_id: await trigger(), view: modal({ external_id: "e" }) }),
    ).toMatchObject({ error: "duplicate_external_id" })
    const home = { type: "home", blocks: [], external_id: "e" }
    expect(await call(slack, "views.publish", { user_id: GRACE, view: home })).toMatchObject({
      error: "duplicate_external_id",
    })
    expect(await call(slack, "views.publish", { user_id: GRACE, view: { ...home, external_id: "h" } })).toMatchObject({
      ok: true,
    })
    expect(await call(slack, "views.publish", { user_id: GRACE, view: { ...home, external_id: "h" } })).toMatchObject({
      ok: true,
    })
  })

  test("each person has modals of their own, and what is shown can be filled in later", async () => {
    const opened = await Promise.all(
      [ADA, GRACE].map(async (user) =>
        call(slack, "views.open", { trigger_id: await trigger(user), view: modal({ blocks: [section("Checking…")] }) }),
      ),
    )
    const [ofAda, ofGrace] = opened.map(({ view }) => view as { id: string; hash: string })
    expect(
      await call(slack, "views.update", {
        view_id: ofAda?.id,
        hash: ofAda?.hash,
        view: modal({ blocks: [section("Yes")] }),
      }),
    ).toMatchObject({ ok: true, view: { id: ofAda?.id, root_view_id: ofAda?.id, blocks: [{ text: { text: "Yes" } }] } })
    expect(slack.workspace.views(GRACE)).toMatchObject([{ id: ofGrace?.id, hash: ofGrace?.hash }])
    await slack.workspace.closeView(GRACE, ofGrace?.id ?? "")
    expect(await call(slack, "views.update", { view_id: ofGrace?.id, view: modal() })).toMatchObject({
      error: "not_found",
    })
    expect(slack.workspace.views(ADA)).toHaveLength(1)
  })

  test("a view beyond 250 kB is refused", async () => {
    const blocks = Array.from({ length: 90 }, () => section("x".repeat(2900)))
    expect(await call(slack, "views.publish", { user_id: ADA, view: { type: "home", blocks } })).toMatchObject({
      error: "view_too_large",
    })
  })

  test("a home needs the tab", async () => {
    slack.workspace.homeEnabled = false
    expect(await call(slack, "views.publish", { user_id: ADA, view: { type: "home", blocks: [] } })).toMatchObject({
      error: "not_enabled",
    })
  })
})

describe("what can be looked up", () => {
  test("people, with what makes them foreign", async () => {
    slack.workspace.addPerson({ id: "U0X", team_id: "T2", is_restricted: true, is_stranger: true, enterprise_id: "E1" })
    expect(await call(slack, "users.info", { user: "U0X" })).toMatchObject({
      user: {
        team_id: "T2",
        is_restricted: true,
        is_stranger: true,
        deleted: false,
        enterprise_user: { enterprise_id: "E1" },
      },
    })
    expect(await call(slack, "users.info", { user: "U9" })).toMatchObject({ error: "user_not_found" })
    expect(await call(slack, "bots.info", { bot: "B0BOT" })).toMatchObject({ bot: { user_id: BOT } })
  })

  test("groups; disabled ones only on demand, none on a free plan", async () => {
    expect(await call(slack, "usergroups.users.list", { usergroup: SRE })).toMatchObject({ users: [ADA, GRACE] })
    expect(await call(slack, "usergroups.users.list", { usergroup: "S9" })).toMatchObject({ error: "no_such_subteam" })
    expect(await call(slack, "usergroups.list", { include_users: true })).toMatchObject({
      usergroups: [
        { id: SRE, users: [ADA, GRACE] },
        { id: LEADS, handle: "leads", users: [LENA] },
      ],
    })
    slack.workspace.alterGroup(SRE, { disabled: true })
    expect(await call(slack, "usergroups.list")).toMatchObject({ usergroups: [{ id: LEADS }] })
    expect(await call(slack, "usergroups.users.list", { usergroup: SRE, include_disabled: true })).toMatchObject({
      users: [ADA, GRACE],
    })
    slack.workspace.paid = false
    expect(await call(slack, "usergroups.list")).toMatchObject({ error: "plan_upgrade_required" })
  })

  test("channels and their members, page by page", async () => {
    expect(await call(slack, "conversations.info", { channel: NO_BOT })).toMatchObject({
      channel: { is_member: false, is_private: false },
    })
    expect(await call(slack, "conversations.info", { channel: AUDIT })).toMatchObject({
      channel: { is_private: true, is_ext_shared: false },
    })
    const first = await call(slack, "conversations.members", { channel: OPS, limit: 4 })
    const { next_cursor } = first["response_metadata"] as { next_cursor: string }
    const rest = await call(slack, "conversations.members", { channel: OPS, limit: 4, cursor: next_cursor })
    expect([first["members"], rest["members"]].flat()).toEqual([BOT, ROBIN, ADA, GRACE, OSCAR, LENA, GUS])
    expect(rest["response_metadata"]).toEqual({ next_cursor: "" })
  })

  test("history has roots, newest first, and metadata on demand; replies have the thread", async () => {
    const metadata = { event_type: "ask", event_payload: { id: "1" } }
    const root = await posted({ metadata })
    const reply = await posted({ thread_ts: root })
    const next = await posted()
    const history = await call(slack, "conversations.history", { channel: OPS })
    expect(history).toMatchObject({ messages: [{ ts: next }, { ts: root, reply_count: 1 }] })
    expect(JSON.stringify(history)).not.toContain("event_type")
    expect(
      await call(slack, "conversations.history", {
        channel: OPS,
        latest: root,
        inclusive: true,
        include_all_metadata: true,
      }),
    ).toMatchObject({ messages: [{ ts: root, metadata }] })
    expect(await call(slack, "conversations.replies", { channel: OPS, ts: root })).toMatchObject({
      messages: [{ ts: root }, { ts: reply }],
    })
    expect(await call(slack, "conversations.history", { channel: NO_BOT })).toMatchObject({ error: "not_in_channel" })
    expect(await call(slack, "conversations.replies", { channel: OPS, ts: "1.1" })).toMatchObject({
      error: "thread_not_found",
    })
  })

  test("a file, where the app is in the channel that it was attached in; of a shared one nothing else is told", async () => {
    const attached = { name: "a.txt", mimetype: "text/plain", bytes: Buffer.from("abc") }
    const attach = (channel: string) => slack.workspace.say(ROBIN, channel, "look", undefined, [attached])?.files?.[0]
    const heard = () => slack.workspace.deliveries.at(-1)?.envelope.payload["event"]
    const info = (file: unknown) => call(slack, "files.info", { file })
    const own = attach(OPS)
    await expect.poll(heard).toMatchObject({ subtype: "file_share", files: [own] })
    expect(await info(own?.id)).toMatchObject({ ok: true, file: { ...own, name: "a.txt", size: 3 } })
    const shared = attach(SHARED)
    const stub = { id: shared?.id, mode: "file_access", file_access: "check_file_info", user: "" }
    await expect.poll(heard).toEqual(expect.objectContaining({ files: [stub] }))
    expect(await info(shared?.id)).toMatchObject({ ok: true, file: shared })
    expect(await info(attach(NO_BOT)?.id)).toEqual({ ok: false, error: "file_not_found" })
    expect(await info("F9")).toEqual({ ok: false, error: "file_not_found" })
    slack.workspace.scopes.delete("files:read")
    expect(await info(own?.id)).toMatchObject({ ok: false, error: "missing_scope", needed: "files:read" })
  })

  test("a conversation with a person", async () => {
    const first = await call(slack, "conversations.open", { users: ROBIN })
    const { id } = first["channel"] as { id: string }
    expect(first).toEqual({ ok: true, channel: { id: expect.stringMatching(/^D/) as string } })
    const again = { ok: true, no_op: true, already_open: true, channel: { id } }
    expect(await call(slack, "conversations.open", { users: ROBIN })).toEqual(again)
    expect(await call(slack, "conversations.open", { channel: id, return_im: true })).toMatchObject({
      ...again,
      channel: { id, is_im: true, user: ROBIN },
    })
    expect((await post({ channel: ROBIN, text: "x" }))["channel"]).toBe(id)
    expect(await call(slack, "conversations.open", { channel: OPS })).toMatchObject({ error: "channel_not_found" })
    const theirs = slack.workspace.openDm(ADA, GRACE)
    expect(await call(slack, "conversations.open", { channel: theirs.id })).toMatchObject({
      error: "channel_not_found",
    })
    expect(await call(slack, "conversations.open", { users: BOT })).toMatchObject({ error: "cannot_dm_bot" })
    expect(await call(slack, "conversations.open", { users: "U9" })).toMatchObject({ error: "user_not_found" })
    slack.workspace.alterPerson(OSCAR, { deleted: true })
    expect(await call(slack, "conversations.open", { users: OSCAR })).toMatchObject({ error: "user_disabled" })
  })

  test("whether blocks would be taken", async () => {
    expect(await call(slack, "blocks.validate", { blocks: [section("x")] })).toMatchObject({ ok: true })
    expect(await call(slack, "blocks.validate", { message: { blocks: [section("")] } })).toMatchObject({
      error: "invalid_blocks",
      errors: [{ message: "must be more than 0 characters", pointer: "/blocks/0/text/text" }],
    })
    expect(await call(slack, "blocks.validate", { view: modal({ title: undefined }) })).toMatchObject({
      error: "invalid_blocks",
    })
  })
})
