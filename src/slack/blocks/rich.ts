/**
 * Small pieces of rich text. Rich text is never parsed by Slack: a text element is text, whatever it holds, so this is how
 * foreign text is shown. Mentions and links are made here and nowhere else.
 */
import type {
  ActionsBlock,
  Button,
  ConfirmationDialog,
  HeaderBlock,
  PlainTextElement,
  RichTextBlock,
  RichTextElement,
  RichTextList,
  RichTextPreformatted,
  RichTextQuote,
  RichTextSection,
} from "@slack/types"
import { utc } from "../../core/ask.ts"
import type { Person } from "../../core/fact.ts"
import type { Ask, Run } from "../../core/run.ts"
import { chunks, clip, oneLine, visible } from "./text.ts"

export type Rich = RichTextSection | RichTextQuote | RichTextPreformatted | RichTextList
export type Style = { bold?: true; italic?: true; code?: true; strike?: true }

/** The longest text of one element, well below what a text object may have. */
const ELEMENT = 2800

/** Text elements of any length; none for the empty text. Hidden characters must be visible already. */
export function words(text: string, style?: Style): RichTextElement[] {
  return chunks(text, ELEMENT).map((piece) => ({ type: "text", text: piece, ...(style ? { style } : {}) }))
}

export const bold = (text: string): RichTextElement[] => words(text, { bold: true })
export const code = (text: string): RichTextElement[] => words(text, { code: true })

export const section = (...parts: (string | RichTextElement | RichTextElement[])[]): RichTextSection => ({
  type: "rich_text_section",
  elements: parts.flatMap((part) => (typeof part === "string" ? words(part) : part)),
})

/** Somebody else's words, set apart so that no line of theirs passes for one of ours. */
export const quote = (text: string): RichTextQuote => ({ type: "rich_text_quote", elements: words(text) })

/** Text in which every character counts. */
export const exactly = (text: string): RichTextPreformatted => ({
  type: "rich_text_preformatted",
  elements: chunks(text, ELEMENT).map((piece) => ({ type: "text", text: piece })),
})

export const rich = (...elements: Rich[]): RichTextBlock => ({ type: "rich_text", elements })

export const header = (text: string): HeaderBlock => ({
  type: "header",
  text: { type: "plain_text", text: clip(oneLine(text), 150), emoji: false },
})

/** A time that somebody has less long for is shown to the second, ms. */
const SHORT = 300_000

/** Until when an ask can be answered. */
export const until = ({ at, expiresAt }: Pick<Ask, "at" | "expiresAt">): RichTextElement[] =>
  instant(expiresAt, expiresAt - at < SHORT)

/** In the reader's own time and, beside it, in UTC, which is the same for everybody. Beyond what clocks can name: in words. */
export function instant(ms: number, seconds = false): RichTextElement[] {
  const minute = utc(ms)
  if (!/^\d{4}-/.test(minute)) return words(minute)
  const text = seconds ? minute.replace(" UTC", `${new Date(ms).toISOString().slice(16, 19)} UTC`) : minute
  const date: RichTextElement = {
    type: "date",
    timestamp: Math.floor(ms / 1000),
    format: `{date_short_pretty} at ${seconds ? "{time_secs}" : "{time}"}`,
    fallback: text,
  }
  return [date, ...words(` (${text})`)]
}

/** Characters of a fingerprint that are shown: enough to compare by eye. */
export const short = (digest: string): string => digest.slice(0, 12)

/** Without a ping: the name they go by, which anybody can choose, and the id, which nobody can. */
export const nameOf = (person: Pick<Person, "user" | "name">): string => {
  const name = clip(oneLine(person.name ?? ""), 80)
  return name === "" ? person.user : `${name} (${person.user})`
}

/** The agent that a run is of, where the configuration names several. Without an @, which in a text may ping. */
export const agentIn = ({ agent }: Pick<Run, "agent">): string =>
  agent === undefined ? "" : ` (agent ${clip(oneLine(agent), 40)})`

/** What an id stands for, where no name is known. */
const SORTS: Record<string, string> = { S: "user group ", C: "members of channel ", G: "members of channel " }

/** The same for whoever an id stands for: a person, a group, or the members of a channel. */
export const nameById = (id: string, name: string | undefined): string =>
  name === undefined ? `${SORTS[id.charAt(0)] ?? ""}${oneLine(id)}` : nameOf({ user: id, name })

/** Pings the user or the group of this id; anything else stays text. */
export function mention(id: string): RichTextElement {
  if (/^[UW][A-Z0-9]+$/.test(id)) return { type: "user", user_id: id }
  if (/^S[A-Z0-9]+$/.test(id)) return { type: "usergroup", usergroup_id: id }
  if (/^[CG][A-Z0-9]+$/.test(id)) return { type: "channel", channel_id: id }
  return { type: "text", text: clip(visible(id), 80) || "?" }
}

export function button(how: {
  id: string
  text: string
  label: string
  value: string
  style?: "primary" | "danger"
  /** A question before the press counts: at most 100 and 300 characters, the answers 30. */
  confirm?: { title: string; text: string; yes: string; no: string }
}): Button {
  const { confirm } = how
  return {
    type: "button",
    action_id: how.id,
    text: { type: "plain_text", text: how.text, emoji: false },
    value: how.value,
    accessibility_label: clip(oneLine(how.label), 75),
    ...(how.style ? { style: how.style } : {}),
    ...(confirm ? { confirm: dialog(confirm) } : {}),
  }
}

function dialog(how: { title: string; text: string; yes: string; no: string }): ConfirmationDialog {
  const plain = (text: string): PlainTextElement => ({ type: "plain_text", text, emoji: false })
  return {
    title: plain(how.title),
    text: plain(clip(oneLine(how.text), 300)),
    confirm: plain(how.yes),
    deny: plain(how.no),
  }
}

export const actions = (blockId: string, elements: Button[]): ActionsBlock => ({
  type: "actions",
  block_id: blockId,
  elements,
})
