/**
 * A model provider on loopback, for both wires, streamed and not. It refuses with 400 what the real ones refuse: above
 * all a transcript whose calls and results don't match.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Json } from "./balance.ts"
import { anthropicFault, openaiFault } from "./balance.ts"

export type Style = "openai" | "anthropic"

export interface WireCall {
  id: string
  name: string
  /** An object, or text put on the wire as it stands. */
  args?: Record<string, unknown> | string
}

export interface WireTurn {
  text?: string
  calls?: WireCall[]
  usage?: { prompt: number; completion: number }
  /** Why it stopped, in the wire's own words. */
  finish?: string
  /** Anthropic: blocks before the text (thinking). */
  blocks?: Record<string, unknown>[]
  /** Answer with this status and `body` instead. */
  status?: number
  headers?: Record<string, string>
  /** The whole body, as it stands. */
  body?: string
  /** Streamed: ms from one event to the next. */
  pace?: number
  /** Nothing is sent before this resolves. */
  hold?: Promise<unknown>
  /** Cut the connection: before anything is sent, or in the middle of the answer. */
  cut?: "at once" | "midway"
}

export interface WireRequest {
  path: string
  headers: IncomingMessage["headers"]
  body: Json
  raw: string
  /** Whoever asked hung up before there was an answer. */
  dropped: boolean
}

export interface Provider {
  baseUrl: string
  requests: WireRequest[]
  /** Resolves when request number `n` (from 1) has come. */
  came(n: number): Promise<WireRequest>
  close(): Promise<void>
}

export interface ProviderOptions {
  style: Style
  /** One a request; when they are used up the answer is 500 saying so. */
  turns?: WireTurn[]
  handler?: (request: WireRequest, index: number) => WireTurn | Promise<WireTurn>
}

export async function startProvider({ style, turns = [], handler }: ProviderOptions): Promise<Provider> {
  const requests: WireRequest[] = []
  const waiting = new Set<() => void>()
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) => {
      response.writeHead(500, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: { message: String(error) } }))
    })
  })
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    let raw = ""
    for await (const chunk of request.setEncoding("utf8")) raw += chunk
    const received = { path: request.url ?? "", headers: request.headers, body: JSON.parse(raw), raw, dropped: false }
    response.on("close", () => (received.dropped = !response.writableEnded))
    const index = requests.push(received) - 1
    for (const wake of waiting) wake()
    const fault = style === "openai" ? openaiFault(received.body) : anthropicFault(received.body)
    if (fault !== undefined) return fail(response, 400, { error: { type: "invalid_request_error", message: fault } })
    const turn = (await handler?.(received, index)) ?? turns[index]
    if (turn === undefined) {
      const message = `the provider was asked ${index + 1} times and has ${turns.length} turns`
      return fail(response, 501, { error: { type: "not_supported", message } })
    }
    await turn.hold
    await send(response, style, turn, received.body.stream === true)
  }
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    came: async (n) => {
      for (;;) {
        const request = requests[n - 1]
        if (request !== undefined) return request
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake)
            resolve()
          }
          waiting.add(wake)
        })
      }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}

async function send(response: ServerResponse, style: Style, turn: WireTurn, stream: boolean): Promise<void> {
  if (turn.cut === "at once") {
    response.destroy()
    return
  }
  if (turn.status !== undefined && turn.status !== 200) {
    response.writeHead(turn.status, { "content-type": "application/json", ...turn.headers })
    response.end(turn.body ?? JSON.stringify({ error: { message: `status ${turn.status}` } }))
    return
  }
  const type = stream ? "text/event-stream" : "application/json"
  const body = turn.body ?? (stream ? events(style, turn) : whole(style, turn))
  response.writeHead(200, { "content-type": type, ...turn.headers })
  if (turn.cut === "midway") {
    response.write(body.slice(0, body.length / 2), () => response.destroy())
    return
  }
  for (const event of stream && turn.pace !== undefined ? body.split(/(?<=\n\n)/u) : []) {
    response.write(event)
    await delay(turn.pace)
    if (response.destroyed) return
  }
  response.end(turn.pace === undefined || !stream ? body : "")
}

