/**
 * What an agent is, and what holding a run means: the two things that every step needs. Where a run is held, and who is
 * asked, is not known here.
 */
import type { LanguageModelV3 } from "@ai-sdk/provider"
import type { Tried } from "../core/ask.ts"
import type { Person } from "../core/fact.ts"
import type { Rule } from "../core/policy.ts"
import { wishOf, type Run, type Step } from "../core/run.ts"
import { mintId } from "../core/suspension.ts"
import type { Request, ToolResult } from "../core/suspension.ts"
import type { Prices } from "../core/usage.ts"
import type { ModelWishes, Turn } from "./model.ts"
import type { Tool, Toolkit } from "./tool.ts"

export type Guarded =
  /** `grant`: unasked under that grant; should it be over by then, this is what to ask. */
  | { do: "run"; grant?: { id: string; otherwise: { request: Request; rule: Rule } } }
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

/** A call about which something is asked that no guard asks. */
export interface Asked {
  run: Run
  tool: string
  /** Canonical text, where it is known. */
  args?: string
  /** The tool's own question. */
  request?: Request
}

/** A call as an observer sees it. */
export interface Observed {
  id: string
  ref: string
  tool: string
  args: string
}

/** Who watches a run's steps: hooks and metrics of a host. Purely informed; what it throws is the host's fault. */
export interface Observe {
  turned?(turn: Turn & { ok: true }): void | Promise<void>
  stumbled?(turn: Turn & { ok: false }): void | Promise<void>
  /** A call suspended: its Request is about to be asked. */
  suspended?(call: Observed, request: Request, ms: number): void | Promise<void>
  /** A call has its result, whatever it came to; may hand back another one. */
  resolved?(
    call: { id: string; ref: string; tool: string; args: string },
    result: ToolResult,
    ms: number,
  ): Promise<ToolResult>
}

/** Who is told what is under way in a run while it is. Nothing of it is kept, and nobody waits for it. */
export interface Live {
  /** Text of the model as it comes; "" begins a turn. Its presence is what makes answers stream. */
  said?: (run: Run, delta: string) => void
  /** What a tool tells of its call; only while that runs. */
  told?: (run: Run, call: Pick<Observed, "id" | "tool">, text: string) => void
}

/** What an agent is made of, and its limits. */
export interface Agent {
  model: LanguageModelV3
  wishes?: ModelWishes
  instructions?: string
  tools: Toolkit
  /** Those of one person, where not everybody has the same: whose is said by who spoke last in the run. */
  toolsFor?: ((person: Person) => Promise<Toolkit>) | undefined
  /** What the model's tokens cost, where that is known. */
  prices?: Prices
  /** Turns after which the run ends incomplete. */
  maxTurns: number
  /** Tokens (prompt and completion, all turns) after which the run ends incomplete. */
  maxTokens: number
  maxAsksPerTurn: number
  /** Whether somebody answers what a call asks while it goes on. */
  answers?: boolean
  /** Tokens that the model reads at once: a longer conversation is shortened. Absent: it never is. */
  contextTokens?: number
  /** How often the model is asked again after a passing fault. */
  retries: number
  /** The first back-off before that, ms; it doubles. */
  retryBaseMs?: number
  /** ms that one model turn may take. */
  timeoutMs?: number
  /** Why no model is asked for it and none of its calls run any more, a clause. */
  gone?: string
  /** What stands between a planned call and its start. */
  guard: Guard
  /** Who answers the Requests that a tool raises, and (without one) doubts about unguarded calls. */
  ruleOf: (asked: Asked) => Rule
  observe?: Observe
  /** Where somebody reads along. */
  live?: Live
}

/** A run in somebody's hands: the newest state known, and the way to change it. */
export interface Held {
  readonly owner: string
  /** False once the run was given back or is another's: nothing may be begun any more. */
  readonly holds: boolean
  run(): Run
  /** Redis' clock or the process's, ms: good enough to see that something is due; the transition judges by its own `now`. */
  now(): number
  /** Changes the run. `confirm`: replicas must have it, where that is configured. Rejects when the run is no longer ours. */
  apply<O>(transition: (run: Run, now: number) => Tried<O>, options?: { confirm?: boolean }): Promise<{ outcome: O }>
  /** As apply, for the result of an attempt: kept and tried again until it is stored, also without the lease. */
  deliver<O>(transition: (run: Run, now: number) => Tried<O>): Promise<O>
  texts(fields: string[]): Promise<(string | undefined)[]>
  transcript(): Promise<string[]>
  /**
   * Calls `look` when the run was changed, or something in it may have become due, until the watch is ended; `lost` when
   * the run is no longer ours.
   */
  watch(look: () => void, lost: (error: unknown) => void): () => void
}

/** The tools that the agent has in a run as it is now. */
export const toolsIn = async ({ tools, toolsFor }: Pick<Agent, "tools" | "toolsFor">, run: Run): Promise<Toolkit> =>
  toolsFor ? toolsFor(wishOf(run).asker) : tools

/** A Request whose id an earlier one of the run has: an answer would be to both, and one of them would wait for ever. */
export const renamed = (request: Request): Request => ({ ...request, id: mintId() })

/** A transition that has nothing to tell. */
export const stepped = (step: Step | undefined): Tried<undefined> =>
  step ? { step, outcome: undefined } : { outcome: undefined }
