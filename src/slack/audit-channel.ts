/**
 * The audit channel in Slack: lines as a message in which nothing is parsed, and whether args may stand there. Knows no
 * facts and keeps no place.
 */
import type { WebClient } from "@slack/web-api"
import type { Message } from "./blocks/limits.ts"
import { rich, section } from "./blocks/rich.ts"
import { clip, escape, visible } from "./blocks/text.ts"
import { post } from "./show/send.ts"

/** How long it is believed that the channel is private, ms. */
const BELIEVE = 60_000

export interface AuditChannelOptions {
  client: WebClient
  channel: string
  /** As configured; undefined: masked where the channel is private and unshared, else digest. */
  args: "masked" | "digest" | undefined
}

type Posting = { kind: "posted" } | { kind: "limited"; retryAfterMs: number } | { kind: "failed"; error: string }

/** What one line may have when hidden characters are written out: eight of these fit into a message whatever they hold. */
const MAX_LINE = 700

/** A message of lines; the first is the fallback text. */
export function auditMessage(lines: readonly string[]): Message {
  const shown = lines.map((line) => clip(visible(line), MAX_LINE))
  return { text: escape(clip(shown[0] ?? "audit", 300)), blocks: shown.map((line) => rich(section(line))) }
}

export function auditChannel({ client, channel, args }: AuditChannelOptions): {
  post(lines: readonly string[]): Promise<Posting>
  showsArgs(): Promise<boolean>
} {
  let believed = { at: -Infinity, value: false }
  return {
    async post(lines) {
      const sent = await post(client, { channel }, auditMessage(lines))
      if (sent.kind === "sent") return { kind: "posted" }
      if (sent.kind === "limited") return { kind: "limited", retryAfterMs: sent.retryAfter }
      return { kind: "failed", error: sent.error }
    },
    async showsArgs() {
      if (args === "digest") return false
      if (performance.now() - believed.at > BELIEVE) {
        believed = { at: performance.now(), value: await isPrivate(client, channel) }
      }
      return believed.value
    },
  }
}

/** Private and unshared. What can't be looked up is not. */
async function isPrivate(client: WebClient, channel: string): Promise<boolean> {
  try {
    const { channel: info } = await client.conversations.info({ channel })
    return info?.is_private === true && !info.is_ext_shared && !info.is_shared && !info.is_org_shared
  } catch {
    return false
  }
}