function fail(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

const argsText = (call: WireCall) => (typeof call.args === "string" ? call.args : JSON.stringify(call.args ?? {}))

const USAGE = { prompt: 10, completion: 5 }

function whole(style: Style, turn: WireTurn): string {
  return style === "openai" ? openaiWhole(turn) : anthropicWhole(turn)
}

function openaiWhole({ text, calls = [], usage = USAGE, finish }: WireTurn): string {
  const tool_calls = calls.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: argsText(call) },
  }))
  const message = { role: "assistant", content: text ?? null, ...(calls.length > 0 ? { tool_calls } : {}) }
  const finish_reason = finish ?? (calls.length > 0 ? "tool_calls" : "stop")
  return JSON.stringify({
    id: "r",
    model: "m",
    choices: [{ index: 0, message, finish_reason }],
    usage: openaiUsage(usage),
  })
}

/** Its content is written out by hand: the args must reach the wire as they stand. */
function anthropicWhole({ text, calls = [], blocks = [], usage = USAGE, finish }: WireTurn): string {
  const content = [
    ...blocks.map((block) => JSON.stringify(block)),
    ...(text === undefined ? [] : [JSON.stringify({ type: "text", text })]),
    ...calls.map((call) => {
      const { id, name } = call
      return `${JSON.stringify({ type: "tool_use", id, name }).slice(0, -1)},"input":${argsText(call)}}`
    }),
  ]
  const rest = JSON.stringify({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    stop_reason: finish ?? (calls.length > 0 ? "tool_use" : "end_turn"),
    stop_sequence: null,
    usage: { input_tokens: usage.prompt, output_tokens: usage.completion },
  })
  return `${rest.slice(0, -1)},"content":[${content.join(",")}]}`
}

const openaiUsage = (usage: { prompt: number; completion: number }) => ({
  prompt_tokens: usage.prompt,
  completion_tokens: usage.completion,
  total_tokens: usage.prompt + usage.completion,
})

const pieces = (text: string) => text.match(/.{1,7}/gsu) ?? []

function events(style: Style, turn: WireTurn): string {
  return style === "openai" ? openaiEvents(turn) : anthropicEvents(turn)
}

function openaiEvents({ text, calls = [], usage = USAGE, finish }: WireTurn): string {
  const chunk = (delta: Json, finish_reason: string | null = null) => ({
    id: "r",
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  })
  const chunks: Json[] = [chunk({ role: "assistant", content: "" })]
  for (const piece of pieces(text ?? "")) chunks.push(chunk({ content: piece }))
  for (const [index, call] of calls.entries()) {
    chunks.push(
      chunk({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }),
    )
    for (const piece of pieces(argsText(call)))
      chunks.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
  }
  chunks.push(chunk({}, finish ?? (calls.length > 0 ? "tool_calls" : "stop")))
  chunks.push({ id: "r", model: "m", choices: [], usage: openaiUsage(usage) })
  return [...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), "data: [DONE]\n\n"].join("")
}

function anthropicEvents(turn: WireTurn): string {
  const { text, calls = [], blocks = [], usage = USAGE } = turn
  const all: Json[] = [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: usage.prompt, output_tokens: 1 },
      },
    },
  ]
  let index = 0
  const block = (content_block: Json, deltas: Json[]) => {
    all.push({ type: "content_block_start", index, content_block })
    for (const delta of deltas) all.push({ type: "content_block_delta", index, delta })
    all.push({ type: "content_block_stop", index })
    index += 1
  }
  for (const { thinking, signature } of blocks as { thinking: string; signature: string }[]) {
    block({ type: "thinking", thinking: "", signature: "" }, [
      ...pieces(thinking).map((piece) => ({ type: "thinking_delta", thinking: piece })),
      { type: "signature_delta", signature },
    ])
  }
  if (text !== undefined) {
    block(
      { type: "text", text: "" },
      pieces(text).map((piece) => ({ type: "text_delta", text: piece })),
    )
  }
  for (const call of calls) {
    block(
      { type: "tool_use", id: call.id, name: call.name, input: {} },
      pieces(argsText(call)).map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    )
  }
  all.push({
    type: "message_delta",
    delta: { stop_reason: turn.finish ?? (calls.length > 0 ? "tool_use" : "end_turn"), stop_sequence: null },
    usage: { output_tokens: usage.completion },
  })
  all.push({ type: "message_stop" })
  return all.map((one) => `event: ${String(one.type)}\ndata: ${JSON.stringify(one)}\n\n`).join("")
}
