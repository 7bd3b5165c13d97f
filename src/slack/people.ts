/**
 * Who a person is to Slack right now: standing, and membership of groups and channels. It looks people up and remembers
 * them for a minute at most; what they may do is decided elsewhere, and what could not be looked up is "unknown".
 */
import { WebAPIPlatformError, WebAPIRateLimitedError, type WebClient } from "@slack/web-api"
import type { Person } from "../core/fact.ts"
import { isPerson, type Principal, type Who } from "../core/policy.ts"

interface Options {
  /** ms, of a clock that only goes forward. */
  now?: () => number
  /** How long a lookup is believed, ms. */
  maxAgeMs?: number
  /** How old a lookup may be for somebody who is about to be refused, ms. Group lists may be asked for 20 times a minute. */
  freshMs?: number
}

interface Profile {
  standing: Who["standing"]
  team: string
  /** Every team that an interaction of this person may name: the home team's, or one of the same organisation. */
  teams: string[]
  enterprise?: string
  name?: string
}

type Membership = "yes" | "no" | "unknown"

/** Lookups that are remembered before old ones are cleared out. */
const REMEMBERED = 1000
/** Pages of 1,000 members that are read of one channel; who is not found on them is unknown. */
const PAGES = 20

export class People {
  readonly #client: WebClient
  readonly #home: { team: string; enterprise?: string }
  readonly #now: () => number
  readonly #maxAge: number
  readonly #fresh: number
  /** By what was asked. */
  readonly #underWay = new Map<string, Promise<unknown>>()
  /** The last lookup that succeeded: one that fails after it takes nothing away. */
  readonly #known = new Map<string, { at: number; value: unknown }>()
  /** Until when Slack wants no more calls of a method. */
  readonly #closed = new Map<string, number>()

  constructor(client: WebClient, home: { team: string; enterprise?: string }, options: Options = {}) {
    this.#client = client
    this.#home = home
    this.#now = options.now ?? (() => performance.now())
    this.#maxAge = options.maxAgeMs ?? 60_000
    this.#fresh = options.freshMs ?? 3000
  }

  /**
   * The person with standing and name, and membership of those `principals` that are groups or channels. A channel counts
   * only while it is private and unshared. `fresh`: believe no older lookup. Never throws.
   */
  async who(person: Person, principals: readonly Principal[], { fresh = false } = {}): Promise<Who> {
    const asked = [...new Set(principals)].filter((principal) => !isPerson(principal))
    const [profile, ...members] = await Promise.all([
      this.#profile(person.user, fresh),
      ...asked.map((principal) =>
        principal.startsWith("S") ? this.#inGroup(principal, person, fresh) : this.#inPrivate(principal, person, fresh),
      ),
    ])
    const member = Object.fromEntries(asked.map((principal, index) => [principal, members[index] ?? "unknown"]))
    return profile
      ? { person: named(person, profile), standing: standingOf(person, profile), member }
      : { person, standing: "unknown", member }
  }

  /**
   * As `who`, and membership of `channel` whatever kind of channel it is. For the question who may see what goes on in
   * it, never for who may decide: anybody can join a public channel.
   */
  async seer(person: Person, principals: readonly Principal[], channel: string): Promise<Who> {
    const [who, inside] = await Promise.all([this.who(person, principals), this.#inChannel(channel, person, false)])
    return { ...who, member: { ...who.member, [channel]: inside } }
  }

  async #profile(user: string, fresh: boolean): Promise<Profile | undefined> {
    return this.#lookUp("users.info", user, fresh, async () => {
      const { user: found } = await this.#client.users.info({ user })
      return found?.id === user && found.team_id !== undefined ? profileOf(found, found.team_id, this.#home) : undefined
    })
  }

