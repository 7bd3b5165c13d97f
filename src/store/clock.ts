/**
 * What time it is by Redis' clock, from its last replies: a step that is judged by it needs no question first. Deadlines
 * are judged by Redis itself all the same.
 */

/** Older sightings are not carried on: two clocks drift apart. ms. */
const FRESH = 5_000

export class Clock {
  #now = 0
  #seenAt = Number.NEGATIVE_INFINITY

  /** Redis just said that it is `now`, ms. */
  saw(now: number): void {
    this.#now = now
    this.#seenAt = performance.now()
  }

  /** ms; undefined when Redis was not heard of lately. */
  now(): number | undefined {
    const age = performance.now() - this.#seenAt
    return age < FRESH ? this.#now + Math.floor(age) : undefined
  }
}
