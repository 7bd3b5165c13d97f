/** Reads `rich_text` blocks. Their text is never parsed: what an element says is what stands there. */
import type { RichTextBlock, RichTextBlockElement, RichTextElement } from "@slack/types"
import type { Passage, Span, Style } from "./passage.ts"

function span(element: RichTextElement): Span {
  const style: Style = element.style ?? {}
  switch (element.type) {
    case "text":
      return { kind: "text", text: element.text, style }
    case "link":
      return { kind: "link", url: element.url, label: element.text, style }
    case "user":
      return { kind: "user", id: element.user_id, style }
    case "usergroup":
      return { kind: "group", id: element.usergroup_id, label: undefined, style }
    case "channel":
      return { kind: "channel", id: element.channel_id, label: undefined, style }
    case "broadcast":
      return { kind: "broadcast", range: element.range, style }
    case "emoji":
      return { kind: "emoji", name: element.name, style }
    case "date":
      return {
        kind: "date",
        seconds: element.timestamp,
        format: element.format,
        url: element.url,
        fallback: element.fallback ?? "",
        style,
      }
    case "color":
      return { kind: "text", text: element.value, style: { ...style, code: true } }
    default:
      return { kind: "text", text: `[${element.type}]`, style }
  }
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
