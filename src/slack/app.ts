/**
 * Bolt, started and stopped: whatever Slack sends gets its ack here, and goes to the door it belongs to. Knows no run.
 */
import { App, type LogLevel } from "@slack/bolt"
import type { WebClient } from "@slack/web-api"
import { sdkLog, type Log } from "../log.ts"
import type { Part } from "../core/parts.ts"
import type { Run } from "../core/run.ts"
import type { Store } from "../store/store.ts"
import { onClick } from "./clicks.ts"
import { slackClient, type Home } from "./client.ts"
import { onCommand } from "./commands.ts"
import { connection, type Transport } from "./connect.ts"
import { offerPrompts } from "./assistant.ts"
import { settleRepeats } from "./counted.ts"
import type { Doors } from "./doors.ts"
import { onClosed, onForm } from "./form.ts"
import type { Front, Lists } from "./front.ts"
import { Homes, isHomePress, type HomeTimes } from "./homes.ts"
import type { People } from "./people.ts"
import { Repeats } from "./repeats.ts"
import type { Ack } from "./replies.ts"
import { onMessage } from "./talk.ts"
import { Names } from "./show/names.ts"

export interface AppOptions {
  slack: { botToken: string; apiUrl: string; transport: Transport }
  /** Whose token that is, as `identify` found. */
  home: Home
  command: string
  lists: Lists
  agents?: Front["agents"]
  sources?: Front["sources"]
  doors: Doors
  limits: Front["limits"]
  files?: Front["files"]
  /** ms that an ended run is kept. */
  keepEnded: number
  /** The transcript that a run begins with, as JSON texts; the prompt is its last entry. */
  opening: (prompt: string, parts?: readonly Part[]) => string[]
  signOut?: Front["signOut"]
  store: Store
  callsFor: Front["callsFor"]
  people: People
  log: Log
  /** Socket Mode connections held at once. */
  lines?: number
  homes?: Partial<HomeTimes>
  /** ms within which Slack must have given a connection. */
  startWithin?: number
}

export interface RunningApp {
  client: WebClient
  /** Where signed HTTP is served. */
  port?: number
  /** A run is as it is now. */
  committed(run: Run): void
  /** Takes nothing new, and waits at most `ms` for what is under way. */
  stop(ms: number): Promise<void>
}

/** ms that a call of a door may take. */
const CALL_TIMEOUT = 3000
const REPEATS_EVERY = 10_000

/**
 * Starts taking what Slack sends.
 * @throws when Slack gives no connection in time, or says that the tokens will never get one.
 */
export async function startApp(options: AppOptions): Promise<RunningApp> {
  const { slack, log, home } = options
  const client = slackClient({
    token: slack.botToken,
    apiUrl: slack.apiUrl,
    logger: sdkLog<LogLevel>(log),
    timeout: CALL_TIMEOUT,
  })
  const front: Front = {
    agents: [],
    sources: async () => [],
    signOut: async () => ({ kind: "unknown", servers: [] }),
    files: { files: 5, megabytes: 5 },
    ...options,
    client,
    repeats: new Repeats(),
    names: new Names(client),
  }
  const homes = new Homes(front, options.homes)
  const line = connection({ transport: slack.transport, apiUrl: slack.apiUrl, lines: options.lines ?? 2, log })
  const app = new App({
    receiver: line.receiver,
    token: slack.botToken,
    botId: home.bot,
    botUserId: home.botUser,
    // Known already. Left on, a wrong token would end the process from inside the constructor.
    tokenVerificationEnabled: false,
    deferInitialization: true,
    // Its memory store would grow with every conversation.
    convoStore: false,
    clientOptions: { slackApiUrl: slack.apiUrl, timeout: CALL_TIMEOUT, retryConfig: { retries: 0 } },
    logger: sdkLog<LogLevel>(log),
  })
  const under = new Set<Promise<void>>()
  // One door for everything: what no listener of Bolt's matches would never be acked over Socket Mode.
  app.use(async (args) => {
    const ack: Ack = "ack" in args && typeof args.ack === "function" ? (args.ack as Ack) : async () => undefined
    const work = receive(front, homes, args.body, ack).catch((error: unknown) => {
      log.error({ err: error, type: kindOf(args.body) }, "something that Slack sent could not be dealt with")
    })
    under.add(work)
    await work.finally(() => under.delete(work))
  })
  app.error(async (error) => log.error({ err: error }, "Bolt failed"))
  await app.init()
  const started = await line.start(app, options.startWithin ?? 20_000)
  const repeats = setInterval(() => void settleRepeats(front), REPEATS_EVERY).unref()
  return {
    client,
    ...started,
    committed: (run) => homes.committed(run),
    async stop(ms) {
      clearInterval(repeats)
      homes.stop()
      const rest = async (): Promise<void> => {
        // Whatever has come in is acked first: that takes a second at most.
        await Promise.race([Promise.all(under), pause(1000)])
        await line.stop()
        while (under.size > 0) await Promise.all(under)
      }
      await Promise.race([rest(), pause(ms)])
      // Also when a line was slow to close: what was only counted would be gone with this process.
      await Promise.race([settleRepeats(front, true), pause(1000)])
    },
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())

function kindOf(body: object): string {
  if ("command" in body) return "command"
  if ("event" in body) return "event"
  return "type" in body && typeof body.type === "string" ? body.type : "unknown"
}

async function receive(front: Front, homes: Homes, body: object, ack: Ack): Promise<void> {
  switch (kindOf(body)) {
    case "command":
      return onCommand(front, body, ack)
    case "block_actions":
      return isHomePress(body) ? homes.onPress(body, ack) : onClick(front, body, ack)
    case "view_submission":
      return onForm(front, body, ack)
    case "view_closed":
      return onClosed(front, body, ack)
    case "event":
      return onEvent(front, homes, body)
    default:
      return ack()
  }
}

/** Slack has its ack of these before they come here. */
async function onEvent(front: Front, homes: Homes, body: object): Promise<void> {
  await Promise.all([homes.onEvent(body), offerPrompts(front, body), onMessage(front, body)])
}
