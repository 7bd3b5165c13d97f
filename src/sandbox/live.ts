/**
 * The workspace with people in it who act: they type commands, press buttons, fill in forms, and see what came back within
 * Slack's three seconds. What they may see limits what they may do; `deliver` alone can forge.
 */
import { deliver, type Delivery, type Way } from "./deliver.ts"
import type { Channel, WorkspaceOptions } from "./directory.ts"
import { escapeTyped, named } from "./escape.ts"
import type { Attachment } from "./files.ts"
import { actionOf, fill, type Given, missing, pick } from "./form.ts"
import type { Handles, Origin } from "./handles.ts"
import type { Armed, During, Misbehaviour, Rule } from "./misbehave.ts"
import { eventsOf, SUBSCRIBED } from "./events.ts"
import * as payloads from "./payloads.ts"
import { say } from "./reply.ts"
import { BOT } from "./seed.ts"
import type { Site } from "./site.ts"
import { envelope, type Envelope, type Sockets } from "./socket.ts"
import * as views from "./views.ts"
import { type Message, Workspace } from "./workspace.ts"

/** What a person saw of their own doing. `error` is the word that Slack's client would show. */
export interface Seen {
  acked: boolean
  ackMs: number
  /** A command: the message of its ack. A form: what the app said about it. */
  response?: Message | { response_action: string; errors?: Record<string, string> }
  error?: string
}

/** A message: the object itself counts as what the person's client still shows, so that an old copy makes an old click. */
export type Target = Pick<Message, "channel" | "ts"> & Partial<Message>

export interface Press {
  block_id?: string
  /** For a menu: the value of the option that was chosen. */
  value?: string
  /** `state.values`, when other elements of the message or view were filled in. */
  state?: Record<string, unknown>
}

export interface LiveOptions extends WorkspaceOptions {
  /** The slash command that the app has. */
  command?: string
}

/** What acting needs beyond the workspace; known once it listens. */
export interface Stage {
  site: Site
  way: Way
}

const refused = (error: string): Seen => ({ acked: false, ackMs: 0, error })

export class LiveWorkspace extends Workspace {
  /** Every delivery that has come to an end, in that order. */
  readonly deliveries: Delivery[] = []
  /** Where interactions go by HTTP; absent: Socket Mode. */
  requestUrl: string | undefined
  /** The events that the app has subscribed to. */
  readonly subscribed = new Set(SUBSCRIBED)
  readonly #command: string
  #stage: Stage | undefined

  constructor(options: LiveOptions = {}) {
    super(options)
    this.#command = options.command ?? "/agent"
  }

  /** Puts the workspace where an app can be reached. */
  goLive(stage: Stage): void {
    this.#stage = stage
  }

  get #live(): Stage {
    if (!this.#stage) throw new Error("the workspace is not live yet")
    return this.#stage
  }

  get scopes(): Set<string> {
    return this.#live.site.scopes
  }

  get sockets(): Pick<Sockets, "count" | "drop" | "refresh"> {
    return this.#live.way.sockets
  }

