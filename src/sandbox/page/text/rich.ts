/** Reads `rich_text` blocks. Their text is never parsed: what an element says is what stands there. */
import type { RichTextBlock, RichTextBlockElement, RichTextElement } from "@slack/types"
import type { Passage, Span, Style } from "./passage.ts"

type Kind = RichTextElement["type"]
type Readers = { [K in Kind]?: (element: Extract<RichTextElement, { type: K }>, style: Style) => Span }

const readers: Readers = {
  text: ({ text }, style) => ({ kind: "text", text, style }),
  link: ({ url, text }, style) => ({ kind: "link", url, label: text, style }),
  user: ({ user_id }, style) => ({ kind: "user", id: user_id, style }),
  usergroup: ({ usergroup_id }, style) => ({ kind: "group", id: usergroup_id, label: undefined, style }),
  channel: ({ channel_id }, style) => ({ kind: "channel", id: channel_id, label: undefined, style }),
  broadcast: ({ range }, style) => ({ kind: "broadcast", range, style }),
  emoji: ({ name }, style) => ({ kind: "emoji", name, style }),
  color: ({ value }, style) => ({ kind: "text", text: value, style: { ...style, code: true } }),
  date: ({ timestamp, format, url, fallback = "" }, style) => ({
    kind: "date",
    seconds: timestamp,
    format,
    url,
    fallback,
    style,
  }),
}

function span(element: RichTextElement): Span {
  const style: Style = element.style ?? {}
  const read = readers[element.type] as ((element: RichTextElement, style: Style) => Span) | undefined
  return read?.(element, style) ?? { kind: "text", text: `[${element.type}]`, style }
}

function passage(element: RichTextBlockElement): Passage {
  switch (element.type) {
    case "rich_text_section":
      return { kind: "text", spans: element.elements.map(span) }
    case "rich_text_quote":
      return { kind: "quote", spans: element.elements.map(span) }
    case "rich_text_preformatted":
      return { kind: "pre", spans: element.elements.map(span) }
    case "rich_text_list":
      return {
        kind: "list",
        ordered: element.style === "ordered",
        indent: element.indent ?? 0,
        start: ("offset" in element && typeof element.offset === "number" ? element.offset : 0) + 1,
        items: element.elements.map((item) => item.elements.map(span)),
      }
    default:
      return { kind: "text", spans: [] }
  }
}

export const readRich = (block: RichTextBlock): Passage[] => block.elements.map(passage)
