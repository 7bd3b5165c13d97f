/**
 * Takes other people's secrets out of text that is shown, logged or audited. Knows shapes and names of secrets, not where
 * the text comes from; what runs never passes through here.
 */

/** What stands in a secret's place; text that is masked once more stays as it is. */
export const MASK = "«masked»"

type Span = readonly [start: number, end: number]

/** A masked place may make another one visible (an address that now ends elsewhere); more rounds than this were never needed. */
const ROUNDS = 6

/** `text` with every secret replaced by `«masked»`; `count` is how many places were. Takes time linear in the text's length. */
export function mask(text: string): { text: string; count: number } {
  let shown = text
  let places: Span[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = [...new Set([shown, blanked(shown)])].flatMap(spansOf)
    const spans = merged(found.filter((span) => shown.slice(...span) !== MASK))
    if (spans.length === 0) break
    const next = replaced(shown, spans, places)
    shown = next.text
    places = next.places
  }
  return { text: shown, count: places.length }
}

const spansOf = (text: string): Span[] => [...shapes(text), ...enclosed(text), ...named(text)]

/**
 * The text as long as it was, with blanks for the letters of JSON's escapes: in `\\nxoxb-…` the n ends a word, or belongs
 * to a line that begins there, and is no part of it. In a path (`C:\\token`) it is, so both readings count.
 */
const blanked = (text: string): string =>
  text.replace(/(?<=\\)(?:[bfnrt]|u[\dA-Fa-f]{4})/g, (letters) => " ".repeat(letters.length))

/** Puts the mask over `spans`; `places` are the masks of before, of which those that touch a span become part of it. */
function replaced(text: string, spans: readonly Span[], places: readonly Span[]): { text: string; places: Span[] } {
  const now: Span[] = []
  let shown = ""
  let from = 0
  for (const [start, end] of merged([...spans, ...places])) {
    shown += text.slice(from, start)
    now.push([shown.length, shown.length + MASK.length])
    shown += MASK
    from = end
  }
  return { text: shown + text.slice(from), places: now }
}

function merged(spans: readonly Span[]): Span[] {
  const out: [number, number][] = []
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = out.at(-1)
    if (last && start <= last[1]) last[1] = Math.max(last[1], end)
    else out.push([start, end])
  }
  return out
}

/** Secrets that show by their own shape: `[prefix][random part]`. None may begin inside a longer word. */
const SHAPES = [
  // Slack
  /xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}/,
  /(?:xapp|xwfp)-[A-Za-z0-9-]{8,}/,
  // AWS key ids, GitHub, GitLab, Google
  /(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])/,
  /gh[opusr]_[A-Za-z0-9]{20,}/,
  /github_pat_[A-Za-z0-9_]{20,}/,
  /gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent)-[A-Za-z0-9_.-]{16,}/,
  /AIza[A-Za-z0-9_-]{30,}/,
  /ya29\.[A-Za-z0-9_-]{16,}/,
  /GOCSPX-[A-Za-z0-9_-]{16,}/,
  /1\/\/0[A-Za-z0-9_-]{30,}/,
  // Stripe, npm, PyPI, SendGrid, Hugging Face and others with a prefix of their own
  /(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,}/,
  /whsec_[A-Za-z0-9+/=]{16,}/,
  /npm_[A-Za-z0-9]{30,}/,
  /pypi-[A-Za-z0-9_-]{40,}/,
  /SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/,
  /hf_[A-Za-z0-9]{30,}/,
  /(?:hv[sbr]|s)\.[A-Za-z0-9_-]{24,}/,
  /(?:dop|doo|dor)_v1_[a-f0-9]{40,}/,
  /shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{20,}/,
  /(?:lin_api|lin_oauth|ntn|figd|gsk|r8|rubygems|dckr_pat|pplx|atlasv1)[_.-][A-Za-z0-9_-]{20,}/,
  /(?:tskey|pul|xai|nvapi)-[A-Za-z0-9-]{20,}/,
  /dapi[a-f0-9]{32}(?![0-9A-Za-z])/,
  /AGE-SECRET-KEY-1[0-9A-Z]{40,}/,
  /[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])/,
  // JSON web tokens (and encrypted ones, of five parts)
  /eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){0,3}/,
]
const SHAPE = new RegExp(`(?<![A-Za-z0-9_])(?:${SHAPES.map((shape) => shape.source).join("|")})`, "g")

