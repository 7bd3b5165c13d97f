/**
 * The small web server on which people sign in. Reading a page changes nothing; each change is a POST of our own page's form, and
 * good once. Several processes may share a port on one machine: one serves it, and another takes it when that is gone, since what
 * is begun stands in Redis. No request is logged: its address holds what nobody else may have.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Log } from "../../log.ts"
import { sha256 } from "../../core/digest.ts"
import { PATH, readLink, type AskedFor } from "./asks.ts"
import { WITHIN, type Beginnings } from "./begun.ts"
import { donePage, finishPage, policyFor, startPage, wordsPage, WORDS, type About, type Page } from "./pages.ts"
import type { Signing } from "./provider.ts"
import { SignInFault } from "./way.ts"
import type { Seal } from "./seal.ts"

export interface SiteOptions {
  listen: { host: string; port: number }
  /** By which browsers reach us: an origin. */
  base: string
  servers: readonly Signing[]
  seal: Seal
  beginnings: Beginnings
  /** Whether the call still waits for its person to sign in. */
  isAsked: (asked: AskedFor) => Promise<boolean>
  /** What somebody is called in Slack. */
  nameOf: (user: string) => Promise<string>
  /** What the workspace is called. */
  workspace: string
  /** What is pressed on the card afterwards. */
  button: string
  /** The command by which somebody signs out again. */
  undo: (server: string) => string
  signedIn: (asked: AskedFor) => void
  /** ms after which a port that is taken is tried again. */
  again?: number
  log: Log
}

export interface Site {
  stop(): Promise<void>
}

const CALLBACK = `${PATH}/callback`
/** Where a provider sends people back to. */
export const redirectOf = (base: string): string => `${base}${CALLBACK}`

/** Bytes of a form, ms of a request, requests and connections at once. */
const MAX_BODY = 16_384
const REQUEST_WITHIN = 15_000
const AT_ONCE = 50
const CONNECTIONS = 500
/** Characters of what a provider gives. */
const MAX_CODE = 4000
const AGAIN = 5000

/** What a browser is told, and perhaps keeps or where it goes on. */
interface Reply extends Page {
  forms?: string
  headers?: Record<string, string>
}

/** Resolves when it listens, or (another process of ours may do so) waits for the port. Rejects when it may never. */
export async function startSite(options: SiteOptions): Promise<Site> {
  const { listen, log, again = AGAIN } = options
  let atOnce = 0
  const server = createServer(
    { maxHeaderSize: 16_384, requestTimeout: REQUEST_WITHIN, headersTimeout: REQUEST_WITHIN },
    (request, response) => {
      atOnce += 1
      const work = atOnce > AT_ONCE ? Promise.resolve(WORDS.busy) : replyTo(options, request)
      void work
        .catch((error: unknown): Reply => {
          log.error({ err: error }, "a page for signing in could not be made")
          return WORDS.trouble
        })
        .then((reply) => send(response, reply, request.method === "HEAD"))
        .finally(() => (atOnce -= 1))
    },
  )
  server.maxConnections = CONNECTIONS
  let timer: NodeJS.Timeout | undefined
  const waitForIt = (): void => {
    timer = setTimeout(() => {
      listening(server, listen).then(
        () => log.info(listen, "the pages for signing in are served here from now on"),
        (error: unknown) =>
          isTaken(error) ? waitForIt() : log.error({ err: error }, "the pages for signing in can't be served"),
      )
    }, again).unref()
  }
  try {
    await listening(server, listen)
  } catch (error) {
    if (!isTaken(error)) throw error
    log.warn(
      listen,
      "the port of the pages for signing in (signIn.port) is taken: if not by another process of this bot, put another one",
    )
    waitForIt()
  }
  return {
    async stop() {
      clearTimeout(timer)
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

const isTaken = (error: unknown): boolean => (error as { code?: unknown }).code === "EADDRINUSE"

function listening(server: Server, { host, port }: SiteOptions["listen"]): Promise<void> {
  return new Promise((resolve, reject) => {
    const listens = (): void => {
      server.off("error", fails)
      server.on("error", () => undefined)
      resolve()
    }
    // It may be tried many times: none of them leaves anything behind.
    const fails = (error: Error): void => {
      server.off("listening", listens)
      reject(error)
    }
    server.once("error", fails).once("listening", listens).listen(port, host)
  })
}

function send(
  response: ServerResponse,
  { status, html, forms = "'none'", headers = {} }: Reply,
  isHead: boolean,
): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-length": Buffer.byteLength(html),
    "content-security-policy": policyFor(forms),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
    connection: "close",
    ...headers,
  })
  response.end(isHead ? undefined : html)
}

