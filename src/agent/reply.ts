/**
 * A model's answer, as what is stored and run: the assistant message of the transcript, its text, its calls with their
 * args read exactly. Pure; knows no provider by name and no tool.
 */
import type {
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3Message,
  LanguageModelV3ToolCall,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider"
import { canonical, parseExact } from "../core/digest.ts"
import type { Used } from "../core/usage.ts"

export type AssistantMessage = Extract<LanguageModelV3Message, { role: "assistant" }>
type Part = AssistantMessage["content"][number]

export interface TurnCall {
  /** The model's id of the call, made unique in the transcript: the result must bear it. */
  ref: string
  tool: string
  /** The args as the model wrote them; half a character is replaced, here and in all other text. */
  raw: string
  /** The canonical text of the args; absent when they can't be read as what they say. */
  args?: string
  /** Why they can't, in words for the model. */
  error?: string
}

export interface Reply {
  /** As JSON holds it: parsed input, provider metadata kept (thinking signatures live there), bytes as base64. */
  message: AssistantMessage
  text: string
  calls: TurnCall[]
  usage: Used
  /** Why the model stopped. */
  finish: LanguageModelV3GenerateResult["finishReason"]["unified"]
}

export type Generated = Pick<LanguageModelV3GenerateResult, "content" | "finishReason" | "usage">

/** `taken`: ids of calls that stand in the transcript already. */
export function replyOf(generated: Generated, taken: ReadonlySet<string>): Reply {
  const { finishReason, usage } = generated
  const ids = new Set(taken)
  const calls: TurnCall[] = []
  const parts: Part[] = []
  for (const content of generated.content) {
    if (content.type === "tool-call" && content.providerExecuted !== true) {
      const read = callOf(content, ids)
      calls.push(read.call)
      parts.push(read.part)
    } else parts.push(...partOf(content))
  }
  const last = calls.at(-1)
  if (finishReason.unified === "length" && last !== undefined) {
    // What came before it is complete; this one may be the beginning of something else.
    delete last.args
    last.error = "your answer was cut off at its length limit, so this call may be incomplete; it was not executed"
  }
  return {
    message: { role: "assistant", content: parts },
    text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    calls,
    usage: usedOf(usage),
    finish: finishReason.unified,
  }
}

/** A provider's numbers are a stranger's: what is no count is none. */
function usedOf({ inputTokens, outputTokens }: Generated["usage"]): Used {
  const tokens = (n: number | undefined): number => (Number.isSafeInteger(n) ? Math.max(0, n ?? 0) : 0)
  const cached = tokens(inputTokens.cacheRead)
  const used = { prompt: tokens(inputTokens.total), completion: tokens(outputTokens.total) }
  return cached === 0 ? used : { ...used, cached }
}

function callOf(content: LanguageModelV3ToolCall, ids: Set<string>): { call: TurnCall; part: Part } {
  const ref = uniqueId(whole(content.toolCallId), ids)
  const parsed = parseExact(content.input)
  const named = { ref, tool: whole(content.toolName), raw: whole(content.input) }
  const call: TurnCall = parsed.ok
    ? { ...named, args: canonical(parsed.value) }
    : { ...named, error: quoted(parsed.error, named.raw) }
  const part: Part = {
    type: "tool-call",
    toolCallId: ref,
    toolName: spokenName(content.toolName),
    // Unreadable args go back as an empty object, which every provider accepts; the error quotes them.
    input: parsed.ok ? parsed.value : {},
    ...optionsOf(content.providerMetadata),
  }
  return { call, part }
}

/** As it stands in the conversation, of a call and of its result: a name that no provider accepts would get every later request refused. */
export const spokenName = (tool: string): string => tool.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown"

function quoted(error: string, raw: string): string {
  return whole(`${error}. You wrote: ${raw.length > 500 ? `${raw.slice(0, 500)}…` : raw}`)
}

/** Half a character can be sent as JSON, but not stored: it would stop the run here, turn after turn. */
const whole = (text: string): string => text.replace(/\p{Cs}/gu, "\ufffd")

/** Some servers number the calls of each turn anew, or leave ids empty; a result must find its call. */
function uniqueId(id: string, ids: Set<string>): string {
  let unique = id === "" ? "call" : id
  for (let n = 2; ids.has(unique) || unique === "call"; n += 1) unique = `${id === "" ? "call" : id}_${n}`
  ids.add(unique)
  return unique
}

function partOf(content: LanguageModelV3Content): Part[] {
  if (content.type === "text" || content.type === "reasoning") {
    const { type, providerMetadata } = content
    // A thought is signed as it came.
    const text = type === "text" ? whole(content.text) : content.text
    // Providers refuse blank text; a thought without words may still carry its signature.
    const blank = text.trim() === "" && (type === "text" || providerMetadata === undefined)
    return blank ? [] : [{ type, text, ...optionsOf(providerMetadata) }]
  }
  if (content.type !== "file") return []
  const data = typeof content.data === "string" ? content.data : Buffer.from(content.data).toString("base64")
  return [{ type: "file", mediaType: content.mediaType, data, ...optionsOf(content.providerMetadata) }]
}

function optionsOf(metadata: SharedV3ProviderMetadata | undefined): { providerOptions?: SharedV3ProviderMetadata } {
  if (metadata === undefined) return {}
  // Gemini's thought signature comes under the name of the provider that read it, and is sent back under `google` alone.
  const signature = Object.values(metadata).find((options) => "thoughtSignature" in options)?.["thoughtSignature"]
  const google = signature === undefined ? {} : { google: { thoughtSignature: signature } }
  return { providerOptions: { ...metadata, ...google } }
}
