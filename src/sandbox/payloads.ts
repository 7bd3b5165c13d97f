/**
 * What Slack tells an app: messages, views and interactions in the shapes of its reference. Pure: it sends nothing.
 * https://docs.slack.dev/reference/interaction-payloads
 */
import type { Channel } from "./directory.ts"
import { APP_ID, BOT, BOT_ID } from "./seed.ts"
import type { Message, View, Workspace } from "./workspace.ts"

export type Payload = Record<string, unknown>

/** A message as the Web API and interactions carry it; metadata only where it was asked for. */
export function wire(workspace: Workspace, message: Message, withMetadata = false): Payload {
  const { channel: _channel, username, is_bot, ephemeral, deleted, metadata, ...rest } = message
  return {
    type: "message",
    ...rest,
    team: workspace.people.get(message.user)?.team_id ?? workspace.team.id,
    ...(is_bot ? { bot_id: BOT_ID, app_id: APP_ID, bot_profile: { id: BOT_ID, app_id: APP_ID, name: username } } : {}),
    ...(ephemeral === true ? { is_ephemeral: true } : {}),
    ...(deleted === true ? { subtype: "tombstone" } : {}),
    ...(withMetadata && metadata ? { metadata } : {}),
  }
}

/** A view as the Web API and interactions carry it. */
export function wireView(workspace: Workspace, view: View, values: unknown = {}): Payload {
  const { user: _user, previous_view_id = null, errors: _errors, ...rest } = view
  return {
    ...rest,
    previous_view_id,
    team_id: workspace.team.id,
    app_id: APP_ID,
    app_installed_team_id: workspace.team.id,
    bot_id: BOT_ID,
    state: { values },
  }
}

const whoever = (workspace: Workspace, id: string): Payload => {
  const { name, team_id } = workspace.person(id)
  return { id, username: name, name, team_id }
}

const CHANNEL_NAMES = { dm: "directmessage", private: "privategroup", channel: undefined }
const channelName = (channel: Channel): string => CHANNEL_NAMES[channel.kind] ?? channel.name

const interaction = (workspace: Workspace, user: string, trigger_id: string): Payload => ({
  user: whoever(workspace, user),
  api_app_id: APP_ID,
  token: "deprecated",
  trigger_id,
  team: { id: workspace.team.id, domain: workspace.team.domain },
  enterprise: null,
  is_enterprise_install: false,
})

export interface Typed {
  user: string
  channel: Channel
  command: string
  text: string
  trigger_id: string
  response_url: string
}

/** A slash command: flat and all strings, for it is a form over HTTP. */
export function commandPayload(workspace: Workspace, typed: Typed): Payload {
  const { user, channel, command, text, trigger_id, response_url } = typed
  const person = workspace.person(user)
  return {
    token: "deprecated",
    team_id: person.team_id,
    team_domain: workspace.team.domain,
    channel_id: channel.id,
    channel_name: channelName(channel),
    user_id: user,
    user_name: person.name,
    command,
    text,
    api_app_id: APP_ID,
    is_enterprise_install: "false",
    response_url,
    trigger_id,
  }
}

export interface Pressed {
  user: string
  trigger_id: string
  action: Payload
  /** `state.values` of the message or view. */
  values: unknown
}

/** A press in a message. */
export function messageAction(
  workspace: Workspace,
  pressed: Pressed,
  where: { channel: Channel; message: Message; response_url: string },
): Payload {
  const { channel, message, response_url } = where
  return {
    type: "block_actions",
    ...interaction(workspace, pressed.user, pressed.trigger_id),
    container: {
      type: "message",
      message_ts: message.ts,
      channel_id: channel.id,
      is_ephemeral: message.ephemeral === true,
      ...(message.thread_ts === undefined ? {} : { thread_ts: message.thread_ts }),
    },
    channel: { id: channel.id, name: channelName(channel) },
    // Of an ephemeral Slack holds no copy that it could send along.
    ...(message.ephemeral === true ? {} : { message: wire(workspace, message) }),
    state: { values: pressed.values },
    response_url,
    actions: [pressed.action],
  }
}

/** A press in a modal or in the home: it has neither channel nor response_url. */
export function viewAction(workspace: Workspace, pressed: Pressed, view: View): Payload {
  return {
    type: "block_actions",
    ...interaction(workspace, pressed.user, pressed.trigger_id),
    container: { type: "view", view_id: view.id },
    view: wireView(workspace, view, pressed.values),
    actions: [pressed.action],
  }
}

export function viewSubmission(
  workspace: Workspace,
  view: View,
  given: { trigger_id: string; values: unknown },
): Payload {
  return {
    type: "view_submission",
    ...interaction(workspace, view.user, given.trigger_id),
    view: wireView(workspace, view, given.values),
    response_urls: [],
  }
}

export function viewClosed(workspace: Workspace, view: View, is_cleared: boolean): Payload {
  const { trigger_id: _trigger, ...rest } = interaction(workspace, view.user, "")
  return { type: "view_closed", ...rest, view: wireView(workspace, view), is_cleared }
}

/** An event, as every one is wrapped. */
export function happened(workspace: Workspace, event: Payload): Payload {
  return {
    token: "deprecated",
    team_id: workspace.team.id,
    api_app_id: APP_ID,
    type: "event_callback",
    event_id: workspace.nextId("Ev0"),
    event_time: Math.floor(workspace.now() / 1000),
    authorizations: [{ enterprise_id: null, team_id: workspace.team.id, user_id: BOT, is_bot: true }],
    is_ext_shared_channel: false,
    event,
  }
}

export function homeOpened(workspace: Workspace, user: string, tab: "home" | "messages", channel: string): Payload {
  const view = workspace.home(user)
  return happened(workspace, {
    type: "app_home_opened",
    user,
    channel,
    tab,
    event_ts: workspace.nextTs(),
    ...(tab === "home" && view ? { view: wireView(workspace, view) } : {}),
  })
}
