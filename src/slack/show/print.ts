/**
 * A fingerprint of what a message says and offers, which is the same for what we sent and for what Slack gives back of it,
 * however Slack spells it. Knows no message in particular.
 */
import { sha256 } from "../../core/digest.ts"
import { isRecord } from "../../core/json.ts"

/** What is read or pressed; Slack adds ids of its own, and may leave out what is as usual. */
const TOLD = new Set(["text", "url", "user_id", "usergroup_id", "channel_id", "action_id", "value"])

export const printOf = (blocks: unknown): string => sha256(leaves(blocks).map(plain).join("\n")).slice(0, 16)

function leaves(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(leaves)
  if (!isRecord(value)) return []
  return Object.keys(value)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .flatMap((key) => {
      const inner = value[key]
      if (typeof inner === "string") return TOLD.has(key) ? [inner] : []
      return leaves(inner)
    })
}

/** Slack escapes three characters, and writes an emoji by its name; letters and digits are what it leaves alone. */
const plain = (text: string): string =>
  text
    .replace(/&(amp|lt|gt);/g, "")
    .replace(/:[\w+-]+:/g, "")
    .replace(/[^\p{L}\p{N}]/gu, "")
