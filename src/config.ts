/**
 * The bot's configuration: the environment and countersign.yaml, read once, every fault at once with its remedy.
 * It asks neither Slack nor Redis whether what stands there is true.
 */
import { dirname, resolve } from "node:path"
import type { z } from "zod"
import { type KnownEnvironment, type LogLevel, readEnvironment, type Transport } from "./config/environment.ts"
import { isTheFiles, withWholeModels } from "./config/agents.ts"
import { alike } from "./config/forms.ts"
import { knownOf, type KnownSettings } from "./config/known.ts"
import { wrongSignIn } from "./config/oauth.ts"
import { settings } from "./config/settings.ts"
import { warningsOf } from "./config/warnings.ts"
import { readYaml, type YamlFile } from "./config/yaml.ts"
import { type Address, addressOf, type Server } from "./store/address.ts"

type Settings = z.output<ReturnType<typeof settings>>

/** All durations are milliseconds; all paths are absolute. */
export type Config = Omit<Settings, "redis"> & {
  /** The configuration file itself. */
  file: string
  redis: Settings["redis"] & Server
  slack: { botToken: string; apiUrl: string; transport: Transport }
  /** What is kept for people is encrypted under it: 32 bytes. */
  key: Buffer | undefined
  logLevel: LogLevel
}

/** What could be read, also when something else is wrong. */
export type Known = KnownSettings &
  KnownEnvironment & {
    /** The configuration file, whether it could be read or not. */
    file: string
    /** Where a setting stands, as the beginning of a sentence: `./countersign.yaml:12: approvals[0]`. */
    at: (path: readonly PropertyKey[]) => string
  }

export type Reading = {
  known: Known
  /** Whole sentences, each with the place of the fault and its remedy. */
  faults: string[]
  /** What the file says, when all of it could be read, whatever the environment lacks. */
  settings: Settings | undefined
  /** Sentences about what is allowed but probably not meant, such as an empty list of approvers. */
  warnings: string[]
} & (
  | {
      ok: true
      config: Config
      /** Every value that must never be seen outside: tokens, passwords, what `${NAME}` stands for. */
      secrets: string[]
    }
  | { ok: false }
)

/** Reads the environment that is given, and the file that it names. A variable set to nothing counts as not set. */
export function readConfig(env: NodeJS.ProcessEnv): Reading {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""))
  const own = readEnvironment(set)
  const file = readFile(set)
  const faults = [...own.faults, ...file.faults].map((fault) => (/[.?!]$/.test(fault) ? fault : `${fault}.`))
  const known = { ...file.known, ...own.known, file: file.path, at: file.at }
  faults.push(...wrongPlace(known), ...wrongSignIn(known))
  const read = { known, faults, settings: file.settings, warnings: warningsOf(file.known, file.path, file.at) }
  if (!own.values || !file.settings || faults.length > 0) return { ok: false, ...read }
  const { slack, redisUrl: url, sentinelPassword, key, logLevel, secrets } = own.values
  const redis = { ...file.settings.redis, url, sentinelPassword }
  const config = { ...file.settings, file: file.path, redis, slack, key, logLevel }
  return { ok: true, ...read, config, secrets: [...new Set([...secrets, ...file.secrets])] }
}

/** What the url and the file say of where Redis is, and can't both mean. */
function wrongPlace({ redisUrl, redis, at, sentinelPassword }: Known): string[] {
  const address = redisUrl === undefined ? undefined : addressOf(redisUrl)
  if (!address || redis.cluster === undefined) return []
  const place = at(["redis", "sentinel"])
  return redis.cluster
    ? wrongCluster(address, redis.sentinel, place)
    : wrongServers(address, redis.sentinel, sentinelPassword)
}

function wrongCluster({ db }: Address, sentinel: string | undefined, place: string): string[] {
  return [
    ...(sentinel === undefined
      ? []
      : [`${place} can't be said beside redis.cluster: a cluster needs no sentinels. Keep one.`]),
    ...(db === 0 ? [] : [`REDIS_URL names database ${db}, but a cluster has database 0 alone: leave out the /${db}.`]),
  ]
}

function wrongServers({ hosts }: Address, sentinel: string | undefined, password: string | undefined): string[] {
  if (sentinel !== undefined) return []
  const several = `REDIS_URL names ${hosts.length} addresses, but not what they are: put "redis: { cluster: true }" into the file for the nodes of a Redis Cluster, or "redis: { sentinel: mymaster }" for sentinels.`
  const nobodys =
    'REDIS_SENTINEL_PASSWORD is set, but the file names no sentinels: put "redis: { sentinel: mymaster }", or unset it.'
  return [...(hosts.length > 1 ? [several] : []), ...(password === undefined ? [] : [nobodys])]
}

interface FileRead {
  path: string
  known: KnownSettings
  at: Known["at"]
  /** Without a full stop. */
  faults: string[]
  /** When there are no faults. */
  settings?: Settings
  secrets: string[]
}

function readFile(env: NodeJS.ProcessEnv): FileRead {
  const named = env["COUNTERSIGN_CONFIG"] ?? "./countersign.yaml"
  const path = resolve(named)
  const { file: raw, faults } = readYaml(named)
  const file = raw && { ...raw, data: withWholeModels(raw.data) }
  const secrets: string[] = []
  const schema = settings({ env, folder: dirname(path), secret: (value) => secrets.push(value) })
  const at: Known["at"] = (place) => `${named}:${file?.lineOf(place) ?? 1}: ${placeOf(place)}`
  const read = { path, known: knownOf(schema, file), at, secrets }
  if (!file) return { ...read, faults }
  const parsed = schema.safeParse(file.data)
  if (parsed.success && faults.length === 0) return { ...read, faults, settings: parsed.data }
  return { ...read, faults: [...faults, ...wrongSettings(parsed.error?.issues ?? [], raw ?? file, named)] }
}

/** In the order of the file. What seems to be missing isn't when it may be what could not be read. */
function wrongSettings(issues: readonly z.core.$ZodIssue[], file: YamlFile, named: string): string[] {
  return issues
    .filter(({ path }) => !isTheFiles(path, file.data))
    .filter(({ path }) => valueAt(file.data, path) !== undefined || !mayBeMeant(path, issues, file))
    .map((issue) => {
      const key = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : []
      return { line: file.lineOf([...issue.path, ...key]), words: `${placeOf(issue.path)} ${issue.message}` }
    })
    .sort((a, b) => a.line - b.line)
    .map(({ line, words }) => `${named}:${line}: ${words}`)
}

/** Whether the setting that is missing at `path` may be there: behind a mistake of the file's form, or under a key that was mistyped. */
function mayBeMeant(path: readonly PropertyKey[], issues: readonly z.core.$ZodIssue[], file: YamlFile): boolean {
  const key = String(path.at(-1))
  if (path.length === 1 && (!file.whole || file.unread.has(key))) return true
  const around = placeOf(path.slice(0, -1))
  return issues.some(
    (other) =>
      other.code === "unrecognized_keys" &&
      placeOf(other.path) === around &&
      other.keys.some((typed) => alike(typed, key)),
  )
}

function valueAt(data: unknown, [key, ...rest]: readonly PropertyKey[]): unknown {
  if (key === undefined || typeof data !== "object" || data === null) return data
  return valueAt(Object.hasOwn(data, key) ? data[key as keyof typeof data] : undefined, rest)
}

/** `["approvals", 1, "tool"]` as `approvals[1].tool`. */
function placeOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the file"
  return path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index > 0 ? "." : ""}${String(part)}`))
    .join("")
}
