/**
 * A model's markdown as rich text: bold, italics, code, lists, quotes and links that show their full address. Whatever else
 * it writes stays text. Makes no mention, whatever stands there.
 */
import type { RichTextElement } from "@slack/types"
import { exactly, quote, section, words, type Rich, type Style } from "./rich.ts"
import { chunks, cost } from "./text.ts"

/** The most that one element holds. */
const ROOM = 2800

/**
 * Elements in order, each small enough for any message; made when they are asked for. Hidden characters must be visible
 * already.
 */
export function* markdown(text: string): Generator<Rich, void, undefined> {
  const lines = text.split("\n")
  for (let at = 0; at < lines.length;) {
    const block =
      fenced(lines, at) ?? table(lines, at) ?? listed(lines, at) ?? quoted(lines, at) ?? paragraph(lines, at)
    yield* block.made
    at = block.next
  }
}

interface Block {
  made: Iterable<Rich>
  /** The line that comes after. */
  next: number
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/
const LIST = /^( {0,12})(?:[-*+]|(\d{1,9})[.)])\s+(?=\S)/
const QUOTE = /^ {0,3}> ?/
const HEADING = /^ {0,3}#{1,6}\s+(.*)$/
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/

function fenced(lines: readonly string[], at: number): Block | undefined {
  const mark = FENCE.exec(lines[at] ?? "")?.[1]
  if (mark === undefined) return undefined
  const closes = (line: string): boolean => line.trim().startsWith(mark) && /^[`~]+$/.test(line.trim())
  let next = at + 1
  while (next < lines.length && !closes(lines[next] ?? "")) next += 1
  return { made: pieces(lines.slice(at + 1, next).join("\n")).map(exactly), next: next + 1 }
}

/** Pieces of a text for elements of their own, none of them blank. */
const pieces = (text: string): string[] => chunks(text, ROOM, true).filter((piece) => piece.trim() !== "")

/** A table keeps its columns in fixed-width letters. */
function table(lines: readonly string[], at: number): Block | undefined {
  const isRow = (line: string | undefined): boolean => line !== undefined && line.includes("|")
  const rule = lines[at + 1] ?? ""
  if (!isRow(lines[at]) || !/^[\s|:-]+$/.test(rule) || !isRow(rule) || !rule.includes("-")) return undefined
  let next = at + 2
  while (isRow(lines[next])) next += 1
  return { made: pieces(lines.slice(at, next).join("\n")).map(exactly), next }
}

interface Item {
  indent: number
  number?: number
  text: string
}

function listed(lines: readonly string[], at: number): Block | undefined {
  const items: Item[] = []
  let next = at
  while (next < lines.length && taken(lines[next] ?? "", items)) next += 1
  return items.length === 0 ? undefined : { made: elementsOf(items), next }
}

/** Whether the line belongs to the list: as an item, or as more of the last one's text. */
function taken(line: string, items: Item[]): boolean {
  const match = RULE.test(line) ? null : LIST.exec(line)
  const last = items.at(-1)
  if (match) {
    const [mark, before = "", number] = match
    const indent = Math.min(Math.floor(before.length / 2), 6)
    items.push({ indent, text: line.slice(mark.length), ...(number === undefined ? {} : { number: Number(number) }) })
    return true
  }
  if (!last || !/^ {2,}\S/.test(line) || FENCE.test(line)) return false
  last.text += ` ${line.trim()}`
  return true
}

/** Numbers stay as they were written; bullets are lists, of as many items as fit into one element. */
function elementsOf(items: readonly Item[]): Rich[] {
  const out: Rich[] = []
  let spent = 0
  let last: Item | undefined
  for (const item of items) {
    const price = cost(item.text) + 100
    const goesOn = last !== undefined && sameList(last, item) && spent + price <= ROOM
    if (goesOn) addItem(out.at(-1), item)
    else out.push(...begun(item))
    spent = goesOn ? spent + price : price
    last = item
  }
  return out
}

const sameList = (a: Item, b: Item): boolean =>
  a.number === undefined ? b.number === undefined && a.indent === b.indent : b.number !== undefined

const numbered = (item: Item): RichTextElement[] => [
  ...words(`${"\u2003".repeat(item.indent)}${item.number}. `),
  ...inline(item.text),
]

function begun(item: Item): Rich[] {
  const [first = "", ...rest] = chunks(item.text, ROOM, true)
  const more = rest.map((piece) => section(inline(piece)))
  const start = { ...item, text: first }
  if (item.number !== undefined) return [section(numbered(start)), ...more]
  return [{ type: "rich_text_list", style: "bullet", indent: item.indent, elements: [section(inline(first))] }, ...more]
}

function addItem(element: Rich | undefined, item: Item): void {
  if (element?.type === "rich_text_list") element.elements.push(section(inline(item.text)))
  else if (element?.type === "rich_text_section") element.elements.push(...words("\n"), ...numbered(item))
}

function quoted(lines: readonly string[], at: number): Block | undefined {
  let next = at
  while (QUOTE.test(lines[next] ?? "")) next += 1
  if (next === at) return undefined
  const text = lines
    .slice(at, next)
    .map((line) => line.replace(QUOTE, ""))
    .join("\n")
  return { made: pieces(text).map(quote), next }
}

/** Lines up to the next block of another kind, as they were broken. */
function paragraph(lines: readonly string[], at: number): Block {
  let next = at + 1
  while (next < lines.length && !beginsBlock(lines, next)) next += 1
  const text = lines
    .slice(at, next)
    .join("\n")
    .trimEnd()
    .replace(/^\s*\n/, "")
  return { made: styledPieces(text), next }
}

function* styledPieces(text: string): Generator<Rich, void, undefined> {
  for (const piece of pieces(text)) yield section(styledLines(piece))
}

const beginsBlock = (lines: readonly string[], at: number): boolean => {
  const line = lines[at] ?? ""
  return FENCE.test(line) || LIST.test(line) || QUOTE.test(line) || table(lines, at) !== undefined
}

function styledLines(text: string): RichTextElement[] {
  return text.split("\n").flatMap((line, index) => [...words(index === 0 ? "" : "\n"), ...lineOf(line)])
}

function lineOf(line: string): RichTextElement[] {
  const heading = HEADING.exec(line)?.[1]
  if (heading !== undefined) return inline(heading.slice(0, endWithout("#", heading)).trimEnd(), { bold: true })
  return RULE.test(line) ? words("———") : inline(line)
}

/** Where a text ends without characters of a kind at its end; a pattern would look for its end from each of them. */
function endWithout(chars: string, text: string): number {
  let end = text.length
  while (end > 0 && chars.includes(text.charAt(end - 1))) end -= 1
  return end
}

/** What may be found inside a line. Bounded, so that no line makes it slow. */
const INLINE = new RegExp(
  [
    String.raw`(?<tick>\x60{1,3})(?<code>[^\x60]{1,1000})\k<tick>`,
    String.raw`!?\[(?<label>[^\][\n]{0,300})\]\((?<target>https?:\/\/[^\s()<>]{1,1500}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)(?:\s+"[^"]{0,200}")?\)`,
    String.raw`<?(?<bare>https?:\/\/[^\s<>"'\x60]{1,1500})>?`,
    String.raw`\*\*(?<strong>[^*\n]{1,800})\*\*`,
    String.raw`__(?<strong2>[^_\n]{1,800})__`,
    String.raw`~~(?<gone>[^~\n]{1,800})~~`,
    String.raw`(?<![\w*])\*(?<em>[^\s*][^*\n]{0,800})\*(?![\w*])`,
    String.raw`(?<![\w_])_(?<em2>[^\s_][^_\n]{0,800})_(?![\w_])`,
  ].join("|"),
  "gu",
)

function inline(text: string, style: Style = {}): RichTextElement[] {
  const out: RichTextElement[] = []
  let from = 0
  for (const match of text.matchAll(INLINE)) {
    out.push(...plain(text.slice(from, match.index), style), ...found(match, style))
    from = match.index + match[0].length
  }
  return [...out, ...plain(text.slice(from), style)]
}

const plain = (text: string, style: Style): RichTextElement[] =>
  words(text, Object.keys(style).length > 0 ? style : undefined)

function found(match: RegExpExecArray, style: Style): RichTextElement[] {
  const { code, label = "", target, bare } = match.groups ?? {}
  if (code !== undefined) return plain(code, { ...style, code: true })
  if (target !== undefined) return linked(label, target, style)
  return bare === undefined ? styled(match.groups ?? {}, style) : bareLink(match[0], bare, style)
}

function styled(
  { strong, strong2, gone, em, em2 }: Record<string, string | undefined>,
  style: Style,
): RichTextElement[] {
  const thick = strong ?? strong2
  if (thick !== undefined) return inline(thick, { ...style, bold: true })
  if (gone !== undefined) return inline(gone, { ...style, strike: true })
  return inline(em ?? em2 ?? "", { ...style, italic: true })
}

/** The label as text, and beside it the address as a link to what it says. */
function linked(label: string, target: string, style: Style): RichTextElement[] {
  const address = addressOf(target)
  if (label.trim() === "" || label === target) return [address]
  return [...plain(`${label} (`, style), address, ...plain(")", style)]
}

function bareLink(whole: string, bare: string, style: Style): RichTextElement[] {
  const trailing = bare.slice(endWithout(".,;:!?)]}*_~", bare))
  const closing = trailing.startsWith(")") && bare.includes("(") ? trailing.slice(1) : trailing
  const target = bare.slice(0, bare.length - closing.length)
  const after = closing + (whole.startsWith("<") && whole.endsWith(">") ? "" : whole.endsWith(">") ? ">" : "")
  return [
    ...(whole.startsWith("<") && !whole.endsWith(">") ? plain("<", style) : []),
    addressOf(target),
    ...plain(after, style),
  ]
}

/** What is shown is where it leads, the host as it really is. */
function addressOf(target: string): RichTextElement {
  const href = URL.canParse(target) ? new URL(target).href : ""
  return href === "" || cost(href) > ROOM ? { type: "text", text: target } : { type: "link", url: href, text: href }
}
