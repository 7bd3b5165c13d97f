/**
 * Messages that are written while people watch: chat.startStream, appendStream and stopStream. They grow at their end only, and
 * nobody changes one otherwise before it is stopped. https://docs.slack.dev/reference/methods/chat.startStream
 */
import { own, reach, threadFault } from "./chat.ts"
import { type Args, fail, type Failure, faulty, json, type Result, word } from "./content.ts"
import { LIMITS } from "./limits.ts"
import { BOT } from "./seed.ts"
import type { Site } from "./site.ts"
import { checkBlocks } from "./validate.ts"
import type { Block } from "./workspace.ts"

/** What a call adds: blocks, and text as a markdown block; undefined where it adds nothing. */
type Added = { ok: true; blocks: Block[] } | Failure

export function startStream(site: Site, args: Args): Result {
  const reached = reach(site, word(args, "channel"))
  if (!("channel" in reached)) return reached
  const { channel } = reached
  const thread = word(args, "thread_ts")
  if (thread === undefined) return fail("invalid_thread_ts")
  const fault = threadFault(site, channel.id, args)
  if (fault) return fault
  const recipient = word(args, "recipient_user_id")
  if (channel.kind !== "dm" && recipient === undefined) return fail("missing_recipient_user_id")
  if (channel.kind !== "dm" && word(args, "recipient_team_id") === undefined) return fail("missing_recipient_team_id")
  const added = addedBy(args)
  if (!added.ok) return added
  const draft = { channel: channel.id, user: BOT, text: "", thread_ts: thread, streaming: true as const }
  const { ts } = site.workspace.post(added.blocks.length === 0 ? draft : { ...draft, blocks: added.blocks })
  return { ok: true, channel: channel.id, ts }
}

export function appendStream(site: Site, args: Args): Result {
  return grown(site, args, true)
}

export function stopStream(site: Site, args: Args): Result {
  return grown(site, args, false)
}

function grown(site: Site, args: Args, goesOn: boolean): Result {
  const found = own(site, args, "message_not_owned_by_app")
  if (!("ts" in found)) return found
  const message = site.workspace.message(found.channel, found.ts)
  if (message?.streaming !== true) return fail("message_not_in_streaming_state")
  const added = addedBy(args)
  if (!added.ok) return added
  if (goesOn && added.blocks.length === 0) return fail("no_text")
  const blocks = [...(message.blocks ?? []), ...added.blocks].map((block, index) => ({
    ...block,
    block_id: `stream-${index}`,
  }))
  if (blocks.length > LIMITS.messageBlocks) return fail("msg_too_long")
  site.workspace.edit(found.channel, found.ts, { text: message.text, blocks, streaming: goesOn })
  return { ok: true, channel: found.channel, ts: found.ts }
}

function addedBy(args: Args): Added {
  const chunks = json(args, "chunks")
  const text = word(args, "markdown_text")
  if (text !== undefined && chunks) return fail("markdown_text_conflict")
  const blocks = text === undefined ? chunked(chunks) : blocksOf({ type: "markdown_text", text })
  if (!blocks) return fail("invalid_chunks")
  const checked = checkBlocks(structuredClone(blocks), "/chunks")
  return checked.ok ? { ok: true, blocks: checked.value } : faulty("invalid_blocks", checked.faults)
}

function chunked(chunks: ReturnType<typeof json>): unknown[] | undefined {
  if (!chunks) return []
  const each = "value" in chunks && Array.isArray(chunks.value) ? chunks.value.map(blocksOf) : [undefined]
  return each.includes(undefined) ? undefined : each.flat()
}

/** What a chunk adds; undefined for one that there isn't. */
function blocksOf(chunk: { type?: unknown; blocks?: unknown; text?: unknown }): unknown[] | undefined {
  if (chunk.type === "markdown_text") return [{ type: "markdown", text: chunk.text }]
  return chunk.type === "blocks" && Array.isArray(chunk.blocks) ? (chunk.blocks as unknown[]) : undefined
}
