/**
 * Who is in the local Slack and where they can meet, its clock, its ids and its events. It knows nothing of what is said there.
 */
import { EventEmitter } from "node:events"
import { seedChannels, seedGroups, seedPeople, TEAM } from "./seed.ts"

export type Role = "requester" | "approver" | "lead" | "outsider" | "guest" | "foreigner" | "bot"

export interface Person {
  id: string
  name: string
  real_name: string
  role: Role
  team_id: string
  enterprise_id?: string
  deleted: boolean
  is_bot: boolean
  is_restricted: boolean
  is_ultra_restricted: boolean
  /** Of another organisation. Slack says so only of those whom the app meets in no shared channel. */
  is_stranger: boolean
}

export interface Channel {
  id: string
  name: string
  kind: "channel" | "private" | "dm"
  members: string[]
  is_archived: boolean
  is_ext_shared: boolean
  /** Shared with other workspaces of the same organisation. */
  is_org_shared?: boolean
  /** An invitation to another organisation is under way. */
  is_pending_ext_shared?: boolean
}

export interface Group {
  id: string
  handle: string
  name: string
  users: string[]
  disabled: boolean
}

/** One Web API call that was received. `response` is absent until there is one. */
export interface Call {
  method: string
  args: Record<string, unknown>
  /** ms since the epoch, by the workspace's clock. */
  at: number
  response?: Record<string, unknown>
}

export interface WorkspaceOptions {
  clock?: () => number
  team?: { id: string; domain: string; name: string }
}

export class Directory {
  readonly team: { id: string; domain: string; name: string }
  readonly people = new Map<string, Person>(seedPeople().map((person) => [person.id, person]))
  readonly channels = new Map<string, Channel>(seedChannels().map((channel) => [channel.id, channel]))
  readonly groups = new Map<string, Group>(seedGroups().map((group) => [group.id, group]))
  /** Every Web API call received, in order; a `response_url` counts as method "response_url". */
  readonly calls: Call[] = []
  readonly now: () => number
  /** User groups exist on paid plans only. */
  paid = true
  /** Whether the app's home tab is switched on, and whether the app can be written to and write to people. */
  homeEnabled = true
  messagesEnabled = true
  readonly #events = new EventEmitter().setMaxListeners(0)
  #lastMicros = 0
  #serial = 0

  constructor(options: WorkspaceOptions = {}) {
    this.now = options.clock ?? Date.now
    this.team = options.team ?? TEAM
  }

  // --- time, ids, events

  /** A fresh message timestamp: unique, increasing, seconds with six decimals. */
  nextTs(): string {
    this.#lastMicros = Math.max(this.#lastMicros + 1, Math.floor(this.now() * 1000))
    return `${Math.floor(this.#lastMicros / 1e6)}.${String(this.#lastMicros % 1e6).padStart(6, "0")}`
  }

  nextId(prefix: string): string {
    this.#serial += 1
    return `${prefix}${this.#serial.toString(36).toUpperCase().padStart(4, "0")}`
  }

  /** "change": something that is held changed. "call": a Web API call arrived. */
  on(event: "change" | "call", listener: (call?: Call) => void): () => void {
    this.#events.on(event, listener)
    return () => this.#events.off(event, listener)
  }

  changed(): void {
    this.#events.emit("change")
  }

  received(call: Call): void {
    this.calls.push(call)
    this.#events.emit("call", call)
  }

  /**
   * Resolves with the predicate's first result that is neither false, null nor undefined, asked now and after each change or
   * call; rejects after `ms` of real time.
   */
  waitFor<T>(predicate: () => T | false | null | undefined, ms = 10_000, what = "the awaited state"): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer)
        offChange()
        offCall()
      }
      const look = (): void => {
        try {
          const found = predicate()
          if (found === false || found === null || found === undefined) return
          if (found instanceof Promise) throw new TypeError("a predicate that is awaited is true before it is known")
          stop()
          resolve(found)
        } catch (error) {
          stop()
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      const timer = setTimeout(() => {
        stop()
        reject(new Error(`${what} did not come about in ${ms} ms`))
      }, ms)
      const offChange = this.on("change", look)
      const offCall = this.on("call", look)
      look()
    })
  }

  // --- people, channels, groups

  addPerson(person: Partial<Person> & { id: string }): Person {
    const added: Person = {
      name: person.id.toLowerCase(),
      real_name: person.name ?? person.id,
      role: "outsider",
      team_id: this.team.id,
      deleted: false,
      is_bot: false,
      is_restricted: false,
      is_ultra_restricted: false,
      is_stranger: false,
      ...person,
    }
    this.people.set(added.id, added)
    this.changed()
    return added
  }

  alterPerson(id: string, change: Partial<Omit<Person, "id">>): void {
    Object.assign(this.person(id), change)
    this.changed()
  }

  addChannel(channel: Partial<Channel> & { id: string }): Channel {
    const added: Channel = {
      name: channel.id.toLowerCase(),
      kind: "channel",
      members: [],
      is_archived: false,
      is_ext_shared: false,
      ...channel,
    }
    this.channels.set(added.id, added)
    this.changed()
    return added
  }

  alterChannel(id: string, change: Partial<Omit<Channel, "id">>): void {
    Object.assign(this.channel(id), change)
    this.changed()
  }

  join(channel: string, user: string): void {
    const { members } = this.channel(channel)
    if (!members.includes(user)) members.push(user)
    this.changed()
  }

  leave(channel: string, user: string): void {
    const it = this.channel(channel)
    it.members = it.members.filter((member) => member !== user)
    this.changed()
  }

  addGroup(group: Partial<Group> & { id: string }): void {
    this.groups.set(group.id, { handle: group.id.toLowerCase(), name: group.id, users: [], disabled: false, ...group })
    this.changed()
  }

  alterGroup(id: string, change: Partial<Omit<Group, "id">>): void {
    const group = this.groups.get(id)
    if (!group) throw new Error(`no such user group: ${id}`)
    Object.assign(group, change)
    this.changed()
  }

  /** @throws when nobody has that id: a mistake of the caller, not of the bot. */
  person(id: string): Person {
    const person = this.people.get(id)
    if (!person) throw new Error(`no such person: ${id}`)
    return person
  }

  /** @throws when there is no such channel. */
  channel(id: string): Channel {
    const channel = this.channels.get(id)
    if (!channel) throw new Error(`no such channel: ${id}`)
    return channel
  }

  /** The direct conversation of exactly these people, if there is one. */
  dm(...users: [string, string]): Channel | undefined {
    return [...this.channels.values()].find(
      (channel) => channel.kind === "dm" && users.every((user) => channel.members.includes(user)),
    )
  }

  /** The same, opened when there is none yet. */
  openDm(...users: [string, string]): Channel {
    return (
      this.dm(...users) ??
      this.addChannel({ id: this.nextId("D0"), name: "directmessage", kind: "dm", members: [...users] })
    )
  }
}
