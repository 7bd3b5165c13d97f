/**
 * Lines of text as one message in a channel: each on a line of its own, nothing in them parsed. It knows nothing of what
 * they say.
 */
import type { WebClient } from "@slack/web-api"
import { fits, type Message } from "./blocks/limits.ts"
import { rich, section } from "./blocks/rich.ts"
import { clip, escape, oneLine } from "./blocks/text.ts"
import { post } from "./show/send.ts"

export type LinesPosted =
  | { kind: "sent" }
  | { kind: "limited"; retryAfter: number }
  /** `content`: these very lines are refused, others may not be. */
  | { kind: "failed"; error: string; content: boolean }

export const linesMessage = (lines: readonly string[]): Message => ({
  text: escape(clip(oneLine(lines[0] ?? ""), 200)),
  blocks: [rich(...lines.map((line) => section(`${oneLine(line)}\n`)))],
})

/** Posts lines once. The reply can be lost; then they may stand there twice, with the same words. */
export async function postLines(client: WebClient, channel: string, lines: readonly string[]): Promise<LinesPosted> {
  const message = linesMessage(lines)
  const [fault] = fits(message)
  if (fault !== undefined) return { kind: "failed", error: fault, content: true }
  const sending = await post(client, { channel }, message)
  if (sending.kind === "sent") return { kind: "sent" }
  if (sending.kind === "limited") return sending
  return { kind: "failed", error: sending.error, content: sending.kind === "content" }
}
