import { expect, test } from "vitest"
import { ADA, OPS, ROBIN, rig } from "./app.rig.ts"
import { buttonsOf } from "./show.rig.ts"

test("a command starts a run, a card asks, a click answers", async () => {
  const it = await rig()
  const id = await it.start()
  expect(await it.told(ROBIN, "Its thread")).toContain("restart the web server")
  const [card] = await it.ask(id)
  if (!card) throw new Error("no card")
  expect(buttonsOf(card)).toEqual(["approve", "decline"])
  expect((await it.press(ADA, card, "approve")).acked).toBe(true)
  await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
  const [ask] = await it.asks(id)
  expect(ask?.settled).toMatchObject({ ok: true, by: { team: "T1", user: ADA, name: "ada" }, via: "click" })
  expect((await it.facts(id)).map(({ what }) => what)).toEqual(["started", "shown", "asked", "shown", "settled"])
  expect(it.slack.workspace.messages(OPS)).toHaveLength(2)
})
