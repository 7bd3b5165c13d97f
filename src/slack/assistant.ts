/**
 * What Slack shows around the conversation with the app: what people might ask, and that something is under way. All of it a
 * courtesy: where the app may not (the scope assistant:write, for suggestions), nothing is lost.
 */
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import { principalsFor, usableBy } from "./agents.ts"
import { isOpen, mayEnter, placesBy } from "./doors.ts"
import type { Front } from "./front.ts"

type Courteous = Pick<Front, "client" | "log">

/** As many as Slack shows. */
const MOST = 4

/** Somebody opened the app's messages: what they might ask is offered there, if they may ask anything. */
export async function offerPrompts(front: Front, body: object): Promise<void> {
  const opened = openedIn(front, body)
  if (!opened || !isOpen(front.doors, "message")) return
  await courtesy(front, async () => {
    const [first, ...rest] = await promptsFor(front, opened)
    if (first === undefined) return
    const prompts = [first, ...rest].map((prompt) => ({ title: prompt, message: prompt }))
    // Without a thread: with one Slack shows none where messages are threads of their own.
    await front.client.apiCall("assistant.threads.setSuggestedPrompts", { channel_id: opened.channel, prompts })
  })
}

interface Opened {
  person: Person
  channel: string
}

function openedIn({ home }: Front, body: object): Opened | undefined {
  const event = "event" in body && isRecord(body.event) ? body.event : {}
  const { type, tab, user, channel } = event
  if (type !== "app_home_opened" || tab !== "messages") return undefined
  if (typeof user !== "string" || typeof channel !== "string") return undefined
  const team = "team_id" in body && typeof body.team_id === "string" ? body.team_id : home.team
  return { person: { team, user }, channel }
}

/** The file's, and those of the agents that the person may use there: in turn, so that each has its first. */
async function promptsFor(front: Front, { person, channel }: Opened): Promise<string[]> {
  const { doors, agents, people } = front
  const file = doors.message ? doors.message.prompts : []
  if (file.length === 0 && agents.every(({ prompts }) => prompts.length === 0)) return []
  const { right } = await mayEnter(front, "message", person, channel)
  if (!right.ok) return []
  const places = placesBy(front, "message", channel)
  const who = await people.who(person, principalsFor(places, agents))
  const usable = usableBy(places, agents, who, channel)
  const lists = [file, ...usable.map(({ name, prompts }) => prompts.map((prompt) => `@${name} ${prompt}`))]
  const turns = [...Array(MOST).keys()].flatMap((turn) => lists.flatMap((list) => list[turn] ?? []))
  return turns.slice(0, MOST)
}

/** Says in a direct message that it was taken up, until the bot writes there. */
export function working(front: Courteous, { channel, thread }: { channel: string; thread: string }): void {
  void courtesy(front, () =>
    front.client.apiCall("assistant.threads.setStatus", {
      channel_id: channel,
      thread_ts: thread,
      status: "is working on it…",
    }),
  )
}

async function courtesy({ log }: Courteous, call: () => Promise<unknown>): Promise<void> {
  try {
    await call()
  } catch (error) {
    log.info({ err: error }, "Slack does not show what it might beside a conversation")
  }
}
