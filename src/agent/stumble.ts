/**
 * What went wrong when a model was asked: whether asking again may help, and words that a person understands.
 * Reads errors; shows no stack, no key and no address that holds one.
 */
import { APICallError } from "@ai-sdk/provider"
import { isRecord } from "../core/json.ts"
import { mask } from "../core/mask.ts"

export interface Stumble {
  ok: false
  retryable: boolean
  /** How long the provider asks us to wait, ms. */
  retryAfterMs?: number
  words: string
  /** The conversation has more tokens than the model reads at once. */
  tooLong?: true
  /** We were told to stop; nothing is wrong with the model. */
  aborted?: true
}

/** `model`: its name, for the words. */
export function stumbleOf(error: unknown, model: string): Stumble {
  if (APICallError.isInstance(error)) return ofCall(error, model)
  if (isTimeout(error)) return { ok: false, retryable: true, words: "the model did not answer in time" }
  const streamed = ofStatus(statusOf(undefined, error), messageOf(error), model)
  if (streamed !== undefined) return streamed
  const code = networkCode(error)
  if (code !== undefined) return { ok: false, retryable: true, words: `the model's server can't be reached (${code})` }
  return { ok: false, retryable: true, words: `the model's answer could not be read${detail(messageOf(error))}` }
}

function ofCall(error: APICallError, model: string): Stumble {
  const body = bodyOf(error)
  const judged = ofStatus(statusOf(error.statusCode, body), messageOf(body) ?? error.message, model)
  if (judged !== undefined) return patient(judged, error.responseHeaders)
  if (error.responseBody?.trimStart().startsWith("<") === true) {
    return { ok: false, retryable: false, words: "the model's address answers with a web page; check model.baseUrl" }
  }
  const code = networkCode(error)
  if (error.statusCode !== undefined && code === undefined) {
    return { ok: false, retryable: true, words: "the model's server sent an answer that could not be read" }
  }
  return {
    ok: false,
    retryable: true,
    words: `the model's server can't be reached${code === undefined ? "" : ` (${code})`}`,
  }
}

function patient(stumble: Stumble, headers: Record<string, string> | undefined): Stumble {
  const waiting = stumble.retryable ? retryAfter(headers) : undefined
  return waiting === undefined ? stumble : { ...stumble, retryAfterMs: waiting }
}

type Judge = {
  when: (status: number, message: string) => boolean
  retryable: boolean
  tooLong?: true
  words: string
}

/** First match wins. `%d` is the status, `%m` the model, `%s` what the server says. */
const JUDGES: Judge[] = [
  {
    when: (status, message) =>
      status === 413 ||
      ((status === 400 || status === 422) &&
        /context.{0,12}(length|window|limit)|too (long|many tokens)|maximum.{0,20}tokens/i.test(message)),
    retryable: false,
    tooLong: true,
    words: "the conversation has become too long for the model",
  },
  {
    when: (status, message) =>
      status === 402 || /insufficient_quota|credit balance|billing|exceeded your current quota/i.test(message),
    retryable: false,
    words: "the account at the model's provider has no credit left (%d)",
  },
  {
    when: (status) => status === 401,
    retryable: false,
    words: "the model's server refuses our key (401); check model.apiKey",
  },
  { when: (status) => status === 403, retryable: false, words: "the model's server doesn't let us use %m (403)" },
  {
    when: (status) => status === 404 || status === 405,
    retryable: false,
    words: "the model's server doesn't know %m or this address (%d); check model.model and model.baseUrl",
  },
  { when: (status) => status === 429, retryable: true, words: "the model's server has too many requests (429)" },
  {
    when: (status) => status === 408 || status === 409 || status === 425,
    retryable: true,
    words: "the model's server asks to try again (%d)",
  },
  {
    when: (status) => status === 503 || status === 529,
    retryable: true,
    words: "the model's server is overloaded (%d)",
  },
  { when: (status) => status >= 500, retryable: true, words: "the model's server failed (%d)" },
  { when: (status) => status >= 400, retryable: false, words: "the model's server refused the request (%d)%s" },
  {
    when: (status) => status >= 300,
    retryable: false,
    words: "the model's address points elsewhere (%d); put the final address into model.baseUrl",
  },
]

