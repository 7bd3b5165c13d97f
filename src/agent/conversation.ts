/**
 * The conversation as it is sent: the whole log, or, where that was shortened, the first request, a summary of what followed, and
 * the rest. Pure; it knows where a log may be cut, and asks no model.
 */
import type { LanguageModelV3Message } from "@ai-sdk/provider"
import { weightOf } from "./files.ts"

/** An entry of the log that stands for all entries before `upto`, but for the first request. */
interface Summary {
  role: "summary"
  upto: number
  text: string
}

/** A message that is sent as it stands in the log. */
interface Kept {
  message: LanguageModelV3Message
  /** Its place in the log. */
  at: number
  bytes: number
}

export interface Conversation {
  first: Kept[]
  summary?: Summary | undefined
  /** What came after the first request, or after what the summary stands for. */
  rest: Kept[]
  /** Entries of the log. */
  length: number
}

export const summaryEntry = (upto: number, text: string): string =>
  JSON.stringify({ role: "summary", upto, text } satisfies Summary)

/** As `summaryEntry` writes it: what a summary stands for need not be read at all. */
const isSummary = (text: string): boolean => text.startsWith('{"role":"summary",')

export function conversationOf(log: readonly string[]): Conversation {
  const latest = log.findLast(isSummary)
  const summary = latest === undefined ? undefined : (JSON.parse(latest) as Summary)
  const kept = log.flatMap((text, at): Kept[] => {
    const isStoodFor = at > 0 && at < (summary?.upto ?? 0)
    if (isStoodFor || isSummary(text)) return []
    const message = JSON.parse(text) as LanguageModelV3Message
    return [{ message, at, bytes: weightOf(message, Buffer.byteLength(text)) }]
  })
  // A host's own history may begin with something else than a request.
  const begun = kept.findIndex(({ message }) => message.role !== "user")
  const first = summary || begun === -1 ? 1 : Math.min(1, begun)
  return { first: kept.slice(0, first), summary, rest: kept.slice(first), length: log.length }
}

const OPENING = "A summary of what was said and done since then, made because the conversation became too long:"

/** What is sent; it begins with the first request, whatever else was left out. */
export function messagesOf({ first, summary, rest }: Conversation): LanguageModelV3Message[] {
  const text = summary && `${OPENING}\n\n${summary.text}`
  const stands: LanguageModelV3Message[] =
    text === undefined ? [] : [{ role: "user", content: [{ type: "text", text }] }]
  return [...first.map(({ message }) => message), ...stands, ...rest.map(({ message }) => message)]
}

/** Bytes of UTF-8 that a token has, by experience: of prose more, of code and other alphabets less. */
const BYTES = 3.5
/** And at most: a provider that counts fewer tokens than this doesn't count. */
const MOST_BYTES = 8

const bytesOf = (kept: readonly Kept[]): number => kept.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * About how many tokens it has. `last`: what the provider counted for the latest turn, in and out; what came since is estimated.
 * `beside`: bytes of what is sent along (instructions, tools).
 */
export function tokensOf(
  { first, summary, rest }: Conversation,
  { last, beside }: { last: number | undefined; beside: number },
): number {
  const all = bytesOf([...first, ...rest]) + Buffer.byteLength(summary?.text ?? "") + beside
  if (last === undefined) return all / BYTES
  const since = rest.slice(rest.findLastIndex(({ message }) => message.role === "assistant") + 1)
  return Math.max(last + bytesOf(since) / BYTES, all / MOST_BYTES)
}

/**
 * Up to where the log is to be summarised so that what stays has at most so many tokens; undefined when nothing can be. Never
 * between a call and its result, and what people said last stays as they said it.
 */
export function cutOf({ rest, length }: Conversation, tokens: number): number | undefined {
  const spoken = rest.length - 1 - rest.findLastIndex(({ message }) => message.role !== "user")
  let from = rest.length - spoken
  let bytes = bytesOf(rest.slice(from))
  for (let index = from - 1; index > 0; index -= 1) {
    bytes += rest[index]?.bytes ?? 0
    if (bytes / BYTES > tokens) break
    if (rest[index]?.message.role !== "tool") from = index
  }
  return from === 0 ? undefined : (rest[from]?.at ?? length)
}
