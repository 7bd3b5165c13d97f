/**
 * The way of one bot to everything that speaks HTTP: Slack's Web API and its Socket Mode, the model's provider, and the
 * tools' own gate, which serves nothing but the question whether they may go on. It knows addresses and no meaning.
 */
import {
  Agent,
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import { WebSocket, WebSocketServer } from "ws"
import type { Border, Fate, Gate, HttpAnswer } from "./border.ts"
import type { Wired } from "./redis-wire.ts"

export interface HttpWired extends Wired {
  /** http://127.0.0.1:PORT */
  origin: string
}

interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** What a request is a border of; undefined when it is none, and passes. */
type Named = (path: string) => Pick<Border, "wire" | "name"> | undefined

export interface HttpOptions {
  /** Without one each request is answered at once, when it may pass. */
  target?: number
  named: Named
  /** Whose gate it is, where several bots come by the same way. */
  gateOf: (from: IncomingHttpHeaders) => Gate
  /** Socket Mode goes this way too; addresses in it that lead to the target lead there. */
  socket?: { gate: Gate; replies: string }
}

export async function wireHttp(options: HttpOptions): Promise<HttpWired> {
  const { target, named, gateOf, socket } = options
  const agent = new Agent({ keepAlive: true })
  const sockets = target === undefined || !socket ? undefined : new Sockets(target, socket)
  let dead = false
  let origin = ""
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy())
  })

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await whole(incoming)
    const border = named(incoming.url ?? "/")
    const said = body.toString("utf8")
    const may = async (more: Pick<Border, "side" | "answer">): Promise<Fate> =>
      dead ? "dead" : border ? gateOf(incoming.headers)({ ...border, ...more, said, passage: incoming }) : "pass"
    const first = await may({ side: "before" })
    if (ends(first, response)) return
    const got = typeof first === "object" ? given(first) : await fetched(incoming, body)
    const last = await may({ side: "after", answer: got.body })
    if (ends(last, response)) return
    const reply = typeof last === "object" ? given(last) : got
    response.writeHead(reply.status, { ...reply.headers, "content-length": reply.body.length })
    response.end(reply.body)
  }

  /** A bot that is dead hears nothing, not even that its connection ended. */
  function ends(fate: Fate, response: ServerResponse): boolean {
    if (fate === "cut") response.destroy()
    return dead || fate === "cut" || fate === "dead"
  }

  async function fetched(incoming: IncomingMessage, body: Buffer): Promise<Reply> {
    if (target === undefined) return { status: 200, headers: {}, body: Buffer.from("{}") }
    const reply = await forwarded(agent, target, incoming, body)
    const to = `127.0.0.1:${target}`
    // Where Slack names an address of its own, it is the way through here.
    return reply.body.includes(`ws://${to}`)
      ? { ...reply, body: Buffer.from(reply.body.toString("utf8").replaceAll(to, origin.slice("http://".length))) }
      : reply
  }

  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (dead || !sockets) socket.destroy()
    else sockets.relay(incoming, socket, head)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  origin = `http://127.0.0.1:${port}`
  return {
    port,
    origin,
    cut() {
      dead = true
      sockets?.cut()
    },
    async close() {
      dead = true
      sockets?.close()
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function given(fate: Exclude<Fate, string>): Reply {
  const { status, headers, body } = fate.answer as HttpAnswer
  return { status, headers: { "content-type": "application/json", ...headers }, body: Buffer.from(body) }
}

async function whole(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function forwarded(agent: Agent, port: number, incoming: IncomingMessage, body: Buffer): Promise<Reply> {
  const { "transfer-encoding": _, ...headers } = incoming.headers
  return new Promise((resolve, reject) => {
    const { method = "GET", url: path = "/" } = incoming
    const to = { agent, host: "127.0.0.1", port, method, path }
    const sent = request({ ...to, headers: { ...headers, host: `127.0.0.1:${port}`, "content-length": body.length } })
    sent.on("error", reject)
    sent.on("response", (reply) => {
      const { connection: _, "content-length": __, "transfer-encoding": ___, ...rest } = reply.headers
      whole(reply).then((said) => resolve({ status: reply.statusCode ?? 500, headers: rest, body: said }), reject)
    })
    sent.end(body)
  })
}

/** Socket Mode, message by message. */
class Sockets {
  readonly #target: number
  readonly #gate: Gate
  readonly #replies: string
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #open = new Set<{ up: WebSocket; down: WebSocket }>()
  #dead = false

  constructor(target: number, { gate, replies }: { gate: Gate; replies: string }) {
    this.#target = target
    this.#gate = gate
    this.#replies = replies
  }

  relay(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const to = `127.0.0.1:${this.#target}`
    const up = new WebSocket(`ws://${to}${incoming.url ?? "/"}`)
    up.on("error", () => socket.destroy())
    // What comes before somebody listens would be lost.
    const early: string[] = []
    const keep = (data: Buffer): void => void early.push(data.toString())
    up.on("message", keep)
    up.on("open", () =>
      this.#server.handleUpgrade(incoming, socket, head, (down) => {
        up.off("message", keep)
        this.#join(up, down, early)
      }),
    )
  }

  #join(up: WebSocket, down: WebSocket, early: readonly string[]): void {
    const from = `http://127.0.0.1:${this.#target}`
    const pair = { up, down }
    const kinds = new Map<string, string>()
    this.#open.add(pair)
    const toBot = async (text: string): Promise<void> => {
      const message = JSON.parse(text) as { envelope_id?: string; type?: string }
      const { envelope_id: id, type = "" } = message
      if (id !== undefined) {
        kinds.set(id, type)
        const border = { wire: "envelope", name: type, side: "before", said: text, passage: message } as const
        if ((await this.#may(border)) !== "pass") return
      }
      down.send(text.replaceAll(from, this.#replies))
    }
    const fromBot = async (text: string): Promise<void> => {
      const name = kinds.get((JSON.parse(text) as { envelope_id?: string }).envelope_id ?? "")
      if (name === undefined) return up.send(text)
      const ack = { wire: "ack", name, said: text, passage: {} } as const
      if ((await this.#may({ ...ack, side: "before" })) !== "pass") return
      up.send(text)
      await this.#may({ ...ack, side: "after" })
    }
    for (const text of early) void toBot(text)
    up.on("message", (data: Buffer) => void toBot(data.toString()))
    down.on("message", (data: Buffer) => void fromBot(data.toString()))
    up.on("ping", () => down.ping())
    up.on("close", () => {
      this.#open.delete(pair)
      if (!this.#dead) down.terminate()
    })
    down.on("close", () => up.close())
    down.on("error", () => up.close())
  }

  async #may(border: Border): Promise<Fate> {
    return this.#dead ? "dead" : this.#gate(border)
  }

  cut(): void {
    this.#dead = true
    // After what was sent: an ack that is on its way arrives.
    for (const { up } of this.#open) up.close()
  }

  close(): void {
    this.#dead = true
    for (const { up } of this.#open) up.terminate()
    for (const down of this.#server.clients) down.terminate()
    this.#server.close()
  }
}
