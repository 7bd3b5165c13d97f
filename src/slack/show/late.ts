/**
 * Messages that a call of unknown outcome may still change: Slack may carry out what it was sent long after we have given it up,
 * also after a later call, and then an older state stands there, or a message that we don't know of. Pure: which messages, where
 * to look when no such call can come any more, and what is to be noted then.
 */
import { isPerson } from "../../core/policy.ts"
import type { Run } from "../../core/run.ts"
import { differences, threadsOf, type Difference, type Thread } from "./compare.ts"
import type { Own } from "./look.ts"
import { readName, THREAD } from "./places.ts"
import { isOver, stands, withLate, type Copy, type Sent, type Slot, type Slots } from "./record.ts"

/** How long after it was sent Slack may carry out a call that was not answered, ms. */
export const LATE_FOR = 75_000

/** How long it is tried to read what stands there, before it is written again unread, ms; longer for messages to be found. */
const READ_WITHIN = 120_000
const FOUND_WITHIN = 3_600_000

/** What is read: a thread, or the messages that were posted to a channel since then (ms). */
export type Reading = { thread: Thread } | { thread?: never; channel: string; since: number }

/** The slots that whoever died while they served a run may have been about to change or to post, as they are to be noted. */
export function suspected(slots: Slots, now: number, lateFor: number): Slot[] {
  return [...slots.values()]
    .filter((slot) => (stands(slot) && !isOver(slot)) || slot.sent.tries !== undefined)
    .map((slot) => {
      const since = slot.sent.tries === undefined ? undefined : (slot.sent.since ?? now)
      return { ...slot, sent: withLate(slot.sent, now + lateFor, since) }
    })
}

/** The slots of which nothing that was sent can be carried out any more. */
export const overdue = (slots: Slots, now: number): Slot[] =>
  [...slots.values()].filter(({ sent }) => sent.late !== undefined && sent.late.until <= now)

/** Where to look for them; nowhere once that was tried for long enough. */
export function readingsOf(run: Run, slots: Slots, late: readonly Slot[], now: number): Reading[] {
  const sought = late.filter(({ sent: { late: { until = 0, since } = {} } }) => {
    return now - until <= (since === undefined ? READ_WITHIN : FOUND_WITHIN)
  })
  const threads = threadsOf(run, slots).filter(({ holds }) => sought.some(({ name }) => holds(name)))
  const channels = new Map<string, number>()
  for (const { name, sent } of sought) {
    const channel = channelOf(run, name)
    const since = sent.late?.since
    if (channel !== undefined && since !== undefined)
      channels.set(channel, Math.min(since, channels.get(channel) ?? since))
  }
  return [...threads.map((thread) => ({ thread })), ...[...channels].map(([channel, since]) => ({ channel, since }))]
}

/** The channel where a slot is posted to, beside all threads; undefined for what goes to a thread, or to one person. */
function channelOf(run: Run, name: string): string | undefined {
  const { place, kind } = readName(name)
  if (place === THREAD) return kind === "root" && !run.below ? run.channel : undefined
  return kind === "args" || isPerson(place) ? undefined : place
}

/**
 * What is to be noted: of each slot that was late how it stands, and what differs besides. What could not be read is to be
 * written once more, as nobody knows what it says.
 */
export function settledOf(
  run: Run,
  slots: Slots,
  late: readonly Slot[],
  { threads, own }: { threads: readonly Thread[]; own: readonly Own[] },
): { settled: { slot: Slot; sent: Sent; why?: "gone" | "other" | "unread" }[]; others: Difference[] } {
  const found = differences(run, slots, threads, own)
  const differing = new Map(found.flatMap((one) => (one.what === "slot" ? [[one.slot.name, one] as const] : [])))
  const settled = late.map((slot) => {
    const isRead = threads.some(({ holds }) => holds(slot.name))
    const unread = isRead || !stands(slot) ? undefined : { sent: again(slot), why: "unread" as const }
    const { sent, why } = differing.get(slot.name) ?? unread ?? { sent: slot.sent, why: undefined }
    const { late: _late, ...rest } = sent
    return { slot, sent: rest, ...(why === undefined ? {} : { why }) }
  })
  return { settled, others: found.filter((one) => one.what === "copy" || !late.includes(one.slot)) }
}

function again({ sent }: Slot): Sent {
  const { done: _done, copies = [], ...rest } = sent
  return { ...rest, copies: copies.map((copy): Copy => (copy.dead ? copy : { ...copy, hash: "" })) }
}
