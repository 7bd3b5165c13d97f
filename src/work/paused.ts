/**
 * What this process knows of a pause, and how old that is: what was not looked at lately counts as paused, so that nothing
 * begins by old knowledge. It looks at nothing itself.
 */

import { BELIEVED } from "../store/pause.ts"

export class KnownPause {
  #paused = false
  #seenAt = -Infinity
  readonly #now: () => number

  /** `now`: ms of a clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** What a look that was begun at `askedAt` found. */
  saw(paused: boolean, askedAt: number): void {
    this.#paused = paused
    this.#seenAt = askedAt
  }

  get paused(): boolean {
    return this.#paused || this.#now() - this.#seenAt > BELIEVED
  }
}
