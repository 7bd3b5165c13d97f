/**
 * One fact as one line that a person can read. Whatever somebody else wrote in it stays on the line, marked by quotes,
 * with nothing invisible in it. Knows no message and no channel.
 */
import type { Fact, Person, What } from "../core/fact.ts"
import { mask, shownArgs } from "../core/mask.ts"

/** The most characters of args, of a note, and of other foreign words. */
const ARGS = 400
const NOTE = 300
const WORD = 120

/** What a line says beside the fact: only where those who read it may know. */
export interface Beside {
  /** The canonical args, unmasked, and the paths in them that rules mask. */
  args?: string
  masks?: readonly string[]
  /** What was asked for. */
  prompt?: string
}

/** `number` is the line's own, such as `12`, or `3.12` for shard 3 of several. */
export function lineOf(number: string, fact: Fact, beside: Beside = {}): string {
  const parts = [
    `#${number}`,
    utcSeconds(fact.at),
    saying(fact),
    ...(beside.prompt === undefined ? [] : [quoted("asked for", beside.prompt, NOTE)]),
    ...(fact.by === undefined ? [] : [`by ${personOf(fact.by)}`]),
    `via ${fact.via}`,
    ...argsOf(fact, beside),
    ...(fact.note === undefined ? [] : [quoted("note", fact.note, NOTE)]),
    ...(fact.repeats === undefined || fact.repeats === 0 ? [] : [`and ${fact.repeats} more like it`]),
    ...(fact.ask === undefined
      ? []
      : [`request ${word(fact.ask)}${fact.version === undefined ? "" : ` v${fact.version}`}`]),
    `run ${word(fact.run)} fact ${fact.n} ${fact.hash.slice(0, 12)}`,
    ...(fact.cause === undefined ? [] : [`cause ${word(fact.cause)}`]),
  ]
  return parts.join(" · ")
}

/** For a line that can't be shown: what finds the fact again. */
export const bareLine = (number: string, fact: Fact): string =>
  `#${number} · ${utcSeconds(fact.at)} · ${fact.what} · via ${fact.via} · run ${word(fact.run)} fact ${fact.n} ${fact.hash}`

/** For one that is refused even so: it holds its number's place. */
export const plainLine = (number: string): string => `#${number} · (this line could not be shown)`

/** The shard's state after so many lines: whoever keeps the journal can compute the same root. */
export const checkpointLine = (shard: number, lines: number, root: string): string =>
  `checkpoint · shard ${shard} · ${lines} lines · root ${root}`

/** That the channel took no lines for a while; `why` is Slack's word. */
export const closedLine = (shard: number, since: number, why: string): string =>
  `gap · shard ${shard} · nothing could be posted here since ${utcSeconds(since)} (${word(why)}); what waited follows, none is missing`

/** `2026-11-29 12:30:05 UTC` */
const utcSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`

/** A name proves nothing, so the id stands beside it; neither pings anybody. */
function personOf({ team, user, name }: Person): string {
  const id = `${word(user)}, team ${word(team)}`
  return name === undefined || name.trim() === "" ? id : `“${clip(oneLine(name), 80)}” (${id})`
}

/** What happened, and to what: ` restart (call 1.2)`, or nothing when it is about the run as a whole. */
function saying(fact: Fact): string {
  const tool = fact.tool === undefined ? "" : ` ${word(fact.tool)}`
  const about = fact.call === undefined ? tool : `${tool} (call ${word(fact.call)})`
  const outcome = word(fact.outcome ?? "")
  const said = about === "" ? OF_RUNS[fact.what] : OF_CALLS[fact.what]
  return said?.(about, outcome) ?? `${fact.what}${about}${outcome === "" ? "" : `: ${outcome}`}`
}

type Saying = Partial<Record<What, (about: string, outcome: string) => string>>

const OF_RUNS: Saying = {
  // With an agent that the configuration names.
  started: (_, outcome) => (outcome === "" ? "run started" : `run started with ${outcome}`),
  shown: () => "run shown",
  said: (_, outcome) => `something said in the run: ${outcome}`,
  continued: () => "run goes on",
  finished: (_, outcome) => `run over: ${outcome}`,
  undelivered: (_, outcome) => `messages not delivered to ${outcome}`,
}

const OF_CALLS: Saying = {
  asked: (about, outcome) => `asked about${about}${outcome === "" ? "" : ` (${outcome})`}`,
  shown: (about) => `card shown:${about}`,
  settled: (about, outcome) => `${outcome === "" ? "settled" : outcome}:${about}`,
  expired: (about) => `expired:${about}`,
  undelivered: (about, outcome) => `card not delivered to ${outcome}:${about}`,
}

function argsOf(fact: Fact, { args, masks = [] }: Beside): string[] {
  if (fact.args === undefined) return []
  const digest = `args sha-256 ${word(fact.args.slice(0, 16))}`
  if (args === undefined) return [digest]
  const { text, count } = shownArgs(args, masks)
  const shown = clip(oneLine(text), ARGS)
  return [`args ${shown}${count === 0 ? "" : ` (${count} masked)`}`, digest]
}

const quoted = (what: string, text: string, max: number): string => `${what} “${clip(oneLine(mask(text).text), max)}”`
const word = (text: string): string => clip(oneLine(mask(text).text), WORD)

/** Breaks, controls and whatever can't be seen as `\u{…}`; the line's own separator and quotes can't be imitated. */
const oneLine = (text: string): string =>
  text.replace(
    /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}·“”]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )

function clip(text: string, max: number): string {
  const points = [...text]
  return points.length <= max ? text : `${points.slice(0, max).join("")}… (${points.length - max} more)`
}
