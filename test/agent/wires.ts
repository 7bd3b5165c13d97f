/** What the client's tests share: a provider on either wire, and what a request of either says in the same words. */
import type { ClientOptions, RunResult, StreamEvent, ToolDefinition } from "countersign"
import { createClient, createToolkit } from "countersign"
import type { Json } from "../fakes/balance.ts"
import type { Provider, Style, WireCall, WireRequest, WireTurn } from "../fakes/provider.ts"
import { startProvider } from "../fakes/provider.ts"

export const STYLES: Style[] = ["openai", "anthropic"]

const providers: Provider[] = []

export async function closeAll(): Promise<void> {
  await Promise.all(providers.splice(0).map((provider) => provider.close()))
}

export async function provide(style: Style, turns: WireTurn[]): Promise<Provider> {
  const provider = await startProvider({ style, turns })
  providers.push(provider)
  return provider
}

export function clientOf(style: Style, provider: Provider, options: Partial<ClientOptions> = {}) {
  return createClient({
    baseUrl: provider.baseUrl,
    style,
    model: "test-model",
    apiKey: "test-key",
    retryBaseMs: 5,
    ...options,
  })
}

/** A provider, a client and a toolkit in one. */
export async function setUp(
  style: Style,
  how: { turns: WireTurn[]; tools: ToolDefinition[]; options?: Partial<ClientOptions> },
) {
  const provider = await provide(style, how.turns)
  const client = clientOf(style, provider, how.options)
  const toolkit = await createToolkit({ extraTools: how.tools })
  return { provider, client, toolkit }
}

export const calling = (...calls: [name: string, args?: Record<string, unknown>][]): WireTurn => ({
  calls: calls.map(([name, args], index): WireCall => ({ id: `call_${index + 1}`, name, args: args ?? {} })),
})

export interface SentResult {
  id: string
  output: string
  /** Undefined on OpenAI's wire, which doesn't say. */
  isError?: boolean
}

/** The results that the last answer's calls got, in the order they were sent. */
export function resultsIn(style: Style, request: WireRequest | undefined): SentResult[] {
  const messages: Json[] = request?.body.messages ?? []
  if (style === "openai") {
    const last = messages.findLastIndex((message) => message.role === "assistant")
    return messages
      .slice(last + 1)
      .flatMap((message) => (message.role === "tool" ? [{ id: message.tool_call_id, output: message.content }] : []))
  }
  const blocks: Json[] = messages.at(-1)?.content ?? []
  return blocks.flatMap((block) =>
    block.type === "tool_result"
      ? [{ id: block.tool_use_id, output: block.content, isError: block.is_error === true }]
      : [],
  )
}

/** As `resultsIn` reads a result. */
export function sent(style: Style, id: string, output: string, isError: boolean): SentResult {
  return style === "openai" ? { id, output } : { id, output, isError }
}

export async function eventsOf(stream: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

/** What another process would get. */
export const carried = <T extends RunResult | RunResult["parked"]>(value: T): T =>
  JSON.parse(JSON.stringify(value)) as T

/** A promise and its ends. */
export function gate<T = void>() {
  let open: (value: T) => void = () => {}
  const opened = new Promise<T>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
