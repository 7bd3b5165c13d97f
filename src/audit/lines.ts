/**
 * A fact as one line that a person can read: what, who, when, of which run and ask, through which door. Pure; how a line
 * looks in Slack, and what of it could mention or disguise something, is the sender's matter.
 */
import type { Fact, Person, What } from "../core/fact.ts"
import { mask } from "../core/mask.ts"

/** Characters of args and of notes on a line; the digest tells the rest. */
const MAX_TEXT = 300
/** Of an id or a name: a tool may choose its Request's id. */
const MAX_ID = 100

/** `2026-11-29 12:30:05 UTC` */
const moment = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`

/** The id is who they are; the name only helps reading. */
const personOf = ({ user, team, name }: Person): string =>
  name === undefined ? `${user} (${team})` : `${name} (${user}, ${team})`

const oneLine = (text: string): string => text.replaceAll(/\s*[\r\n\u2028\u2029]\s*/gu, " ⏎ ")

function clipped(text: string, max: number): string {
  const short = oneLine(mask(text).text)
  return short.length > max ? `${short.slice(0, max).toWellFormed()}… (${short.length} characters)` : short
}

/** What happened, in the words of the product. */
const HAPPENED: Record<What, (fact: Fact) => string> = {
  started: ({ call }) => (call === undefined ? "run started" : "call started"),
  finished: ({ call, outcome = "done" }) => `${call === undefined ? "run" : "call"} finished: ${outcome}`,
  asked: ({ outcome }) => (outcome === "doubt" ? "asked, outcome unknown" : "asked"),
  shown: ({ ask }) => (ask === undefined ? "run shown" : "card shown"),
  refused: ({ outcome = "not allowed" }) => `refused: ${outcome}`,
  settled: ({ outcome = "settled" }) => outcome,
  voted: () => "voted",
  expired: () => "expired",
  cancelled: () => "cancelled",
  edited: () => "edited",
  revealed: () => "masked values shown",
}

/** Nothing when there is nothing to say. */
const said = <T>(value: T | undefined, words: (value: T) => string): string[] =>
  value === undefined ? [] : [words(value)]

/**
 * The line of a fact. `args`: the canonical text of the call's args, when they may be read in the channel; they are
 * masked and cut here. Parts are set apart by ` · `.
 */
export function lineOf(fact: Fact, args?: string): string {
  return [
    moment(fact.at),
    HAPPENED[fact.what](fact),
    ...said(fact.tool, (tool) => `${tool} sha256:${(fact.args ?? "").slice(0, 12)}`),
    ...said(fact.by, (by) => `by ${clipped(personOf(by), MAX_ID)}`),
    `via ${fact.via}`,
    `run ${fact.run} fact ${fact.n}`,
    ...said(fact.call, (call) => `call ${call}`),
    ...said(fact.ask, (ask) => `request ${clipped(ask, MAX_ID)} v${fact.version ?? 1}`),
    ...said(fact.repeats, (repeats) => `and ${repeats} more like it`),
    ...said(fact.cause, (cause) => `cause ${clipped(cause, MAX_ID)}`),
    // Foreign text comes last: however long, it pushes nothing else off the line.
    ...said(fact.note, (note) => `note “${clipped(note, MAX_TEXT)}”`),
    ...said(args, (text) => `args ${clipped(text, MAX_TEXT)}`),
  ].join(" · ")
}

/** What the audit has come to in a shard. */
export interface Reached {
  /** Lines so far. */
  count: number
  /** sha-256 (hex) folded over the hashes of all facts so far, in the order of their lines. */
  root: string
}

export const checkpointOf = (shard: number, { count, root }: Reached): string =>
  `checkpoint · shard ${shard} · ${count} lines · root ${root}`
