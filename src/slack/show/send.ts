/**
 * Slack calls that write: one call each, never repeated here, with what came of it told apart. Knows no run and no
 * pace; whether a call is made again is the caller's to decide.
 */
import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, type WebClient } from "@slack/web-api"
import type { KnownBlock } from "@slack/types"
import type { Message } from "../blocks/limits.ts"
import { printOf } from "./print.ts"

/** Where a message stands. */
export interface Place {
  channel: string
  ts: string
}

/**
 * What came of a call. `unknown`: the reply was lost or says that Slack stumbled, so it may have been done (`answered`: it will
 * not be any more) ·
 * `channel`: nothing can be written there · `content`: this message is not accepted · `message`: it can't be changed
 * (any more) · `thread`: its root is gone · `bot`: the token or a scope is wrong, for every call alike.
 */
export type Failure =
  | { kind: "limited"; retryAfter: number }
  | { kind: "unknown"; error: string; answered?: true }
  | { kind: "channel" | "content" | "message" | "thread" | "bot"; error: string }

export type Sending = { kind: "sent"; place: Place } | Failure

/** ms that a call may take; the lease of whoever calls must be longer. */
export const CALL_TIMEOUT = 8000

/** Posts a message; `about` goes along as metadata. */
export function post(
  client: WebClient,
  to: { channel: string; thread?: string },
  content: Message,
  about?: About,
): Promise<Sending> {
  return attempt(async () => {
    const { ts, channel } = await client.chat.postMessage({
      channel: to.channel,
      ...(to.thread === undefined ? {} : { thread_ts: to.thread }),
      ...quiet(content),
      unfurl_links: false,
      unfurl_media: false,
      ...(about ? { metadata: metadata(about, content) } : {}),
    })
    return { channel: channel ?? to.channel, ts: ts ?? "" }
  })
}

/** Replaces the whole message. */
export function update(client: WebClient, place: Place, content: Message, about: About): Promise<Sending> {
  return attempt(async () => {
    const { channel, ts } = place
    const change = { channel, ts, ...quiet(content), metadata: metadata(about, content) }
    await unstreamed(client, place, () => client.chat.update(change))
    return place
  })
}

/** Takes a message of ours away. */
export function remove(client: WebClient, place: Place): Promise<Sending> {
  return attempt(async () => {
    await unstreamed(client, place, () => client.chat.delete({ channel: place.channel, ts: place.ts }))
    return place
  })
}

/** What is still being written is ended first: it can't be changed otherwise, and whoever wrote it may be dead. */
async function unstreamed(client: WebClient, { channel, ts }: Place, call: () => Promise<unknown>): Promise<void> {
  try {
    await call()
  } catch (error) {
    if (!(error instanceof WebAPIPlatformError) || error.data.error !== "streaming_state_conflict") throw error
    await client.chat.stopStream({ channel, ts })
    await call()
  }
}

/** Begins a message that grows while people watch, in a thread; `to` names whom it is for. */
export function startStream(
  client: WebClient,
  to: { channel: string; thread: string; user: string; team: string },
  blocks: KnownBlock[],
): Promise<Sending> {
  return attempt(async () => {
    const { ts } = await client.chat.startStream({
      channel: to.channel,
      thread_ts: to.thread,
      recipient_user_id: to.user,
      recipient_team_id: to.team,
      chunks: [{ type: "blocks", blocks }],
    })
    return { channel: to.channel, ts: ts ?? "" }
  })
}

/** Adds to its end. */
export function appendStream(client: WebClient, { channel, ts }: Place, blocks: KnownBlock[]): Promise<Sending> {
  return attempt(async () => {
    await client.chat.appendStream({ channel, ts, chunks: [{ type: "blocks", blocks }] })
    return { channel, ts }
  })
}

/** Shows a message to one person in a channel. It is gone when they reload, and nobody can change it. */
export function whisper(
  client: WebClient,
  to: { channel: string; user: string; thread?: string },
  content: Message,
): Promise<Sending> {
  return attempt(async () => {
    const { message_ts } = await client.chat.postEphemeral({
      channel: to.channel,
      user: to.user,
      ...(to.thread === undefined ? {} : { thread_ts: to.thread }),
      ...quiet(content),
    })
    return { channel: to.channel, ts: message_ts ?? "" }
  })
}

