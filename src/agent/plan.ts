/**
 * Looks at the calls of a model's turn before anything runs: are the args whole and right, may the call start, must
 * somebody be asked. Knows no person and runs no tool.
 */
import { canonical, sha256 } from "../core/digest.ts"
import type { Rule } from "../core/policy.ts"
import type { Run } from "../core/run.ts"
import type { Request, ToolResult } from "../core/suspension.ts"
import type { Planned } from "../core/turn.ts"
import { refusedEnough } from "../core/turn.ts"
import type { Agent } from "./advance.ts"
import type { Turn, TurnCall } from "./model.ts"
import type { Tool } from "./tool.ts"
import { checkArgs } from "./tool.ts"

/** After so many refusals of one and the same call in a run, nobody is asked about it again. */
const MAX_REFUSALS = 3
/** Characters of args beyond which nobody could read them before deciding. */
const MAX_ARGS = 100_000

export type Guarded =
  | { do: "run" }
  | { do: "ask"; request: Request; rule: Rule }
  | { do: "result"; result: ToolResult; why: string }

/** Decides about one call before it starts; may hand back other args than the model's, which are then what is shown and run. */
export type Guard = (call: {
  run: Run
  id: string
  ref: string
  tool: Tool
  args: string
}) => Promise<Guarded & { args?: string }>

/** Who watches a run's steps: hooks and metrics of a host. Purely informed; what it throws is the host's fault. */
export interface Observe {
  turned?(turn: Turn & { ok: true }): void
  stumbled?(turn: Turn & { ok: false }): void
  /** A call suspended: its Request is about to be asked. */
  suspended?(call: { id: string; ref: string; tool: string }, request: Request, ms: number): void
  /** A call has its result, whatever it came to; may hand back another one. */
  resolved?(
    call: { id: string; ref: string; tool: string; args: string },
    result: ToolResult,
    ms: number,
  ): Promise<ToolResult>
}

/** A transcript entry: the result of one call, as the model will read it. */
export function resultMessage(ref: string, tool: string, result: ToolResult): string {
  const output = { type: result.isError ? "error-text" : "text", value: result.output }
  return JSON.stringify({ role: "tool", content: [{ type: "tool-result", toolCallId: ref, toolName: tool, output }] })
}

const failure = (output: string): ToolResult => ({ output, isError: true })

/** Plans the calls of a turn, in order. */
export async function plan(run: Run, agent: Agent, calls: readonly TurnCall[]): Promise<Planned[]> {
  const planned: Planned[] = []
  let asks = 0
  for (const [index, call] of calls.entries()) {
    const one = await planOne(run, agent, call, `${run.turns + 1}.${index + 1}`, asks)
    if (one.next.do === "ask") asks += 1
    planned.push(one)
  }
  return planned
}

async function planOne(run: Run, agent: Agent, call: TurnCall, id: string, asks: number): Promise<Planned> {
  const tool = agent.tools.get(call.tool)
  const args = call.args ?? call.raw
  const answered = async (args: string, result: ToolResult, why: string): Promise<Planned> => {
    const told = (await agent.observe?.resolved?.({ id, ref: call.ref, tool: call.tool, args }, result, 0)) ?? result
    const next = {
      do: "result",
      message: resultMessage(call.ref, call.tool, told),
      isError: told.isError,
      why,
    } as const
    return { ref: call.ref, tool: call.tool, effects: tool?.effects ?? "once", args, digest: sha256(args), next }
  }
  if (!tool) return answered(args, failure(`Unknown tool: ${call.tool}`), "unknown tool")
  const fault = call.error ?? faultOf(tool, args)
  if (fault !== undefined) return answered(args, failure(fault), "bad args")
  const guarded = await agent.guard({ run, id, ref: call.ref, tool, args })
  const final = guarded.args ?? args
  const changed = guarded.args === undefined ? undefined : faultOf(tool, final)
  if (changed !== undefined) return answered(final, failure(changed), "bad args")
  if (guarded.do === "result") return answered(final, guarded.result, guarded.why)
  const base = {
    ref: call.ref,
    tool: call.tool,
    effects: tool.effects ?? "once",
    args: final,
    digest: sha256(final),
  } as const
  if (guarded.do === "run") return { ...base, next: { do: "run" } }
  if (asks >= agent.maxAsksPerTurn) {
    return answered(
      final,
      failure(`not asked: at most ${agent.maxAsksPerTurn} approvals per turn; ask for fewer at a time`),
      "too many asks",
    )
  }
  if (refusedEnough(run, base, MAX_REFUSALS)) {
    return answered(
      final,
      failure(`not asked again: this very call was declined ${MAX_REFUSALS} times in this run`),
      "declined before",
    )
  }
  agent.observe?.suspended?.({ id, ref: call.ref, tool: call.tool }, guarded.request, 0)
  return { ...base, next: { do: "ask", request: guarded.request, rule: guarded.rule } }
}

function faultOf(tool: Tool, args: string): string | undefined {
  if (args.length > MAX_ARGS)
    return `the arguments have ${args.length} characters; nobody can check more than ${MAX_ARGS}`
  const value: unknown = JSON.parse(args)
  if (canonical(value) !== args) return "the arguments are not canonical JSON"
  return checkArgs(tool, value)
}
