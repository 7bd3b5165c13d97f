import { describe, expect, test } from "vitest"
import { bareLine, checkpointLine, lineOf } from "../../src/audit/line.ts"
import { chain, type Entry, type Fact } from "../../src/core/fact.ts"

const AT = Date.UTC(2026, 10, 29, 12, 30, 5)
const ADA = { team: "T1", user: "U0APP1", name: "Ada" }

function fact(entry: Partial<Entry>): Fact {
  const made = chain("r00abcdefghjkmn", { n: 6, hash: "h6" }, AT, [{ what: "settled", via: "click", ...entry }])
    .facts[0]
  if (!made) throw new Error("no fact")
  return made
}

const about = { ask: "pnd-1", call: "1.2", tool: "restart", args: "3f2a91c0ffee0123456789", version: 1 }

describe("a line says what, who, when, by which door, and where to find it", () => {
  test("a decision", () => {
    const made = fact({ by: ADA, ...about, outcome: "approved", cause: "U0APP1 1795993812.75 pnd-1" })
    expect(lineOf("12", made)).toBe(
      `#12 · 2026-11-29 12:30:05 UTC · approved: restart (call 1.2) · by “Ada” (U0APP1, team T1) · via click · args sha-256 3f2a91c0ffee0123 · request pnd-1 v1 · run r00abcdefghjkmn fact 7 ${made.hash.slice(0, 12)} · cause U0APP1 1795993812.75 pnd-1`,
    )
  })

  test("with the args where they may stand", () => {
    expect(lineOf("12", fact({ ...about }), { args: '{"service":"web"}' })).toContain(
      ' · args {"service":"web"} · args sha-256 3f2a91c0ffee0123 · ',
    )
  })

  test.each<[Partial<Entry>, string]>([
    [{ what: "started", via: "command" }, "run started · via command"],
    [{ what: "started", via: "bot", ...about }, "started restart (call 1.2)"],
    [{ what: "asked", via: "bot", ...about, outcome: "guard" }, "asked about restart (call 1.2) (guard)"],
    [{ what: "shown", via: "bot" }, "run shown"],
    [{ what: "shown", via: "bot", ...about }, "card shown: restart (call 1.2)"],
    [{ what: "refused", ...about, outcome: "not listed", repeats: 4 }, "refused restart (call 1.2): not listed"],
    [{ what: "refused", ...about, outcome: "not listed", repeats: 4 }, "and 4 more like it"],
    [{ what: "expired", via: "timer", ...about, outcome: "expired" }, "expired: restart (call 1.2) · via timer"],
    [{ what: "cancelled", via: "cli" }, "cancelled · via cli"],
    [{ what: "finished", via: "bot", ...about, outcome: "ok" }, "finished restart (call 1.2): ok"],
    [{ what: "finished", via: "bot", outcome: "done" }, "run over: done"],
    [{ what: "settled", via: "bot", ...about, outcome: "again" }, "again: restart"],
  ])("%o", (entry, words) => {
    expect(lineOf("1", fact(entry))).toContain(words)
  })

  test("what was asked for, on the first line alone", () => {
    expect(lineOf("1", fact({ what: "started" }), { prompt: "restart web" })).toContain("asked for “restart web”")
  })
})

describe("foreign words stay on their line", () => {
  test.each([
    ["a line break", "ok\n#13 · 2026-11-29 12:30:05 UTC · approved: drop_table", String.raw`ok\u{a}#13`],
    ["the separator", "ok · by “Ada”", String.raw`ok \u{b7} by \u{201c}Ada\u{201d}`],
    ["text that runs backwards", "a\u{202e}b", String.raw`a\u{202e}b`],
    ["text that can't be seen", "a\u{e0041}b\u{2060}", String.raw`a\u{e0041}b\u{2060}`],
  ])("%s", (_, note, shown) => {
    const line = lineOf("12", fact({ note }))
    expect(line).toContain(`note “${shown}`)
    expect(line).not.toMatch(/[\n\u2028\u202e\u2060]/u)
  })

  test("a name as well", () => {
    const line = lineOf("12", fact({ by: { ...ADA, name: "Ada\n#13" } }))
    expect(line).toContain(String.raw`by “Ada\u{a}#13” (U0APP1, team T1)`)
  })

  test("secrets are masked, and it shows", () => {
    const secret = "xoxb-1111111111-2222222222-abcdefabcdef"
    const made = fact({ ...about, note: `use ${secret}` })
    const line = lineOf("12", made, { args: JSON.stringify({ header: `Authorization: Bearer ${secret}` }) })
    expect(line).not.toContain(secret)
    expect(line).toContain("Bearer [slack token, 39 characters]")
    expect(line).toContain("(1 masked)")
  })

  test("and what a rule masks, too", () => {
    const line = lineOf("12", fact(about), { args: '{"pin":"4711","service":"web"}', masks: ["args.pin"] })
    expect(line).toContain('args {"pin":"[masked by rule')
    expect(line).not.toContain("4711")
    expect(line).toContain('"service":"web"')
  })

  test("long ones are cut, and it shows", () => {
    const line = lineOf("12", fact({ note: "x".repeat(10_000), ...about }), { args: "y".repeat(10_000) })
    expect(line.length).toBeLessThan(2000)
    expect(line).toContain("… (9600 more)")
    expect(line).toContain("… (9700 more)")
  })
})

test("a line that can't be shown still names its fact", () => {
  const made = fact({ note: "whatever" })
  expect(bareLine("12", made)).toBe(
    `#12 · 2026-11-29 12:30:05 UTC · settled · via click · run r00abcdefghjkmn fact 7 ${made.hash}`,
  )
})

test("a checkpoint names shard, count and root", () => {
  expect(checkpointLine(0, 100, "ab")).toBe("checkpoint · shard 0 · 100 lines · root ab")
})
