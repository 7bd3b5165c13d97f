/**
 * The one HTTP door of the local Slack: who may come in, and which part answers. It listens on loopback, wants a loopback Host
 * and, of a browser, its own Origin; a GET changes nothing.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Args, Result } from "./content.ts"
import type { LiveWorkspace } from "./live.ts"
import type { Misbehaviour, Verdict } from "./misbehave.ts"
import { shownFile } from "./lookups.ts"
import { ACTS, stateOf } from "./page-api.ts"
import { respond } from "./reply.ts"
import type { Site } from "./site.ts"
import { pageFile } from "./static.ts"
import { answer } from "./web-api.ts"

const BODY_LIMIT = 4 * 1024 * 1024
/** Of what the page sends: files go along in base64. */
const ACT_LIMIT = 16 * 1024 * 1024
/** The page is told of changes at most this often. */
const COALESCE = 100

export interface Parts {
  site: Site & { workspace: LiveWorkspace }
  misbehaviour: Misbehaviour
  /** The folder with the page's files. */
  pageDir: URL | undefined
}

/** Whether a request is addressed to this very server, and comes from no other site. */
export function allowed(request: IncomingMessage, url: string): boolean {
  const { host, origin } = request.headers
  const { host: own, port } = new URL(url)
  const known = host === own || host === `localhost:${port}`
  return known && (origin === undefined || origin === `http://${host}`)
}

export function serve(parts: () => Parts): Server {
  return createServer((request, response) => {
    route(parts(), request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error)
      if (!response.headersSent) send(response, error instanceof TooLarge ? 413 : 500, { ok: false, error: message })
      else response.destroy()
    })
  })
}

async function route(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { site } = parts
  if (!allowed(request, site.url)) return send(response, 403, { ok: false, error: "foreign_request" })
  const url = new URL(`http://sandbox${request.url ?? "/"}`)
  const [, area, rest = ""] = /^\/([^/]*)\/?(.*)$/.exec(url.pathname) ?? []
  if (request.method === "GET") return look(parts, request, response, url)
  if (request.method !== "POST") return send(response, 405, { ok: false, error: "method_not_allowed" })
  if (area === "api") return api(parts, request, response, rest)
  if (area === "response") return responseUrl(parts, request, response, rest)
  if (area === "sandbox") return act(parts, request, response, rest)
  return send(response, 404, { ok: false, error: "not_found" })
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers })
  response.end(JSON.stringify(body))
}

class TooLarge extends Error {}

async function read(request: IncomingMessage, limit = BODY_LIMIT): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw new TooLarge("request_entity_too_large")
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

/** A body as arguments, from JSON or a form; `undefined` when it is neither. */
function parsed(request: IncomingMessage, body: string): Args | undefined {
  if (request.headers["content-type"]?.startsWith("application/json") !== true) {
    return Object.fromEntries(new URLSearchParams(body))
  }
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

// --- what the app calls

async function api(parts: Parts, request: IncomingMessage, response: ServerResponse, method: string): Promise<void> {
  const args = parsed(request, await read(request))
  if (!args) return send(response, 200, { ok: false, error: "invalid_json" })
  const { token: inBody, ...rest } = args
  const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1]
  const token = bearer ?? (typeof inBody === "string" ? inBody : undefined)
  const headers = {
    "x-oauth-scopes": [...parts.site.scopes].join(","),
    "x-slack-req-id": parts.site.workspace.nextId("R"),
  }
  await carriedOut(parts, response, { method, args: rest, headers, run: () => answer(parts.site, method, token, rest) })
}

async function responseUrl(
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
): Promise<void> {
  const args = parsed(request, await read(request))
  if (!args) return send(response, 400, { ok: false, error: "invalid_payload" })
  await carriedOut(parts, response, {
    method: "response_url",
    args,
    headers: {},
    run: () => respond(parts.site, id, args),
    refusal: (error) => (["used_url", "expired_url", "no_such_url"].includes(error) ? 404 : 400),
  })
}

interface Job {
  method: string
  args: Args
  headers: Record<string, string>
  run: () => Result
  /** The HTTP status of a refusal; the Web API's is always 200. */
  refusal?: (error: string) => number
}

