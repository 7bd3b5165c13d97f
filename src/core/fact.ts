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

/** The door by which something came: a button, a modal, a slash command, the command line, the timer, the bot itself. */
export type Via = "click" | "form" | "command" | "cli" | "timer" | "bot"

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

/** What a transition says about itself; the chain adds the rest. */
export interface Entry {
  what: What
  via: Via
  by?: Person
  ask?: string
  call?: string
  tool?: string
  /** sha-256 (hex) of the canonical args the fact is about. */
  args?: string
  version?: number
  /** One of a small vocabulary (`approved`, `declined`, `cancelled`, `expired`, `error`, …) or a reason in words. */
  outcome?: string
  /** Words of a person, the model or a tool: foreign text. */
  note?: string
  /** What identifies the attempt over retries and redeliveries (a trigger id; person + action_ts + ask; an attempt id). */
  cause?: string
  /** How many further attempts of the same kind this entry stands for. */
  repeats?: number
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

/** Chains entries behind `tip`; returns the facts and the new tip. */
export function chain(run: string, tip: Tip, at: number, entries: readonly Entry[]): { facts: Fact[]; tip: Tip } {
  const facts: Fact[] = []
  let { n, hash } = tip
  for (const entry of entries) {
    n += 1
    const body = { ...wellFormed(entry), run, n, at, prev: hash }
    hash = sha256(canonicalOwn(body))
    facts.push({ ...body, hash })
  }
  return { facts, tip: { n, hash } }
}

/** Half a character in foreign words has no UTF-8, so a stored fact could not be verified. */
const wellFormed = (entry: Entry): Entry => ({
  ...entry,
  ...(entry.note === undefined ? {} : { note: entry.note.toWellFormed() }),
  ...(entry.by?.name === undefined ? {} : { by: { ...entry.by, name: entry.by.name.toWellFormed() } }),
})

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
