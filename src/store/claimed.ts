/**
 * Claims as data: what `lua/claim.lua` replied. Knows the layout, and neither when to claim nor what becomes of a run.
 */
import { needsFrom, type Needs } from "./lease.ts"
import { dueAt } from "./show.ts"
import { readable } from "./unreadable.ts"
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

/** A run that was claimed and can't be read. */
export interface Broken {
  id: string
  revision: number
}

/** What was claimed. `broken`: runs that can't be read; those without a revision are set aside already. */
export function claimed(reply: unknown): Claims & { broken: (string | Broken)[] } {
  const [now, next, ...entries] = reply as [number, string | number, ...ClaimedEntry[]]
  const seenAt = performance.now()
  const broken: (string | Broken)[] = []
  const runs = entries.flatMap((entry): Held[] => {
    if (typeof entry === "string") {
      broken.push(entry)
      return []
    }
    const [id, revision, state, previousOwner, transcript, names, texts] = entry
    const run = readable(state)
    if (!run) {
      broken.push({ id, revision })
      return []
    }
    const owned = previousOwner === "" ? {} : { previousOwner }
    return [{ id, now, seenAt, revision, run, ...owned, ...needsFrom(names, texts, transcript) }]
  })
  return { runs, now, next: dueAt(String(next)), broken }
}

type ClaimedEntry =
  | string
  | [
      id: string,
      revision: number,
      state: string | null,
      owner: string,
      log: string[],
      names: string[],
      texts: (string | null)[],
    ]
