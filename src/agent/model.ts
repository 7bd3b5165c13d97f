/**
 * The model: the one place that knows its providers. Takes one turn at a time and hands back what to store and run, or
 * why there is none; whether to ask again is for others to decide.
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
} from "@ai-sdk/provider"
import { Deadline } from "./deadline.ts"
import { refusesFiles, takeable } from "./files.ts"
import { exactInputs, withRawInputs } from "./raw-input.ts"
import type { Reply } from "./reply.ts"
import { replyOf } from "./reply.ts"
import { gather } from "./stream.ts"
import type { Stumble } from "./stumble.ts"
import { stumbleOf } from "./stumble.ts"
import type { Tool } from "./tool.ts"

export type { TurnCall } from "./reply.ts"

/** One turn of the model, or why there is none. */
export type Turn = ({ ok: true } & Reply) | Stumble

export interface ModelOptions {
  provider: "openai-compatible" | "anthropic"
  /** With or without a trailing slash; for Anthropic also with or without its `/v1`, and by default its own. */
  baseUrl?: string | undefined
  model: string
  apiKey?: string | undefined
  fetch?: typeof globalThis.fetch | undefined
}

/** @throws TypeError without an address where one is needed. */
export function createModel(options: ModelOptions): LanguageModelV3 {
  const fetch = direct(options.fetch ?? globalThis.fetch)
  if (options.provider === "anthropic") {
    const base = (options.baseUrl ?? "https://api.anthropic.com").replace(/\/+$/, "")
    const baseURL = base.endsWith("/v1") ? base : `${base}/v1`
    // An absent key is the empty one: otherwise the provider would look for one in the environment.
    const apiKey = options.apiKey ?? ""
    return exactInputs(createAnthropic({ baseURL, apiKey, fetch: withRawInputs(fetch) })(options.model))
  }
  if (options.baseUrl === undefined || options.baseUrl === "") {
    throw new TypeError("createModel: baseUrl is required, such as https://api.openai.com/v1")
  }
  const key = options.apiKey === undefined ? {} : { apiKey: options.apiKey }
  return createOpenAICompatible({
    name: "openai-compatible",
    baseURL: options.baseUrl.replace(/\/+$/, ""),
    ...key,
    fetch,
    includeUsage: true,
  }).chatModel(options.model)
}

/** What a configuration may wish of a model's answers; as the provider specification has it. */
export type ModelWishes = Pick<
  LanguageModelV3CallOptions,
  | "temperature"
  | "topP"
  | "topK"
  | "maxOutputTokens"
  | "stopSequences"
  | "presencePenalty"
  | "frequencyPenalty"
  | "seed"
  | "providerOptions"
>

export interface Asked {
  /** The transcript so far. */
  messages: LanguageModelV3Message[]
  tools: readonly Tool[]
  instructions?: string | undefined
  wishes?: ModelWishes | undefined
  /** What ends the turn before its time. The caller clears it. */
  limit?: Deadline | undefined
  /** Text as it comes; its presence is what makes the answer stream. */
  onText?: ((delta: string) => void) | undefined
}

/** Takes one turn. Nothing is retried here, but files that the model does not take are left out. Never rejects. */
export async function takeTurn(model: LanguageModelV3, given: Asked): Promise<Turn> {
  const { limit = new Deadline([], undefined), onText } = given
  const asked = { ...given, messages: takeable(model, given.messages) }
  const options: LanguageModelV3CallOptions = {
    prompt: promptOf(asked),
    ...(asked.tools.length === 0 ? {} : { tools: functionsOf(asked.tools), toolChoice: { type: "auto" } as const }),
    ...asked.wishes,
    get abortSignal() {
      return limit.signal
    },
  }
  const generated = await outcome(async () => {
    if (onText === undefined) return model.doGenerate(options)
    return gather(await model.doStream(options), (delta) => {
      if (!limit.aborted) onText(delta)
    })
  }, limit)
  if (generated.ok) return { ok: true, ...replyOf(generated.value, idsOf(asked.messages)) }
  if (limit.isLate) return stumbleOf(limit.reason, model.modelId)
  if (limit.aborted) return { ok: false, retryable: false, words: "stopped", aborted: true }
  const stumble = stumbleOf(generated.error, model.modelId)
  // What is too long may be so without them: whether it can be shortened is for others to say.
  if (!stumble.tooLong && refusesFiles(model, asked.messages, generated.error)) return takeTurn(model, given)
  return stumble
}

type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown }

/** Settles when the work does or it is aborted, whichever is first: a model that ignores its signal holds up nobody. */
function outcome<T>(work: () => Promise<T>, limit: Deadline): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const failed = (error: unknown): void => resolve({ ok: false, error })
    const letGo = limit.whenAborted(() => failed(limit.reason))
    if (limit.aborted) return
    work()
      .then((value) => resolve({ ok: true, value }), failed)
      .finally(letGo)
  })
}

/** By name: providers cache what a request begins with, and tools that come and go must not change places. */
const functionsOf = (tools: readonly Tool[]): LanguageModelV3FunctionTool[] =>
  tools.map(functionOf).sort((a, b) => (a.name < b.name ? -1 : 1))

function functionOf(tool: Tool): LanguageModelV3FunctionTool {
  const { name, description, inputSchema } = tool
  return { type: "function", name, description, inputSchema }
}

function idsOf(messages: readonly LanguageModelV3Message[]): Set<string> {
  const ids = new Set<string>()
  for (const message of messages) {
    if (message.role !== "assistant") continue
    for (const part of message.content) if (part.type === "tool-call") ids.add(part.toolCallId)
  }
  return ids
}

/** The transcript as it is sent: what providers refuse is put right here, and nothing of it is stored. */
function promptOf({ instructions, messages }: Asked): LanguageModelV3Prompt {
  const system = instructions === undefined || instructions.trim() === "" ? [] : [instructions]
  return [
    ...system.map((content) => ({ role: "system" as const, content })),
    ...messages.filter((message) => message.role !== "assistant" || message.content.length > 0).map(speakable),
  ]
}

function speakable(message: LanguageModelV3Message): LanguageModelV3Message {
  if (message.role === "user") return { ...message, content: message.content.map(worded) }
  if (message.role !== "tool") return message
  const content = message.content.map((part) => {
    if (part.type !== "tool-result" || part.output.type !== "error-text" || part.output.value.trim() !== "") return part
    // Anthropic refuses an error without words.
    return { ...part, output: { ...part.output, value: "the tool failed and did not say why" } }
  })
  return { ...message, content }
}

type UserPart = Extract<LanguageModelV3Message, { role: "user" }>["content"][number]

/** Anthropic refuses a text without words, too, and with it the whole conversation. */
const worded = (part: UserPart): UserPart =>
  part.type === "text" && part.text.trim() === "" ? { ...part, text: "(nothing was said)" } : part

/** Bytes of one answer that are read; the longest that any model gives, word by word, has half of that. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * A fetch that follows no redirect: a key and a conversation go to the address they were meant for, or nowhere. Of what has no end
 * it reads no more than `most` bytes: else one server could take all of our memory.
 */
export function direct(fetch: typeof globalThis.fetch, most = MOST_BYTES): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" })
    const { body, status, statusText, headers } = response
    if (body === null || status < 200 || status > 599) return response
    return new Response(body.pipeThrough(atMost(most)), { status, statusText, headers })
  }
}

function atMost(most: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > most) controller.error(new Error(`one answer of more than ${most / 1024 / 1024} MB`))
      else controller.enqueue(chunk)
    },
  })
}
