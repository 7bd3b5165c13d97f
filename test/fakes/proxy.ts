/**
 * A TCP proxy that a test puts before Redis, to make the network misbehave on purpose: late, cut, or deaf. It knows no
 * protocol; what a request is, a test says by a piece of its text.
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

export interface Proxy {
  port: number
  url: string
  /** Each chunk that clients sent, as text, since the start or the last `forget()`. */
  requests: string[]
  forget(): void
  /** How often a piece of text was sent (a command's name, a key). */
  count(text: string): number
  /** Every chunk waits so long in each direction, ms; 0 ends that. */
  delay(ms: number): void
  /** Destroys all connections; new ones are accepted. */
  cut(): void
  /** While true, new connections are destroyed at once, and there are no others. */
  refuse(on: boolean): void
  /** How many new connections were destroyed. */
  refused(): number
  /**
   * The next request that contains `text` reaches the server, its reply does not come back: the connection is cut when
   * the server has answered. Resolves then.
   */
  swallowReplyTo(text: string): Promise<void>
  /** Keeps what comes from clients (requests) or the server (replies) until `release()`. */
  hold(what: "requests" | "replies"): void
  /**
   * Keeps requests from the next on that contains `text`, which is held as well; or lets it through and keeps all replies
   * from then on. Resolves when it has come.
   */
  holdFrom(text: string, what?: "requests" | "replies"): Promise<void>
  release(): void
  /** Leads to another server from now on: what goes through now is cut, and nothing that is held arrives. */
  lead(port: number): void
  close(): Promise<void>
}

/** Longer than any text that is waited for. */
const TAIL = 200

interface Pair {
  client: Socket
  server: Socket
  /** The end of what the client sent since somebody last began to wait for a text: a busy machine cuts it anywhere. */
  tail: string
  /** Set once a request whose reply is to be swallowed went through. */
  doomed?: () => void
}

export async function startProxy(target: { port: number; host?: string }): Promise<Proxy> {
  const pairs = new Set<Pair>()
  const requests: string[] = []
  const held: (() => void)[] = []
  const holding = { requests: false, replies: false }
  let { port: towards } = target
  let delayed = 0
  let refusing = false
  let refused = 0
  let swallow: { text: string; done: () => void } | undefined
  let trap: { text: string; what: "requests" | "replies"; done: () => void } | undefined

  const pass = (what: "requests" | "replies", to: Socket, chunk: Buffer) => {
    const write = () => void (to.writable && to.write(chunk))
    if (holding[what]) held.push(write)
    else if (delayed > 0) setTimeout(write, delayed)
    else write()
  }

  const fromClient = (pair: Pair, chunk: Buffer) => {
    const sent = chunk.toString("latin1")
    requests.push(sent)
    const text = pair.tail + sent
    pair.tail = text.slice(-TAIL)
    if (swallow && text.includes(swallow.text)) {
      pair.doomed = swallow.done
      swallow = undefined
    }
    if (trap && text.includes(trap.text)) {
      holding[trap.what] = true
      trap.done()
      trap = undefined
    }
    pass("requests", pair.server, chunk)
  }

  /** What was sent before is not what is waited for. */
  const forgetTails = () => {
    for (const pair of pairs) pair.tail = ""
  }

  const fromServer = (pair: Pair, chunk: Buffer) => {
    if (!pair.doomed) return pass("replies", pair.client, chunk)
    pair.client.destroy()
    pair.doomed()
  }

  const listener = createServer((client) => {
    if (refusing) {
      refused += 1
      return void client.destroy()
    }
    const server = connect({ port: towards, host: target.host ?? "127.0.0.1" })
    const pair: Pair = { client, server, tail: "" }
    pairs.add(pair)
    client.setNoDelay(true)
    server.setNoDelay(true)
    client.on("data", (chunk: Buffer) => fromClient(pair, chunk))
    server.on("data", (chunk: Buffer) => fromServer(pair, chunk))
    client.on("error", () => {})
    server.on("error", () => client.destroy())
    server.on("close", () => client.destroy())
    client.on("close", () => {
      pairs.delete(pair)
      // What is held was sent: it arrives, late, although nobody waits for the reply.
      if (!holding.requests) server.destroy()
    })
    return undefined
  })
  await new Promise<void>((resolve) => {
    listener.listen(0, "127.0.0.1", resolve)
  })
  const { port } = listener.address() as AddressInfo

  const cut = () => {
    for (const { client } of pairs) client.destroy()
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    requests,
    forget: () => void requests.splice(0),
    count: (text) => requests.join("").split(text).length - 1,
    delay(ms) {
      delayed = ms
    },
    cut,
    refuse(on) {
      refusing = on
      if (on) cut()
    },
    refused: () => refused,
    swallowReplyTo: (text) =>
      new Promise((resolve) => {
        forgetTails()
        swallow = { text, done: resolve }
      }),
    hold(what) {
      holding[what] = true
    },
    holdFrom: (text, what = "requests") =>
      new Promise((resolve) => {
        forgetTails()
        trap = { text, what, done: resolve }
      }),
    release() {
      holding.requests = false
      holding.replies = false
      for (const write of held.splice(0)) write()
    },
    lead(port) {
      towards = port
      held.splice(0)
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
    },
    async close() {
      const closed = new Promise((resolve) => {
        listener.close(resolve)
      })
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      await closed
    },
  }
}
