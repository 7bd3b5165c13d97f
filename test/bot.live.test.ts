import { afterAll, expect, test, vi } from "vitest"
import type { Style } from "./fakes/provider.ts"
import { OPS, Team } from "./promises/team.ts"

// Each waits for what it says, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000 })

const LONG = "Everything is **well** in the web tier: three of three replicas answer, and the queue is empty.\n".repeat(
  8,
)

const teams: Team[] = []
afterAll(() => Promise.all(teams.map((team) => team.close())))

test.each<Style>(["openai", "anthropic"])(
  "the whole bot tells in the thread what a slow model says, on the wire of %s, then answers, and says what it cost",
  async (style) => {
    const prices = { input: 1000, output: 2000, currency: "EUR" }
    const turns = [{ text: LONG, pace: 60, usage: { prompt: 2000, completion: 300 } }]
    const team = await Team.start({ style, turns, model: { prices } })
    teams.push(team)
    await team.bot()
    await team.begin("how is web?")
    const thread = (): string[] => team.slack.workspace.messages(OPS).map(({ blocks }) => JSON.stringify(blocks))
    const live = (): string => thread().find((text) => text.includes("not the answer yet")) ?? ""
    await expect.poll(live, { timeout: 60_000 }).toContain("three of three replicas")
    const early = live()
    await expect
      .poll(() => [live() !== early, thread().length], { timeout: 60_000 })
      .toEqual([true, expect.any(Number)])
    const run = await team.runOf("how is web?", ({ ended }) => ended !== undefined, undefined, 60_000)
    await expect.poll(() => live() === "" && thread().length === 2, { timeout: 60_000 }).toBe(true)
    expect(run.ended?.how).toBe("done")
    expect(thread()[1]).toContain("Everything is ")
    expect(thread()[1]).not.toContain("**")
    expect(thread()[0]).toContain("2,000 tokens in, 300 out, about 2.60 EUR")
  },
)
