import { expect, onTestFinished, test } from "vitest"
import { OPS, ROBIN, TEAM } from "../../src/sandbox/seed.ts"
import { startSlack } from "../../src/sandbox/slack.ts"

const RICH = { type: "rich_text", elements: [{ type: "rich_text_section", elements: [{ type: "text", text: "a" }] }] }
const CHUNKS = [{ type: "blocks", blocks: [RICH] }]
const TO = { recipient_user_id: ROBIN, recipient_team_id: TEAM.id }

async function setUp() {
  const slack = await startSlack()
  onTestFinished(() => slack.close())
  const call = async (method: string, args: Record<string, unknown>) => {
    const headers = { authorization: `Bearer ${slack.botToken}`, "content-type": "application/json" }
    const response = await fetch(`${slack.apiUrl}${method}`, { method: "POST", headers, body: JSON.stringify(args) })
    return (await response.json()) as { ok: boolean; error?: string; ts?: string }
  }
  const { ts: thread_ts } = await call("chat.postMessage", { channel: OPS, text: "root" })
  return { slack, call, thread_ts }
}

test.each<[string, string, Record<string, unknown>]>([
  ["one outside of any thread", "invalid_thread_ts", { thread_ts: undefined }],
  ["one for nobody", "missing_recipient_user_id", { recipient_user_id: undefined }],
  ["one for somebody of no team", "missing_recipient_team_id", { recipient_team_id: undefined }],
  ["text twice", "markdown_text_conflict", { markdown_text: "x" }],
  ["a chunk that there isn't", "invalid_chunks", { chunks: [{ type: "song" }] }],
  ["blocks that no message may have", "invalid_blocks", { chunks: [{ type: "blocks", blocks: [{ type: "x" }] }] }],
])("refuses to begin %s", async (_what, error, wrong) => {
  const { call, thread_ts } = await setUp()
  const args = { channel: OPS, thread_ts, ...TO, chunks: CHUNKS, ...wrong }
  expect(await call("chat.startStream", args)).toMatchObject({ ok: false, error })
})

test("a stream grows, can't be changed otherwise while it does, and never again once it is stopped", async () => {
  const { slack, call, thread_ts } = await setUp()
  const { ts } = await call("chat.startStream", { channel: OPS, thread_ts, ...TO, chunks: CHUNKS })
  const at = { channel: OPS, ts }
  expect(await call("chat.appendStream", { ...at, chunks: CHUNKS })).toMatchObject({ ok: true })
  for (const method of ["chat.update", "chat.delete"]) {
    expect(await call(method, { ...at, text: "x" })).toMatchObject({ error: "streaming_state_conflict" })
  }
  expect(await call("chat.stopStream", at)).toMatchObject({ ok: true })
  for (const method of ["chat.appendStream", "chat.stopStream"]) {
    expect(await call(method, { ...at, chunks: CHUNKS })).toMatchObject({ error: "message_not_in_streaming_state" })
  }
  expect(slack.workspace.message(OPS, ts ?? "")?.blocks).toHaveLength(2)
  expect(await call("chat.delete", at)).toMatchObject({ ok: true })
})