/** Records a call, lets the rules have their way with it, and answers. */
async function carriedOut({ site, misbehaviour }: Parts, response: ServerResponse, job: Job): Promise<void> {
  const { method, args } = job
  const call: LiveWorkspace["calls"][number] = { method, args, at: site.workspace.now() }
  site.workspace.received(call)
  const early = await misbehaviour.before(method, args)
  if (early) return judged(response, call, early)
  const result = job.run()
  const late = await misbehaviour.after(method, args)
  if (late) return judged(response, call, late)
  call.response = { ...result }
  send(response, result.ok ? 200 : (job.refusal?.(result.error) ?? 200), result, job.headers)
  site.workspace.changed()
}

function judged(response: ServerResponse, call: LiveWorkspace["calls"][number], verdict: Verdict): void {
  if (verdict.kind === "drop") response.destroy()
  if (verdict.kind !== "answer") return
  call.response = verdict.body
  send(response, verdict.status, verdict.body, verdict.headers)
}

// --- what the page asks and does

function look(parts: Parts, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> | void {
  const { workspace } = parts.site
  const me = url.searchParams.get("as") ?? ""
  if (url.pathname === "/sandbox/state") {
    const state = stateOf(workspace, me)
    return state ? send(response, 200, { ...state }) : send(response, 404, { ok: false, error: "user_not_found" })
  }
  if (url.pathname === "/sandbox/events") return events(workspace, me, request, response)
  const [, file] = /^\/files-pri\/(\w+)\//.exec(url.pathname) ?? []
  if (file !== undefined) return download(parts, request, response, file)
  return permalink(url, response) ? undefined : pageFile(parts.pageDir, url.pathname, response)
}

/** Whether it was the address of a message, which the page shows at its place. */
function permalink(url: URL, response: ServerResponse): boolean {
  const link = /^\/archives\/(\w+)\/p(\d{10})(\d{6})$/.exec(url.pathname)
  if (!link) return false
  const [, channel = "", seconds = "", micros = ""] = link
  const ts = `${seconds}.${micros}`
  const spot = new URLSearchParams({ in: channel, thread: url.searchParams.get("thread_ts") ?? ts, at: ts })
  response.writeHead(302, { location: `/#${spot.toString()}` })
  response.end()
  return true
}

/** A file, for the app's token with the scope; everybody else is led to a page to sign in. */
function download({ site }: Parts, request: IncomingMessage, response: ServerResponse, id: string): void {
  const may = request.headers.authorization === `Bearer ${site.tokens.bot}` && site.scopes.has("files:read")
  const file = may ? shownFile(site, id) : undefined
  if (file) response.writeHead(200, { "content-type": file.file.mimetype }).end(file.bytes)
  else response.writeHead(may ? 404 : 302, may ? {} : { location: `${site.url}signin` }).end()
}

/** Server-sent events: `change` when what this person sees is different from what it was. */
function events(workspace: LiveWorkspace, me: string, request: IncomingMessage, response: ServerResponse): void {
  if (!workspace.people.has(me)) return send(response, 404, { ok: false, error: "user_not_found" })
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
  response.write(": open\n\n")
  const seen = (): string => JSON.stringify(stateOf(workspace, me))
  let last = seen()
  let timer: NodeJS.Timeout | undefined
  const tell = (): void => {
    timer = undefined
    const now = seen()
    if (now === last) return
    last = now
    response.write("event: change\ndata: {}\n\n")
  }
  const off = workspace.on("change", () => {
    timer ??= setTimeout(tell, COALESCE)
  })
  request.on("close", () => {
    off()
    clearTimeout(timer)
  })
}

async function act(parts: Parts, request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
  if (request.headers.origin === undefined) return send(response, 403, { ok: false, error: "origin_missing" })
  if (request.headers["content-type"]?.startsWith("application/json") !== true) {
    return send(response, 415, { ok: false, error: "json_expected" })
  }
  const run = ACTS.get(name)
  if (!run) return send(response, 404, { ok: false, error: "not_found" })
  const done = await run(parts.site.workspace, parsed(request, await read(request, ACT_LIMIT)))
  return done ? send(response, 200, done) : send(response, 400, { ok: false, error: "invalid_arguments" })
}
