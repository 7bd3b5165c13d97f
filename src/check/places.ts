/**
 * Whether the bot can work in the channels that the configuration names.
 */
import type { WebClient } from "@slack/web-api"
import type { Known } from "../config.ts"
import { ask, type Unanswered } from "./ask.ts"
import { type Finding, judge, placesOf } from "./lists.ts"
import { fault, plain, type Report, together } from "./report.ts"
import type { Bot } from "./tokens.ts"

type Channel = NonNullable<Awaited<ReturnType<WebClient["conversations"]["info"]>>["channel"]>

export async function checkPlaces(client: WebClient, known: Known, bot: Bot): Promise<Report> {
  const lists = placesOf(known)
  const audit = typeof known.audit === "object" ? known.audit : {}
  const findings = new Map<string, Finding>()
  const reports: Report[] = []
  for (const id of new Set(lists.flatMap(({ ids }) => ids))) {
    const found = await channelOf(client, id, bot)
    findings.set(id, "channel" in found ? placeFinding(found.channel, bot) : found)
    if ("channel" in found && id === audit.channel && audit.args === "masked") {
      reports.push(checkMasked(id, found.channel))
    }
  }
  return together(judge(lists, findings), ...reports)
}

/** A channel as Slack shows it to the bot, or why it doesn't. */
export async function channelOf(client: WebClient, id: string, bot: Bot): Promise<{ channel: Channel } | Finding> {
  const answer = await ask(() => client.conversations.info({ channel: id }))
  if (!answer.ok) return whyNot(answer, bot)
  const { channel } = answer.value
  return channel?.id === id ? { channel } : { kind: "unknown", why: "Slack told of another channel" }
}

/** Whoever can read the channel reads the audit. */
export const isClosed = (channel: Channel): boolean =>
  channel.is_private === true &&
  channel.is_shared !== true &&
  channel.is_ext_shared !== true &&
  channel.is_org_shared !== true &&
  channel.is_pending_ext_shared !== true

export const named = ({ name }: Channel): string => (name === undefined ? "" : `(#${plain(name)}) `)

export const ARCHIVED = "is archived: unarchive it, or take it out"

function placeFinding(channel: Channel, bot: Bot): Finding {
  if (channel.is_archived === true) return { kind: "idle", words: `${named(channel)}${ARCHIVED}` }
  const mayPost = channel.is_member === true || (channel.is_private !== true && bot.scopes?.has("chat:write.public"))
  if (mayPost) return { kind: "counts", users: new Set() }
  return { kind: "idle", words: `${named(channel)}does not have the bot as a member: type ${invite(bot)} there` }
}

const invite = ({ name }: Bot): string => `/invite @${name}`

/** A private channel without the bot is to the bot like one that doesn't exist. */
function whyNot({ kind, code, why }: Unanswered, bot: Bot): Finding {
  if (kind !== "refused" || code !== "channel_not_found") return { kind: "unknown", why }
  const words = "is no channel that Slack shows to the bot"
  return { kind: "idle", words: `${words}: type ${invite(bot)} there if it is private, else put the right id` }
}

function checkMasked(id: string, channel: Channel): Report {
  if (isClosed(channel)) return together()
  const seen = channel.is_private === true ? "shared with others" : "public"
  const words = `audit.args is masked, but ${id} ${named(channel)}is ${seen}: everybody there could read every argument`
  return fault(`${words}. Name a private, unshared channel, or put args: digest.`)
}
