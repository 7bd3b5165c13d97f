/**
 * The way to whoever lets people sign in: bounded, judged by where it leads, and with our own words for what comes between. It
 * knows no request by its meaning.
 */
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import {
  InvalidClientError,
  InvalidGrantError,
  OAuthError,
  UnauthorizedClientError,
} from "@modelcontextprotocol/sdk/server/auth/errors.js"
import { inTime } from "../mcp/connect.ts"
import { exchange, NoAnswer } from "../exchange.ts"
import { reachOf } from "../reach.ts"

/**
 * Why it can't be, in words that end a sentence, without a full stop and without anything secret. `refused`: the sign-in or we
 * ourselves are not known there (any more).
 */
export class SignInFault extends Error {
  override name = "SignInFault"
  readonly refused: "sign-in" | "client" | undefined

  constructor(words: string, refused?: "sign-in" | "client") {
    super(words)
    this.refused = refused
  }
}

/** ms for one request, bytes of one answer. */
const WITHIN = 10_000
const MAX_BYTES = 200_000
/** ms for all that one thing takes of them. */
const ALL_WITHIN = 25_000
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** A way to its servers that is bounded, follows a redirect of a GET on the same host alone, and judges where it leads. */
export async function wayTo(url: string): Promise<Fetch> {
  const allowPrivate = await isOnPrivateNet(new URL(url).hostname)
  return async (to, init = {}) => {
    const { method = "GET", headers, body } = init
    const answer = await exchange({
      url: new URL(to),
      method,
      headers: { "user-agent": "Countersign", ...Object.fromEntries(new Headers(headers)) },
      ...(body === undefined || body === null ? {} : { body: textOf(body) }),
      timeout: WITHIN,
      maxBytes: MAX_BYTES,
      allowedHosts: [],
      allowPrivate,
    })
    const { status } = answer
    if (answer.isCut) throw new SignInFault(`${new URL(to).host} answered with more than ${MAX_BYTES} bytes`)
    if (status >= 300 && status < 400)
      throw new SignInFault(`${new URL(to).host} leads elsewhere, where nothing is sent`)
    const { "content-encoding": _packed, "content-length": _length, ...rest } = answer.headers
    const isEmpty = [204, 205, 304].includes(status)
    return new Response(isEmpty ? null : Uint8Array.from(answer.body), { status, headers: rest })
  }
}

function textOf(body: NonNullable<RequestInit["body"]>): string {
  if (typeof body === "string") return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError("a body is text")
}

/** Whether the MCP server is one of our own network; nobody else may lead us there. */
async function isOnPrivateNet(host: string): Promise<boolean> {
  const literal = host.startsWith("[") ? host.slice(1, -1) : host
  if (isIP(literal) !== 0) return reachOf(literal) === "private"
  const addresses = await lookup(host, { all: true }).catch(() => [])
  return addresses.some(({ address }) => reachOf(address) === "private")
}

/** Does it, and says in our own words what came between. */
export async function judged<T>(host: string, work: () => Promise<T>): Promise<T> {
  const late = new SignInFault(`${host} did not answer within ${ALL_WITHIN / 1000} s`)
  try {
    return await inTime(work(), ALL_WITHIN, late)
  } catch (error) {
    throw faultOf(error, host)
  }
}

function faultOf(error: unknown, host: string): SignInFault {
  if (error instanceof SignInFault) return error
  if (error instanceof NoAnswer) return new SignInFault(error.message)
  if (!(error instanceof OAuthError)) return new SignInFault(`what ${host} answers is no OAuth that we understand`)
  const words = `${host} says ${/^[a-z_]{1,60}$/.test(error.errorCode) ? error.errorCode : "no"}`
  if (error instanceof InvalidGrantError) return new SignInFault(words, "sign-in")
  const isUs = error instanceof InvalidClientError || error instanceof UnauthorizedClientError
  return new SignInFault(words, isUs ? "client" : undefined)
}
