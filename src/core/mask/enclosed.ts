/** Secrets that show by where they stand: in an address, in a header, after a flag of a command that is known. */
import { foundAt, matched, matches, type Found, type Place } from "./found.ts"
import { closing, openingAt, valueAt, valuesAt } from "./values.ts"

const random = (text: string): boolean => /[\d=]/.test(text) || /[a-z][A-Z]/.test(text) || text.length > 40

/** `//`, perhaps escaped as some writers of JSON do. */
const SLASHES = String.raw`:\\{0,32}\/\\{0,32}\/`

const PLACES: readonly Place[] = [
  // `scheme://user:secret@host`; a secret may hold an `@`, and before a later `@` a slash (but not be a port).
  {
    kind: "password",
    before: new RegExp(String.raw`${SLASHES}[^\s:@/"'\\<>]{0,300}:`, "g"),
    secret: /(?:[^\s"'\\<>/]{1,300}|(?!\d{1,5}\/)[^\s"'\\<>@]{1,300})(?=@)/y,
  },
  // `https://token@host`: a long user name alone is a token.
  { kind: "access token", before: new RegExp(SLASHES, "g"), secret: /[^\s:@/"'\\<>]{20,300}(?=@)/y },
  // Addresses that are secrets as a whole, or carry a signature.
  {
    kind: "slack webhook",
    before: /hooks\.slack(?:-gov)?\.com\\{0,32}\//g,
    secret: /[A-Za-z]{1,20}\/[A-Za-z0-9_/-]{10,200}/y,
  },
  { kind: "webhook", before: /discord(?:app)?\.com\/api\/webhooks\/\d{5,25}\//g, secret: /[A-Za-z0-9_-]{30,100}/y },
  {
    kind: "signature",
    before: /[?&](?:sig|signature|x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature)=/gi,
    secret: /[A-Za-z0-9%._~+/=:-]{8,}/y,
  },
  { kind: "telegram token", before: /\/bot(?=\d)/g, secret: /\d{5,12}:[A-Za-z0-9_-]{6,100}/y },
  // Wherever they stand, if it looks random: prose has "basic authentication".
  {
    kind: "bearer token",
    before: /(?<![A-Za-z0-9])(?:bearer|apikey|negotiate)[ \t]{1,4}/gi,
    secret: /[A-Za-z0-9][A-Za-z0-9._~+/:-]{5,}={0,2}/y,
    when: random,
  },
  {
    kind: "basic credentials",
    before: /(?<![A-Za-z0-9])(?:basic|digest)[ \t]{1,4}/gi,
    secret: /[A-Za-z0-9][A-Za-z0-9._~+/:-]{5,}={0,2}/y,
    when: random,
  },
]

export const PLACE_KINDS: readonly string[] = PLACES.flatMap(({ kind }) => kind ?? [])

/** A command's words up to a flag: of its own line, and no further than the next command. */
const WORDS = String.raw`(?:[^\n;|&\\]|\\{1,32}["']){0,300}?(?<=[\s"'])`
const NEXT = String.raw`(?:[ \t]{1,4}|=|\\{0,32}["']\s{0,4},\s{0,4})`
const OPEN = String.raw`\\{0,32}["']?`
/** Flags and words that a password follows, up to where it begins. */
const COMMANDS = [
  String.raw`(?<![A-Za-z0-9_.-])(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mariadb-admin)(?![\w.-])${WORDS}-p(?=[^\s"'\\]|["'][^\s"',\]}])`,
  `(?<![A-Za-z0-9_.-])(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm${NEXT}${OPEN}registry|az|oc)${NEXT}${OPEN}login(?![\\w.-])${WORDS}-p${NEXT}`,
  `(?<![A-Za-z0-9_.-])(?:redis|valkey|keydb)-cli(?![\\w.-])${WORDS}-a${NEXT}`,
  String.raw`(?<![A-Za-z0-9_.-])sshpass(?:[ \t]{1,4}|\\{0,32}["']\s{0,4},\s{0,4}\\{0,32}["'])-p(?:\\{0,32}["']\s{0,4},\s{0,4}|[ \t]{0,4})`,
].map((command) => new RegExp(command, "g"))
const SQL = /identified\s{1,4}(?:with\s{1,4}\S{1,40}\s{1,4})?(?:by|as)\s{1,4}(?=\\{0,32}["'])/gi

/** `curl -u name:secret` and the like, up to where the quote or the name begins. */
const USER_FLAG = new RegExp(String.raw`(?<![A-Za-z0-9-])(?:-u|--user|--proxy-user)${NEXT}`, "g")
const USER = /[^\s:"'\\]{1,100}:/y

export const enclosed = (text: string): Found[] => [
  ...PLACES.flatMap((place) => foundAt(text, place)),
  ...[...COMMANDS, SQL].flatMap((command) => [...matches(text, command)].flatMap(({ end }) => valuesAt(text, end))),
  ...users(text),
  ...[...matches(text, HEADER)].flatMap((header) => headerValue(text, header)),
]

function users(text: string): Found[] {
  const found: Found[] = []
  for (const { end } of matches(text, USER_FLAG)) {
    const quote = openingAt(text, end)
    const name = matched(USER, text, end + quote.length)
    if (name === "") continue
    const start = end + quote.length + name.length
    found.push(...(quote === "" ? valueAt(text, start) : upTo(text, quote, start)))
  }
  return found
}

function upTo(text: string, quote: string, start: number): Found[] {
  const end = closing(text, quote, start)
  return end > start ? [{ start, end }] : []
}

/** Headers whose value is a secret whatever it looks like. */
const HEADER =
  /(?<![A-Za-z0-9])(?:(?:proxy-)?authorization|(?:set-)?cookie)(?:\\{0,32}["'`][ \t]{0,4}[:=,]\s{0,4}|[ \t]{0,4}[:=,][ \t]{0,4})/gi
const METHOD = /(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)[ \t]{1,4}/iy
/** Without quotes it ends with its word, or with the list of its parts. */
const CREDENTIAL = /[A-Za-z0-9._~+/:=-][^\s"'`\\,;|&<>(){}$]*(?:,\s{0,4}[\w-]{1,40}=[^\s"'`\\,;|&<>(){}$]+){0,20}/y
const COOKIE_NAME = /[^\s"'`\\=;,|&<>(){}$]{1,200}=/y
const COOKIES =
  /[^\s"'`\\=;,|&<>(){}$]{1,200}=[^\s"'`\\;|&<>(){}$]+(?:;\s?(?:[^\s"'`\\=;,|&<>(){}$]{1,200}=[^\s"'`\\;|&<>(){}$]*|HttpOnly|Secure|Partitioned)){0,50}/iy

function headerValue(text: string, { start, end, whole }: { start: number; end: number; whole: string }): Found[] {
  const cookie = /cookie/i.test(whole)
  const opened = openingAt(text, end)
  const from = end + opened.length
  const value = cookie ? from : from + matched(METHOD, text, from).length
  if (cookie && matched(COOKIE_NAME, text, value) === "") return []
  const quote = opened !== "" || /["'`]/.test(whole) ? opened : quoteBefore(text, start)
  if (quote !== "") return upTo(text, quote, value)
  const word = matched(cookie ? COOKIES : CREDENTIAL, text, value)
  return word === "" ? [] : [{ start: value, end: value + word.length }]
}

/** The quote that opened right before, as in `-H 'Authorization: …'`, with the backslashes before it. */
function quoteBefore(text: string, at: number): string {
  if (!/["'`]/.test(text.charAt(at - 1))) return ""
  let from = at - 1
  while (at - from <= 32 && text[from - 1] === "\\") from -= 1
  return text.slice(from, at)
}
