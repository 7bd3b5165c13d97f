/**
 * What the local Slack holds: messages, modals, homes and who was notified, with a change for every write. It knows nothing of
 * HTTP, sockets or the rules by which Slack refuses a call.
 */
import { type FileObject, Files } from "./files.ts"
import { Beside, type Prompt } from "./beside.ts"
import { type Channel, Directory, type Role } from "./directory.ts"
import { notified, type Why } from "./mentions.ts"

/** A block as stored: validated, its texts escaped, with a block_id. */
export interface Block {
  type: string
  block_id?: string
  [key: string]: unknown
}

export interface Message {
  ts: string
  channel: string
  /** The root's ts; on a root that has replies, its own. */
  thread_ts?: string
  user: string
  username: string
  is_bot: boolean
  /** Escaped as Slack stores it: `&amp;`, `&lt;`, `&gt;`. With blocks it is only what a notification and a screen reader say. */
  text: string
  blocks?: Block[]
  /** What was attached to it. */
  files?: FileObject[]
  edited?: { user: string; ts: string }
  /** True on a message that only one person sees. */
  ephemeral?: boolean
  reply_count?: number
  /** It is being written: only its end may change. */
  streaming?: boolean
  /** A root that was deleted while it had replies. */
  deleted?: boolean
  metadata?: { event_type: string; event_payload: Record<string, unknown> }
}

export interface TextObject {
  type: "plain_text" | "mrkdwn"
  text: string
  emoji?: boolean
  verbatim?: boolean
}

export interface View {
  id: string
  type: "modal" | "home"
  user: string
  hash: string
  root_view_id: string
  previous_view_id?: string
  blocks: Block[]
  title?: TextObject
  submit?: TextObject
  close?: TextObject
  private_metadata: string
  callback_id: string
  external_id: string
  notify_on_close: boolean
  clear_on_close: boolean
  /** By block_id: what the app found wrong with the last submission. */
  errors?: Record<string, string>
}

/** A push that a person got: `text` is what it said, escaped as stored. */
export interface Notification {
  id: number
  user: string
  channel: string
  ts: string
  /** Of a reply: its root. */
  thread_ts?: string
  text: string
  /** ms since the epoch, by the workspace's clock. */
  at: number
  why: Why
}

export interface Place {
  id: string
  /** Of a direct conversation: the other one's. */
  name: string
  kind: Channel["kind"]
  /** Whether people of other organisations are there. */
  shared?: boolean
  /** In a direct conversation: the other one. */
  with?: string
}

/** What one person sees; the page draws this. `R` is a misbehaviour rule. */
export interface State<R = unknown> {
  me: string
  people: { id: string; name: string; role: Role }[]
  /** `unread`: whether something of others is newer than what I read. `pings`: my notifications there that are. */
  channels: (Place & {
    unread: boolean
    pings: number
    /** What the app suggests to ask there. */
    prompts: readonly Prompt[]
    /** By thread: what the app says of itself there. */
    statuses: Record<string, string>
  })[]
  /** User groups; `name` is what stands after the @. */
  groups: { id: string; name: string }[]
  messages: Record<string, Message[]>
  /** My open modals, the topmost last. */
  views: View[]
  home?: View
  /** Everybody's. `seen`: they read it since. `gone`: the message was deleted. */
  notifications: (Notification & { place: Place; seen: boolean; gone: boolean })[]
  misbehave: R[]
  /** Sockets that the bot holds open. */
  connected: number
}

/** What is written when a message is posted. */
export type Draft = Pick<Message, "channel" | "user" | "text"> &
  Partial<Pick<Message, "thread_ts" | "blocks" | "metadata" | "streaming">> & {
    /** Whether bare `@here` and the like in `text` become mentions. */
    parse?: boolean
  }

const copy = <T>(value: T): T => structuredClone(value)

export class Workspace extends Directory {
  readonly beside = new Beside(() => this.changed())
  readonly files = new Files()
  readonly #messages = new Map<string, Message[]>()
  /** By the one person who sees them. */
  readonly #ephemerals = new Map<string, Message[]>()
  readonly #stacks = new Map<string, View[]>()
  readonly #homes = new Map<string, View>()
  readonly #notifications: Notification[] = []
  /** By person and channel: the ts up to which they have read. */
  readonly #read = new Map<string, string>()

  // --- reading; what is returned is a copy and stays as it was

  /** The messages of a channel, oldest first; with `threadTs` the root and its replies. */
  messages(channel: string, threadTs?: string): Message[] {
    const all = this.#messages.get(channel) ?? []
    return copy(threadTs === undefined ? all : all.filter((it) => it.ts === threadTs || it.thread_ts === threadTs))
  }

