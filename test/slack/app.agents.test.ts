import { describe, expect, test } from "vitest"
import { ADA, DOORS, GRACE, LISTS, OPS, rig, ROBIN, type Rig } from "./app.rig.ts"
import { BOT } from "../../src/sandbox/seed.ts"
import type { NamedAgent } from "../../src/slack/agents.ts"
import type { Seen } from "../../src/sandbox/live.ts"

const SIDE = "C0SIDE"
const AGENTS: NamedAgent[] = [
  { name: "ops", description: "Looks after the web tier", prompts: ["How is web?"] },
  { name: "db", description: "Looks after <!channel> databases", prompts: ["Vacuum?"], starters: [GRACE] },
  { name: "side", description: "Works next door", prompts: [], channels: [SIDE] },
  { name: "far", description: "Works where the file lets nobody start", prompts: [], channels: ["C0FAR"] },
]

async function withAgents(more: NonNullable<Parameters<typeof rig>[0]>["app"] = {}): Promise<Rig> {
  const it = await rig({
    app: { agents: AGENTS, ...more, lists: { ...LISTS, starters: [ROBIN, GRACE], channels: [OPS, SIDE] } },
  })
  it.slack.workspace.addChannel({ id: SIDE, members: [...it.slack.workspace.channel(OPS).members] })
  return it
}

const answer = ({ response }: Seen): string => JSON.stringify(response ?? "")
const started = async (it: Rig, user = ROBIN) => {
  const runs = await it.store.list([`requester:T1:${user}`], 10)
  return runs.map(({ run }) => ({ agent: run.agent, title: run.title }))
}