/** Answers by a response url, to the one person it belongs to; without the thread it would stand in the channel. */
export function respond(
  { url, thread }: { url: string; thread?: string | undefined },
  content: Message,
  timeout = CALL_TIMEOUT,
): Promise<Sending> {
  const place = thread === undefined ? {} : { thread_ts: thread }
  return attempt(async () => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ response_type: "ephemeral", replace_original: false, ...place, ...quiet(content) }),
      redirect: "error",
      signal: AbortSignal.timeout(timeout),
    })
    const said = await response.text()
    if (response.status === 429) {
      throw new WebAPIRateLimitedError(Number.parseInt(response.headers.get("retry-after") ?? "1", 10) || 1)
    }
    if (response.status >= 500) throw new Error(`the response url answered ${response.status}`)
    if (response.status !== 200) throw new Dead(`the response url answered ${response.status} ${said.slice(0, 100)}`)
    return { channel: "", ts: "" }
  })
}

/** The address of a message. */
export async function permalink(client: WebClient, place: Place): Promise<string | undefined> {
  try {
    const { permalink: link } = await client.chat.getPermalink({ channel: place.channel, message_ts: place.ts })
    return link
  } catch {
    return undefined
  }
}

/** What kind of metadata a message of ours bears. */
export const EVENT = "countersign_message"

/** What a message is, by which it is found again, and what it was made to show; any member can read that. */
export interface About {
  run: string
  slot: string
  /** Of the content, as it is compared with what the run should show. */
  shows: string
}

const metadata = (
  about: About,
  { blocks }: Message,
): { event_type: string; event_payload: Record<string, string> } => ({
  event_type: EVENT,
  event_payload: { ...about, print: printOf(blocks) },
})

/** Nothing in it is parsed for links and names, which chat.update would do by itself. Blocks go along always: an update without them takes them away. */
const quiet = ({ text, blocks }: Message): Message & { parse: "none"; link_names: false } => ({
  text,
  blocks,
  parse: "none",
  link_names: false,
})

/** A response url that will not work again. */
class Dead extends Error {}

async function attempt(call: () => Promise<Place>): Promise<Sending> {
  try {
    return { kind: "sent", place: await call() }
  } catch (error) {
    return failureOf(error)
  }
}

/** Tells apart what a call failed with. */
export function failureOf(error: unknown): Failure {
  if (error instanceof WebAPIRateLimitedError) return { kind: "limited", retryAfter: error.retryAfter * 1000 }
  if (error instanceof Dead) return { kind: "message", error: error.message }
  if (error instanceof WebAPIPlatformError) return refusal(error.data.error)
  if (error instanceof WebAPIHTTPError) return { kind: "unknown", error: `HTTP ${error.statusCode}` }
  return { kind: "unknown", error: error instanceof Error ? error.message : String(error) }
}

/** https://docs.slack.dev/reference/methods/chat.postMessage and chat.update, "Errors" */
const REFUSALS: Record<string, "channel" | "content" | "message" | "thread" | "bot"> = {
  channel_not_found: "channel",
  not_in_channel: "channel",
  is_archived: "channel",
  user_not_in_channel: "channel",
  messages_tab_disabled: "channel",
  team_access_not_granted: "channel",
  ekm_access_denied: "channel",
  cannot_dm_bot: "channel",
  user_not_found: "channel",
  user_disabled: "channel",
  user_not_visible: "channel",
  channel_type_not_supported: "channel",
  no_text: "content",
  invalid_blocks: "content",
  invalid_blocks_format: "content",
  msg_blocks_too_long: "content",
  msg_too_long: "content",
  metadata_too_large: "content",
  invalid_metadata_format: "content",
  invalid_metadata_schema: "content",
  invalid_arguments: "content",
  message_not_found: "message",
  cant_update_message: "message",
  cant_delete_message: "message",
  edit_window_closed: "message",
  is_inactive: "message",
  invalid_thread_ts: "thread",
  thread_not_found: "thread",
  cannot_reply_to_message: "thread",
  invalid_auth: "bot",
  not_authed: "bot",
  account_inactive: "bot",
  token_expired: "bot",
  token_revoked: "bot",
  missing_scope: "bot",
  no_permission: "bot",
  not_allowed_token_type: "bot",
  org_login_required: "bot",
  access_denied: "bot",
}

function refusal(error: string): Failure {
  if (error === "ratelimited" || error === "rate_limited") return { kind: "limited", retryAfter: 10_000 }
  if (error.startsWith("restricted_action")) return { kind: "channel", error }
  const kind = REFUSALS[error]
  // What we don't know may be passing, or half done: it is tried again, slower and slower.
  return kind === undefined ? { kind: "unknown", error, answered: true } : { kind, error }
}
