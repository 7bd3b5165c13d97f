/**
 * A run held in this process's memory, and its whole state as plain data. Knows no model and no tool; who answers an
 * ask is told about it and answers when they can.
 */
import { answered } from "../core/ask.ts"
import type { Tried } from "../core/ask.ts"
import { askOf, merge, openAsks, withCall } from "../core/run.ts"
import type { Ask, Run, Step } from "../core/run.ts"
import { readRun } from "../core/stored.ts"
import type { Answer, Request } from "../core/suspension.ts"
import { answerDeclined } from "../core/suspension.ts"
import { finished } from "../core/turn.ts"
import { failure } from "./tool.ts"
import type { Held } from "./agent.ts"
import { resultMessage } from "./plan.ts"

/** All that a run is, as plain JSON: what another process needs to go on with it. */
export interface State {
  run: Run
  texts: Record<string, string>
  /** JSON texts, in order. */
  transcript: string[]
}

/** setTimeout can't wait longer. */
const MAX_WAIT = 2 ** 31 - 1

export class MemoryHeld implements Held {
  readonly owner = "memory"
  readonly holds = true
  #run: Run
  readonly #texts: Map<string, string>
  readonly #transcript: string[]
  readonly #asked = new Set<string>()
  #ask: ((request: Request) => void) | undefined
  #closed: { reason: unknown } | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #watchers = new Set<() => void>()

  constructor(state: State) {
    this.#run = state.run
    this.#texts = new Map(Object.entries(state.texts))
    this.#transcript = [...state.transcript]
  }

  /** A new run, from its first step. */
  static begin(step: Step): MemoryHeld {
    const held = new MemoryHeld({ run: step.run, texts: {}, transcript: [] })
    held.#take(step)
    return held
  }

  /**
   * A run from its stored state. A call that was running then has an unknown outcome: unless it may be repeated, it is
   * not, and the model is told so. Throws for what is no state, and NewerFormat for one of a newer release.
   */
  static restore(state: State): MemoryHeld {
    const held = new MemoryHeld({ ...state, run: readRun(JSON.stringify(state.run)) })
    for (const call of held.#run.calls) {
      const { attempt } = call
      if (call.state !== "running" || attempt === undefined) continue
      if (call.effects !== "once") {
        held.#run = withCall(held.#run, { ...call, attempt: undefined, state: "ready" })
        continue
      }
      const words = "outcome unknown: the call was interrupted while it ran; it was not executed again"
      const message = resultMessage(call.ref, call.tool, failure(words))
      const result = { message, isError: true, outcome: "outcome unknown" }
      const step = finished(held.#run, call.id, attempt.id, result, Date.now())
      if (step) held.#take(step)
    }
    return held
  }

  state(): State {
    return { run: this.#run, texts: Object.fromEntries(this.#texts), transcript: [...this.#transcript] }
  }

  run(): Run {
    return this.#run
  }

  now(): number {
    return Date.now()
  }

  text(field: string): string | undefined {
    return this.#texts.get(field)
  }

  /** From now on `ask` is called once for each open ask, those that are open already included. */
  askBy(ask: (request: Request) => void): void {
    this.#ask = ask
    this.#askOpen()
  }

  /** Answers an ask. A yes after the deadline finds it expired; false when the ask was settled before. */
  answer(answer: Answer): boolean {
    if (this.#closed) return false
    return this.#change((run, now) => {
      const step = answered(run, answer, now)
      return step ? { step, outcome: true } : { outcome: false }
    })
  }

  /** Nothing changes the run any more: whoever tries is rejected with `reason`. */
  close(reason: unknown): void {
    this.#closed ??= { reason }
  }

  async apply<O>(transition: (run: Run, now: number) => Tried<O>): Promise<{ outcome: O }> {
    return { outcome: await this.deliver(transition) }
  }

  async deliver<O>(transition: (run: Run, now: number) => Tried<O>): Promise<O> {
    if (this.#closed) throw this.#closed.reason
    return this.#change(transition)
  }

  async texts(fields: string[]): Promise<(string | undefined)[]> {
    return fields.map((field) => this.#texts.get(field))
  }

  async transcript(): Promise<string[]> {
    return [...this.#transcript]
  }

  watch(look: () => void): () => void {
    this.#watchers.add(look)
    this.#setTimer()
    return () => {
      this.#watchers.delete(look)
      this.#setTimer()
    }
  }

  /** Resolves with the next change, or when `signal` aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        unwatch()
        signal.removeEventListener("abort", done)
        resolve()
      }
      const unwatch = this.watch(done)
      signal.addEventListener("abort", done)
      if (signal.aborted) done()
    })
  }

  /** While somebody watches, the next deadline is looked at when it has passed; far ones are waited for in stretches. */
  #setTimer(): void {
    clearTimeout(this.#timer)
    if (this.#watchers.size === 0 || this.#closed) return
    const due = Math.min(...openAsks(this.#run).map((ask) => ask.expiresAt))
    if (due === Infinity) return
    this.#timer = setTimeout(() => this.#due(), Math.min(Math.max(0, due - Date.now()) + 1, MAX_WAIT))
  }

  #due(): void {
    if (!this.#closed) this.#change(() => ({ outcome: undefined }))
    this.#tell()
  }

  #tell(): void {
    this.#setTimer()
    for (const look of this.#watchers) look()
  }

  #change<O>(transition: (run: Run, now: number) => Tried<O>): O {
    const now = Date.now()
    const late = lapse(this.#run, now)
    const tried = transition(late?.run ?? this.#run, now)
    const step = merge(late, tried.step)
    if (step) {
      this.#take(step)
      this.#askOpen()
    }
    return tried.outcome
  }

  #take(step: Step): void {
    this.#run = step.run
    for (const { field, text } of step.texts) this.#texts.set(field, text)
    for (const entry of step.append) {
      if (typeof entry === "string") this.#transcript.push(entry)
      else {
        this.#transcript.push(this.#texts.get(entry.field) ?? "null")
        this.#texts.delete(entry.field)
      }
    }
    this.#tell()
  }

  #askOpen(): void {
    if (!this.#ask || this.#closed) return
    for (const { id } of openAsks(this.#run)) {
      const text = this.#texts.get(`req:${id}`)
      if (text === undefined || this.#asked.has(id)) continue
      this.#asked.add(id)
      // Parsed afresh: what a host does to its copy changes nothing here.
      this.#ask(JSON.parse(text) as Request)
    }
  }
}

/** The open asks of a run in the order of their calls. */
export function openInOrder(run: Run): Ask[] {
  return run.calls.flatMap((call) => {
    const ask = call.ask === undefined ? undefined : askOf(run, call.ask)
    return call.state === "asked" && ask && !ask.settled ? [ask] : []
  })
}

/** Settles what is overdue, before anything else may be done: silence is never consent. */
function lapse(run: Run, now: number): Step | undefined {
  let all: Step | undefined
  for (const ask of openAsks(run)) {
    if (ask.expiresAt <= now) all = merge(all, answered(all?.run ?? run, answerDeclined(ask.id, "expired"), now))
  }
  return all
}
