import { expect, test } from "vitest"
import { begin } from "../../src/core/turn.ts"
import { withUsed } from "../../src/core/usage.ts"
import type { Prices, Used } from "../../src/core/usage.ts"

const how = { id: "r", cause: "c", requester: { team: "T1", user: "U1" }, channel: "C1", prompt: "p", keep: 1 }
const { run: fresh } = begin({ ...how, rooted: true, via: "command", transcript: [] }, 0)
const USD: Prices = { input: 2, output: 10, cachedInput: 0.5, currency: "USD" }

const after = (...all: [Used, Prices?][]) => all.reduce((run, [used, prices]) => withUsed(run, used, { prices }), fresh)

test("tokens are summed up, and what was cached is told apart and paid as such", () => {
  const { usage, spent } = after(
    [{ prompt: 1000, completion: 10, cached: 400 }, USD],
    [{ prompt: 2000, completion: 20 }, USD],
  )
  expect(usage).toEqual({ prompt: 3000, completion: 30 })
  expect(spent).toEqual({ cached: 400, cost: 600 * 2 + 400 * 0.5 + 100 + 2000 * 2 + 200, currency: "USD" })
})

test.each<[string, [Used, Prices?][], object]>([
  ["no price is known", [[{ prompt: 5, completion: 1 }]], {}],
  [
    "cached tokens have no price of their own",
    [
      [
        { prompt: 5, completion: 0, cached: 5 },
        { ...USD, cachedInput: undefined },
      ],
    ],
    { cached: 5, cost: 10, currency: "USD" },
  ],
  [
    "more was cached than there was",
    [[{ prompt: 5, completion: 0, cached: 9 }, USD]],
    { cached: 9, cost: 3, currency: "USD" },
  ],
  [
    "the currency changed, for good",
    [
      [{ prompt: 5, completion: 1 }, USD],
      [
        { prompt: 5, completion: 1 },
        { ...USD, currency: "EUR" },
      ],
      [{ prompt: 5, completion: 1 }, USD],
    ],
    { currency: "?" },
  ],
])("of money no more is said than is known: %s", (_what, all, spent) => {
  expect(after(...all).spent).toEqual(spent)
})
