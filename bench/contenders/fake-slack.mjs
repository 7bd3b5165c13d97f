// A Slack that says ok to everything, at once, and counts what it was asked. It refuses nothing: the sandbox does that.
import { createServer } from "node:http"

const ANSWERS = {
  "auth.test": () => ({ team_id: "T1", user_id: "U0BOT", bot_id: "B0BOT" }),
  "users.info": ({ user }) => ({ user: { id: user, team_id: "T1", name: user.toLowerCase(), profile: {} } }),
  "conversations.info": ({ channel }) => ({ channel: { id: channel, is_private: false, name: "ops" } }),
}

export async function open() {
  const counts = new Map()
  let posted = 0
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => {
      const method = request.url.split("/").at(-1).split("?", 1)[0]
      counts.set(method, (counts.get(method) ?? 0) + 1)
      const args = Object.fromEntries(new URLSearchParams(body))
      const ts = args.ts ?? `1700000000.${String(++posted).padStart(6, "0")}`
      const answer = { ok: true, channel: args.channel, ts, ...ANSWERS[method]?.(args) }
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer))
    })
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    api: () => `http://127.0.0.1:${server.address().port}/api/`,
    /** Calls by method since it was last asked. */
    counts() {
      const found = Object.fromEntries(counts)
      counts.clear()
      return found
    },
    close: () => void server.close(),
  }
}
