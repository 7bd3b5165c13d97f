/**
 * The bot's configuration: the environment and countersign.yaml, read once, every fault at once with its remedy.
 * It asks neither Slack nor Redis whether what stands there is true.
 */
import { dirname, resolve } from "node:path"
import { z } from "zod"
import { said } from "./config/forms.ts"
import { isPrivate, settings } from "./config/settings.ts"
import { readYaml } from "./config/yaml.ts"

type Settings = z.output<ReturnType<typeof settings>>

/** All durations are milliseconds; all paths are absolute. */
export type Config = Omit<Settings, "redis"> & {
  /** The configuration file itself. */
  file: string
  redis: Settings["redis"] & { url: string }
  slack: { botToken: string; apiUrl: string; transport: Transport }
  logLevel: LogLevel
}

type Transport = { kind: "socket"; appToken: string } | { kind: "http"; signingSecret: string; port: number }

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const
type LogLevel = (typeof LOG_LEVELS)[number]

// A token is never repeated in a message, not even a wrong one: it may be another's.
const token = (prefix: string, where: string) =>
  z
    .string({ error: `is missing: put the token that begins with ${prefix} (your Slack app's page, ${where})` })
    .regex(new RegExp(`^${prefix}[\\x21-\\x7e]+$`), {
      error: `must begin with ${prefix} and have no blanks (your Slack app's page, ${where})`,
    })

const environment = z.object({
  SLACK_BOT_TOKEN: token("xoxb-", "OAuth & Permissions"),
  SLACK_APP_TOKEN: token("xapp-", "Basic Information, App-Level Tokens").optional(),
  SLACK_SIGNING_SECRET: z
    .string()
    .regex(/^[\x21-\x7e]{8,}$/, { error: "must be the signing secret of your Slack app's page, Basic Information" })
    .optional(),
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, { error: said("a port from 1 to 65535") })
    .transform(Number)
    .refine((port) => port >= 1 && port <= 65_535, { error: said("a port from 1 to 65535") })
    .optional(),
  SLACK_API_URL: z
    .string()
    .refine(isPrivate, { error: said("an https address (http is for this machine alone: 127.0.0.1, localhost)") })
    .transform((url) => (url.endsWith("/") ? url : `${url}/`))
    .prefault("https://slack.com/api/"),
  REDIS_URL: z
    .string()
    .refine(isRedisUrl, { error: "must be an address such as redis://127.0.0.1:6379, or rediss://… with TLS" })
    .prefault("redis://127.0.0.1:6379"),
  COUNTERSIGN_CONFIG: z.string().prefault("./countersign.yaml"),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: said(`one of ${LOG_LEVELS.join(", ")}`) }).prefault("info"),
})

export type Reading =
  | {
      ok: true
      config: Config
      /** Every value that must never be seen outside: tokens, passwords, what `${NAME}` stands for. */
      secrets: string[]
      /** Sentences about what is allowed but probably not meant, such as an empty list of approvers. */
      warnings: string[]
    }
  | {
      ok: false
      /** Whole sentences, each with the place of the fault and its remedy. */
      faults: string[]
    }

