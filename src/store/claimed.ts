/**
 * Claims as data: what `lua/claim.lua` replied. Knows the layout, and neither when to claim nor what becomes of a run.
 */
import type { Run } from "../core/run.ts"
import { readRun } from "../core/stored.ts"
import type { Log } from "./connection.ts"
import { needsFrom, type Needs } from "./lease.ts"
import { dueAt } from "./show.ts"
import type { Loaded } from "./waiting.ts"

export interface Held extends Loaded, Needs {
  id: string
  /** Who held it until the lease ran out. */
  previousOwner?: string
}

export type Claim = ({ kind: "run" } & Held) | { kind: "idle"; now: number; next: number | undefined }

export interface Claims {
  runs: Held[]
  now: number
  /** When something is due next, ms; undefined: nothing is. */
  next: number | undefined
}

/** What was claimed. A run whose state can't be read is left leased: it is tried again when that is over, and holds up no other. */
export function claimed(reply: unknown, log: Log | undefined): Claims {
  const [now, next, ...entries] = reply as [number, string | number, ...ClaimedEntry[]]
  const seenAt = performance.now()
  const runs = entries.flatMap(([id, revision, state, previousOwner, transcript, names, texts]): Held[] => {
    const run = readable(state)
    if (!run) {
      // Without the error: that of JSON.parse quotes the state, which is people's texts.
      log?.error({ run: id }, "the state of a run can't be read; it is tried again when its lease is over")
      return []
    }
    const owned = previousOwner === "" ? {} : { previousOwner }
    return [{ id, now, seenAt, revision, run, ...owned, ...needsFrom(names, texts, transcript) }]
  })
  return { runs, now, next: dueAt(String(next)) }
}

type ClaimedEntry = [
  id: string,
  revision: number,
  state: string,
  owner: string,
  log: string[],
  names: string[],
  texts: (string | null)[],
]

/** Undefined for what can't be read. */
export function readable(state: string): Run | undefined {
  try {
    return readRun(state)
  } catch {
    return undefined
  }
}
