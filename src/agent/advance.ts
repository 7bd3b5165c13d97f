/**
 * Moves a run on, one step at a time: a model turn, a call, the result of a decided call. The same steps serve the run
 * that is held in memory and the one in Redis; where it is held, and who is asked, is not known here.
 */
import { handedOver, usedBy } from "../core/converse.ts"
import { remind } from "../core/remind.ts"
import { nextFor, openAsks } from "../core/run.ts"
import type { Call, Ended, Run } from "../core/run.ts"
import { stumbled } from "../core/stumble.ts"
import { end, took } from "../core/turn.ts"
import { stepped, toolsIn } from "./agent.ts"
import type { Agent, Held } from "./agent.ts"
import { asked } from "./asking.ts"
import { perform } from "./call.ts"
import { Deadline } from "./deadline.ts"
import { lookForAnswers } from "./hold.ts"
import type { Turn } from "./model.ts"
import { plan } from "./plan.ts"

/** `abort` ends what is under way; `drain` keeps new things from starting, `paused` models and calls alone. */
export interface Signals {
  paused?: () => boolean
  abort?: AbortSignal | Deadline
  drain?: AbortSignal
}

type Task = { do: "model" } | { do: "remind" } | { do: "call"; call: Call }

/** What can be done for the run now. */
function tasksOf(run: Run, now: number): Task[] {
  if (run.ended || !run.rooted) return []
  if (openAsks(run).some((ask) => nextFor(ask) <= now)) return [{ do: "remind" }]
  if (run.calls.length === 0) return run.retry && run.retry.at > now ? [] : [{ do: "model" }]
  const open = run.calls.filter((call) => call.state === "ready" || call.state === "decided")
  return open.map((call) => ({ do: "call", call }))
}

/** What was decided is written down, and deadlines go on, also in a pause. */
const mayBegin =
  ({ paused }: Signals) =>
  (task: Task): boolean =>
    paused?.() !== true || task.do === "remind" || (task.do === "call" && task.call.state === "decided")

const nameOf = (task: Task): string => (task.do === "call" ? task.call.id : task.do)

const isClosed = ({ abort, drain }: Signals): boolean => abort?.aborted === true || drain?.aborted === true

/** Does all that can be done for the run, calls side by side, until it waits or has ended. Rejects with the first fault. */
export async function advance(held: Held, agent: Agent, signals: Signals = {}): Promise<void> {
  const underway = new Map<string, { done: Promise<void>; limit: Deadline }>()
  const bell = new Bell()
  const abort = (reason: unknown): void => underway.forEach(({ limit }) => limit.abort(reason))
  const begin = (task: Task): void => {
    const name = nameOf(task)
    if (underway.has(name)) return
    const limit = new Deadline([signals.abort], task.do === "model" ? agent.timeoutMs : undefined)
    const over = (): void => {
      limit.clear()
      underway.delete(name)
    }
    underway.set(name, { limit, done: once(held, agent, task, limit).finally(over).then(bell.ring, bell.fail) })
  }
  const unwatch = held.watch(bell.ring, bell.fail)
  try {
    for (;;) {
      const run = held.run()
      lookForAnswers(held)
      if (run.cancelled) abort(new Error("the run was cancelled"))
      if (held.holds && !isClosed(signals)) tasksOf(run, held.now()).filter(mayBegin(signals)).forEach(begin)
      if (underway.size === 0) return
      // Until something under way is done, or the run may look different.
      await bell.rung()
    }
  } catch (error) {
    abort(error)
    await Promise.all([...underway.values()].map(({ done }) => done))
    throw error
  } finally {
    unwatch()
  }
}

/** Rings when there is something to look at: once, however often that is before somebody does. */
class Bell {
  #rang = false
  #fault: { error: unknown } | undefined
  #wake: (() => void) | undefined

  readonly ring = (): void => {
    this.#rang = true
    this.#wake?.()
  }

  readonly fail = (error: unknown): void => {
    this.#fault ??= { error }
    this.ring()
  }

  /** Rejects with what failed first. */
  async rung(): Promise<void> {
    if (!this.#rang) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#rang = false
    if (this.#fault) throw this.#fault.error
  }
}

async function once(held: Held, agent: Agent, task: Task, limit: Deadline): Promise<void> {
  switch (task.do) {
    case "model":
      return turn(held, agent, limit)
    case "remind":
      await held.apply((run, now) => stepped(remind(run, now)))
      return
    case "call":
      return perform(held, agent, task.call, limit)
  }
}

function limitOf(run: Run, agent: Agent): string | undefined {
  const { turns, tokens } = usedBy(run)
  if (turns >= agent.maxTurns) return `maxTurns (${agent.maxTurns})`
  if (tokens >= agent.maxTokens) return `maxTokens (${agent.maxTokens})`
  return undefined
}

/** Why an answer may have broken off, by the provider's word for it. */
const CUT: Partial<Record<(Turn & { ok: true })["finish"], string>> = {
  length: "maxOutputTokens (the model's own limit for one answer)",
  "content-filter": "contentFilter (the provider's filter stopped the answer)",
}

/** Why the run ends before the model is asked. */
function overBefore(run: Run, agent: Agent): Pick<Ended, "how" | "words"> | undefined {
  if (agent.gone !== undefined) return { how: "failed", words: `${agent.gone}: nobody works on it` }
  const words = limitOf(run, agent)
  return words === undefined ? undefined : { how: "incomplete", words }
}

async function turn(held: Held, agent: Agent, limit: Deadline): Promise<void> {
  const how = overBefore(held.run(), agent)
  if (how !== undefined) {
    await held.apply((run, now) => stepped(run.calls.length === 0 ? end(run, how, now) : undefined))
    return
  }
  if (held.run().said) await held.apply((run, now) => stepped(handedOver(run, now)))
  const tools = (await toolsIn(agent, held.run())).tools()
  const taken = await asked(held, agent, { tools, limit })
  if ("shortened" in taken) return
  if (limit.aborted && !limit.isLate) return
  if (!taken.ok) return stumble(held, agent, taken)
  await agent.observe?.turned?.(taken)
  const planned = await plan(held.run(), agent, { calls: taken.calls, offered: tools })
  const message = JSON.stringify(taken.message)
  const { text, usage } = taken
  const cut = CUT[taken.finish]
  await held.apply((run, now) => stepped(took(run, { message, text, usage, prices: agent.prices, planned, cut }, now)))
}

async function stumble(held: Held, agent: Agent, taken: Turn & { ok: false }): Promise<void> {
  await agent.observe?.stumbled?.(taken)
  const { words, retryable, retryAfterMs: retryAfter } = taken
  const { retries: limit, retryBaseMs: base } = agent
  await held.apply((run, now) => stepped(stumbled(run, { words, retryable, limit, retryAfter, base }, now)))
}
