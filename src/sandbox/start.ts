/**
 * The whole of Countersign on one machine: a Redis of its own, the local Slack with its page, and the very bot that
 * `countersign start` runs, as a process of its own so that it can be killed. Ignores the environment's tokens and Redis.
 */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { openSync } from "node:fs"
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { needRedis, startRedis } from "./redis.ts"
import { startSlack } from "./slack.ts"

export interface SandboxOptions {
  /** Where its data go; emptied at each start, as the local Slack forgets everything too. */
  dir: string
  /** The page's port; 0 takes a free one. */
  port: number
  /** The program that starts the bot, with its arguments. */
  bot: readonly [string, ...string[]]
  /** Says one line to whoever started it. */
  say: (line: string) => void
  /** What the bot's process inherits. */
  env: NodeJS.ProcessEnv
}

export interface Sandbox {
  url: string
  stop(): Promise<void>
}

/** How long the bot may take to end in order, ms. */
const STOP_WITHIN = 15_000
const RESTART_AFTER = 1000

/** Starts it; resolves when the bot is connected. Rejects with what to do when there is no Redis to be had. */
export async function startSandbox({ dir, port, bot, say, env }: SandboxOptions): Promise<Sandbox> {
  const need = await needRedis()
  if (!need.ok) throw new Error(need.fault)
  await rm(dir, { recursive: true, force: true })
  await mkdir(dir, { recursive: true })
  const redis = await startRedis(need.program, { dir: join(dir, "redis") })
  const slack = await startSlack({ port, pageDir: new URL("./page/", import.meta.url) })
  const logFile = join(dir, "bot.log")
  const log = openSync(logFile, "a")
  let stopping = false
  let child: ChildProcess | undefined

  const launch = (): void => {
    const [program, ...args] = bot
    child = spawn(program, args, {
      stdio: ["ignore", log, log],
      // A group of its own: at a terminal Ctrl-C reaches us alone, and we end it in order.
      detached: true,
      env: { ...cleaned(env), ...botEnv(slack, redis.url) },
    })
    child.once("exit", (code, signal) => {
      if (stopping) return
      say(`The bot ended (${signal ?? `exit ${code}`}); it starts again in a second. Its log: ${logFile}`)
      setTimeout(() => !stopping && launch(), RESTART_AFTER)
    })
  }
  launch()
  say(`Log of the bot: ${logFile}`)
  return {
    url: slack.url,
    async stop() {
      stopping = true
      if (child) await endOf(child)
      await slack.close()
      await redis.stop()
    },
  }
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

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  const hard = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN)
  await ended
  clearTimeout(hard)
}
