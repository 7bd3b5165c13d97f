/**
 * A connection to a server, over the pipes of a program or over streamable HTTP, with everything on it bounded: how long it
 * takes, how much is read, how many messages come. Knows no tool; when it is over it says why, and does not come back.
 */
import { readFileSync } from "node:fs"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import type { Config } from "../../config.ts"
import type { Access } from "./access.ts"
import { CAPABILITIES, type elicitor } from "./elicit.ts"
import { boundedFetch } from "./fetch.ts"
import { messageOf, oneLine } from "./result.ts"

export type McpServer = Config["mcpServers"]["servers"][number]

export interface Connection {
  client: Client
  /** Says why it is over, once it is. */
  readonly over: string | undefined
  close(): Promise<void>
}

export interface Connecting {
  /** ms until it stands. */
  within: number
  /** Takes our own secrets out. */
  clean: (text: string) => string
  /** Ends it, and the attempt to make it. */
  signal: AbortSignal
  onListChanged: () => void
  /** Once, when it is over after it stood. */
  onOver: (why: string) => void
  /** Over HTTP a stream is gone, and perhaps the server with it. */
  onTrouble: () => void
  /** Over HTTP the answer to a call, by its mark, can't come any more. */
  onCut: (mark: string) => void
  /** The server asks a person. */
  onElicit: ReturnType<typeof elicitor>
  /** Whom each request is for, where the server is called for one person. */
  access?: Access | undefined
}

/** ms for ending a connection: a program is told to end after two seconds, and killed after four. */
const CLOSE_WITHIN = 5000
/** More than so many messages within so many ms are none that anybody wants. */
const FLOOD = { messages: 5000, ms: 10_000 }
/** Bytes of one message of a program; the SDK's time for reading one grows with its square. */
const MAX_MESSAGE = 6 * 1024 * 1024
/** Of what a program writes beside the protocol the last is kept, as its reason to end. */
const LAST_WORDS = 2000

const own = new URL("../../../package.json", import.meta.url)
const { version } = JSON.parse(readFileSync(own, "utf8")) as { version: string }

/** Rejects, with nothing left running, when it does not stand in time. The error's words are for people. */
export async function connect(server: McpServer, how: Connecting): Promise<Connection> {
  const { transport, lastWords } = server.kind === "stdio" ? programOf(server, how) : remoteOf(server, how)
  const client = new Client({ name: "countersign", version }, { capabilities: CAPABILITIES })
  let stands = false
  let over: string | undefined
  // The SDK closes what it could not open: that is no reason of its own.
  const closed = server.kind === "stdio" ? undefined : "the connection was closed"
  const end = (why: string): void => {
    if (over !== undefined) return
    over = why
    if (stands) how.onOver(why)
  }
  const close = async (): Promise<void> => {
    end("it was closed")
    await inTime(closing(transport), CLOSE_WITHIN, "").catch(() => undefined)
  }
  const stop = (): void => {
    end("the bot is stopping")
    void close()
  }
  how.signal.addEventListener("abort", stop, { once: true })
  const cutOff = (why: string): void => {
    end(why)
    kill(transport)
    void close()
  }
  transport.onmessage = counted(() =>
    cutOff(`it sent more than ${FLOOD.messages} messages within ${FLOOD.ms / 1000} s`),
  )
  client.onclose = () => {
    end(closed ?? `its process ended${lastWords()}`)
    how.signal.removeEventListener("abort", stop)
  }
  client.onerror = ({ message }) => {
    if (/exceeded maximum size/.test(message)) cutOff("it sent a message that is too long")
    if (/Maximum reconnection/.test(message)) how.onTrouble()
  }
  client.setRequestHandler(ElicitRequestSchema, how.onElicit)
  client.setNotificationHandler(ToolListChangedNotificationSchema, how.onListChanged)
  try {
    const connecting = client.connect(transport, { timeout: how.within })
    await inTime(connecting, how.within, `it did not answer within ${how.within / 1000} s`)
  } catch (error) {
    const ended = over === closed ? undefined : over
    await close()
    throw new Error(ended ?? `${wordsOf(error, server, how)}${lastWords()}`, { cause: error })
  }
  stands = true
  return {
    client,
    get over() {
      return over
    },
    close,
  }
}

function programOf(
  { command, args, env, cwd }: McpServer & { kind: "stdio" },
  { clean }: Connecting,
): { transport: Transport; lastWords: () => string } {
  // The SDK adds HOME, LOGNAME, PATH, SHELL, TERM and USER; nothing else of our environment gets there.
  const transport = new StdioClientTransport({ command, args, env, cwd, stderr: "pipe", maxBufferSize: MAX_MESSAGE })
  let last = ""
  // Unread, it would stop the program once the pipe is full.
  transport.stderr?.on("data", (chunk: Buffer) => {
    last = `${last}${chunk.subarray(-LAST_WORDS).toString()}`.slice(-LAST_WORDS)
  })
  // Cut before, it could begin in the middle of a secret.
  const lastWords = (): string =>
    last.trim() === "" ? "" : `; the last it wrote was: ${oneLine(clean(last).slice(-300))}`
  return { transport: transport, lastWords }
}

function remoteOf({ url, headers }: McpServer & { kind: "http" }, how: Connecting) {
  const send = boundedFetch(how.onCut)
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: how.access ? how.access.by(send) : send,
  })
  // Its session may be undefined, which the SDK's own type doesn't say.
  return { transport: transport as Transport, lastWords: () => "" }
}

async function closing(transport: Transport): Promise<void> {
  // A server may keep what it knows of us until it is told that we are gone.
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    await inTime(transport.terminateSession(), 1000, "").catch(() => undefined)
  }
  await transport.close()
}

/** While it is told to end politely, a program would go on sending what all of us must read. */
function kill(transport: Transport): void {
  const pid = transport instanceof StdioClientTransport ? transport.pid : null
  if (pid === null) return
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}

function counted(flooded: () => void): () => void {
  let since = performance.now()
  let messages = 0
  return () => {
    const now = performance.now()
    if (now - since > FLOOD.ms) [since, messages] = [now, 0]
    messages += 1
    if (messages === FLOOD.messages) flooded()
  }
}

/** Rejects with `late` when it isn't done by then. */
export async function inTime<T>(work: Promise<T>, ms: number, late: string | Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(typeof late === "string" ? new Error(late) : late), ms)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

function wordsOf(error: unknown, server: McpServer, { clean }: Pick<Connecting, "clean">): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  if (server.kind === "stdio" && code === "ENOENT") {
    const hint = /\s/.test(server.command) ? " (what follows the program's name belongs into args)" : ""
    return `there is no program ${oneLine(server.command)}${hint}, or no folder ${oneLine(server.cwd)} to run it in`
  }
  const deeper = typeof cause?.code === "string" ? ` (${cause.code})` : ""
  // What a server writes beside its refusal may be a page, or nothing.
  const status = typeof code === "number" && code >= 300 && code < 600 ? `it answered HTTP ${code}: ` : ""
  return status + oneLine(clean(messageOf(error))) + deeper
}
