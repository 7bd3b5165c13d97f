import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { ADA, AUDIT, BOT, GRACE, GUS, LENA, OPS, OSCAR, ROBIN, SRE } from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import { actions, button, call, mrkdwn, section } from "./call.ts"

let slack: SandboxSlack
beforeEach(async () => {
  slack = await startSlack()
})
afterEach(() => slack.close())

/** Who was pinged and why, in a fixed order. */
const pinged = (): string[] =>
  slack.workspace
    .notifications()
    .map((it) => `${it.user} ${it.why}`)
    .sort()
const everybody = (why: string): string[] =>
  [ADA, GRACE, GUS, LENA, OSCAR, ROBIN].map((user) => `${user} ${why}`).sort()
const rich = (...elements: unknown[]) => [{ type: "rich_text", elements: [{ type: "rich_text_section", elements }] }]
const sre = [`${ADA} group`, `${GRACE} group`]

const cases: [string, Record<string, unknown>, string[]][] = [
  ["a person in text", { text: `hello <@${ADA}>` }, [`${ADA} mention`]],
  ["a person with a label", { text: `hello <@${ADA}|ada>` }, [`${ADA} mention`]],
  ["a group in text", { text: `<!subteam^${SRE}>` }, sre],
  ["<!here>", { text: "<!here>" }, everybody("here")],
  ["<!channel|x>", { text: "<!channel|x>" }, everybody("channel")],
  ["<!everyone>", { text: "<!everyone>" }, everybody("everyone")],
  ["a bare @here in text", { text: "@here @sre" }, []],
  ["a bare @here in text that is to be parsed", { text: "@here", parse: "full" }, everybody("here")],
  ["a bare @sre with link_names", { text: "@sre", link_names: "true" }, sre],
  ["escaped mentions", { text: `&lt;!channel&gt; &lt;@${ADA}&gt;` }, []],
  ["text that is not what counts, beside blocks", { text: `<@${ADA}>`, blocks: [section("x")] }, []],
  ["plain_text", { text: "x", blocks: [section(`<!channel> @here <@${ADA}>`)] }, []],
  [
    "a button's label",
    { text: "x", blocks: [actions(button("a", { text: { type: "plain_text", text: "@here" } }))] },
    [],
  ],
  [
    "mrkdwn with a bare @here",
    { text: "x", blocks: [{ type: "section", text: mrkdwn("see @here.") }] },
    everybody("here"),
  ],
  [
    "mrkdwn with an escaped, yet bare @channel",
    { text: "x", blocks: [{ type: "section", text: mrkdwn("&lt;@channel&gt;") }] },
    everybody("channel"),
  ],
  ["mrkdwn with a bare group", { text: "x", blocks: [{ type: "context", elements: [mrkdwn("(@sre)")] }] }, sre],
  ["an e-mail address in mrkdwn", { text: "x", blocks: [{ type: "section", text: mrkdwn("me@here.org") }] }, []],
  [
    "verbatim mrkdwn with bare names",
    { text: "x", blocks: [{ type: "section", text: mrkdwn("@here @sre", true) }] },
    [],
  ],
  [
    "verbatim mrkdwn with a written mention",
    { text: "x", blocks: [{ type: "section", fields: [mrkdwn(`<@${ADA}>`, true)] }] },
    [`${ADA} mention`],
  ],
  [
    "rich text that only looks like one",
    { text: "x", blocks: rich({ type: "text", text: `@here <!channel> <@${ADA}>` }) },
    [],
  ],
  ["a person in rich text", { text: "x", blocks: rich({ type: "user", user_id: ADA }) }, [`${ADA} mention`]],
  ["a group in rich text", { text: "x", blocks: rich({ type: "usergroup", usergroup_id: SRE }) }, sre],
  [
    "a broadcast in rich text",
    { text: "x", blocks: rich({ type: "broadcast", range: "channel" }) },
    everybody("channel"),
  ],
  [
    "a markdown block with a bare @here",
    { text: "x", blocks: [{ type: "markdown", text: "@here" }] },
    everybody("here"),
  ],
  [
    "a person and their group: once, for the stronger reason",
    { text: `<!subteam^${SRE}> <@${ADA}>` },
    [`${ADA} mention`, `${GRACE} group`],
  ],
]

