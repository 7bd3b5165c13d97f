/** A few lives with faults, others at each run: the short form of `npm run faults`. A failure says how to repeat it. */
import { join } from "node:path"
import { Redis } from "ioredis"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { redisUrl, scratchFolder } from "../redis.ts"
import { nameOf, ordealsOf, suffered, type Ordeal } from "./faulted.ts"
import { FAULTS } from "./faults.ts"
import { Fleet } from "./fleet.ts"
import { LIVES, lifeOf } from "./lives.ts"
import { bordersOf, seeded, type Ground } from "./matrix.ts"
import { drawn } from "./random.ts"
import { readersOf } from "./redis-wire.ts"

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 })

/** Lives that are tried at the same time, and ordeals of each, at most: a life takes some seconds, waiting mostly. */
const TRIED = 2
const EACH = 2
/** None is begun after so long, ms. */
const BEGIN = 45_000

const seed = Date.now() % 1_000_000
let ground: Ground
beforeAll(async () => {
  const redis = new Redis(redisUrl())
  const readers = await readersOf(redis)
  redis.disconnect()
  ground = { fleet: new Fleet(12), redisUrl: redisUrl(), readers, folder: join(await scratchFolder("faults")) }
})
afterAll(() => ground.fleet.close())

const told = ({ life, variant, blows }: Ordeal): string => {
  const each = blows.map((blow) => `--fault "${nameOf(blow)}" --border "${blow.border}"`)
  return `npm run faults -- --life "${life.name}" ${each.join(" ")} --${variant} --seats 1`
}

test(`faults befall lives, and every promise is kept: ${TRIED * EACH} of them, as many as begin within ${BEGIN / 1000} s`, async () => {
  const until = performance.now() + BEGIN
  const next = seeded(seed)
  const order = LIVES.map((life) => ({ life, at: next(1_000_000) })).sort((a, b) => a.at - b.at)
  const quick = FAULTS.filter(({ slow }) => !slow)
  let tried = 0
  await Promise.all(
    order.slice(0, TRIED).map(async ({ life }) => {
      const { borders, findings } = await bordersOf(ground, life, "alone")
      expect(findings, `${life.name}, undisturbed`).toEqual([])
      const known = [{ life, borders }]
      const all = ordealsOf(quick, known, next)
      const picked = Array.from({ length: EACH }, () => all.splice(next(all.length), 1)).flat()
      for (const [index, ordeal] of picked.entries()) {
        if (index > 0 && performance.now() > until) break
        const outcome = await suffered(ground, ordeal)
        expect(outcome.findings, told(ordeal)).toEqual([])
        tried += 1
      }
    }),
  )
  process.stdout.write(`faults: ${tried} of ${TRIED * EACH} lives, seed ${seed}\n`)
})

describe("what is drawn", () => {
  const known = LIVES.map((life) => ({
    life,
    borders: [
      "redis commit 1 before",
      "redis commit 1 after",
      "slack chat.update 2 before",
      "envelope interactive 1 before",
    ],
  }))

  test("is the same for one seed, and another for others", () => {
    expect(drawn(7, known)).toEqual(drawn(7, known))
    expect(new Set(Array.from({ length: 50 }, (_, n) => told(drawn(n, known)))).size).toBeGreaterThan(30)
  })

  test("leaves out no fault for long", () => {
    const names = Array.from({ length: 3000 }, (_, n) => drawn(n, known).blows.map(nameOf)).flat()
    const possible = FAULTS.filter(({ at }) => known[0]?.borders.some((border) => at.test(border)))
    expect(possible.filter(({ name }) => !names.includes(name))).toEqual([])
  })
})

test("a fault that a life meets breaks something: without it the same life goes another way", async () => {
  const fault = FAULTS.find(({ name }) => name === "Slack: channel archived")
  if (!fault) throw new Error("no such fault")
  const blow = { fault: { ...fault, excuses: [] }, border: "model 1 before" }
  const { met, findings } = await suffered(ground, { life: lifeOf("approve"), variant: "alone", blows: [blow] })
  expect(met).toBe(true)
  expect(findings.join("\n")).toMatch(/^end: expected one run that is done, found cancelled/m)
})
