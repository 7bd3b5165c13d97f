/** What `lua/peek.lua` found in each shard, as one: whether there is anything to do. Knows no Redis. */
import { pausedFrom, type Paused } from "./pause.ts"
import { dueAt, earlier } from "./show.ts"

export interface Peek {
  now: number
  /** When something is due next, ms; undefined: nothing is. */
  agenda: number | undefined
  cards: number | undefined
  rest: number | undefined
  /** The same of what is compared with Slack. */
  looks: number | undefined
  /** Facts that the audit has yet to take. */
  outbox: number
  paused: Paused | undefined
}

type Reply = [now: number, agenda: string, cards: string, rest: string, outbox: number, pause: string, looks: string]

/** The replies of all shards, put together. */
export function together(replies: readonly unknown[]): Peek {
  const nothing = { agenda: undefined, cards: undefined, rest: undefined, looks: undefined }
  const all: Peek = { now: 0, ...nothing, outbox: 0, paused: undefined }
  for (const reply of replies) {
    const [now, agenda, cards, rest, outbox, pause, looks] = reply as Reply
    all.now = Math.max(all.now, now)
    all.agenda = earlier(all.agenda, dueAt(agenda))
    all.cards = earlier(all.cards, dueAt(cards))
    all.rest = earlier(all.rest, dueAt(rest))
    all.looks = earlier(all.looks, dueAt(looks))
    all.outbox += outbox
    all.paused ??= pausedFrom(pause)
  }
  return all
}
