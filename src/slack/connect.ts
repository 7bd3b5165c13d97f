/**
 * How Slack's payloads reach Bolt: over Socket Mode lines that are kept open, or over signed HTTP. It carries them and
 * knows nothing of what is in them.
 */
import { HTTPReceiver, SocketModeReceiver, type App, type Receiver } from "@slack/bolt"
import { WebAPIPlatformError, WebAPIRateLimitedError } from "@slack/web-api"
import { sdkLog, type Log } from "../log.ts"

export type Transport =
  | { kind: "socket"; appToken: string }
  /** Without a host it listens on every address. */
  | { kind: "http"; signingSecret: string; port: number; host?: string }

export interface Connection {
  receiver: Receiver
  /** Resolves when payloads can arrive, with the address where HTTP is served. Throws when that isn't so within `ms`. */
  start(app: App, ms: number): Promise<{ port?: number }>
  stop(): Promise<void>
}

/** `lines`: Socket Mode connections held at once, so that one is there while Slack renews another. */
export function connection(how: { transport: Transport; apiUrl: string; lines: number; log: Log }): Connection {
  return how.transport.kind === "http" ? overHttp(how.transport, how.log) : overSockets(how.transport.appToken, how)
}

function overHttp(transport: Extract<Transport, { kind: "http" }>, log: Log): Connection {
  const { signingSecret, port, host } = transport
  const receiver = new HTTPReceiver({ signingSecret, port, logger: sdkLog(log) })
  let serving = false
  return {
    receiver,
    async start() {
      const server = await receiver.start({ port, ...(host === undefined ? {} : { host }) })
      serving = true
      const address = server.address()
      return typeof address === "object" && address !== null ? { port: address.port } : {}
    },
    async stop() {
      if (serving) await receiver.stop()
      serving = false
    },
  }
}

function overSockets(appToken: string, how: { apiUrl: string; lines: number; log: Log }): Connection {
  const lines = Array.from({ length: Math.max(1, how.lines) }, () => new Line(appToken, how))
  return {
    receiver: (lines[0] ?? new Line(appToken, how)).receiver,
    async start(app, ms) {
      for (const line of lines.slice(1)) line.receiver.init(app)
      try {
        await within(ms, Promise.any(lines.map((line) => line.open())), "Slack's Socket Mode gave no connection")
      } catch (error) {
        await Promise.all(lines.map((line) => line.close()))
        throw firstOf(error)
      }
      return {}
    },
    async stop() {
      await Promise.all(lines.map((line) => line.close()))
    },
  }
}

/** ms that Slack gets to say hello on a new connection. */
const HELLO = 10_000
/** ms between tries to connect: the first, and the longest. */
const PAUSE = { first: 250, longest: 15_000 }
/** ms that the closing handshake may take. */
const GOODBYE = 1000

/**
 * One Socket Mode connection. The library's own reconnecting waits five seconds without a connection after each of
 * Slack's renewals, and ends the process when a try fails for good; so it is off, and this reconnects at once, for ever.
 */
class Line {
  readonly receiver: SocketModeReceiver
  readonly #log: Log
  #closing = false
  #awake = (): void => undefined
  #kept: Promise<void> | undefined

  constructor(appToken: string, { apiUrl, log }: { apiUrl: string; log: Log }) {
    this.#log = log
    // Options of their own: the library writes into them, and a client shared with the App would retry a hundred times.
    const clientOptions = {
      slackApiUrl: apiUrl,
      timeout: HELLO,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
    }
    this.receiver = new SocketModeReceiver({
      appToken,
      logger: sdkLog(log),
      autoReconnectEnabled: false,
      installerOptions: { clientOptions },
    })
  }

  /** Resolves with the first connection; rejects when Slack says that this token will never get one. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#kept = this.#keep(resolve, reject)
    })
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#awake()
    await Promise.race([this.receiver.client.disconnect(), pause(GOODBYE)])
    await Promise.race([this.#kept, pause(GOODBYE)])
  }

  async #keep(opened: () => void, hopeless: (error: unknown) => void): Promise<void> {
    let failures = 0
    while (!this.#closing) {
      const dropped = new Promise<void>((resolve) => this.receiver.client.once("disconnected", () => resolve()))
      try {
        await within(HELLO, this.receiver.start(), "Slack said no hello")
        failures = 0
        opened()
        await dropped
      } catch (error) {
        failures += 1
        if (this.#closing) return
        this.#log.warn({ error: wordsOf(error), failures }, "no Socket Mode connection; trying again")
        if (isHopeless(error)) hopeless(error)
        void this.receiver.client.disconnect()
        await this.#rest(Math.max(waitOf(error), Math.min(PAUSE.first * 2 ** (failures - 1), PAUSE.longest)))
      }
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#awake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

const HOPELESS = new Set([
  "not_authed",
  "invalid_auth",
  "account_inactive",
  "user_removed_from_team",
  "team_disabled",
  "not_allowed_token_type",
  "token_revoked",
  "token_expired",
  "missing_scope",
])

const isHopeless = (error: unknown): boolean => error instanceof WebAPIPlatformError && HOPELESS.has(error.data.error)
const waitOf = (error: unknown): number => (error instanceof WebAPIRateLimitedError ? error.retryAfter * 1000 : 0)
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Of several lines that all failed the first one's reason is told; they have the same token. */
const firstOf = (error: unknown): unknown => (error instanceof AggregateError ? (error.errors[0] as unknown) : error)

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())

async function within<T>(ms: number, work: Promise<T>, words: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${words} within ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
