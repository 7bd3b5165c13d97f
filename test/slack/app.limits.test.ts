import { expect, test } from "vitest"
import { ADA, LISTS, OPS, rig, ROBIN } from "./app.rig.ts"

const lists = { ...LISTS, starters: [ROBIN, ADA] }

test("a start beyond what somebody may have at once is refused with what is under way and the way out; an end makes room", async () => {
  const it = await rig({ app: { lists, limits: { requester: 2, channel: 100 } } })
  const { workspace } = it.slack
  const first = await it.start("restart the web tier")
  await it.start("scale the worker")
  const refused = await workspace.command(ROBIN, OPS, "one more")
  expect(JSON.stringify(refused.response)).toContain(
    "Not started: you have 2 runs that are not over, those that wait for somebody included, and no more may be at once. “/agent list” shows yours, and “/agent cancel <id>” ends what is not needed any more.",
  )
  // Which those are, newest first, with their ids.
  const shown = await it.told(ROBIN, "The newest of them")
  expect(shown).toBeDefined()
  const last = JSON.stringify(workspace.ephemerals(ROBIN).at(-1)?.blocks)
  expect(last).toMatch(/scale the worker.*restart the web tier/)
  expect(last).toContain(first)
  // Nobody else is held up.
  expect(JSON.stringify((await workspace.command(ADA, OPS, "look at it")).response)).toContain("Started.")

  await workspace.command(ROBIN, OPS, `cancel ${first}`)
  await expect.poll(async () => (await it.run(first)).ended).toBeDefined()
  expect(JSON.stringify((await workspace.command(ROBIN, OPS, "one more")).response)).toContain("Started.")
})

test("a start beyond what a channel may have is refused likewise", async () => {
  const it = await rig({ app: { lists, limits: { requester: 100, channel: 1 } } })
  await it.start("restart the web tier")
  const refused = await it.slack.workspace.command(ADA, OPS, "one more")
  expect(JSON.stringify(refused.response)).toContain("Not started: this channel has 1 run that is not over")
})
