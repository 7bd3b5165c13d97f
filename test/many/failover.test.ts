/** The whole bot while the primary of its Redis dies and another server takes over: a pause, and nothing lost. */
import { expect, test, vi } from "vitest"
import { brokenAt } from "../../src/core/fact.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { APP1, Team, until } from "../promises/team.ts"
import type { TestRedis } from "../redis.ts"
import { startCluster, startWatched } from "./servers.ts"

vi.setConfig({ testTimeout: 120_000 })

const wanting = (name: string): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name, args: {} }] },
  { text: "That is all." },
]

interface Place {
  url: string
  redis: { cluster?: boolean; sentinel?: string; shards?: number }
  /** Those of which one dies. */
  primaries: TestRedis[]
  close: () => Promise<void>
}

test.each<[string, () => Promise<Place>]>([
  [
    "a cluster",
    async () => {
      const { url, nodes, close } = await startCluster({ replicas: true })
      return { url, redis: { cluster: true, shards: 6 }, primaries: nodes.slice(0, 3), close }
    },
  ],
  [
    "sentinels",
    async () => {
      const { url, name, primary, close } = await startWatched()
      return { url, redis: { sentinel: name }, primaries: [primary], close }
    },
  ],
])("with %s: what waited is decided afterwards, and what is begun afterwards ends", async (_, start) => {
  const { url, redis, primaries, close } = await start()
  const scripts: Record<string, WireTurn[]> = { before: wanting("restart"), after: wanting("scale") }
  const team = await Team.start({ scripts, redisUrl: url, redis })
  try {
    await team.bot()
    const before = await team.begin("before")
    const card = await team.cardOf(before)
    await primaries[0]?.kill()
    // As people do: again, when they are told that it was not recorded.
    const settled = async () => (await team.facts(before)).some(({ what }) => what === "settled")
    await until(
      async () => {
        const heard = team.told(APP1).length
        await team.click(APP1, card, "approve")
        await until(
          async () => team.told(APP1).length > heard || (await settled()),
          () => `a word about the press: ${JSON.stringify(team.told(APP1))}`,
          40_000,
        )
        return settled()
      },
      () => "the press to be recorded",
      60_000,
    )
    expect((await team.endOf("before", undefined, 60_000)).ended?.how).toBe("done")
    await team.begin("after")
    await team.click(APP1, await team.cardOf(await team.runOf("after")), "approve")
    expect((await team.endOf("after", undefined, 60_000)).ended?.how).toBe("done")
    expect(team.executions().map(({ name }) => name)).toEqual(["restart", "scale"])
    expect(brokenAt(await team.facts(before))).toBeUndefined()
  } finally {
    await team.close()
    await close()
  }
})
