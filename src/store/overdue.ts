/**
 * Finds the runs of which an open ask is overdue or to be reminded of, however much else is due. Knows the layout; what
 * becomes of such a run is not known here.
 */
import { FORMAT } from "../core/run.ts"
import type { Clock } from "./clock.ts"
import type { Connection } from "./connection.ts"
import type { Shard } from "./keys.ts"
import { dueAt } from "./show.ts"
import { readable } from "./unreadable.ts"
import type { Loaded } from "./waiting.ts"

/** Some of those that are overdue. They are leased to nobody, and put off for a while: a commit says when each is due. */
export interface Overdue {
  runs: (Loaded & { id: string })[]
  /** Whether there may be more. */
  more: boolean
  /** In how many ms another one will be; undefined: of none it is known. */
  nextIn: number | undefined
}

/** How long others leave such a run alone, ms: should we die before our commit, it is found again after that. */
const PUT_OFF = 5000

/** All that is overdue, over all shards, up to `atMost` at a time. */
export async function* overdue(
  connection: Connection,
  shards: readonly Shard[],
  clock: Clock,
  atMost: number,
): AsyncGenerator<Overdue, void, undefined> {
  for (const [index, { agenda, run }] of shards.entries()) {
    const limits = [run, String(FORMAT), String(atMost), String(PUT_OFF)]
    for (let from = "0"; from !== "";) {
      const args = [agenda, ...limits, from]
      const [now, goOn, next, ...entries] = replied(await connection.surely(() => connection.run("overdue", args)))
      clock.saw(now)
      from = String(goOn)
      const due = dueAt(next)
      yield {
        runs: runsOf(entries, now),
        more: from !== "" || index < shards.length - 1,
        nextIn: due === undefined ? undefined : due - now,
      }
    }
  }
}

type Entry = [id: string, revision: number, state: string | null]

const replied = (reply: unknown) => reply as [now: number, goOn: string | number, next: string, ...Entry[]]

/** Of what can't be read, whoever claims it tells. */
function runsOf(entries: readonly Entry[], now: number): Overdue["runs"] {
  const seenAt = performance.now()
  return entries.flatMap(([id, revision, state]) => {
    const run = readable(state)
    return run ? [{ id, run, revision, now, seenAt }] : []
  })
}
