import { randomUUID } from "node:crypto"
import { expect, onTestFinished, test } from "vitest"
import { startAudit } from "../../src/audit/audit.ts"
import { createLog } from "../../src/log.ts"
import { APPROVALS, OPS } from "../../src/sandbox/seed.ts"
import { auditChannel } from "../../src/slack/audit-channel.ts"
import { slackClient } from "../../src/slack/client.ts"
import { Pace, type Rate } from "../../src/slack/show/pace.ts"
import { isCard, rig, type Rig } from "./show.rig.ts"

/** An audit that writes to `channel`, at the pace of everything else. */
function auditing(bot: Rig, channel: string, rates: Record<string, Rate>): void {
  const { slack, store } = bot
  const client = slackClient({ token: slack.botToken, apiUrl: slack.apiUrl, timeout: 2000 })
  const pace = new Pace(store, rates)
  const log = createLog({ level: "silent", secrets: [], mask: (text) => text, out: { write() {} } })
  const to = auditChannel({ client, channel, pace, args: "digest", admins: [] })
  const audit = startAudit({ store, owner: randomUUID(), log, channel: to, every: 20 })
  const pulse = setInterval(() => audit.tick({ outbox: 1 }), 25)
  onTestFinished(async () => {
    clearInterval(pulse)
    await audit.stop()
  })
}

const kindOf = (text: string): string => {
  if (text.includes("Nobody answered")) return "notice"
  if (text.includes("The disk is full")) return "result"
  return /#\d+ · /.test(text) ? "audit" : "other"
}

/** All of them wait for the same turn: what each waits for is the last limit in `rates`. */
async function dueAtOnce(rates: Record<string, Rate>, held: string, auditTo: string): Promise<string[]> {
  const bot = await rig({ show: { rates }, outbox: true })
  const ids = [await bot.begin(), await bot.begin(), await bot.begin()] as const
  await bot.settled(ids[0])
  await bot.ask(ids[1], [{ args: { n: 1 } }])
  await bot.settled(ids[1])
  const before = bot.slack.workspace.calls.length
  await new Pace(bot.store, rates).hold(held, 300)
  auditing(bot, auditTo, rates)
  await bot.expire(ids[1])
  await bot.answer(ids[0], "The disk is full")
  await bot.ask(ids[2], [{ args: { n: 2 } }])
  await bot.settled(ids[2])
  await expect.poll(async () => (await bot.store.peek()).outbox, { timeout: 10_000 }).toBe(0)
  return bot.slack.workspace.calls
    .slice(before)
    .filter(({ method, response }) => method === "chat.postMessage" && response?.["ok"] === true)
    .map(({ response }) => response?.["message"] as Parameters<typeof isCard>[0])
    .map((message) => (isCard(message) ? "card" : kindOf(JSON.stringify(message))))
}

const SLOW: Rate = { every: 500, burst: 4 }

test("in one channel cards that wait come before results, those before notices, and audit lines last", async () => {
  const order = await dueAtOnce({ "chat.postMessage": SLOW }, `chat.postMessage:${OPS}`, OPS)
  expect([...new Set(order)]).toEqual(["card", "result", "notice", "audit"])
})

test("across channels, under what Slack limits for the whole app, too", async () => {
  const order = await dueAtOnce({ posts: SLOW }, "posts", APPROVALS)
  expect([...new Set(order)]).toEqual(["card", "result", "notice", "audit"])
})
