/** An earlier conversation, made fit to go on from: plain data in, plain data out. */
import type { LanguageModelV3Message } from "@ai-sdk/provider"
import { failure } from "./tool.ts"
import { resultMessage } from "./plan.ts"

const LEFT = "not executed: the conversation went on without it"

/**
 * The same messages as JSON texts, with exactly one result for each call, in call order: a conversation that was left
 * while a call waited has calls without one, and providers refuse it.
 */
export function balanced(messages: readonly LanguageModelV3Message[]): string[] {
  const texts: string[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") continue
    texts.push(JSON.stringify(message))
    if (message.role !== "assistant") continue
    const results = resultsAfter(messages, index)
    for (const part of message.content) {
      if (part.type !== "tool-call") continue
      const { toolCallId, toolName } = part
      texts.push(results.get(toolCallId) ?? resultMessage(toolCallId, toolName, failure(LEFT)))
    }
  }
  return texts
}

/** The results that follow a message, by call; of two for one call the later counts. */
function resultsAfter(messages: readonly LanguageModelV3Message[], index: number): Map<string, string> {
  const results = new Map<string, string>()
  for (const message of messages.slice(index + 1)) {
    if (message.role !== "tool") break
    for (const part of message.content) {
      if (part.type === "tool-result") {
        results.set(part.toolCallId, JSON.stringify({ role: "tool", content: [part] }))
      }
    }
  }
  return results
}
