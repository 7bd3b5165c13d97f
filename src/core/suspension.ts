/**
 * The suspension contract: a tool that needs a person returns a Request, and an Answer takes the run on (SPEC §10).
 * Plain data and its rules; knows no loop, no store and no Slack.
 */
import { answerSchemaFault } from "./answer-schema.ts"
import { instantOf } from "./instant.ts"
import { isRecord, jsonCopy, LONE_SURROGATE } from "./json.ts"
import { promptFault, questionsFault } from "./questions.ts"

/** Why an Answer is a no. Advisory: for logs and people, never what the loop decides by. */
export type Reason = "declined" | "cancelled" | "expired"

export interface Request {
  id: string
  /** Open vocabulary: "authorization", "approval", "input", "question", or any other. */
  kind: string
  prompt: string
  url?: string
  data?: Record<string, unknown>
  /** RFC 3339 with a zone; the Request is stale after this instant. */
  expiresAt?: string
}

export interface Answer {
  id: string
  ok: boolean
  data?: Record<string, unknown>
  reason?: Reason | (string & {})
}

/** What a tool call came to. A suspension is a result whose `metadata.pending` is a Request; `isError` says nothing about it. */
export interface ToolResult {
  output: string
  isError: boolean
  metadata?: Record<string, unknown>
}

export type RequestRead = { ok: true; request: Request } | { ok: false; error: string }
export type AnswerRead = { ok: true; answer: Answer } | { ok: false; error: string }

/**
 * A person's no, for whatever cause. Any reason is carried unchanged; none means "declined".
 * @throws TypeError without an id: it must be the Request's.
 */
export function answerDeclined(id: string, reason?: Reason | (string & {}) | null): Answer {
  return { id: requireId("answerDeclined", id), ok: false, reason: reason ?? "declined" }
}

/**
 * A person's answer in words (`data.output`); the empty text is one.
 * @throws TypeError without an id, or when `output` is no string.
 */
export function answerOutput(id: string, output: string): Answer {
  const known = requireId("answerOutput", id)
  if (typeof output !== "string") {
    throw new TypeError(`answerOutput: output must be a string, got ${output === null ? "null" : typeof output}`)
  }
  return { id: known, ok: true, data: { output } }
}

/**
 * The result by which a tool parks its run until a person has answered. The id is minted unless given.
 * @throws TypeError for a Request that must not reach a person (see `requestOf`), naming the remedy. Thrown inside a
 * tool, this becomes the call's error result, so the model and the tool's author read it and no one is asked.
 */
export function pending(request: Omit<Request, "id"> & { id?: string | undefined }): ToolResult {
  const given: unknown = request.id
  const id = given === undefined || given === null || isBlank(given) ? mintId() : given
  const read = requestOf({ ...request, id })
  if (!read.ok) throw new TypeError(`pending: ${read.error}`)
  const { prompt, url } = read.request
  return {
    output: url === undefined ? prompt : `${prompt}\n${url}`,
    isError: true,
    metadata: { pending: read.request },
  }
}

/** The suspension for a login: the person opens `url`, and secrets pass there, never through us. */
export function authRequired(url: string, prompt = "Authorization required to continue"): ToolResult {
  return pending({ kind: "authorization", prompt, url })
}

/** The Request that a result suspends with, or undefined: a malformed one is no suspension. */
export function pendingOf(result: ToolResult | undefined | null): Request | undefined {
  const read = suspensionOf(result)
  return read?.ok === true ? read.request : undefined
}

/**
 * What the loop asks of a result: undefined when it is no suspension, the Request when it is one, and the fault when it
 * meant to be one but can't be shown to anybody. The loop turns a fault into an error result.
 */
export function suspensionOf(result: ToolResult | undefined | null): RequestRead | undefined {
  const raised: unknown = result?.metadata?.["pending"]
  if (raised === undefined || raised === null || raised === false) return undefined
  return requestOf(raised)
}

/**
 * Reads a Request: the six keys in their wire order (id, kind, prompt, url, data, expiresAt), unknown keys left out,
 * `data` copied key by key as it stands. Refuses what must not be shown: an expiresAt without a zone, a url that is
 * not http(s), a `data.schema` that is not flat, and one, or `data.questions`, that ask for credentials.
 */
export function requestOf(value: unknown): RequestRead {
  if (!isRecord(value)) return refuse("a Request is an object with id, kind and prompt")
  const fault = textFault(value) ?? urlFault(value["url"]) ?? expiryFault(value["expiresAt"])
  if (fault !== undefined) return refuse(fault)
  const copied = dataOf(value["data"])
  if (!copied.ok) return copied
  const { id, kind, prompt, url, expiresAt } = value as unknown as Request
  const request = { id, kind, prompt, ...present({ url, data: copied.data, expiresAt }) }
  const asked = askedFault(request)
  return asked === undefined ? { ok: true, request } : refuse(asked)
}

