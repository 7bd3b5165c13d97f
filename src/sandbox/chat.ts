/**
 * The chat.* methods: who may write where, and what becomes of it. https://docs.slack.dev/reference/methods
 */
import { type Args, fail, type Failure, flag, posted, readContent, type Result, word } from "./content.ts"
import type { Channel } from "./directory.ts"
import { escapeMrkdwn } from "./escape.ts"
import { LIMITS } from "./limits.ts"
import { wire } from "./payloads.ts"
import { BOT } from "./seed.ts"
import type { Site } from "./site.ts"

type Reached = { channel: Channel } | Failure

/** A channel that the app knows of: any public one, and those it is in. */
export function visible({ workspace }: Site, id: string | undefined): Channel | undefined {
  const channel = workspace.channels.get(id ?? "")
  return channel && (channel.kind === "channel" || channel.members.includes(BOT)) ? channel : undefined
}

/** The channel that the app may write to under this id; a person's id stands for the app's conversation with them. */
export function reach(site: Site, id: string | undefined): Reached {
  if (id !== undefined && /^[UW]/.test(id)) return reachPerson(site, id)
  const channel = visible(site, id)
  if (!channel) return fail("channel_not_found")
  if (channel.is_archived) return fail("is_archived")
  if (channel.kind === "dm" && !site.workspace.messagesEnabled) return fail("messages_tab_disabled")
  const open = channel.members.includes(BOT) || site.scopes.has("chat:write.public")
  return open ? { channel } : fail("not_in_channel")
}

function reachPerson({ workspace }: Site, id: string): Reached {
  const person = workspace.people.get(id)
  if (!person || person.is_bot || person.deleted) return fail("channel_not_found")
  return workspace.messagesEnabled ? { channel: workspace.openDm(BOT, id) } : fail("messages_tab_disabled")
}

export function threadFault({ workspace }: Site, channel: string, args: Args): Failure | undefined {
  const ts = args["thread_ts"]
  if (ts === undefined || ts === null) return undefined
  if (typeof ts !== "string" || !/^\d{10}\.\d{6}$/.test(ts)) return fail("invalid_thread_ts")
  const root = workspace.message(channel, ts)
  if (!root) return fail("thread_not_found")
  return root.thread_ts !== undefined && root.thread_ts !== root.ts ? fail("cannot_reply_to_message") : undefined
}

const threaded = (args: Args): { thread_ts?: string } => {
  const ts = word(args, "thread_ts")
  return ts === undefined ? {} : { thread_ts: ts }
}

export function postMessage(site: Site, args: Args): Result {
  const reached = reach(site, word(args, "channel"))
  if (!("channel" in reached)) return reached
  const read = readContent(args)
  if (!read.ok) return read
  const { channel } = reached
  const fault = threadFault(site, channel.id, args)
  if (fault) return fault
  const parse = flag(args, "link_names") || args["parse"] === "full"
  const message = site.workspace.post({
    channel: channel.id,
    user: BOT,
    ...posted(read.content),
    ...threaded(args),
    parse,
  })
  return { ok: true, channel: channel.id, ts: message.ts, message: wire(site.workspace, message) }
}

/** A message of the app's own, or why it can't be touched; `foreign` is the method's word for somebody else's. */
export function own(site: Site, args: Args, foreign: string): { channel: string; ts: string } | Failure {
  const channel = visible(site, word(args, "channel"))
  if (!channel) return fail("channel_not_found")
  const message = site.workspace.message(channel.id, word(args, "ts") ?? "")
  if (!message || message.deleted === true) return fail("message_not_found")
  if (message.user !== BOT) return fail(foreign)
  if (!channel.members.includes(BOT)) return fail("not_in_channel")
  return channel.is_archived ? fail("is_inactive") : { channel: channel.id, ts: message.ts }
}

export function update(site: Site, args: Args): Result {
  const found = own(site, args, "cant_update_message")
  if (!("ts" in found)) return found
  if (site.workspace.message(found.channel, found.ts)?.streaming === true) return fail("streaming_state_conflict")
  const read = readContent(args)
  if (!read.ok) return read
  const text = escapeMrkdwn(read.content.text ?? "")
  if (text.length > LIMITS.updatedText) return fail("msg_too_long")
  site.workspace.edit(found.channel, found.ts, { ...posted(read.content), text })
  const message = site.workspace.message(found.channel, found.ts)
  return { ok: true, channel: found.channel, ts: found.ts, text, message: message && wire(site.workspace, message) }
}

export function remove(site: Site, args: Args): Result {
  const found = own(site, args, "cant_delete_message")
  if (!("ts" in found)) return found
  if (site.workspace.message(found.channel, found.ts)?.streaming === true) return fail("streaming_state_conflict")
  site.workspace.remove(found.channel, found.ts)
  return { ok: true, channel: found.channel, ts: found.ts }
}

export function postEphemeral(site: Site, args: Args): Result {
  const reached = reach(site, word(args, "channel"))
  if (!("channel" in reached)) return reached
  const { channel } = reached
  const user = word(args, "user") ?? ""
  if (!channel.members.includes(BOT)) return fail("not_in_channel")
  if (!channel.members.includes(user)) return fail("user_not_in_channel")
  const read = readContent(args)
  if (!read.ok) return read
  const fault = threadFault(site, channel.id, args)
  if (fault) return fault
  const draft = { channel: channel.id, user: BOT, ...posted(read.content), ...threaded(args) }
  return { ok: true, message_ts: site.workspace.whisper(user, draft).ts }
}

export function getPermalink(site: Site, args: Args): Result {
  const channel = visible(site, word(args, "channel"))
  if (!channel) return fail("channel_not_found")
  const { id } = channel
  const message = site.workspace.message(id, word(args, "message_ts") ?? "")
  if (!message) return fail("message_not_found")
  const link = new URL(`archives/${id}/p${message.ts.replace(".", "")}`, site.url)
  if (message.thread_ts !== undefined && message.thread_ts !== message.ts) {
    link.searchParams.set("thread_ts", message.thread_ts)
    link.searchParams.set("cid", id)
  }
  return { ok: true, channel: id, permalink: link.href }
}
