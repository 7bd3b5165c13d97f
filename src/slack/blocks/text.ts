/**
 * Foreign text on its way to a screen: nothing in it may hide, pose as something else or be cut without a word.
 * Knows Unicode and Slack's escaping; builds no blocks.
 */
import { mask, MASKED } from "../../core/mask.ts"

/** `&`, `<` and `>` as Slack's entities: for mrkdwn and fallback texts, never for plain_text or rich_text. */
export const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** What `text` costs at most of Slack's limits, which may count it escaped and as JSON. */
export const cost = (text: string): number => JSON.stringify(escape(text)).length - 2

/** The same, quicker for the many short texts that need no escape. */
const priceOf = (unit: string): number => (COSTLY.test(unit) ? cost(unit) : unit.length)
const COSTLY = /[\p{Cc}\p{Cs}&<>"\\]/u

/** Scripts whose ordinary spelling joins or parts letters by an invisible character. */
const JOINING = [
  "Arab",
  "Syrc",
  "Mong",
  "Deva",
  "Beng",
  "Guru",
  "Gujr",
  "Orya",
  "Taml",
  "Telu",
  "Knda",
  "Mlym",
  "Sinh",
  "Khmr",
  "Mymr",
  "Tibt",
]
  .map((script) => String.raw`\p{Script=${script}}`)
  .join("")
const INVISIBLE = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}⠀`

/** An emoji of several characters may begin there. */
const COMPOSED = String.raw`\p{Extended_Pictographic}[\uFE0F\u200D\p{Emoji_Modifier}\u{E0020}-\u{E007F}]`

/**
 * Invisible characters where they belong (in the first group): inside an emoji, between joining letters; else a run of them.
 * What can't begin either is passed over first: looking for an emoji takes long.
 */
const HIDDEN = new RegExp(
  `(?=[${INVISIBLE}]|${COMPOSED})(?:(${[
    String.raw`\p{RGI_Emoji}`,
    String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})`,
    String.raw`(?<=\p{Extended_Pictographic})\uFE0F`,
    String.raw`(?<=[0-9#*])\uFE0F(?=\u20E3)`,
    String.raw`(?<=[${JOINING}\p{M}])[\u200C\u200D](?=[${JOINING}])`,
  ].join("|")})|[${INVISIBLE}]+)`,
  "gv",
)
const STACKED = /(\p{M}{4})(\p{M}+)/gu

const braced = (char: string): string => "\\u{" + (char.codePointAt(0) ?? 0).toString(16) + "}"

function quoted(char: string): string {
  let written = ""
  for (let index = 0; index < char.length; index += 1) {
    written += "\\u" + char.charCodeAt(index).toString(16).padStart(4, "0")
  }
  return written
}

/** `most`: of a run of hidden characters so many are written, and how many more there are. */
function shown(text: string, write: (char: string) => string, most = Infinity): string {
  const seen = text.replace(HIDDEN, (found, kept?: string) => (kept === undefined ? each(found, write, most) : found))
  return seen.replace(STACKED, (_, few: string, more: string) => few + each(more, write, most))
}

function each(text: string, write: (char: string) => string, most = Infinity): string {
  let written = ""
  let hidden = 0
  for (const char of text) {
    const sign = write(char)
    if (sign !== char) hidden += 1
    if (sign === char || hidden <= most) written += sign
  }
  return hidden > most ? `${written} … (${count(hidden - most, "more character")} that can't be seen)` : written
}

/** Prose: control, format and blank-looking characters as `\u{202e}`; line breaks and tabs stay. */
export const visible = (text: string, most?: number): string =>
  shown(text.replaceAll("\r\n", "\n"), (char) => (char === "\n" || char === "\t" ? char : braced(char)), most)

/** JSON text: the same as `\u202e`, odd spaces too, so that what is shown is still the same JSON value. */
export const visibleJson = (json: string): string => shown(json, quoted).replace(/(?! )\p{Zs}/gu, quoted)

/** Blanks at the end of a line, which nobody would see there, as `\u{20}`. */
export const visibleEnds = (text: string): string =>
  text.replace(/(?<![\t\p{Zs}])[\t\p{Zs}]+(?=\n|$)/gu, (blanks) => each(blanks, braced))

