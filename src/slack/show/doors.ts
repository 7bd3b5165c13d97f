/** The ways by which a word reaches one person, in the order in which they are tried. Knows no call. */
import type { Word } from "../word.ts"
import type { Slot } from "./record.ts"

export type Door = "url" | "whisper" | "message"

/** The way that is tried next; undefined when none is left. */
export function doorOf(word: Word, slot: Slot): Door | undefined {
  const doors: Door[] = [
    ...(word.responseUrl === undefined ? [] : ["url" as const]),
    ...(word.channel === undefined ? [] : ["whisper" as const]),
    "message",
  ]
  return doors[slot.sent.door ?? 0]
}
