/**
 * The matrix: every life, killed at every border that it was seen to pass, with one bot that is started again and with a second
 * one alive. It finds the borders, lives the lives, several at once, and counts.
 */
import { join } from "node:path"
import { kindOf, sideOf, type Side } from "./border.ts"
import type { Fleet } from "./fleet.ts"
import type { Life } from "./lives.ts"
import { lived, type Lived } from "./living.ts"

/** alone: it is started again after its death · pair: another one is alive all the time. */
export type Variant = "alone" | "pair"

/** What everything is tried in. */
export interface Ground {
  fleet: Fleet
  redisUrl: string
  /** As `readersOf` finds them there. */
  readers: ReadonlySet<string>
  /** A folder for the cells' own. */
  folder: string
}

export interface CellOf {
  life: Life
  variant: Variant
  border: string
}

export interface Result extends CellOf {
  /** Whether the border came up; else nothing was tried. */
  met: boolean
  findings: string[]
  seconds: number
  folder: string
}

/** How often a life is lived for a border that doesn't come up. */
const TRIES = 3

let folders = 0

async function live(
  ground: Ground,
  life: Life,
  variant: Variant,
  border?: string,
): Promise<Lived & { folder: string }> {
  const folder = join(ground.folder, `${life.name.replaceAll(" ", "-")}-${(folders += 1)}`)
  const fate = (label: string | undefined) => (label !== undefined && label === border ? "dead" : "pass")
  return { ...(await lived({ ...ground, folder, life, pair: variant === "pair", fate })), folder }
}

/** The borders of an undisturbed life, in order; with what is wrong with it, which must be nothing. */
export async function bordersOf(
  ground: Ground,
  life: Life,
  variant: Variant,
): Promise<{ borders: string[]; findings: string[] }> {
  const { labels, findings } = await live(ground, life, variant)
  return { borders: labels.filter((label) => sideOf(label) === "before" || !isSame(label, ground)), findings }
}

/** A tool's gate has one side. To die after reading is to die before whatever comes next. */
const isSame = (label: string, ground: Ground): boolean => label.startsWith("tool ") || isReader(label, ground)

/** Methods of Slack's that change nothing. */
const ASKS = /^(auth|bots|conversations|team|usergroups|users)\.|^chat\.getPermalink$|^apps\.connections\.open$/

/** Whether it is one at which nothing changes: to die there is to die after whatever changed something before it. */
export function isReader(label: string, { readers }: Pick<Ground, "readers">): boolean {
  const [wire, name = ""] = kindOf(label).split(" ")
  return (wire === "redis" && readers.has(name)) || (wire === "slack" && ASKS.test(name))
}

/** Kills at the border, and looks what becomes of the life. */
export async function tried(ground: Ground, { life, variant, border }: CellOf): Promise<Result> {
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  const meant = life.after === undefined ? 1 : 2
  for (let attempt = 1; ; attempt++) {
    try {
      const { findings, folder, deaths } = await live(ground, life, variant, border)
      const met = deaths === meant
      if (met || findings.length > 0 || attempt === TRIES)
        return { life, variant, border, met, findings, seconds: seconds(), folder }
    } catch (error) {
      const findings = [`broke: ${error instanceof Error ? error.message : String(error)}`]
      return { life, variant, border, met: true, findings, seconds: seconds(), folder: ground.folder }
    }
  }
}

/** Does something with each of a list, `atOnce` at a time. */
export async function each<T>(list: readonly T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const queue = [...list]
  const worker = async (): Promise<void> => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** A row of numbers that looks random and is the same for one seed: `next(n)` is from 0 to n - 1. */
export function seeded(seed: number): (n: number) => number {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n
  }
}

/** Of each wire and side the one whose turn it is by the seed. */
export function sampled(borders: readonly string[], next: (n: number) => number): string[] {
  const groups = new Map<string, string[]>()
  for (const border of borders) {
    const key: `${string} ${Side}` = `${border.split(" ", 1)[0] ?? ""} ${sideOf(border)}`
    groups.set(key, [...(groups.get(key) ?? []), border])
  }
  return [...groups.values()].flatMap((group) => group[next(group.length)] ?? [])
}

/** The list in an order that looks random. */
export function shuffled<T>(list: readonly T[], next: (n: number) => number): T[] {
  const left = [...list]
  return list.flatMap(() => left.splice(next(left.length), 1))
}

/** The command that tries it once more. */
export const again = ({ life, border, variant }: CellOf): string =>
  `npm run matrix -- --life "${life.name}" --border "${border}" --${variant} --seats 1`
