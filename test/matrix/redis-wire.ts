/**
 * The way of one bot to Redis: each command is asked about before Redis gets it, each reply before the bot does. It knows
 * scripts by what they say, since the bot sends their text or its hash.
 */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import type { Redis } from "ioredis"
import type { Fate, Gate } from "./border.ts"
import { Frames, wordsOf } from "./resp.ts"

export interface Wired {
  port: number
  /** For everybody else the bot is dead: what it sent arrives, its connections end, and it hears of nothing any more. */
  cut(): void
  close(): Promise<void>
}

const sha1 = (text: string): string => createHash("sha1").update(text).digest("hex")

const folder = new URL("../../src/store/lua/", import.meta.url)
const sources = readdirSync(folder).map((file) => ({
  name: file.replace(/\.lua$/u, ""),
  text: readFileSync(new URL(file, folder), "utf8"),
}))
const SCRIPTS = new Map(sources.map(({ name, text }) => [sha1(text), name]))

/** A script's own name, or the command's. */
export function nameOf([command = "", script = ""]: readonly string[]): string {
  const name = command.toLowerCase()
  if (name === "eval") return SCRIPTS.get(sha1(script)) ?? "an unknown script"
  return name === "evalsha" ? (SCRIPTS.get(script) ?? "an unknown script") : name
}

/** The names of all commands and scripts that change nothing, by what Redis says of commands. */
export async function readersOf(redis: Redis): Promise<Set<string>> {
  const commands = (await redis.call("COMMAND")) as [name: string, arity: number, flags: string[]][]
  const reading = new Set(commands.flatMap(([name, , flags]) => (flags.includes("write") ? [] : [name])))
  const called = ({ text }: { text: string }): string[] =>
    [...text.matchAll(/redis\.call\('(\w+)'/g)].map(([, name = ""]) => name.toLowerCase())
  // A script that calls something by a variable's name calls what changes something.
  const scripts = sources.filter(
    (one) => !/redis\.call\(\w/.test(one.text) && called(one).every((name) => reading.has(name)),
  )
  return new Set([...reading, ...scripts.map(({ name }) => name)])
}

/** A command whose reply is waited for; `answer`: what is given in its place, when it is its turn. */
interface Sent {
  name: string
  said: string
  answer?: Buffer
}

export async function wireRedis(target: number, gate: Gate): Promise<Wired> {
  const clients = new Set<Socket>()
  const lines = new Set<Line>()
  let dead = false
  const server = createServer((client) => {
    client.setNoDelay(true)
    client.on("error", () => {})
    clients.add(client)
    client.on("close", () => clients.delete(client))
    if (dead) return
    const line = new Line(client, target, gate)
    lines.add(line)
    client.on("close", () => {
      line.end()
      lines.delete(line)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      dead = true
      for (const line of lines) line.cut()
    },
    async close() {
      dead = true
      for (const client of clients) client.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

class Line {
  readonly #client: Socket
  readonly #server: Socket
  readonly #gate: Gate
  readonly #waiting: Sent[] = []
  #dead = false
  #commands: Promise<void> | undefined
  #replies: Promise<void> | undefined

  constructor(client: Socket, target: number, gate: Gate) {
    this.#client = client
    this.#gate = gate
    this.#server = connect({ port: target, host: "127.0.0.1" })
    this.#server.setNoDelay(true)
    this.#server.on("error", () => client.destroy())
    this.#server.on("close", () => {
      if (!this.#dead) client.destroy()
    })
    const commands = new Frames()
    const replies = new Frames()
    client.on("data", (chunk: Buffer) => {
      for (const bytes of commands.take(chunk)) this.#commands = after(this.#commands, () => this.#command(bytes))
    })
    this.#server.on("data", (chunk: Buffer) => {
      for (const bytes of replies.take(chunk)) this.#replies = after(this.#replies, () => this.#reply(bytes))
    })
  }

  /** What was sent arrives, as it does when the kernel closes a dead process' sockets. */
  end(): void {
    this.#server.end()
  }

  cut(): void {
    this.#dead = true
    this.end()
  }

  #command(bytes: Buffer): void | Promise<void> {
    if (this.#dead) return undefined
    const words = wordsOf(bytes)
    const sent: Sent = { name: nameOf(words), said: words.slice(1).join(" ") }
    return then(this.#gate({ wire: "redis", ...sent, side: "before", passage: sent }), (fate) => {
      if (!this.#goesOn(fate)) return
      if (typeof fate === "object") {
        sent.answer = fate.answer as Buffer
        this.#waiting.push(sent)
        this.#answer()
      } else {
        this.#waiting.push(sent)
        this.#server.write(bytes)
      }
    })
  }

  /** Gives what needs no server, once everything before it has its reply. */
  #answer(): void {
    for (let answer = this.#waiting[0]?.answer; answer; answer = this.#waiting[0]?.answer) {
      this.#waiting.shift()
      this.#client.write(answer)
    }
  }

  #reply(bytes: Buffer): void | Promise<void> {
    const sent = this.#waiting.shift()
    if (this.#dead || !sent) return undefined
    return then(this.#gate({ wire: "redis", ...sent, side: "after", answer: bytes, passage: sent }), (fate) => {
      if (!this.#goesOn(fate)) return
      this.#client.write(typeof fate === "object" ? (fate.answer as Buffer) : bytes)
      this.#answer()
    })
  }

  /** Whether the connection is still there, for this and what comes behind it. */
  #goesOn(fate: Fate): boolean {
    if (fate === "cut") this.#client.destroy()
    return !this.#dead && fate !== "cut" && fate !== "dead"
  }
}

/** In order; at once, where nothing has to be waited for. */
const after = (before: Promise<void> | undefined, work: () => void | Promise<void>): Promise<void> | undefined =>
  before ? before.then(() => work()) : (work() ?? undefined)

const then = (fate: Fate | Promise<Fate>, work: (fate: Fate) => void): void | Promise<void> =>
  fate instanceof Promise ? fate.then((one) => work(one)) : work(fate)
