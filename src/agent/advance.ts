/**
 * Moves a run on, one step at a time: a model turn, a call, the result of a decided call. The same steps serve the run
 * that is held in memory and the one in Redis; where it is held, and who is asked, is not known here.
 */
import type { LanguageModelV3, LanguageModelV3Message } from "@ai-sdk/provider"
import type { Tried } from "../core/ask.ts"
import { expire } from "../core/ask.ts"
import { openAsks } from "../core/run.ts"
import type { Call, Run } from "../core/run.ts"
import { took, end, stumbled } from "../core/turn.ts"
import { perform } from "./call.ts"
import { takeTurn } from "./model.ts"
import type { Turn } from "./model.ts"
import type { Guard, Observe } from "./plan.ts"
import { plan } from "./plan.ts"
import type { Toolkit } from "./tool.ts"
import type { Rule } from "../core/policy.ts"

/** What an agent is made of, and its limits. */
export interface Agent {
  model: LanguageModelV3
  instructions?: string
  tools: Toolkit
  /** Turns after which the run ends incomplete. */
  maxTurns: number
  /** Tokens (prompt and completion, all turns) after which the run ends incomplete. */
  maxTokens: number
  maxAsksPerTurn: number
  /** How often the model is asked again after a passing fault. */
  retries: number
  /** ms that one model turn may take. */
  timeoutMs?: number
  /** What stands between a planned call and its start. */
  guard: Guard
  /** Who answers the Requests that a tool raises, and doubts about unguarded calls. */
  ruleOf(tool: string): Rule
  observe?: Observe
  /** Text of the model as it comes, where somebody reads along. */
  onText?: (delta: string) => void
}

/** `abort` ends what is under way; `drain` only keeps new things from starting. */
export interface Signals {
  abort?: AbortSignal
  drain?: AbortSignal
}

/** A run in somebody's hands: the newest state known, and the way to change it. */
export interface Held {
  readonly owner: string
  run(): Run
  /** Redis' clock or the process's, ms: good enough to see that something is due; the transition judges by its own `now`. */
  now(): number
  /** Changes the run; `want` names texts to read along. Rejects when the run is no longer ours to change. */
  apply<O>(
    transition: (run: Run, now: number) => Tried<O>,
    want?: string[],
  ): Promise<{ outcome: O; wanted: (string | undefined)[] }>
  /** As apply, for the result of an attempt: kept and tried again until it is stored, also without the lease. */
  deliver<O>(transition: (run: Run, now: number) => Tried<O>): Promise<O>
  texts(fields: string[]): Promise<(string | undefined)[]>
  transcript(): Promise<string[]>
  /** Resolves when somebody else changed the run, or something in it may have become due. */
  changed(signal: AbortSignal): Promise<void>
}

export type Task = { do: "model" } | { do: "expire" } | { do: "run" | "decide"; call: Call }

/** What can be done for the run now. */
export function tasksOf(run: Run, now: number): Task[] {
  if (run.ended || !run.rooted) return []
  if (openAsks(run).some((ask) => ask.expiresAt <= now)) return [{ do: "expire" }]
  if (run.calls.length === 0) return run.retry && run.retry.at > now ? [] : [{ do: "model" }]
  return run.calls.flatMap((call): Task[] => {
    if (call.state === "decided" || (call.state === "ready" && run.cancelled)) return [{ do: "decide", call }]
    return call.state === "ready" ? [{ do: "run", call }] : []
  })
}

const nameOf = (task: Task): string => ("call" in task ? `${task.do} ${task.call.id}` : task.do)

/** Does all that can be done for the run, calls side by side, until it waits or has ended. Rejects with the first fault. */
export async function advance(held: Held, agent: Agent, signals: Signals = {}): Promise<void> {
  const underway = new Map<string, Promise<void>>()
  const all = new AbortController()
  const abort = signals.abort ? AbortSignal.any([signals.abort, all.signal]) : all.signal
  try {
    for (;;) {
      const run = held.run()
      if (run.cancelled || run.ended) all.abort(new Error("the run was cancelled"))
      const closed = signals.drain?.aborted === true || signals.abort?.aborted === true
      for (const task of closed ? [] : tasksOf(run, held.now())) {
        const name = nameOf(task)
        if (underway.has(name)) continue
        underway.set(
          name,
          once(held, agent, task, abort).finally(() => underway.delete(name)),
        )
      }
      if (underway.size === 0) return
      const idle = new AbortController()
      await Promise.race([...underway.values(), held.changed(idle.signal)]).finally(() => idle.abort())
    }
  } catch (error) {
    all.abort(error)
    await Promise.allSettled(underway.values())
    throw error
  }
}

async function once(held: Held, agent: Agent, task: Task, signal: AbortSignal): Promise<void> {
  if (task.do === "model") return turn(held, agent, signal)
  if (task.do === "expire") {
    await held.apply((run, now) => stepped(expire(run, now)))
    return
  }
  return perform(held, agent, task.call, signal)
}

/** A transition without a tale of its own. */
export const stepped = (step: ReturnType<typeof expire>): Tried<undefined> =>
  step ? { step, outcome: undefined } : { outcome: undefined }

function limitOf(run: Run, agent: Agent): string | undefined {
  if (run.turns >= agent.maxTurns) return `maxTurns (${agent.maxTurns})`
  if (run.usage.prompt + run.usage.completion >= agent.maxTokens) return `maxTokens (${agent.maxTokens})`
  return undefined
}

async function turn(held: Held, agent: Agent, signal: AbortSignal): Promise<void> {
  const limit = limitOf(held.run(), agent)
  if (limit !== undefined) {
    await held.apply((run, now) =>
      stepped(run.calls.length === 0 ? end(run, { how: "incomplete", words: limit }, now) : undefined),
    )
    return
  }
  const messages = (await held.transcript()).map((text) => JSON.parse(text) as LanguageModelV3Message)
  const taken: Turn = await takeTurn(agent.model, {
    messages,
    tools: agent.tools.tools(),
    ...(agent.instructions === undefined ? {} : { instructions: agent.instructions }),
    ...(agent.onText ? { onText: agent.onText } : {}),
    ...(agent.timeoutMs === undefined ? {} : { timeoutMs: agent.timeoutMs }),
    signal,
  })
  if (signal.aborted) return
  if (!taken.ok) {
    agent.observe?.stumbled?.(taken)
    const { words, retryable, retryAfterMs } = taken
    const again = retryAfterMs === undefined ? {} : { retryAfter: retryAfterMs }
    await held.apply((run, now) => stepped(stumbled(run, { words, retryable, limit: agent.retries, ...again }, now)))
    return
  }
  agent.observe?.turned?.(taken)
  const planned = await plan(held.run(), agent, taken.calls)
  const message = JSON.stringify(taken.message)
  await held.apply((run, now) => stepped(took(run, { message, text: taken.text, usage: taken.usage, planned }, now)))
}