async function replyTo(options: SiteOptions, request: IncomingMessage): Promise<Reply> {
  const place = placeIn(request, options.base)
  if (!place) return WORDS.nothing
  switch (request.method) {
    case "GET":
    case "HEAD":
      return place.link === undefined ? cameBack(options, place.params, request) : started(options, place.link)
    case "POST":
      return isForeign(request, options.base) ? WORDS.foreign : sent(options, place, request)
    default:
      return { ...WORDS.method, headers: { allow: "GET, HEAD, POST" } }
  }
}

/** `link`: what an address of ours says; absent where a provider sends people back to. */
interface PlaceAt {
  link?: string
  params: URLSearchParams
}

function placeIn({ url = "" }: IncomingMessage, base: string): PlaceAt | undefined {
  if (!URL.canParse(url, base)) return undefined
  const { pathname, searchParams: params } = new URL(url, base)
  if (pathname === CALLBACK) return { params }
  const link = LINK.exec(pathname)?.[1]
  return link === undefined ? undefined : { link, params }
}

const LINK = new RegExp(`^${PATH}/([\\w-]{40,2000})$`)

async function sent(options: SiteOptions, { link }: PlaceAt, request: IncomingMessage): Promise<Reply> {
  const form = await formOf(request)
  if (!form) return WORDS.tooLarge
  return link === undefined ? finished(options, form, request) : goOn(options, link)
}

/** Browsers say where a form was sent from; under our policy the origin alone may be "null". */
function isForeign({ headers }: IncomingMessage, base: string): boolean {
  const { origin, "sec-fetch-site": site } = headers
  if (site !== undefined && site !== "same-origin") return true
  return origin !== undefined && origin !== "null" && origin !== base
}

/** Undefined for what is too large, or broke off. */
async function formOf(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MAX_BODY) return undefined
      chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"))
}

// --- from Slack

/** What an address of ours says, as long as somebody waits for it. */
async function asked({ seal, servers, isAsked }: SiteOptions, link: string) {
  const said = readLink(seal, link)
  const signing = said && signingOf(servers, said)
  return said && signing && (await isAsked(said)) ? { said, signing } : undefined
}

const signingOf = (servers: readonly Signing[], { server, url }: AskedFor): Signing | undefined =>
  servers.find((one) => one.name === server && one.url === url)

async function aboutOf({ nameOf, workspace }: SiteOptions, { server, url, person }: AskedFor): Promise<About> {
  return { server, host: new URL(url).host, person: await nameOf(person.user), workspace }
}

async function started(options: SiteOptions, link: string): Promise<Reply> {
  const found = await asked(options, link)
  if (!found) return WORDS.oldLink
  // Browsers hold a form to this also where it is led on to, and where that is we know only then.
  const local = found.signing.url.startsWith("http:") ? " http:" : ""
  return { ...startPage(await aboutOf(options, found.said)), forms: `'self' https:${local}` }
}

