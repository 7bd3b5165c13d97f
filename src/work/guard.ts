/**
 * The policy of the configuration as the guard of an agent's calls: what may start, what is asked and of whom.
 * Decides by rules alone; it looks up no person and posts nothing.
 */
import type { Guard } from "../agent/agent.ts"
import type { Tool } from "../agent/tool.ts"
import { mask } from "../core/mask.ts"
import type { ApprovalRule, Rule } from "../core/policy.ts"
import { decide } from "../core/policy.ts"
import { mintId } from "../core/suspension.ts"
import type { Request } from "../core/suspension.ts"

/** Guards by the first rule that matches; what no rule matches is asked, and a summary that throws hides nothing. */
export function policyGuard(rules: readonly ApprovalRule[], defaults: Rule): Guard {
  return async ({ tool, args }) => {
    const decision = decide(rules, defaults, tool.name)
    if (decision.do === "allow") return { do: "run" }
    if (decision.do === "deny") {
      const output = `denied by policy: the rule "${decision.rule}" allows nobody to run ${tool.name}`
      return { do: "result", result: { output, isError: true }, why: "denied by policy" }
    }
    return { do: "ask", rule: decision.rule, request: { id: mintId(), kind: "approval", prompt: promptOf(tool, args) } }
  }
}

function promptOf(tool: Tool, args: string): string {
  try {
    const summary = tool.summary?.(JSON.parse(args))
    // Masked before it is cut: half a secret is no shape that a mask knows.
    if (typeof summary === "string" && summary.trim() !== "") return mask(summary).text.slice(0, 1000).toWellFormed()
  } catch {
    // The args are on the card in any case; a summary is a courtesy.
  }
  return `Run ${tool.name}`
}

/** Who answers the Requests that a tool raises, and doubts: the same people as for its calls. */
export function ruleFor(rules: readonly ApprovalRule[], defaults: Rule): (tool: string) => Rule {
  return (tool) => {
    const decision = decide(rules, defaults, tool)
    if (decision.do === "ask") return decision.rule
    return defaults
  }
}

/** The question about an attempt whose outcome nobody knows. */
export function doubtRequest(tool: string, at: number): Request {
  const since = new Date(at).toISOString().slice(0, 19).replace("T", " ")
  const prompt = `It is not known whether ${tool}, started at ${since} UTC, was executed`
  return { id: mintId(), kind: "doubt", prompt }
}
