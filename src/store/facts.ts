/**
 * How a run's facts stand beside its state: each is a text `fact:<n>`, without what its place says anyway (the run, its
 * number, the hash of the one before). A list of its own would cost a parked run more than the facts do. Knows no journal.
 */
import type { Fact } from "../core/fact.ts"

export const fieldOf = (n: number): string => `fact:${n}`

export function packed({ run: _run, n: _n, prev: _prev, ...rest }: Fact): string {
  return JSON.stringify(rest)
}

/** The facts as they were chained, byte for byte; one that is missing or no JSON is one that breaks the chain. */
export function unpacked(run: string, texts: readonly (string | undefined)[]): string[] {
  let prev = ""
  return texts.map((text, index) => {
    const { at, hash, ...entry } = read(text)
    const fact = JSON.stringify({ ...entry, run, n: index + 1, at, prev, hash })
    prev = typeof hash === "string" ? hash : ""
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
