/**
 * The outbox of facts on their way to the audit channel, and how far the audit came with it. Knows neither the lines nor
 * the root: the audit's fields are the caller's.
 */
import type { Connection } from "./connection.ts"
import type { Shard } from "./keys.ts"

export interface Outgoing {
  /** Position in the outbox; later entries have greater ones. */
  entry: string
  run: string
  /** JSON text of the fact, byte for byte as it was chained. */
  fact: string
}

export class Outbox {
  readonly #connection: Connection
  readonly #shards: readonly Shard[]

  constructor(connection: Connection, shards: readonly Shard[]) {
    this.#connection = connection
    this.#shards = shards
  }

  /** At most `count` entries after a position, in order; "" is the beginning. */
  async read(shard: number, after: string, count: number): Promise<Outgoing[]> {
    const { outbox } = this.#keys(shard)
    const from = after === "" ? "-" : `(${after}`
    const entries = await this.#connection.surely(() =>
      this.#connection.at(outbox).xrange(outbox, from, "+", "COUNT", count),
    )
    return entries.map(([entry, fields]) => ({ entry, run: fieldOf(fields, "run"), fact: fieldOf(fields, "fact") }))
  }

  /** How far the audit came, as `advance` stored it. */
  audit(shard: number): Promise<Record<string, string>> {
    const { audit } = this.#keys(shard)
    return this.#connection.surely(() => this.#connection.at(audit).hgetall(audit))
  }

  /**
   * Stores fields of the audit and trims the outbox through the entry given, in one step. False: the lease `audit` is not
   * `owner`'s (any more), and nothing was changed.
   */
  async advance(shard: number, owner: string, fields: Record<string, string>, trimThrough = ""): Promise<boolean> {
    const keys = this.#keys(shard)
    const keep = trimThrough === "" ? "" : following(trimThrough)
    const args = [`${keys.lease}audit`, keys.audit, keys.outbox, owner, keep, ...Object.entries(fields).flat()]
    return (await this.#connection.surely(() => this.#connection.run("auditAdvance", args))) === 1
  }

  #keys(shard: number): Shard {
    const keys = this.#shards[shard]
    if (!keys) throw new RangeError(`there is no shard ${shard}`)
    return keys
  }
}

/** The smallest position after `entry`. */
function following(entry: string): string {
  const [ms = "", sequence = "0"] = entry.split("-")
  return `${ms}-${BigInt(sequence) + 1n}`
}

function fieldOf(fields: readonly string[], name: string): string {
  const at = fields.indexOf(name)
  return (at % 2 === 0 ? fields[at + 1] : undefined) ?? ""
}
