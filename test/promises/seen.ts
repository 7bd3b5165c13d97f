/**
 * What can be seen of a bot from outside: the words of messages, the lines of the audit, everything that ever left it.
 * Reads the team's Slack and logs; knows nothing of what they should say.
 */
import { AUDIT, OPS, until, type Message, type RunningBot, type Team } from "./team.ts"

type Node = Record<string, unknown>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

/** Every object in a value, however deep, in order. */
export function nodes(value: unknown): Node[] {
  if (!isNode(value)) return []
  return [...(Array.isArray(value) ? [] : [value]), ...Object.values(value).flatMap(nodes)]
}

/** What a reader reads of a message: its texts, element after element, a line for each section and list entry. */
export function wordsOf({ blocks = [] }: Pick<Message, "blocks">): string {
  const read = (node: Node): string => {
    const { type, text, elements } = node
    if (type === "user" || type === "usergroup") return `@${String(node["user_id"] ?? node["usergroup_id"])}`
    if (typeof text === "string") return text
    if (isNode(text)) return read(text)
    return Array.isArray(elements)
      ? elements
          .filter(isNode)
          .map(read)
          .join(type === "rich_text" ? "\n" : "")
      : ""
  }
  return blocks.map(read).join("\n")
}

/** Everything that stands in a channel, in order. */
export const read = (team: Team, channel = OPS): string =>
  team.slack.workspace.messages(channel).map(wordsOf).join("\n\n")

/** Resolves when something like it stands in the channel. */
export async function reads(team: Team, words: string | RegExp, channel = OPS, ms?: number): Promise<void> {
  const matches = (): boolean => {
    const text = read(team, channel)
    return typeof words === "string" ? text.includes(words) : words.test(text)
  }
  await until(matches, () => `${String(words)} in ${channel}: ${read(team, channel)}`, ms)
}

/** Whether anything can be decided on the message as it is now. */
export const isLive = (message: Message): boolean =>
  nodes(message.blocks).some(({ type, action_id }) => type === "button" && action_id !== "reveal")

/** The lines of the audit channel, in order. */
export const auditLines = (team: Team, channel = AUDIT): string[] =>
  team.slack.workspace.messages(channel).flatMap((message) =>
    wordsOf(message)
      .split("\n")
      .filter((line) => line !== ""),
  )

/** Everything that ever left the bots: what Slack was sent, acks included, and what they logged. */
export function everything(team: Team, bots: readonly RunningBot[]): string {
  const { calls, deliveries } = team.slack.workspace
  return [
    ...calls.map(({ method, args }) => JSON.stringify({ method, args })),
    ...deliveries.map(({ payload }) => JSON.stringify(payload) ?? ""),
    ...bots.map((bot) => bot.log()),
  ].join("\n")
}
