/**
 * Checks what the audit rests on: whether a run's chain of facts is whole, and what root a row of facts comes to. Reads
 * only; whether the channel says the same is for people to compare.
 */
import { sha256 } from "../core/digest.ts"
import { brokenAt } from "../core/fact.ts"
import type { Fact } from "../core/fact.ts"

export type Verified = { ok: true; facts: number; tip: string } | { ok: false; brokenAt: number }

/** `texts`: the JSON texts of a run's facts, as stored, from the first. */
export function verify(texts: readonly string[]): Verified {
  const facts = texts.map((text) => JSON.parse(text) as Fact)
  const broken = brokenAt(facts)
  return broken === undefined
    ? { ok: true, facts: facts.length, tip: facts.at(-1)?.hash ?? "" }
    : { ok: false, brokenAt: broken }
}

/** The root of facts in the order of their lines, folded on from `root`: what a checkpoint names. */
export const rootOf = (hashes: readonly string[], root = ""): string =>
  hashes.reduce((folded, hash) => sha256(folded + hash), root)
