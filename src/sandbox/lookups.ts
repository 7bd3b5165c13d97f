/**
 * The methods that read: who somebody is, who is in a group or a channel, what was written. https://docs.slack.dev/reference/methods
 */
import { visible } from "./chat.ts"
import { type Args, fail, faulty, flag, json, type Result, word } from "./content.ts"
import type { Channel, Group, Person } from "./directory.ts"
import type { Kept } from "./files.ts"
import { wire } from "./payloads.ts"
import { APP_ID, BOT, BOT_ID } from "./seed.ts"
import type { Site } from "./site.ts"
import { type Checked, checkBlocks, checkView } from "./validate.ts"
import type { Message } from "./workspace.ts"

export function authTest({ workspace, url }: Site, _args: Args): Result {
  const { id, name } = workspace.team
  const bot = workspace.person(BOT)
  return {
    ok: true,
    url,
    team: name,
    team_id: id,
    user: bot.name,
    user_id: BOT,
    bot_id: BOT_ID,
    is_enterprise_install: false,
  }
}

export function connectionsOpen(site: Site, _args: Args): Result {
  return { ok: true, url: site.socketUrl() }
}

/** Who is met in a shared channel that the app knows of is no stranger: of them, `team_id` alone tells that they are foreign. */
function isStranger(site: Site, { id, team_id, is_stranger }: Person): boolean {
  const { channels, team } = site.workspace
  const meets = (channel: Channel): boolean =>
    channel.is_ext_shared && channel.members.includes(id) && visible(site, channel.id) !== undefined
  return is_stranger && (team_id === team.id || ![...channels.values()].some(meets))
}

const user = (site: Site, person: Person) => ({
  id: person.id,
  team_id: person.team_id,
  name: person.name,
  real_name: person.real_name,
  deleted: person.deleted,
  is_bot: person.is_bot,
  is_app_user: false,
  is_restricted: person.is_restricted,
  is_ultra_restricted: person.is_ultra_restricted,
  is_stranger: isStranger(site, person),
  tz: "Etc/UTC",
  tz_offset: 0,
  profile: { real_name: person.real_name, display_name: person.name, team: person.team_id },
  ...(person.enterprise_id === undefined
    ? {}
    : { enterprise_user: { id: person.id, enterprise_id: person.enterprise_id, teams: [person.team_id] } }),
})

export function usersInfo(site: Site, args: Args): Result {
  const person = site.workspace.people.get(word(args, "user") ?? "")
  return person ? { ok: true, user: user(site, person) } : fail("user_not_found")
}

export function botsInfo({ workspace }: Site, args: Args): Result {
  if (word(args, "bot") !== BOT_ID) return fail("bot_not_found")
  return {
    ok: true,
    bot: { id: BOT_ID, app_id: APP_ID, user_id: BOT, name: workspace.person(BOT).name, deleted: false },
  }
}

/** A file that the app is shown: it is where it was attached. */
export function shownFile(site: Site, id: string): Kept | undefined {
  const kept = site.workspace.files.get(id)
  return kept && site.workspace.channels.get(kept.channel)?.members.includes(BOT) ? kept : undefined
}

export function filesInfo(site: Site, args: Args): Result {
  const kept = shownFile(site, word(args, "file") ?? "")
  return kept
    ? { ok: true, file: kept.file, comments: [], response_metadata: { next_cursor: "" } }
    : fail("file_not_found")
}

const usergroup = ({ id, handle, name, users, disabled }: Group, team_id: string, withUsers: boolean) => ({
  id,
  team_id,
  is_usergroup: true,
  handle,
  name,
  user_count: users.length,
  date_delete: disabled ? 1 : 0,
  ...(withUsers ? { users } : {}),
})

export function usergroupsList({ workspace }: Site, args: Args): Result {
  if (!workspace.paid) return fail("plan_upgrade_required")
  const listed = [...workspace.groups.values()].filter((it) => !it.disabled || flag(args, "include_disabled"))
  const usergroups = listed.map((it) => usergroup(it, workspace.team.id, flag(args, "include_users")))
  return { ok: true, usergroups }
}

export function usergroupUsers({ workspace }: Site, args: Args): Result {
  if (!workspace.paid) return fail("plan_upgrade_required")
  const group = workspace.groups.get(word(args, "usergroup") ?? "")
  if (!group || (group.disabled && !flag(args, "include_disabled"))) return fail("no_such_subteam")
  return { ok: true, users: [...group.users] }
}

const conversation = (channel: Channel, team: string) => ({
  id: channel.id,
  name: channel.name,
  is_channel: channel.kind === "channel",
  is_group: channel.kind === "private",
  is_im: channel.kind === "dm",
  is_private: channel.kind !== "channel",
  is_member: channel.members.includes(BOT),
  is_archived: channel.is_archived,
  is_mpim: false,
  is_shared: channel.is_ext_shared || channel.is_org_shared === true,
  is_ext_shared: channel.is_ext_shared,
  is_org_shared: channel.is_org_shared === true,
  is_pending_ext_shared: channel.is_pending_ext_shared === true,
  context_team_id: team,
  num_members: channel.members.length,
  ...(channel.kind === "dm" ? { user: channel.members.find((it) => it !== BOT) } : {}),
})

