/** Puts a streamed answer together, as if it had come whole. Knows no wire. */
import type {
  LanguageModelV3Content,
  LanguageModelV3StreamPart,
  LanguageModelV3StreamResult,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider"
import type { Generated } from "./reply.ts"

type Spoken = Extract<LanguageModelV3Content, { type: "text" | "reasoning" }>

/** Rejects with what the stream reports as an error, and when it ends before the model did. */
export async function gather(result: LanguageModelV3StreamResult, onText: (delta: string) => void): Promise<Generated> {
  const content: LanguageModelV3Content[] = []
  const open = new Map<string, Spoken>()
  let finish: Extract<LanguageModelV3StreamPart, { type: "finish" }> | undefined
  for await (const part of result.stream) {
    if (part.type === "error") throw part.error
    if (part.type === "finish") finish = part
    else if (part.type === "tool-call" || part.type === "file") content.push(part)
    else speak(part, content, open)
    if (part.type === "text-delta" && part.delta !== "") onText(part.delta)
  }
  if (finish === undefined) throw new Error("it ended in the middle")
  return { content, finishReason: finish.finishReason, usage: finish.usage }
}

/** Adds to the text or thought that the part belongs to; the order is that in which they began. */
function speak(part: LanguageModelV3StreamPart, content: LanguageModelV3Content[], open: Map<string, Spoken>): void {
  const [kind, event] = part.type.split("-")
  if ((kind !== "text" && kind !== "reasoning") || !("id" in part)) return
  const key = `${kind} ${part.id}`
  if (event === "start") {
    const started: Spoken = { type: kind, text: "" }
    open.set(key, started)
    content.push(started)
  }
  const spoken = open.get(key)
  if (spoken === undefined) return
  if ("delta" in part) spoken.text += part.delta
  if ("providerMetadata" in part && part.providerMetadata !== undefined) {
    spoken.providerMetadata = merged(spoken.providerMetadata, part.providerMetadata)
  }
  if (event === "end") open.delete(key)
}

/** A signature may come after the words it signs. */
function merged(
  before: SharedV3ProviderMetadata | undefined,
  after: SharedV3ProviderMetadata,
): SharedV3ProviderMetadata {
  const all = { ...before }
  for (const [provider, options] of Object.entries(after)) all[provider] = { ...all[provider], ...options }
  return all
}
