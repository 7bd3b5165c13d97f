/**
 * Private keys as PEM and PGP write them: base64 in lines between two marks. Only what is of that form belongs to one, so
 * that nothing else can stand between the marks unseen.
 */
import { matched, matches, type Found } from "./found.ts"

export const KEY_KIND = "private key"

const BEGIN = /-----BEGIN ([A-Z0-9 ]{1,60})-----/g
const PUBLIC =
  /^(?:CERTIFICATE|TRUSTED CERTIFICATE|X509|PUBLIC|RSA PUBLIC|EC PUBLIC|DSA PUBLIC|PGP PUBLIC|PGP SIGN|PGP MESSAGE|SSH2 PUBLIC|NEW CERTIFICATE)/

/** A line break, written as one or as an escape of JSON however deep; also between strings that make the key up together. */
const BREAK = String.raw`(?:[\r\n]|\\{1,32}(?:[nrt]|u000[aAdD]|(?=[\r\n])))`
const GAP = new RegExp(String.raw`(?:${BREAK}|[ \t]|\\{0,32}["'\x60]|[,.](?=[\s\\"'\x60]))+`, "y")
const LINE = /[A-Za-z0-9+/=]+/y
const CHECKSUM = /=[A-Za-z0-9+/]{4}/y
const HEADER =
  /(?:Proc-Type: ?4,ENCRYPTED|DEK-Info: ?[A-Z0-9-]{1,30},[0-9A-Fa-f]{1,64}|Hash: ?[A-Z0-9]{1,20})(?=[\s\\"'`])/y
/** May say anything. */
const REMARK = /(?:Version|Comment|Charset|MessageID|Subject|x-[A-Za-z-]{1,30}):[^\r\n\\"'`]{0,200}/y

/** A line of a key that is cut off has at least so many characters; words of a command are rarely so long. */
const WHOLE_LINE = 16
/** Where blanks stand for line breaks, lines are as long as they were. */
const UNBROKEN = 40

export function keyBlocks(text: string): Found[] {
  const found: Found[] = []
  let done = 0
  for (const { start, end: body, whole } of matches(text, BEGIN)) {
    const name = whole.slice("-----BEGIN ".length, -"-----".length)
    if (start < done || PUBLIC.test(name)) continue
    const { end, open } = blockEnd(text, body, `-----END ${name}-----`)
    if (end === body) continue
    found.push({ start, end, kind: KEY_KIND, ...(open ? { open: true } : {}) })
    done = end
  }
  return found
}

/** Where the lines of a key end that begin at `from`, with the mark of its end when it comes. `open`: it has remarks. */
function blockEnd(text: string, from: number, ending: string): { end: number; open: boolean } {
  let open = false
  for (let at = from; ;) {
    const gap = matched(GAP, text, at)
    if (gap === "" && at > from) return { end: at, open }
    const line = at + gap.length
    if (text.startsWith(ending, line)) return { end: at === from ? from : line + ending.length, open }
    const remark = matched(REMARK, text, line).length
    open ||= remark > 0
    const length = remark || lineLength(text, line, { broken: /[^ \t]/.test(gap), ending })
    if (length === 0) return { end: at, open }
    at = line + length
  }
}

/** Of a header or of a line of base64; 0 when what stands there is neither. */
function lineLength(text: string, at: number, { broken, ending }: { broken: boolean; ending: string }): number {
  const header = matched(HEADER, text, at).length
  if (header > 0) return header
  const { length } = matched(LINE, text, at)
  // A shorter one is the last.
  return length >= (broken ? WHOLE_LINE : UNBROKEN) || endsAt(text, at + length, ending) ? length : 0
}

/** Whether a key is over there: at its mark, perhaps after the checksum that PGP writes; or where the text or string is. */
function endsAt(text: string, from: number, ending: string): boolean {
  const gap = matched(GAP, text, from)
  const at = from + gap.length
  if (at === text.length || text.startsWith(ending, at)) return true
  if (/["'`]/.test(gap) && /[}\]]/.test(text.charAt(at))) return true
  const sum = matched(CHECKSUM, text, at)
  const after = at + sum.length
  return sum !== "" && text.startsWith(ending, after + matched(GAP, text, after).length)
}
