/**
 * Clients of Slack's Web API, and whom the bot's token belongs to. A client of ours waits seconds, calls once and hands a
 * 429 back: what comes next is for whoever called to decide. Knows no method's meaning.
 */
import { WebClient, type Logger } from "@slack/web-api"

/** The part of the log that is used here. */
export interface Log {
  info(about: object, words: string): void
  warn(about: object, words: string): void
  error(about: object, words: string): void
}

/** The workspace that the bot lives in, and the bot there. */
export interface Home {
  team: string
  enterprise?: string
  botUser: string
  bot: string
  /** What the workspace is called. */
  name?: string
}

export interface ClientOptions {
  token: string
  /** Ends in a slash. */
  apiUrl: string
  /** Slack's own logger shape, see `sdkLog`. */
  logger?: Logger
  /** ms that one call may take. */
  timeout?: number
}

/** The library's own defaults are no time-out, ten retries, and a queue that stands still after a 429. */
export function slackClient({ token, apiUrl, logger, timeout = 3000 }: ClientOptions): WebClient {
  return new WebClient(token, {
    slackApiUrl: apiUrl,
    timeout,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    ...(logger ? { logger } : {}),
  })
}

/** Asks Slack whose token this is (auth.test). Throws the client's error when it is nobody's, or Slack can't be reached. */
export async function identify(client: WebClient): Promise<Home> {
  const {
    team_id: team,
    enterprise_id: enterprise,
    user_id: botUser,
    bot_id: bot,
    team: name,
  } = await client.auth.test()
  if (team === undefined || botUser === undefined || bot === undefined) {
    throw new Error("auth.test names no bot: SLACK_BOT_TOKEN must be the bot's token (xoxb-…)")
  }
  return { team, ...(enterprise ? { enterprise } : {}), botUser, bot, ...(name ? { name } : {}) }
}
