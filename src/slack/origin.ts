/**
 * Who acted in Slack, where, and by which doors they can be answered: what commands, clicks and forms have in common.
 * Reads what Slack sent and trusts its names of people and places, never what a button carries.
 */
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"

export interface Origin {
  person: Person
  /** Where they acted. */
  channel?: string
  /** The message they acted on. */
  ts?: string
  thread?: string
  responseUrl?: string
  /** Opens a modal once, within three seconds. */
  trigger?: string
}

/** Reads a slash command: flat, all texts. Undefined when it names no person. */
export function commandOrigin(body: unknown): Origin | undefined {
  const read = reader(body)
  const user = read("user_id")
  const team = read("team_id")
  if (user === undefined || team === undefined) return undefined
  return {
    person: { team, user, ...given("enterprise", read("enterprise_id")), ...given("name", read("user_name")) },
    ...given("channel", read("channel_id")),
    ...given("responseUrl", read("response_url")),
    ...given("trigger", read("trigger_id")),
  }
}

/**
 * Reads a click or a form. The person's team is their own (`user.team_id`), not the team of the place; `team` is null
 * where the app is installed for an organisation, and views have no channel.
 */
export function actionOrigin(body: unknown): Origin | undefined {
  const read = reader(body)
  const user = read("user", "id")
  const team = read("user", "team_id") ?? read("team", "id")
  if (user === undefined || team === undefined) return undefined
  const enterprise = read("user", "enterprise_id") ?? read("enterprise", "id")
  return {
    person: { team, user, ...given("enterprise", enterprise), ...given("name", read("user", "name")) },
    ...given("channel", read("container", "channel_id") ?? read("channel", "id")),
    ...given("ts", read("container", "message_ts") ?? read("message", "ts")),
    ...given("thread", read("container", "thread_ts") ?? read("message", "thread_ts")),
    ...given("responseUrl", read("response_url")),
    ...given("trigger", read("trigger_id")),
  }
}

/** Looks up a text by its path; undefined when there is none, or an empty one. */
function reader(body: unknown): (...path: string[]) => string | undefined {
  return (...path) => {
    const found = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), body)
    return typeof found === "string" && found !== "" ? found : undefined
  }
}

const given = <K extends string>(key: K, value: string | undefined): { [P in K]?: string } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: string }
