/**
 * What a host may do around a call of a run in memory, and what it is told: hooks, metrics, stream events, and the
 * record of each call. A suspension is never counted as a tool's error.
 */
import { canonical } from "../core/digest.ts"
import { jsonCopy } from "../core/json.ts"
import type { Rule } from "../core/policy.ts"
import type { Request, ToolResult } from "../core/suspension.ts"
import { suspensionOf } from "../core/suspension.ts"
import type { Guard, Guarded, Observe, Observed } from "./agent.ts"
import { renamed } from "./agent.ts"
import { failure } from "./tool.ts"
import type { Recorded, RunResult } from "./result.ts"
import type { Toolkit } from "./tool.ts"

type Args = Record<string, unknown>

export interface ToolEvent {
  name: string
  args: Args
  /** The model's id of the call. */
  id: string
  turn: number
}

export interface Hooks {
  /** Before a call runs: `args` replace the model's, `result` stands for the call; a suspension as `result` asks first. */
  beforeTool?(event: ToolEvent): Maybe<{ args?: Args; result?: ToolResult }>
  /** Once a call, on what it came to (also when it was refused), never on a suspension; `result` replaces it. */
  afterTool?(event: ToolEvent & { result: ToolResult }): Maybe<{ result?: ToolResult }>
}

type Maybe<T> = T | undefined | void | Promise<T | undefined | void>

export interface MetricEvent {
  event: "tool"
  tool: string
  source: string
  isError: boolean
  ms: number
  /** The call waits for an answer. */
  pending?: true
}

export type StreamEvent =
  | { type: "text"; delta: string }
  | { type: "tool_call"; id: string; name: string; args: Args }
  | { type: "tool_result"; id: string; name: string; output: string; isError: boolean }
  | { type: "usage"; usage: RunResult["usage"] }
  | { type: "pending"; request: Request }
  | { type: "done"; result: RunResult }

/** A host asks in its own way: nobody is listed, nothing ages, only a Request's own deadline counts. */
export const HOST_RULE: Rule = {
  approvers: [],
  selfApproval: "confirm",
  expiresIn: Number.MAX_SAFE_INTEGER,
  startWithin: Number.MAX_SAFE_INTEGER,
}

export interface Watch {
  toolkit: Toolkit
  hooks?: Hooks | undefined
  onMetric?: ((event: MetricEvent) => void) | undefined
  /** Where a stream is read. `ask` resolves when its reader knows of the Request. */
  stream?: { push(event: StreamEvent): void; ask(request: Request): Promise<void> } | undefined
  /** By call id. */
  records: Map<string, Recorded>
  /** What a result means: a person's no, a tool that suspended again although it was answered, or the tool's own. */
  meaning(callId: string, result: ToolResult): "refused" | "unresolved" | "result"
}

const turnOf = (id: string): number => Number(id.split(".", 1)[0])

const eventOf = (call: Observed): ToolEvent => ({
  name: call.tool,
  args: argsOf(call.args),
  id: call.ref,
  turn: turnOf(call.id),
})

/** Args that can't be read are shown as none; the call's result says why. */
function argsOf(text: string): Args {
  try {
    const args: unknown = JSON.parse(text)
    return typeof args === "object" && args !== null ? (args as Args) : {}
  } catch {
    return {}
  }
}

/** `isTaken`: whether a Request of this id was asked before in the run. */
export function guardOf(hooks: Hooks | undefined, isTaken: (id: string) => boolean): Guard {
  /** Those of the turn that is being planned are nowhere else yet. */
  const planned = new Set<string>()
  return async ({ id, ref, tool, args }) => {
    const said = await hooks?.beforeTool?.(eventOf({ id, ref, tool: tool.name, args }))
    const changed = said?.args === undefined ? {} : { args: textOf(tool.name, said.args) }
    const next = guarded(said?.result)
    if (next.do !== "ask") return { ...next, ...changed }
    const { id: wished } = next.request
    const request = isTaken(wished) || planned.has(wished) ? renamed(next.request) : next.request
    planned.add(request.id)
    return { ...next, request, ...changed }
  }
}

function guarded(result: ToolResult | undefined): Guarded {
  if (result === undefined) return { do: "run" }
  const raised = suspensionOf(result)
  if (raised === undefined) return { do: "result", result, why: "hook" }
  if (raised.ok) return { do: "ask", request: raised.request, rule: HOST_RULE }
  return { do: "result", result: failure(`nobody can be asked: ${raised.error}`), why: "hook" }
}

function textOf(tool: string, args: Args): string {
  const copied = jsonCopy(args)
  if (!copied.ok) throw new TypeError(`beforeTool: the args for ${tool} must be JSON: ${copied.error}`)
  return canonical(copied.value)
}

export function observeOf(watch: Watch): Observe {
  const { toolkit, hooks, onMetric, stream, records } = watch
  const metric = (call: Observed, isError: boolean, ms: number, pending: boolean) => {
    const source = toolkit.get(call.tool)?.source ?? "custom"
    onMetric?.({ event: "tool", tool: call.tool, source, isError, ms, ...(pending ? { pending: true } : {}) })
  }
  return {
    turned: ({ calls }) => {
      for (const { ref, tool, args = "{}" } of calls) {
        stream?.push({ type: "tool_call", id: ref, name: tool, args: argsOf(args) })
      }
    },
    suspended: async (call, request, ms) => {
      metric(call, false, ms, true)
      await stream?.ask(request)
    },
    resolved: async (call, result, ms) => {
      const event = eventOf(call)
      const said = await hooks?.afterTool?.({ ...event, result })
      const told = said?.result ?? result
      // Neither a person's no nor a question is a fault of the tool's. The no was counted as pending, and afterTool saw it.
      const meaning = watch.meaning(call.id, result)
      if (meaning !== "refused") metric(call, meaning === "result" && told.isError, ms, meaning === "unresolved")
      const { output, isError, metadata } = told
      const record = { id: call.id, name: call.tool, args: event.args, output, isError }
      records.set(call.id, metadata === undefined ? record : { ...record, metadata })
      stream?.push({ type: "tool_result", id: call.ref, name: call.tool, output, isError })
      return told
    },
  }
}
