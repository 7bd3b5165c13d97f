/**
 * Reads one stretch of inline text by a list of marks, each tried in order at every position. Which marks there are is
 * what makes it mrkdwn or markdown.
 */
import { pushText, type Span, type Style, unescape } from "./passage.ts"

export interface Mark {
  /** Sticky: matches at the position only. */
  at: RegExp
  /** The spans it stands for, or undefined when it is only text after all. */
  read: (match: RegExpExecArray, style: Style, inside: (text: string, style: Style) => Span[]) => Span[] | undefined
}

const sticky = (source: RegExp): RegExp => new RegExp(source.source, `${source.flags.replaceAll("y", "")}y`)

export const mark = (at: RegExp, read: Mark["read"]): Mark => ({ at: sticky(at), read })

function markAt(text: string, position: number, style: Style, marks: readonly Mark[]): [Span[], number] | undefined {
  for (const { at, read } of marks) {
    at.lastIndex = position
    const match = at.exec(text)
    if (match === null || match[0] === "") continue
    const spans = read(match, style, (inner, innerStyle) => readInline(inner, innerStyle, marks))
    if (spans !== undefined) return [spans, match[0].length]
  }
  return undefined
}

export function readInline(text: string, style: Style, marks: readonly Mark[]): Span[] {
  const spans: Span[] = []
  let plain = ""
  const flush = (): void => {
    if (plain !== "") pushText(spans, unescape(plain), style)
    plain = ""
  }
  for (let position = 0; position < text.length;) {
    const found = markAt(text, position, style, marks)
    if (found === undefined) {
      plain += text[position]
      position += 1
      continue
    }
    flush()
    spans.push(...found[0])
    position += found[1]
  }
  flush()
  return spans
}

function bang(body: string, label: string | undefined, style: Style): Span[] | undefined {
  const [command = "", ...parts] = body.split("^")
  if (command === "date") {
    const [seconds = "", format = "", url] = parts
    return [{ kind: "date", seconds: Number(seconds), format: unescape(format), url, fallback: label ?? "", style }]
  }
  if (command === "subteam") return [{ kind: "group", id: parts[0] ?? "", label, style }]
  if (["here", "channel", "everyone"].includes(command)) return [{ kind: "broadcast", range: command, style }]
  return undefined
}

function token(inside: string, style: Style): Span[] | undefined {
  const bar = inside.indexOf("|")
  const target = bar < 0 ? inside : inside.slice(0, bar)
  const label = bar < 0 ? undefined : unescape(inside.slice(bar + 1))
  if (/^@[UW][A-Z0-9]+$/.test(target)) return [{ kind: "user", id: target.slice(1), style }]
  if (/^#[CG][A-Z0-9]+$/.test(target)) return [{ kind: "channel", id: target.slice(1), label, style }]
  if (target.startsWith("!")) return bang(target.slice(1), label, style)
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return [{ kind: "link", url: unescape(target), label, style }]
  return undefined
}

/** `<@U…>`, `<#C…>`, `<!here>`, `<!subteam^S…>`, `<!date^…>`, `<url|label>`: Slack's own marks, alike in every text. */
export const tokens: Mark = mark(/<([^<>\n]+)>/, (match, style) => token(match[1] ?? "", style))

export const emoji: Mark = mark(/:([a-z0-9_+'-]+):/, (match, style) => [{ kind: "emoji", name: match[1] ?? "", style }])

export const bareLink: Mark = mark(/https?:\/\/[^\s<>|"]*[^\s<>|".,;:!?)\]}'*_~`]/i, (match, style) => [
  { kind: "link", url: unescape(match[0]), label: undefined, style },
])

/** Bare `@here` and its kin, which Slack turns into real mentions unless a text says `verbatim`. */
export const bareBroadcast: Mark = mark(/(?<![\w@.])@(here|channel|everyone)\b/, (match, style) => [
  { kind: "broadcast", range: match[1] ?? "", style },
])
