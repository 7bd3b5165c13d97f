/**
 * Several agents in one configuration, and the way to stop one: the whole bot, with what the model was sent, what people saw and
 * what was executed.
 */
import { describe, expect, test } from "vitest"
import { APP1, APP2, must, OPS, OUT, REQ, Team, until } from "./team.ts"

const restart = [{ id: "c1", name: "restart", args: { service: "web" } }]
const AGENTS = {
  web: {
    description: "Looks after the web tier",
    instructions: "Only the web tier.",
    model: { model: "small-model" },
    tools: ["re*"],
    approvers: [APP2],
    approvals: [
      { tool: "read", do: "ask" },
      { tool: "*", do: "allow" },
    ],
  },
}

interface Sent {
  model: string
  messages: { role: string; content: unknown }[]
  tools?: { function: { name: string } }[]
}

describe("an agent that the file names", () => {
  test("has its own model, instructions and tools, and its rules and people beside the file's", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, {
      turns: [{ calls: [...restart, { id: "c2", name: "read" }, { id: "c3", name: "page" }] }, { text: "Done." }],
      config: { instructions: "Everything.", agents: AGENTS, approvers: [APP1, APP2] },
    })
    await it.bot()
    const tools = JSON.stringify((await it.command("tools @web")).response)
    expect(tools).toMatch(/read.* is asked about/)
    expect(tools).toContain("restart")
    expect(tools).not.toContain("page")
    await it.command("@web restart the web tier")
    const sent = (await it.provider.came(1)).body as unknown as Sent
    expect(sent.model).toBe("small-model")
    expect(sent.messages[0]).toMatchObject({ role: "system", content: "Only the web tier." })
    expect(sent.tools?.map((tool) => tool.function.name).toSorted()).toEqual(["read", "restart"])

    // The file asks about the one, the agent about the other; a tool outside of its kit isn't there.
    const cards = [await it.card(1), await it.card(2)]
    const of = (tool: string) => must(cards.find(({ text }) => text.includes(tool)))
    expect(of("restart").text).toContain("(agent web)")
    await it.click(APP1, of("restart"), "approve")
    await it.hears(APP1, "You are not among those who may decide this")
    for (const card of cards) await it.click(APP2, card, "approve")
    const run = await it.ended()
    expect(run.ended).toMatchObject({ how: "done" })
    expect(await it.results(run)).toEqual([
      { isError: false, output: "restarted" },
      { isError: false, output: "read it" },
      { isError: true, output: "Unknown tool: page" },
    ])
  }, 60_000)

  test("that is gone from the file executes nothing any more, and its runs end in words", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, {
      turns: [{ calls: restart }],
      config: { agents: AGENTS, approvers: [APP1, APP2] },
    })
    const before = await it.bot()
    await it.command("@web restart the web tier")
    const card = await it.card()
    await before.stop()
    it.reconfigure({ agents: {} })
    await it.bot()
    await it.click(APP2, card, "approve")
    const run = await it.ended()
    expect(run.ended).toMatchObject({ how: "failed", words: expect.stringContaining("web is not configured any more") })
    expect(await it.results(run)).toEqual([
      { isError: true, output: "the agent web is not configured any more; it was not executed" },
    ])
    expect(it.executions()).toEqual([])
    expect(it.provider.requests).toHaveLength(1)
    await until(
      () => JSON.stringify(it.slack.workspace.messages(OPS)).includes("web is not configured any more"),
      () => "the end to be told",
    )
  })
})

describe("Stop", () => {
  test("aborts the model call under way, on whichever process; the run ends and the button goes", async ({
    onTestFinished,
  }) => {
    let release: () => void = () => undefined
    const hold = new Promise<void>((resolve) => (release = resolve))
    onTestFinished(() => release())
    const it = await Team.during(onTestFinished, { turns: [{ hold, calls: restart }] })
    await Promise.all([it.bot(), it.bot()])
    await it.command("restart the web tier")
    await it.provider.came(1)
    const root = await it.card(1, "cancel")
    expect(JSON.stringify(root.blocks)).toContain('"text":"Stop"')
    expect(JSON.stringify(root.blocks)).toContain("Stop this run?")
    await it.click(OUT, root, "cancel")
    await it.hears(OUT, "Not cancelled.")
    await it.click(REQ, root, "cancel")
    expect((await it.ended()).ended).toMatchObject({ how: "cancelled" })
    await until(
      () => it.provider.requests[0]?.dropped === true,
      () => "the model call to be aborted",
    )
    await until(
      () => it.cards("cancel").length === 0,
      () => "the button to go",
    )
    // Somebody who still sees it.
    await it.click(REQ, root, "cancel")
    await it.hears(REQ, "the run is over")
    release()
    expect(it.executions()).toEqual([])
    expect(it.provider.requests).toHaveLength(1)
  })
})
