/**
 * Which run lives in a thread of Slack's, by the list that each channel has of them. Knows neither Slack nor what is said there.
 */
import { hungOn, placeOf } from "../core/run.ts"
import type { Connection } from "./connection.ts"
import type { Shard } from "./keys.ts"
import type { Loaded } from "./waiting.ts"

/** The ids of those that are listed there: one command a shard. */
export async function hungAt(
  connection: Connection,
  shards: readonly Shard[],
  channel: string,
  ts: string,
): Promise<string[]> {
  const place = String(placeOf(ts))
  const found = shards.map(({ index }) => {
    const key = index + hungOn(channel)
    return connection.surely(() => connection.at(key).zrangebyscore(key, place, place))
  })
  return (await Promise.all(found)).flat()
}

/** The one that lives there; of several the newest. */
export function liveIn(runs: readonly (Loaded | undefined)[], channel: string, ts: string): Loaded | undefined {
  const live = runs.filter((loaded) => loaded !== undefined)
  return live.filter(({ run }) => run.channel === channel && run.thread === ts).sort((a, b) => b.run.at - a.run.at)[0]
}
