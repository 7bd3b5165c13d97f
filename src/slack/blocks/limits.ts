/**
 * Slack's limits in one table, and the check that every outgoing message passes. Knows nothing of runs and cards.
 * Source: docs.slack.dev/reference/block-kit and the pages of chat.postMessage and chat.update.
 */
import type { KnownBlock } from "@slack/types"
import { escape } from "./text.ts"

/** What the sender passes on, with `parse: "none"`, no `link_names` and nothing unfurled. `text` is escaped already. */
export interface Message {
  /** One sentence: the push notification, and what a screen reader says. */
  text: string
  blocks: KnownBlock[]
}

export const LIMITS = {
  /** chat.update refuses more, although chat.postMessage takes 40,000. */
  text: 4000,
  blocks: 50,
  /** All blocks as JSON: Slack documents no number and was seen to refuse about 13,200 characters. */
  total: 12_500,
  /** One text object, and one text element of a rich text. */
  section: 3000,
  header: 150,
  contextElements: 10,
  actions: 25,
  buttonText: 75,
  buttonValue: 2000,
  label: 75,
  id: 255,
  url: 3000,
} as const

type Node = Record<string, unknown>

/** What Slack would refuse about `message`, one sentence each; empty when it fits. */
export function fits(message: Message): string[] {
  const { text, blocks } = message
  const whole = escape(JSON.stringify(blocks)).length
  return [
    ...over("text", text, LIMITS.text),
    ...(text.trim() === "" ? ["text is empty"] : []),
    ...(blocks.length === 0 ? ["there are no blocks"] : []),
    ...(blocks.length > LIMITS.blocks ? [`${blocks.length} blocks, at most ${LIMITS.blocks}`] : []),
    ...(whole > LIMITS.total ? [`${whole} characters of blocks, at most ${LIMITS.total}`] : []),
    ...repeated("block_id", blocks),
    ...blocks.flatMap((block) => inNode({ ...block })),
  ]
}

/** `message` when it fits; else what `instead` gives, which must be small and true. */
export const guarded = (message: Message, instead: () => Message): Message =>
  fits(message).length === 0 ? message : instead()

const over = (what: string, text: unknown, max: number): string[] =>
  typeof text === "string" && escape(text).length > max
    ? [`${what} has ${escape(text).length} characters, at most ${max}`]
    : []

function repeated(key: string, nodes: readonly object[]): string[] {
  const ids = nodes.flatMap((node) => (key in node ? [String((node as Node)[key])] : []))
  const long = ids.filter((id) => id.length > LIMITS.id || id === "")
  const twice = ids.filter((id, index) => ids.indexOf(id) < index)
  return [...long.map(() => `a ${key} is empty or too long`), ...twice.map((id) => `${key} ${id} stands twice`)]
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)
const nodesOf = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : [])

/** The longest text of each type of block or element. */
const TEXTS: Record<string, number> = {
  header: LIMITS.header,
  button: LIMITS.buttonText,
  plain_text: LIMITS.section,
  mrkdwn: LIMITS.section,
  text: LIMITS.section,
  link: LIMITS.section,
}

function inNode(node: Node): string[] {
  const type = String(node["type"])
  const text = isNode(node["text"]) ? node["text"]["text"] : node["text"]
  const elements = nodesOf(node["elements"])
  return [
    ...(text === "" ? [`a ${type} has an empty text`] : []),
    ...over(`a ${type}`, text, TEXTS[type] ?? LIMITS.section),
    ...over("a button's value", node["value"], LIMITS.buttonValue),
    ...over("a button's label", node["accessibility_label"], LIMITS.label),
    ...over("a url", node["url"], LIMITS.url),
    ...sized(type, elements.length),
    ...(type === "actions" ? repeated("action_id", elements) : []),
    ...[...elements, ...nodesOf([node["accessory"]])].flatMap(inNode),
  ]
}

function sized(type: string, length: number): string[] {
  const max = { actions: LIMITS.actions, context: LIMITS.contextElements }[type]
  if (max !== undefined && (length === 0 || length > max))
    return [`${length} elements in a ${type} block, 1 to ${max} allowed`]
  return type === "rich_text" && length === 0 ? ["an empty rich_text block"] : []
}