  async #inGroup(usergroup: string, person: Person, fresh: boolean): Promise<Membership> {
    const users = await this.#lookUp("usergroups.users.list", usergroup, fresh, async () => {
      const { users } = await this.#client.usergroups.users.list({ usergroup })
      return Array.isArray(users) ? new Set(users) : undefined
    })
    return users === undefined ? "unknown" : users.has(person.user) ? "yes" : "no"
  }

  async #inPrivate(channel: string, person: Person, fresh: boolean): Promise<Membership> {
    const closed = await this.#lookUp("conversations.info", channel, fresh, async () => {
      const { channel: it } = await this.#client.conversations.info({ channel })
      if (it?.id !== channel) return undefined
      const shared = it.is_shared || it.is_ext_shared || it.is_org_shared || it.is_pending_ext_shared
      return it.is_private === true && !shared && !it.is_archived && !it.is_im && !it.is_mpim
    })
    if (closed === undefined) return "unknown"
    return closed ? this.#inChannel(channel, person, fresh) : "no"
  }

  async #inChannel(channel: string, person: Person, fresh: boolean): Promise<Membership> {
    const found = await this.#lookUp("conversations.members", channel, fresh, async () => {
      const members = new Set<string>()
      let cursor: string | undefined
      for (let page = 0; page < PAGES; page++) {
        const got = await this.#client.conversations.members({ channel, limit: 1000, ...(cursor ? { cursor } : {}) })
        if (!Array.isArray(got.members)) return undefined
        for (const member of got.members) members.add(member)
        cursor = got.response_metadata?.next_cursor
        if (!cursor) return { members, whole: true }
      }
      return { members, whole: false }
    })
    if (found?.members.has(person.user)) return "yes"
    return found?.whole ? "no" : "unknown"
  }

  /** One lookup at a time for all who ask the same; undefined when it fails and no earlier one may still be believed. */
  async #lookUp<T>(
    method: string,
    what: string,
    fresh: boolean,
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const key = `${method}:${what}`
    const known = this.#believed<T>(key, fresh ? this.#fresh : this.#maxAge)
    if (known !== undefined) return known
    const under = this.#underWay.get(key) as Promise<T | undefined> | undefined
    const lookup = under ?? this.#begin(method, key, ask).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, lookup)
    return (await lookup) ?? this.#believed<T>(key, this.#maxAge)
  }

  #believed<T>(key: string, age: number): T | undefined {
    const known = this.#known.get(key)
    return known && this.#now() - known.at <= age ? (known.value as T) : undefined
  }

  /** Starts a lookup, unless Slack said not to ask this method yet. Its failures are remembered by nobody. */
  async #begin<T>(method: string, key: string, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const at = this.#now()
    if (at < (this.#closed.get(method) ?? at)) return undefined
    try {
      const value = await ask()
      if (value !== undefined) this.#known.set(key, { at, value })
      if (value !== undefined && this.#known.size > REMEMBERED) this.#forget()
      return value
    } catch (error) {
      const wait = retryAfterOf(error)
      if (wait !== undefined) this.#closed.set(method, this.#now() + wait)
      return undefined
    }
  }

  #forget(): void {
    for (const [key, { at }] of this.#known) if (this.#now() - at > this.#maxAge) this.#known.delete(key)
  }
}

type Found = NonNullable<Awaited<ReturnType<WebClient["users"]["info"]>>["user"]>

/** What users.info says (docs.slack.dev, user object). Only `team_id` tells ours from others: is_stranger false does not. */
function profileOf(found: Found, team: string, home: { team: string; enterprise?: string }): Profile {
  const { enterprise_id: enterprise, teams = [] } = found.enterprise_user ?? {}
  const house =
    home.enterprise !== undefined && [enterprise, team].includes(home.enterprise) ? home.enterprise : undefined
  const ours = (team === home.team || house !== undefined) && found.is_stranger !== true
  const name = nameOf(found)
  return {
    standing: standingIn(found, ours),
    team,
    teams: house === undefined ? [team] : [team, home.team, house, ...teams],
    ...(enterprise ? { enterprise } : {}),
    ...(name === undefined ? {} : { name }),
  }
}

const nameOf = (found: Found): string | undefined =>
  [found.profile?.display_name, found.real_name, found.name].find((name) => name !== undefined && name.trim() !== "")

function standingIn(found: Found, ours: boolean): Who["standing"] {
  if (found.deleted === true) return "deactivated"
  if (found.is_bot === true || found.is_workflow_bot === true || found.id === "USLACKBOT") return "bot"
  if (!ours) return "foreign"
  return found.is_restricted === true || found.is_ultra_restricted === true ? "guest" : "member"
}

/** An interaction that names another team than Slack's directory does is not trusted to be that person's. */
const standingOf = (person: Person, profile: Profile): Who["standing"] =>
  profile.standing === "member" && !profile.teams.includes(person.team) ? "foreign" : profile.standing

/** The directory's team, so that a person is the same one by whichever door they come: a payload may name another. */
const named = (person: Person, { team, teams, enterprise, name }: Profile): Person => ({
  team: teams.includes(person.team) ? team : person.team,
  user: person.user,
  ...(enterprise === undefined ? {} : { enterprise }),
  ...(name === undefined ? {} : { name }),
})

/** ms for which Slack wants no more calls of this method; undefined for every other failure. */
function retryAfterOf(error: unknown): number | undefined {
  if (error instanceof WebAPIRateLimitedError) return error.retryAfter * 1000
  const code = error instanceof WebAPIPlatformError ? error.data.error : ""
  return code === "ratelimited" || code === "rate_limited" ? 10_000 : undefined
}
