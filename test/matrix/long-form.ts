/**
 * What the long forms have in common, that of the matrix and that of the faults: the ground that everything is tried on, a
 * clock, and how a table is printed. Knows no life, no border and no fault. Needs REDIS_URL.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Redis } from "ioredis"
import { Fleet } from "./fleet.ts"
import type { Ground } from "./matrix.ts"
import { readersOf } from "./redis-wire.ts"

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

export interface LongForm {
  ground: Ground
  /** `performance.now()` then. */
  began: number
  /** Since then, in words. */
  elapsed(): string
  /** Ends every process; the folder stays when there is something to look at in it. */
  close(keep: boolean): void
}

/** `seats`: how many bots share a process. */
export async function longForm(name: string, seats: number): Promise<LongForm> {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`))
  const fleet = new Fleet(seats)
  const redisUrl = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379"
  const redis = new Redis(redisUrl)
  const readers = await readersOf(redis)
  redis.disconnect()
  const began = performance.now()
  return {
    ground: { fleet, redisUrl, readers, folder },
    began,
    elapsed: () => `${Math.round((performance.now() - began) / 1000)} s`,
    close(keep) {
      fleet.close()
      if (!keep) rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function printed(heads: readonly string[], rows: readonly string[][]): void {
  const widths = heads.map((head, index) => Math.max(head.length, ...rows.map((row) => (row[index] ?? "").length)))
  for (const row of [heads, ...rows]) say(row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  "))
}