/** Prose on one line: a line break shows as ⏎. */
export const oneLine = (text: string): string =>
  visible(text.trim())
    // From where a run of blanks begins: otherwise it would be gone through again from each of them.
    .replace(/(?<!\s)\s*\n\s*/g, " ⏎ ")
    .replaceAll("\t", " ")

/** Characters that cost one each and are each a unit of their own, if no mark follows. Many come at once. */
const PLAIN = String.raw`[[ -~\p{L}]--[\[\\&<>"\u{10000}-\u{10FFFF}]]+(?!\p{M})`

/** What must not be torn apart: an escape, a mask, an emoji, a letter with its marks. */
const UNIT = new RegExp(
  [
    `(${PLAIN})`,
    String.raw`\\u\{[\da-f]+\}|\\u[dD][89abAB][\da-f]{2}\\u[\da-f]{4}|\\u[\da-f]{4}|\\.`,
    MASKED.source,
    String.raw`(?=[\p{RI}0-9#*]|${COMPOSED})\p{RGI_Emoji}`,
    String.raw`[^]\p{M}{0,8}`,
  ].join("|"),
  "gv",
)

/** Cuts text into pieces of at most `max` cost; together they are the text. `soft` cuts after a line or word where it can. */
export const chunks = (text: string, max: number, soft = false): string[] => [...piecesOf(text, { max, soft })]

/** The same, a piece at a time: whoever wants the first alone need not wait for the others. */
function* piecesOf(text: string, { max, soft }: { max: number; soft: boolean }): Generator<string, void, undefined> {
  const piece = new Piece()
  for (const [unit, plain] of text.matchAll(UNIT)) {
    for (let from = 0; from < unit.length;) {
      const next =
        plain === undefined ? wholeOf(unit, from, max) : unit.slice(from, from + Math.max(1, max - piece.spent))
      const price = plain === undefined ? priceOf(next) : next.length
      if (piece.spent + price > max && piece.text !== "") yield piece.cut(soft)
      else {
        piece.add(next, price)
        from += next.length
      }
    }
  }
  if (piece.text !== "") yield piece.text
}

/** What has no room as a whole is taken character by character. */
function wholeOf(unit: string, from: number, max: number): string {
  if (from === 0 && (unit.length * 6 <= max || cost(unit) <= max)) return unit
  return String.fromCodePoint(unit.codePointAt(from) ?? 0)
}

class Piece {
  text = ""
  spent = 0

  add(text: string, price: number): void {
    this.text += text
    this.spent += price
  }

  /** What is complete of it; the rest stays. */
  cut(soft: boolean): string {
    const end = soft ? softEnd(this.text) : this.text.length
    const done = this.text.slice(0, end)
    this.text = this.text.slice(end)
    this.spent = cost(this.text)
    return done
  }
}

function softEnd(piece: string): number {
  const line = piece.lastIndexOf("\n") + 1
  if (line > piece.length / 2) return line
  const word = piece.lastIndexOf(" ") + 1
  return word > piece.length / 2 ? word : piece.length
}

/** The beginning of a text, of at most `max` cost. */
export const beginning = (text: string, max: number): string => piecesOf(text, { max, soft: true }).next().value ?? ""

/** What the note about a cut costs at most. */
const NOTE = 34

/** For what nobody decides by: the beginning of a long text, and how much is missing; `max`, at least 60, is the cost of both. */
export function clip(text: string, max: number): string {
  if (cost(text) <= max) return text
  const first = beginning(text, max - NOTE)
  let missing = 0
  for (const _ of text.slice(first.length)) missing += 1
  return `${first.trimEnd()} … (${count(missing, "more character")})`
}

/** Foreign text for a screen: without the secrets that are seen in it, and with nothing in it hidden. */
export const safe = (text: string): string => visible(mask(text).text)

/** How many hidden characters in a row are written out where nobody decides by them. */
const MOST_HIDDEN = 40

/** The same for what nobody decides by: of many hidden characters in a row the first are written, the others counted. */
export const legible = (text: string): string => visible(mask(text).text, MOST_HIDDEN)

/** A tool's name on one line of a message: whoever wrote the tool could have written anything. */
export const toolName = (tool: string): string => clip(oneLine(tool), 100)

