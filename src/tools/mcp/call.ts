/**
 * One call to a server's tool: how it is sent, how long it may take, and what a failure says of it. A call that may have
 * taken effect is never said not to have been executed. Knows no connection's life.
 */
import { randomUUID } from "node:crypto"
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { McpError, UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js"
import { z } from "zod"
import { outcomeUnknown, type ToolContext } from "../../agent/tool.ts"
import { sha256 } from "../../core/digest.ts"
import { authRequired, type ToolResult } from "../../core/suspension.ts"
import type { Connection } from "./connect.ts"
import { MARK } from "./fetch.ts"
import { Patience } from "./patience.ts"
import { messageOf, oneLine, resultOf } from "./result.ts"

/** A call that is under way on a connection. */
export interface Underway {
  /** The server's own name of the tool. */
  tool: string
  ctx: ToolContext
  patience: Patience
  /** A person is being asked for it. */
  holding?: boolean
}

export interface Calling {
  connection: Connection
  /** As the configuration calls it. */
  server: string
  /** The server's own name of the tool. */
  tool: string
  args: Record<string, unknown>
  ctx: ToolContext
  /** ms without progress. */
  timeout: number
  underway: Map<string, Underway>
  /** Takes our own secrets out. */
  clean: (text: string) => string
}

/**
 * away: it was not executed, for the server or what it knew of us is gone; `refusal`: or for another reason · unknown person: nor
 * was this, for the server wants to know whom it is for.
 */
export type Called =
  | { kind: "result"; result: ToolResult }
  | { kind: "away"; why: string; refusal?: ToolResult }
  | { kind: "unknown person"; refusal: ToolResult }

/** The longest that a timer may be, ms: what ends a call is `Patience`. */
const FOREVER = 2 ** 31 - 1

const ANYTHING = z.looseObject({})

export async function call(calling: Calling): Promise<Called> {
  const { connection, tool, args, ctx, underway } = calling
  const mark = randomUUID()
  const patience = new Patience(calling.timeout)
  const stop = (): void => patience.giveUp("it was told to stop")
  if (ctx.signal?.aborted) stop()
  ctx.signal?.addEventListener("abort", stop)
  underway.set(mark, { tool, ctx, patience })
  const key = ctx.callId === undefined ? {} : { "countersign/call": sha256(ctx.callId).slice(0, 32) }
  const params = { name: tool, arguments: args, _meta: { ...key, [MARK]: mark } }
  try {
    const { signal } = patience
    const onprogress = ({ message }: { message?: string | undefined }): void => {
      patience.progress()
      if (message !== undefined) ctx.progress?.(calling.clean(oneLine(message, 300)))
    }
    const answer = await connection.client.request({ method: "tools/call", params }, ANYTHING, {
      signal,
      timeout: FOREVER,
      onprogress,
    })
    return { kind: "result", result: resultOf(answer, calling.clean) }
  } catch (error) {
    return failed(error, calling, patience.why)
  } finally {
    patience.end()
    underway.delete(mark)
    ctx.signal?.removeEventListener("abort", stop)
  }
}

const result = (one: ToolResult): Called => ({ kind: "result", result: one })

interface Failure {
  error: unknown
  /** Its words on one line, without our secrets. */
  said: string
  server: string
  /** The server was to know us by a session. */
  hasSession: boolean
  /** Nobody knows what came of it: `why` goes on after "was sent the call, and". */
  unknown: (why: string) => Called
  clean: (text: string) => string
}

function failed(error: unknown, { server, connection, clean }: Calling, givenUp: string | undefined): Called {
  const unknown = (why: string): Called =>
    result(outcomeUnknown(`the MCP server ${server} was sent the call, and ${clean(oneLine(why, 500))}`))
  const over = givenUp ?? connection.over
  if (over !== undefined) return unknown(over)
  const said = clean(oneLine(messageOf(error), 1000))
  const hasSession = connection.client.transport?.sessionId !== undefined
  return answered({ error, said, server, hasSession, unknown, clean })
}

/** The connection stands: it says itself that something is wrong, or the way there does. */
function answered(failure: Failure): Called {
  const { error, said, server, unknown } = failure
  if (error instanceof StreamableHTTPError) return refused(error.code ?? -1, failure)
  if (error instanceof UrlElicitationRequiredError) return result(signInFor(error, failure))
  if (error instanceof McpError) {
    return result({ output: `the MCP server ${server} answered with an error: ${said}`, isError: true })
  }
  const { code, isUnsent } = networkFault(error)
  if (isUnsent) return { kind: "away", why: `${said} (${code})` }
  return unknown(code === undefined ? `it failed: ${said}` : `the connection failed (${code})`)
}

/** The server executes the call once the person was there: it is sent again with their yes. */
function signInFor({ elicitations }: UrlElicitationRequiredError, { said, server, clean }: Failure): ToolResult {
  const [first] = elicitations
  try {
    return authRequired(clean(first?.url ?? ""), clean((first?.message ?? "").slice(0, 3000).toWellFormed()))
  } catch {
    return { output: `the MCP server ${server} answered with an error: ${said}`, isError: true }
  }
}

/**
 * Whether it is our session that is not known there any more, which some call a bad request. Of anything else nobody knows that
 * it is safe to send again.
 */
const isForgotten = (code: number, { said, hasSession }: Failure): boolean =>
  (code === 404 && hasSession) || (code === 400 && /session|initiali[sz]/i.test(said))

function refused(code: number, failure: Failure): Called {
  const { said, server, unknown } = failure
  const output = `the MCP server ${server} refused the call, so it was not executed: HTTP ${code}: ${said}`
  const refusal = { output, isError: true }
  if (isForgotten(code, failure)) return { kind: "away", why: `it answered with HTTP ${code}: ${said}`, refusal }
  if (code === 401) return { kind: "unknown person", refusal }
  if (code >= 300 && code < 500 && code !== 408) return result(refusal)
  return unknown(code > 0 ? `it answered with HTTP ${code}: ${said}` : said)
}

/** Failures before anything was sent. */
const UNSENT = new Set([
  "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT", "ENOTSENT",
  "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "ERR_TLS_CERT_ALTNAME_INVALID",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]) // prettier-ignore
/** Failures of the way there: they also end a connection that stood, on which the call may have been sent. */
const OF_THE_WAY = new Set(["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN"])

function networkFault(error: unknown): { code?: string; isUnsent: boolean } {
  const { code, cause, syscall } = error as { code?: unknown; cause?: unknown; syscall?: unknown }
  if (typeof code === "string") {
    // Of several addresses, each was tried in vain.
    const isConnecting = syscall === "connect" || error instanceof AggregateError
    return { code, isUnsent: UNSENT.has(code) || (OF_THE_WAY.has(code) && isConnecting) }
  }
  return typeof cause === "object" && cause !== null ? networkFault(cause) : { isUnsent: false }
}
