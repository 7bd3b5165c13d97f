/**
 * What a call says and shows: arguments read from a form or JSON, and the text, blocks and metadata of a message, checked as
 * Slack checks them. It knows no channel and no person.
 */
import { escapeMrkdwn } from "./escape.ts"
import { LIMITS } from "./limits.ts"
import { blocksText, checkBlocks, checkMetadata, type Fault } from "./validate.ts"
import type { Message } from "./workspace.ts"

export type Args = Record<string, unknown>
export interface Failure {
  ok: false
  error: string
  /** Slack's words on each fault. */
  errors?: (string | Fault)[]
  response_metadata?: { messages: string[] }
  /** With missing_scope. */
  needed?: string
  provided?: string
}
export type Result = { ok: true; [key: string]: unknown } | Failure

export const fail = (error: string, more: Omit<Failure, "ok" | "error"> = {}): Failure => ({
  ok: false,
  error,
  ...more,
})

/** A failure that names each fault and its place, as Slack's `response_metadata.messages` do. */
export function faulty(error: string, faults: Fault[]): Failure {
  const told = faults.map(({ message, pointer }) => `${message} [json-pointer:${pointer}]`)
  return fail(error, { errors: told, response_metadata: { messages: told.map((it) => `[ERROR] ${it}`) } })
}

/** An argument as a string; absent and empty are both `undefined`. */
export function word(args: Args, name: string): string | undefined {
  const value = args[name]
  if (typeof value === "number") return String(value)
  return typeof value === "string" && value !== "" ? value : undefined
}

export const flag = (args: Args, name: string): boolean => ["true", "1", true, 1].includes(args[name] as string)

/** An argument that is JSON in a form and itself in a JSON body. */
export function json(args: Args, name: string): { value: unknown } | { broken: true } | undefined {
  const value = args[name]
  if (value === undefined || value === null || value === "") return undefined
  if (typeof value !== "string") return { value }
  try {
    return { value: JSON.parse(value) }
  } catch {
    return { broken: true }
  }
}

/** `text` is unescaped and uncut; `blocks` are as stored; each is absent when the call didn't give it. */
export interface Content {
  text?: string
  blocks?: NonNullable<Message["blocks"]>
  metadata?: NonNullable<Message["metadata"]>
}

/** Slack takes these; this Slack has no picture of them, so it refuses rather than pretends. */
const UNKNOWN_HERE = ["attachments", "markdown_text"] as const
const EMPTY = new Set(['""', "[]", '"[]"'])

/** Reads what a message shall be; `no_text` when there is nothing to show. */
export function readContent(args: Args): { ok: true; content: Content } | Failure {
  const unknown = UNKNOWN_HERE.find((name) => !EMPTY.has(JSON.stringify(args[name] ?? "")))
  if (unknown) return fail(`${unknown}_not_in_the_sandbox`)
  const text = word(args, "text")
  const content: Content = text === undefined ? {} : { text }
  const failure = addBlocks(args, content) ?? addMetadata(args, content)
  if (failure) return failure
  const shown = (text ?? "").trim() !== "" || (content.blocks ?? []).length > 0
  return shown ? { ok: true, content } : fail("no_text")
}

function addBlocks(args: Args, content: Content): Failure | undefined {
  const given = json(args, "blocks")
  if (!given) return undefined
  if ("broken" in given || !Array.isArray(given.value)) return fail("invalid_blocks_format")
  const checked = checkBlocks(given.value)
  if (!checked.ok) return faulty("invalid_blocks", checked.faults)
  if (blocksText(checked.value) > LIMITS.blocksText) return fail("msg_blocks_too_long")
  content.blocks = checked.value
  return undefined
}

function addMetadata(args: Args, content: Content): Failure | undefined {
  const given = json(args, "metadata")
  if (!given) return undefined
  if ("broken" in given) return fail("invalid_metadata_format")
  const checked = checkMetadata(given.value)
  if (!checked.ok) return faulty("invalid_metadata_schema", checked.faults)
  if (Buffer.byteLength(JSON.stringify(checked.value)) > LIMITS.metadataBytes) return fail("metadata_too_large")
  content.metadata = checked.value
  return undefined
}

/** What is stored for a new message: the text cut where Slack cuts it, then escaped. */
export function posted({ text, blocks, metadata }: Content): Pick<Message, "text" | "blocks" | "metadata"> {
  return {
    text: escapeMrkdwn((text ?? "").slice(0, LIMITS.postedText)),
    ...(blocks && blocks.length > 0 ? { blocks } : {}),
    ...(metadata ? { metadata } : {}),
  }
}
