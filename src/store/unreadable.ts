/**
 * Runs that can't be read, because something else wrote into their keys: each is told of once, with its remedy, and set
 * aside for a while, so that it holds up no other. Knows neither what is wrong in them nor how they are set aside.
 */
import { NewerFormat } from "../core/run.ts"
import type { Run } from "../core/run.ts"
import { readRun } from "../core/stored.ts"
import type { Log } from "./connection.ts"

/** How long such a run is left alone, ms; it may have been restored by then. */
export const ASIDE = 600_000

/** A run that is there and can't be read. Its message quotes nothing: what is there may be people's texts. */
export class Unreadable extends Error {
  override name = "Unreadable"
}

/** Reads a stored state. Throws NewerFormat, or Unreadable in place of an error that quotes it. */
export function runFrom(state: string | null | undefined): Run {
  try {
    return readRun(state ?? "")
  } catch (error) {
    throw error instanceof NewerFormat ? error : new Unreadable("the run can't be read in Redis")
  }
}

/** The same; undefined for what can't be read. */
export function readable(state: string | null | undefined): Run | undefined {
  try {
    return runFrom(state)
  } catch {
    return undefined
  }
}

/** So many are remembered to have been told of. */
const MOST = 10_000

export class UnreadableRuns {
  readonly #log: Log | undefined
  readonly #keyOf: (id: string) => string
  readonly #told = new Set<string>()

  constructor(log: Log | undefined, keyOf: (id: string) => string) {
    this.#log = log
    this.#keyOf = keyOf
  }

  tell(id: string): void {
    if (this.#told.has(id)) return
    if (this.#told.size >= MOST) this.#told.clear()
    this.#told.add(id)
    this.#log?.error(
      { run: id, key: this.#keyOf(id) },
      "a run can't be read and is set aside: restore its key in Redis from a backup, or delete it to give the run up; it is looked at again every ten minutes",
    )
  }
}
