/**
 * What Slack holds of a run's messages, compared with what is noted of them: pure. Says what is to be noted instead, from
 * which it follows what is posted, changed or deleted; repairs nothing itself.
 */
import { isPerson } from "../../core/policy.ts"
import { openAsks, type Run } from "../../core/run.ts"
import type { Own } from "./look.ts"
import { readName, THREAD } from "./places.ts"
import { isOver, isSame, slotOf, type Copy, type Sent, type Slot, type Slots } from "./record.ts"
import type { Place } from "./send.ts"

/** A thread that is read: the run's own, or that of a card that stands in another place. */
export interface Thread extends Place {
  /** Of the slots that are looked for in it. */
  holds: (slot: string) => boolean
}

export type Difference =
  /** What stands in a slot is not as noted. */
  | { what: "slot"; slot: Slot; sent: Sent; why: "gone" | "other" }
  /** A message of ours that nothing is noted of. */
  | { what: "copy"; slot: string; place: Place }

/** The most threads that are read for one run, beside its own. */
const ELSEWHERE = 10

/**
 * The threads to read: of every first message that the run had, and of each card elsewhere that is of the present turn, or that a
 * call of unknown outcome may have changed.
 */
export function threadsOf(run: Run, slots: Slots): Thread[] {
  const roots = slotOf(slots, "root").sent.copies ?? []
  const holds = (slot: string): boolean => readName(slot).place === THREAD
  const above = run.below && run.thread !== undefined ? [{ channel: run.channel, ts: run.thread }] : roots
  const own = above.map(({ channel, ts }): Thread => ({ channel, ts, holds }))
  const cards = [...slots.values()].flatMap((slot) => {
    const { place, kind, of } = readName(slot.name)
    const isLookedAt = run.asks.some(({ id }) => id === of) || slot.sent.late !== undefined
    const isElsewhere = kind === "card" && place !== THREAD && isLookedAt
    // There is no scope to read what we told one person.
    if (!isElsewhere || isPerson(place)) return []
    const holds = (name: string): boolean => name === slot.name || isPieceOf(name, place, of)
    return slot.copies.map(({ channel, ts }): Thread => ({ channel, ts, holds }))
  })
  return [...own, ...cards.slice(0, ELSEWHERE)]
}

/** What differs in threads that were read, all of them or none of a place. */
export function differences(run: Run, slots: Slots, threads: readonly Thread[], own: readonly Own[]): Difference[] {
  const noted = [...slots.values()].filter((slot) => threads.some(({ holds }) => holds(slot.name)))
  return [...noted.flatMap((slot) => ofSlot(run, slot, own)), ...unknown(slots, own)]
}

function ofSlot(run: Run, slot: Slot, own: readonly Own[]): Difference[] {
  const { sent } = slot
  // What was only learnt of is not yet ours to correct.
  const copies = (sent.copies ?? []).map((copy) => (copy.dead ? copy : seen(run, slot, copy, own)))
  const changed = copies.filter((copy, index) => copy !== sent.copies?.[index])
  if (changed.length === 0) return []
  const { done: _done, ...rest } = sent
  return [{ what: "slot", slot, sent: { ...rest, copies }, why: changed.some(({ dead }) => dead) ? "gone" : "other" }]
}

/** The copy as it is to be noted. */
function seen(run: Run, slot: Slot, copy: Copy, own: readonly Own[]): Copy {
  const now = own.find((it) => it.slot === slot.name && isSame(it, copy))
  if (!now) return isMissed(run, slot) ? { ...copy, dead: true } : copy
  if (copy.hash === "") return copy
  // Made to show what it should; where it was changed once already, and looks the same, that is how Slack spells it.
  const isLatest = now.shows === undefined || now.shows === copy.hash
  if (isLatest && (now.whole || copy.seen === now.print)) return copy
  return { ...copy, hash: "", seen: now.print }
}

/** Whether it is put up anew when somebody deleted it: only what people need in order to decide, and the run's first message. */
function isMissed(run: Run, { name }: Slot): boolean {
  if (run.ended) return false
  const { kind, of } = readName(name)
  if (kind === "root") return true
  return openAsks(run).some(({ id, version }) =>
    kind === "card" ? of === id : kind === "args" && of.startsWith(`${id}:${version}:`),
  )
}

const isPieceOf = (name: string, place: string, ask: string): boolean => {
  const piece = readName(name)
  return piece.kind === "args" && piece.place === place && piece.of.startsWith(`${ask}:`)
}

/** Messages of which nothing is noted: the reply to their post was lost, or somebody died before it was noted. */
function unknown(slots: Slots, own: readonly Own[]): Difference[] {
  return own.flatMap((one): Difference[] => {
    const slot = slotOf(slots, one.slot)
    const known = [...(slot.sent.copies ?? []), ...slot.copies].some((copy) => isSame(copy, one))
    // Under way at this moment.
    const isTried = slot.sent.tries !== undefined && !isOver(slot)
    const { channel, ts } = one
    return known || isTried ? [] : [{ what: "copy", slot: one.slot, place: { channel, ts } }]
  })
}
