/**
 * One request to somebody's server and what it answers, within limits of time, size and place. It knows no tool, and
 * believes nothing that the server says of itself.
 */
import { request as plain, type IncomingMessage, type RequestOptions } from "node:http"
import { request as secure } from "node:https"
import { pipeline } from "node:stream/promises"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { checkHost, lookupWithin, OutOfReach } from "./reach.ts"

export interface Asked {
  url: URL
  method: string
  /** Ours; they go to the url's own origin alone. */
  headers: Record<string, string>
  body?: string | undefined
  /** ms for all of it. */
  timeout: number
  /** More than this is not read, bytes after unpacking. */
  maxBytes: number
  /** Where a redirect of a GET may lead, beside the same origin. */
  allowedHosts: readonly string[]
  allowPrivate: boolean
  signal?: AbortSignal | undefined
}

export interface Answered {
  status: number
  headers: Record<string, string>
  /** At most `maxBytes` of it. */
  body: Buffer
  isCut: boolean
}

/**
 * How far a request came that has no answer. unsent: no byte of it went out · unknown: it went out, and what came of it
 * can't be told · answered: the server said in full where else to ask, and that leads nowhere.
 */
export type Came = "unsent" | "unknown" | "answered"

/** In words that end a sentence, without a full stop. */
export class NoAnswer extends Error {
  override name = "NoAnswer"
  readonly came: Came

  constructor(words: string, came: Came) {
    super(words)
    this.came = came
  }
}

/** Of a request that is under way; `status` is that of an answer that has begun. */
interface Progress {
  came: Came
  status?: number
}

const MOST_REDIRECTS = 5

/** @throws NoAnswer, also when `signal` ends it: then in the words of its reason. */
export async function exchange(asked: Asked): Promise<Answered> {
  const { timeout, signal } = asked
  const over = new AbortController()
  const late = setTimeout(() => over.abort(), timeout)
  const stop = (): void => over.abort()
  signal?.addEventListener("abort", stop)
  if (signal?.aborted) stop()
  const progress: Progress = { came: "unsent" }
  try {
    return await followed(asked, over.signal, progress)
  } catch (error) {
    throw noAnswer(error, asked, progress, over.signal.aborted)
  } finally {
    clearTimeout(late)
    signal?.removeEventListener("abort", stop)
    // Whatever is left of it: a body that was cut still comes.
    over.abort()
  }
}

/** Why there is none, `late` or for what was thrown, and how far it came. */
function noAnswer(
  error: unknown,
  { url, timeout, signal }: Asked,
  { came, status }: Progress,
  late: boolean,
): NoAnswer {
  if (error instanceof NoAnswer && !late) return error
  const why = signal?.aborted
    ? reasonOf(signal)
    : late
      ? `${url.host} did not answer within ${timeout / 1000} s`
      : wordsOf(error, url)
  return new NoAnswer(`${why}${status === undefined ? "" : `; its answer began with HTTP ${status}`}`, came)
}

const reasonOf = ({ reason }: AbortSignal): string =>
  reason instanceof Error && reason.message !== "" ? reason.message : "it was told to stop"

async function followed(asked: Asked, signal: AbortSignal, progress: Progress): Promise<Answered> {
  let { url, headers, allowPrivate } = asked
  for (let redirects = 0; ; redirects++) {
    const response = await send({ ...asked, url, headers, allowPrivate }, signal, progress)
    const to = redirectOf(response, url)
    if (to === undefined || asked.method !== "GET") {
      if (response.statusCode !== undefined) progress.status = response.statusCode
      return read(response, asked)
    }
    response.destroy()
    progress.came = "answered"
    if (redirects === MOST_REDIRECTS)
      throw new NoAnswer(`${asked.url.host} redirects more than ${MOST_REDIRECTS} times`, "answered")
    if (to.origin !== url.origin) {
      checkRedirect(to, asked)
      // What is meant for one server is not told to another one, nor is that one trusted with our network.
      headers = anonymous(headers)
      allowPrivate = to.origin === asked.url.origin && asked.allowPrivate
    }
    url = to
  }
}

