/**
 * What a piece of Slack text says once it is read: passages made of spans. The three ways of writing text (mrkdwn,
 * markdown, rich_text) end here; how it looks, and who people are, is not known here.
 */

export interface Style {
  bold?: boolean
  italic?: boolean
  strike?: boolean
  underline?: boolean
  code?: boolean
}

export type Span =
  | { kind: "text"; text: string; style: Style }
  | { kind: "link"; url: string; label: string | undefined; style: Style }
  | { kind: "user"; id: string; style: Style }
  | { kind: "group"; id: string; label: string | undefined; style: Style }
  | { kind: "channel"; id: string; label: string | undefined; style: Style }
  | { kind: "broadcast"; range: string; style: Style }
  | { kind: "date"; seconds: number; format: string; url: string | undefined; fallback: string; style: Style }
  | { kind: "emoji"; name: string; style: Style }

export type Passage =
  | { kind: "text" | "quote" | "pre"; spans: Span[] }
  | { kind: "heading"; level: number; spans: Span[] }
  | { kind: "list"; ordered: boolean; indent: number; start: number; items: Span[][] }
  | { kind: "rule" }

/** Undoes Slack's three escapes, the only ones there are. */
export const unescape = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")

/** Appends a text span, joined to the one before it when both look alike. */
export function pushText(spans: Span[], text: string, style: Style): void {
  const last = spans.at(-1)
  if (last?.kind === "text" && last.style === style) last.text += text
  else spans.push({ kind: "text", text, style })
}
