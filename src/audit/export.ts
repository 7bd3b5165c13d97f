/**
 * The facts that Redis holds, as JSON lines: run by run, each run's in order. With what other people wrote masked, as
 * everywhere; a fact that is masked is marked, since its hash is of what was written. Changes nothing.
 */
import type { Fact } from "../core/fact.ts"
import { mask, shownArgs } from "../core/mask.ts"
import { NewerFormat } from "../core/run.ts"
import type { Store } from "../store/store.ts"
import { Unreadable } from "../store/unreadable.ts"
import { besideOf } from "./beside.ts"

export interface Exporting {
  /** This run alone. */
  run?: string | undefined
  /** Facts from this time on, ms by Redis' clock. */
  since: number
  /** Whether args and prompts go along, masked; otherwise their digests alone. */
  showsArgs: boolean
  /** The paths in a tool's args that any rule for it masks. */
  masksOf: (tool: string) => readonly string[]
}

/** One fact, or a run whose facts can't be told. */
export type Exported =
  | { fact: Record<string, unknown>; masked: boolean; args?: string; prompt?: string }
  | { run: string; error: string }

export async function* exportAudit(store: Store, how: Exporting): AsyncGenerator<Exported, void, undefined> {
  if (how.run !== undefined) return yield* ofRun(store, how.run, how)
  for await (const id of store.runs()) yield* ofRun(store, id, how)
}

async function* ofRun(store: Store, run: string, how: Exporting): AsyncGenerator<Exported, void, undefined> {
  let facts: Fact[]
  try {
    facts = (await store.facts(run)).map((text) => JSON.parse(text) as Fact)
  } catch (error) {
    if (!(error instanceof Unreadable || error instanceof NewerFormat)) throw error
    return yield { run, error: error.message }
  }
  if (facts.length === 0 && how.run !== undefined) yield { run, error: "Redis holds no such run" }
  for (const fact of facts) if (!(fact.at < how.since)) yield await told(store, fact, how)
}

async function told(store: Store, fact: Fact, how: Exporting): Promise<Exported> {
  const shown = withoutSecrets(fact)
  const { args, prompt } = how.showsArgs ? await besideOf(store, fact.run, fact) : {}
  return {
    ...shown,
    ...(args === undefined ? {} : { args: shownArgs(args, how.masksOf(fact.tool ?? "")).text }),
    ...(prompt === undefined ? {} : { prompt: mask(prompt).text }),
  }
}

function withoutSecrets(fact: Fact): { fact: Record<string, unknown>; masked: boolean } {
  let masked = false
  const text = JSON.stringify(fact, (_, value: unknown) => {
    if (typeof value !== "string") return value
    const { text, count } = mask(value)
    masked ||= count > 0
    return text
  })
  return { fact: JSON.parse(text) as Record<string, unknown>, masked }
}
