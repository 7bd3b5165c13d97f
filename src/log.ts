/**
 * The log: one JSON line on stdout per entry, without our own secrets and with other people's masked.
 * It knows which values are secret by being told, and nothing of what is logged.
 */
import { type LevelWithSilent, type Logger, pino } from "pino"

export type Log = Logger

export type LogOptions = {
  level: LevelWithSilent
  /** Our own: each is left out wherever it turns up, in keys and stacks too. */
  secrets: readonly string[]
  /** Marks what looks like somebody's secret in one string of an entry. */
  mask: (text: string) => string
  /** Where lines go, each with its line end. */
  out?: { write(line: string): void }
}

const LEFT_OUT = "[secret]"
/** A dummy key such as `none` is no secret, and leaving it out would tear holes into ordinary words. */
const SHORTEST_SECRET = 8

export function createLog({ level, secrets, mask, out }: LogOptions): Log {
  const withoutOurs = leaveOut(secrets)
  const target = out ?? pino.destination({ fd: 1, sync: true })
  // Ours first: a mask that knows half of a secret would leave the other half.
  const stream = { write: (line: string) => target.write(`${masked(withoutOurs(line), mask)}\n`) }
  return pino({ level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, stream)
}

/** The finished line is what counts: whatever way a string took into it, it is masked. */
function masked(line: string, mask: (text: string) => string): string {
  let entry: unknown
  try {
    entry = JSON.parse(line)
  } catch {
    return mask(line.trimEnd())
  }
  return JSON.stringify(entry, (_, value: unknown) => (typeof value === "string" ? mask(value) : value))
}

/** Replaces every secret in a line of JSON, as it is and as JSON or a URL would write it. */
function leaveOut(secrets: readonly string[]): (line: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  // The longest first, or a secret that contains another one would be left half.
  const sorted = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return (line) => sorted.reduce((text, secret) => text.replaceAll(secret, LEFT_OUT), line)
}

/** What Slack's SDK takes as its logger; `Level` is the SDK's own enum. */
export type SdkLog<Level extends string> = {
  debug(...words: unknown[]): void
  info(...words: unknown[]): void
  warn(...words: unknown[]): void
  error(...words: unknown[]): void
  setLevel(level: Level): void
  getLevel(): Level
  setName(name: string): void
}

/**
 * The log in the shape that Slack's SDK wants: strings and errors in a row.
 * The SDK's debug is our trace: it writes whole payloads there, with what people typed. Our own level decides alone.
 */
export function sdkLog<Level extends string>(log: Log): SdkLog<Level> {
  let name = "slack"
  const at =
    (level: "trace" | "info" | "warn" | "error") =>
    (...words: unknown[]): void => {
      const err = words.find((word) => word instanceof Error)
      const text = words.map((word) => (word instanceof Error ? word.message : textOf(word))).join(" ")
      log[level]({ sdk: name, ...(err && { err }) }, text)
    }
  return {
    debug: at("trace"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    setLevel: () => undefined,
    getLevel: () => sdkLevel(log.level) as Level,
    setName: (given) => {
      name = given
    },
  }
}

function sdkLevel(level: string): string {
  if (level === "trace") return "debug"
  if (level === "debug" || level === "info") return "info"
  return level === "warn" ? "warn" : "error"
}

function textOf(word: unknown): string {
  if (typeof word === "string") return word
  try {
    return JSON.stringify(word) ?? "undefined"
  } catch {
    return "[unprintable]"
  }
}
