/**
 * Whether the people, user groups and channels that may start, decide or cancel are there and count.
 */
import type { WebClient } from "@slack/web-api"
import { isPerson, type Who } from "../core/policy.ts"
import { People } from "../slack/people.ts"
import { ask, type Unanswered } from "./ask.ts"
import type { Finding } from "./lists.ts"
import { ARCHIVED, channelOf, isClosed, named } from "./places.ts"
import { plain } from "./report.ts"
import type { Bot } from "./tokens.ts"

/** Questions that are under way at once. */
const AT_ONCE = 4

/** How each of the ids stands, each looked up once. */
export async function findPrincipals(
  client: WebClient,
  bot: Bot,
  ids: readonly string[],
): Promise<Map<string, Finding>> {
  const people = new People(client, bot)
  const findings = new Map<string, Finding>([...new Set(ids)].map((id) => [id, { kind: "unknown", why: "" }]))
  const left = [...findings.keys()]
  const work = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift())
      findings.set(id, await find(client, people, bot, id))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return findings
}

function find(client: WebClient, people: People, bot: Bot, id: string): Promise<Finding> {
  if (id.startsWith("S")) return findGroup(client, id)
  return isPerson(id) ? findUser(client, people, bot, id) : findChannel(client, bot, id)
}

// --- a person

/** Their standing is told by whoever tells it at a click; only why it is unknown is asked here. */
async function findUser(client: WebClient, people: People, bot: Bot, user: string): Promise<Finding> {
  const who = await people.who({ team: bot.team, user }, [])
  if (who.standing !== "unknown") return standingFinding(who)
  const answer = await ask(() => client.users.info({ user }))
  if (answer.ok) return { kind: "unknown", why: "Slack's answer doesn't say whose account it is" }
  const gone = ["user_not_found", "user_not_visible"].includes(answer.code)
  return gone ? { kind: "absent", words: `is nobody's id: ${COPY_ID}` } : { kind: "unknown", why: answer.why }
}

const COPY_ID = "put the right one (a person's profile in Slack, its menu, Copy member ID)"

function standingFinding({ standing, person }: Who): Finding {
  if (standing === "member") return { kind: "counts", users: new Set([person.user]) }
  const name = person.name === undefined ? "" : `(${plain(person.name)}) `
  return { kind: "idle", words: `${name}${NO_STANDING[standing]}: take the id out` }
}

const NO_STANDING: Record<Exclude<Who["standing"], "member">, string> = {
  guest: "is a guest, and guests may do nothing",
  deactivated: "is deactivated",
  bot: "is a bot, and only people count",
  foreign: "belongs to another organisation",
  unknown: "could not be looked up",
}

// --- a user group

async function findGroup(client: WebClient, usergroup: string): Promise<Finding> {
  const answer = await ask(() => client.usergroups.users.list({ usergroup }))
  if (!answer.ok) return whyNoGroup(client, usergroup, answer)
  const { users } = answer.value
  if (!Array.isArray(users)) return { kind: "unknown", why: "Slack's answer has no members" }
  if (users.length > 0) return { kind: "counts", users: new Set(users) }
  return { kind: "idle", words: "is a user group without members: add some in Slack" }
}

async function whyNoGroup(client: WebClient, usergroup: string, { code, why }: Unanswered): Promise<Finding> {
  if (code === "plan_upgrade_required") {
    return { kind: "idle", words: "is a user group, which only paid Slack plans have: list people (U…) instead" }
  }
  if (code !== "no_such_subteam") return { kind: "unknown", why }
  const disabled = await ask(() => client.usergroups.users.list({ usergroup, include_disabled: true }))
  if (disabled.ok) return { kind: "idle", words: "is a disabled user group: enable it in Slack, or take it out" }
  return { kind: "absent", words: "is no user group: put the right id" }
}

// --- the members of a channel

async function findChannel(client: WebClient, bot: Bot, id: string): Promise<Finding> {
  const found = await channelOf(client, id, bot)
  if (!("channel" in found)) return found
  const { channel } = found
  if (channel.is_archived === true) return { kind: "idle", words: `${named(channel)}${ARCHIVED}` }
  if (!isClosed(channel)) {
    const seen = channel.is_private === true ? "shared with others" : "public, and anybody can join it"
    return {
      kind: "idle",
      words: `${named(channel)}is ${seen}, so its members don't count: name a private, unshared one`,
    }
  }
  const answer = await ask(() => client.conversations.members({ channel: id, limit: 1000 }))
  if (!answer.ok) return { kind: "unknown", why: answer.why }
  const users = (answer.value.members ?? []).filter((user) => user !== bot.botUser)
  if (users.length > 0) return { kind: "counts", users: new Set(users) }
  return { kind: "idle", words: `${named(channel)}has no members but the bot: invite those who shall approve` }
}
