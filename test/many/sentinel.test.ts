/** The store behind sentinels: they say which server is the primary, and which one is when that has died. */
import { expect, test, vi } from "vitest"
import { until } from "../promises/team.ts"
import { asking, beginning, clicking, freshId, openStore } from "../store/runs.ts"
import { startWatched } from "./servers.ts"

vi.setConfig({ testTimeout: 60_000 })

test("a primary that dies is a pause: what was confirmed is there, and what is said meanwhile is stored once", async ({
  onTestFinished,
}) => {
  const redis = await startWatched()
  onTestFinished(() => redis.close())
  const store = await openStore({ url: redis.url, sentinel: redis.name, confirm: 1 })
  onTestFinished(() => store.close())
  const id = freshId()
  expect(await store.apply(id, beginning(id), { confirm: true })).toMatchObject({ kind: "applied" })
  expect(await store.apply(id, asking("a"), { confirm: true })).toMatchObject({ kind: "applied" })
  await redis.primary.kill()
  expect(await store.apply(id, clicking("a", "click"), { notAfterMs: 15_000 })).toMatchObject({
    kind: "applied",
    outcome: { kind: "recorded" },
    revision: 3,
  })
  expect(await store.facts(id)).toHaveLength(3)
  // Nobody confirms any more until somebody is there to.
  const unconfirmed = await store.apply(id, clicking("a", "again"), { confirm: true, notAfterMs: 1000 })
  expect(unconfirmed).toMatchObject({ kind: "not known", error: { message: "0 of 1 replicas confirmed it" } })
  await redis.primary.restart()
  const confirmed = async () => {
    const other = freshId()
    return (await store.apply(other, beginning(other), { confirm: true })).kind === "applied"
  }
  await until(confirmed, () => "the old primary to follow the new one, and to confirm what it stores")
})
