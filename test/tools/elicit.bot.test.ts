import { fileURLToPath } from "node:url"
import { expect, test, vi } from "vitest"
import { isRecord } from "../../src/core/json.ts"
import { APP1, must, REQ, Team, until } from "../promises/team.ts"

vi.setConfig({ testTimeout: 120_000 })

const DESK = fileURLToPath(new URL("../../src/sandbox/demo/desk-server.mjs", import.meta.url))
const HAND_OVER = { calls: [{ id: "c1", name: "desk_hand_over", args: { service: "web" } }] }

/** Every object within a value. */
const within = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.flatMap(within) : isRecord(value) ? [value, ...Object.values(value).flatMap(within)] : []

test("what an MCP server asks is a card for whoever asked for the run, and their form goes back to the call", async ({
  onTestFinished,
}) => {
  const mcpServers = { desk: { command: process.execPath, args: [DESK] } }
  const approvals = [{ tool: "desk_hand_over", do: "allow" }]
  const scripts = { "hand web over": [HAND_OVER, { text: "Fine." }] }
  const team = await Team.during(onTestFinished, { scripts, config: { mcpServers, approvals } })
  await team.bot()
  const run = await team.begin("hand web over")
  const card = await team.cardOf(run, "answer")
  await team.click(APP1, card, "answer")
  const { workspace } = team.slack
  const told = (): string => JSON.stringify(workspace.views(APP1).at(-1)?.blocks ?? [])
  await until(() => !told().includes("Checking") && told() !== "[]", told)
  expect(workspace.views(APP1).at(-1)?.submit).toBeUndefined()
  expect(told()).toMatch(/not among those who may decide/)
  await team.click(REQ, card, "answer")
  await until(
    () => workspace.views(REQ).at(-1)?.submit !== undefined,
    () => "the form",
  )
  const view = must(workspace.views(REQ).at(-1))
  const block = must(view.blocks.find((one) => JSON.stringify(one).includes("The night shift")))
  const action = must(within(block["element"]).find((one) => typeof one["action_id"] === "string"))["action_id"]
  const option = must(within(block["element"]).find((one) => JSON.stringify(one["text"] ?? "").includes("night") && "value" in one)) // prettier-ignore
  await workspace.submit(REQ, view.id, { [String(block.block_id)]: { [String(action)]: String(option["value"]) } })
  await team.closed(run)
  const ended = await team.runOf("hand web over", ({ ended }) => ended !== undefined)
  expect(ended.ended?.how).toBe("done")
  expect(await team.results(run)).toEqual([{ isError: false, output: "web is handed over to the night shift" }])
  const facts = (await team.facts(run)).map(({ what, outcome }) => [what, outcome ?? ""].join(" ").trim())
  expect(facts).toEqual(expect.arrayContaining(["asked tool", "settled approved", "finished ok", "finished done"]))
})
