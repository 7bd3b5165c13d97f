import { afterEach, expect, test } from "vitest"
import { APP1, REQ, Team } from "./team.ts"

let team: Team
afterEach(() => team.close())

test("a command starts a run, a card asks, a click answers, the run finishes", async () => {
  team = await Team.start({
    turns: [
      { text: "A restart helps.", calls: [{ id: "c1", name: "restart", args: { service: "web" } }] },
      { text: "The web tier was **restarted**." },
    ],
  })
  await team.bot()
  const seen = await team.command("restart the web tier")
  expect(seen).toMatchObject({ acked: true })
  const card = await team.card()
  expect(JSON.stringify(card.blocks)).toContain('{\\"service\\":\\"web\\"}')
  await team.click(APP1, card, "approve")
  const run = await team.ended()
  expect(run.ended).toMatchObject({ how: "done" })
  expect(team.executions()).toMatchObject([{ name: "restart", args: { service: "web" } }])
  await team.slack.workspace.waitFor(() => team.cards("approve").length === 0)
  await team.slack.workspace.waitFor(() =>
    team.slack.workspace.messages("C0OPS").some((m) => m.text.includes("Finished")),
  )
  expect(team.slack.workspace.notifications(REQ).length).toBeGreaterThan(0)
})
