/**
 * What a server answered to a call, as text for a model: nothing of it is dropped without a word, none of it is longer than
 * the limit, and nothing invisible or of our own secrets is in it. Knows no server.
 */
import { canonical } from "../../core/digest.ts"
import { isRecord } from "../../core/json.ts"
import type { ToolResult } from "../../core/suspension.ts"

/** Characters of a result; what is longer is cut with a mark. */
const MAX_OUTPUT = 100_000
const MAX_BLOCKS = 1000

/** What can't be seen but read: controls, halves of characters, and the letters that tags are written in. */
const UNSAFE = /(?![\t\n\r])\p{Cc}|[\p{Cs}\u{E0000}-\u{E007F}]/gu

/** Text of a stranger without anything invisible. */
export const readable = (text: string): string => text.replaceAll(UNSAFE, "\ufffd")

/** A stranger's words on one line, for people. */
export function oneLine(text: string, max = 200): string {
  const line = text.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim()
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line
}

/** What an error says, without what the SDK puts before it. */
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .replace(/^MCP error -?\d+: /, "")
    .replace(/^Streamable HTTP error: (?:Error POSTing to endpoint: )?/, "")

/** `clean` takes our own secrets out. */
export function resultOf(answer: Record<string, unknown>, clean: (text: string) => string): ToolResult {
  const { content, structuredContent, isError } = answer
  const blocks = Array.isArray(content) ? (content as unknown[]) : []
  const parts = blocks.slice(0, MAX_BLOCKS).map(blockText)
  if (blocks.length > MAX_BLOCKS) parts.push(`[${blocks.length - MAX_BLOCKS} further parts, left out]`)
  if (structuredContent !== undefined && !repeated(blocks, structuredContent))
    parts.push(JSON.stringify(structuredContent))
  if (!Array.isArray(content) && structuredContent === undefined) {
    return { output: "the server answered with what is no result of a tool", isError: true }
  }
  return { output: cut(readable(clean(parts.join("\n")))), isError: isError === true }
}

function cut(text: string): string {
  if (text.length <= MAX_OUTPUT) return text
  return `${text.slice(0, MAX_OUTPUT).replace(/[\ud800-\udbff]$/, "")}\n[cut here: it has ${text.length} characters in all]`
}

/** Servers are asked to say structured content as text, too; where it is one text in a wrapping, that is it. */
function repeated(blocks: readonly unknown[], structured: unknown): boolean {
  const values = isRecord(structured) ? Object.values(structured) : []
  const only = values.length === 1 ? values[0] : undefined
  return blocks.some((block) => {
    if (!isRecord(block) || block["type"] !== "text" || typeof block["text"] !== "string") return false
    return block["text"] === only || sameJson(block["text"], structured)
  })
}

function sameJson(text: string, value: unknown): boolean {
  try {
    return canonical(JSON.parse(text)) === canonical(value)
  } catch {
    return false
  }
}

function blockText(block: unknown): string {
  if (!isRecord(block)) return "[a part that can't be read, left out]"
  const { type, text, mimeType, data, uri, name, resource } = block
  switch (type) {
    case "text":
      return typeof text === "string" ? text : "[a text that can't be read, left out]"
    case "image":
    case "audio":
      return `[${type} ${word(mimeType)}, ${sizeOf(data)}, left out]`
    case "resource_link":
      return `[link to a resource: ${word(name)}, ${word(uri)}]`
    case "resource":
      return isRecord(resource) ? resourceText(resource) : "[a resource that can't be read, left out]"
    default:
      return `[a part of type ${word(type)}, left out]`
  }
}

function resourceText({ uri, mimeType, text, blob }: Record<string, unknown>): string {
  if (typeof text === "string") return `[resource ${word(uri)}]\n${text}`
  return `[resource ${word(uri)}, ${word(mimeType)}, ${sizeOf(blob)}, left out]`
}

const word = (value: unknown): string => (typeof value === "string" ? oneLine(value, 300) : "without a name")

/** Of base64. */
function sizeOf(data: unknown): string {
  const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0
  return bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} kB`
}
