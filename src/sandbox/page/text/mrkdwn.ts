/** Reads Slack's mrkdwn as Slack does, mentions and all; it knows nothing of HTML. */
import { bareBroadcast, bareLink, emoji, type Mark, mark, readInline, tokens } from "./inline.ts"
import { type Passage, type Style, unescape } from "./passage.ts"

/** A pair of `sign`s around words: nothing alphanumeric outside, no blank just inside, on one line. */
function pair(sign: "*" | "_" | "~", name: keyof Style): Mark {
  const s = sign === "*" ? "\\*" : sign
  const outside = `[\\p{L}\\p{N}${s}]`
  // No character can be read in two ways here: a text made to be slow would otherwise be.
  const inside = `(?:<[^<>\\n]*>|\`[^\`\\n]*\`|[^${s}\\n<\`]|<(?![^<>\\n]*>)|\`(?![^\`\\n]*\`))*`
  const at = new RegExp(`(?<!${outside})${s}(?=\\S)(${inside}(?<!\\s))${s}(?!${outside})`, "u")
  return mark(at, (match, style, within) =>
    match[1] === "" ? undefined : within(match[1] ?? "", { ...style, [name]: true }),
  )
}

const code = mark(/`([^`\n]+)`/, (match, style) => [
  { kind: "text", text: unescape(match[1] ?? ""), style: { ...style, code: true } },
])

const written: Mark[] = [code, tokens, pair("*", "bold"), pair("_", "italic"), pair("~", "strike"), emoji]

export interface Reading {
  /** Slack finds bare addresses and turns them into links. */
  links: boolean
  /** Slack finds bare `@here` and turns it into a mention. */
  mentions: boolean
}

const marksFor = ({ links, mentions }: Reading): Mark[] => [
  ...written,
  ...(links ? [bareLink] : []),
  ...(mentions ? [bareBroadcast] : []),
]

function readLines(text: string, marks: readonly Mark[]): Passage[] {
  const passages: Passage[] = []
  let lines: string[] = []
  let quoted = false
  const flush = (): void => {
    const joined = lines.join("\n")
    if (joined.trim() !== "") passages.push({ kind: quoted ? "quote" : "text", spans: readInline(joined, {}, marks) })
    lines = []
  }
  for (const line of text.split("\n")) {
    const quote = /^(?:&gt;|>)\s?/.exec(line)
    if ((quote !== null) !== quoted) flush()
    quoted = quote !== null
    lines.push(quote === null ? line : line.slice(quote[0].length))
  }
  flush()
  return passages
}

/** Reads a mrkdwn text; line breaks stay in the spans. */
export function readMrkdwn(text: string, reading: Reading): Passage[] {
  const marks = marksFor(reading)
  return text.split(/```\n?([\s\S]*?)\n?```/).flatMap((part, index): Passage[] => {
    if (index % 2 === 0) return readLines(part.replaceAll(/^\n|\n$/g, index === 0 ? "$&" : ""), marks)
    return [{ kind: "pre", spans: [{ kind: "text", text: unescape(part), style: {} }] }]
  })
}

/** Reads a plain_text: nothing but `:emoji:`, and that only where it is on. */
export function readPlain(text: string, withEmoji: boolean): Passage[] {
  return [{ kind: "text", spans: readInline(text, {}, withEmoji ? [emoji] : []) }]
}
