/**
 * On Anthropic's wire the args of a call are JSON inside the JSON of the answer, so reading the answer would change them
 * unseen (15947634569000323 becomes …324, of a key given twice one is lost). Here their text is kept as it was sent.
 */
import type { LanguageModelV3 } from "@ai-sdk/provider"
import { isRecord } from "../core/json.ts"

/** A fetch whose unstreamed answers carry the `input` of each call as a string: its own text. */
export function withRawInputs(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || response.headers.get("content-type")?.includes("event-stream") === true) return response
    const headers = new Headers(response.headers)
    // The body below is decoded, and of another length.
    headers.delete("content-length")
    headers.delete("content-encoding")
    const { status, statusText } = response
    return new Response(completed(rawInputs(await response.text())), { status, statusText, headers })
  }
}

/** The model that undoes it: each call's input is the text that was sent. */
export function exactInputs(model: LanguageModelV3): LanguageModelV3 {
  return {
    specificationVersion: "v3",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doStream: (options) => model.doStream(options),
    doGenerate: async (options) => {
      const result = await model.doGenerate(options)
      const content = result.content.map((part) => {
        if (part.type !== "tool-call") return part
        const text: unknown = JSON.parse(part.input)
        return typeof text === "string" ? { ...part, input: text } : part
      })
      return { ...result, content }
    },
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Puts the text of each `content[n].input` into quotes; a text that is no such answer comes back as it is. */
function rawInputs(text: string): string {
  /** For each object we are in the key being read, for each list null. */
  const path: (string | null)[] = []
  let previous = ""
  let out = ""
  let done = 0
  let from: number | undefined
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === "{" && isInput(path)) from = index
    move(path, token, previous)
    previous = token
    if (token === "}" && from !== undefined && path.length === 3) {
      out += text.slice(done, from) + JSON.stringify(text.slice(from, index + 1))
      done = index + 1
      from = undefined
    }
  }
  return out + text.slice(done)
}

/** Gateways leave out of an answer what nobody needs, but the provider insists on; its args are safe in quotes by now. */
function completed(text: string): string {
  try {
    const answer: unknown = JSON.parse(text)
    if (!isRecord(answer) || !Array.isArray(answer["content"])) return text
    if (answer["type"] !== undefined && answer["usage"] !== undefined) return text
    return JSON.stringify({ type: "message", usage: { input_tokens: 0, output_tokens: 0 }, ...answer })
  } catch {
    return text
  }
}

function isInput(path: readonly (string | null)[]): boolean {
  return path.length === 3 && path[0] === "content" && path[1] === null && path[2] === "input"
}

function move(path: (string | null)[], token: string, previous: string): void {
  if (token === "{" || token === "[") path.push(null)
  if (token === "}" || token === "]") path.pop()
  if (token === ":" && path.length > 0) path[path.length - 1] = keyOf(previous)
}

function keyOf(token: string): string | null {
  try {
    const key: unknown = JSON.parse(token)
    return typeof key === "string" ? key : null
  } catch {
    return null
  }
}
