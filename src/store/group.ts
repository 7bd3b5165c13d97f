/**
 * Sends what is committed in one turn of the event loop as one call of the script for each shard: with many runs at once,
 * what each call costs besides is much of the cost. Each commit stands or falls alone. Knows neither what a commit says nor
 * what becomes of it.
 */
import { callOf, type Sent } from "./commit.ts"
import type { Connection } from "./connection.ts"

/** Few enough that Redis works on one call while the next is made, and its reply is dealt with while Redis has another. */
const MOST = 8
/** More than usual commits have; a long one goes alone. */
const MOST_ARGS = 1500

interface Waiting {
  sent: Sent
  resolve: (reply: unknown) => void
  reject: (error: Error) => void
}

export class Group {
  readonly connection: Connection
  /** By the shard's tag; there are few, and an entry stays. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(connection: Connection) {
    this.connection = connection
  }

  /** The script's reply about this commit; rejects with what Redis, or the connection, says against it. */
  commit(sent: Sent): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiting = { sent, resolve, reject }
      const { tag } = sent.shard
      const group = this.#waiting.get(tag) ?? []
      if (group.push(waiting) > 1) return
      this.#waiting.set(tag, group)
      process.nextTick(() => this.#send(group.splice(0)))
    })
  }

  #send(all: readonly Waiting[]): void {
    for (let from = 0; from < all.length;) {
      let to = from
      let args = 0
      do args += all[to++]?.sent.args.length ?? 0
      while (to < all.length && to - from < MOST && args + (all[to]?.sent.args.length ?? 0) <= MOST_ARGS)
      void this.#call(all.slice(from, to))
      from = to
    }
  }

  async #call(part: readonly Waiting[]): Promise<void> {
    try {
      const replies = (await this.connection.run("commit", callOf(part.map(({ sent }) => sent)))) as unknown[]
      for (const [index, { sent, resolve, reject }] of part.entries()) {
        const refused = this.connection.refusalIn(replies[index], sent.shard.agenda)
        if (refused) reject(refused)
        else resolve(replies[index])
      }
    } catch (error) {
      for (const { reject } of part) reject(error as Error)
    }
  }
}
