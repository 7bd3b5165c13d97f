/**
 * Takes our own secrets out of what a server says back, before it becomes a result, an error or a log line. It knows their
 * values, and no shapes: other people's secrets are masked where people read.
 */

/** Shorter values stay: they would be found in anything. */
const LEAST = 6
const MARK = "[our secret]"

/**
 * Makes what gives a text without any of `secrets`, in whatever usual spelling: as it is, in JSON, in an address, in a page, in base64. A
 * text may have been cut in the middle of one.
 */
export function withoutOurs(secrets: readonly string[]): (text: string) => string {
  const spelled = [...new Set(secrets.filter((secret) => secret.length >= LEAST).flatMap(spellings))]
  // The longest first: one may begin as another does.
  const sorted = spelled.sort((a, b) => b.length - a.length)
  const uncut = (text: string): string => {
    const begun = Math.max(0, ...sorted.map((secret) => beginning(text, secret)))
    return begun === 0 ? text : `${text.slice(0, -begun)}${MARK}`
  }
  return (text) => {
    const whole = sorted.reduce((left, secret) => left.replaceAll(secret, MARK), text)
    return whole.split(CUT).map(uncut).join(CUT)
  }
}

/** What stands where a text was shortened. */
const CUT = "…"

/** The same for each text within a value that JSON holds, whose keys stay; what has none of them comes back as it is. */
export function cleanWithin<T>(value: T, clean: (text: string) => string): T {
  const text = JSON.stringify(value)
  if (text === undefined || clean(text) === text) return value
  return JSON.parse(text, (_key, one: unknown) => (typeof one === "string" ? clean(one) : one)) as T
}

function spellings(secret: string): string[] {
  // Basic has `user:password` in base64, and a server may tell it unpacked.
  const decoded = Buffer.from(secret, "base64").toString("utf8")
  const [, password = ""] = /^[\x20-\x7e]*?:([\x20-\x7e]{6,})$/.exec(decoded) ?? []
  return [secret, decoded.length >= LEAST && password !== "" ? decoded : "", password]
    .filter((one) => one !== "")
    .flatMap((one) => [
      one,
      JSON.stringify(one).slice(1, -1),
      // Some write JSON so that it may stand in a page.
      JSON.stringify(one).slice(1, -1).replaceAll("/", "\\/"),
      encodeURIComponent(one),
      new URLSearchParams({ "": one }).toString().slice(1),
      one.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
      Buffer.from(one).toString("base64"),
      Buffer.from(one).toString("base64url"),
    ])
}

/** How many characters at the end of `text` are how the secret begins; fewer than LEAST are chance. */
function beginning(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= LEAST; length--) {
    if (text.endsWith(secret.slice(0, length))) return length
  }
  return 0
}
