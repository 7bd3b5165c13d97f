/**
 * Looks at the calls of a model's turn before anything runs: are the args whole and right, may the call start, must
 * somebody be asked. Knows no person and runs no tool.
 */
import { sha256 } from "../core/digest.ts"
import type { Run } from "../core/run.ts"
import type { ToolResult } from "../core/suspension.ts"
import { refusedEnough } from "../core/ask.ts"
import type { Planned } from "../core/turn.ts"
import { spokenName } from "./reply.ts"
import { checkArgs, failure } from "./tool.ts"
import type { Agent, Guarded } from "./agent.ts"
import type { TurnCall } from "./model.ts"
import type { Tool } from "./tool.ts"

/** After so many refusals of one and the same call in a run, nobody is asked about it again. */
const MAX_REFUSALS = 3
/** Calls of one turn that are looked at: all of them would run at once, and each costs as much more as there are others. */
const MAX_CALLS = 100
/** Characters of args beyond which nobody could read them before deciding. */
const MAX_ARGS = 100_000

/** A transcript entry: the result of one call, as the model will read it. */
export function resultMessage(ref: string, tool: string, result: ToolResult): string {
  const output = { type: result.isError ? "error-text" : "text", value: result.output.toWellFormed() }
  const toolName = spokenName(tool)
  return JSON.stringify({ role: "tool", content: [{ type: "tool-result", toolCallId: ref, toolName, output }] })
}

/** What is known of a call before it is decided about. */
interface Looked extends Omit<Planned, "next"> {
  id: string
}

type Next = Exclude<Guarded, { do: "result" }> | { do: "result"; result: ToolResult; why: string }

/** Plans the calls of a turn, in order. `offered` are the tools that the model chose among: there may be others by now. */
export async function plan(
  run: Run,
  agent: Agent,
  { calls, offered }: { calls: readonly TurnCall[]; offered: readonly Tool[] },
): Promise<Planned[]> {
  const planned: Planned[] = []
  const byName = new Map(offered.map((tool) => [tool.name, tool]))
  for (const [index, call] of calls.entries()) {
    const id = `${run.turns + 1}.${index + 1}`
    const asks = planned.filter(({ next }) => next.do === "ask").length
    const tool = byName.get(call.tool)
    const { args, next } =
      index >= MAX_CALLS
        ? answered(call, TOO_MANY, "too many calls")
        : tool
          ? await guarded(run, agent, { id, call, tool })
          : answered(call, `Unknown tool: ${call.tool}`, "unknown tool")
    const looked = { id, ref: call.ref, tool: call.tool, ...riskOf(tool), args, digest: sha256(args) }
    planned.push(await plannedAs(agent, looked, next.do === "ask" ? askable(run, agent, looked, next, asks) : next))
  }
  return planned
}

function riskOf(
  tool: Tool | undefined,
): Pick<Planned, "effects" | "destructive" | "hints" | "since" | "print" | "origin"> {
  const { effects = "once", destructive, foreign } = tool ?? {}
  const { hints, since, print, origin } = foreign ?? {}
  return { effects, destructive, hints, since, print, origin }
}

const TOO_MANY = `not executed: at most ${MAX_CALLS} calls per turn; make fewer at a time`

const answered = (call: TurnCall, words: string, why: string): { args: string; next: Next } => ({
  args: call.args ?? call.raw,
  next: { do: "result", result: failure(words), why },
})

async function guarded(
  run: Run,
  agent: Agent,
  { id, call, tool }: { id: string; call: TurnCall; tool: Tool },
): Promise<{ args: string; next: Next }> {
  const args = call.args ?? call.raw
  const fault = call.error ?? faultOf(tool, args)
  if (fault !== undefined) return { args, next: badArgs(fault) }
  const said = await agent.guard({ run, id, ref: call.ref, tool, args })
  if (said.args === undefined) return { args, next: said }
  const changed = faultOf(tool, said.args)
  return { args: said.args, next: changed === undefined ? said : badArgs(changed) }
}

const badArgs = (fault: string): Next => ({ do: "result", result: failure(fault), why: "bad args" })

function faultOf(tool: Tool, args: string): string | undefined {
  if (args.length > MAX_ARGS)
    return `the arguments have ${args.length} characters; nobody can check more than ${MAX_ARGS}`
  return checkArgs(tool, JSON.parse(args))
}

/** Nobody is asked too much, nor the same thing again and again. */
function askable(run: Run, agent: Agent, call: Looked, next: Next, asks: number): Next {
  const most = agent.maxAsksPerTurn
  if (asks >= most) {
    const words = `not asked: at most ${most} approvals per turn; ask for fewer at a time`
    return { do: "result", result: failure(words), why: "too many asks" }
  }
  if (!refusedEnough(run, call, MAX_REFUSALS)) return next
  const words = `not asked again: this very call was declined ${MAX_REFUSALS} times in this run`
  return { do: "result", result: failure(words), why: "declined before" }
}

async function plannedAs(agent: Agent, looked: Looked, next: Next): Promise<Planned> {
  const { id, ...base } = looked
  const { ref, tool, args } = base
  if (next.do === "run") return { ...base, next }
  if (next.do === "ask") {
    await agent.observe?.suspended?.({ id, ref, tool, args }, next.request, 0)
    return { ...base, next: { do: "ask", request: next.request, rule: next.rule } }
  }
  const result = (await agent.observe?.resolved?.({ id, ref, tool, args }, next.result, 0)) ?? next.result
  const message = resultMessage(ref, tool, result)
  return { ...base, next: { do: "result", message, isError: result.isError, why: next.why } }
}
