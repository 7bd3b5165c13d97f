/**
 * Counts refusals that repeat: the same person, ask and reason within a minute get an answer each and one fact for all
 * but the first. It decides nothing, and knows neither the store's commits nor how a refusal is worded.
 */
import type { Entry } from "../core/fact.ts"

/** Repeats that have no fact yet. */
export interface Owed {
  run: string
  /** The fact for them, with `repeats`. */
  entry: Entry
}

interface Kept {
  run: string
  /** The cause of the one that gets the fact. */
  first: string
  /** Redis' clock, ms. */
  since: number
  /** The last of those without a fact, and how many there are. */
  last?: Entry
  count: number
}

const MINUTE = 60_000

export class Repeats {
  readonly #kept = new Map<string, Kept>()
  readonly #owed: Owed[] = []

  get isEmpty(): boolean {
    return this.#kept.size === 0 && this.#owed.length === 0
  }

  /**
   * Whether this refusal is to be recorded at `now` (Redis' clock): nobody's like it was within a minute. Says the same
   * of the same attempt however often it is asked.
   */
  isFirst(run: string, entry: Entry, now: number): boolean {
    const key = keyOf(run, entry)
    const kept = this.#kept.get(key)
    if (kept && now - kept.since < MINUTE) return kept.first === entry.cause
    if (kept) this.#owed.push(...owedFor(kept))
    this.#kept.set(key, { run, first: entry.cause ?? "", since: now, count: 0 })
    return true
  }

  /** The first one could not be recorded: the next of its kind is. */
  notRecorded(run: string, entry: Entry): void {
    const key = keyOf(run, entry)
    const kept = this.#kept.get(key)
    if (!kept || kept.first !== entry.cause) return
    this.#kept.delete(key)
    this.#owed.push(...owedFor(kept))
  }

  /** One that is not the first was answered. */
  answered(run: string, entry: Entry): void {
    const kept = this.#kept.get(keyOf(run, entry))
    if (!kept) return
    kept.count += 1
    kept.last = entry
  }

  /** Takes what is owed for minutes that are over at `now`, or for all of them. */
  due(now = Number.POSITIVE_INFINITY): Owed[] {
    const over = [...this.#kept].filter(([, kept]) => now - kept.since >= MINUTE)
    for (const [key] of over) this.#kept.delete(key)
    return [...this.#owed.splice(0), ...over.flatMap(([, kept]) => owedFor(kept))]
  }
}

/** The last one stands for those before it. */
function owedFor({ run, last, count }: Kept): Owed[] {
  if (!last) return []
  return [{ run, entry: count > 1 ? { ...last, repeats: count - 1 } : last }]
}

const keyOf = (run: string, { by, ask = "", outcome = "" }: Entry): string =>
  JSON.stringify([run, by?.team, by?.user, ask, outcome])