  get #handles(): Handles {
    return this.#live.site.handles
  }

  get #misbehaviour(): Misbehaviour {
    return this.#live.way.misbehaviour
  }

  /** Adds a rule. The result lets go what it holds. */
  misbehave(rule: Rule & { during?: During }): Armed {
    return this.#misbehaviour.add(rule)
  }

  /** Takes back every rule. */
  behave(): void {
    this.#misbehaviour.clear()
  }

  rules(): Rule[] {
    return this.#misbehaviour.rules()
  }

  /** Sends the app this very envelope: a repeated, altered or forged one. What comes back changes nothing here. */
  async deliver(sent: Envelope): Promise<Delivery> {
    const delivery = await deliver(this.#live.way, sent)
    this.deliveries.push(delivery)
    this.changed()
    return delivery
  }

  async #send(type: Envelope["type"], payload: payloads.Payload): Promise<{ delivery: Delivery; seen: Seen }> {
    const delivery = await this.deliver(envelope(type, payload))
    const { acked, ackMs, error } = delivery
    return { delivery, seen: { acked, ackMs, ...(error === undefined ? {} : { error }) } }
  }

  #replyUrl(origin: Origin): string {
    return new URL(`response/${this.#handles.mintReply(origin)}`, this.#live.site.url).href
  }

  /** The channel, if this person is in it. */
  #channelOf(user: string, id: string): Channel | undefined {
    const channel = this.channels.get(id)
    return channel?.members.includes(user) === true ? channel : undefined
  }

  /** Types a plain message; `@name` names somebody. The app hears of it as it has subscribed to. */
  say(
    user: string,
    channel: string,
    text: string,
    thread_ts?: string,
    attached: readonly Attachment[] = [],
  ): Message | undefined {
    const place = this.#channelOf(user, channel)
    if (!place || (text.trim() === "" && attached.length === 0)) return undefined
    const { url } = this.#live.site
    const files = attached.map((one) => this.files.keep(one, { id: this.nextId("F"), user, channel, url }))
    const message = this.post({
      channel,
      user,
      text: named(escapeTyped(text), [...this.people.values()]),
      parse: true,
      ...(files.length === 0 ? {} : { files }),
      ...(thread_ts === undefined ? {} : { thread_ts }),
    })
    this.wrote(message, place)
    return message
  }

  /** The app hears of a message, as far as anything is live. */
  wrote(message: Message, place: Channel): void {
    if (!this.#stage) return
    const { scopes } = this
    const events = eventsOf(this, message, place, { subscribed: this.subscribed, scopes })
    for (const payload of events) void this.deliver(envelope("events_api", payload))
  }

  /** Types `/agent <text>` in the channel; `text` is what follows the command. The app gets it escaped, as Slack sends it. */
  async command(user: string, channelId: string, text: string, command = this.#command): Promise<Seen> {
    const channel = this.#channelOf(user, channelId)
    if (!channel) return refused("channel_not_found")
    if (command !== this.#command) return refused("invalid_command")
    const origin = { user, channel: channel.id }
    const { delivery, seen } = await this.#send(
      "slash_commands",
      payloads.commandPayload(this, {
        user,
        channel,
        command,
        text: escapeTyped(text),
        trigger_id: this.#handles.mintTrigger(user),
        response_url: this.#replyUrl(origin),
      }),
    )
    const { payload } = delivery
    if (!seen.acked || !isRecord(payload) || Object.keys(payload).length === 0) return seen
    const response = say(this, origin, payload)
    return "ok" in response ? { ...seen, error: response.error } : { ...seen, response }
  }

  /** Presses a button, or chooses in a menu, of a message or of an open view. */
  async click(user: string, where: Target | { view_id: string }, action_id: string, press: Press = {}): Promise<Seen> {
    return "view_id" in where
      ? this.#clickView(user, where.view_id, action_id, press)
      : this.#clickMessage(user, where, action_id, press)
  }

  async #clickMessage(user: string, target: Target, action_id: string, press: Press): Promise<Seen> {
    const channel = this.#channelOf(user, target.channel)
    if (!channel) return refused("channel_not_found")
    const held = this.ephemeral(user, target.ts) ?? this.message(channel.id, target.ts)
    const found = pick(target.blocks ?? held?.blocks ?? [], action_id, press.block_id)
    if (!held || !found) return refused("no_such_action")
    const origin = { user, channel: channel.id, message: { ts: held.ts, ephemeral: held.ephemeral === true } }
    const payload = payloads.messageAction(this, this.#pressed(user, found, press), {
      channel,
      message: held,
      response_url: this.#replyUrl(origin),
    })
    return (await this.#send("interactive", payload)).seen
  }

  async #clickView(user: string, view_id: string, action_id: string, press: Press): Promise<Seen> {
    const view = this.view(view_id)
    const found = view && pick(view.blocks, action_id, press.block_id)
    if (!found || view.user !== user) return refused("no_such_action")
    return (await this.#send("interactive", payloads.viewAction(this, this.#pressed(user, found, press), view))).seen
  }

  #pressed(user: string, found: NonNullable<ReturnType<typeof pick>>, press: Press): payloads.Pressed {
    return {
      user,
      trigger_id: this.#handles.mintTrigger(user),
      action: actionOf(found, press.value, this.nextTs()),
      values: press.state ?? {},
    }
  }

  /** Sends a form: values by block_id and action_id, a plain string for what was typed or chosen. */
  async submit(user: string, view_id: string, given: Given = {}): Promise<Seen> {
    const view = this.views(user).find((it) => it.id === view_id)
    if (!view) return refused("no_such_view")
    const values = fill(view.blocks, given)
    const errors = missing(view.blocks, values)
    if (errors) {
      this.replaceView({ ...view, errors })
      return { ...refused("incomplete"), response: { response_action: "errors", errors } }
    }
    const trigger_id = this.#handles.mintTrigger(user)
    const { delivery, seen } = await this.#send(
      "interactive",
      payloads.viewSubmission(this, view, { trigger_id, values }),
    )
    return seen.acked ? { ...seen, ...views.submitted(this, view.id, delivery.payload) } : seen
  }

  /** Closes a modal; with `all`, as the ✕ does, every modal below it too. The app hears of it if it asked to. */
  async closeView(user: string, view_id: string, all = false): Promise<Seen> {
    const open = this.views(user)
    const view = open.find((it) => it.id === view_id)
    if (!view) return refused("no_such_view")
    const clear = all || view.clear_on_close
    this.setViews(user, clear ? [] : open.filter((it) => it.id !== view_id))
    if (!view.notify_on_close) return { acked: true, ackMs: 0 }
    return (await this.#send("interactive", payloads.viewClosed(this, view, clear))).seen
  }

  /** Opens the app's home, or its messages. */
  async openHome(user: string, tab: "home" | "messages" = "home"): Promise<Seen> {
    if (!(tab === "home" ? this.homeEnabled : this.messagesEnabled)) return refused("not_enabled")
    if (!this.people.has(user)) return refused("user_not_found")
    const channel = this.openDm(BOT, user).id
    return (await this.#send("events_api", payloads.homeOpened(this, user, tab, channel))).seen
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