export function conversationsInfo(site: Site, args: Args): Result {
  const channel = visible(site, word(args, "channel"))
  return channel ? { ok: true, channel: conversation(channel, site.workspace.team.id) } : fail("channel_not_found")
}

export function conversationsMembers(site: Site, args: Args): Result {
  const channel = visible(site, word(args, "channel"))
  if (!channel) return fail("channel_not_found")
  const { page, ...rest } = paged(channel.members, args)
  return { ok: true, members: page, ...rest }
}

/** One person's conversation with the app, by their id or its own; of several people this Slack has no picture. */
export function conversationsOpen(site: Site, args: Args): Result {
  const known = word(args, "channel")
  if (known !== undefined) return reopened(site, known, args)
  const ids = (word(args, "users") ?? "").split(",").filter((id) => id !== "")
  const [id] = ids
  if (id === undefined) return fail("users_list_not_supplied")
  if (ids.length > 1) return fail("several_users_not_in_the_sandbox")
  const { workspace } = site
  const person = workspace.people.get(id)
  if (!person) return fail("user_not_found")
  if (person.deleted) return fail("user_disabled")
  if (person.is_bot) return fail("cannot_dm_bot")
  const before = workspace.dm(BOT, id)
  const dm = before ?? workspace.openDm(BOT, id)
  return { ok: true, ...(before ? { no_op: true, already_open: true } : {}), channel: opened(site, dm, args) }
}

function reopened(site: Site, id: string, args: Args): Result {
  const channel = visible(site, id)
  if (channel?.kind !== "dm") return fail("channel_not_found")
  return { ok: true, no_op: true, already_open: true, channel: opened(site, channel, args) }
}

const opened = ({ workspace }: Site, channel: Channel, args: Args) =>
  flag(args, "return_im") ? conversation(channel, workspace.team.id) : { id: channel.id }

/** The part of a channel that a caller asked for; `undefined` when it may not read there. */
function readable(site: Site, args: Args): { channel: Channel; messages: Message[] } | undefined {
  const channel = visible(site, word(args, "channel"))
  if (!channel) return undefined
  const oldest = Number(word(args, "oldest") ?? 0)
  const latest = Number(word(args, "latest") ?? Infinity)
  const inclusive = flag(args, "inclusive")
  const within = ({ ts }: Message): boolean =>
    inclusive ? Number(ts) >= oldest && Number(ts) <= latest : Number(ts) > oldest && Number(ts) < latest
  return { channel, messages: site.workspace.messages(channel.id).filter(within) }
}

function listed(site: Site, args: Args, messages: Message[]): Result {
  const { page, response_metadata } = paged(messages, args)
  const withMetadata = flag(args, "include_all_metadata")
  return {
    ok: true,
    messages: page.map((message) => wire(site.workspace, message, withMetadata)),
    has_more: response_metadata.next_cursor !== "",
    response_metadata,
  }
}

/** Newest first; replies are not in it. */
export function conversationsHistory(site: Site, args: Args): Result {
  const read = readable(site, args)
  if (!read) return fail("channel_not_found")
  if (!read.channel.members.includes(BOT)) return fail("not_in_channel")
  const roots = read.messages.filter((it) => it.thread_ts === undefined || it.thread_ts === it.ts)
  return listed(site, args, roots.reverse())
}

/** Oldest first, the root always at the head. */
export function conversationsReplies(site: Site, args: Args): Result {
  const read = readable(site, args)
  if (!read) return fail("channel_not_found")
  if (!read.channel.members.includes(BOT)) return fail("not_in_channel")
  const root = site.workspace.message(read.channel.id, word(args, "ts") ?? "")
  if (!root) return fail("thread_not_found")
  return listed(site, args, [root, ...read.messages.filter((it) => it.thread_ts === root.ts && it.ts !== root.ts)])
}

function paged<T>(all: readonly T[], args: Args): { page: T[]; response_metadata: { next_cursor: string } } {
  const from = Number(word(args, "cursor")?.replace("next:", "") ?? 0)
  const to = from + Math.min(Math.max(Number(word(args, "limit") ?? 100), 1), 999)
  return {
    page: all.slice(from, to),
    response_metadata: { next_cursor: to < all.length ? `next:${to}` : "" },
  }
}

/** https://docs.slack.dev/reference/methods/blocks.validate */
export function blocksValidate(_site: Site, args: Args): Result {
  const view = json(args, "view")
  if (view) return "broken" in view ? fail("invalid_blocks_format") : judged(checkView(view.value))
  const given = json(args, "blocks") ?? json(args, "message")
  if (!given) return fail("invalid_arguments")
  if ("broken" in given) return fail("invalid_blocks_format")
  const { value } = given
  return judged(checkBlocks(typeof value === "object" && value !== null && "blocks" in value ? value.blocks : value))
}

const judged = (checked: Checked<unknown>): Result =>
  checked.ok ? { ok: true } : { ...faulty("invalid_blocks", checked.faults), errors: checked.faults }
