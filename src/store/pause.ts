/**
 * Whether Countersign is paused: one word for all processes, in every shard beside what it holds up. Knows neither who may
 * say it nor what it holds up.
 */
import { setTimeout as delay } from "node:timers/promises"
import { isRecord } from "../core/json.ts"
import type { Connection } from "./connection.ts"
import type { Shard } from "./keys.ts"

/** How long a look at it is believed, ms: two pulses, and what one may take. Older knowledge counts as a pause. */
export const BELIEVED = 3000

export interface Paused {
  /** Who said it, in words: somebody's name, or the command line. */
  by: string
  /** Redis' clock, ms. */
  at: number
}

/** Reads what stands in Redis; what can't be read is a pause all the same. */
export function pausedFrom(text: string | null): Paused | undefined {
  if (text === null || text === "") return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value) && typeof value["by"] === "string" && typeof value["at"] === "number") {
      return { by: value["by"], at: value["at"] }
    }
  } catch {
    // Somebody wrote it by hand, and meant it.
  }
  return { by: "somebody", at: 0 }
}

export class Pause {
  readonly #connection: Connection
  readonly #keys: readonly Shard[]

  constructor(connection: Connection, keys: readonly Shard[]) {
    this.#connection = connection
    this.#keys = keys
  }

  /** Now, not as of the last look. */
  async read(): Promise<Paused | undefined> {
    const get = (pause: string) => this.#connection.surely(() => this.#connection.at(pause).get(pause))
    const texts = await Promise.all(this.#keys.map(({ pause }) => get(pause)))
    return texts.map(pausedFrom).find((paused) => paused !== undefined)
  }

  /**
   * Begins a pause, or (`to` undefined) ends it, and has everything shown anew. A begun pause is one for all processes when
   * this resolves. When it is so already nothing is done; `before` is the pause that stood.
   */
  async turn(to: Paused | undefined): Promise<{ done: boolean; before: Paused | undefined }> {
    const before = await this.read()
    if ((before === undefined) === (to === undefined)) return { done: false, before }
    if (to) await this.begin(to)
    else await this.end()
    await this.showAll()
    // Until then a process may still begin something by what it knew before.
    if (to) await delay(BELIEVED)
    return { done: true, before }
  }

  /** Every process knows within a second, or takes it to be so. A pause that stands keeps who said it first. */
  async begin(paused: Paused): Promise<void> {
    for (const { pause } of this.#keys) {
      await this.#connection.surely(() => this.#connection.at(pause).set(pause, JSON.stringify(paused), "NX"))
    }
  }

  async end(): Promise<void> {
    for (const { pause } of this.#keys) await this.#connection.surely(() => this.#connection.at(pause).del(pause))
  }

  /** What people see may look different now: every run is shown anew, at Slack's pace. */
  async showAll(): Promise<void> {
    for (const { agenda, rest } of this.#keys) {
      let cursor = "0"
      do {
        cursor = String(await this.#connection.surely(() => this.#connection.run("showAll", [agenda, rest, cursor])))
      } while (cursor !== "0")
    }
  }
}