function redirectOf({ statusCode = 0, headers: { location } }: IncomingMessage, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined
  return URL.canParse(location, from.href) ? new URL(location, from) : undefined
}

function checkRedirect(to: URL, { url, allowedHosts }: Asked): void {
  const place = `${to.protocol}//${to.host}`.slice(0, 200)
  if (to.protocol !== "https:" && to.protocol !== url.protocol) {
    throw new NoAnswer(`${url.host} redirects to ${place}, which is not https`, "answered")
  }
  if (!allowedHosts.some((host) => isWithin(to.hostname, host))) {
    throw new NoAnswer(`${url.host} redirects to ${place}, which is not among the tool's allowedHosts`, "answered")
  }
}

const isWithin = (name: string, host: string): boolean =>
  host.startsWith("*.") ? name.endsWith(host.slice(1)) && name.length >= host.length : name === host

const anonymous = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => ["accept", "user-agent"].includes(name.toLowerCase())))

function send(asked: Asked, signal: AbortSignal, progress: Progress): Promise<IncomingMessage> {
  const { url, method, headers, body, allowPrivate } = asked
  checkHost(url, allowPrivate)
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
    const options: RequestOptions = {
      method,
      headers: { ...headers, ...length, "accept-encoding": "gzip, deflate, br" },
      agent: false,
      lookup: lookupWithin(allowPrivate),
      signal,
    }
    const isSecure = url.protocol === "https:"
    const request = isSecure ? secure(url, options) : plain(url, options)
    request.on("response", resolve)
    request.on("error", reject)
    request.on("upgrade", (_response, socket) => {
      socket.destroy()
      reject(new NoAnswer(`${url.host} wants to go on in another protocol`, "unknown"))
    })
    // Nothing is written before, so that what fails until then was certainly not sent.
    request.on("socket", (socket) =>
      socket.once(isSecure ? "secureConnect" : "connect", () => {
        progress.came = "unknown"
        request.end(body)
      }),
    )
  })
}

async function read(response: IncomingMessage, { maxBytes, url }: Asked): Promise<Answered> {
  const chunks: Buffer[] = []
  let size = 0
  const take = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) return
    }
  }
  const unpack = unpacking(response, url)
  try {
    await (unpack ? pipeline(response, unpack, take) : pipeline(response, take))
  } catch (error) {
    // To leave off is an error for a stream.
    if (size <= maxBytes) throw error
  }
  const flat = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
  const body = Buffer.concat(chunks).subarray(0, maxBytes)
  const headers = Object.fromEntries(flat) as Record<string, string>
  return { status: response.statusCode ?? 0, headers, body, isCut: size > maxBytes }
}

function unpacking({ headers, statusCode }: IncomingMessage, { host }: URL) {
  const coding = (headers["content-encoding"] ?? "identity").trim().toLowerCase()
  if (statusCode === 204 || statusCode === 304) return undefined
  switch (coding) {
    case "identity":
    case "":
      return undefined
    case "gzip":
    case "x-gzip":
      return createGunzip()
    case "deflate":
      return createInflate()
    case "br":
      return createBrotliDecompress()
    default:
      throw new NoAnswer(`${host} answers in a packing that was not asked for`, "unknown")
  }
}

function wordsOf(error: unknown, { host }: URL): string {
  if (error instanceof OutOfReach) return error.message
  const { code } = error as { code?: unknown }
  const known = typeof code === "string" && /^[A-Z0-9_]{3,60}$/.test(code) ? code : "no reason given"
  if (known.startsWith("Z_") || known.startsWith("ERR_BROTLI") || known.startsWith("ERR__ERROR_FORMAT")) {
    return `${host} sent an answer that could not be unpacked (${known})`
  }
  if (known.startsWith("HPE_") || known === "ECONNRESET" || known === "ERR_STREAM_PREMATURE_CLOSE") {
    return `${host} broke off, or sent what is no HTTP (${known})`
  }
  return `${host} can't be reached (${known})`
}
