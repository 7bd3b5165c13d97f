/**
 * Where a value begins and ends that follows a name, a flag or a header: in quotes however deeply escaped, in a list, or as
 * one word. A word ends where a shell would begin something else.
 */
import { matched, type Found } from "./found.ts"

const OPENING = /\\{0,32}["'`]/y
const UNQUOTED = /[^\s,;&"'`<>(){}[\]\\|]+/y

/** A variable, in a shell, a template or a workflow: it names a secret and doesn't hold it. */
const PLACEHOLDER =
  /(?:\$\([A-Za-z_]\w{0,100}\)|\$\{[A-Za-z_][^{}"'`\s]{0,100}\}|\$\{?\{\{?[^{}"'`]{1,100}\}\}|\{\{[^{}"'`]{1,100}\}\}|\$[A-Za-z_]\w{0,100}|%[A-Za-z_]\w{0,100}%)(?=[\s,;&"'`<>)\]}\\|]|$)/y

const GAP = /(?:[\s,]|\\{1,32}\s)*/y

/** The quote that opens there, with the backslashes before it. */
export const openingAt = (text: string, at: number): string => matched(OPENING, text, at)

/** The value that begins there; of a list all those in quotes. */
export function valuesAt(text: string, start: number): Found[] {
  if (text[start] !== "[") return valueAt(text, start)
  const found: Found[] = []
  for (let at = start + 1; ;) {
    at += matched(GAP, text, at).length
    const quote = openingAt(text, at)
    if (quote === "") return found
    found.push(...valueAt(text, at))
    at = closing(text, quote, at + quote.length) + quote.length
  }
}

/** At most one. */
export function valueAt(text: string, start: number): Found[] {
  const quote = openingAt(text, start)
  const from = start + quote.length
  if (matched(PLACEHOLDER, text, from) !== "") return []
  const end = quote === "" ? from + matched(UNQUOTED, text, from).length : closing(text, quote, from)
  return end > from ? [{ start: from, end }] : []
}

/** Where the quoted value ends: at the same quote, as deeply escaped; at the line's end when there is none. */
export function closing(text: string, quote: string, from: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    let slashes = 0
    while (at - slashes > from && text[at - slashes - 1] === "\\") slashes += 1
    // Within a string of depth n a quote of its own is escaped more deeply; then more slashes stand before it.
    if (quote.length > 1 ? slashes === 0 : slashes % 2 === 0) return at
  }
  const line = text.indexOf("\n", from)
  return line < 0 ? text.length : line
}
