/**
 * Everything that can be wrong with what the bot is given (tokens, scopes, channels, people, tools, rules, Redis), all at
 * once and each with its remedy. It changes nothing, neither in Slack nor in Redis; what couldn't be looked at is a warning.
 */
import type { Tool } from "./agent/tool.ts"
import { checkAgents } from "./check/agents.ts"
import { asker } from "./check/ask.ts"
import { type Finding, judge, listsOf } from "./check/lists.ts"
import { checkApprovable, checkEnough } from "./check/enough.ts"
import { checkLive } from "./check/live.ts"
import { checkManifest } from "./check/manifest.ts"
import { checkModel } from "./check/model.ts"
import { checkPlaces } from "./check/places.ts"
import { findPrincipals } from "./check/principals.ts"
import { checkRedis } from "./check/redis.ts"
import { fault, outage, plain, type Report, together } from "./check/report.ts"
import { checkRules } from "./check/rules.ts"
import { checkServers } from "./check/servers.ts"
import { checkSignInNames } from "./check/sign-ins.ts"
import { checkAppToken, checkBotToken, checkSameApp } from "./check/tokens.ts"
import type { Known, Reading } from "./config.ts"
import { loadTools, type LoadedTools } from "./tools/modules.ts"

export type { Report } from "./check/report.ts"

export interface CheckOptions {
  /** Whether Slack shall judge one message of every kind. */
  live?: boolean
  /** Whether the MCP servers shall be asked for their tools: each is started for that, and ended again. */
  servers?: boolean
}

/** What was found, and the tools that were loaded on the way. Whatever could be read is looked at, also when something else could not. */
export async function check(reading: Reading, options: CheckOptions = {}): Promise<Report & { tools: Tool[] }> {
  const { known } = reading
  const loading = loadTools(known.tools.items, known.httpTools.items)
  const [loaded, servers, model, slack, appToken, redis] = await Promise.all([
    loading,
    serversOf(reading, options, loading),
    checkModel(reading),
    checkSlack(known, options),
    checkAppToken(known),
    checkRedis(known),
  ])
  const own = known.tools.whole && known.httpTools.whole ? loaded.names : undefined
  const names = own && servers.names && [...own, ...servers.names]
  const report = together(
    { faults: reading.faults, outages: [], warnings: reading.warnings },
    appToken,
    slack.report,
    checkManifest(known),
    loaded.ok ? together() : fault(...loaded.faults),
    model,
    servers.report,
    checkSignInNames(known, loaded.names),
    checkRules(known, names, { mayChange: servers.any }),
    checkApprovable(known, [...(loaded.names ?? []), ...(servers.names ?? [])], slack.findings),
    checkEnough(known, slack.findings),
    checkAgents(reading, names, slack.findings),
    redis,
  )
  return { ...report, tools: loaded.ok ? loaded.tools : [] }
}

/** What MCP servers there are; their tools' names, where they were asked and all of them answered. */
async function serversOf(
  reading: Reading,
  { servers = false }: CheckOptions,
  loading: Promise<LoadedTools>,
): Promise<{ report: Report; names: string[] | undefined; any: boolean }> {
  const configured = reading.known.mcpServers?.servers.filter(({ disabled }) => !disabled)
  if (configured?.length === 0) return { report: together(), names: [], any: false }
  if (!servers || !reading.ok) return { report: together(), names: undefined, any: true }
  const { names: taken = [] } = await loading
  return { ...(await checkServers(reading.config, { taken, secrets: reading.secrets })), any: true }
}

/** Why a port can't be listened on, by the system's word for it. */
const NO_PORT: Record<string, string> = {
  EACCES: "may not be used by this user",
  EADDRNOTAVAIL: "is wanted at an address that this machine doesn't have",
}

function noPort(reading: Reading, port: number | undefined, why: string): Report {
  const isPages = reading.ok && port !== undefined && port === reading.config.signIn?.port
  const [name, comes] = isPages
    ? [reading.known.at(["signIn", "port"]), "people's browsers"]
    : ["PORT", "Slack's requests"]
  return fault(`${name} ${port ?? ""} ${why}: put another one, and let ${comes} come there.`)
}

/**
 * Why a bot that had nothing wrong couldn't be started: what keeps it is looked for once more, since it came between. What
 * nobody can find any more is told in the words of the error.
 */
export async function checkAgain(reading: Reading, error: unknown): Promise<Report> {
  const { message, code, syscall, port } = error as { message?: string; code?: string; syscall?: string; port?: number }
  if (syscall === "listen") return noPort(reading, port, NO_PORT[code ?? ""] ?? "is taken by another program")
  const { faults, outages } = await check(reading)
  if (faults.length + outages.length > 0) return { faults, outages, warnings: [] }
  const words = plain(message ?? String(error)).replace(/[.\s]+$/, "")
  return outage(`${words}. There is nothing else wrong now: start it again.`)
}

async function checkSlack(
  known: Known,
  { live = false }: CheckOptions,
): Promise<{ report: Report; findings: Map<string, Finding> }> {
  const { botToken, apiUrl } = known.slack
  if (botToken === undefined || apiUrl === undefined) return { report: together(), findings: new Map() }
  const client = asker(botToken, apiUrl)
  const { report, bot } = await checkBotToken(client, known, apiUrl)
  if (!bot) return { report, findings: new Map() }
  const lists = listsOf(known)
  const [sameApp, places, findings, judged] = await Promise.all([
    checkSameApp(client, known, bot),
    checkPlaces(client, known, bot),
    findPrincipals(
      client,
      bot,
      lists.flatMap(({ ids }) => ids),
    ),
    live ? checkLive(client) : together(),
  ])
  return { report: together(report, sameApp, places, judge(lists, findings), judged), findings }
}
