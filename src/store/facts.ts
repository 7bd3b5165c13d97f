/**
 * How a run's facts stand beside its state: each is a text `fact:<n>`, a list without what its place says anyway (the run, its
 * number, the hash of the one before), digests shortened. A list of its own would cost a parked run more than the facts do.
 * Knows no journal.
 */
import { canonicalOwn, lengthened, shortened } from "../core/digest.ts"
import type { Fact } from "../core/fact.ts"

export const fieldOf = (n: number): string => `fact:${n}`

export function packed(fact: Fact): string {
  const { at, hash, what, via, cause, by, call, tool, args, outcome, ask, version, note, repeats } = fact
  const digest = args === undefined ? undefined : shortened(args)
  const person = by && [by.team, by.user, by.name, by.enterprise]
  const texts = [
    at,
    shortened(hash),
    what,
    via,
    cause,
    person,
    call,
    tool,
    digest,
    outcome,
    ask,
    version,
    note,
    repeats,
  ]
  // Most say nothing of what stands last.
  while (texts.at(-1) === undefined) texts.pop()
  return JSON.stringify(texts)
}

/** The facts as they were chained, byte for byte; one that is missing or no JSON is one that breaks the chain. */
export function unpacked(run: string, texts: readonly (string | undefined)[]): string[] {
  let prev = ""
  return texts.map((text, index) => {
    const { hash: stored, ...entry } = read(text)
    const hash = typeof stored === "string" ? lengthened(stored) : ""
    if (typeof entry.args === "string") entry.args = lengthened(entry.args)
    const fact = canonicalOwn({ ...entry, run, n: index + 1, prev, hash })
    prev = hash
    return fact
  })
}

/** Also of those that were stored by name, before. */
function read(text = "{}"): Partial<Fact> {
  try {
    const stored: unknown = JSON.parse(text)
    return Array.isArray(stored) ? named(stored) : (stored ?? {})
  } catch {
    return {}
  }
}

function named(stored: readonly unknown[]): Partial<Fact> {
  const [at, hash, what, via, cause, person, call, tool, args, outcome, ask, version, note, repeats] = stored
  const by = Array.isArray(person)
    ? present({ team: person[0], user: person[1], name: person[2], enterprise: person[3] })
    : null
  return present({ at, hash, what, via, ask, call, tool, args, outcome, version, cause, by, note, repeats })
}

const present = (fields: Record<string, unknown>): Partial<Fact> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