/** Reads the environment that is given, and the file that it names. A variable set to nothing counts as not set. */
export function readConfig(env: NodeJS.ProcessEnv): Reading {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""))
  const own = environment.safeParse(set)
  const transport = transportOf(set)
  const file = readFile(set)

  if (own.success && transport.ok && file.ok) {
    const { SLACK_BOT_TOKEN: botToken, SLACK_API_URL: apiUrl, REDIS_URL: url, LOG_LEVEL: logLevel } = own.data
    const redis = { ...file.settings.redis, url }
    const slack = { botToken, apiUrl, transport: transport.of(own.data) }
    const config: Config = { ...file.settings, file: file.path, redis, slack, logLevel }
    return { ok: true, config, secrets: [...secretsOf(own.data), ...file.secrets], warnings: warningsOf(config) }
  }
  const faults = own.success ? [] : own.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`)
  if (!transport.ok) faults.push(transport.fault)
  if (!file.ok) faults.push(...file.faults)
  return { ok: false, faults: faults.map((fault) => (/[.?!]$/.test(fault) ? fault : `${fault}.`)) }
}

type Environment = z.output<typeof environment>

function transportOf(
  env: NodeJS.ProcessEnv,
): { ok: true; of(env: Environment): Transport } | { ok: false; fault: string } {
  const { SLACK_APP_TOKEN, SLACK_SIGNING_SECRET, PORT } = env
  if (SLACK_APP_TOKEN !== undefined && SLACK_SIGNING_SECRET !== undefined) {
    return {
      ok: false,
      fault:
        "SLACK_APP_TOKEN and SLACK_SIGNING_SECRET are both set: keep the first for Socket Mode, the second for HTTP",
    }
  }
  if (SLACK_APP_TOKEN !== undefined) {
    return { ok: true, of: (read) => ({ kind: "socket", appToken: read.SLACK_APP_TOKEN ?? "" }) }
  }
  if (SLACK_SIGNING_SECRET === undefined) {
    return {
      ok: false,
      fault:
        "SLACK_APP_TOKEN is missing: put the token that begins with xapp- (your Slack app's page, Basic Information, App-Level Tokens); or, for HTTP instead of Socket Mode, set SLACK_SIGNING_SECRET and PORT",
    }
  }
  if (PORT === undefined) {
    return {
      ok: false,
      fault: "PORT is missing: with SLACK_SIGNING_SECRET, put the port that Slack's requests come to",
    }
  }
  return {
    ok: true,
    of: (read) => ({ kind: "http", signingSecret: read.SLACK_SIGNING_SECRET ?? "", port: read.PORT ?? 0 }),
  }
}

function readFile(
  env: NodeJS.ProcessEnv,
): { ok: true; path: string; settings: Settings; secrets: string[] } | { ok: false; faults: string[] } {
  const named = env["COUNTERSIGN_CONFIG"] ?? "./countersign.yaml"
  const path = resolve(named)
  const read = readYaml(named)
  if (!read.ok) return read
  const secrets: string[] = []
  const schema = settings({ env, folder: dirname(path), secret: (value) => secrets.push(value) })
  const parsed = schema.safeParse(read.file.data)
  if (parsed.success) return { ok: true, path, settings: parsed.data, secrets }
  const faults = parsed.error.issues
    .map((issue) => {
      const key = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : []
      return { line: read.file.lineOf([...issue.path, ...key]), words: `${placeOf(issue.path)} ${issue.message}` }
    })
    .sort((a, b) => a.line - b.line)
  return { ok: false, faults: faults.map(({ line, words }) => `${named}:${line}: ${words}`) }
}

/** `["approvals", 1, "tool"]` as `approvals[1].tool`. */
function placeOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the file"
  return path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index > 0 ? "." : ""}${String(part)}`))
    .join("")
}

function isRedisUrl(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, pathname } = new URL(address)
  return /^rediss?:$/.test(protocol) && hostname !== "" && /^(\/\d{0,4})?$/.test(pathname)
}

function secretsOf(env: Environment): string[] {
  const { password } = new URL(env.REDIS_URL)
  const values = [env.SLACK_BOT_TOKEN, env.SLACK_APP_TOKEN, env.SLACK_SIGNING_SECRET, password, decoded(password)]
  return [...new Set(values.filter((value) => value !== undefined && value !== ""))] as string[]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function warningsOf(config: Config): string[] {
  const empty = (name: string, effect: string, example: string) =>
    `${name} is empty: ${effect}. List them in ${config.file}, such as ${name}: [ ${example} ].`
  const warnings: string[] = []
  if (config.starters.length === 0) warnings.push(empty("starters", "nobody may start a run", "U0123, S0ENG"))
  if (config.channels.length === 0) warnings.push(empty("channels", "a run may be started nowhere", "C0OPS"))
  // A rule with `confirm` needs nobody but the requester.
  const needsApprovers = config.approvals.some(
    (rule) => rule.do === "ask" && !rule.approvers && (rule.selfApproval ?? config.selfApproval) !== "confirm",
  )
  const asksUnmatched = config.selfApproval !== "confirm" && !config.approvals.some((rule) => rule.tool === "*")
  if (config.approvers.length === 0 && (needsApprovers || asksUnmatched)) {
    warnings.push(empty("approvers", "nobody may approve, and what is asked expires", "S0SRE"))
  }
  return warnings
}
