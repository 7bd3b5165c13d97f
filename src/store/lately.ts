/**
 * What Redis lately acknowledged, kept for the case that it loses it: a failover to a replica that missed writes, a server that
 * died before its last second was on disk. Knows nothing of what the texts say.
 */

/** For how long it is kept, ms: longer than a replica that may be promoted is behind, and shorter than any ended run is kept. */
const LATELY = 60_000
/** Runs that are kept at most. */
const MOST = 10_000

interface Kept {
  at: number
  texts: Map<string, string>
}

export class Lately {
  /** By run, the one that changed last behind all others. */
  readonly #kept = new Map<string, Kept>()
  readonly #questioned = new Set<string>()
  readonly #now: () => number

  /** `now`: ms of a clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** A text of a run was acknowledged under that name; whether it is still there may be in question at once. */
  acknowledged(run: string, name: string, text: string, how?: "in question"): void {
    const texts = this.#kept.get(run)?.texts ?? new Map<string, string>()
    this.#kept.delete(run)
    this.#kept.set(run, { at: this.#now(), texts: texts.set(name, text) })
    this.#clear()
    if (how) this.#questioned.add(run)
  }

  /** Redis may have lost it all. */
  question(): void {
    this.#clear()
    for (const run of this.#kept.keys()) this.#questioned.add(run)
  }

  /** The runs that are yet to be compared with what Redis has. */
  inQuestion(): string[] {
    return [...this.#questioned]
  }

  /** What was acknowledged of a run in question, by name; nothing for any other. It is in question no longer. */
  taken(run: string): ReadonlyMap<string, string> {
    if (!this.#questioned.delete(run)) return new Map()
    return this.#kept.get(run)?.texts ?? new Map()
  }

  #clear(): void {
    for (const [run, { at }] of this.#kept) {
      if (this.#kept.size <= MOST && this.#now() - at <= LATELY) return
      this.#kept.delete(run)
      this.#questioned.delete(run)
    }
  }
}
