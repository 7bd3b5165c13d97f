import fc from "fast-check"
import { expect, test } from "vitest"
import { canonicalOwn } from "../../src/core/digest.ts"
import { brokenAt, chain, type Fact } from "../../src/core/fact.ts"
import { packed, unpacked } from "../../src/store/facts.ts"

const { facts } = chain("r00abc", { n: 0, hash: "" }, 1_795_993_812_345, [
  { what: "started", via: "command", by: { team: "T1", user: "U1", name: "Ada ✓" }, cause: "trigger" },
  { what: "asked", via: "bot", ask: "pnd-1", call: "1.1", tool: "restart", args: "d".repeat(64), version: 1 },
  { what: "settled", via: "click", ask: "pnd-1", outcome: "declined", note: 'not "now"\n', repeats: 2 },
])
const read = (texts: (string | undefined)[]): Fact[] =>
  unpacked("r00abc", texts).map((text) => JSON.parse(text) as Fact)

test("facts come back as they were chained, byte for byte", () => {
  expect(unpacked("r00abc", facts.map(packed))).toEqual(facts.map((fact) => JSON.stringify(fact)))
})

test("those that were stored by name come back as well", () => {
  const before = facts.map(({ run: _run, n: _n, prev: _prev, ...fact }) => JSON.stringify(fact))
  expect(unpacked("r00abc", before)).toEqual(facts.map((fact) => JSON.stringify(fact)))
})

test.each([
  ["missing", undefined],
  ["no JSON", "{"],
  ["another's", packed(facts[2] as Fact)],
  ["altered", packed({ ...(facts[1] as Fact), version: 2 })],
])("one that is %s breaks the chain at its place", (_, text) => {
  const texts: (string | undefined)[] = facts.map(packed)
  expect(brokenAt(read(texts))).toBeUndefined()
  texts[1] = text
  expect(brokenAt(read(texts))).toBe(2)
})

test("their JSON is canonical, whatever the order in which an entry says its fields", () => {
  const text = fc.string({ unit: "binary" })
  const entry = fc.record(
    {
      note: text,
      cause: text,
      outcome: fc.string(),
      what: fc.constant("settled" as const),
      by: fc.record(
        { name: text, team: fc.string(), user: fc.string(), enterprise: fc.string() },
        { requiredKeys: ["team", "user"] },
      ),
      via: fc.constant("click" as const),
      ask: text,
      call: fc.string(),
      tool: text,
      args: text,
      version: fc.integer(),
      repeats: fc.nat(),
    },
    { requiredKeys: ["what", "via"] },
  )
  fc.assert(
    fc.property(fc.array(entry), fc.nat(), (entries, at) => {
      const { facts, tip } = chain("r00abc", { n: 0, hash: "" }, at, entries)
      expect(facts.map((fact) => JSON.stringify(fact))).toEqual(facts.map((fact) => canonicalOwn(fact)))
      expect(brokenAt(facts)).toBeUndefined()
      expect(tip).toEqual({ n: facts.length, hash: facts.at(-1)?.hash ?? "" })
      expect(unpacked("r00abc", facts.map(packed))).toEqual(facts.map((fact) => JSON.stringify(fact)))
    }),
  )
})