/** `sk-…` is also how many style sheets begin their class names; a key has digits. */
const SK = /(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{20,}/g

function shapes(text: string): Span[] {
  const keys = [...text.matchAll(SK)].filter(([key]) => /\d/.test(key))
  return [...text.matchAll(SHAPE), ...keys].map(whole)
}

const whole = (match: RegExpExecArray): Span => [match.index, match.index + match[0].length]

/** The part `secret` of each match. */
function part(text: string, pattern: RegExp, when: (secret: string) => boolean = () => true): Span[] {
  return [...text.matchAll(pattern)].flatMap((match): Span[] => {
    const span = match.indices?.groups?.["secret"]
    return span && when(text.slice(...span)) ? [span] : []
  })
}

/** `scheme://user:secret@host`; a secret may hold an `@`, and before a later `@` a slash. */
const USERINFO = /:\/\/[^\s:@/"'\\<>]{0,200}:(?:(?<secret>[^\s"'\\<>/]{1,300})@|(?<odd>[^\s"'\\<>@]{1,300})@)/dg
/** `https://token@host`: a long user name alone is a token. */
const USER_TOKEN = /:\/\/(?<secret>[^\s:@/"'\\<>]{20,300})@/dg
/** Addresses that are secrets as a whole, or carry a signature. */
const WEBHOOK = /hooks\.slack(?:-gov)?\.com\/(?<secret>[A-Za-z]{1,20}\/[A-Za-z0-9_/-]{10,200})/dg
const SIGNED =
  /[?&](?:sig|signature|x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature)=(?<secret>[^\s&"'\\<>#]{8,})/dgi
/** `Bearer x` and `Basic x` wherever they stand, if `x` looks random: prose has "basic authentication". */
const SCHEME =
  /(?<![A-Za-z0-9])(?:bearer|basic|digest|apikey|negotiate)\s{1,4}(?<secret>[A-Za-z0-9._~+/:-]{6,}={0,2})/dgi
/** Headers whose value is a secret whatever it looks like. */
const HEADER =
  /(?<![A-Za-z0-9])(?:proxy-)?authorization\\{0,8}["']?\s{0,4}[:=,]\s{0,4}\\{0,8}["']?(?:(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\s{1,4})?(?<secret>[^\s"'\\,][^\n"'\\]{0,4000})/dgi
const COOKIE =
  /(?<![A-Za-z0-9])(?:set-)?cookie\\{0,8}["']?\s{0,4}:\s{0,4}\\{0,8}["']?(?<secret>[^\s"'\\=;]{1,200}=[^\n"'\\]{1,4000})/dgi
/** `curl -u name:secret` and the like, `identified by 'secret'`, `sshpass -p secret`. */
const USER_FLAG =
  /(?<![A-Za-z0-9-])(?:-u|--user|--proxy-user)(?:\s{1,4}|=|\\{0,8}["']\s{0,4},\s{0,4})\\{0,8}["']?[^\s:"'\\]{1,100}:(?<secret>[^\s"'\\]{1,300})/dg
const SQL = /identified\s{1,4}(?:with\s{1,4}\S{1,40}\s{1,4})?(?:by|as)\s{1,4}\\{0,8}["'](?<secret>[^"'\\]{1,300})/dgi
const SSHPASS = /sshpass\s{1,4}-p\s{0,4}\\{0,8}["']?(?<secret>[^\s"'\\]{1,300})/dg

/** `https://api.telegram.org/bot123456:AA…/getMe` */
const BOT = /\/bot(?<secret>\d{5,12}:[A-Za-z0-9_-]{6,100})/dg

/** A command's words up to a flag: of its own line, and no further than the next command. */
const WORDS = String.raw`(?:[^\n;|&\\]|\\{1,32}["']){0,300}?(?<=[\s"'])`
const NEXT = String.raw`(?:\s{1,4}|=|\\{0,32}["']\s{0,4},\s{0,4})`
const OPEN = String.raw`\\{0,32}["']?`
/** Commands that take a password by a flag that means something else to others, up to where its value begins. */
const COMMANDS = [
  String.raw`(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mariadb-admin)(?![\w.-])${WORDS}-p(?=[^\s"'\\]|["'][^\s"',\]}])`,
  `(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm${NEXT}${OPEN}registry|az|oc)${NEXT}${OPEN}login(?![\\w.-])${WORDS}-p${NEXT}`,
  `(?:redis|valkey|keydb)-cli(?![\\w.-])${WORDS}-a${NEXT}`,
].map((command) => new RegExp(`(?<![A-Za-z0-9_.-])${command}`, "g"))

const random = (text: string): boolean => /[\d=]/.test(text) || /[a-z][A-Z]/.test(text) || text.length > 40

function enclosed(text: string): Span[] {
  const odd = [...text.matchAll(USERINFO)].flatMap((match): Span[] => {
    const span = match.indices?.groups?.["odd"]
    return span && !/^\d{1,5}\//.test(text.slice(...span)) ? [span] : []
  })
  return [
    ...odd,
    ...part(text, SCHEME, random),
    ...[USERINFO, USER_TOKEN, WEBHOOK, SIGNED, HEADER, COOKIE, USER_FLAG, SQL, SSHPASS, BOT].flatMap((pattern) =>
      part(text, pattern),
    ),
    ...COMMANDS.flatMap((command) =>
      [...text.matchAll(command)].flatMap((match) => valuesAt(text, match.index + match[0].length)),
    ),
    ...keyBlocks(text),
  ]
}

/** PEM and PGP blocks, but those that are public. One without an end goes as far as it can. */
function keyBlocks(text: string): Span[] {
  const spans: Span[] = []
  for (const match of text.matchAll(/-----BEGIN ([A-Z0-9 ]{1,60})-----/g)) {
    const name = match[1] ?? ""
    if (
      /^(?:CERTIFICATE|TRUSTED CERTIFICATE|X509|PUBLIC|RSA PUBLIC|PGP PUBLIC|PGP SIGN|PGP MESSAGE|SSH2 PUBLIC|NEW CERTIFICATE)/.test(
        name,
      )
    )
      continue
    const start = match.index
    if (start < (spans.at(-1)?.[1] ?? 0)) continue
    const ending = `-----END ${name}-----`
    const at = text.indexOf(ending, start)
    spans.push([start, at < 0 ? bodyEnd(text, start + match[0].length) : at + ending.length])
  }
  return spans
}

const BODY = /[A-Za-z0-9+/=\s\\:,.-]*/y

function bodyEnd(text: string, from: number): number {
  BODY.lastIndex = from
  return from + (BODY.exec(text)?.[0].length ?? 0)
}

/** A name that says that its value is secret, as the last words of a longer one (`DB_PASSWORD`, `x-api-key`). */
const NAMES = [
  "pass(?:words?|wd|phrase|code|wort)?", "pwd", "pgpassword", "secret", "secrets", "client[_-]?secret", "secret[_-]?(?:access[_-]?)?key", "secret[_-]?(?:id|token|value|string)",
  "(?:api|access|account|private|signing|encryption|master|license|shared|shared[_-]?access|storage|service[_-]?role|webhook|app|auth)[_-]?key",
  "token", "jwt", "api[_-]?token", "credentials?", "connection[_-]?string", "session[_-]?id", "otp", "pin[_-]?code", "cvv", "cvc",
] // prettier-ignore
const NAME = `(?:[A-Za-z0-9_.-]{0,60}?[_.-]|[a-z0-9]{1,40}?(?=[A-Z])|(?<![A-Za-z0-9]))(?:${NAMES.join("|")})`
const KEY = new RegExp(
  String.raw`(?<![A-Za-z0-9_.-])(?<flag>--?)?${NAME}(?![A-Za-z0-9_-])(?<close>\\{0,32}["'\x60\]]{0,2})(?<between>\s{0,4}(?:=>|:=|[:=])\s{0,4}|\s{0,4},\s{0,4}|\s{1,4})`,
  "gi",
)
/** `name: DB_PASSWORD` and beside it `value: …`, as lists of variables and of parameters have it. */
const PAIR = new RegExp(
  String.raw`(?<![A-Za-z0-9_.-])(?:name|key)${OPEN}\s{0,4}[:=]\s{0,4}${OPEN}${NAME}(?![A-Za-z0-9_.-])[\s\\,"']{1,160}value(?![A-Za-z0-9_-])${OPEN}\s{0,4}[:=]\s{0,4}`,
  "gi",
)

/** Values of pairs: `password=x`, `"token": "x"`, also as JSON within JSON; `--token x`, `["--token","x"]`. */
function named(text: string): Span[] {
  const spans: Span[] = []
  for (const pattern of [KEY, PAIR]) {
    let done = 0
    for (const match of text.matchAll(pattern)) {
      const start = match.index + match[0].length
      if (start < done || (pattern === KEY && !takesValue(match))) continue
      const secrets = valuesAt(text, start).filter((span) => isSecret(text.slice(...span), match))
      spans.push(...secrets)
      done = secrets.at(-1)?.[1] ?? done
    }
  }
  return spans
}

/** After a sign, or after a flag as the next word of a command line or the next of a list. */
function takesValue({ groups }: RegExpExecArray): boolean {
  const { flag, close = "", between = "" } = groups ?? {}
  return /[:=]/.test(between) || (flag !== undefined && between.includes(",") === (close !== ""))
}

const OPENING = /\\{0,32}["'`]/y
const UNQUOTED = /[^\s,;&"'`<>(){}[\]\\|]+/y

/** A variable, in a shell, a template or a workflow: it names a secret and doesn't hold it. */
const PLACEHOLDER =
  /(?:\$\([A-Za-z_]\w{0,100}\)|\$\{[A-Za-z_][^{}"'`\s]{0,100}\}|\$\{?\{\{?[^{}"'`]{1,100}\}\}|\{\{[^{}"'`]{1,100}\}\}|\$[A-Za-z_]\w{0,100}|%[A-Za-z_]\w{0,100}%)(?=[\s,;&"'`<>)\]}\\|]|$)/y

const GAP = /(?:[\s,]|\\{1,32}\s)*/y

/** The value that begins there; of a list all those in quotes. */
function valuesAt(text: string, start: number): Span[] {
  const spans: Span[] = []
  if (text[start] !== "[") {
    const span = valueAt(text, start)
    return span ? [span] : []
  }
  for (let at = start + 1; ;) {
    GAP.lastIndex = at
    at += GAP.exec(text)?.[0].length ?? 0
    OPENING.lastIndex = at
    const quote = OPENING.exec(text)?.[0]
    if (quote === undefined) return spans
    const span = valueAt(text, at)
    if (span) spans.push(span)
    at = closing(text, quote, at + quote.length) + quote.length
  }
}

function valueAt(text: string, start: number): Span | undefined {
  OPENING.lastIndex = start
  const quote = OPENING.exec(text)?.[0]
  PLACEHOLDER.lastIndex = start + (quote?.length ?? 0)
  if (PLACEHOLDER.test(text)) return undefined
  if (quote === undefined) {
    UNQUOTED.lastIndex = start
    const value = UNQUOTED.exec(text)?.[0]
    return value === undefined ? undefined : [start, start + value.length]
  }
  const from = start + quote.length
  const end = closing(text, quote, from)
  return end > from ? [from, end] : undefined
}

/** Where the quoted value ends: at the same quote, as deeply escaped; at the line's end when there is none. */
function closing(text: string, quote: string, from: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    let slashes = 0
    while (at - slashes > from && text[at - slashes - 1] === "\\") slashes += 1
    // Within a string of depth n a quote of its own is escaped more deeply; then more slashes stand before it.
    if (quote.length > 1 ? slashes === 0 : slashes % 2 === 0) return at
  }
  const line = text.indexOf("\n", from)
  return line < 0 ? text.length : line
}

/** Left alone: what only names a secret or says that there is none. */
function isSecret(value: string, match: RegExpExecArray): boolean {
  const key = match[0]
  const between = match.groups?.["between"] ?? ""
  if (/^(?:null|nil|none|true|false|undefined|yes|no|\*+|x{3,}|\.{3}|…)$/i.test(value)) return false
  if (/token/i.test(key) && /^\d{1,9}$/.test(value)) return false
  // A colon and a space in prose, not a pair: "the password: must be changed".
  return !(/^\s*:\s+$/.test(between) && !/["'`]/.test(key) && /^[a-z]{1,12}[.?!]?$/.test(value))
}
