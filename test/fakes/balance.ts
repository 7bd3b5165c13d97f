/** What the real providers refuse with 400 in a request, on both wires, and in a prompt before it is on either. */
import type { LanguageModelV3Prompt } from "@ai-sdk/provider"

// oxlint-disable-next-line typescript/no-explicit-any -- whatever a client sent
export type Json = any

const NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** Walks a transcript: each call of an answer has one result, in call order, before anybody speaks again. */
class Balance {
  #open: string[] = []

  result(id: string): string | undefined {
    if (this.#open[0] !== id) return `a result for ${id}, expected one for ${this.#open[0] ?? "nothing"}`
    this.#open.shift()
    return undefined
  }

  settled(): string | undefined {
    return this.#open.length === 0 ? undefined : `calls without a result: ${this.#open.join(", ")}`
  }

  calls(ids: string[]): string | undefined {
    this.#open = [...ids]
    return new Set(ids).size < ids.length ? "two calls of one id" : undefined
  }
}

export function promptFault(prompt: LanguageModelV3Prompt): string | undefined {
  const balance = new Balance()
  for (const [index, message] of prompt.entries()) {
    const fault = message.role === "tool" ? resultsFault(balance, message.content) : spokenFault(balance, message)
    if (fault !== undefined) return `message ${index} (${message.role}): ${fault}`
  }
  return balance.settled()
}

type Message = LanguageModelV3Prompt[number]

function resultsFault(balance: Balance, content: Extract<Message, { role: "tool" }>["content"]): string | undefined {
  for (const part of content) {
    const fault = balance.result(part.type === "tool-result" ? part.toolCallId : "(an approval)")
    if (fault !== undefined) return fault
  }
  return undefined
}

function spokenFault(balance: Balance, message: Message): string | undefined {
  const ids =
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []))
      : []
  return balance.settled() ?? balance.calls(ids)
}

/** As OpenAI does: an assistant message with tool_calls is followed by one tool message for each, in order. */
export function openaiFault(body: Json): string | undefined {
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "messages is required"
  const balance = new Balance()
  for (const [index, message] of body.messages.entries()) {
    const fault = message.role === "tool" ? openaiResultFault(balance, message) : openaiSpokenFault(balance, message)
    if (fault !== undefined) return `messages[${index}]: ${fault}`
  }
  const tools = (body.tools ?? []).map((tool: Json) => ({ name: tool.function.name, schema: tool.function.parameters }))
  return balance.settled() ?? toolsFault(tools)
}

function openaiResultFault(balance: Balance, message: Json): string | undefined {
  return typeof message.content === "string" ? balance.result(message.tool_call_id) : "content must be a string"
}

function openaiSpokenFault(balance: Balance, message: Json): string | undefined {
  const calls: Json[] = message.tool_calls ?? []
  if (message.role === "assistant" && message.content === null && calls.length === 0) {
    return "content or tool_calls is required"
  }
  const fault = calls.map(openaiCallFault).find((one) => one !== undefined)
  return balance.settled() ?? fault ?? balance.calls(calls.map((call) => call.id))
}

function openaiCallFault(call: Json): string | undefined {
  if (typeof call.id !== "string" || call.id === "") return "a tool call without an id"
  if (!NAME.test(call.function.name)) return `function name ${JSON.stringify(call.function.name)} is wrong`
  try {
    const args: unknown = JSON.parse(call.function.arguments)
    if (typeof args === "object" && args !== null && !Array.isArray(args)) return undefined
  } catch {}
  // Not OpenAI itself, but most servers that speak its wire put the args through a template that wants an object.
  return "arguments must be a JSON object"
}

/** As Anthropic does: roles alternate, and the results of a message's calls begin the next one. */
export function anthropicFault(body: Json): string | undefined {
  if (typeof body.max_tokens !== "number") return "max_tokens: Field required"
  const messages: Json[] = body.messages ?? []
  if (messages[0]?.role !== "user") return "messages: first message must use the user role"
  const balance = new Balance()
  const fault = messages.map((message, index) => {
    const twice = messages[index - 1]?.role === message.role ? "roles must alternate" : undefined
    const found = twice ?? anthropicMessageFault(balance, blocksOf(message))
    return found === undefined ? undefined : `messages.${index}: ${found}`
  })
  const tools = (body.tools ?? []).map((tool: Json) => ({ name: tool.name, schema: tool.input_schema }))
  return fault.find((one) => one !== undefined) ?? balance.settled() ?? toolsFault(tools)
}

function blocksOf(message: Json): Json[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content
}

function anthropicMessageFault(balance: Balance, blocks: Json[]): string | undefined {
  if (blocks.length === 0) return "content must not be empty"
  const results = blocks.filter((block) => block.type === "tool_result")
  if (blocks.slice(0, results.length).some((block) => block.type !== "tool_result"))
    return "tool_result must come first"
  const faults = [
    ...blocks.map(anthropicBlockFault),
    ...results.map((block) => balance.result(block.tool_use_id)),
    balance.settled(),
    balance.calls(blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []))),
  ]
  return faults.find((fault) => fault !== undefined)
}

function anthropicBlockFault(block: Json): string | undefined {
  if (block.type === "tool_use") return toolUseFault(block)
  if (block.type === "text" && String(block.text).trim() === "") return "text must contain non-whitespace text"
  const mute = block.type === "tool_result" && block.is_error === true && block.content === ""
  return mute ? "content cannot be empty if is_error is true" : undefined
}

function toolUseFault(block: Json): string | undefined {
  if (!/^[a-zA-Z0-9_-]+$/.test(block.id)) return `tool_use.id ${JSON.stringify(block.id)} is wrong`
  if (!NAME.test(block.name)) return `tool_use.name ${JSON.stringify(block.name)} is wrong`
  const input: unknown = block.input
  const dictionary = typeof input === "object" && input !== null && !Array.isArray(input)
  return dictionary ? undefined : "tool_use.input: Input should be a valid dictionary"
}

function toolsFault(tools: { name: string; schema: Json }[]): string | undefined {
  for (const { name, schema } of tools) {
    if (!NAME.test(name)) return `tool name ${JSON.stringify(name)} is wrong`
    if (schema?.type !== "object") return `tool ${name}: the schema must have type object`
  }
  return new Set(tools.map(({ name }) => name)).size < tools.length ? "tool names must be unique" : undefined
}
