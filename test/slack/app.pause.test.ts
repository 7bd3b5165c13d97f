import { describe, expect, test } from "vitest"
import { ADA, GRACE, LISTS, OPS, rig, ROBIN } from "./app.rig.ts"

const ADMIN = { app: { lists: { ...LISTS, admins: [GRACE] } } }

describe("a pause", () => {
  test("is said by an admin, holds up starting and approving, and is over when an admin says so", async () => {
    const it = await rig(ADMIN)
    const { workspace } = it.slack
    const id = await it.start()
    const [card] = await it.ask(id)
    if (!card) throw new Error("no card")

    await workspace.command(GRACE, OPS, "pause")
    expect(await it.told(GRACE, "Paused: nothing new starts")).toContain("ends the pause with “resume”")
    await workspace.waitFor(() => JSON.stringify(it.now(card).blocks).includes("Countersign is paused"))
    expect(JSON.stringify(it.now(card).blocks)).not.toContain('"action_id":"approve"')

    const started = await workspace.command(ROBIN, OPS, "restart web once more")
    expect(JSON.stringify(started.response)).toMatch(/Not started\. Countersign is paused by grace/)

    await workspace.command(GRACE, OPS, "resume")
    expect(await it.told(GRACE, /Resumed|resume/)).toBeDefined()
    await workspace.waitFor(() => JSON.stringify(it.now(card).blocks).includes('"action_id":"approve"'))
    await it.press(ADA, it.now(card), "approve")
    await expect.poll(async () => (await it.run(id)).asks[0]?.settled?.ok).toBe(true)
  })

  test("refuses a yes that was pressed on a card of before, with a fact, and takes a no", async () => {
    const it = await rig(ADMIN)
    const id = await it.start()
    const [first, second] = await it.ask(id, { tool: "one" }, { tool: "two" })
    if (!first || !second) throw new Error("no cards")
    await it.store.pause.begin({ by: "Grace", at: 1 })
    await it.press(ADA, first, "approve")
    await it.told(ADA, "Countersign is paused, so nothing can be approved")
    expect((await it.run(id)).asks[0]?.settled).toBeUndefined()
    expect((await it.facts(id)).at(-1)).toMatchObject({ what: "refused", outcome: "paused" })
    await it.press(ADA, second, "decline")
    await expect.poll(async () => (await it.run(id)).asks[1]?.settled?.ok).toBe(false)
  })

  test.each([
    ["pause", "Not paused. You are not among those who may pause Countersign"],
    ["resume", "Not resumed. You are not among those who may resume Countersign"],
  ])("is no matter of people who are no admins: %s", async (word, words) => {
    const it = await rig(ADMIN)
    const seen = await it.slack.workspace.command(ADA, OPS, word)
    expect(JSON.stringify(seen.response)).toContain(words)
    expect(await it.store.pause.read()).toBeUndefined()
  })

  test("that is asked for twice says who was first", async () => {
    const it = await rig(ADMIN)
    await it.store.pause.begin({ by: "Ada", at: 1 })
    const seen = await it.slack.workspace.command(GRACE, OPS, "pause")
    expect(JSON.stringify(seen.response)).toContain("It is paused already by Ada")
    await it.store.pause.end()
    const none = await it.slack.workspace.command(GRACE, OPS, "resume")
    expect(JSON.stringify(none.response)).toContain("Nothing to resume")
  })
})
