/**
 * Who a message pings, and why: Slack's rules for mentions in text, blocks, direct messages and threads. It stores nothing and
 * does not know who is at the keyboard: everybody counts as present for `@here`.
 */
import type { Channel, Group } from "./directory.ts"
import type { Block, Message } from "./workspace.ts"

/** Listed from the strongest to the weakest; a person is pinged once, for the strongest reason. */
export type Why = "mention" | "group" | "here" | "channel" | "everyone" | "dm" | "thread"

type Broadcast = "here" | "channel" | "everyone"
type Mention = { kind: "user" | "group"; id: string } | { kind: Broadcast }

const WRITTEN = /<(?:@([UW]\w+)|!subteam\^(S\w+)|!(here|channel|everyone))(?:\|[^<>]*)?>/g
/** A bare word after `@` that auto-parsing looks at: not within an e-mail address. */
const BARE = /(?<![\w@.<])@([\w.-]*\w)/g

const isBroadcast = (word: string | undefined): word is Broadcast =>
  word === "here" || word === "channel" || word === "everyone"

/** Mentions in one string of mrkdwn; `parse` adds the bare `@here` and `@handle` that Slack links by itself. */
function inText(text: string, parse: boolean, groups: readonly Group[]): Mention[] {
  const found: Mention[] = []
  for (const [, user, group, broadcast] of text.matchAll(WRITTEN)) {
    if (user !== undefined) found.push({ kind: "user", id: user })
    else if (group !== undefined) found.push({ kind: "group", id: group })
    else if (isBroadcast(broadcast)) found.push({ kind: broadcast })
  }
  if (!parse) return found
  for (const [, word] of text.matchAll(BARE)) {
    const group = groups.find((it) => it.handle === word)
    if (isBroadcast(word)) found.push({ kind: word })
    else if (group) found.push({ kind: "group", id: group.id })
  }
  return found
}

type Field = Record<string, unknown>

/** By the type of a block, element or text object: how it mentions. A `plain_text` object never does. */
const READERS: Record<string, (it: Field, groups: readonly Group[]) => Mention[]> = {
  plain_text: () => [],
  mrkdwn: (it, groups) => inText(String(it["text"]), it["verbatim"] !== true, groups),
  markdown: (it, groups) => inText(String(it["text"]), true, groups),
  user: (it) => [{ kind: "user", id: String(it["user_id"]) }],
  usergroup: (it) => [{ kind: "group", id: String(it["usergroup_id"]) }],
  broadcast: ({ range }) => (typeof range === "string" && isBroadcast(range) ? [{ kind: range }] : []),
}

/** Mentions anywhere in blocks. */
function inBlocks(value: unknown, groups: readonly Group[]): Mention[] {
  if (Array.isArray(value)) return value.flatMap((it) => inBlocks(it, groups))
  if (typeof value !== "object" || value === null) return []
  const field: Field = { ...value }
  const read = typeof field["type"] === "string" ? READERS[field["type"]] : undefined
  return read ? read(field, groups) : Object.values(field).flatMap((it) => inBlocks(it, groups))
}

/** The mentions in the part of a message that counts: its blocks where it has any, else its text. */
export function mentionsIn(
  message: { text: string; blocks?: Block[] },
  groups: readonly Group[],
  parse = false,
): Mention[] {
  return message.blocks && message.blocks.length > 0
    ? inBlocks(message.blocks, groups)
    : inText(message.text, parse, groups)
}

interface Posted {
  message: Message
  channel: Channel
  /** The thread it was posted into, root first, the new message included; empty outside of threads. */
  thread: readonly Message[]
  groups: readonly Group[]
  parse: boolean
}

/** Whom a new message pings. Only members of the channel are, and never its author. */
export function notified({ message, channel, thread, groups, parse }: Posted): { user: string; why: Why }[] {
  const reasons = new Map<string, Why>()
  const ping = (users: readonly string[], why: Why): void => {
    for (const user of users) {
      if (user !== message.user && channel.members.includes(user) && !reasons.has(user)) reasons.set(user, why)
    }
  }
  const mentions = mentionsIn(message, groups, parse)
  for (const mention of mentions) if (mention.kind === "user") ping([mention.id], "mention")
  for (const mention of mentions) {
    if (mention.kind === "group") ping(groups.find((it) => it.id === mention.id && !it.disabled)?.users ?? [], "group")
  }
  for (const { kind } of mentions) if (isBroadcast(kind)) ping(channel.members, kind)
  if (channel.kind === "dm") ping(channel.members, "dm")
  ping(followers(thread, groups), "thread")
  return [...reasons].map(([user, why]) => ({ user, why }))
}

/** Who follows a thread: whoever wrote in it or was named in it. */
function followers(thread: readonly Message[], groups: readonly Group[]): string[] {
  const named = thread.flatMap((it) => mentionsIn(it, groups)).flatMap((it) => (it.kind === "user" ? [it.id] : []))
  return [...thread.map((it) => it.user), ...named]
}