describe("who is pinged by a message in a channel", () => {
  test.each(cases)("%s", async (_what, args, expected) => {
    expect(await call(slack, "chat.postMessage", { channel: OPS, ...args })).toMatchObject({ ok: true })
    expect(pinged()).toEqual(expected.toSorted())
  })

  test("nobody who is not in it", async () => {
    await call(slack, "chat.postMessage", { channel: AUDIT, text: `<@${ROBIN}> <@${ADA}> <!channel>` })
    expect(pinged()).toEqual([`${ADA} mention`, `${GRACE} channel`])
  })

  test("not a disabled group", async () => {
    slack.workspace.alterGroup(SRE, { disabled: true })
    await call(slack, "chat.postMessage", { channel: OPS, text: `<!subteam^${SRE}>` })
    expect(pinged()).toEqual([])
  })
})

describe("other reasons", () => {
  test("a direct message always pings, with its fallback text", async () => {
    await call(slack, "chat.postMessage", { channel: ROBIN, text: "a & b", blocks: [section("x")] })
    expect(slack.workspace.notifications(ROBIN)).toMatchObject([{ why: "dm", text: "a &amp; b" }])
  })

  test("without a fallback text it says that there is nothing to say", async () => {
    await call(slack, "chat.postMessage", { channel: ROBIN, blocks: [section("x")] })
    expect(slack.workspace.notifications(ROBIN)).toMatchObject([{ text: "This content can't be displayed." }])
  })

  test("a reply pings whoever wrote in the thread or was named in it", async () => {
    const root = await call(slack, "chat.postMessage", { channel: OPS, text: `<@${ADA}>` })
    slack.workspace.say(ROBIN, OPS, "I ask", String(root["ts"]))
    await call(slack, "chat.postMessage", { channel: OPS, text: "done", thread_ts: root["ts"] })
    expect(pinged()).toEqual([`${ADA} mention`, `${ADA} thread`, `${ADA} thread`, `${ROBIN} thread`])
  })

  test("an edit and an ephemeral ping nobody", async () => {
    const { ts } = await call(slack, "chat.postMessage", { channel: OPS, text: "x" })
    await call(slack, "chat.update", { channel: OPS, ts, text: `<!channel> <@${ADA}>` })
    await call(slack, "chat.postEphemeral", { channel: OPS, user: ADA, text: `<@${ADA}>` })
    expect(pinged()).toEqual([])
  })

  test("the place is told, and the thread; what is deleted later was a ping all the same", async () => {
    const direct = await call(slack, "chat.postMessage", { channel: ROBIN, text: "x" })
    const root = await call(slack, "chat.postMessage", { channel: OPS, text: "x" })
    const reply = { channel: OPS, text: `<@${ADA}>`, thread_ts: root["ts"] }
    const { ts } = await call(slack, "chat.postMessage", reply)
    await call(slack, "chat.delete", { channel: OPS, ts })
    expect(slack.workspace.notifications()).toMatchObject([
      { user: ROBIN, channel: direct["channel"], ts: direct["ts"] },
      { user: ADA, channel: OPS, ts, thread_ts: root["ts"] },
    ])
    expect(slack.workspace.messages(OPS, String(root["ts"]))).toMatchObject([{ ts: root["ts"], reply_count: 0 }])
  })

  test("the author is not pinged, nor is a bot", () => {
    slack.workspace.say(ADA, OPS, "@sre look")
    slack.workspace.post({ channel: OPS, user: ADA, text: `<@${BOT}>` })
    expect(pinged()).toEqual([`${GRACE} group`])
  })
})
