/**
 * Whether the tokens are what they should be: of the right kind, alive, of one app, with the scopes that the bot needs.
 */
import type { WebClient } from "@slack/web-api"
import type { Known } from "../config.ts"
import type { Home } from "../slack/client.ts"
import { ask, asker, type Unanswered } from "./ask.ts"
import { fault, outage, plain, type Report, together, warning } from "./report.ts"
import { checkScopes } from "./scopes.ts"

export interface Bot extends Home {
  /** What people type after the @. */
  name: string
  /** Undefined when Slack doesn't say. */
  scopes: ReadonlySet<string> | undefined
}

/** The bot that the token belongs to; undefined when nothing can be asked with the token. */
export async function checkBotToken(
  client: WebClient,
  known: Known,
  apiUrl: string,
): Promise<{ report: Report; bot?: Bot }> {
  const answer = await ask(() => client.auth.test())
  if (!answer.ok) return { report: botTokenReport(answer, apiUrl) }
  const found = botOf(answer.value)
  return "bot" in found ? { report: checkScopes(found.bot.scopes, known), ...found } : { report: fault(found.wrong) }
}

function botOf(identity: Awaited<ReturnType<WebClient["auth"]["test"]>>): { bot: Bot } | { wrong: string } {
  const { team_id: team, user_id: botUser, bot_id: bot, enterprise_id: enterprise, user, response_metadata } = identity
  if (bot === undefined || botUser === undefined) {
    return { wrong: `SLACK_BOT_TOKEN belongs to a person, not to a bot: ${WHERE.bot}.` }
  }
  if (team === undefined || identity.is_enterprise_install === true) {
    const words = "SLACK_BOT_TOKEN is of an installation for a whole organisation: install the app into one workspace"
    return { wrong: `${words} and put that installation's token.` }
  }
  const scopes = response_metadata?.scopes
  const name = plain(user ?? "")
  return {
    bot: {
      team,
      botUser,
      bot,
      ...(enterprise ? { enterprise } : {}),
      name: name === "" ? "the bot" : name,
      scopes: scopes && new Set(scopes),
    },
  }
}

/** The token that opens Socket Mode. */
export async function checkAppToken({ slack: { appToken, apiUrl } }: Known): Promise<Report> {
  if (appToken === undefined || apiUrl === undefined) return together()
  const client = asker(appToken, apiUrl)
  const answer = await ask(() => client.apps.connections.open())
  if (answer.ok) return together()
  if (answer.kind === "unreachable" || answer.kind === "foreign") return unanswered(answer, apiUrl)
  if (answer.kind === "passing") return warning(`SLACK_APP_TOKEN couldn't be checked: ${answer.why}.`)
  if (answer.code === "missing_scope") return fault(`SLACK_APP_TOKEN lacks connections:write: ${WHERE.app}.`)
  return fault(`SLACK_APP_TOKEN ${TOKEN_WORDS[answer.code] ?? `is refused: ${answer.why}`}: ${WHERE.app}.`)
}

/** The two tokens must be of one app, or its interactions go to a line that nobody listens to. */
export async function checkSameApp(client: WebClient, { slack }: Known, bot: Bot): Promise<Report> {
  // The app's id stands in its token; a stand-in's token may look otherwise.
  const ofAppToken = /^xapp-\d-(A[A-Z0-9]{6,})-/.exec(slack.appToken ?? "")?.[1]
  if (ofAppToken === undefined) return together()
  const answer = await ask(() => client.bots.info({ bot: bot.bot }))
  const ofBotToken = answer.ok ? answer.value.bot?.app_id : undefined
  if (ofBotToken === undefined || ofBotToken === ofAppToken) return together()
  const words = `SLACK_APP_TOKEN is of the app ${ofAppToken}, SLACK_BOT_TOKEN of ${plain(ofBotToken)}`
  return fault(`${words}: put the tokens of one app.`)
}

const WHERE = {
  bot: "put the token that begins with xoxb- (your Slack app's page, OAuth & Permissions)",
  app: "make one with connections:write (your Slack app's page, Basic Information, App-Level Tokens)",
}

const TOKEN_WORDS: Record<string, string> = {
  not_authed: "is not known to Slack",
  invalid_auth: "is not known to Slack",
  not_allowed_token_type: "is a token of another kind",
  token_revoked: "was revoked",
  account_inactive: "was revoked, or the app was removed from the workspace",
  token_expired: "has expired (token rotation is on, which the bot can't do; an app of manifest.yml has it off)",
}

function botTokenReport(answer: Unanswered, apiUrl: string): Report {
  if (answer.kind !== "refused") return unanswered(answer, apiUrl)
  const words = TOKEN_WORDS[answer.code] ?? `is refused: ${answer.why}`
  return fault(`SLACK_BOT_TOKEN ${words}: ${WHERE.bot}.`)
}

function unanswered({ kind, why, retryAfter }: Unanswered, apiUrl: string): Report {
  if (kind === "passing") {
    const wait = retryAfter === undefined ? "try again in a minute" : `try again in ${retryAfter} s`
    return outage(
      `Slack at ${apiUrl} can't answer just now (${why}): ${wait}; https://slack-status.com tells of its outages.`,
    )
  }
  const words = `Slack can't be reached at ${apiUrl} (${why}): see that this machine may connect there, and that SLACK_API_URL is right.`
  return kind === "foreign" ? fault(words) : outage(words)
}
