/** The configured Redis, for a command that starts no bot: opened, used, and let go of. Knows no command. */
import type { Config } from "../config.ts"
import { Store } from "../store/store.ts"

/** Resolves with what `use` does. Rejects when Redis doesn't answer, or was set up with another number of shards. */
export async function withStore<T>(redis: Config["redis"], use: (store: Store) => Promise<T>): Promise<T> {
  // Whoever reads or pauses waits for no replica, and writes no facts.
  const store = await Store.open({ ...redis, confirm: 0, outbox: false })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
