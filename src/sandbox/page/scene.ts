/**
 * Where the viewer is: who they are, which conversation and which thread is open. It lives in the page's address, so that
 * a reload or a second window stays where it was.
 */
import type { Channel, Message, State } from "./wire.ts"

export interface Spot {
  as: string
  /** A channel's id, or one of the app's tabs. */
  channel: string
  thread: string | undefined
}

/** The app's tabs: its home, and the viewer's conversation with it, whoever they are. */
export const HOME = "home"
export const MESSAGES = "messages"

export const tabOf = ({ channel }: Spot): "home" | "messages" | undefined =>
  channel === HOME || channel === MESSAGES ? channel : undefined

export function spotOf(hash: string): Partial<Spot> {
  const fields = new URLSearchParams(hash.replace(/^#/, ""))
  const read = (name: string): string | undefined => fields.get(name) ?? undefined
  const [as, channel] = [read("as"), read("in")]
  return { ...(as && { as }), ...(channel && { channel }), thread: read("thread") }
}

/** The message that an address points at, besides the spot it is in. */
export const soughtIn = (hash: string): string | undefined =>
  new URLSearchParams(hash.replace(/^#/, "")).get("at") ?? undefined

export function hashOf({ as, channel, thread }: Spot): string {
  const fields = new URLSearchParams({ as, in: channel, ...(thread !== undefined && { thread }) })
  return `#${fields.toString()}`
}

/** The message that a link leads to, if it is one of this Slack's own; its thread is open beside it. */
export function permalink(href: string): { channel: string; ts: string; thread: string } | undefined {
  const url = URL.parse(href)
  const [, channel, seconds, micros] = /^\/archives\/([CDG]\w+)\/p(\d{10})(\d{6})$/.exec(url?.pathname ?? "") ?? []
  if (url?.origin !== location.origin || channel === undefined) return undefined
  const ts = `${seconds}.${micros}`
  return { channel, ts, thread: url.searchParams.get("thread_ts") ?? ts }
}

/** The conversation a spot means: the one it names if the viewer is in it, else the first. None on a tab that has none. */
export function channelAt(state: State, spot: Spot): Channel | undefined {
  if (spot.channel === HOME) return undefined
  if (spot.channel === MESSAGES) return state.channels.find((channel) => isApps(state, channel))
  return state.channels.find(({ id }) => id === spot.channel) ?? state.channels[0]
}

/** How a spot names a conversation. */
export const nameOf = (state: State, channel: Channel): string => (isApps(state, channel) ? MESSAGES : channel.id)

export const isApps = ({ people }: State, channel: Channel): boolean =>
  people.some((person) => person.id === channel.with && isBot(person))

export const placeName = ({ kind, name }: Pick<Channel, "kind" | "name">): string => (kind === "dm" ? name : `#${name}`)

/** What stands below a thread of what the app does there: "Countersign is working on it…". */
export function statusesIn({ people }: State, { statuses }: Channel): Record<string, string> {
  const app = people.find(isBot)?.name ?? "The app"
  return Object.fromEntries(Object.entries(statuses).map(([thread, status]) => [thread, `${app} ${status}`]))
}

export const isReply = (message: Message): boolean =>
  message.thread_ts !== undefined && message.thread_ts !== message.ts

export const threadOf = (messages: Message[], root: string): Message[] =>
  messages.filter((message) => message.ts === root || message.thread_ts === root)

export const newest = (messages: Message[]): string =>
  messages.reduce((newest, { ts }) => (ts > newest ? ts : newest), "")

/** What this person was notified of and has not read. */
export const waiting = ({ notifications }: State, person: string): number =>
  notifications.filter(({ user, seen, gone }) => user === person && !seen && !gone).length

export const isBot = ({ role }: { role: string }): boolean => role === "bot"
