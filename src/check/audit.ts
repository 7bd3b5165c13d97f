/**
 * Verifying and exporting the audit for whoever types it: reads what was typed. What the facts say is told elsewhere; nothing
 * is changed.
 */
import { exportAudit, type Exported } from "../audit/export.ts"
import { verifyAudit, type Checkpoint, type Verified } from "../audit/verifying.ts"
import type { Reading } from "../config.ts"
import { durationOf } from "../config/forms.ts"
import { masksFor, policiesOf, policyOf } from "../work/guard.ts"
import { withStore } from "./opened.ts"

interface Given {
  run?: string | undefined
  since?: string | undefined
  count?: string | undefined
  root?: string | undefined
  shard?: string | undefined
}

/** Faults are whole sentences. Rejects when Redis doesn't answer. */
export async function auditVerify(reading: Reading, given: Given): Promise<Verified> {
  if (!reading.ok) return { lines: [], faults: reading.faults }
  const { redis } = reading.config
  const checkpoint = checkpointOf(given, redis.shards)
  if (typeof checkpoint === "string") return { lines: [], faults: [checkpoint] }
  return withStore(redis, (store) => verifyAudit(store, { run: given.run, checkpoint }))
}

/** Calls `print` for each fact, run by run. Returns what couldn't be exported. */
export async function auditExport(
  reading: Reading,
  { run, since }: Given,
  print: (one: Exported) => void,
): Promise<string[]> {
  if (!reading.ok) return reading.faults
  const { config } = reading
  return withStore(config.redis, async (store) => {
    const from = since === undefined ? 0 : sinceOf(since, await store.now())
    if (Number.isNaN(from))
      return ["--since takes a time, such as 2026-01-31 or 2026-01-31T12:00Z, or how long ago: 30m, 12h, 14d."]
    const faults: string[] = []
    const policies = [policyOf(config), ...policiesOf(config).values()]
    const masksOf = (tool: string): string[] => masksFor(policies, tool)
    const showsArgs = config.audit?.args === "masked"
    for await (const one of exportAudit(store, { run, since: from, showsArgs, masksOf })) {
      print(one)
      if ("error" in one) faults.push(`Run ${one.run}: ${one.error}.`)
    }
    return faults
  })
}

/** Undefined when none was given; a fault when it can't be one. */
function checkpointOf({ count, root, shard }: Given, shards: number): Checkpoint | string | undefined {
  if ([count, root, shard].every((one) => one === undefined)) return undefined
  if (count === undefined || root === undefined)
    return "--count and --root go together: both stand in the checkpoint in the audit channel."
  if (!/^\d{1,15}$/.test(count)) return "--count takes the number of lines that stands in the checkpoint."
  if (!/^[\da-f]{64}$/i.test(root)) return "--root takes the 64 hex digits that stand in the checkpoint."
  const number = shardOf(shard ?? (shards === 1 ? "0" : ""), shards)
  return typeof number === "string" ? number : { shard: number, count: Number(count), root }
}

const shardOf = (text: string, shards: number): number | string =>
  /^\d{1,4}$/.test(text) && Number(text) < shards
    ? Number(text)
    : `--shard takes the shard that stands in the checkpoint, a number from 0 to ${shards - 1}.`

/** ms; NaN for what is neither a time nor a duration. */
function sinceOf(text: string, now: number): number {
  const ago = durationOf(text)
  if (ago.ok) return now - ago.ms
  return /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN
}