async function goOn(options: SiteOptions, link: string): Promise<Reply> {
  const found = await asked(options, link)
  if (!found) return WORDS.oldLink
  const { said, signing } = found
  try {
    const { to, state, kept } = await options.beginnings.begin(signing, said)
    const secure = options.base.startsWith("https:") ? "; Secure" : ""
    const cookie = `${cookieOf(state)}=${kept}; Path=${PATH}; Max-Age=${WITHIN / 1000}; HttpOnly; SameSite=Lax${secure}`
    const page = wordsPage(303, "You are led on", `You go on to ${to.host}.`)
    return { ...page, headers: { location: to.href, "set-cookie": cookie } }
  } catch (error) {
    if (!(error instanceof SignInFault)) throw error
    options.log.warn({ server: signing.name, why: error.message }, "nobody can sign in to an MCP server now")
    return wordsPage(
      502,
      "Signing in does not work just now",
      `${sentence(error.message)} Nothing has changed. Try again later, or tell whoever runs Countersign.`,
    )
  }
}

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`

// --- from the provider

/** One for each sign-in: two at once in one browser don't disturb each other. */
const cookieOf = (state: string): string => `sign-in-${sha256(state).slice(0, 16)}`

function keptBy({ headers: { cookie = "" } }: IncomingMessage, state: string): string | undefined {
  const name = `${cookieOf(state)}=`
  return cookie
    .split(/;\s*/)
    .find((one) => one.startsWith(name))
    ?.slice(name.length)
}

/** What a provider, or somebody in its name, sends along. */
function givenIn(params: URLSearchParams) {
  const read = (name: string, most: number): string | undefined => {
    const [value, ...more] = params.getAll(name)
    return value === undefined || value === "" || value.length > most || more.length > 0 ? undefined : value
  }
  return { state: read("state", 100), code: read("code", MAX_CODE), iss: read("iss", 2000), error: read("error", 200) }
}

async function cameBack(options: SiteOptions, params: URLSearchParams, request: IncomingMessage): Promise<Reply> {
  const { state, code, iss, error } = givenIn(params)
  if (state === undefined) return WORDS.late
  const look = await options.beginnings.look(state, keptBy(request, state))
  if (look.kind !== "begun") return WORDS[look.kind]
  const about = await aboutOf(options, look.begun.asked)
  if (error !== undefined || code === undefined) return notLetIn(about, error)
  const fields = { state, code, ...(iss === undefined ? {} : { iss }) }
  return { ...finishPage(about, CALLBACK, fields), forms: "'self'" }
}

const notLetIn = ({ host }: About, error = ""): Reply => {
  const said = /^[a-z_]{1,60}$/.test(error) ? ` It says: ${error}.` : ""
  const why =
    error === "access_denied"
      ? "You said no there, or your account may not do that."
      : `Signing in went wrong there.${said}`
  return wordsPage(
    200,
    `${host} has not let you in`,
    `${why} Nothing has changed. In Slack, open the address again to begin anew, or decline the card.`,
  )
}

async function finished(options: SiteOptions, form: URLSearchParams, request: IncomingMessage): Promise<Reply> {
  const { state, code, iss } = givenIn(form)
  if (state === undefined || code === undefined) return WORDS.late
  const kept = keptBy(request, state)
  const look = await options.beginnings.look(state, kept)
  if (look.kind !== "begun") return WORDS[look.kind]
  const signing = signingOf(options.servers, look.begun.asked)
  if (!signing) return WORDS.oldLink
  const finish = await options.beginnings.finish(signing, { state, code, iss, kept })
  switch (finish.kind) {
    case "late":
    case "browser":
      return WORDS[finish.kind]
    case "failed":
      options.log.warn({ server: signing.name, why: finish.why }, "a sign-in to an MCP server came to nothing")
      return wordsPage(
        502,
        "Signing in did not work",
        `${sentence(finish.why)} Nothing has changed. In Slack, open the address again to begin anew.`,
      )
    case "done":
      options.signedIn(finish.begun.asked)
      return { ...(await done(options, finish.begun.asked)), headers: forgetting(state) }
  }
}

const done = async (options: SiteOptions, asked: AskedFor): Promise<Page> =>
  donePage(await aboutOf(options, asked), { button: options.button, undo: options.undo(asked.server) })

const forgetting = (state: string): Record<string, string> => ({
  "set-cookie": `${cookieOf(state)}=; Path=${PATH}; Max-Age=0; HttpOnly; SameSite=Lax`,
})
