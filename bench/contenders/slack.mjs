// The product with both its doors to Slack, as src/bot.ts puts it together, but with nothing that slows calls down to what the
// real Slack takes: what is measured is what each costs.
import { randomUUID } from "node:crypto"
import { startApp } from "../../dist/slack/app.js"
import { identify, slackClient } from "../../dist/slack/client.js"
import { People } from "../../dist/slack/people.js"
import { startShow } from "../../dist/slack/show.js"
import { callsOf } from "../../dist/work/guard.js"
import { agent, asking, log, openBot, RULE } from "../bot.mjs"
import { repeat, sleep } from "../measure.mjs"

const CHANNELS = ["C0OPS"]

export async function open({ url, api, secret }) {
  /** Who is told of commits and looks, once they are there. */
  const told = { show: undefined, homes: () => {} }
  const bot = await openBot(
    url,
    "slack",
    ({ run, show: changed }) => {
      if (changed !== "") told.show?.wake()
      told.homes(run)
      if (run.ended) process.send({ event: "ended", id: run.id })
    },
    (seen) => told.show?.tick(seen),
  )
  const { store } = bot
  const client = (timeout) => slackClient({ token: "xoxb-bench", apiUrl: api, ...(timeout ? { timeout } : {}) })
  const home = await identify(client())
  const calls = callsOf({ rules: [], defaults: RULE }, agent.tools)
  const show = startShow({ store, client: client(5000), log, owner: randomUUID(), schemaOf: calls.schemaOf, rates: {} })
  told.show = show
  const lists = {
    starters: ["U0REQ"],
    channels: CHANNELS,
    approvers: RULE.approvers,
    admins: [],
    deciders: RULE.approvers,
  }
  const app = await startApp({
    slack: {
      botToken: "xoxb-bench",
      apiUrl: api,
      transport: { kind: "http", signingSecret: secret, port: 0, host: "127.0.0.1" },
    },
    home,
    command: "/agent",
    lists,
    callsFor: async () => calls,
    keepEnded: 3_600_000,
    opening: (prompt) => [JSON.stringify({ role: "user", content: [{ type: "text", text: prompt }] })],
    store,
    people: new People(client(), home),
    log,
  })
  told.homes = (run) => app.committed(run)
  const transcript = asking()

  /** Nothing is left to show. */
  async function shown() {
    for (;;) {
      const { cards, rest, now } = await store.peek()
      // What is owed later than this is a word to somebody who waits.
      if (Math.min(cards ?? Infinity, rest ?? Infinity) > now + 20_000) return
      await sleep(5)
    }
  }

  return {
    port: () => app.port,
    async park(count) {
      const { results } = await repeat(() => bot.parkOnce(transcript), { atOnce: 32, ms: Infinity, most: count })
      await shown()
      return results.map(({ id, ask }) => ({ run: id, value: `${id}:1:${ask}` }))
    },
    shown,
    async close() {
      await app.stop(1000)
      await show.stop()
      await bot.close()
    },
  }
}
