import { expect, test } from "vitest"
import { toolsIn, type Agent } from "../../src/agent/agent.ts"
import { gone, narrowed } from "../../src/agent/named.ts"
import { createToolkit, defineTool } from "../../src/agent/tool.ts"
import type { Run } from "../../src/core/run.ts"

const kitOf = (...names: string[]) =>
  createToolkit({ extraTools: names.map((name) => defineTool({ name, description: name, run: () => name })) })

const ROBIN = { team: "T1", user: "U0ROBIN" }
const ADA = { team: "T1", user: "U0ADA" }

test("an agent has in a run what whoever spoke last in it has, and once it is gone nothing of anybody's", async () => {
  const toolsFor = ({ user }: { user: string }) => kitOf("shared", `of_${user}`)
  const agent = { tools: await kitOf("shared"), toolsFor } as unknown as Agent
  const names = async (one: Agent, run: Partial<Run>) =>
    (await toolsIn(one, run as Run)).tools().map(({ name }) => name)
  expect(await names(agent, { requester: ROBIN })).toEqual(["shared", "of_U0ROBIN"])
  expect(await names(agent, { requester: ROBIN, asker: ADA })).toEqual(["shared", "of_U0ADA"])
  expect(await names(gone(agent, "web"), { requester: ROBIN })).toEqual([])
  expect(
    narrowed(await toolsFor(ADA), ["of_*"])
      .tools()
      .map(({ name }) => name),
  ).toEqual(["of_U0ADA"])
})
