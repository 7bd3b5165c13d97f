/** What a model's work on a run came to, in tokens and money. Pure; knows no provider. */
import type { Run } from "./run.ts"

/** Tokens of one answer. `cached`: those of the prompt that the provider had kept, where it says so. */
export interface Used {
  prompt: number
  completion: number
  cached?: number | undefined
}

/** Of a million tokens, in `currency` (three letters). Without `cachedInput` those cost as the others do. */
export interface Prices {
  input: number
  output: number
  cachedInput?: number | undefined
  currency: string
}

/** What else is known beside the tokens in and out. */
export interface Spent {
  /** Tokens of prompts that the provider had kept. */
  cached?: number | undefined
  /** Millionths of `currency`. */
  cost?: number | undefined
  /** `?`: there were several, so that no sum can be told. */
  currency?: string | undefined
  /** Tokens of the latest turn, in and out: so long the conversation was by then. */
  last?: number | undefined
}

const MIXED = "?"

/** Millionths: prices are of a million tokens. */
function costOf({ prompt, completion, cached = 0 }: Used, { input, output, cachedInput = input }: Prices): number {
  const kept = Math.min(cached, prompt)
  return (prompt - kept) * input + kept * cachedInput + completion * output
}

/** The run with an answer added to what it came to. `last`: tokens that the conversation has now, where they are known. */
export function withUsed(
  run: Run,
  used: Used,
  { prices, last }: { prices?: Prices | undefined; last?: number } = {},
): Run {
  const { usage, spent } = run
  return {
    ...run,
    usage: { prompt: usage.prompt + used.prompt, completion: usage.completion + used.completion },
    spent: {
      cached: (spent?.cached ?? 0) + (used.cached ?? 0) || undefined,
      ...paid(spent, used, prices),
      last,
    },
  }
}

function paid(before: Spent | undefined, used: Used, prices: Prices | undefined): Pick<Spent, "cost" | "currency"> {
  const { cost, currency } = before ?? {}
  if (!prices || currency === MIXED) return { cost, currency }
  if (currency !== undefined && currency !== prices.currency) return { cost: undefined, currency: MIXED }
  return { cost: Math.round((cost ?? 0) + costOf(used, prices)), currency: prices.currency }
}
