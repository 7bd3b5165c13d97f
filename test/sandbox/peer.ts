/**
 * A bare app at the other end of Socket Mode: it keeps what it gets and acks as it is told, with nothing in between.
 */
import { WebSocket } from "ws"
import type { SandboxSlack } from "../../src/sandbox/slack.ts"
import { call } from "./call.ts"

export interface Peer {
  received: { envelope_id: string; type: string; payload: Record<string, unknown>; retry_attempt?: number }[]
  /** Other words from Slack: hello, disconnect. */
  told: { type: string; reason?: string }[]
  socket: WebSocket
  /** What to ack with; `undefined` is no ack. */
  ack: (payload: Record<string, unknown>) => unknown
  /** The last payload. */
  last: () => Record<string, unknown>
}

/** Connects, and resolves at Slack's first word. */
export async function attach(slack: SandboxSlack): Promise<Peer> {
  const { url } = await call(slack, "apps.connections.open", {}, slack.appToken)
  const socket = new WebSocket(String(url))
  const peer: Peer = {
    received: [],
    told: [],
    socket,
    ack: () => ({}),
    last: () => peer.received.at(-1)?.payload ?? {},
  }
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject)
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Peer["received"][number] & { type: string }
      if (message.type === "hello" || message.type === "disconnect") {
        peer.told.push(message)
        resolve()
        return
      }
      peer.received.push(message)
      const payload = peer.ack(message.payload)
      if (payload !== undefined) socket.send(JSON.stringify({ envelope_id: message.envelope_id, payload }))
    })
  })
  return peer
}
