/**
 * A message that somebody wrote in Slack, as its event tells it: who, where, in which thread, and the words as the person sees
 * them. Whatever no person wrote just now (bots, edits, joins) is none. Knows no run.
 */
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import type { Home } from "./client.ts"

export interface HeardMessage {
  /** app_mention: it names us · message: it was written where we are. Slack sends both of one message that does both. */
  event: "mention" | "message"
  person: Person
  channel: string
  ts: string
  /** The message whose thread it is in. */
  thread?: string
  /** Who wrote that. */
  parent?: string
  /** As the person sees it, without our name. */
  text: string
  isDirect: boolean
  /** Whether it names us. */
  mentions: boolean
  /** It begins with the name of somebody else. */
  isToOthers: boolean
  /** As the event has them: foreign. */
  files: readonly unknown[]
}

/** Kinds of messages that a person just wrote; others tell of edits, joins and the like (docs.slack.dev, event message). */
const WRITTEN = new Set([undefined, "file_share", "thread_broadcast"])
const TS = /^\d{1,12}\.\d{6}$/
/** Characters of a message that are read: Slack itself takes 40,000. */
const MOST = 40_000

/** Undefined for every other event, and for what no person wrote. */
export function heardOf(body: object, { botUser, team: home }: Home): HeardMessage | undefined {
  const event = eventIn(body)
  const kind = KINDS[String(event["type"])]
  const [user = botUser, channel, ts, words = ""] = PARTS.map((key) => textIn(event, key))
  if (kind === undefined || channel === undefined || ts === undefined) return undefined
  if (!isWritten(event) || user === botUser || !TS.test(ts)) return undefined
  const raw = words.slice(0, MOST)
  return {
    event: kind,
    person: { team: teamOf(body, event) ?? home, user },
    channel,
    ts,
    ...threadIn(event, ts),
    text: plain(raw.replaceAll(nameOf(botUser), " ")).trim(),
    isDirect: channel.startsWith("D"),
    mentions: nameOf(botUser).test(raw),
    isToOthers: isToOthers(raw, botUser),
    files: listIn(event, "files"),
  }
}

const PARTS = ["user", "channel", "ts", "text"]
const eventIn = (body: object): Record<string, unknown> => ("event" in body && isRecord(body.event) ? body.event : {})

const KINDS: Partial<Record<string, HeardMessage["event"]>> = { app_mention: "mention", message: "message" }

/** Above a thread its own ts may stand. */
function threadIn(event: Record<string, unknown>, ts: string): Pick<HeardMessage, "thread" | "parent"> {
  const [thread, parent] = [textIn(event, "thread_ts"), textIn(event, "parent_user_id")]
  if (thread === undefined || thread === ts || !TS.test(thread)) return {}
  return parent === undefined ? { thread } : { thread, parent }
}

function isWritten(event: Record<string, unknown>): boolean {
  const { subtype, bot_id: bot, edited, hidden } = event
  return WRITTEN.has(subtype as string | undefined) && bot === undefined && edited === undefined && hidden !== true
}

const textIn = (record: Record<string, unknown>, key: string): string | undefined => {
  const value = record[key]
  return typeof value === "string" && value !== "" ? value : undefined
}

const listIn = (record: Record<string, unknown>, key: string): readonly unknown[] => {
  const value = record[key]
  return Array.isArray(value) ? value : []
}

/** Of somebody of another workspace Slack says which; the body's own is ours. */
function teamOf(body: object, event: Record<string, unknown>): string | undefined {
  const own = textIn({ ...body }, "team_id")
  return textIn(event, "user_team") ?? textIn(event, "team") ?? own
}

const nameOf = (user: string): RegExp => new RegExp(`<@${user}(?:\\|[^<>]*)?>`, "g")

function isToOthers(raw: string, botUser: string): boolean {
  const [, user] =
    /^\s*<(?:@([UW][A-Z0-9]+)|!subteam\^S[A-Z0-9]+|!here|!channel|!everyone)(?:\|[^<>]*)?>/.exec(raw) ?? []
  return /^\s*<[@!]/.test(raw) && user !== botUser
}

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" }

/** Slack's references as a person reads them; an id stays, for names prove nothing (docs.slack.dev, "Retrieving messages"). */
function plain(raw: string): string {
  return raw
    .replaceAll(/<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>/g, (_, kind: string, target: string, label = "") => {
      if (kind === "!") return label === "" ? `@${target}` : label
      return label === "" || label === target ? `${kind}${target}` : `${kind}${label} (${target})`
    })
    .replaceAll(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity)
}
