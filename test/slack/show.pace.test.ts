import { describe, expect, onTestFinished, test } from "vitest"
import { Pace, type Urgency } from "../../src/slack/show/pace.ts"
import { Store } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"

async function stored(): Promise<Store> {
  const store = await Store.open({ url: redisUrl(), prefix: freshPrefix(), shards: 1, confirm: 0, outbox: false })
  onTestFinished(() => store.close())
  return store
}

/** Takes at every moment in turn; the moments at which it was let. */
async function letAt(
  pace: Pace,
  key: string | string[],
  moments: readonly number[],
  urgency: Urgency = "card",
): Promise<number[]> {
  const taken: number[] = []
  for (const now of moments) if ((await pace.take([key].flat(), urgency, now)).at <= now) taken.push(now)
  return taken
}

const everyTenth = (from: number, to: number): number[] =>
  Array.from({ length: (to - from) / 100 + 1 }, (_, index) => from + index * 100)

describe("Slack's limits", () => {
  test("a message a second and channel, four at once after a rest", async () => {
    const pace = new Pace(await stored())
    const taken = await letAt(
      pace,
      "chat.postMessage:C1",
      [0, 0, 0, 0, 0, ...everyTenth(100, 4000)].map((ms) => ms + 1e6),
    )
    expect(taken.map((ms) => ms - 1e6)).toEqual([0, 0, 0, 0, 1000, 2000, 3000, 4000])
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
    const turns = await Promise.all(Array.from({ length: 20 }, () => pace.take(["chat.postMessage:C1"], "card", 1e6)))
    expect(turns.filter(({ at }) => at <= 1e6)).toHaveLength(4)
    const waiting = turns.filter(({ at }) => at > 1e6)
    expect(waiting.map((turn) => pace.queue(turn) - 1e6)).toEqual(waiting.map((_, index) => (index + 1) * 1000))
  })

  test("about three hundred messages a minute, in all channels together", async () => {
    const pace = new Pace(await stored())
    let taken = 0
    for (let now = 1e6; now < 1e6 + 20_000; now += 250) {
      for (let n = 0; n < 3; n++) {
        const keys = ["posts", `chat.postMessage:C${taken}`]
        if ((await pace.take(keys, "card", now)).at <= now) taken += 1
      }
    }
    expect(taken).toBeGreaterThan(100)
    expect(taken).toBeLessThan(125)
  })

  test("a burst is not used up by what is less urgent, which goes as fast when it is alone", async () => {
    const pace = new Pace(await stored())
    const at = (urgency: Urgency, moments: readonly number[]) => letAt(pace, "chat.postMessage:C1", moments, urgency)
    const moments = [0, 0, 0, 0, 0, ...everyTenth(100, 3000)].map((ms) => ms + 1e6)
    const lines = await at("audit", moments)
    expect(lines.map((ms) => ms - 1e6)).toEqual([0, 1000, 2000, 3000])
    const then = 1e6 + 3000
    expect([
      await at("change", [then, then]),
      await at("result", [then, then]),
      await at("card", [then, then]),
    ]).toEqual([[then], [then], [then]])
  })

  test("while cards go as fast as they may, nothing else goes at all", async () => {
    const pace = new Pace(await stored())
    const went: string[] = []
    for (let now = 1e6; now <= 1e6 + 20_000; now += 100) {
      for (const urgency of ["audit", "change", "result", "card"] as const) {
        if (urgency === "card" && now > 1e6 + 10_000) continue
        if ((await pace.take(["chat.postMessage:C1"], urgency, now)).at <= now) went.push(urgency)
      }
    }
    const last = went.lastIndexOf("card")
    // The burst lets each kind begin; then cards alone, then results alone.
    expect(new Set(went.slice(4, last))).toEqual(new Set(["card"]))
    expect(new Set(went.slice(last + 1))).toEqual(new Set(["result"]))
  })
})