const askedFault = (request: Request): string | undefined =>
  answerSchemaFault(request.kind, request.data?.["schema"]) ??
  questionsFault(request.kind, request.data?.["questions"]) ??
  promptFault(request)

/**
 * Reads an Answer: id, ok, data, reason in this order, unknown keys left out. Only `ok: true` is a yes; whatever else
 * stands there ("true", 1, {}) is a no.
 */
export function answerOf(value: unknown): AnswerRead {
  if (!isRecord(value)) return refuse("an Answer is an object with id and ok")
  if (typeof value["id"] !== "string" || isBlank(value["id"])) {
    return refuse("the Answer's id is required (it must match the Request's id)")
  }
  const data = dataOf(value["data"])
  if (!data.ok) return data
  const reason = value["reason"]
  const answer: Answer = {
    id: value["id"],
    ok: value["ok"] === true,
    ...(data.data === undefined ? {} : { data: data.data }),
    ...(typeof reason === "string" ? { reason } : {}),
  }
  return { ok: true, answer }
}

/** What the model reads when the Request was refused, cancelled or ran out: always the same line, whatever the reason, and `data.note` under it. */
export function refusalOutput(request: Pick<Request, "prompt">, answer?: Pick<Answer, "data"> | null): string {
  const note = answer?.data?.["note"]
  const line = `declined/expired: ${request.prompt}`
  return typeof note === "string" && note !== "" ? `${line}\n${note}` : line
}

/** What the model reads when a tool suspends again although it was answered. */
export function unresolvedOutput(request: Pick<Request, "prompt">): string {
  return `unresolved: ${request.prompt}`
}

function requireId(who: string, id: unknown): string {
  if (typeof id !== "string" || isBlank(id)) {
    throw new TypeError(`${who}: id is required (it must match the Request's id)`)
  }
  return id
}

/** Random, so that two processes never mint the same one and nobody can guess the next; short, for it stands in many places. */
export function mintId(): string {
  return `pnd-${crypto.randomUUID().replaceAll("-", "").slice(0, 20)}`
}

/** A button carries the id, and Slack's buttons carry little. */
const MAX_ID = 200

function textFault(value: Record<string, unknown>): string | undefined {
  for (const key of ["id", "kind"]) {
    const text = value[key]
    if (typeof text !== "string" || isBlank(text)) return `${key} is required, a text`
  }
  if ((value["id"] as string).length > MAX_ID)
    return `id has more than ${MAX_ID} characters; leave it out and one is minted`
  if (typeof value["prompt"] !== "string") return "prompt is required, a text for the person who is asked"
  const broken = ["id", "kind", "prompt"].find((key) => LONE_SURROGATE.test(value[key] as string))
  return broken === undefined ? undefined : `${broken} contains half a character (a lone surrogate)`
}

function urlFault(url: unknown): string | undefined {
  if (isAbsent(url)) return undefined
  const remedy = "url must be an http or https address without a user name in it"
  if (typeof url !== "string" || /[\s\p{Cc}\p{Cs}]/u.test(url) || !URL.canParse(url)) return remedy
  const { protocol, username, password } = new URL(url)
  const web = protocol === "https:" || protocol === "http:"
  return web && username === "" && password === "" ? undefined : remedy
}

function expiryFault(expiresAt: unknown): string | undefined {
  if (isAbsent(expiresAt)) return undefined
  if (typeof expiresAt === "string" && instantOf(expiresAt) !== undefined) return undefined
  const got = typeof expiresAt === "string" ? JSON.stringify(expiresAt) : typeof expiresAt
  return `expiresAt must be an RFC 3339 time with a zone, such as 2026-10-01T12:00:00Z, not ${got}`
}

function dataOf(data: unknown): { ok: true; data?: Record<string, unknown> } | { ok: false; error: string } {
  if (isAbsent(data)) return { ok: true }
  if (!isRecord(data)) return refuse("data must be an object")
  const copied = jsonCopy(data)
  return copied.ok ? { ok: true, data: copied.value as Record<string, unknown> } : refuse(`data: ${copied.error}`)
}

/** Only the keys that have a value, in their order. */
function present<T extends object>(options: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => !isAbsent(value))) as never
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function isBlank(value: unknown): boolean {
  return typeof value === "string" && value.trim() === ""
}

function refuse(error: string): { ok: false; error: string } {
  return { ok: false, error }
}
