/** Draws passages. Links show where they lead, and a mention of the viewer stands out, as in Slack. */
import { type Child, el, webAddress } from "../dom.ts"
import { dateText, fullDate } from "./dates.ts"
import { emojiText } from "./emoji.ts"
import type { Passage, Span, Style } from "./passage.ts"

export interface Names {
  me: string
  /** Names by id, of people, channels and groups. */
  of: (id: string) => string | undefined
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

/** A link to a message here, which the page opens itself. */
const isPermalink = (address: string): boolean => address.startsWith(`${location.origin}/archives/`)

function link(url: string, label: string | undefined): Node | string {
  const address = webAddress(url)
  if (address === undefined) return label === undefined || label === url ? url : `${label} (${url})`
  const shown = [url, address, address.replace(/^mailto:/, "")]
  const target = /^[\x21-\x7e]*$/.test(url) ? url : address
  const text = label === undefined || label === "" || shown.includes(label) ? undefined : label
  const attributes = { href: address, target: "_blank", rel: "noreferrer noopener nofollow" }
  if (text === undefined) return el("a", attributes, target)
  if (isPermalink(address)) return el("a", attributes, text)
  return el("a", attributes, el("span", {}, text), " ", el("span", { class: "address" }, `(${target})`))
}

function date(span: Span & { kind: "date" }): Node | string {
  const text = dateText(span.seconds, span.format, span.fallback, new Date())
  const at = new Date(span.seconds * 1000)
  if (Number.isNaN(at.getTime())) return text
  const time = el("time", { datetime: at.toISOString(), title: fullDate(at) }, text)
  if (span.url === undefined) return time
  return link(span.url, text)
}

const mention = (text: string, mine: boolean): HTMLElement =>
  el("span", { class: mine ? "mention mention-me" : "mention" }, text)

type Drawing<S> = (span: S, names: Names) => Node | string

const drawings: { [K in Span["kind"]]: Drawing<Extract<Span, { kind: K }>> } = {
  text: ({ text }) => text,
  emoji: ({ name }) => emojiText(name),
  link: ({ url, label }) => link(url, label),
  date: (span) => date(span),
  user: ({ id }, names) => mention(`@${names.of(id) ?? id}`, id === names.me),
  group: ({ id, label }, names) => mention(`@${names.of(id) ?? label?.replace(/^@/, "") ?? id}`, false),
  channel: ({ id, label }, names) => mention(`#${names.of(id) ?? label ?? id}`, false),
  broadcast: ({ range }) => mention(`@${range}`, true),
}

const drawSpan: Drawing<Span> = (span, names) => (drawings[span.kind] as Drawing<Span>)(span, names)

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
