/**
 * `npm run faults`: every fault in every life, or with `--random` lives with several faults and deaths each, from a seed. Prints a
 * table, and each failure with how to repeat it. Needs REDIS_URL. Ends with 1 when a promise was broken.
 */
import { parseArgs } from "node:util"
import { FAULTS, faultOf } from "./faults.ts"
import { nameOf, ordealsOf, suffered, type Blow, type Ordeal, type Outcome } from "./faulted.ts"
import { LIVES, lifeOf, type Life } from "./lives.ts"
import { longForm, printed, say } from "./long-form.ts"
import { bordersOf, each, seeded } from "./matrix.ts"
import { drawn } from "./random.ts"

const { values } = parseArgs({
  options: {
    life: { type: "string", multiple: true },
    fault: { type: "string", multiple: true },
    border: { type: "string", multiple: true },
    pair: { type: "boolean" },
    alone: { type: "boolean" },
    /** Only so many per cent of all, those that the seed picks. */
    share: { type: "string", default: "100" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    /** Lives with several blows each, for `minutes`, or only that of the seed. */
    random: { type: "boolean" },
    minutes: { type: "string" },
    "at-once": { type: "string", default: "12" },
    seats: { type: "string", default: "12" },
  },
})
const seed = Number(values.seed)
const { ground, began, elapsed, close } = await longForm("faults", Number(values.seats))
const outcomes: Outcome[] = []
let wrong = 0

const lives = values.life?.map(lifeOf) ?? LIVES
const known: { life: Life; borders: string[] }[] = []
if (values.border === undefined) {
  await each([...lives], Number(values["at-once"]), async (life) => {
    const { borders, findings } = await bordersOf(ground, life, "alone")
    known.push({ life, borders })
    if (findings.length > 0) say(`${life.name}, undisturbed: ${findings.join("; ")}`)
  })
  known.sort((a, b) => LIVES.indexOf(a.life) - LIVES.indexOf(b.life))
  say(`${known.reduce((sum, { borders }) => sum + borders.length, 0)} borders in ${lives.length} lives; seed ${seed}`)
}

if (values.random) await randomly()
else await each(wanted(), Number(values["at-once"]), (ordeal) => suffer(ordeal))
table()
const unmet = outcomes.filter(({ met }) => !met)
say(`${outcomes.length} lives in ${elapsed()}: ${wrong} with findings, ${unmet.length} whose border did not come up`)
close(wrong > 0)
process.exit(wrong === 0 ? 0 : 1)

/** What is asked for, in an order that the seed says. */
function wanted(): Ordeal[] {
  const variant = values.pair ? "pair" : "alone"
  if (values.border !== undefined) {
    const blows: Blow[] = values.border.map((border, index) => ({ fault: killedOr(values.fault?.[index]), border }))
    return lives.map((life) => ({ life, variant, blows }))
  }
  const faults = values.fault?.map(faultOf) ?? FAULTS
  const next = seeded(seed)
  const all = ordealsOf(faults, known, next).filter(() => next(100) < Number(values.share))
  const mixed = all.map((ordeal) => ({ ordeal, at: next(1_000_000) })).sort((a, b) => a.at - b.at)
  return mixed.map(({ ordeal }) => (values.pair || values.alone ? { ...ordeal, variant } : ordeal))
}

function killedOr(name = "killed"): Blow["fault"] {
  return name === "killed" ? name : faultOf(name)
}

/** Lives of seed, seed + 1, …: each can be repeated by its own. */
async function randomly(): Promise<void> {
  if (values.minutes === undefined) return suffer(drawn(seed, known), seed)
  const until = began + Number(values.minutes) * 60_000
  let turn = seed
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      const own = turn++
      await suffer(drawn(own, known), own)
    }
  }
  await Promise.all(Array.from({ length: Number(values["at-once"]) }, worker))
}

async function suffer(ordeal: Ordeal, own?: number): Promise<void> {
  const outcome = await suffered(ground, ordeal)
  outcomes.push(outcome)
  if (outcomes.length % 50 === 0) say(`${outcomes.length} in ${elapsed()}, ${wrong} with findings`)
  if (outcome.findings.length === 0) return
  wrong += 1
  const { life, variant, blows, findings } = outcome
  say(`\n${life.name}, ${variant}: ${blows.map((blow) => `${nameOf(blow)} at “${blow.border}”`).join(", then ")}`)
  for (const one of findings) say(`  - ${one.slice(0, 2000)}`)
  say(
    `  again: ${own === undefined ? "" : `npm run faults -- --random --seed ${own} --seats 1\n     or: `}${repeat(ordeal)}`,
  )
  say(`  its logs: ${outcome.folder}`)
}

function repeat({ life, variant, blows }: Ordeal): string {
  const each = blows.map((blow) => `--fault "${nameOf(blow)}" --border "${blow.border}"`).join(" ")
  return `npm run faults -- --life "${life.name}" ${each} --${variant} --seats 1`
}

/** A row a fault: how many lives it befell, and how that went. */
function table(): void {
  const names = [...FAULTS.map(({ name }) => name), "killed"]
  const rows = names.flatMap((name) => {
    const own = outcomes.filter(({ blows }) => blows.some((blow) => nameOf(blow) === name))
    if (own.length === 0) return []
    const seconds = own.reduce((sum, one) => sum + one.seconds, 0) / own.length
    const failed = own.filter(({ findings }) => findings.length > 0).length
    const counts = [own.length, new Set(own.map(({ life }) => life.name)).size, failed]
    return [[name, ...counts, own.filter(({ met }) => !met).length, seconds.toFixed(1)].map(String)]
  })
  const heads = ["fault", "befell", "lives", "failed", "not met", "seconds"]
  printed(heads, rows)
}
