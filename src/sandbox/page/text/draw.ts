/** Draws passages. Links show where they lead, and a mention of the viewer stands out, as in Slack. */
import { type Child, el, webAddress } from "../dom.ts"
import { dateText, fullDate } from "./dates.ts"
import { emojiText } from "./emoji.ts"
import type { Passage, Span, Style } from "./passage.ts"

export interface Names {
  me: string
  /** Names by id, of people, channels and groups. */
  of(id: string): string | undefined
}

const styles: [keyof Style, "strong" | "em" | "s" | "u" | "code"][] = [
  ["code", "code"],
  ["strike", "s"],
  ["underline", "u"],
  ["italic", "em"],
  ["bold", "strong"],
]

function styled(child: Node | string, style: Style): Node | string {
  return styles.reduce((inner, [name, tag]) => (style[name] === true ? el(tag, {}, inner) : inner), child)
}

function link(url: string, label: string | undefined): Node | string {
  const address = webAddress(url)
  if (address === undefined) return label === undefined || label === url ? url : `${label} (${url})`
  const shown = [url, address, address.replace(/^mailto:/, "")]
  const target = /^[\x21-\x7e]*$/.test(url) ? url : address
  const text = label === undefined || label === "" || shown.includes(label) ? undefined : label
  const attributes = { href: address, target: "_blank", rel: "noreferrer noopener nofollow" }
  if (text === undefined) return el("a", attributes, target)
  return el("a", attributes, el("span", {}, text), " ", el("span", { class: "address" }, `(${target})`))
}

function date(span: Span & { kind: "date" }): Node | string {
  const text = dateText(span.seconds, span.format, span.fallback, new Date())
  const at = new Date(span.seconds * 1000)
  if (Number.isNaN(at.getTime())) return text
  const time = el("time", { datetime: at.toISOString(), title: fullDate(at) }, text)
  if (span.url === undefined) return time
  const linked = link(span.url, text)
  return linked
}

const mention = (text: string, mine: boolean): HTMLElement =>
  el("span", { class: mine ? "mention mention-me" : "mention" }, text)

function drawSpan(span: Span, names: Names): Node | string {
  switch (span.kind) {
    case "text":
      return span.text
    case "emoji":
      return emojiText(span.name)
    case "link":
      return link(span.url, span.label)
    case "date":
      return date(span)
    case "user":
      return mention(`@${names.of(span.id) ?? span.id}`, span.id === names.me)
    case "group":
      return mention(`@${names.of(span.id) ?? span.label?.replace(/^@/, "") ?? span.id}`, false)
    case "channel":
      return mention(`#${names.of(span.id) ?? span.label ?? span.id}`, false)
    default:
      return mention(`@${span.range}`, true)
  }
}

export const drawSpans = (spans: Span[], names: Names): (Node | string)[] =>
  spans.map((span) => styled(drawSpan(span, names), span.style))

function drawPassage(passage: Passage, names: Names): Child {
  switch (passage.kind) {
    case "text":
      return el("p", { dir: "auto" }, ...drawSpans(passage.spans, names))
    case "quote":
      return el("blockquote", { dir: "auto" }, ...drawSpans(passage.spans, names))
    case "pre":
      return el("pre", { tabindex: 0 }, ...drawSpans(passage.spans, names))
    case "heading":
      return el("p", { class: "heading", dir: "auto" }, ...drawSpans(passage.spans, names))
    case "rule":
      return el("hr")
    default: {
      const items = passage.items.map((spans) => el("li", { dir: "auto" }, ...drawSpans(spans, names)))
      const kind = { class: "list", "data-indent": Math.min(passage.indent, 8) }
      return passage.ordered ? el("ol", { ...kind, start: passage.start }, ...items) : el("ul", kind, ...items)
    }
  }
}

export const drawPassages = (passages: Passage[], names: Names): HTMLElement =>
  el("div", { class: "text" }, ...passages.map((passage) => drawPassage(passage, names)))
