/**
 * What the bot takes from its environment: one zod object, and what of it belongs together. Reads the variables it is
 * given, and repeats none of their values that may be a secret.
 */
import { z } from "zod"
import { addressOf } from "../store/address.ts"
import { said } from "./forms.ts"
import { isPrivate } from "./references.ts"

export type Transport = { kind: "socket"; appToken: string } | { kind: "http"; signingSecret: string; port: number }

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

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
    .refine((url) => addressOf(url) !== undefined, {
      error:
        "must be an address such as redis://127.0.0.1:6379, or rediss://… with TLS; for a cluster or sentinels redis://host:port,host:port,…",
    })
    .prefault("redis://127.0.0.1:6379"),
  REDIS_SENTINEL_PASSWORD: z.string().optional(),
  COUNTERSIGN_KEY: z
    .string()
    // Never repeated in a message, not even a wrong one.
    .refine((text) => keyOf(text) !== undefined, {
      error: "must be 32 bytes in base64 or hex: make one with: openssl rand -base64 32",
    })
    .optional(),
  COUNTERSIGN_CONFIG: z.string().prefault("./countersign.yaml"),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: said(`one of ${LOG_LEVELS.join(", ")}`) }).prefault("info"),
})

/** The bytes of a key as people write it; undefined where it is none. */
function keyOf(text: string): Buffer | undefined {
  const spelled = text.trim()
  if (/^[0-9a-f]{64}$/i.test(spelled)) return Buffer.from(spelled, "hex")
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(spelled) ? Buffer.from(spelled, "base64") : undefined
}

type Environment = z.output<typeof environment>

/** What is undefined isn't known: it is missing or wrong. */
export interface KnownEnvironment {
  slack: {
    botToken: string | undefined
    /** Ends in a slash. */
    apiUrl: string | undefined
    appToken: string | undefined
    /** Whether Slack's requests come over HTTP. */
    http: boolean | undefined
  }
  redisUrl: string | undefined
  sentinelPassword: string | undefined
  /** Whether COUNTERSIGN_KEY is set, be it right or wrong. */
  hasKey: boolean
  /** Where Slack's requests come to, if they come over HTTP. */
  port: number | undefined
}

export interface EnvironmentRead {
  known: KnownEnvironment
  /** Sentences, without a full stop. */
  faults: string[]
  /** When there are no faults. */
  values?: {
    slack: { botToken: string; apiUrl: string; transport: Transport }
    redisUrl: string
    sentinelPassword: string | undefined
    /** 32 bytes. */
    key: Buffer | undefined
    logLevel: LogLevel
    secrets: string[]
  }
}

/** `set` holds the variables that are set to something. */
export function readEnvironment(set: NodeJS.ProcessEnv): EnvironmentRead {
  const own = environment.safeParse(set)
  const transport = transportOf(set)
  const known = knownOf(set)
  if (own.success && transport.ok) {
    const { SLACK_BOT_TOKEN: botToken, SLACK_API_URL: apiUrl, REDIS_URL: redisUrl, LOG_LEVEL: logLevel } = own.data
    const slack = { botToken, apiUrl, transport: transport.of(own.data) }
    const sentinelPassword = own.data.REDIS_SENTINEL_PASSWORD
    const key = keyOf(own.data.COUNTERSIGN_KEY ?? "")
    const secrets = secretsOf(own.data)
    return { known, faults: [], values: { slack, redisUrl, sentinelPassword, key, logLevel, secrets } }
  }
  const faults = own.success ? [] : own.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`)
  return { known, faults: transport.ok ? faults : [...faults, transport.fault] }
}

function knownOf(set: NodeJS.ProcessEnv): KnownEnvironment {
  const { SLACK_BOT_TOKEN, SLACK_API_URL, SLACK_APP_TOKEN, REDIS_URL } = environment.shape
  const socket = set["SLACK_APP_TOKEN"] !== undefined
  const http = set["SLACK_SIGNING_SECRET"] !== undefined
  return {
    slack: {
      botToken: SLACK_BOT_TOKEN.safeParse(set["SLACK_BOT_TOKEN"]).data,
      apiUrl: SLACK_API_URL.safeParse(set["SLACK_API_URL"]).data,
      appToken: SLACK_APP_TOKEN.safeParse(set["SLACK_APP_TOKEN"]).data,
      http: socket === http ? undefined : http,
    },
    redisUrl: REDIS_URL.safeParse(set["REDIS_URL"]).data,
    sentinelPassword: set["REDIS_SENTINEL_PASSWORD"],
    hasKey: set["COUNTERSIGN_KEY"] !== undefined,
    port: http ? environment.shape.PORT.safeParse(set["PORT"]).data : undefined,
  }
}

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

function secretsOf(env: Environment): string[] {
  const { password = "" } = addressOf(env.REDIS_URL) ?? {}
  const { SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_SIGNING_SECRET, REDIS_SENTINEL_PASSWORD } = env
  // As it stands in the url, too: that is how a careless line would show it.
  const written = /^rediss?:\/\/[^:@]*:(.*)@/.exec(env.REDIS_URL)?.[1]
  const { COUNTERSIGN_KEY } = env
  const key = keyOf(COUNTERSIGN_KEY ?? "")
  const spelled = [COUNTERSIGN_KEY?.trim(), key?.toString("base64"), key?.toString("base64url"), key?.toString("hex")]
  const tokens = [SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_SIGNING_SECRET]
  const values = [...tokens, REDIS_SENTINEL_PASSWORD, password, written, ...spelled]
  return [...new Set(values.filter((value) => value !== undefined && value !== ""))] as string[]
}
