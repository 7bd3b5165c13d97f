/**
 * What was made of long texts lately. Every message of a run is looked at again whenever one of them may be missing, and what
 * is made of a long text takes a while each time. Knows neither the texts nor what is made of them.
 */

import { sha256 } from "../../core/digest.ts"

/** Shorter texts are not worth it. */
const LONG = 4000
const MOST = 32

export class Kept<T> {
  readonly #made = new Map<string, T>()

  /** `make` must be a pure function of `of`: texts, and settings. */
  get(of: readonly (string | number | boolean | readonly string[])[], make: () => T): T {
    if (lengthOf(of) < LONG) return make()
    const key = sha256(JSON.stringify(of))
    const one = this.#made.get(key) ?? make()
    this.#made.delete(key)
    this.#made.set(key, one)
    const [oldest] = this.#made.keys()
    if (this.#made.size > MOST && oldest !== undefined) this.#made.delete(oldest)
    return one
  }
}

const lengthOf = (of: readonly unknown[]): number =>
  of.reduce<number>((sum, one) => sum + (typeof one === "string" ? one.length : 0), 0)
