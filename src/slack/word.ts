/**
 * A word owed to one person: what it says and the doors by which it may reach them. Knows no reason for saying it, and
 * does not say it.
 */
import { isRecord } from "../core/json.ts"

export interface Word {
  /** The person's id. */
  user: string
  /** Where they acted: an ephemeral message is tried there when the response url no longer works. */
  channel?: string
  thread?: string
  /** Slack's own door back to them: 5 uses within 30 minutes. */
  responseUrl?: string
  /** Plain text; whatever in it looks like markup stays text. Empty for the link to a run, which is made when it is known. */
  text: string
}

/** The `data` of a slot `link` or `word:<cause>`. */
export const wordData = (word: Word): string => JSON.stringify(word)

/** Reads the `data` of such a slot; undefined when it holds no word. */
export function wordOf(data: string): Word | undefined {
  const value = parsed(data)
  if (!isRecord(value) || typeof value["user"] !== "string") return undefined
  const { channel, thread, responseUrl, text } = value
  return {
    user: value["user"],
    ...(typeof channel === "string" ? { channel } : {}),
    ...(typeof thread === "string" ? { thread } : {}),
    ...(typeof responseUrl === "string" ? { responseUrl } : {}),
    text: typeof text === "string" ? text : "",
  }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
