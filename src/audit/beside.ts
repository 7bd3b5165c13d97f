/**
 * What stands beside a fact for whoever may read more than the fact itself: the args it is about, or what was asked for.
 * Masks nothing, and knows no wording.
 */
import { sha256 } from "../core/digest.ts"
import type { Fact } from "../core/fact.ts"
import { argsField, NewerFormat } from "../core/run.ts"
import type { Store } from "../store/store.ts"
import { Unreadable } from "../store/unreadable.ts"

export interface Texts {
  /** The canonical args, unmasked. */
  args?: string
  /** What was asked for, unmasked. */
  prompt?: string
}

/** Nothing of a run that can't be read, or not by this release: its facts go on, and hold up no others. */
export async function besideOf(store: Store, run: string, fact: Fact): Promise<Texts> {
  try {
    return await textsOf(store, run, fact)
  } catch (error) {
    if (error instanceof NewerFormat || error instanceof Unreadable) return {}
    throw error
  }
}

async function textsOf(store: Store, run: string, fact: Fact): Promise<Texts> {
  if (fact.args !== undefined && fact.call !== undefined) {
    const args = await argsOf(store, run, { call: fact.call, digest: fact.args })
    return args === undefined ? {} : { args }
  }
  if (fact.what !== "started") return {}
  const [whole] = await store.texts(run, ["prompt"])
  // What was asked for is the title, where that is all of it.
  const prompt = whole ?? (await store.load(run))?.run.title
  return prompt === undefined ? {} : { prompt }
}

/** Changes of one call's args that are looked through for those of a fact. */
const MOST_EDITS = 50

/** The args that a fact is about: people may have changed them since, and before. */
async function argsOf(store: Store, run: string, about: { call: string; digest: string }): Promise<string | undefined> {
  const { call, digest } = about
  const [first] = await store.texts(run, [argsField({ id: call })])
  if (first === undefined || sha256(first) === digest) return first
  const edits = Array.from({ length: MOST_EDITS }, (_, index) => argsField({ id: call, edit: index + 1 }))
  return (await store.texts(run, edits)).find((text) => text !== undefined && sha256(text) === digest)
}
