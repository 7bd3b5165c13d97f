/** A model that says what it was told to, turn by turn, and refuses a transcript that a real one would refuse. */
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
} from "@ai-sdk/provider"
import { promptFault } from "./balance.ts"

export interface ScriptedCall {
  id?: string
  tool: string
  /** A string is sent as it stands. */
  args?: Record<string, unknown> | string
}

export interface Said {
  text?: string
  calls?: ScriptedCall[]
  /** Other content, before text and calls. */
  content?: LanguageModelV3Content[]
  finish?: LanguageModelV3FinishReason["unified"]
  usage?: { prompt: number; completion: number }
}

type Spoken = string | Error | Said

/** A text alone, or what a turn consists of; an Error is thrown; a function is asked when its turn comes. */
export type ScriptedTurn = Spoken | ((options: LanguageModelV3CallOptions) => Spoken | Promise<Spoken>)

export interface ScriptedModel extends LanguageModelV3 {
  /** Every request so far, copied when it came. */
  readonly requests: LanguageModelV3CallOptions[]
}

/** `name` is what it calls itself when it is asked more often than it has turns. */
export function scriptedModel(turns: readonly ScriptedTurn[], name = "scripted"): ScriptedModel {
  const requests: LanguageModelV3CallOptions[] = []
  const next = async (options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> => {
    options.abortSignal?.throwIfAborted()
    const index = requests.length
    requests.push({ ...options, prompt: structuredClone(options.prompt) })
    const fault = promptFault(options.prompt)
    if (fault !== undefined) throw new Error(`model "${name}", request ${index + 1}: ${fault}`)
    const turn = turns[index]
    if (turn === undefined)
      throw new Error(`model "${name}" was asked ${index + 1} times and has ${turns.length} turns`)
    return said(typeof turn === "function" ? await turn(options) : turn, index)
  }
  return {
    specificationVersion: "v3",
    provider: "scripted",
    modelId: name,
    supportedUrls: {},
    requests,
    doGenerate: next,
    doStream: async (options) => {
      const parts = streamed(await next(options))
      return { stream: ReadableStream.from<LanguageModelV3StreamPart>(parts) }
    },
  }
}

function said(turn: Spoken, index: number): LanguageModelV3GenerateResult {
  if (turn instanceof Error) throw turn
  const { text, calls = [], content = [], finish, usage = USAGE } = typeof turn === "string" ? { text: turn } : turn
  const why = calls.length > 0 ? "tool-calls" : "stop"
  return {
    content: [
      ...content,
      ...(text === undefined ? [] : [{ type: "text" as const, text }]),
      ...calls.map((call, n) => callOf(call, `call_${index + 1}_${n + 1}`)),
    ],
    finishReason: { unified: finish ?? why, raw: undefined },
    usage: {
      inputTokens: { total: usage.prompt, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: usage.completion, text: undefined, reasoning: undefined },
    },
    warnings: [],
  }
}

const USAGE = { prompt: 10, completion: 5 }

function callOf({ id, tool, args = {} }: ScriptedCall, otherwise: string): LanguageModelV3ToolCall {
  const input = typeof args === "string" ? args : JSON.stringify(args)
  return { type: "tool-call", toolCallId: id ?? otherwise, toolName: tool, input }
}

function streamed({ content, finishReason, usage }: LanguageModelV3GenerateResult): LanguageModelV3StreamPart[] {
  const parts: LanguageModelV3StreamPart[] = [{ type: "stream-start", warnings: [] }]
  for (const [index, part] of content.entries()) {
    if (part.type !== "text" && part.type !== "reasoning") {
      parts.push(part)
      continue
    }
    const id = String(index)
    const meta = part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata }
    parts.push({ type: `${part.type}-start`, id })
    for (const delta of part.text.match(/.{1,4}/gsu) ?? []) parts.push({ type: `${part.type}-delta`, id, delta })
    parts.push({ type: `${part.type}-end`, id, ...meta })
  }
  return [...parts, { type: "finish", finishReason, usage }]
}
