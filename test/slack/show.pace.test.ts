import { describe, expect, onTestFinished, test } from "vitest"
import { Pace } from "../../src/slack/show/pace.ts"
import { Store } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"

async function stored(): Promise<Store> {
  const store = await Store.open({ url: redisUrl(), prefix: freshPrefix(), shards: 1, confirm: 0, outbox: false })
  onTestFinished(() => store.close())
  return store
}

/** Takes at every moment in turn; the moments at which it was let. */
async function letAt(pace: Pace, key: string, moments: readonly number[]): Promise<number[]> {
  const taken: number[] = []
  for (const now of moments) if ((await pace.take(key, now)) <= now) taken.push(now)
  return taken
}

const everyTenth = (from: number, to: number): number[] =>
  Array.from({ length: (to - from) / 100 + 1 }, (_, index) => from + index * 100)

describe("Slack's limits", () => {
  test("a message a second and channel, three at once after a rest", async () => {
    const pace = new Pace(await stored())
    const taken = await letAt(
      pace,
      "chat.postMessage:C1",
      [0, 0, 0, 0, ...everyTenth(100, 4000)].map((ms) => ms + 1e6),
    )
    expect(taken.map((ms) => ms - 1e6)).toEqual([0, 0, 0, 1000, 2000, 3000, 4000])
    expect(await letAt(pace, "chat.postMessage:C2", [1e6])).toEqual([1e6])
  })

  test("fewer than sixty changes a minute, in all channels together", async () => {
    const taken = await letAt(new Pace(await stored()), "chat.update", everyTenth(1e6, 1e6 + 60_000))
    expect(taken.length).toBeGreaterThan(50)
    expect(taken.length).toBeLessThanOrEqual(60)
  })

  test("what Slack asked to wait is waited, also by the next process", async () => {
    const store = await stored()
    await new Pace(store).hold("chat.update", 30_000, 1e6)
    const taken = await letAt(new Pace(store), "chat.update", [
      1e6,
      1e6 + 29_900,
      1e6 + 30_000,
      1e6 + 30_100,
      1e6 + 31_100,
    ])
    expect(taken).toEqual([1e6 + 30_000, 1e6 + 31_100])
  })

  test("those who come at once don't share a turn", async () => {
    const pace = new Pace(await stored())
    const free = await Promise.all(Array.from({ length: 20 }, () => pace.take("chat.postMessage:C1", 1e6)))
    expect(free.filter((at) => at <= 1e6)).toHaveLength(3)
  })
})
