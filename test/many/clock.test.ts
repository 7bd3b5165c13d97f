/** Processes whose clocks are an hour wrong, one ahead and one behind: time is what Redis says it is. */
import { expect, test, vi } from "vitest"
import type { WireTurn } from "../fakes/provider.ts"
import { APP1, REQ, Team, until } from "../promises/team.ts"

vi.setConfig({ testTimeout: 120_000 })

const HOUR = 3_600_000
const shifted = (ms: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=${new URL("./shifted.mjs", import.meta.url).href}`,
  SHIFT_MS: String(ms),
})

const wanting = (name: string): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name, args: {} }] },
  { text: "That is all." },
]

test("an hour ahead and an hour behind, side by side: nothing expires early or late, and what is approved runs once", async ({
  onTestFinished,
}) => {
  const scripts: Record<string, WireTurn[]> = { "to be approved": wanting("restart"), "to expire": wanting("page") }
  const approvals = [{ tool: "page", do: "ask", expiresIn: "3s", remind: ["1s"] }]
  const team = await Team.during(onTestFinished, {
    scripts,
    config: { approvals, startWithin: "30m", expiresIn: "10m" },
  })
  const began = Date.now()
  const bots = await Promise.all([team.process(shifted(HOUR)), team.process(shifted(-HOUR))])
  const { workspace } = team.slack
  // They are as wrong as they should be.
  const off = bots.map((bot) => Date.parse(/"time":"([^"]+)"/.exec(bot.log())?.[1] ?? "") - began)
  expect(off.map((ms) => Math.round(ms / HOUR))).toEqual([1, -1])
  const approved = await team.begin("to be approved")
  const expired = await team.begin("to expire")
  const card = await team.cardOf(approved)
  const { asks } = await team.runOf("to be approved", ({ asks: some }) => some.length > 0)
  // What Slack shows is the time as it is, too.
  const shown = /"timestamp":(\d+)/.exec(JSON.stringify(card.blocks))?.[1]
  expect(Math.abs(Number(shown) * 1000 - (asks[0]?.expiresAt ?? 0))).toBeLessThan(61_000)
  expect(Math.abs((asks[0]?.at ?? 0) - began)).toBeLessThan(HOUR / 2)

  await team.endOf("to expire")
  const facts = await team.facts(expired)
  const [asked, over] = ["asked", "expired"].map((what) => facts.find((fact) => fact.what === what)?.at ?? 0)
  expect((over ?? 0) - (asked ?? 0)).toBeGreaterThanOrEqual(3000)
  expect((over ?? 0) - (asked ?? 0)).toBeLessThan(60_000)
  expect(await team.results(expired)).toMatchObject([{ isError: true, output: expect.stringContaining("expired") }])

  // Whichever of the two takes the press: it is neither late nor stale.
  await team.click(APP1, card, "approve")
  expect((await team.endOf("to be approved")).ended?.how).toBe("done")
  expect(team.executions("restart")).toHaveLength(1)
  expect(team.executions("page")).toEqual([])
  expect((await team.runs(REQ)).map(({ at }) => Math.abs(at - began) < HOUR / 2)).toEqual([true, true])
  // The audit's lines bear Redis' time.
  const today = new Date(began).toISOString().slice(0, 13)
  await until(
    () => JSON.stringify(workspace.messages("C0AUDIT")).includes("expired"),
    () => "the audit to tell of it",
  )
  expect(JSON.stringify(workspace.messages("C0AUDIT"))).toContain(today.replace("T", " "))
})
