import { expect, test, vi } from "vitest"
import { OSCAR } from "../../src/sandbox/seed.ts"
import { startProxy } from "../fakes/proxy.ts"
import { redisUrl } from "../redis.ts"
import { ADA, rig } from "./app.rig.ts"

vi.setConfig({ testTimeout: 120_000 })

const PRESSES = 500
const LANES = 20

test("500 refused presses of one outsider are a bounded number of commits, and hold up nobody else's run", async ({
  onTestFinished,
}) => {
  const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
  onTestFinished(() => proxy.close())
  const it = await rig({ redisUrl: proxy.url })
  const [flooded, other] = [await it.start(), await it.start("restart the database")]
  const [card] = await it.ask(flooded)
  const [their] = await it.ask(other)
  if (!card || !their) throw new Error("no cards")
  await expect.poll(async () => (await it.run(flooded)).asks[0]?.shownAt).toBeDefined()
  proxy.forget()

  let left = PRESSES
  let settled: number | undefined
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const seen = await it.press(OSCAR, card, "approve")
      expect(seen.acked).toBe(true)
    }
  }
  const calm = async (): Promise<void> => {
    const began = performance.now()
    await it.press(ADA, their, "approve")
    await expect.poll(async () => (await it.run(other)).asks[0]?.settled).toBeDefined()
    settled = performance.now() - began
  }
  await Promise.all([...Array.from({ length: LANES }, lane), calm()])

  // Somebody else's answer came through in the midst of it.
  expect(settled).toBeLessThan(10_000)
  const refused = (await it.facts(flooded)).filter(({ what }) => what === "refused")
  expect(refused.length).toBeLessThanOrEqual(3)
  expect((await it.run(flooded)).asks[0]?.settled).toBeUndefined()
  // A commit writes facts; reading does not.
  expect(proxy.count('"what":"refused"')).toBeLessThanOrEqual(10)

  // What was counted is told in the journal.
  await it.bot.stop()
  const facts = (await it.facts(flooded)).filter(({ what }) => what === "refused")
  const told = facts.reduce((sum, { repeats = 0 }) => sum + 1 + repeats, 0)
  expect(facts.length).toBeLessThanOrEqual(4)
  expect(told).toBeGreaterThanOrEqual(PRESSES)
})
