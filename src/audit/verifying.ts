/**
 * What the facts in Redis say when they are checked, told to whoever has to rely on them: no more than can be known from
 * there. Changes nothing.
 */
import type { Store } from "../store/store.ts"
import { reachedOf, type Reached } from "./audit.ts"
import { verify, type Verdict } from "./journal.ts"

/** A checkpoint as it stands in the audit channel. */
export interface Checkpoint {
  shard: number
  count: number
  /** Hex. */
  root: string
}

export interface Verified {
  lines: string[]
  /** What is broken or missing, as whole sentences; empty when nothing is. */
  faults: string[]
}

/** One run, or all that Redis holds; and the checkpoint given, against what the audit stored of its shard. */
export async function verifyAudit(
  store: Store,
  { run, checkpoint }: { run?: string | undefined; checkpoint?: Checkpoint | undefined },
): Promise<Verified> {
  const chains = run === undefined ? await allChains(store) : await oneChain(store, run)
  const shards = checkpoint === undefined && run !== undefined ? [] : await shardsOf(store, checkpoint)
  return {
    lines: [...chains.lines, ...shards.flatMap(({ lines }) => lines), "", ...LIMITS],
    faults: [...chains.faults, ...shards.flatMap(({ faults }) => faults)],
  }
}

/** What no check of Redis alone can say. */
const LIMITS = [
  "An unbroken chain shows that no fact was changed, taken out or put between others by itself. Whoever can write to Redis could",
  "still chain a run's facts anew, or delete a run as a whole: compare with the lines and checkpoints in the audit channel.",
]

async function oneChain(store: Store, run: string): Promise<Verified> {
  const verdict = await verify(store, run)
  const fault = faultOf(run, verdict)
  if (fault !== undefined) return { lines: [], faults: [fault] }
  const { facts, tip } = verdict as Extract<Verdict, { kind: "whole" }>
  return { lines: [`Run ${run}: ${counted(facts, "fact")}, the chain is unbroken. The last is ${tip}.`], faults: [] }
}

/** Runs that are looked at together: each takes a few round trips. */
const TOGETHER = 50

async function allChains(store: Store): Promise<Verified> {
  const faults: string[] = []
  let runs = 0
  let facts = 0
  for await (const ids of inPieces(store)) {
    const verdicts = await Promise.all(ids.map(async (id) => ({ id, verdict: await verify(store, id) })))
    for (const { id, verdict } of verdicts) {
      // It was deleted, as ended runs are, after it was listed.
      if (verdict.kind === "no such run") continue
      const fault = faultOf(id, verdict)
      runs += 1
      if (fault !== undefined) faults.push(fault)
      else if (verdict.kind === "whole") facts += verdict.facts
    }
  }
  const whole = `${counted(runs - faults.length, "run")} of ${runs} verified, with ${counted(facts, "fact")}`
  return {
    lines: [`${whole}: ${faults.length === 0 ? "each chain is unbroken" : "their chains are unbroken"}.`],
    faults,
  }
}

async function* inPieces(store: Store): AsyncGenerator<string[], void, undefined> {
  let piece: string[] = []
  for await (const id of store.runs()) {
    piece.push(id)
    if (piece.length < TOGETHER) continue
    yield piece
    piece = []
  }
  yield piece
}

function faultOf(run: string, verdict: Verdict): string | undefined {
  switch (verdict.kind) {
    case "whole":
      return undefined
    case "broken":
      return `Run ${run}: the chain breaks at fact ${verdict.at}: it is missing, was altered, or does not follow fact ${verdict.at - 1}. What comes after it proves nothing.`
    case "no such run":
      return `Run ${run}: Redis holds no such run; it may have been deleted after redis.keepEnded.`
    case "unreadable":
      return `Run ${run}: it can't be read in Redis, so its chain can't be verified: restore its key from a backup.`
    case "newer":
      return `Run ${run}: a newer release stored it: verify it with that release.`
  }
}

async function shardsOf(store: Store, checkpoint: Checkpoint | undefined): Promise<Verified[]> {
  const shards = checkpoint ? [checkpoint.shard] : Array.from({ length: store.shards }, (_, shard) => shard)
  return Promise.all(
    shards.map(async (shard) => {
      const reached = reachedOf(await store.outbox.audit(shard))
      return checkpoint ? compared(checkpoint, reached) : { lines: told(shard, reached), faults: [] }
    }),
  )
}

function told(shard: number, { lines, root, checkpoint, checkpointRoot }: Reached): string[] {
  if (lines === 0) return [`Shard ${shard}: no line was posted to an audit channel yet.`]
  const last =
    checkpointRoot === "" ? [] : [`  last checkpoint: shard ${shard} · ${checkpoint} lines · root ${checkpointRoot}`]
  return [
    `Shard ${shard}, as Redis holds it; compare with the latest checkpoint in the audit channel, or give it by --count and --root:`,
    `  now: shard ${shard} · ${lines} lines · root ${root}`,
    ...last,
  ]
}

/** Only at two counts does Redis know the root: at the last checkpoint, and now. */
function compared({ shard, count, root }: Checkpoint, reached: Reached): Verified {
  const known = new Map([
    [reached.checkpoint, reached.checkpointRoot],
    [reached.lines, reached.root],
  ])
  const own = known.get(count)
  if (own === root.toLowerCase() && count > 0) {
    return { lines: [`Shard ${shard}: the checkpoint of ${count} lines is the one that Redis holds.`], faults: [] }
  }
  return { lines: [], faults: [differing({ shard, count, root }, reached, own)] }
}

function differing({ shard, count }: Checkpoint, { lines, checkpoint }: Reached, own: string | undefined): string {
  if (count > lines) {
    return `Shard ${shard}: the channel had ${count} lines, Redis knows of ${lines}: facts were lost or taken out since, as by a backup that was restored or a failover.`
  }
  if (own !== undefined && own !== "") {
    return `Shard ${shard}: the root of ${count} lines is ${own} in Redis, and another in the channel: one of the two was altered.`
  }
  return `Shard ${shard}: Redis knows no root of ${count} lines any more, so nothing can be said: give the latest checkpoint in the channel${checkpoint > 0 ? `, that of ${checkpoint} lines` : ""}.`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
