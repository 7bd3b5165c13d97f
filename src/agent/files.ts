/**
 * Files in a conversation: what they weigh, and what is said in their place to a model that does not take them. Knows no provider
 * and no place where files come from.
 */
import { APICallError, UnsupportedFunctionalityError, type LanguageModelV3Message } from "@ai-sdk/provider"

type FilePart = Extract<Extract<LanguageModelV3Message, { role: "user" }>["content"][number], { type: "file" }>

/** Bytes that an image counts for, whatever it has: models see so many pieces of it. */
const IMAGE = 6000
/** A document has a little text and much that is none. */
const OF_DOCUMENT = 1 / 6

/** Bytes that a message counts for in the conversation, `whole` of them as it is written. */
export function weightOf(message: LanguageModelV3Message, whole: number): number {
  return filesIn(message).reduce((sum, file) => {
    const bytes = dataOf(file).length
    return sum - bytes + (file.mediaType.startsWith("image/") ? Math.min(bytes, IMAGE) : bytes * OF_DOCUMENT)
  }, whole)
}

const filesIn = (message: LanguageModelV3Message): FilePart[] =>
  message.role === "user" ? message.content.filter((part) => part.type === "file") : []

const dataOf = ({ data }: FilePart): string => (typeof data === "string" ? data : "")

/** What a model did not take, by the end of its data: as long as the process lives, it isn't sent there again. */
const refused = new WeakMap<object, Set<string>>()
/** Of one model. */
const MOST = 1000

const keyOf = (file: FilePart): string => `${dataOf(file).length}:${dataOf(file).slice(-64)}`

/** The conversation with words in place of what the model did not take before. */
export const takeable = (model: object, messages: readonly LanguageModelV3Message[]): LanguageModelV3Message[] =>
  messages.map((message) => without(message, (file) => refused.get(model)?.has(keyOf(file)) === true))

function without(message: LanguageModelV3Message, isOut: (file: FilePart) => boolean): LanguageModelV3Message {
  if (message.role !== "user" || !message.content.some((part) => part.type === "file" && isOut(part))) return message
  const content = message.content.map((part) =>
    part.type === "file" && isOut(part) ? ({ type: "text", text: inPlaceOf(part) } as const) : part,
  )
  return { ...message, content }
}

const inPlaceOf = ({ filename = "a file", mediaType }: FilePart): string =>
  `[A file was attached that you can't read: the model does not take ${JSON.stringify(filename)} (${mediaType}). Say so.]`

/** Statuses by which a server refuses what it was sent, and not who sent it. */
const REFUSALS = new Set([400, 413, 415, 422])

/**
 * Whether the model may have refused the conversation because of its files. Then they are noted, so that it can be asked again
 * without them.
 */
export function refusesFiles(model: object, messages: readonly LanguageModelV3Message[], error: unknown): boolean {
  const isRefusal = APICallError.isInstance(error)
    ? REFUSALS.has(error.statusCode ?? 0)
    : UnsupportedFunctionalityError.isInstance(error)
  return isRefusal && leaveOut(model, messages)
}

/** Notes the files of a conversation, so that it is sent without them from now on; false when there were none to leave out. */
export function leaveOut(model: object, messages: readonly LanguageModelV3Message[]): boolean {
  const files = takeable(model, messages).flatMap(filesIn)
  if (files.length === 0) return false
  const known = refused.get(model) ?? new Set<string>()
  if (known.size > MOST) known.clear()
  for (const file of files) known.add(keyOf(file))
  refused.set(model, known)
  return true
}
