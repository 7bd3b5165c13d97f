/**
 * What is known of a run's messages in Slack: the slots that were asked for, and what was sent for each. Reads and
 * writes the fields of that record; knows neither what a slot should show nor how it is sent.
 */
import { isRecord } from "../../core/json.ts"
import { slotAt } from "./places.ts"
import type { Place } from "./send.ts"

/** One message in Slack that shows a slot. A lost reply may leave two. */
export interface Copy extends Place {
  /** Of what it shows; empty when that isn't known. */
  hash: string
  /** It is gone from Slack, or can't be changed any more. */
  dead?: true
  /** What it was found to say when it was put right last. */
  seen?: string
}

/** What came of showing a slot: stored as JSON, one field a slot. */
export interface Sent {
  /** Every message that we know of. The first that lives is where a thread hangs. */
  copies?: Copy[]
  /** Posts whose outcome we don't know, and when the first of them was begun, ms. */
  tries?: number
  since?: number
  /**
   * Slack may still carry out an earlier call, of which the outcome isn't known: until when, ms; and, where that was a post, when
   * it was begun.
   */
  late?: { until: number; since?: number }
  /** Changes, and words, that failed in a row. */
  fails?: number
  /** Not before this, ms. */
  after?: number
  /** By which of the ways to a person a word is tried next. */
  door?: number
  /** Slack refused the full form, as it was then: its hash, how often in a row, and when last, ms. The least one is sent. */
  refused?: { hash: string; times: number; at: number }
  /** Whom it would have pinged, had they not opted out by then. */
  spared?: string[]
  /** Of the run's first message: its address; empty when Slack did not tell. */
  link?: string
  /** It will never be shown, and why. */
  over?: string
  /** It stands as it will always stand. */
  done?: true
}

export interface Slot {
  name: string
  /** As it was committed; absent for a slot that follows from others (a piece of an answer, the args before a card). */
  data?: string
  sent: Sent
  /** Those that can still be changed, whoever told us of them. */
  copies: Copy[]
}

export type Slots = ReadonlyMap<string, Slot>

/** The slot of what is under way: it stands while the run works. */
export const LIVE = "live"

export const slotOf = (slots: Slots, name: string): Slot => slots.get(name) ?? { name, sent: {}, copies: [] }

/** Whether it can be seen in Slack. */
export const stands = (slot: Slot): boolean => slot.copies.length > 0

/** Whether nothing more is to be sent for it, unless a copy turns up. */
export const isOver = (slot: Slot): boolean => slot.sent.over !== undefined || slot.sent.done === true

/** The record with one copy as it is now; what is forgotten with it is how often it failed before. */
export function withCopy(slot: Slot, copy: Copy): Sent {
  const { tries: _tries, since: _since, fails: _fails, after: _after, ...rest } = slot.sent
  const others = (slot.sent.copies ?? []).filter((other) => !isSame(other, copy))
  const index = (slot.sent.copies ?? []).findIndex((other) => isSame(other, copy))
  return { ...rest, copies: others.toSpliced(index === -1 ? others.length : index, 0, copy) }
}

/** The record of what an earlier call may still change until then, ms; with `since` one that posts, begun then. */
export function withLate(sent: Sent, until: number, since?: number): Sent {
  const before = sent.late?.since
  const first = before === undefined || since === undefined ? (before ?? since) : Math.min(before, since)
  return { ...sent, late: { until, ...(first === undefined ? {} : { since: first }) } }
}

export const isSame = (a: Place, b: Place): boolean => a.channel === b.channel && a.ts === b.ts

/** What the store holds of a run's messages. */
export interface Stored {
  /** Slots that commits owe, by name: their data. */
  owed: ReadonlyMap<string, string>
  /** By slot: a record of ours. */
  sent: ReadonlyMap<string, string>
  /** Copies that a click told us of: by slot, then by ts; the value is their channel. */
  copies: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** Reads the record of a run in `channel`; what can't be read counts as not sent, so the worst is a message too many. */
export function readSlots(stored: Stored, channel: string): Slots {
  const names = new Set([...stored.owed.keys(), ...stored.sent.keys(), ...stored.copies.keys()])
  return new Map([...names].map((name) => [name, readSlot(stored, channel, name)]))
}

function readSlot(stored: Stored, channel: string, name: string): Slot {
  const sent = readSent(stored.sent.get(name) ?? "{}")
  const known = sent.copies ?? []
  const learnt = [...(stored.copies.get(name) ?? [])].map(([ts, where]): Copy => ({
    channel: isChannel(where) ? where : channel,
    ts,
    hash: "",
  }))
  const copies = [...known, ...learnt.filter((copy) => !known.some((other) => isSame(other, copy)))]
  const data = stored.owed.get(name)
  return { name, ...(data === undefined ? {} : { data }), sent, copies: copies.filter((copy) => !copy.dead) }
}

/**
 * What Redis lost of records, by what it had acknowledged as such. `wrong`: slots whose record says something else, as they are
 * to be recorded: what stands in those places is not known. `orphans`: messages of which not even the reason is stored any more.
 */
export function lostOf(
  slots: Slots,
  acknowledged: ReadonlyMap<string, string>,
): { wrong: Slot[]; orphans: { name: string; copy: Copy }[] } {
  const all = [...acknowledged].map(([name, text]) => {
    const copies = (readSent(text).copies ?? []).filter((copy) => !copy.dead)
    return { name, slot: slots.get(name), copies }
  })
  return {
    wrong: all.flatMap(({ slot, copies }) => {
      const lost = copies.filter((copy) => slot && !isRecorded(slot, copy))
      return slot && lost.length > 0 ? [withUnknown(slot, lost)] : []
    }),
    orphans: all.flatMap(({ name, slot, copies }) => (slot ? [] : copies.map((copy) => ({ name, copy })))),
  }
}

const isRecorded = ({ sent: { copies = [] } }: Slot, copy: Copy): boolean =>
  copies.some((other) => isSame(other, copy) && (other.dead === true || other.hash === copy.hash))

function withUnknown(slot: Slot, lost: readonly Copy[]): Slot {
  const unknown = lost.map(({ channel, ts }): Copy => ({ channel, ts, hash: "" }))
  const without = (copies: readonly Copy[]): Copy[] => copies.filter((copy) => !lost.some((one) => isSame(one, copy)))
  const { tries: _tries, since: _since, done: _done, copies = [], ...sent } = slot.sent
  return {
    ...slot,
    sent: { ...sent, copies: [...without(copies), ...unknown] },
    copies: [...without(slot.copies), ...unknown],
  }
}

const isChannel = (text: string): boolean => /^[CDG][A-Z0-9]+$/.test(text)

function readSent(text: string): Sent {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

/** The address of the message of a slot; undefined while it isn't known. */
export const linkOfSlot = ({ sent }: Slot): string | undefined => sent.link || undefined

/** The slot that a press on the card of an ask was made on, wherever that stands. */
export function cardPressed(
  stored: Pick<Stored, "sent">,
  ask: string,
  { channel, user }: { channel?: string; user: string },
): string {
  const home = readSent(stored.sent.get("root") ?? "{}").copies?.[0]?.channel
  const card = `card:${ask}`
  if (channel === undefined || home === undefined || channel === home) return card
  return slotAt(channel.startsWith("D") ? user : channel, card)
}

/** The hash of what a message shows by a record of its slot; undefined when it is unknown, gone or past changing. */
export const shownBy = (record: string | undefined, ts: string | undefined): string | undefined =>
  readSent(record ?? "{}").copies?.find((copy) => copy.ts === ts && !copy.dead)?.hash
