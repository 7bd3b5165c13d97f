import type { App } from "@slack/bolt"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { ADA, BOT, OPS, ROBIN } from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import { httpApp, socketApp } from "./bolt.ts"

let slack: SandboxSlack
const apps: App[] = []

beforeEach(async () => {
  slack = await startSlack()
})

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop()))
  await slack.close()
})

/** A small bot: a card for a command, a form for its button. */
function bot(app: App): void {
  app.command("/agent", async ({ ack, command, client }) => {
    await ack(`started: ${command.text}`)
    await client.chat.postMessage({
      channel: command.channel_id,
      text: "Robin asks to deploy",
      blocks: [
        { type: "section", text: { type: "plain_text", text: command.text } },
        {
          type: "actions",
          elements: [
            { type: "button", action_id: "approve", text: { type: "plain_text", text: "Approve" }, value: "ask-1" },
            { type: "button", action_id: "why", text: { type: "plain_text", text: "Why" }, value: "ask-1" },
          ],
        },
      ],
    })
  })
  app.action("approve", async ({ ack, body, client, respond, action }) => {
    await ack()
    if (body.type !== "block_actions" || action.type !== "button") throw new Error("not a button")
    await respond({ text: `noted ${action.value}` })
    await client.chat.update({ channel: body.channel?.id ?? "", ts: body.message?.["ts"] ?? "", text: "approved" })
  })
  app.action("why", async ({ ack, body, client }) => {
    await ack()
    if (body.type !== "block_actions") throw new Error("not a button")
    await client.views.open({
      trigger_id: body.trigger_id,
      view: {
        type: "modal",
        callback_id: "reason",
        title: { type: "plain_text", text: "Why?" },
        submit: { type: "plain_text", text: "Send" },
        notify_on_close: true,
        blocks: [
          {
            type: "input",
            block_id: "reason",
            label: { type: "plain_text", text: "Reason" },
            element: { type: "plain_text_input", action_id: "text" },
          },
        ],
      },
    })
  })
  app.view("reason", async ({ ack, view }) => {
    const text = view.state.values["reason"]?.["text"]?.value ?? ""
    await ack(text === "no" ? { response_action: "errors", errors: { reason: "say more" } } : undefined)
  })
  app.view({ callback_id: "reason", type: "view_closed" }, async ({ ack, body, client }) => {
    await ack()
    await client.chat.postMessage({ channel: body.user.id, text: "closed" })
  })
  app.event("app_home_opened", async ({ event, client }) => {
    await client.views.publish({
      user_id: event.user,
      view: { type: "home", blocks: [{ type: "header", text: { type: "plain_text", text: "Hello" } }] },
    })
  })
}

const ways = {
  "Socket Mode": async () => {
    apps.push(await socketApp(slack, bot))
  },
  "signed HTTP": async () => {
    const { app, url } = await httpApp(slack, bot)
    apps.push(app)
    slack.workspace.requestUrl = url
  },
}

describe.each(Object.entries(ways))("Bolt's App over %s", (_way, connect) => {
  beforeEach(connect)

  test("takes a command, acks it to the person alone, and posts a card", async () => {
    const { workspace } = slack
    const seen = await workspace.command(ROBIN, OPS, "deploy web")
    expect(seen).toMatchObject({ acked: true, response: { text: "started: deploy web", ephemeral: true } })
    expect(workspace.ephemerals(ROBIN).map((it) => it.text)).toEqual(["started: deploy web"])
    expect(workspace.ephemerals(ADA)).toEqual([])
    const card = await workspace.waitFor(() => workspace.messages(OPS)[0])
    expect(card).toMatchObject({ user: BOT, is_bot: true, text: "Robin asks to deploy" })
  })

  test("takes a click, replies through the response URL and updates the card", async () => {
    const { workspace } = slack
    await workspace.command(ROBIN, OPS, "deploy web")
    const card = await workspace.waitFor(() => workspace.messages(OPS)[0])
    expect(await workspace.click(ADA, card, "approve")).toMatchObject({ acked: true })
    await workspace.waitFor(() => workspace.message(OPS, card.ts)?.text === "approved")
    expect(workspace.message(OPS, card.ts)?.blocks).toBeUndefined()
    expect(workspace.ephemerals(ADA).map((it) => it.text)).toEqual(["noted ask-1"])
  })

  test("opens a form on a click; the form is refused with errors, then closes", async () => {
    const { workspace } = slack
    await workspace.command(ROBIN, OPS, "deploy web")
    const card = await workspace.waitFor(() => workspace.messages(OPS)[0])
    await workspace.click(ADA, card, "why")
    const view = await workspace.waitFor(() => workspace.views(ADA)[0])
    expect(await workspace.submit(ADA, view.id)).toMatchObject({ acked: false, error: "incomplete" })
    expect(await workspace.submit(ADA, view.id, { reason: { text: "no" } })).toMatchObject({
      acked: true,
      response: { response_action: "errors", errors: { reason: "say more" } },
    })
    expect(workspace.views(ADA)[0]?.errors).toEqual({ reason: "say more" })
    expect(await workspace.submit(ADA, view.id, { reason: { text: "because" } })).toMatchObject({ acked: true })
    expect(workspace.views(ADA)).toEqual([])
  })

  test("hears of a form that was closed", async () => {
    const { workspace } = slack
    await workspace.command(ROBIN, OPS, "deploy web")
    const card = await workspace.waitFor(() => workspace.messages(OPS)[0])
    await workspace.click(ADA, card, "why")
    const view = await workspace.waitFor(() => workspace.views(ADA)[0])
    expect(await workspace.closeView(ADA, view.id)).toMatchObject({ acked: true })
    await workspace.waitFor(() => workspace.notifications(ADA).some((it) => it.text === "closed" && it.why === "dm"))
  })

  test("publishes a home when it is opened", async () => {
    const { workspace } = slack
    expect(await workspace.openHome(ROBIN)).toMatchObject({ acked: true })
    const home = await workspace.waitFor(() => workspace.home(ROBIN))
    expect(home.blocks[0]).toMatchObject({ type: "header" })
  })
})