  message(channel: string, ts: string): Message | undefined {
    return copy(this.#messages.get(channel)?.find((it) => it.ts === ts))
  }

  /** Whether a message is there and was not deleted. */
  holds(channel: string, ts: string): boolean {
    const message = this.#find(channel, ts)
    return message !== undefined && message.deleted !== true
  }

  /** What only this person sees, oldest first. */
  ephemerals(user: string): Message[] {
    return copy(this.#ephemerals.get(user) ?? [])
  }

  ephemeral(user: string, ts: string): Message | undefined {
    return this.ephemerals(user).find((it) => it.ts === ts)
  }

  /** The person's open modals, the topmost last. */
  views(user: string): View[] {
    return copy(this.#stacks.get(user) ?? [])
  }

  home(user: string): View | undefined {
    return copy(this.#homes.get(user))
  }

  /** A modal or a home by its id. */
  view(id: string): View | undefined {
    return this.allViews().find((view) => view.id === id)
  }

  allViews(): View[] {
    return copy([...[...this.#stacks.values()].flat(), ...this.#homes.values()])
  }

  notifications(user?: string): Notification[] {
    return copy(this.#notifications.filter((it) => user === undefined || it.user === user))
  }

  /** The ts up to which a person has read a channel; "" is nothing yet. */
  readUpTo(user: string, channel: string): string {
    return this.#read.get(`${user} ${channel}`) ?? ""
  }

  // --- writing

  /** Stores a message that passed every check, and notifies whom Slack would. */
  post(draft: Draft): Message {
    const { parse = false, ...rest } = draft
    const message: Message = { ...copy(rest), ts: this.nextTs(), ...this.#author(draft.user) }
    const root = draft.thread_ts === undefined ? undefined : this.#find(draft.channel, draft.thread_ts)
    if (root) {
      root.thread_ts = root.ts
      root.reply_count = (root.reply_count ?? 0) + 1
    }
    this.#messages.set(draft.channel, [...(this.#messages.get(draft.channel) ?? []), message])
    if (message.is_bot && root) this.beside.setStatus(draft.channel, root.ts, "")
    this.#notify(message, root ? this.messages(draft.channel, root.ts) : [], parse)
    this.changed()
    return copy(message)
  }

  /** Replaces text, blocks and metadata of a message; notifies nobody. */
  edit(
    channel: string,
    ts: string,
    change: Pick<Message, "text"> & Partial<Pick<Message, "blocks" | "metadata" | "streaming">>,
  ): void {
    const message = this.#find(channel, ts)
    if (!message) return
    delete message.blocks
    Object.assign(message, copy(change))
    if (!change.blocks) message.edited = { user: message.user, ts: this.nextTs() }
    this.changed()
  }

  /** Removes a message; a root with replies leaves a stub. */
  remove(channel: string, ts: string): void {
    const message = this.#find(channel, ts)
    if (!message) return
    const root = message.thread_ts === undefined ? undefined : this.#find(channel, message.thread_ts)
    if (root && root !== message) root.reply_count = (root.reply_count ?? 1) - 1
    if ((message.reply_count ?? 0) > 0) {
      delete message.blocks
      delete message.metadata
      Object.assign(message, { text: "This message was deleted.", deleted: true })
    } else {
      this.#messages.set(
        channel,
        (this.#messages.get(channel) ?? []).filter((it) => it !== message),
      )
    }
    this.changed()
  }

  /** Shows a message to one person only; it notifies nobody. */
  whisper(to: string, draft: Draft): Message {
    const { parse: _parse, ...rest } = draft
    const message: Message = { ...copy(rest), ts: this.nextTs(), ...this.#author(draft.user), ephemeral: true }
    this.#ephemerals.set(to, [...(this.#ephemerals.get(to) ?? []), message])
    this.changed()
    return copy(message)
  }

  /** Replaces what a person sees of an ephemeral, or with no `change` takes it away. */
  rewhisper(to: string, ts: string, change?: Pick<Message, "text"> & Partial<Pick<Message, "blocks">>): void {
    const replaced = this.ephemerals(to).flatMap((old) => {
      if (old.ts !== ts) return [old]
      const { blocks: _blocks, ...rest } = old
      return change ? [{ ...rest, ...copy(change) }] : []
    })
    this.#ephemerals.set(to, replaced)
    this.changed()
  }

  /** Sets a person's open modals; an empty list closes them all. */
  setViews(user: string, views: View[]): void {
    this.#stacks.set(user, copy(views))
    this.changed()
  }

  /** Puts a newer version of a view where the old one is. */
  replaceView(view: View): void {
    if (view.type === "home") this.#homes.set(view.user, copy(view))
    else
      this.#stacks.set(
        view.user,
        this.views(view.user).map((old) => (old.id === view.id ? copy(view) : old)),
      )
    this.changed()
  }

  /** Somebody has looked at a channel, up to this message. */
  markRead(user: string, channel: string, ts: string): void {
    if (ts <= this.readUpTo(user, channel)) return
    this.#read.set(`${user} ${channel}`, ts)
    this.changed()
  }

  #notify(message: Message, thread: Message[], parse: boolean): void {
    const channel = this.channel(message.channel)
    const text = message.text === "" ? "This content can't be displayed." : message.text
    for (const { user, why } of notified({ message, channel, thread, groups: [...this.groups.values()], parse })) {
      if (this.people.get(user)?.is_bot !== false) continue
      const id = this.#notifications.length + 1
      const at = { channel: channel.id, ts: message.ts }
      const within = message.thread_ts === undefined ? {} : { thread_ts: message.thread_ts }
      this.#notifications.push({ id, user, ...at, ...within, text, at: this.now(), why })
    }
  }

  #find(channel: string, ts: string): Message | undefined {
    return this.#messages.get(channel)?.find((it) => it.ts === ts)
  }

  #author(user: string): Pick<Message, "username" | "is_bot"> {
    const { name, is_bot } = this.person(user)
    return { username: name, is_bot }
  }
}
