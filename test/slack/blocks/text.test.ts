import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { canonical } from "../../../src/core/digest.ts"
import {
  cautions,
  chunks,
  clip,
  cost,
  escape,
  oneLine,
  visible,
  visibleEnds,
  visibleJson,
} from "../../../src/slack/blocks/text.ts"

const EMOJI = new RegExp(String.raw`\p{RGI_Emoji}`, "gv")

/** Text of every sort, the odd characters more often than they come. */
const odd = fc.constantFrom(
  "\u202e", "\u2066", "\u2069", "\u200b", "\u2060", "\ufeff", "\u2028", "\u00ad", "\u00a0", "\u3164", "\u034f", "\u{e0041}", "\u{f0000}",
  "\u0000", "\u001b", "\u0085", "👩‍👩‍👧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "é", "ا", "ש", "می‌خواهم", "&", "<", ">", "`", "*", "\\", '"', "\n",
) // prettier-ignore
const texts = fc
  .array(fc.oneof(odd, fc.string({ unit: "grapheme", maxLength: 6 })), { maxLength: 30 })
  .map((parts) => parts.join(""))

describe("hidden characters are seen", () => {
  test.each([
    ["right-to-left override", "a\u202eb", String.raw`a\u{202e}b`],
    ["isolates", "\u2066x\u2069", String.raw`\u{2066}x\u{2069}`],
    ["zero width space", "a\u200bb", String.raw`a\u{200b}b`],
    ["word joiner", "a\u2060b", String.raw`a\u{2060}b`],
    ["byte order mark", "\ufeffa", String.raw`\u{feff}a`],
    ["line separator", "a\u2028b", String.raw`a\u{2028}b`],
    ["tag characters", "a\u{e0041}\u{e0042}", String.raw`a\u{e0041}\u{e0042}`],
    ["soft hyphen", "pass\u00adword", String.raw`pass\u{ad}word`],
    ["Hangul filler", "a\u3164b", String.raw`a\u{3164}b`],
    ["grapheme joiner", "a\u034fb", String.raw`a\u{34f}b`],
    ["blank Braille", "a\u2800b", String.raw`a\u{2800}b`],
    ["variation selector after a letter", "a\ufe0fb", String.raw`a\u{fe0f}b`],
    ["variation selector of the second block", "a\u{e0101}b", String.raw`a\u{e0101}b`],
    ["zero width joiner between Latin letters", "a\u200db", String.raw`a\u{200d}b`],
    ["zero width non-joiner between Latin letters", "a\u200cb", String.raw`a\u{200c}b`],
    ["bell and escape", "\u0007\u001b[31m", String.raw`\u{7}\u{1b}[31m`],
    ["carriage return alone", "good\rbad", String.raw`good\u{d}bad`],
    ["private use", "\ue000", String.raw`\u{e000}`],
    ["half a character", "a\ud800b", String.raw`a\u{d800}b`],
    [
      "tags after a flag that spell no country",
      "🏴\u{e0068}\u{e0069}\u{e007f}",
      String.raw`🏴\u{e0068}\u{e0069}\u{e007f}`,
    ],
    ["marks on marks", `e${"\u0301".repeat(6)}`, `e${"\u0301".repeat(4)}${String.raw`\u{301}`.repeat(2)}`],
  ])("%s", (_, text, seen) => {
    expect(visible(text)).toBe(seen)
  })

  test.each([
    ["Arabic", "مرحبا بالعالم"],
    ["Persian, with its non-joiners", "می‌خواهم"],
    ["Hebrew", "שלום עולם"],
    ["Hindi, with a joiner", "क्‍ष"],
    ["Japanese", "こんにちは、世界"],
    ["accents, composed and not", "café cafe\u0301"],
    ["emoji", "👍 🎉 ❤️ 1️⃣ ☎️"],
    ["emoji with skin tones and joiners", "👩🏽‍💻 👨‍👩‍👧‍👦 🏳️‍🌈"],
    ["flags", "🇩🇪 🏴󠁧󠁢󠁳󠁣󠁴󠁿"],
    ["French spaces", "Vraiment\u00a0?"],
    ["lines and tabs", "a\n\tb"],
  ])("%s stays as it is", (_, text) => {
    expect(visible(text)).toBe(text)
  })

  test("Windows line ends are line ends", () => {
    expect(visible("a\r\nb")).toBe("a\nb")
  })
})

describe("JSON stays the same value when its hidden characters are shown", () => {
  test("as escapes of its own", () => {
    const shown = visibleJson('{"a":"x\u202ey\u{e0041}z\u00a0"}')
    expect(shown).toBe(String.raw`{"a":"x\u202ey\udb40\udc41z\u00a0"}`)
    expect(JSON.parse(shown)).toEqual({ a: "x\u202ey\u{e0041}z\u00a0" })
  })

  test("whatever it is", () => {
    fc.assert(
      fc.property(fc.dictionary(texts, fc.oneof(texts, fc.array(texts))), (value) => {
        const whole = JSON.parse(JSON.stringify(value).toWellFormed()) as unknown
        const json = canonical(whole)
        expect(JSON.parse(visibleJson(json))).toEqual(whole)
        expect(visibleJson(visibleJson(json))).toBe(visibleJson(json))
      }),
    )
  })
})

test("no text brings a control, format or invisible character onto a screen, but in emoji and between joining letters", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const seen = visible(text)
        .replaceAll(EMOJI, "")
        .replaceAll(/(?<=\p{Script=Arabic})\u200c(?=\p{Script=Arabic})/gu, "")
      const left = seen.replaceAll(/(?<=\p{Extended_Pictographic}\p{M}*)[\ufe0f\u200d]/gu, "").replaceAll(/[\n\t]/g, "")
      expect(left).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u)
    }),
  )
})

test.each([
  ["git ", String.raw`git\u{20}`],
  ["a \t\nb", String.raw`a\u{20}\u{9}` + "\nb"],
  [" a b\n", " a b\n"],
  ["a\u00a0", String.raw`a\u{a0}`],
  ["  ", String.raw`\u{20}\u{20}`],
  ["", ""],
])("blanks at the end of a line are seen: %j", (text, seen) => {
  expect(visibleEnds(text)).toBe(seen)
})

test("prose on one line has no line break of its own", () => {
  expect(oneLine(" a\n\n  b\u2028c\td\r\ne ")).toBe(String.raw`a ⏎ b\u{2028}c d ⏎ e`)
})

test("exactly &, < and > are escaped", () => {
  expect(escape("<!channel> & <@U1> *x* &amp;")).toBe("&lt;!channel&gt; &amp; &lt;@U1&gt; *x* &amp;amp;")
})

describe("cutting", () => {
  test("loses nothing, keeps to the size, and tears no character and no escape", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 60, max: 200 }), fc.boolean(), (text, max, soft) => {
        const shown = visible(text)
        const pieces = chunks(shown, max, soft)
        expect(pieces.join("")).toBe(shown)
        for (const piece of pieces) {
          expect(cost(piece)).toBeLessThanOrEqual(max)
          expect(piece).not.toBe("")
          expect(piece).not.toMatch(/\p{Cs}|\\u?\{?[\da-f]*$(?<!\\u\{[\da-f]+\}|\\)/u)
        }
      }),
    )
  })

  test("keeps an escape of JSON in one piece", () => {
    const json = String.raw`"${String.raw`\udb40\udc41`.repeat(50)}"`
    for (const piece of chunks(json, 100)) expect(piece.replaceAll(String.raw`\udb40\udc41`, "")).toMatch(/^"?$/)
  })

  test("keeps a mask in one piece where one has room", () => {
    const text = "[slack token, 57 characters]".repeat(20)
    for (const piece of chunks(text, 100)) expect(piece).toMatch(/^(?:\[slack token, 57 characters\])+$/)
    expect(chunks(text, 20).join("")).toBe(text)
    for (const piece of chunks(text, 20)) expect(cost(piece)).toBeLessThanOrEqual(20)
  })

  test("prefers the end of a line or word where that is asked for", () => {
    expect(chunks("one two three four five", 12, true)).toEqual(["one two ", "three four ", "five"])
    expect(chunks("one two three", 12)).toEqual(["one two thre", "e"])
  })

  test("a clipped text says how much is missing", () => {
    expect(clip("short", 100)).toBe("short")
    expect(clip("x".repeat(1500), 500)).toBe(`${"x".repeat(466)} … (1,034 more characters)`)
  })

  test("takes time that grows no faster than the text", () => {
    const start = performance.now()
    expect(chunks("a".repeat(300_000), 2800)).toHaveLength(108)
    expect(performance.now() - start).toBeLessThan(5000)
  })
})

describe.each([
  ["letters", "a"],
  ["blanks", " "],
  ["blanks and letters", `${" ".repeat(50)}x`],
  ["hidden characters", "\u202e\u{e0041}"],
  ["emoji", "👩‍👩‍👧"],
  ["joiners", "\u200d"],
  ["marks", "e\u0301"],
  ["hosts", "//a"],
  ["foreign hosts", "https://аpple.com "],
  ["labels of a name", "а."],
  ["numbers", "//1.1.1.1.1"],
  ["backslashes", "\\"],
  ["masks cut off", "[masked, "],
])("a long text of %s", (_, bit) => {
  test("is looked at in time that grows no faster than it", () => {
    const text = bit.repeat(Math.ceil(200_000 / bit.length))
    const start = process.cpuUsage()
    const shown = visible(text)
    expect([visibleJson(text), visibleEnds(text), cautions(text, shown)]).toHaveLength(3)
    const { user, system } = process.cpuUsage(start)
    // A fifth of it is usual.
    expect((user + system) / 1000).toBeLessThan(1500)
  })
})

describe("what poses as something else is named", () => {
  const warned = (text: string): string => cautions(text, visible(text)).join("\n")

  test.each([
    ["a Cyrillic letter in a host", "https://аpple.com/x", "xn--pple-43d.com"],
    ["the same without a scheme", "curl аpple.com", "xn--pple-43d.com"],
    ["a host all of Cyrillic letters", "https://раураl.com", "xn--"],
    ["a full-width dot", "https://evil．example/", "evil.example"],
    ["a user name that looks like the host", "https://bank.example@evil.example/", "host evil.example"],
    ["a word of two alphabets", "rm /dаta", "mixes letters of two alphabets"],
    ["mathematical letters", "𝗿𝗺 -rf", "only look like"],
    ["full-width letters", "ｒｍ", "only look like"],
    ["right-to-left text", "a שלום b", "right-to-left"],
    ["hidden characters", "a\u202eb", "can't be seen"],
    ["a host with escapes", "https://%65vil.example/", "host evil.example"],
    ["a host that is a number", "http://2130706433/x", "host 127.0.0.1"],
    ["a host in base sixteen", "http://0x7f.1:8080/", "host 127.0.0.1"],
    ["a user name before a masked password", "https://u:masked@аpple.com", "xn--pple-43d.com"],
    ["Roman numerals that are letters", "ⅼs -ⅼ", "only look like"],
    ["Adlam", "a 𞤀𞤁 b", "right-to-left"],
    ["a gap that pushes the rest away", `echo ok${" ".repeat(60)}; rm -rf /`, "runs of blanks"],
  ])("%s", (_, text, word) => {
    expect(warned(text)).toContain(word)
  })

  test.each([
    "restart web in staging, see https://grafana.example:3000/d/1?x=2#y",
    "Größe 5 µm, Δt = 3 ms, naïve café",
    "привет мир, как дела",
    "ana@example.com asks: 3.14 or v1.2.3?",
    "first\nsecond\n\tthird",
    String.raw`{"regex":"\\u202e","path":"C:\\new"}`,
    "http://127.0.0.1:6379/x http://10.0.0.1 https://[::1]:8080/",
    "№ 5, 21 ℃, Ω, ™",
    "postgres://app:masked@db:5432/app https://git@example.com/x.git amqp://u:p%40ss@h",
    `if x:\n${" ".repeat(32)}return`,
  ])("%j needs no warning", (text) => {
    expect(warned(text)).toBe("")
  })

  test("at most a few of each sort are named", () => {
    expect(cautions(Array.from({ length: 50 }, (_, n) => `https://аpple${n}.com`).join(" "), "")).toHaveLength(3)
  })
})
