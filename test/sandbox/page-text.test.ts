import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { dateText } from "../../src/sandbox/page/text/dates.ts"
import { readMarkdown } from "../../src/sandbox/page/text/markdown.ts"
import { readMrkdwn, readPlain } from "../../src/sandbox/page/text/mrkdwn.ts"
import type { Passage, Span, Style } from "../../src/sandbox/page/text/passage.ts"
import { readRich } from "../../src/sandbox/page/text/rich.ts"

const verbatim = { links: false, mentions: false }

/** Passages in short: styles as tags, everything that is not text in brackets. */
const short = (passages: Passage[]): string => passages.map(shortPassage).join(" / ")

function shortPassage(passage: Passage): string {
  switch (passage.kind) {
    case "rule":
      return "rule"
    case "list":
      return `${passage.ordered ? `ol${passage.start}` : "ul"}${passage.indent}(${passage.items.map(shortSpans).join("; ")})`
    case "text":
      return shortSpans(passage.spans)
    default:
      return `${passage.kind}(${shortSpans(passage.spans)})`
  }
}

const shortSpans = (spans: Span[]): string => spans.map(shortSpan).join("")

const tags = (style: Style): string =>
  Object.entries(style)
    .filter(([, on]) => on === true)
    .map(([name]) => name[0])
    .join("")

function shortSpan(span: Span): string {
  const text =
    span.kind === "text"
      ? span.text
      : `[${Object.values({ ...span, style: undefined })
          .filter(Boolean)
          .join(" ")}]`
  return tags(span.style) === "" ? text : `${tags(span.style)}{${text}}`
}

describe("mrkdwn", () => {
  test.each([
    ["*bold* _italic_ ~gone~ `code`", "b{bold} i{italic} s{gone} c{code}"],
    ["*bold _and italic_*", "b{bold }bi{and italic}"],
    ["2*3*4 snake_case_name a ~ b ~ c", "2*3*4 snake_case_name a ~ b ~ c"],
    ["* not bold * and *not\nbold*", "* not bold * and *not\nbold*"],
    ["*<@U0APP1> asked*", "b{[user U0APP1]}b{ asked}"],
    ["`*raw* &lt;b&gt;`", "c{*raw* <b>}"],
    ["```\na *b*\n  c\n```", "pre(a *b*\n  c)"],
    ["before ```x``` after", "before  / pre(x) /  after"],
    ["&gt; quoted\n&gt; more\nnot", "quote(quoted\nmore) / not"],
    ["&lt;script&gt; &amp;lt;", "<script> &lt;"],
    ["<!here> <!channel> <!everyone>", "[broadcast here] [broadcast channel] [broadcast everyone]"],
    ["<!subteam^S0SRE|@sre> <#C0OPS|ops>", "[group S0SRE @sre] [channel C0OPS ops]"],
    ["<https://a.example/?x=1&amp;y=2|A &amp; B>", "[link https://a.example/?x=1&y=2 A & B]"],
    ["<!date^1392734382^{date} {time}|then>", "[date 1392734382 {date} {time} then]"],
    ["<not a token> <>", "<not a token> <>"],
    ["done :tada: 12:30:45", "done [emoji tada] 12[emoji 30]45"],
    ["@here https://a.example/x", "@here https://a.example/x"],
  ])("%s", (text, expected) => {
    expect(short(readMrkdwn(text, verbatim))).toBe(expected)
  })

  test("finds bare links and mentions only where Slack would", () => {
    const text = "see https://a.example/x. @here, a@here.example @channels"
    expect(short(readMrkdwn(text, { links: true, mentions: true }))).toBe(
      "see [link https://a.example/x]. [broadcast here], a@here.example @channels",
    )
  })
})

test("plain text is only text, with or without emoji", () => {
  const text = "*a* _b_ `c` <@U1> &lt;!here&gt; :tada:"
  expect(short(readPlain(text, false))).toBe("*a* _b_ `c` <@U1> <!here> :tada:")
  expect(short(readPlain(text, true))).toBe("*a* _b_ `c` <@U1> <!here> [emoji tada]")
})

