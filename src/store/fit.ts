/** Whether a Redis is one that this bot can live in, as it is set up. Knows no run. */
import type { Connection } from "./connection.ts"
import { healthOf, isNewEnough } from "./health.ts"
import { metaKey } from "./keys.ts"

/** Fixes the number of shards at the first start. Rejects with a remedy when Redis is too old, or was set up with another number. */
export async function mustFit(connection: Connection, prefix: string, shards: number): Promise<void> {
  const { version } = await healthOf(connection)
  if (version !== "" && !isNewEnough(version)) {
    throw new Error(`Redis ${version} is too old: Countersign needs Redis 6.2 or newer, or Valkey.`)
  }
  const key = metaKey(prefix)
  await connection.surely(() => connection.at(key).hsetnx(key, "shards", String(shards)))
  const fixed = await connection.surely(() => connection.at(key).hget(key, "shards"))
  if (fixed !== String(shards)) {
    throw new Error(
      `This Redis holds runs under the prefix "${prefix}" in ${fixed} shards, and that can't be changed: ` +
        `set redis.shards to ${fixed}, or begin anew with another redis.prefix (now: redis.shards is ${shards}).`,
    )
  }
}
