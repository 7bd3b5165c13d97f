/**
 * Everything that can be wrong with what the bot is given (tokens, scopes, channels, people, tools, rules, Redis), all at
 * once and each with its remedy. It changes nothing, neither in Slack nor in Redis; what couldn't be looked at is a warning.
 */
import type { Tool } from "./agent/tool.ts"
import { asker } from "./check/ask.ts"
import { type Finding, judge, listsOf } from "./check/lists.ts"
import { checkLive } from "./check/live.ts"
import { checkManifest } from "./check/manifest.ts"
import { checkPlaces } from "./check/places.ts"
import { findPrincipals } from "./check/principals.ts"
import { checkRedis } from "./check/redis.ts"
import { fault, type Report, together } from "./check/report.ts"
import { checkApprovable, checkRules } from "./check/rules.ts"
import { checkAppToken, checkBotToken, checkSameApp } from "./check/tokens.ts"
import type { Config, Reading } from "./config.ts"
import { loadTools } from "./tools/modules.ts"

export type { Report } from "./check/report.ts"

export interface CheckOptions {
  /** Whether Slack shall judge one message of every kind. */
  live?: boolean
}

/** What was found, and the tools that were loaded on the way. */
export async function check(reading: Reading, options: CheckOptions = {}): Promise<Report & { tools: Tool[] }> {
  if (!reading.ok) return { ...fault(...reading.faults), tools: [] }
  const { config, warnings } = reading
  const [loaded, slack, appToken, redis] = await Promise.all([
    loadTools(config.tools),
    checkSlack(config, options),
    checkAppToken(config),
    checkRedis(config),
  ])
  const tools = loaded.ok ? loaded.tools : []
  const names = tools.map(({ name }) => name)
  const report = together(
    { faults: [], warnings },
    appToken,
    slack.report,
    checkManifest(config),
    loaded.ok ? checkRules(config.approvals, names) : fault(...loaded.faults),
    checkApprovable(config, names, slack.findings),
    redis,
  )
  return { ...report, tools }
}

async function checkSlack(
  config: Config,
  { live = false }: CheckOptions,
): Promise<{ report: Report; findings: Map<string, Finding> }> {
  const client = asker(config.slack.botToken, config.slack.apiUrl)
  const { report, bot } = await checkBotToken(client, config)
  if (!bot) return { report, findings: new Map() }
  const lists = listsOf(config)
  const [sameApp, places, findings, judged] = await Promise.all([
    checkSameApp(client, config, bot),
    checkPlaces(client, config, bot),
    findPrincipals(
      client,
      bot,
      lists.flatMap(({ ids }) => ids),
    ),
    live ? checkLive(client) : together(),
  ])
  return { report: together(report, sameApp, places, judge(lists, findings), judged), findings }
}
