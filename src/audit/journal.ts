/**
 * The journal as a chain that can be checked: a run's facts one by one, and all facts of a shard folded into one root.
 * Knows no channel and no wording.
 */
import { sha256 } from "../core/digest.ts"
import { brokenAt, type Fact } from "../core/fact.ts"
import { NewerFormat } from "../core/run.ts"
import type { Store } from "../store/store.ts"
import { Unreadable } from "../store/unreadable.ts"

/** The root after one more fact; the first follows the empty text. */
export const fold = (root: string, fact: Pick<Fact, "hash">): string => sha256(root + fact.hash)

export type Verdict =
  | { kind: "whole"; facts: number; tip: string }
  /** `at`: the number of the first fact that is missing, was altered, or does not follow the one before. */
  | { kind: "broken"; at: number }
  | { kind: "no such run" }
  | { kind: "unreadable" }
  /** A newer release stored it; that one can verify it. */
  | { kind: "newer" }

/** Checks a run's facts against each other and against the tip that its state holds. */
export async function verify(store: Store, run: string): Promise<Verdict> {
  try {
    return await chained(store, run)
  } catch (error) {
    if (error instanceof Unreadable) return { kind: "unreadable" }
    if (error instanceof NewerFormat) return { kind: "newer" }
    throw error
  }
}

async function chained(store: Store, run: string): Promise<Verdict> {
  const loaded = await store.load(run)
  if (!loaded) return { kind: "no such run" }
  const facts = (await store.facts(run, loaded.run)).map((text) => JSON.parse(text) as Fact)
  const at = brokenAt(facts)
  if (at !== undefined) return { kind: "broken", at }
  const { n, hash } = loaded.run.facts
  if ((facts.at(-1)?.hash ?? "") !== hash) return { kind: "broken", at: n }
  return { kind: "whole", facts: n, tip: hash }
}
