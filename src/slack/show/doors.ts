/** The ways by which a word reaches one person, in the order in which they are tried. Knows no call. */
import type { Word } from "../word.ts"
import type { Slot } from "./record.ts"

export type Door = "url" | "whisper" | "message"

/** The way that is tried next; undefined when none is left. */
export const doorOf = (word: Word, slot: Slot): Door | undefined => doorsTo(word)[slot.sent.door ?? 0]

/**
 * A response url is gone after half an hour, and by then the person may be as well: what is shown to one person in a channel
 * reaches them only while they look.
 */
function doorsTo({ responseUrl, channel }: Word): Door[] {
  if (channel === undefined) return responseUrl === undefined ? ["message"] : ["url", "message"]
  return responseUrl === undefined ? ["whisper", "message"] : ["url", "message", "whisper"]
}
