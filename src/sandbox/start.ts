/**
 * The whole of Countersign on one machine: a Redis of its own, the local Slack with its page, and the very bot that
 * `countersign start` runs, as a process of its own. Ignores the environment's tokens and Redis.
 */
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type BotProcess, keepBot } from "./bot-process.ts"
import { needRedis, refuseSecondServer, startRedis } from "./redis.ts"
import { type SandboxSlack, startSlack } from "./slack.ts"

export interface SandboxOptions {
  /** Where its data go; emptied at each start, as the local Slack forgets everything too. One sandbox at a time uses it. */
  dir: string
  /** The page's port; when it is taken, the next free one. 0 takes any. */
  port: number
  /** The program that starts the bot, with its arguments. */
  bot: readonly [string, ...string[]]
  /** Says one line to whoever started it. */
  say: (line: string) => void
  /** What the bot's process inherits. */
  env: NodeJS.ProcessEnv
  /** ms that the bot may take to connect. */
  connectWithin?: number
}

export interface Sandbox {
  url: string
  /** Of the bot's process that runs now. */
  botPid(): number | undefined
  stop(): Promise<void>
}

const CONNECT_WITHIN = 60_000
/** Ports that are tried after the one that was wanted. */
const MORE_PORTS = 20

/**
 * Starts it; resolves when the bot is connected. Rejects, with nothing left running, with what to do: when there is no Redis
 * to be had, when another sandbox uses the folder, when the bot refuses to start or doesn't connect.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { dir, say } = options
  const need = await needRedis()
  if (!need.ok) throw new Error(need.fault)
  const redisDir = join(dir, "redis")
  // Before anything is deleted: a server that still appends there would lose its file.
  await refuseSecondServer(redisDir)
  await rm(dir, { recursive: true, force: true })
  await mkdir(dir, { recursive: true })

  const stops: (() => Promise<void>)[] = []
  let stopping = false
  const stop = async (): Promise<void> => {
    stopping = true
    for (const one of stops.splice(0).reverse()) await one()
  }
  try {
    const redis = await startRedis(need.program, { dir: redisDir })
    stops.push(() => redis.stop())
    void redis.ended.then(({ why }) => stopping || say(`Redis ended (${why}); end the sandbox and start it again.`))
    const slack = await onFreePort(options.port, say)
    stops.push(() => slack.close())
    const logFile = join(dir, "bot.log")
    const env = { ...cleaned(options.env), ...botEnv(slack, redis.url) }
    const bot = keepBot({ command: options.bot, env, logFile, say })
    stops.push(() => bot.stop())
    await connected(bot, slack, { within: options.connectWithin ?? CONNECT_WITHIN, logFile })
    void bot.refused.then((words) => say(`The bot does not start again; it says:\n${words}`))
    return { url: slack.url, botPid: () => bot.pid(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function onFreePort(wanted: number, say: (line: string) => void): Promise<SandboxSlack> {
  const pageDir = new URL("./page/", import.meta.url)
  for (let port = wanted; ; port++) {
    try {
      const slack = await startSlack({ port, pageDir })
      if (port !== wanted) say(`Port ${wanted} is taken, so the page is on ${port}.`)
      return slack
    } catch (error) {
      const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE"
      if (!taken || port >= Math.min(wanted + MORE_PORTS, 65_535)) throw error
    }
  }
}

async function connected(
  bot: BotProcess,
  { workspace }: SandboxSlack,
  { within, logFile }: { within: number; logFile: string },
): Promise<void> {
  const refused = bot.refused.then((words) => {
    throw new Error(`The bot refused to start:\n${words}`)
  })
  const there = workspace
    .waitFor(() => workspace.sockets.count > 0, within)
    .catch(() => {
      throw new Error(`The bot is not connected after ${within / 1000} s. Its log: ${logFile}`)
    })
  await Promise.race([there, refused])
}

const OURS = /^(SLACK_|REDIS_URL$|COUNTERSIGN_|PORT$)/

const cleaned = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !OURS.test(name)))

function botEnv(slack: { botToken: string; appToken: string; apiUrl: string }, redisUrl: string): NodeJS.ProcessEnv {
  return {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    REDIS_URL: redisUrl,
    COUNTERSIGN_CONFIG: fileURLToPath(new URL("./demo/countersign.yaml", import.meta.url)),
  }
}
