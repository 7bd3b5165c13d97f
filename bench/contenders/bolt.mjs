// What one would write by hand: Bolt and a handler. `does: "ack"` acks and nothing more; `does: "all"` lives the rest of a run
// of the minimal loop, then changes the card and posts the answer.
import { App, HTTPReceiver, LogLevel } from "@slack/bolt"
import { plainLoop } from "../plain.mjs"

const SECTION = (words) => [{ type: "section", text: { type: "mrkdwn", text: words } }]

export async function open({ url, api, secret, sizes, does }) {
  const loop = plainLoop(url, sizes)
  const receiver = new HTTPReceiver({ signingSecret: secret, logLevel: LogLevel.ERROR })
  const app = new App({
    receiver,
    token: "xoxb-bench",
    botId: "B0BOT",
    botUserId: "U0BOT",
    tokenVerificationEnabled: false,
    clientOptions: { slackApiUrl: api },
    logLevel: LogLevel.ERROR,
  })
  let shown = 0
  app.action("approve", async ({ ack, body, action, client }) => {
    await ack()
    if (does !== "all") return
    const { channel_id: channel, message_ts: ts } = body.container
    await loop.finish(action.value)
    process.send({ event: "ended", id: action.value })
    const words = `Approved by <@${body.user.id}>`
    await client.chat.update({ channel, ts, text: words, blocks: SECTION(words) })
    const answer = "The web tier was restarted."
    await client.chat.postMessage({ channel, thread_ts: ts, text: answer, blocks: SECTION(answer) })
    shown += 1
    if (shown % 10 === 0 || waiting) waiting?.()
  })
  let waiting
  const server = await app.start(0, { host: "127.0.0.1" })

  return {
    port: () => server.address().port,
    /** Parks so many, and says which button is whose. */
    async park(count) {
      const parked = []
      for (let i = 0; i < count; i += 1) parked.push({ run: await loop.park() })
      return parked.map(({ run }) => ({ run, value: run }))
    },
    /** Resolves when so many have been shown since the start. */
    async shown(count) {
      await new Promise((resolve) => {
        waiting = () => shown >= count && resolve()
        waiting()
      })
      waiting = undefined
    },
    async close() {
      await app.stop()
      await loop.close()
    },
  }
}