/** `1 value`, `2,048 values` */
export const count = (n: number, noun: string): string => `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`

const MAX_NAMED = 3
const HOST =
  /\/\/([^\s/?#"'<>\\]{1,300})|(?<![\p{L}\p{N}\p{M}_-])[\p{L}\p{N}\p{M}_-]{1,63}(?:[.\u3002\uFF0E\uFF61][\p{L}\p{N}\p{M}-]{1,63}){1,20}/gu
const WORD = /[\p{L}\p{M}]{2,}/gu
const LATIN = /\p{Script=Latin}/u
/** Letters of other alphabets that pass for Latin ones, where they stand among Latin ones. */
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Cherokee}\p{Script=Armenian}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρυικ]/u
const POSING = /[\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A\u2160-\u217F\u212F\u2113\u{1D400}-\u{1D7FF}]/u
const RIGHT_TO_LEFT = new RegExp(
  `[${["Arab", "Hebr", "Syrc", "Thaa", "Nkoo", "Mand", "Samr", "Adlm", "Rohg", "Mend", "Yezi"].map((script) => String.raw`\p{Script=${script}}`).join("")}]`,
  "u",
)
/** So many blanks in a row may push what follows them out of sight. */
const GAP = /[\t\p{Zs}]{40}/u

export const UNSEEN = "It has characters that can't be seen; they are written as \\u… here."

/** What a reader should be warned of before trusting their eyes, as whole sentences. `shown` is the text as it is shown. */
export function cautions(text: string, shown: string): string[] {
  const found: string[] = []
  if (ESCAPE.test(shown) && shown !== text) found.push(UNSEEN)
  const posing = hosts(text)
  // What stands before an @ may be a password: it is not repeated here, where nothing masks it.
  const named = posing.map(({ host, real }) => `“${oneLine(host.replace(/^.*@/su, "…@"))}” is really the host ${real}.`)
  found.push(...unique(named))
  const mixed = [...text.matchAll(WORD)].map(([word]) => word).filter((word) => LATIN.test(word) && FOREIGN.test(word))
  // Not each word in each host: both may be many.
  const told = new Set(posing.flatMap(({ host }) => host.match(WORD) ?? []))
  const others = mixed.filter((word) => !told.has(word))
  found.push(...unique(others).map((word) => `“${oneLine(word)}” mixes letters of two alphabets that look alike.`))
  if (POSING.test(text)) found.push("It has letters that only look like ordinary Latin letters.")
  if (RIGHT_TO_LEFT.test(text))
    found.push("It has right-to-left text: parts of a line may stand in another order than they run.")
  if (GAP.test(text)) found.push("It has long runs of blanks: read what comes after them as well.")
  return found
}

const ESCAPE = /\\u(?:[\da-f]{4}|\{[\da-f]+\})/

const unique = (texts: string[]): string[] => [...new Set(texts)].slice(0, MAX_NAMED)

function hosts(text: string): { host: string; real: string }[] {
  return [...text.matchAll(HOST)].flatMap(([whole, authority]) => {
    const host = authority ?? whole
    const real = posesAsHost(host, authority !== undefined) ? hostOf(host) : undefined
    return real === undefined || real === host.replace(/:\d{1,5}$/, "") ? [] : [{ host, real }]
  })
}

/** Whether it may say another host than it seems to: foreign letters, a name before an @, escapes, an address as a number. */
function posesAsHost(host: string, addressed: boolean): boolean {
  if (!addressed) return /[^\0-\x7F]/.test(host) && /\.[A-Za-z]{2,63}$/.test(host)
  const at = host.lastIndexOf("@")
  // A user's name has no dots; with one it may pass for the host.
  if (/[^\0-\x7F]/.test(host) || host.slice(0, Math.max(0, at)).includes(".")) return true
  return /%|^(?:0x[\da-f]*|\d+)(?:\.(?:0x[\da-f]*|\d+)){0,3}\.?(?::\d{1,5})?$/i.test(host.slice(at + 1))
}

function hostOf(authority: string): string | undefined {
  return URL.canParse(`http://${authority}`) ? new URL(`http://${authority}`).hostname : undefined
}
