/**
 * Values on their way into an input and back: what was not touched comes back as it was, to the byte, and what was
 * typed is what is meant, or refused. Knows no block and no schema.
 */
import { parseExact } from "../../../core/digest.ts"
import { LONE_SURROGATE } from "../../../core/json.ts"
import { visible } from "../text.ts"

/** What an input holds at most, in UTF-16 units. Source: Slack's page of the plain-text input element. */
export const INPUT = 3000

/** `why` goes on from "This", and ends its sentence. */
export type Typed<T> = { ok: true; value: T } | { ok: false; why: string }

const refused = (why: string): { ok: false; why: string } => ({ ok: false, why })

/** An input knows one kind of line break. */
const lines = (text: string): string => text.replace(/\r\n?/g, "\n")

/**
 * Why an input can't show `text` so that a person knows what they look at and it comes back as it was; goes on from
 * "has". Undefined when it can.
 */
export function unshowable(text: string): string | undefined {
  if (text.length > INPUT) return `more than ${INPUT.toLocaleString("en-US")} characters`
  const shown = lines(text)
  if (text !== shown && text !== shown.replaceAll("\n", "\r\n")) return "line breaks of several kinds"
  return visible(shown) === shown && !/(?! )\p{Zs}/u.test(shown) ? undefined : "characters that can't be seen"
}

/**
 * What a text input says. `initial` is what it showed: it is the answer as long as nothing else came back than an input
 * makes of it by itself (line breaks, blanks at both ends).
 */
export function typedText(said: string, initial?: string): Typed<string> {
  if (initial !== undefined && isLeft(initial, lines(said))) return { ok: true, value: initial }
  if (LONE_SURROGATE.test(said)) return refused("has half a character in it. Please type it again.")
  const word = initial === undefined ? undefined : replacedEmoji(initial, said)
  if (word !== undefined) {
    return refused(
      `had an emoji that Slack wrote as ${word}, so it would not stay what it was. It can't be edited here.`,
    )
  }
  return { ok: true, value: initial?.includes("\r\n") === true ? lines(said).replaceAll("\n", "\r\n") : said }
}

function isLeft(initial: string, said: string): boolean {
  const was = lines(initial)
  return [was, was.trim(), was.trimEnd(), was.trimStart()].includes(said)
}

const EMOJI = new RegExp(String.raw`\p{RGI_Emoji}`, "gv")
const SHORTCODE = /:[a-z0-9_+'-]{1,100}:/g

/** The word that took the place of an emoji, where one is gone and such a word is new. */
function replacedEmoji(initial: string, said: string): string | undefined {
  const gone = [...initial.matchAll(EMOJI)].some(([emoji]) => !said.includes(emoji))
  return gone ? [...said.matchAll(SHORTCODE)].map(([word]) => word).find((word) => !initial.includes(word)) : undefined
}

/** A number without an exponent, which inputs don't know. */
export function decimal(number: number): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(String(number))
  if (match === null) return String(number)
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`
  // The digits of a double end before its point when it has a positive exponent.
  return `${sign}${digits.padEnd(point, "0")}`
}

/** The very number that was typed; one that a double would change is refused. */
export function typedNumber(said: string): Typed<number> {
  const json = said.length > 400 ? undefined : jsonNumber(said.trim())
  if (json === undefined) return refused("must be a number such as 1500 or 0.5, without blanks or commas.")
  const parsed = parseExact(`{"n":${json}}`)
  // Not the negative zero, which JSON doesn't keep.
  if (parsed.ok) return { ok: true, value: Number(parsed.value["n"]) || 0 }
  const near = decimal(Number(json))
  const known = Number.isFinite(Number(json)) && near.length <= 40
  return refused(
    known ? `has more digits than can be kept: it would become ${near}.` : "is a number that can't be kept.",
  )
}

/** As JSON spells it what people write with a plus, without a zero before the point, or with zeros in front. */
function jsonNumber(text: string): string | undefined {
  const {
    sign,
    whole = "",
    fraction = "",
    exponent = "0",
  } = /^(?:(?<sign>[-\u2212])|\+)?(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:e(?<exponent>[+-]?\d{1,4}))?$/i.exec(text)
    ?.groups ?? {}
  if (whole + fraction === "") return undefined
  return `${sign === undefined ? "" : "-"}${whole.replace(/^0+/, "") || "0"}.${fraction || "0"}e${exponent}`
}
