import { describe, expect, test } from "vitest"
import { GRACE, LISTS, OPS, rig, ROBIN, type Rig } from "./app.rig.ts"
import type { NamedAgent } from "../../src/slack/agents.ts"
import type { Seen } from "../../src/sandbox/live.ts"

const SIDE = "C0SIDE"
const AGENTS: NamedAgent[] = [
  { name: "ops", description: "Looks after the web tier", prompts: ["How is web?"] },
  { name: "db", description: "Looks after <!channel> databases", prompts: [], starters: [GRACE] },
  { name: "side", description: "Works next door", prompts: [], channels: [SIDE] },
  { name: "far", description: "Works where the file lets nobody start", prompts: [], channels: ["C0FAR"] },
]

async function withAgents(): Promise<Rig> {
  const it = await rig({
    app: { agents: AGENTS, lists: { ...LISTS, starters: [ROBIN, GRACE], channels: [OPS, SIDE] } },
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

  test("the app's home shows those that the person may use somewhere", async () => {
    const it = await withAgents()
    await it.slack.workspace.openHome(GRACE)
    await it.slack.workspace.waitFor(() => JSON.stringify(it.slack.workspace.home(GRACE) ?? "").includes("@db"))
    const home = JSON.stringify(it.slack.workspace.home(GRACE))
    expect(home).toContain("/agent @side …")
    expect(home).not.toContain("@far")
  })
})
