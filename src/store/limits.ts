/**
 * How many runs may be at once: lists of limited length, in which a run has its place from before it is stored until it has
 * ended. Knows the lists, and neither whose they are nor what is said to whoever finds one full.
 */
import type { Connection } from "./connection.ts"
import type { Shard } from "./keys.ts"

export interface Limit {
  /** Name of the list, as `indexesOf` has it. */
  index: string
  most: number
}

/** The list that is full, and its length. */
export type Full = Limit & { count: number }

/**
 * Gives a run its place in the lists, in all or in none; undefined when it has it, also when it was stored before. Exact
 * within a shard, however many start at once. Of several shards each knows what the others had a moment ago: what starts in
 * two of them in the same moment may be one too many.
 */
export async function admit(
  connection: Connection,
  shards: readonly Shard[],
  { id, keys, limits }: { id: string; keys: Shard; limits: readonly Limit[] },
): Promise<Full | undefined> {
  const others = shards.filter((shard) => shard !== keys)
  const elsewhere = await Promise.all(limits.map(({ index }) => countIn(connection, others, index)))
  const most = limits.flatMap((limit, n) => [limit.index, String(limit.most - (elsewhere[n] ?? 0))])
  const args = [keys.run + id, keys.index, id, keys.run, ...most]
  const [which, count = 0] = (await connection.surely(() => connection.run("admit", args))) as [number, number?]
  const full = limits[which - 1]
  return full && { ...full, count: count + (elsewhere[which - 1] ?? 0) }
}

/** Whether a list is full for one more, without giving it a place; undefined when none is. */
export async function fullOne(
  connection: Connection,
  shards: readonly Shard[],
  limits: readonly Limit[],
): Promise<Full | undefined> {
  const counts = await Promise.all(limits.map(({ index }) => countIn(connection, shards, index)))
  const full = limits.map((limit, n): Full => ({ ...limit, count: counts[n] ?? 0 }))
  return full.find(({ most, count }) => count >= most)
}

async function countIn(connection: Connection, shards: readonly Shard[], index: string): Promise<number> {
  const counts = shards.map(({ index: before }) => {
    const key = before + index
    return connection.surely(() => connection.at(key).zcard(key))
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}
