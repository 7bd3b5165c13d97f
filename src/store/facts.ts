/**
 * How a run's facts stand beside its state: each is a text `fact:<n>`, without what its place says anyway (the run, its
 * number, the hash of the one before). A list of its own would cost a parked run more than the facts do. Knows no journal.
 */
import { canonicalOwn, lengthened, shortened } from "../core/digest.ts"
import type { Fact } from "../core/fact.ts"

export const fieldOf = (n: number): string => `fact:${n}`

export function packed(fact: Fact): string {
  const args = fact.args === undefined ? undefined : shortened(fact.args)
  return JSON.stringify({ ...fact, args, run: undefined, n: undefined, prev: undefined, hash: shortened(fact.hash) })
}

/** The facts as they were chained, byte for byte; one that is missing or no JSON is one that breaks the chain. */
export function unpacked(run: string, texts: readonly (string | undefined)[]): string[] {
  let prev = ""
  return texts.map((text, index) => {
    const { at, hash: stored, ...entry } = read(text)
    const hash = typeof stored === "string" ? lengthened(stored) : ""
    if (entry.args !== undefined) entry.args = lengthened(entry.args)
    const fact = canonicalOwn({ ...entry, run, n: index + 1, at, prev, hash })
    prev = hash
    return fact
  })
}

function read(text = "{}"): Partial<Fact> {
  try {
    return JSON.parse(text) as Partial<Fact>
  } catch {
    return {}
  }
}
