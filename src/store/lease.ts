/**
 * What a commit does with the run's lease, and what its next worker is given along with it. Knows the run's needs, and
 * neither Redis nor who works.
 */
import { needsOf, wakeAt } from "../core/run.ts"
import type { Run, Step } from "../core/run.ts"

/** What an owner's commit does with the lease. `while due`: gives it back when it leaves nothing to do now. */
export type Lease = "keep" | "release" | "while due"

/** Who takes the lease with commits that leave something to do now. */
export interface Taker {
  owner: string
  leaseMs: number
  /** The commit is over: the lease was taken, or it wasn't. */
  over?: (() => void) | undefined
}

/** What a run's next worker needs, read along with its lease. */
export interface Needs {
  /** For a model turn: the transcript. */
  log?: string[]
  /** For its calls: texts by name. */
  texts: ReadonlyMap<string, string>
}

/** The lease as one commit leaves it; `owner` is empty for everybody who has none and takes none. */
export interface Leasing {
  what: "keep" | "release" | "take" | ""
  owner: string
  /** Of a lease that is taken. */
  ms: number
  /** To be called when the commit is over. */
  over?: (() => void) | undefined
}

/** For who commits; `now`: when the step was made. */
export function leasing(
  { owner, lease }: { owner: string; lease: Lease | "" } = { owner: "", lease: "" },
  step: Step,
  now: number,
  taker: () => Taker | undefined,
): Leasing {
  if (owner !== "") return { what: leaseAfter(lease, step, now), owner, ms: 0 }
  const taken = wakeAt(step.run) <= now ? taker() : undefined
  return taken
    ? { what: "take", owner: taken.owner, ms: taken.leaseMs, over: taken.over }
    : { what: "", owner: "", ms: 0 }
}

export function leaseAfter(lease: Lease | "", step: Step, now: number): "keep" | "release" | "" {
  if (lease !== "while due") return lease
  return wakeAt(step.run) <= now ? "keep" : "release"
}

/** Names of the texts that the run's next worker needs. */
export function textsFor(run: Run): string[] {
  const needs = needsOf(run)
  return needs === "transcript" ? [] : needs
}

/** Puts together what a commit or a claim returned for the next worker; what is missing is left out. */
export function needsFrom(
  names: readonly string[],
  texts: readonly (string | null | undefined)[],
  log: string[],
): Needs {
  const map = new Map<string, string>()
  for (const [index, name] of names.entries()) {
    const text = texts[index]
    if (typeof text === "string") map.set(name, text)
  }
  return { texts: map, ...(log.length > 0 ? { log } : {}) }
}
