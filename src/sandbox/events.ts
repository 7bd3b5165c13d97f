/**
 * What the app hears of what people write: the events of one message, as the app has subscribed to them and is granted to hear
 * them. Pure; it sends nothing. https://docs.slack.dev/reference/events/message and app_mention
 */
import type { Channel } from "./directory.ts"
import { stubOf } from "./files.ts"
import { happened, type Payload } from "./payloads.ts"
import { BOT } from "./seed.ts"
import type { Message, Workspace } from "./workspace.ts"

/** What the app of manifest.yml subscribes to. */
export const SUBSCRIBED = ["app_home_opened", "app_mention", "message.channels", "message.groups", "message.im"]

/** By the kind of channel: the event, the scope that it takes, and what the event calls it. */
const HEARD = {
  channel: { event: "message.channels", scope: "channels:history", type: "channel" },
  private: { event: "message.groups", scope: "groups:history", type: "group" },
  dm: { event: "message.im", scope: "im:history", type: "im" },
} as const

/** In the order in which Slack may send them: each counts by itself. */
export function eventsOf(
  workspace: Workspace,
  message: Message,
  channel: Channel,
  { subscribed, scopes }: { subscribed: ReadonlySet<string>; scopes: ReadonlySet<string> },
): Payload[] {
  if (!channel.members.includes(BOT)) return []
  const { event, scope, type } = HEARD[channel.kind]
  const mine = written(workspace, message, channel)
  const named = message.text.includes(`<@${BOT}>`) && channel.kind !== "dm"
  const mention = named && subscribed.has("app_mention") && scopes.has("app_mentions:read")
  const hears = subscribed.has(event) && scopes.has(scope)
  return [
    ...(mention ? [happened(workspace, { ...mine, type: "app_mention" })] : []),
    ...(hears ? [happened(workspace, { ...mine, type: "message", channel_type: type })] : []),
  ]
}

function written(
  workspace: Workspace,
  { user, text, ts, channel, thread_ts, files }: Message,
  { is_ext_shared }: Channel,
): Payload {
  const parent = thread_ts === undefined || thread_ts === ts ? undefined : workspace.message(channel, thread_ts)
  return {
    user,
    text,
    ts,
    channel,
    team: workspace.person(user).team_id,
    client_msg_id: `sandbox-${ts}`,
    event_ts: ts,
    ...(files ? { subtype: "file_share", files: is_ext_shared ? files.map(stubOf) : files } : {}),
    ...(parent ? { thread_ts: parent.ts, parent_user_id: parent.user } : {}),
  }
}
