/**
 * Where the viewer is: who they are, which conversation and which thread is open, and what was read. It lives in the
 * page's address, so that a reload or a second window stays where it was.
 */
import type { Channel, Message, Notification, State } from "./wire.ts"

export interface Spot {
  as: string
  /** A channel's id, or `home`. */
  channel: string
  thread: string | undefined
}

export const HOME = "home"

export function spotOf(hash: string): Partial<Spot> {
  const fields = new URLSearchParams(hash.replace(/^#/, ""))
  const read = (name: string): string | undefined => fields.get(name) ?? undefined
  const [as, channel] = [read("as"), read("in")]
  return { ...(as && { as }), ...(channel && { channel }), thread: read("thread") }
}

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

/** The conversation a spot means: the one it names if the viewer is in it, else the first. */
export const channelAt = (state: State, spot: Spot): Channel | undefined =>
  spot.channel === HOME ? undefined : (state.channels.find(({ id }) => id === spot.channel) ?? state.channels[0])

export const isReply = (message: Message): boolean =>
  message.thread_ts !== undefined && message.thread_ts !== message.ts

export const threadOf = (messages: Message[], root: string): Message[] =>
  messages.filter((message) => message.ts === root || message.thread_ts === root)

export const isBot = ({ role }: { role: string }): boolean => role === "bot"

/** Remembers what each person has read while the page is open: messages by conversation, notifications by id. */
export class Reading {
  readonly #upTo = new Map<string, string>()
  readonly #seen = new Set<string>()

  /** Whatever stood there when a person's view was first read is not news. */
  begin(state: State): void {
    for (const { id } of state.channels) {
      const key = `${state.me} ${id}`
      if (!this.#upTo.has(key)) this.#upTo.set(key, this.#newest(state, id))
    }
  }

  read(state: State, channel: string): void {
    this.#upTo.set(`${state.me} ${channel}`, this.#newest(state, channel))
  }

  unread(state: State, channel: string): boolean {
    const upTo = this.#upTo.get(`${state.me} ${channel}`) ?? ""
    return (state.messages[channel] ?? []).some(({ ts, user }) => ts > upTo && user !== state.me)
  }

  saw({ user, id }: Notification): void {
    this.#seen.add(`${user} ${id}`)
  }

  waiting(state: State, person: string): Notification[] {
    return state.notifications.filter(({ user, id }) => user === person && !this.#seen.has(`${user} ${id}`))
  }

  #newest(state: State, channel: string): string {
    return (state.messages[channel] ?? []).reduce((newest, { ts }) => (ts > newest ? ts : newest), "")
  }
}
