/**
 * One question to Slack, and in words why there is no answer to it. Knows no method's meaning.
 */
import {
  type Logger,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  type WebClient,
} from "@slack/web-api"
import { slackClient } from "../slack/client.ts"
import { plain } from "./report.ts"

export type Answered<T> = { ok: true; value: T } | Unanswered

export interface Unanswered {
  ok: false
  /**
   * refused: Slack's own no, with its code. passing: Slack can't just now. unreachable: nobody answered. foreign: somebody
   * did who isn't Slack.
   */
  kind: "refused" | "passing" | "unreachable" | "foreign"
  /** Slack's error code, where it gave one. */
  code: string
  /** The reason, as the end of a sentence without its full stop. */
  why: string
  /** What Slack says is wrong about the arguments, one sentence each. */
  details?: string[]
  /** Seconds after which to ask again, where Slack says it. */
  retryAfter?: number
}

/** ms that one question may take. */
const PATIENCE = 10_000
/** Codes that say nothing about what was asked (docs.slack.dev, any method's "Errors"). */
const PASSING = new Set(["internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited"])

export const asker = (token: string, apiUrl: string): WebClient =>
  slackClient({ token, apiUrl, timeout: PATIENCE, logger: silent })

/** Whatever goes wrong is told in the report; the client's own log would say it a second time, on stderr. */
const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
}

export async function ask<T>(question: () => Promise<T>): Promise<Answered<T>> {
  try {
    return { ok: true, value: await question() }
  } catch (error) {
    return unanswered(error)
  }
}

function unanswered(error: unknown): Unanswered {
  if (error instanceof WebAPIPlatformError) return refused({ ...error.data })
  if (error instanceof WebAPIRateLimitedError) {
    const { retryAfter } = error
    return { ok: false, kind: "passing", code: "ratelimited", why: "Slack wants fewer questions now", retryAfter }
  }
  if (error instanceof WebAPIHTTPError) {
    const kind = error.statusCode >= 500 ? "passing" : "foreign"
    return { ok: false, kind, code: "", why: `it answered with HTTP ${error.statusCode}` }
  }
  return { ok: false, kind: "unreachable", code: "", why: plain(rootOf(error)) }
}

function refused(data: Readonly<Record<string, unknown>>): Unanswered {
  const code = textOf(data["error"])
  // A proxy's page comes as an "error", too.
  if (!/^[a-z0-9_]+$/.test(code)) return { ok: false, kind: "foreign", code: "", why: "what answers isn't Slack" }
  if (code === "missing_scope") {
    return { ok: false, kind: "refused", code, why: `the bot lacks the scope ${textOf(data["needed"])}` }
  }
  const details = detailsOf(data["errors"])
  return { ok: false, kind: PASSING.has(code) ? "passing" : "refused", code, why: `Slack says "${code}"`, details }
}

const textOf = (value: unknown): string => (typeof value === "string" ? plain(value) : "")

/** They come as texts, or as objects that point into the payload. */
function detailsOf(errors: unknown): string[] {
  if (!Array.isArray(errors)) return []
  return errors.map((error: unknown) => {
    if (typeof error !== "object" || error === null) return textOf(error)
    const pointer = "pointer" in error ? textOf(error.pointer) : ""
    return `${"message" in error ? textOf(error.message) : ""}${pointer === "" ? "" : ` at ${pointer}`}`
  })
}

/** The words of what lies at the bottom: a failed fetch says only that it failed. */
function rootOf(error: unknown): string {
  if (error instanceof WebAPIRequestError) return rootOf(error.original)
  if (!(error instanceof Error)) return String(error)
  if (error.name === "TimeoutError" || error.name === "AbortError") return `no answer within ${PATIENCE / 1000} s`
  return error.cause instanceof Error ? rootOf(error.cause) : error.message || error.name
}
