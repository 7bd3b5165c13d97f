/**
 * What every message that should stand in Slack is described by, and what it is made from. Knows none in particular.
 */
import { canonical, sha256 } from "../../core/digest.ts"
import type { Ask, Run } from "../../core/run.ts"
import type { Message } from "../blocks/limits.ts"
import type { Names } from "../blocks/notices.ts"
import { slotOf, stands, type Slot, type Slots } from "./record.ts"

/** cards: people wait for it · rest: it brings up to date what stands. */
export type Lane = "cards" | "rest"

/** The texts of a run by field name, as far as they were loaded. */
export type Texts = ReadonlyMap<string, string>

/** ms */
export interface Rests {
  /** What the run's first message says of a run that goes on: it often changes once more. */
  root: number
  /** A card that was approved: most calls are done by then. */
  card: number
  /** What Slack refused in full, until that is tried once more. */
  refused: number
}

/** What messages say beside the run, and when. */
export interface Around {
  names: Names
  /** Who wants no pings, by id. */
  quiet: ReadonlySet<string>
  /** The command, with its slash. */
  command: string
  /** ms after which whoever asked for a run is told of what was refused, if the run is not over by then: its end tells it too. */
  tellAfter: number
  /** How long a change waits for the next one, ms, so that one call tells both. */
  rests: Rests
  /** Nothing may be approved or started at the moment. */
  paused: boolean
  /** A tool's input schema, where tools are known. */
  schemaOf?: ((tool: string, run: Run) => Record<string, unknown> | undefined) | undefined
}

/** Everything that messages are made from. */
export interface Scene {
  run: Run
  slots: Slots
  texts: Texts
  around: Around
}

export interface Target {
  channel: string
  thread?: string
}

/** Where the run's first message stands: in its channel, or below the message that it answers. */
export const rootTarget = ({ channel, below, thread }: Run): Target =>
  below && thread !== undefined ? { channel, thread } : { channel }

/** Where all else of it stands. */
export function threadOf(run: Run, slots: Slots): Target {
  const thread = run.below ? run.thread : slotOf(slots, "root").copies[0]?.ts
  return thread === undefined ? { channel: run.channel } : { channel: run.channel, thread }
}

/** A message that should stand. */
export interface Wanted extends Form {
  slot: Slot
  lane: Lane
  to: Target
  /** It will never look different. */
  final: boolean
  /** It follows the run after it was posted. */
  changes: boolean
  /** Whom it would ping, before anybody opted out; only of messages that are yet to be posted. */
  pings?: readonly string[]
  /** Those of them who opted out. */
  spared?: readonly string[]
  /** People wait for its next change. */
  urgent?: boolean
}

/** An ask whose cards are to be looked at, and whether its turn is over (then it never changes again). */
export interface Shown {
  ask: Ask
  archived: boolean
}

const hashes = new WeakMap<Message, string>()

/** What a message shows, in short. A message is asked for it several times, and never changed. */
export function hashOf(content: Message): string {
  const known = hashes.get(content)
  if (known !== undefined) return known
  const hash = sha256(canonical(content)).slice(0, 16)
  hashes.set(content, hash)
  return hash
}

/** The form in which a message goes. */
export interface Form {
  content: Message
  /** It is not the full one. */
  least?: true
  /** It does not go before this, ms. */
  notBefore?: number
}

/** The longest that what Slack refused in full waits to be tried once more, ms. */
const AGAIN_AT_MOST = 3_600_000

/**
 * What Slack refused in full goes as the least that can be said of it, until it changes. `again`: while that stands the full
 * form is tried once more after so many ms, then after twice as many, and so on; for messages that people need to do something.
 */
export function formOf(
  slot: Slot,
  full: Message,
  { least = sentenceOf(full), again }: { least?: Message; again?: number | undefined } = {},
): Form {
  const { refused } = slot.sent
  if (refused?.hash !== hashOf(full)) return { content: full }
  const stood = stands(slot) && slot.copies.every(({ hash }) => hash === hashOf(least))
  if (again === undefined || !stood) return { content: least, least: true }
  return { content: full, notBefore: refused.at + Math.min(again * 2 ** (refused.times - 1), AGAIN_AT_MOST) }
}

/** The text is escaped already; as plain text Slack reads those three escapes and nothing else. */
const sentenceOf = ({ text }: Message): Message => ({
  text,
  blocks: [{ type: "section", text: { type: "plain_text", text, emoji: false } }],
})

/** Of those whom a message pings, who opted out: as it was when it was posted, so that it doesn't change by that alone. */
export const sparedOf = ({ around }: Scene, slot: Slot, pings: readonly string[]): string[] =>
  stands(slot) ? (slot.sent.spared ?? []) : pings.filter((id) => around.quiet.has(id))

export const turnOf = (ask: Pick<Ask, "call">): string => ask.call.split(".", 1)[0] ?? ""
