/**
 * `npm run matrix`: the long form. Prints a table of lives and what was killed in them, and each failure with how to repeat
 * it. Needs REDIS_URL, a Redis of its own. Ends with 1 when a promise was broken or a border never came up.
 */
import { parseArgs } from "node:util"
import { kindOf, loops, sideOf } from "./border.ts"
import { LIVES, lifeOf } from "./lives.ts"
import { longForm, printed, say } from "./long-form.ts"
import { again, bordersOf, each, isReader, sampled, seeded, shuffled, tried } from "./matrix.ts"
import type { CellOf, Result, Variant } from "./matrix.ts"

const { values } = parseArgs({
  options: {
    life: { type: "string", multiple: true },
    border: { type: "string", multiple: true },
    alone: { type: "boolean" },
    pair: { type: "boolean" },
    /** Only so many per cent of all, those that the seed picks. */
    share: { type: "string", default: "100" },
    /** None at which nothing changes: those are the same as what comes before them, and are killed last else. */
    writers: { type: "boolean" },
    /** Begins no kill after so long. */
    minutes: { type: "string", default: "600" },
    /** One of each wire and side, as the test does it. */
    sample: { type: "boolean" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    "at-once": { type: "string", default: "24" },
    /** How many bots share a process. */
    seats: { type: "string", default: "12" },
    list: { type: "boolean" },
  },
})
const seed = Number(values.seed)
const atOnce = Number(values["at-once"])
const lives = values.life?.map(lifeOf) ?? LIVES
const variants: Variant[] = values.alone ? ["alone"] : values.pair ? ["pair"] : ["alone", "pair"]
const { ground, began, elapsed, close } = await longForm("matrix", Number(values.seats))

const next = seeded(seed)
const cells: CellOf[] = []
const seen = new Map<string, number>()
let wrong = 0
const found = lives.flatMap((life) => variants.map((variant) => ({ life, variant })))
await each(found, atOnce, async ({ life, variant }) => {
  const { borders, findings } = await bordersOf(ground, life, variant)
  seen.set(`${life.name} ${variant}`, borders.length)
  if (findings.length > 0)
    complain({ life, variant, border: "", met: true, findings, seconds: 0, folder: ground.folder })
  const wanted = values.border ?? (values.sample ? sampled(borders, next) : borders)
  cells.push(...wanted.map((border) => ({ life, variant, border })))
  if (values.list) say(borders.map((border) => `${life.name} ${variant}: ${border}`).join("\n"))
})
const all = [...seen.values()].reduce((sum, count) => sum + count, 0)
const mixed = shuffled(cells, next).filter(() => next(100) < Number(values.share))
/** What has a reason first, then what loops write, then where nothing changes. */
const classes = [0, 1, 2].map((place) => mixed.filter(({ border }) => placeOf(border) === place))
const picked = classes.slice(0, values.writers ? 2 : 3).flat()
const counts = classes.map(({ length }) => length).join(" + ")
say(`${all} borders in ${lives.length} lives, found in ${elapsed()}: ${counts} to kill at; seed ${seed}`)

const results: Result[] = []
if (!values.list)
  await each(picked, atOnce, async (cell) => {
    if (performance.now() - began > Number(values.minutes) * 60_000) return
    const result = await tried(ground, cell)
    results.push(result)
    if (result.findings.length > 0) complain(result)
    if (results.length % 100 === 0) say(`${results.length} of ${picked.length} in ${elapsed()}, ${wrong} with findings`)
  })
if (results.length > 0) table()
const unmet = results.filter(({ met }) => !met)
for (const one of unmet) say(`not met: ${again(one)}`)
say(
  `${results.length} kills in ${elapsed()}: ${wrong} with findings, ${unmet.length} whose border did not come up again`,
)
close(wrong > 0)
process.exit(wrong === 0 && unmet.length <= results.length / 50 ? 0 : 1)

function placeOf(border: string): number {
  if (isReader(border, ground)) return 2
  return loops(border) ? 1 : 0
}

function complain(result: Result): void {
  const { life, variant, border, findings, folder: where } = result
  wrong += 1
  say(`\n${life.name}, ${variant}, killed at “${border}”:`)
  for (const one of findings) say(`  - ${one.slice(0, 3000)}`)
  say(`  again: ${again(result)}\n  its logs: ${where}`)
}

/** A row a life and variant: how often it was killed at each kind of border, before and after, and how that went. */
function table(): void {
  const wires = ["redis", "slack", "model", "tool", "envelope", "ack"]
  const heads = ["life", "variant", "borders", ...wires.map((wire) => wire), "killed", "failed", "not met", "seconds"]
  const rows = found.map(({ life, variant }) => {
    const own = results.filter((result) => result.life === life && result.variant === variant)
    const of = (wire: string): string => {
      const there = own.filter(({ border }) => kindOf(border).split(" ", 1)[0] === wire)
      const before = there.filter(({ border }) => sideOf(border) === "before").length
      return there.length === 0 ? "-" : `${before}+${there.length - before}`
    }
    const seconds = own.reduce((sum, one) => sum + one.seconds, 0) / Math.max(own.length, 1)
    const failed = own.filter(({ findings }) => findings.length > 0).length
    const counts = [own.length, failed, own.filter(({ met }) => !met).length, seconds.toFixed(1)]
    return [life.name, variant, seen.get(`${life.name} ${variant}`) ?? 0, ...wires.map(of), ...counts].map(String)
  })
  printed(heads, rows)
  say("redis to ack: kills before + after · seconds: mean of one life, waiting included")
}
