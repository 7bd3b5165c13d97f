/**
 * Runs as releases before stored them, key by key, in files that nobody changes: whatever reads states must go on with them.
 * format-1.json holds one that waits for a yes, one whose call was cut off, and one whose deadline passed while nobody was there.
 */
import { readFileSync } from "node:fs"
import { Redis } from "ioredis"
import { expect, onTestFinished, test } from "vitest"
import { brokenAt, type Fact } from "../../src/core/fact.ts"
import { FORMAT, type Run } from "../../src/core/run.ts"
import { scriptedModel } from "../fakes/model.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { quickTool, startCrew } from "./crew.ts"

type Kept = { hash: Record<string, string> } | { list: string[] } | { zset: string[] } | { set: string[] }

interface Before {
  parked: string
  cut: string
  late: string
  keys: Record<string, Kept>
}

/** Puts it where a bot of that release had it, under a prefix of one's own. */
async function restored(file: string): Promise<Before & { prefix: string; redis: Redis }> {
  const before = JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as Before
  const prefix = freshPrefix()
  const redis = new Redis(redisUrl())
  onTestFinished(() => redis.disconnect())
  for (const [name, kept] of Object.entries(before.keys)) {
    const key = name.replace("PREFIX", prefix)
    if ("hash" in kept) await redis.hset(key, kept.hash)
    if ("list" in kept) await redis.rpush(key, ...kept.list)
    if ("set" in kept) await redis.sadd(key, ...kept.set)
    // Members and scores take turns, as Redis prints them; it takes the scores first.
    if ("zset" in kept)
      for (let n = 0; n < kept.zset.length; n += 2) await redis.zadd(key, kept.zset[n + 1] ?? 0, kept.zset[n] ?? "")
  }
  return { ...before, prefix, redis }
}

const over = ({ ended }: Run): boolean => ended !== undefined

test("runs of the format before go on after a restart: the yes runs, the doubt is asked, the deadline is a no", async () => {
  const { parked, cut, late, prefix, redis } = await restored("../store/format-1.json")
  const crew = await startCrew(prefix)
  const ran: unknown[] = []
  await crew.join({ model: scriptedModel(["Well.", "Well.", "Well."]), tools: [quickTool("restart", ran)] })
  const [expired] = (await crew.when(late, over)).calls
  expect(expired).toBeUndefined()
  expect(await crew.outputs(late)).toEqual([expect.stringMatching(/^declined\/expired: Run restart/)])

  const doubtful = await crew.when(cut, ({ asks }) => asks.length === 1)
  expect(doubtful.asks).toMatchObject([{ from: "doubt", tool: "restart" }])
  expect(ran).toEqual([])
  await crew.answer(cut, "restart", true, { choice: "again" })
  await crew.when(cut, over)
  expect(ran).toEqual([{ held: true }])

  await crew.answer(parked, "restart", true)
  await crew.when(parked, over)
  expect(ran).toEqual([{ held: true }, { service: "web" }])
  expect(await crew.outputs(parked)).toEqual(["restart is done"])
  for (const id of [parked, cut, late]) {
    expect((await crew.load(id))?.ended?.how).toBe("done")
    const facts = (await crew.door.facts(id)).map((text) => JSON.parse(text) as Fact)
    expect(brokenAt(facts)).toBeUndefined()
    expect(facts.length).toBeGreaterThan(3)
    const state = JSON.parse((await redis.hget(`{${prefix}:0}:run:${id}`, "state")) ?? "") as unknown[]
    expect(state[0]).toBe(FORMAT)
  }
})
