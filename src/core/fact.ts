/**
 * Facts: the journal of a run, each entry chained to the one before it, so that a missing or altered entry shows.
 * Knows nothing of how a fact is worded for people, nor of where the list is kept.
 */
import { canonicalOwn, sha256 } from "./digest.ts"

/** A person as Slack names them: `team` and `user` are the identity, `name` is decoration and proves nothing. */
export interface Person {
  team: string
  user: string
  enterprise?: string
  name?: string
}

/**
 * The door by which something came: a button, a modal, a slash command, a mention, a reply in a thread, a direct message, the
 * command line, the timer, the bot itself, a page on which somebody signs in.
 */
export type Via = "click" | "form" | "command" | "mention" | "reply" | "message" | "cli" | "timer" | "bot" | "page"

export type What =
  | "started"
  | "asked"
  | "shown"
  | "voted"
  | "refused"
  | "settled"
  | "finished"
  | "expired"
  | "cancelled"
  | "edited"
  | "revealed"
  | "reminded"
  | "escalated"
  | "granted"
  | "used"
  | "revoked"
  | "undelivered"
  | "said"
  | "signed in"
  | "continued"

/** What a transition says about itself; the chain adds the rest. */
export interface Entry {
  what: What
  via: Via
  by?: Person | undefined
  ask?: string | undefined
  call?: string | undefined
  tool?: string | undefined
  /** sha-256 (hex) of the canonical args the fact is about. */
  args?: string | undefined
  version?: number | undefined
  /** One of a small vocabulary (`approved`, `declined`, `cancelled`, `expired`, `error`, …) or a reason in words. */
  outcome?: string | undefined
  /** Words of a person, the model or a tool: foreign text. */
  note?: string | undefined
  /** What identifies the attempt over retries and redeliveries (a trigger id; person + action_ts + ask; an attempt id). */
  cause?: string | undefined
  /** How many further attempts of the same kind this entry stands for. */
  repeats?: number | undefined
}

export interface Fact extends Entry {
  run: string
  /** 1 for the first fact of the run. */
  n: number
  /** Redis' clock, ms. */
  at: number
  /** `hash` of fact n-1; empty for the first. */
  prev: string
  /** sha-256 (hex) of the canonical JSON of all the other fields. */
  hash: string
}

export interface Tip {
  n: number
  hash: string
}

/** Chains entries behind `tip`; returns the facts and the new tip. The JSON text of a fact is canonical. */
export function chain(run: string, tip: Tip, at: number, entries: readonly Entry[]): { facts: Fact[]; tip: Tip } {
  const facts: Fact[] = []
  let { n, hash } = tip
  for (const entry of entries) {
    n += 1
    const fact = factOf(entry, run, n, at, hash)
    hash = sha256(JSON.stringify(fact))
    fact.hash = hash
    facts.push(fact as Fact)
  }
  return { facts, tip: { n, hash } }
}

/** All fields, also those that are absent. */
type Whole<T> = { [K in keyof Required<T>]: T[K] | undefined }

/**
 * A fact without its hash. The order of its keys is that of canonical JSON, so that they need no sorting: a run has a
 * dozen facts, and sorting them was a tenth of what it cost.
 */
function factOf(entry: Entry, run: string, n: number, at: number, prev: string): Whole<Fact> {
  return {
    args: entry.args,
    ask: entry.ask,
    at,
    by: personOf(entry.by) as Person | undefined,
    call: entry.call,
    cause: entry.cause,
    hash: undefined,
    n,
    // Half a character in foreign words has no UTF-8, so a stored fact could not be verified.
    note: entry.note?.toWellFormed(),
    outcome: entry.outcome,
    prev,
    repeats: entry.repeats,
    run,
    tool: entry.tool,
    version: entry.version,
    via: entry.via,
    what: entry.what,
  }
}

const personOf = (by: Person | undefined): Whole<Person> | undefined =>
  by && { enterprise: by.enterprise, name: by.name?.toWellFormed(), team: by.team, user: by.user }

/** The number of the first fact at which the chain is broken, or undefined when it is whole. */
export function brokenAt(facts: readonly Fact[]): number | undefined {
  let prev = ""
  for (const [index, fact] of facts.entries()) {
    const { hash, ...body } = fact
    if (fact.n !== index + 1 || fact.prev !== prev || sha256(canonicalOwn(body)) !== hash) return index + 1
    prev = hash
  }
  return undefined
}
