// Presses buttons as Slack does over HTTP: signed, on connections that stay open.
import { createHmac, randomUUID } from "node:crypto"
import { Agent, request } from "node:http"

export const SECRET = "bench-signing-secret"

/** The payload of a press on the button Approve of a card; its place is the same each time, its time is not. */
const payloadOf = (value) => ({
  type: "block_actions",
  user: { id: "U0APP", username: "ada", name: "ada", team_id: "T1" },
  api_app_id: "A1",
  token: "x",
  container: { type: "message", message_ts: "1700000000.000001", channel_id: "C0OPS", is_ephemeral: false },
  trigger_id: randomUUID(),
  team: { id: "T1", domain: "bench" },
  enterprise: null,
  is_enterprise_install: false,
  channel: { id: "C0OPS", name: "ops" },
  message: { type: "message", ts: "1700000000.000001", text: "A card", blocks: [] },
  actions: [{ action_id: "approve", block_id: "buttons", type: "button", value, action_ts: String(Date.now() / 1000) }],
})

export function presser(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })

  /** Resolves with the ms until the whole ack was there; rejects when it is no ack. */
  function press(value) {
    const body = new URLSearchParams({ payload: JSON.stringify(payloadOf(value)) }).toString()
    const at = String(Math.floor(Date.now() / 1000))
    const signature = createHmac("sha256", SECRET).update(`v0:${at}:${body}`).digest("hex")
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "content-length": Buffer.byteLength(body),
      "x-slack-request-timestamp": at,
      "x-slack-signature": `v0=${signature}`,
    }
    const began = performance.now()
    return new Promise((resolve, reject) => {
      const sending = request(
        { agent, port, host: "127.0.0.1", path: "/slack/events", method: "POST", headers },
        (response) => {
          response.resume()
          response.on("end", () =>
            response.statusCode === 200
              ? resolve(performance.now() - began)
              : reject(new Error(`a press was answered with ${response.statusCode}`)),
          )
        },
      )
      sending.on("error", reject)
      sending.end(body)
    })
  }

  return { press, close: () => agent.destroy() }
}
