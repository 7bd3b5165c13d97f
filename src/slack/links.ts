/**
 * Addresses of a run's messages in Slack: asked for once, then kept beside what is noted of the message. What takes too long
 * is left out, for a list without a link is better than none.
 */
import { isRecord } from "../core/json.ts"
import type { Front } from "./front.ts"
import { linkOfSlot, readSlots, type Slots } from "./show/record.ts"
import { permalink } from "./show/send.ts"

/** A message: of which run, and in which slot (`root`, `card:<ask>`). */
export interface Wanted {
  run: { id: string; channel: string }
  slot: string
}

/** ms that somebody waits for links. */
const PATIENCE = 600
const AT_ONCE = 6

/** By `keyOf`. */
export type Links = ReadonlyMap<string, string>
export const keyOf = ({ run, slot }: Wanted): string => `${run.id} ${slot}`

/** The addresses of those that stand and could be told in time. */
export async function linksTo(front: Front, wanted: readonly Wanted[], patience = PATIENCE): Promise<Links> {
  const links = new Map<string, string>()
  const left = [...new Map(wanted.map((one) => [keyOf(one), one])).values()]
  const work = async (): Promise<void> => {
    for (let one = left.shift(); one; one = left.shift()) {
      const link = await linkTo(front, one)
      if (link !== undefined) links.set(keyOf(one), link)
    }
  }
  const all = Promise.all(Array.from({ length: AT_ONCE }, work)).catch((error: unknown) => {
    front.log.warn({ err: error }, "addresses of messages could not be read")
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patience)
  })
  await Promise.race([all, late])
  clearTimeout(timer)
  // What comes later is kept for the next time; this list stays as it is said.
  return new Map(links)
}

async function linkTo(front: Front, { run, slot }: Wanted): Promise<string | undefined> {
  const { store, client } = front
  const noted = await store.show.shown(run.id)
  const slots: Slots = readSlots(noted, run.channel)
  const found = slots.get(slot)
  const place = found?.copies[0]
  if (!found || !place) return undefined
  const known = linkOfSlot(found)
  if (known !== undefined) return known
  const kept = keptIn(noted.sent.get(`link:${slot}`))
  if (kept?.ts === place.ts) return kept.url
  const url = await permalink(client, place)
  if (url !== undefined) await store.show.recordSent(run.id, `link:${slot}`, JSON.stringify({ ts: place.ts, url }))
  return url
}

function keptIn(text: string | undefined): { ts: string; url: string } | undefined {
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  return isRecord(value) && typeof value["ts"] === "string" && typeof value["url"] === "string"
    ? { ts: value["ts"], url: value["url"] }
    : undefined
}
