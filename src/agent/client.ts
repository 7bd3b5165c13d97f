/**
 * An agent in this process: the very steps that the bot takes over Redis, on a run held in memory. Whoever must be asked
 * is asked through `waitFor`; without one a run halts, as plain data that `resume` goes on from, here or elsewhere.
 */
import { randomUUID } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import type { LanguageModelV3, LanguageModelV3Message } from "@ai-sdk/provider"
import { openAsks } from "../core/run.ts"
import type { Answer, Request, ToolResult } from "../core/suspension.ts"
import { answerDeclined, answerOf, unresolvedOutput } from "../core/suspension.ts"
import { begin } from "../core/turn.ts"
import { advance } from "./advance.ts"
import type { Agent, Observe } from "./agent.ts"
import { Deadline } from "./deadline.ts"
import { Events } from "./events.ts"
import { balanced } from "./history.ts"
import type { Hooks, MetricEvent, StreamEvent } from "./hooks.ts"
import { guardOf, HOST_RULE, observeOf } from "./hooks.ts"
import { MemoryHeld } from "./memory.ts"
import { createModel } from "./model.ts"
import type { Parked, RunResult } from "./result.ts"
import { parkedOf, resultOf, RunFailed } from "./result.ts"
import type { Records } from "./resume.ts"
import { resumed } from "./resume.ts"
import type { Toolkit } from "./tool.ts"

export type WaitFor = (request: Request) => Promise<Answer | null | undefined> | Answer | null | undefined

export interface ClientOptions {
  baseUrl: string
  style: "openai" | "anthropic"
  model: string
  apiKey?: string
  /** Turns of the model after which a run ends incomplete. */
  maxTurns?: number
  /** How often a turn is tried again after a passing fault of the provider, and the first wait before that, ms. */
  retries?: number
  retryBaseMs?: number
  /** ms that a whole run may take, its waiting for people included. */
  timeoutMs?: number
  hooks?: Hooks
  onMetric?: (event: MetricEvent) => void
  fetch?: typeof globalThis.fetch
  /** Asks a person and hands back the Answer. None (null) is a no; a rejection ends the run with that error. */
  waitFor?: WaitFor
  /** Instructions for the model. */
  systemPrompt?: string
}

export interface RunOptions {
  toolkit: Toolkit
  /** Ends the run; what was asked is over, and a later yes runs nothing. */
  signal?: AbortSignal
}

export interface Client {
  /** Rejects with RunFailed when the model can't be asked, with the signal's reason when told to stop, with what a hook or `waitFor` threw. */
  run(prompt: string, options: RunOptions & { history?: readonly LanguageModelV3Message[] }): Promise<RunResult>
  /** As `run`, telling what happens as it does. Leaving the iteration ends the run. */
  stream(
    prompt: string,
    options: RunOptions & { history?: readonly LanguageModelV3Message[] },
  ): AsyncIterable<StreamEvent>
  /**
   * Goes on from a pending result (or from `RunFailed.parked`) with the Answer to its Request. The Answer's id must be
   * the Request's: otherwise it rejects, and nothing is done. In one process an Answer counts once: given again, it
   * leads to the same result; another one is refused.
   */
  resume(parked: RunResult | Parked, answer: Answer | undefined, options: RunOptions): Promise<RunResult>
}

export function createClient(options: ClientOptions): Client {
  const { style, baseUrl, model, apiKey, fetch } = options
  if (style !== "openai" && style !== "anthropic") throw new TypeError('createClient: style is "openai" or "anthropic"')
  const provider = style === "openai" ? "openai-compatible" : "anthropic"
  const speaker = createModel({ provider, baseUrl, model, apiKey, fetch })
  const play = (held: MemoryHeld, how: RunOptions & Partial<Played>) => new Session(options, speaker, held, how).play()
  const started = (prompt: string, history: readonly LanguageModelV3Message[] = []) => {
    if (typeof prompt !== "string") throw new TypeError("run: the prompt must be a string")
    return MemoryHeld.begin(firstStep(prompt, history))
  }
  return {
    run: async (prompt, how) => play(started(prompt, how.history), how),
    stream: (prompt, how) =>
      streamed((events, signal) => play(started(prompt, how.history), { ...how, events, signal }), how),
    resume: async (parked, answer, how) => resumed(parked, answer, (held, records) => play(held, { ...how, records })),
  }
}

function firstStep(prompt: string, history: readonly LanguageModelV3Message[]) {
  const id = `run-${randomUUID()}`
  const message: LanguageModelV3Message = { role: "user", content: [{ type: "text", text: prompt }] }
  const requester = { team: "", user: "host" }
  const transcript = [...balanced(history), JSON.stringify(message)]
  return begin(
    { id, cause: id, requester, channel: "", prompt, keep: 0, rooted: true, via: "bot", transcript },
    Date.now(),
  )
}

async function* streamed(
  play: (events: Events<StreamEvent>, signal: AbortSignal) => Promise<RunResult>,
  { signal }: RunOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const events = new Events<StreamEvent>()
  const left = new Deadline([signal], undefined)
  const over = play(events, left.signal).then(
    (result) => {
      if (result.status !== "pending") events.push({ type: "usage", usage: result.usage })
      events.push({ type: "done", result })
      events.end()
    },
    (error: unknown) => events.end({ error }),
  )
  try {
    yield* events
  } finally {
    left.abort(new Error("the stream was left"))
    left.clear()
    await over
  }
}

