/**
 * Who the bot's token belongs to, and how Slack's own libraries may speak in our log. Knows no run and no message.
 */
import { LogLevel, type Logger, type WebClient } from "@slack/web-api"

/** What the Slack side needs of a log (pino's shape). */
export interface Log {
  info(fields: object, words: string): void
  warn(fields: object, words: string): void
  error(fields: object, words: string): void
}

/** The workspace that the bot lives in, and the bot there. */
export interface Home {
  team: string
  enterprise?: string
  botUser: string
  bot: string
}

/** Asks Slack whose token this is (auth.test). Throws the client's error when it is nobody's, or Slack can't be reached. */
export async function identify(client: WebClient): Promise<Home> {
  const { team_id: team, enterprise_id: enterprise, user_id: botUser, bot_id: bot } = await client.auth.test()
  if (team === undefined || botUser === undefined || bot === undefined) {
    throw new Error("auth.test names no bot: SLACK_BOT_TOKEN must be the bot's token (xoxb-…)")
  }
  return { team, ...(enterprise ? { enterprise } : {}), botUser, bot }
}

/** Slack's libraries log whole payloads at debug level, with tokens and people's words in them: that level stays closed. */
export function slackLogger(log: Log): Logger {
  const words = (parts: unknown[]): string =>
    parts.map((part) => (part instanceof Error ? part.message : String(part))).join(" ")
  return {
    debug: () => undefined,
    info: (...parts: unknown[]) => log.info({ from: "slack library" }, words(parts)),
    warn: (...parts: unknown[]) => log.warn({ from: "slack library" }, words(parts)),
    error: (...parts: unknown[]) => log.error({ from: "slack library" }, words(parts)),
    setLevel: () => undefined,
    getLevel: () => LogLevel.INFO,
    setName: () => undefined,
  }
}
