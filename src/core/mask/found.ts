/** A place in a text that holds a secret, as finders tell of it. Knows no secret of its own. */

export interface Found {
  start: number
  end: number
  /** What kind of secret shows by its own shape or place; absent where only a name says that it is one. */
  kind?: string
  /** It may be the name of a command as well as a secret. */
  open?: true
}

/** What stands before a secret, and the secret itself. */
export interface Place {
  kind?: string
  /** With the flag g; what it finds ends where the secret begins. */
  before: RegExp
  /** With the flag y. */
  secret: RegExp
  when?: (secret: string) => boolean
}

export function foundAt(text: string, { kind, before, secret, when }: Place): Found[] {
  const found: Found[] = []
  for (const { end: start } of matches(text, before)) {
    const value = matched(secret, text, start)
    if (value === "" || when?.(value) === false) continue
    found.push({ start, end: start + value.length, ...(kind === undefined ? {} : { kind }) })
  }
  return found
}

interface Match {
  start: number
  end: number
  whole: string
}

/** What a pattern with the flag g finds. Patterns without groups are several times as fast here: long texts have many matches. */
export function* matches(text: string, pattern: RegExp): Generator<Match, void, undefined> {
  for (let from = 0; ;) {
    // Others may use the pattern between two matches.
    pattern.lastIndex = from
    const whole = pattern.exec(text)?.[0]
    if (whole === undefined) return
    const end = pattern.lastIndex
    yield { start: end - whole.length, end, whole }
    from = whole === "" ? end + 1 : end
  }
}

/** What a pattern with the flag y finds right there; the empty text for nothing. */
export function matched(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ""
}