function ofStatus(status: number | undefined, message: string | undefined, model: string): Stumble | undefined {
  if (status === undefined) return undefined
  const judge = JUDGES.find(({ when }) => when(status, message ?? ""))
  if (judge === undefined) return undefined
  const words = judge.words
    .replace("%d", String(status))
    .replace("%m", () => `the model "${model}"`)
    .replace("%s", () => detail(message))
  return { ok: false, retryable: judge.retryable, words, ...(judge.tooLong ? { tooLong: true } : {}) }
}

/** Some servers say 200 and put the error into the body or the stream, with a code or a type of their own. */
function statusOf(status: number | undefined, body: unknown): number | undefined {
  if (status !== undefined && status >= 300) return status
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : body
  if (!isRecord(error)) return undefined
  const code = Number(error["code"] ?? error["status"])
  if (Number.isInteger(code) && code >= 400 && code < 600) return code
  return STATUS_OF_TYPE[String(error["type"])]
}

const STATUS_OF_TYPE: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 402,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

function bodyOf(error: APICallError): unknown {
  try {
    return JSON.parse(error.responseBody ?? "")
  } catch {
    return undefined
  }
}

function messageOf(value: unknown): string | undefined {
  if (typeof value === "string") return value
  if (value instanceof Error) return value.message
  if (!isRecord(value)) return undefined
  const error = isRecord(value["error"]) ? value["error"] : value
  // The code belongs to what is looked at: it is there that a server says `context_length_exceeded`.
  const texts = [error["message"], error["code"]].filter((text) => typeof text === "string")
  return texts.length === 0 ? undefined : texts.join(" ")
}

/** One short line, without anything that looks like a key. */
function detail(message: string | undefined): string {
  if (message === undefined) return ""
  // Masked before it is cut: half a secret is no shape that a mask knows.
  const line = beginningOf(mask(message).text)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .replaceAll(/\b(?:Bearer|Basic)\s+\S+/gi, "***")
    .replaceAll(/\b(?:sk|xox[a-z]|pk|key|ghp|gho)[-_][\w-]{6,}/gi, "***")
    .replaceAll(/(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{32,}/gi, "***")
    .replaceAll(/\p{Cs}/gu, "")
    .trim()
  return line === "" ? "" : `: ${line.length > 200 ? `${line.slice(0, 200)}…` : line}`
}

/** Characters of what a server says that are looked at: how long it takes to look grows with their square. */
const MOST_READ = 2000

/** Without the word in which it is cut: that may be half a key. */
const beginningOf = (text: string): string =>
  text.length > MOST_READ ? text.slice(0, MOST_READ).replace(/[\w-]*$/, "") : text

/** The longest that a server is taken at its word, ms: a run must not sleep for years over a slip of a gateway. */
const LONGEST_WAIT = 3_600_000

function retryAfter(headers: Record<string, string> | undefined): number | undefined {
  const ms = wishedWait(headers)
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, Math.round(ms)), LONGEST_WAIT)
}

/** NaN: none that can be read. */
function wishedWait(headers: Record<string, string> | undefined): number {
  const exact = Number(headers?.["retry-after-ms"] ?? Number.NaN)
  if (exact >= 0) return exact
  const text = headers?.["retry-after"]
  if (text === undefined || text.trim() === "") return Number.NaN
  return Number.isNaN(Number(text)) ? Date.parse(text) - Date.now() : Number(text) * 1000
}

/** The code of the network fault that caused this, however deep: ECONNREFUSED, UND_ERR_SOCKET, ENOTFOUND. */
function networkCode(error: unknown): string | undefined {
  const seen = new Set<unknown>()
  for (let cause: unknown = error; cause instanceof Error && !seen.has(cause); cause = cause.cause) {
    seen.add(cause)
    if ("code" in cause && typeof cause.code === "string" && /^[A-Z_0-9]{3,40}$/.test(cause.code)) return cause.code
    if (cause instanceof TypeError && cause.message === "terminated") return "connection lost"
  }
  return undefined
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError"
}
