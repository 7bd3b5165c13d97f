/**
 * Reads the standard markdown of `markdown` blocks, as much of it as messages use. Pictures become a link to their
 * address, and Slack's own marks count, because whether Slack would ping for them here is not documented.
 */
import { bareLink, emoji, mark, readInline, tokens } from "./inline.ts"
import type { Passage, Span } from "./passage.ts"

const marks = [
  mark(/\\([\\`*_{}[\]()#+\-.!~|<>])/, (match, style) => [{ kind: "text", text: match[1] ?? "", style }]),
  mark(/(?<!`)(`{1,6})([\s\S]*?[^`])\1(?!`)/, (match, style) => [
    { kind: "text", text: match[2] ?? "", style: { ...style, code: true } },
  ]),
  mark(/!?\[([^\]\n]*)\]\(\s*([^\s()]+)\s*\)/, (match, style) => [
    { kind: "link", url: match[2] ?? "", label: match[1] ?? "", style },
  ]),
  tokens,
  mark(/(\*\*|__)(?=\S)([\s\S]*?\S)\1(?!\*)/, (match, style, inside) =>
    inside(match[2] ?? "", { ...style, bold: true }),
  ),
  mark(/(?<![*\w])([*_])(?=[^\s*_])((?:[^*_\n]|\*\*)*[^\s*_])\1(?![*\w])/, (match, style, inside) =>
    inside(match[2] ?? "", { ...style, italic: true }),
  ),
  mark(/~~(?=\S)([\s\S]*?\S)~~/, (match, style, inside) => inside(match[1] ?? "", { ...style, strike: true })),
  emoji,
  bareLink,
]

const inline = (text: string): Span[] => readInline(text, {}, marks)

interface Shape {
  at: RegExp
  read: (match: RegExpExecArray) => Passage
}

const list = (match: RegExpExecArray, ordered: boolean): Passage => ({
  kind: "list",
  ordered,
  indent: Math.min(Math.floor((match[1] ?? "").length / 2), 8),
  start: ordered ? Number(match[2]) : 1,
  items: [inline(match[3] ?? "")],
})

const shapes: Shape[] = [
  {
    at: /^(#{1,6})\s+(.*?)\s*#*$/,
    read: (m) => ({ kind: "heading", level: (m[1] ?? "").length, spans: inline(m[2] ?? "") }),
  },
  { at: /^\s*(?:[-*_]\s*){3,}$/, read: () => ({ kind: "rule" }) },
  { at: /^(\s*)([-*+])\s+(.*)$/, read: (m) => list(m, false) },
  { at: /^(\s*)(\d{1,9})[.)]\s+(.*)$/, read: (m) => list(m, true) },
  { at: /^>\s?(.*)$/, read: (m) => ({ kind: "quote", spans: inline(m[1] ?? "") }) },
]

function readLine(line: string): Passage | undefined {
  for (const { at, read } of shapes) {
    const match = at.exec(line)
    if (match !== null) return read(match)
  }
  return line.trim() === "" ? undefined : { kind: "text", spans: inline(line) }
}

/** True when `next` went into `last`, because both are lines of one paragraph, quote or list. */
function joined(last: Passage | undefined, next: Passage): boolean {
  if (last?.kind === "list") return next.kind === "list" && joinedList(last, next)
  if (last === undefined || last.kind !== next.kind || !("spans" in last) || !("spans" in next)) return false
  if (last.kind === "heading") return false
  last.spans.push({ kind: "text", text: "\n", style: {} }, ...next.spans)
  return true
}

type List = Passage & { kind: "list" }

function joinedList(last: List, next: List): boolean {
  if (last.ordered !== next.ordered || last.indent !== next.indent) return false
  last.items.push(...next.items)
  return true
}

function readProse(text: string): Passage[] {
  const passages: Passage[] = []
  let fresh = true
  for (const line of text.split("\n")) {
    const next = readLine(line)
    if (next !== undefined && (fresh || !joined(passages.at(-1), next))) passages.push(next)
    fresh = next === undefined
  }
  return passages
}

/** What stands behind the opening fence is shown as the first line of the code: no text may hide there. */
export function readMarkdown(text: string): Passage[] {
  const fence = /^```([^\n]*)\n([\s\S]*?)(?:\n?```\s*$|(?![\s\S]))/m
  const parts = `${text}\n`.split(fence)
  return parts.flatMap((part, index): Passage[] => {
    if (index % 3 === 0) return readProse(part)
    if (index % 3 === 1) return []
    const code = [parts[index - 1] ?? "", part.replace(/\n$/, "")].filter((line) => line.trim() !== "").join("\n")
    return [{ kind: "pre", spans: [{ kind: "text", text: code, style: {} }] }]
  })
}
