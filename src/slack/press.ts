/**
 * Whoever pressed something, as the rest of the bot names people, causes and ways to answer. Knows no button.
 */
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import type { Press } from "./blocks/intent.ts"
import type { Way } from "./front.ts"

/** A press without a team is of nobody we know. */
export const personOf = ({ team = "", user, enterprise, name }: Press): Person => ({
  team,
  user,
  ...(enterprise === undefined ? {} : { enterprise }),
  ...(name === undefined ? {} : { name }),
})

/** The same over retries and redeliveries of one press: its person and time, and what it is about. */
export const causeOf = (press: Press, about: string): string => `${press.cause}:${about}`

/** On a thread's root itself the channel is where they look. */
export const wayOf = ({ user, channel, ts, thread, responseUrl }: Press): Way => ({
  user,
  ...(channel === undefined ? {} : { channel }),
  ...(thread === undefined || thread === ts ? {} : { thread }),
  ...(responseUrl === undefined ? {} : { responseUrl }),
})

/** How whoever pressed something that is not ours can be told so; undefined when Slack names no way. */
export function strayWay(body: object): Way | undefined {
  const user = "user" in body && isRecord(body.user) ? body.user["id"] : undefined
  const responseUrl = "response_url" in body ? body.response_url : undefined
  return typeof user === "string" && typeof responseUrl === "string" ? { user, responseUrl } : undefined
}
