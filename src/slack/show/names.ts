/**
 * What people, user groups and channels are called in Slack, for messages that name somebody without a ping. A courtesy:
 * what can't be looked up soon goes by its id, and nobody waits for it.
 */
import type { WebClient } from "@slack/web-api"
import type { Names as Known } from "../blocks/notices.ts"

/** How long a name is believed, and how long a lookup that failed is not repeated, ms. */
const BELIEVED = 3_600_000
const FAILED = 60_000
/** How long a message waits for names, ms. */
const PATIENCE = 1500
/** Names that are remembered before old ones are cleared out. */
const REMEMBERED = 2000

interface Entry {
  /** ms, of a clock that only goes forward. */
  until: number
  name?: string
}

interface Lookup {
  /** When it was begun, ms of the same clock. */
  since: number
  done: Promise<void>
}

export class Names {
  readonly #client: WebClient
  readonly #known = new Map<string, Entry>()
  readonly #underWay = new Map<string, Lookup>()

  constructor(client: WebClient) {
    this.#client = client
  }

  /** Names by id, as far as they are known within a moment. Never throws. */
  async of(ids: readonly string[]): Promise<Known> {
    const missing = [...new Set(ids)].filter((id) => !this.#believed(id))
    await Promise.all(missing.map((id) => this.#waitFor(id)))
    return Object.fromEntries(
      ids.flatMap((id) => {
        const name = this.#known.get(id)?.name
        return name === undefined ? [] : [[id, name]]
      }),
    )
  }

  /** Waits for a lookup a moment from its beginning, whoever began it: not anew for each message while Slack hangs. */
  async #waitFor(id: string): Promise<void> {
    const { since, done } = this.#lookUp(id)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.max(since + PATIENCE - performance.now(), 0))
    })
    await Promise.race([done, late])
    clearTimeout(timer)
  }

  #believed(id: string): boolean {
    return performance.now() < (this.#known.get(id)?.until ?? 0)
  }

  /** One lookup at a time of all groups, and of each person and channel. */
  #lookUp(id: string): Lookup {
    const what = id.startsWith("S") ? "groups" : id
    const under = this.#underWay.get(what)
    if (under) return under
    const lookup = { since: performance.now(), done: this.#learn(id).finally(() => this.#underWay.delete(what)) }
    this.#underWay.set(what, lookup)
    return lookup
  }

  /** A name that was known stays when it can't be looked up any more. */
  async #learn(id: string): Promise<void> {
    const found = await this.#find(id).catch(() => [])
    const now = performance.now()
    for (const [one, name] of found) this.#note(one, { until: now + BELIEVED, name })
    if (!found.some(([one]) => one === id)) this.#note(id, { ...this.#known.get(id), until: now + FAILED })
  }

  #note(id: string, entry: Entry): void {
    this.#known.delete(id)
    this.#known.set(id, entry)
    const [oldest] = this.#known.keys()
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest)
  }

  #find(id: string): Promise<[string, string][]> {
    switch (id.charAt(0)) {
      case "S":
        return this.#groups()
      case "U":
      case "W":
        return this.#person(id)
      default:
        return this.#channel(id)
    }
  }

  async #groups(): Promise<[string, string][]> {
    const { usergroups = [] } = await this.#client.usergroups.list()
    return usergroups.flatMap(({ id, handle }) => pair(id, handle && `@${handle}`))
  }

  async #person(id: string): Promise<[string, string][]> {
    const { user } = await this.#client.users.info({ user: id })
    const names = [user?.profile?.display_name, user?.real_name, user?.name]
    return pair(
      id,
      names.find((name) => name !== undefined && name.trim() !== ""),
    )
  }

  async #channel(id: string): Promise<[string, string][]> {
    const { channel } = await this.#client.conversations.info({ channel: id })
    return pair(id, channel?.name && `#${channel.name}`)
  }
}

const pair = (id: string | undefined, name: string | undefined): [string, string][] =>
  id === undefined || name === undefined || name === "" ? [] : [[id, name]]
