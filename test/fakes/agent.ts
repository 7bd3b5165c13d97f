import type { LanguageModelV3 } from "@ai-sdk/provider"
import type { Agent } from "../../src/agent/agent.ts"
import { createToolkit } from "../../src/agent/tool.ts"
import type { ToolkitOptions } from "../../src/agent/tool.ts"

type Tools = NonNullable<ToolkitOptions["extraTools"]>

/** An agent whose calls all run unasked, for tests of what it does otherwise. */
export async function unguarded(model: LanguageModelV3, tools: Tools = [], more: Partial<Agent> = {}): Promise<Agent> {
  return {
    model,
    tools: await createToolkit({ extraTools: tools }),
    maxTurns: 9,
    maxTokens: 9999,
    maxAsksPerTurn: 9,
    retries: 3,
    guard: async () => ({ do: "run" }),
    ruleOf: () => ({ approvers: [], selfApproval: false, expiresIn: 1, startWithin: 1 }),
    ...more,
  }
}
