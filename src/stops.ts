/** How the parts of a bot end: in groups, one group after the other, whatever becomes of each part. Knows no part. */
import type { Log } from "./log.ts"

/** May take so many ms. */
export type Stop = (ms: number) => Promise<void>

/** In the order in which they end. */
export interface Stops {
  /** What takes new things, from Slack and from the agenda: side by side, within one deadline. */
  doors: Stop[]
  /** What tells people and the audit of it. */
  tellers: Stop[]
  /** What all of these need. */
  ground: Stop[]
}

/** Each is stopped once. */
export async function stopAll({ doors, tellers, ground }: Stops, ms: number, log: Log): Promise<void> {
  for (const group of [doors, tellers, ground]) {
    for (const ended of await Promise.allSettled(group.splice(0).map((stop) => stop(ms)))) {
      if (ended.status === "rejected") log.error({ err: ended.reason }, "something could not be ended in order")
    }
  }
}
