/**
 * How an interaction reaches the app, by Socket Mode or as a signed request, and what came back in Slack's three seconds. It
 * neither builds payloads nor reads acks. https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
import { createHmac } from "node:crypto"
import type { Misbehaviour } from "./misbehave.ts"
import type { Envelope, Sockets } from "./socket.ts"

/** What came of one delivery. `error`: operation_timeout, dispatch_failed (nobody there), http_status_500 and its like. */
export interface Delivery {
  envelope: Envelope
  acked: boolean
  ackMs: number
  /** What the ack carried, if anything. */
  payload?: unknown
  error?: string
}

export interface Way {
  sockets: Sockets
  misbehaviour: Misbehaviour
  signingSecret: string
  /** With it, everything goes there by HTTP; without, by Socket Mode. */
  requestUrl: () => string | undefined
  /** Milliseconds; Slack's are 3000. */
  ackTimeout: number
}

/** Delivers an envelope, however forged or old. */
export async function deliver(way: Way, envelope: Envelope): Promise<Delivery> {
  const start = performance.now()
  const { repeat, drop } = way.misbehaviour.envelope(envelope.type)
  const url = way.requestUrl()
  const once = (): Promise<Outcome> => (url === undefined ? bySocket(way, envelope, drop) : byHttp(way, envelope, url))
  const [outcome] = await Promise.all(repeat ? [once(), once()] : [once()])
  const ackMs = performance.now() - start
  return outcome === undefined || "error" in outcome
    ? { envelope, acked: false, ackMs, error: outcome?.error ?? "dispatch_failed" }
    : { envelope, acked: true, ackMs, ...(outcome.payload === undefined ? {} : { payload: outcome.payload }) }
}

type Outcome = { payload: unknown } | { error: string }

async function bySocket(way: Way, envelope: Envelope, drop: boolean): Promise<Outcome> {
  const sent = way.sockets.send(envelope, drop)
  if (!sent) return { error: "dispatch_failed" }
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ error: "operation_timeout" }), way.ackTimeout)
  })
  const outcome = await Promise.race([sent.ack, timeout])
  clearTimeout(timer)
  sent.forget()
  return outcome
}

/** The headers and body of a signed request, as Slack sends it; `at` in seconds. */
export function signed(
  envelope: Envelope,
  signingSecret: string,
  at = Math.floor(Date.now() / 1000),
): { headers: Record<string, string>; body: string } {
  const { type, body } = written(envelope)
  const signature = createHmac("sha256", signingSecret).update(`v0:${at}:${body}`).digest("hex")
  const { retry_attempt, retry_reason } = envelope
  return {
    body,
    headers: {
      "content-type": type,
      "x-slack-request-timestamp": String(at),
      "x-slack-signature": `v0=${signature}`,
      ...(retry_attempt === undefined ? {} : { "x-slack-retry-num": String(retry_attempt) }),
      ...(retry_reason === undefined ? {} : { "x-slack-retry-reason": retry_reason }),
    },
  }
}

function written({ type, payload }: Envelope): { type: string; body: string } {
  if (type === "events_api") return { type: "application/json", body: JSON.stringify(payload) }
  const fields = type === "interactive" ? { payload: JSON.stringify(payload) } : payload
  const form = new URLSearchParams()
  for (const [key, value] of Object.entries(fields)) form.set(key, String(value))
  return { type: "application/x-www-form-urlencoded", body: form.toString() }
}

async function byHttp(way: Way, envelope: Envelope, url: string): Promise<Outcome> {
  try {
    const response = await fetch(url, {
      method: "POST",
      ...signed(envelope, way.signingSecret),
      signal: AbortSignal.timeout(way.ackTimeout),
    })
    const text = await response.text()
    return response.ok ? { payload: ackBody(response, text) } : { error: `http_status_${response.status}` }
  } catch (error) {
    const late = error instanceof Error && error.name === "TimeoutError"
    return { error: late ? "operation_timeout" : "dispatch_failed" }
  }
}

function ackBody(response: Response, text: string): unknown {
  if (text === "") return undefined
  if (response.headers.get("content-type")?.includes("json") !== true) return { text }
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