function agentOf(options: ClientOptions, model: LanguageModelV3, tools: Toolkit, held: MemoryHeld): Agent {
  const { maxTurns = 10, retries = 2, retryBaseMs = 500, systemPrompt, hooks } = options
  return {
    model,
    tools,
    maxTurns,
    maxTokens: Infinity,
    maxAsksPerTurn: Infinity,
    retries,
    retryBaseMs,
    answers: (options.waitFor ?? tools.waitFor) !== undefined,
    guard: guardOf(hooks, (id) => held.text(`req:${id}`) !== undefined),
    ruleOf: () => HOST_RULE,
    ...(systemPrompt === undefined ? {} : { instructions: systemPrompt }),
  }
}

interface Played {
  events: Events<StreamEvent>
  records: Records
}

/** One run in somebody's hands, until it is over or waits. */
class Session {
  readonly #held: MemoryHeld
  readonly #agent: Agent
  readonly #options: ClientOptions
  readonly #waitFor: WaitFor | undefined
  readonly #records: Records
  readonly #events: Events<StreamEvent> | undefined
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  readonly #clear: () => void

  constructor(options: ClientOptions, model: LanguageModelV3, held: MemoryHeld, how: RunOptions & Partial<Played>) {
    const { events, toolkit, signal, records = new Map() } = how
    if (toolkit === undefined) throw new TypeError("run: a toolkit is required, from createToolkit")
    this.#options = options
    this.#held = held
    this.#records = records
    this.#events = events
    this.#waitFor = options.waitFor ?? toolkit.waitFor
    const limit = new Deadline([this.#stop.signal, signal], options.timeoutMs)
    this.#signal = limit.signal
    this.#clear = () => limit.clear()
    this.#agent = { ...agentOf(options, model, toolkit, held), observe: this.#observe(toolkit) }
    if (events !== undefined)
      this.#agent.live = { said: (_run, delta) => delta !== "" && events.push({ type: "text", delta }) }
  }

  #observe(toolkit: Toolkit): Observe {
    const { hooks, onMetric } = this.#options
    const events = this.#events
    // Who halts tells of the first Request alone, at the end.
    const ask = async (request: Request) => {
      if (this.#waitFor) await events?.handOver({ type: "pending", request: structuredClone(request) })
    }
    return observeOf({
      toolkit,
      hooks,
      onMetric,
      records: this.#records,
      stream: events === undefined ? undefined : { push: (event) => events.push(event), ask },
      meaning: (call, result) => this.#meaning(call, result),
    })
  }

  async play(): Promise<RunResult> {
    const stopped = new Promise<never>((_resolve, reject) => {
      const stop = () => {
        // Whatever is still under way changes nothing any more.
        this.#held.close(this.#signal.reason)
        reject(this.#signal.reason as Error)
      }
      if (this.#signal.aborted) stop()
      else this.#signal.addEventListener("abort", stop, { once: true })
    })
    try {
      await Promise.race([stopped, this.#drive()])
    } catch (error) {
      this.#stop.abort(error)
      throw error
    } finally {
      this.#clear()
    }
    return this.#result()
  }

  #result(): RunResult {
    const { ended } = this.#held.run()
    if (ended?.how === "failed") {
      throw new RunFailed(ended.words ?? "the model could not be asked", parkedOf(this.#held, this.#records))
    }
    const result = resultOf(this.#held, this.#records, this.#options.model)
    if (result.pending !== undefined) this.#events?.push({ type: "pending", request: result.pending })
    return result
  }

  async #drive(): Promise<void> {
    if (this.#waitFor) this.#held.askBy((request) => void this.#ask(request))
    for (;;) {
      this.#signal.throwIfAborted()
      await advance(this.#held, this.#agent, { abort: this.#signal })
      const run = this.#held.run()
      if (run.ended) return
      if (run.retry) await delay(Math.max(0, run.retry.at - Date.now()), undefined, { signal: this.#signal })
      else if (openAsks(run).length > 0) {
        if (!this.#waitFor) return
        await this.#held.changed(this.#signal)
      }
    }
  }

  /** Never rejects: what goes wrong here ends the whole run. */
  async #ask(request: Request): Promise<void> {
    const { id } = request
    try {
      const value = await this.#waitFor?.(request)
      const read =
        value === undefined || value === null ? { ok: true as const, answer: answerDeclined(id) } : answerOf(value)
      if (!read.ok) throw new TypeError(`waitFor: ${read.error}`)
      if (read.answer.id !== id) throw new Error(`waitFor: the answer is to ${read.answer.id}, the Request was ${id}`)
      this.#held.answer(read.answer)
    } catch (error) {
      this.#stop.abort(error)
    }
  }

  #meaning(callId: string, result: ToolResult): "refused" | "unresolved" | "result" {
    const run = this.#held.run()
    const asks = run.asks.filter((ask) => ask.call === callId && ask.settled)
    if (asks.some((ask) => ask.settled?.ok === false)) return "refused"
    const { answered } = run.calls.find((call) => call.id === callId) ?? {}
    const text = answered === undefined ? undefined : this.#held.text(`req:${answered}`)
    if (text === undefined) return "result"
    return result.output === unresolvedOutput(JSON.parse(text) as Request) ? "unresolved" : "result"
  }
}
