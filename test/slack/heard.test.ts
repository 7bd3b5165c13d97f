import { describe, expect, test } from "vitest"
import { heardOf } from "../../src/slack/heard.ts"

const HOME = { team: "T1", botUser: "U0BOT", bot: "B0BOT" }
const EVENT = { type: "message", user: "U1", channel: "C1", ts: "1700000000.000100", text: "how is web?" }

const heard = (change: Record<string, unknown> = {}, body: Record<string, unknown> = {}) =>
  heardOf({ team_id: "T1", ...body, event: { ...EVENT, ...change } }, HOME)

describe("what a person wrote just now", () => {
  test("is told with who, where and the words", () => {
    expect(heard()).toEqual({
      event: "message",
      person: { team: "T1", user: "U1" },
      channel: "C1",
      ts: EVENT.ts,
      text: "how is web?",
      isDirect: false,
      mentions: false,
      isToOthers: false,
      files: [],
    })
    expect(heard({ channel: "D1" })?.isDirect).toBe(true)
    expect(heard({ text: "x".repeat(50_000) })?.text).toHaveLength(40_000)
    expect(heard({ text: undefined, subtype: "file_share", files: [{ id: "F1" }] })).toMatchObject({
      text: "",
      files: [{ id: "F1" }],
    })
    expect(heard({ files: { length: 3 } })?.files).toEqual([])
    expect(heard({ subtype: "thread_broadcast" })?.event).toBe("message")
  })

  test("belongs to the team that Slack names for whoever wrote it", () => {
    expect(heard({ team: "T2", user_team: "T3" })?.person.team).toBe("T3")
    expect(heard({ team: "T2" })?.person.team).toBe("T2")
    expect(heard({}, { team_id: "T4" })?.person.team).toBe("T4")
    expect(heard({}, { team_id: undefined })?.person.team).toBe("T1")
  })

  test("stands in a thread, if it isn't what the thread began with", () => {
    const thread = "1600000000.000001"
    expect(heard({ thread_ts: thread, parent_user_id: "U9" })).toMatchObject({ thread, parent: "U9" })
    expect(heard({ thread_ts: thread })).not.toHaveProperty("parent")
    for (const none of [EVENT.ts, "soon", 1600000000, ""]) {
      expect(heard({ thread_ts: none, parent_user_id: "U9" })).not.toHaveProperty("thread")
    }
  })
})

test.each<[string, Record<string, unknown>]>([
  ["a bot", { bot_id: "B1" }],
  ["us", { user: "U0BOT" }],
  ["nobody", { user: undefined }],
  ["an edit", { edited: { user: "U1", ts: "1" } }],
  ["what is hidden", { hidden: true }],
  ["somebody who joins", { subtype: "channel_join" }],
  ["a change", { subtype: "message_changed" }],
  ["another event", { type: "reaction_added" }],
  ["no channel", { channel: "" }],
  ["no ts", { ts: "now" }],
  ["a ts that is none", { ts: "1.000100; DROP" }],
])("of %s nothing is heard", (_, change) => {
  expect(heard(change)).toBeUndefined()
})

test("what is no event is none", () => {
  expect(heardOf({}, HOME)).toBeUndefined()
  expect(heardOf({ event: "message" }, HOME)).toBeUndefined()
})

test.each<[string, string, { mentions?: boolean; isToOthers?: boolean }]>([
  ["<@U0BOT> restart web", "restart web", { mentions: true }],
  ["<@U0BOT|countersign>: and <@U0BOT>", ": and", { mentions: true }],
  ["please, <@U0BOT>, look", "please,  , look", { mentions: true }],
  // What only looks like our name is somebody else's.
  ["<@U0BOTX> look", "@U0BOTX look", { isToOthers: true }],
  ["<@U9> can you?", "@U9 can you?", { isToOthers: true }],
  ["  <!subteam^S1|@sre> can you?", "@sre can you?", { isToOthers: true }],
  ["<!here> look", "@here look", { isToOthers: true }],
  ["ask <@U9|grace>", "ask @grace (U9)", {}],
  ["see <#C9|ops> and <#C8>", "see #ops (C9) and #C8", {}],
  ["<https://a.example/x?a=1&amp;b=2|a.example>", "a.example (https://a.example/x?a=1&b=2)", {}],
  ["<https://a.example>", "https://a.example", {}],
  ["a &lt;b&gt; &amp;amp; c", "a <b> &amp; c", {}],
  // What somebody typed is no reference of Slack's.
  ["&lt;@U0BOT&gt; restart", "<@U0BOT> restart", {}],
])("%j is read as %j", (text, words, said) => {
  expect(heard({ text })).toMatchObject({ text: words, mentions: false, isToOthers: false, ...said })
})

test("by the event of a mention it is heard as one", () => {
  expect(heard({ type: "app_mention", text: "<@U0BOT> hi" })).toMatchObject({ event: "mention", text: "hi" })
})
