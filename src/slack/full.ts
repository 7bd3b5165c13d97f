/**
 * Whether one more run may begin beside those that are not over, and what is shown to whoever finds that it may not. Knows
 * the limits; how runs are counted is the store's matter.
 */
import type { Person } from "../core/fact.ts"
import { unended } from "../core/run.ts"
import type { Message } from "./blocks/limits.ts"
import { newest } from "./blocks/lists.ts"
import { note, words } from "./blocks/words.ts"
import type { DoorName } from "./doors.ts"
import type { Front } from "./front.ts"
import { keyOf, linksTo } from "./links.ts"

/** How many of those that are not over are named. */
const NAMED = 5

/** Undefined when the run has its place; else what is said: which limit is reached, what is under way, and the way out. */
export async function refusedAsFull(
  front: Front,
  { id, requester, channel, via }: { id: string; requester: Person; channel: string; via: DoorName },
): Promise<Message[] | undefined> {
  const { store, limits, log } = front
  const lists = unended({ requester, channel })
  const full = await store.admit(id, [
    { index: lists.requester, most: limits.requester },
    { index: lists.channel, most: limits.channel },
  ])
  if (!full) return undefined
  const of = full.index === lists.requester ? "requester" : "channel"
  const about = { limit: of, most: full.most, count: full.count }
  log.info({ what: "refused", via, by: requester, channel, ...about }, "a run was not started: too many are under way")
  const found = await store.list([full.index], NAMED)
  const links = await linksTo(
    front,
    found.map(({ run }) => ({ run, slot: "root" })),
  )
  const shown = found.map(({ run }) => ({ run, link: links.get(keyOf({ run, slot: "root" })) }))
  return [note(words({ about: "full", of, count: full.count, command: front.command })), newest(shown)]
}
