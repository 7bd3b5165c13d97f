/**
 * The audit channel in Slack: lines as a message in which nothing is parsed, and whether args may stand there. Knows no
 * facts and keeps no place.
 */
import type { WebClient } from "@slack/web-api"
import { fits, type Message } from "./blocks/limits.ts"
import { bold, rich, section, type Rich } from "./blocks/rich.ts"
import { clip, escape, oneLine } from "./blocks/text.ts"
import { note } from "./blocks/words.ts"
import { limitsOfPost } from "./show/limits.ts"
import type { Pace } from "./show/pace.ts"
import { post } from "./show/send.ts"
import { auditClosed } from "./show/words.ts"

/** How long it is believed that the channel is private, ms. */
const BELIEVE = 60_000

export interface AuditChannelOptions {
  client: WebClient
  channel: string
  /** The same as that of all other messages: whatever else waits for the channel goes first. */
  pace: Pick<Pace, "take" | "hold">
  /** As configured; undefined: masked where the channel is private and unshared, else digest. */
  args: "masked" | "digest" | undefined
  /** Who is told, in private, that nothing can be posted there; ids of people. */
  admins: readonly string[]
}

type Posting =
  | { kind: "posted" }
  | { kind: "limited"; retryAfterMs: number }
  /** `content`: these very lines are refused, others may not be. */
  | { kind: "failed"; error: string; content: boolean; closed?: boolean }

/** A message of lines, each on one of its own, whole; the first is the fallback text. */
export const auditMessage = (lines: readonly string[]): Message => ({
  text: escape(clip(oneLine(lines[0] ?? "audit"), 300)),
  blocks: [rich(...lines.map((line) => legible(oneLine(line))))],
})

const SEPARATOR = " · "

/** What happened stands out: it comes behind number and time, and foreign words can't imitate what parts them. */
function legible(line: string): Rich {
  const [number = "", at, what, ...rest] = line.split(SEPARATOR)
  if (at === undefined || what === undefined) return section(`${line}\n`)
  const tail = rest.map((part) => `${SEPARATOR}${part}`).join("")
  return section(`${number}${SEPARATOR}${at}${SEPARATOR}`, bold(what), `${tail}\n`)
}

export function auditChannel({ client, channel, args, pace, admins }: AuditChannelOptions): {
  post(lines: readonly string[]): Promise<Posting>
  showsArgs(): Promise<boolean>
  closed(error: string): Promise<void>
} {
  const limits = limitsOfPost(channel)
  let believed = { at: -Infinity, value: false }
  return {
    async post(lines) {
      const message = auditMessage(lines)
      const [fault] = fits(message)
      if (fault !== undefined) return { kind: "failed", error: fault, content: true }
      const { at, now } = await pace.take(limits, "audit")
      if (at > now) return { kind: "limited", retryAfterMs: at - now }
      const sent = await post(client, { channel }, message)
      if (sent.kind === "sent") return { kind: "posted" }
      if (sent.kind === "limited") {
        await pace.hold(limits.at(-1) ?? "", sent.retryAfter)
        return { kind: "limited", retryAfterMs: sent.retryAfter }
      }
      return { kind: "failed", error: sent.error, content: sent.kind === "content", closed: sent.kind === "channel" }
    },
    async closed(error) {
      // Whom it doesn't reach can read it in the log.
      for (const user of admins) await post(client, { channel: user }, note(auditClosed(channel, error)))
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