describe("a command that names an agent", () => {
  test("starts the run with it, and its message names it", async () => {
    const it = await withAgents()
    expect(answer(await it.slack.workspace.command(ROBIN, OPS, "@Ops restart web"))).toContain("Started.")
    expect(await started(it)).toEqual([{ agent: "ops", title: "restart web" }])
    await it.told(ROBIN, "Its thread")
    const [root] = it.slack.workspace.messages(OPS)
    expect(root?.text).toContain("asked the agent ops: restart web")
    const [run] = await it.store.list([`requester:T1:${ROBIN}`], 1)
    const [first] = await it.store.facts(run?.run.id ?? "")
    expect(JSON.parse(first ?? "{}")).toMatchObject({ what: "started", outcome: "ops" })
  })

  test("starts it with the file's own where none is named, or there is none", async () => {
    const it = await withAgents()
    await it.slack.workspace.command(ROBIN, OPS, "restart @ops")
    expect(await started(it)).toEqual([{ agent: undefined, title: "restart @ops" }])
    // As a message that mentions her first is read.
    await it.slack.workspace.command(ROBIN, OPS, `@${ADA} needs access to web`)
    expect(await started(it)).toContainEqual({ agent: undefined, title: `@${ADA} needs access to web` })
    const bare = await rig()
    await bare.slack.workspace.command(ROBIN, OPS, "@ops restart web")
    expect(await started(bare)).toEqual([{ agent: undefined, title: "@ops restart web" }])
  })

  test.each([
    ["there is none of that name", "@dba vacuum", ROBIN, "no agent “dba” that you can use here"],
    ["the person may not use it", "@db vacuum", ROBIN, "no agent “db” that you can use here"],
    ["it may not be used there", "@side go", ROBIN, "no agent “side” that you can use here"],
    ["the file lets nobody start anything where it may be used", "@far go", ROBIN, "no agent “far”"],
    ["the name is no name", "@here restart", ROBIN, "no agent “here” that you can use here"],
  ])("starts nothing when %s, and tells which there are", async (_, text, user, words) => {
    const it = await withAgents()
    expect(answer(await it.slack.workspace.command(user, OPS, text))).toContain(words)
    await it.told(user, "You can use 1 agent by name")
    const list = JSON.stringify(it.slack.workspace.ephemerals(user))
    expect(list).toContain("/agent @ops …")
    expect(list).not.toMatch(/@(?:db|side|far)/)
    expect(await started(it, user)).toEqual([])
    expect(it.logged.join("")).toContain("a run was not started")
  })

  test("with nothing to do says what it is for", async () => {
    const it = await withAgents()
    const said = answer(await it.slack.workspace.command(ROBIN, OPS, "@ops"))
    expect(said).toContain("Looks after the web tier")
    expect(said).toContain("How is web?")
    expect(await started(it)).toEqual([])
  })

  test("“agents” lists those that the person may use in the channel; their words mention nobody", async () => {
    const it = await withAgents()
    const said = answer(await it.slack.workspace.command(GRACE, OPS, "agents"))
    expect(said).toContain("/agent @ops …")
    expect(said).toContain("/agent @db …")
    expect(said).not.toContain("@side")
    expect(said).not.toContain('"broadcast"')
    expect(answer(await it.slack.workspace.command(ROBIN, SIDE, "agents"))).toContain("/agent @side …")
    const none = await rig()
    expect(answer(await none.slack.workspace.command(ROBIN, OPS, "agents"))).toContain("none with a name")
  })

  test("“tools” tells those of the file, and behind an agent's name its own, to whoever may use it there", async () => {
    const source = (agent = "the file") => ({
      name: `Of ${agent}`,
      tools: [
        { name: `restart_${agent.replace(" ", "_")}`, falls: agent === "ops" ? ("deny" as const) : ("ask" as const) },
      ],
      notes: [],
    })
    const it = await withAgents({ sources: async (_person, agent) => [source(agent)] })
    const said = async (text: string, user = ROBIN, channel = OPS) =>
      answer(await it.slack.workspace.command(user, channel, text))
    expect(await said("tools")).toMatch(/restart_the_file.* is asked about/)
    const own = await said("tools @OPS")
    expect(own).toMatch(/restart_ops.* is refused/)
    expect(own).toContain("Tools of the agent ops")
    expect(await said("tools @db", GRACE)).toContain("restart_db")
    for (const [text, user, channel] of [
      ["tools @db"],
      ["tools @dba"],
      ["tools @side"],
      ["tools @ops", ADA],
      ["tools", ADA],
    ]) {
      const refused = await said(text ?? "", user, channel)
      expect(refused).toMatch(user === ADA ? /Not started\. You are not among/ : /no agent “\w+” that you can use here/)
      expect(refused).not.toContain("restart_")
    }
    expect(await said("tools of web")).toContain("Started.")
  })

  test("in a direct message are those without channels of their own", async () => {
    const it = await withAgents({ doors: { ...DOORS, message: { cards: OPS, prompts: [] } } })
    const { id } = it.slack.workspace.openDm(BOT, GRACE)
    const said = answer(await it.slack.workspace.command(GRACE, id, "agents"))
    expect(said).toContain("/agent @ops …")
    expect(said).toContain("/agent @db …")
    expect(said).not.toContain("@side")
  })

  test("who opens the app's messages is offered the file's prompts and those of the agents for them, four in all", async () => {
    const prompts = ["How is it?", "Who is on call?", "What is new?", "And else?"]
    const it = await withAgents({ doors: { ...DOORS, message: { cards: OPS, prompts } } })
    const offered = (user: string) =>
      it.slack.workspace.beside.promptsOf(it.slack.workspace.openDm(BOT, user).id).map(({ message }) => message)
    await it.slack.workspace.openHome(GRACE, "messages")
    await it.slack.workspace.waitFor(() => offered(GRACE).length > 0)
    expect(offered(GRACE)).toEqual(["How is it?", "@ops How is web?", "@db Vacuum?", "Who is on call?"])
    await it.slack.workspace.openHome(ROBIN, "messages")
    await it.slack.workspace.waitFor(() => offered(ROBIN).length > 0)
    expect(offered(ROBIN)).toEqual(["How is it?", "@ops How is web?", "Who is on call?", "What is new?"])
    await it.slack.workspace.openHome(ADA, "messages")
    // It ends when all that came in is dealt with: whoever may not ask is offered nothing.
    await it.bot.stop()
    const calls = it.slack.workspace.calls.filter(({ method }) => method.endsWith("setSuggestedPrompts"))
    expect(calls).toHaveLength(2)
    expect(offered(ADA)).toEqual([])
  })

  test("the app's home shows those that the person may use somewhere", async () => {
    const it = await withAgents()
    await it.slack.workspace.openHome(GRACE)
    await it.slack.workspace.waitFor(() => JSON.stringify(it.slack.workspace.home(GRACE) ?? "").includes("@db"))
    const home = JSON.stringify(it.slack.workspace.home(GRACE))
    expect(home).toContain("/agent @side …")
    expect(home).not.toContain("@far")
  })
})
