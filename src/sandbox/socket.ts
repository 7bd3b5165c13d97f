/**
 * Socket Mode: connections that an app opened with a ticket, envelopes to any one of them, and its acks. It doesn't know what is
 * in an envelope. https://docs.slack.dev/apis/events-api/using-socket-mode
 */
import { randomBytes, randomUUID } from "node:crypto"
import type { IncomingMessage, Server } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocket, WebSocketServer } from "ws"
import { z } from "zod"
import { LIMITS } from "./limits.ts"
import { APP_ID } from "./seed.ts"

export interface Envelope {
  envelope_id: string
  type: "slash_commands" | "interactive" | "events_api"
  payload: Record<string, unknown>
  accepts_response_payload: boolean
  retry_attempt?: number
  retry_reason?: string
}

const PING_EVERY = 10_000
const GOODBYE = 500
const ackMessage = z.object({ envelope_id: z.string(), payload: z.unknown().optional() })

export class Sockets {
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #tickets = new Set<string>()
  /** Oldest first; the next envelope goes to the head, which then goes to the end. */
  #open: WebSocket[] = []
  /** By envelope id, one for each time it was sent and not yet acked. */
  readonly #waiting = new Map<string, ((payload: unknown) => void)[]>()
  readonly #changed: () => void
  readonly #pings = setInterval(() => this.#open.forEach((socket) => socket.ping()), PING_EVERY).unref()

  constructor(changed: () => void) {
    this.#changed = changed
  }

  get count(): number {
    return this.#open.length
  }

  /** A ticket for one connection. */
  ticket(): string {
    const ticket = randomBytes(16).toString("hex")
    this.#tickets.add(ticket)
    return ticket
  }

  /** Takes over upgrades of the server to `/link`; `allowed` looks at the request first. */
  attach(server: Server, allowed: (request: IncomingMessage) => boolean): void {
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const url = new URL(`http://sandbox${request.url ?? "/"}`)
      const ticket = url.searchParams.get("ticket") ?? ""
      if (!allowed(request) || url.pathname !== "/link" || !this.#tickets.delete(ticket)) {
        socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n")
        return
      }
      this.#server.handleUpgrade(request, socket, head, (opened) => this.#welcome(opened))
    })
  }

  #welcome(socket: WebSocket): void {
    if (this.#open.length >= LIMITS.sockets) {
      socket.send(JSON.stringify({ type: "disconnect", reason: "too_many_websockets" }))
      socket.close()
      return
    }
    this.#open.push(socket)
    socket.on("message", (data: Buffer) => this.#acked(data.toString()))
    socket.on("error", () => socket.terminate())
    socket.on("close", () => {
      this.#open = this.#open.filter((it) => it !== socket)
      this.#changed()
    })
    socket.send(
      JSON.stringify({
        type: "hello",
        num_connections: this.#open.length,
        connection_info: { app_id: APP_ID },
        debug_info: { host: "sandbox", approximate_connection_time: 18_060 },
      }),
    )
    this.#changed()
  }

  #acked(text: string): void {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return
    }
    const ack = ackMessage.safeParse(value)
    if (ack.success) this.#waiting.get(ack.data.envelope_id)?.shift()?.(ack.data.payload)
  }

  /**
   * Sends an envelope to one connection; `undefined` when none is open. `ack` resolves with the payload of its ack, and never when
   * there is none: whoever gives up waiting must `forget` it, or the ack of a later repeat would be taken for this one's. `drop`
   * cuts the connection as soon as the envelope is through.
   */
  send(envelope: Envelope, drop = false): { ack: Promise<{ payload: unknown }>; forget: () => void } | undefined {
    const socket = this.#open.find((it) => it.readyState === WebSocket.OPEN)
    if (!socket) return undefined
    const { envelope_id } = envelope
    let take: (payload: unknown) => void = () => undefined
    const ack = new Promise<{ payload: unknown }>((resolve) => {
      take = (payload) => resolve({ payload })
    })
    this.#waiting.set(envelope_id, [...(this.#waiting.get(envelope_id) ?? []), take])
    this.#open = [...this.#open.filter((it) => it !== socket), socket]
    socket.send(JSON.stringify(envelope), () => {
      if (drop) socket.terminate()
    })
    return { ack, forget: () => this.#forget(envelope_id, take) }
  }

  #forget(envelope_id: string, take: (payload: unknown) => void): void {
    const left = (this.#waiting.get(envelope_id) ?? []).filter((it) => it !== take)
    if (left.length > 0) this.#waiting.set(envelope_id, left)
    else this.#waiting.delete(envelope_id)
  }

  /** Cuts every connection without a word. */
  drop(): void {
    for (const socket of this.#open) socket.terminate()
  }

  /** Asks every app to connect anew, as Slack does every few hours. */
  refresh(): void {
    for (const socket of this.#open) {
      socket.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested", debug_info: { host: "sandbox" } }))
    }
  }

  /** Says goodbye to every app, and cuts off those that don't answer. */
  async close(): Promise<void> {
    clearInterval(this.#pings)
    const gone = this.#open.map((socket) => new Promise((resolve) => socket.once("close", resolve)))
    const late = setTimeout(() => this.drop(), GOODBYE)
    for (const socket of this.#open) socket.close(1001)
    await Promise.all(gone)
    clearTimeout(late)
    this.#server.close()
  }
}

export const envelope = (type: Envelope["type"], payload: Envelope["payload"]): Envelope => ({
  envelope_id: randomUUID(),
  type,
  payload,
  accepts_response_payload: type !== "events_api",
})
