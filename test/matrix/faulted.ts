/**
 * Lives with faults: which fault befalls which life at which border, and what came of it. The faults and the lives are data; the
 * judge is the matrix' own.
 */
import { join } from "node:path"
import { kindOf } from "./border.ts"
import type { Befalling, Fault } from "./faults.ts"
import type { Life } from "./lives.ts"
import { lived } from "./living.ts"
import type { Ground, Variant } from "./matrix.ts"
import { startOwnRedis } from "./own-redis.ts"

/** What befalls at which border: a fault, or the death of the bot. */
export interface Blow {
  fault: Fault | "killed"
  border: string
}

export interface Ordeal {
  life: Life
  variant: Variant
  blows: readonly Blow[]
}

export interface Outcome extends Ordeal {
  /** Whether every border came up; else not everything was tried. */
  met: boolean
  findings: string[]
  seconds: number
  folder: string
}

/** ms: a pause of 30 s, a Slack that hangs for a minute, and back-offs after both. */
const WITHIN = 300_000

let folders = 0

export const nameOf = ({ fault }: Blow): string => (fault === "killed" ? fault : fault.name)

export async function suffered(ground: Ground, { life, variant, blows }: Ordeal): Promise<Outcome> {
  const folder = join(ground.folder, `${life.name.replaceAll(" ", "-")}-faults-${(folders += 1)}`)
  const isOwn = blows.some(({ fault }) => fault !== "killed" && fault.own)
  const redis = isOwn ? await startOwnRedis(join(ground.folder, `redis-${folders}`)) : undefined
  const hits = new Set<Blow>()
  let befallings: Befalling[] | undefined
  const began = performance.now()
  const done = (met: boolean, findings: string[]): Outcome => {
    const seconds = (performance.now() - began) / 1000
    return { life, variant, blows, met, findings, seconds, folder }
  }
  try {
    const { findings } = await lived({
      ...ground,
      ...(redis ? { redisUrl: redis.url } : {}),
      folder,
      life,
      pair: variant === "pair",
      within: WITHIN,
      holdsUp: blows.some(({ fault }) => fault !== "killed" && fault.holdsUp === true),
      upsets: () => [...hits].filter(({ fault }) => fault !== "killed").length,
      fate: async (label, border, cell) => {
        befallings ??= blows.map(({ fault }) => (fault === "killed" ? dying : fault.begin({ cell, redis })))
        for (const [index, befalling] of befallings.entries()) {
          const blow = blows[index]
          const hit = blow !== undefined && !hits.has(blow) && label === blow.border
          if (hit) hits.add(blow)
          const fate = await befalling(border, hit)
          if (fate !== "pass") return fate
        }
        return "pass"
      },
    })
    return done(
      hits.size === blows.length,
      findings.filter((finding) => !isExcused(finding, blows)),
    )
  } catch (error) {
    return done(true, [`broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`])
  } finally {
    await redis?.stop()
  }
}

const dying: Befalling = (_, hit) => (hit ? "dead" : "pass")

const isExcused = (finding: string, blows: readonly Blow[]): boolean =>
  blows.some(({ fault }) => fault !== "killed" && fault.excuses?.some((excuse) => excuse.test(finding)))

/** One border of each kind that the fault may befall, or one of all. */
export function targetsOf({ at, per }: Fault, borders: readonly string[], next: (n: number) => number): string[] {
  const kinds = new Map<string, string[]>()
  for (const border of borders.filter((label) => at.test(label))) {
    const kind = per === "kind" ? kindOf(border) : ""
    kinds.set(kind, [...(kinds.get(kind) ?? []), border])
  }
  return [...kinds.values()].flatMap((kind) => kind[next(kind.length)] ?? [])
}

/** Every fault in every life where it may befall one; what befalls any one life, in one that the seed picks. */
export function ordealsOf(
  faults: readonly Fault[],
  lives: readonly { life: Life; borders: readonly string[] }[],
  next: (n: number) => number,
): Ordeal[] {
  return faults.flatMap((fault) => {
    const may = lives.filter(({ borders }) => borders.some((border) => fault.at.test(border)))
    const one = may[next(Math.max(may.length, 1))]
    const befallen = fault.per === "any" ? (one ? [one] : []) : may
    return befallen.flatMap(({ life, borders }) =>
      targetsOf(fault, borders, next).map((border): Ordeal => {
        const variant = next(2) === 0 ? "alone" : "pair"
        return { life, variant, blows: [{ fault, border }] }
      }),
    )
  })
}