describe("markdown", () => {
  test.each([
    ["# Title #\nline one\nline two\n\nnext", "heading(Title) / line one\nline two / next"],
    ["**b** __b__ *i* _i_ ~~s~~ `c`", "b{b} b{b} i{i} i{i} s{s} c{c}"],
    ["**b *and i***", "b{b }bi{and i}"],
    ["2 * 3 * 4, snake_case_name, \\*plain\\*", "2 * 3 * 4, snake_case_name, *plain*"],
    [
      "[a](https://a.example) ![p](https://p.example/x.png)",
      "[link https://a.example a] [link https://p.example/x.png p]",
    ],
    ["- a\n- b\n  - c\n1. d\n2. e", "ul0(a; b) / ul1(c) / ol10(d; e)"],
    ["> q\n> r\n\n---", "quote(q\nr) / rule"],
    ["```\nconst a = `1`\n```\nafter", "pre(const a = `1`) / after"],
    ["```sh rm -rf\n  ls\n```", "pre(sh rm -rf\n  ls)"],
    ['[a](https://a.example "hidden")', '[a]([link https://a.example] "hidden")'],
    ["```\nnever closed", "pre(never closed)"],
    ["<!channel> <b>", "[broadcast channel] <b>"],
  ])("%s", (text, expected) => {
    expect(short(readMarkdown(text))).toBe(expected)
  })
})

test("rich text is never parsed", () => {
  const said = "*a* <!channel> :tada: &lt; ```"
  const passages = readRich({
    type: "rich_text",
    elements: [
      { type: "rich_text_section", elements: [{ type: "text", text: said, style: { bold: true } }] },
      { type: "rich_text_preformatted", elements: [{ type: "text", text: said }] },
      {
        type: "rich_text_list",
        style: "ordered",
        indent: 1,
        elements: [{ type: "rich_text_section", elements: [{ type: "user", user_id: "U1" }] }],
      },
    ],
  })
  expect(short(passages)).toBe(`b{${said}} / pre(${said}) / ol11([user U1])`)
})

test("whatever the text, every reading ends soon and loses no letter", () => {
  const pieces = fc.constantFrom(
    "*",
    "_",
    "~",
    "`",
    "```",
    "<",
    ">",
    "|",
    "!",
    "@U1",
    "&lt;",
    "[",
    "](",
    ")",
    "a",
    " ",
    "\n",
    ":",
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 400 }), (parts) => {
      const text = parts.join("")
      const letters = (word: string): number => word.split("a").length
      const start = performance.now()
      const read = [readMrkdwn(text, { links: true, mentions: true }), readMarkdown(text), readPlain(text, true)]
      expect(performance.now() - start).toBeLessThan(2000)
      for (const passages of read)
        expect(letters(JSON.stringify(passages).replaceAll(/"[a-z]+":/g, ""))).toBeGreaterThanOrEqual(letters(text))
    }),
    { numRuns: 500 },
  )
})

test("a text made to be slow is read in time", () => {
  for (const piece of ["*<a>", "<`", "**a", "`", "_`a`", "[](", "*a ", "``` ", "~<", "![", "@here", "https://a."]) {
    const text = piece.repeat(Math.floor(3000 / piece.length))
    const start = performance.now()
    readMrkdwn(text, { links: true, mentions: true })
    readMarkdown(text)
    expect([piece, performance.now() - start < 3000]).toEqual([piece, true])
  }
})

describe("dates", () => {
  const now = new Date(2026, 10, 30, 12, 0, 0)
  const at = (day: number, hour = 9, minute = 5): number => new Date(2026, 10, day, hour, minute, 7).getTime() / 1000

  test.each([
    [30, "{date_num}", "2026-11-30"],
    [30, "{date_short_pretty} at {date_num}", "Today at 2026-11-30"],
    [29, "Until {date_pretty}", "Until yesterday"],
    [31, "{date_long_pretty}", "Tomorrow"],
    [3, "{date}", "November 3rd, 2026"],
    [11, "{date_long}", "Wednesday, November 11th, 2026"],
    [22, "{date_short}", "Nov 22, 2026"],
    [29, "{ago}", "yesterday"],
    [30, "{unknown}", "fallback"],
  ])("%s November as %s", (day, format, expected) => {
    const text = dateText(at(day), format, "fallback", now)
    expect(text.toLowerCase()).toBe(expected.toLowerCase())
  })

  test("what is no time is its fallback", () => {
    expect(dateText(Number.NaN, "{date}", "some day", now)).toBe("some day")
    expect(dateText(1e18, "{date}", "some day", now)).toBe("some day")
  })
})
