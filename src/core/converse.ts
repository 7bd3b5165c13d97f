/**
 * A conversation: what people say in a run's thread is kept while the run is busy, read by the agent before its next turn, and
 * wakes a run that has ended. Pure; who may speak, and what a message is made of, is not known here.
 */
import type { Person, Via } from "./fact.ts"
import { samePerson } from "./policy.ts"
import { merge, step, wishOf } from "./run.ts"
import type { Ended, Kept, Run, Slot, Step } from "./run.ts"

/** What somebody said. */
export interface Saying {
  by: Person
  via: Via
  /** The same over redeliveries of one message. */
  cause: string
  /** JSON text of the transcript entry that it becomes. */
  entry: string
  /** Something owed to whoever said it. */
  slots?: Slot[]
}

/**
 * goes on: the run had ended, and goes on with it · kept: it is read at the next turn · before: it was heard already ·
 * too much: so much is kept already that no more is · too many: so many people spoke already · stopping: the run is being
 * cancelled.
 */
export type Heard = "goes on" | "kept" | "before" | "too much" | "too many" | "stopping"

/** The most messages that are kept until they are read. */
export const MOST_KEPT = 20
/** The most people who speak in one run: each of them is in its state, and none of them may approve. */
const MOST_SPEAKERS = 50
/** How many of the last messages are recognised when they come again: Slack does that within minutes. */
const RECOGNISED = 30

/** What becomes of what was said; without a step nothing changes. */
export function hear(run: Run, saying: Saying, now: number): { step?: Step; heard: Heard } {
  const unheard = whyNot(run, saying)
  if (unheard !== undefined) return { heard: unheard }
  const { by, via, cause, entry, slots = [] } = saying
  const kept: Kept = { by, at: now, cause, field: `said:${cause}` }
  const next: Run = { ...run, said: [...(run.said ?? []), kept], heard: recognising(run, cause) }
  const outcome = run.ended ? "goes on" : "kept"
  const noted = step(next, now, [{ what: "said", via, by, cause, outcome }], {
    texts: [{ field: kept.field, text: entry }],
    slots,
    show: run.ended ? "cards" : "rest",
  })
  return { step: run.ended ? (merge(noted, goneOn(noted.run, now)) ?? noted) : noted, heard: outcome }
}

function whyNot(run: Run, { by, cause }: Saying): Exclude<Heard, "goes on" | "kept"> | undefined {
  const { said = [], heard = [] } = run
  if (cause === run.cause || heard.includes(cause)) return "before"
  if (run.cancelled && !run.ended) return "stopping"
  if (said.length >= MOST_KEPT) return "too much"
  return !isKnown(run, by) && speakersAfter(run, [...said, { by }]).length > MOST_SPEAKERS ? "too many" : undefined
}

const recognising = ({ heard = [] }: Run, cause: string): string[] => [...heard.slice(1 - RECOGNISED), cause]

const isKnown = (run: Run, person: Person): boolean =>
  [run.requester, ...(run.speakers ?? [])].some((one) => samePerson(one, person))

/** Everybody beside the requester who has spoken once these are read. */
function speakersAfter({ requester, speakers = [] }: Run, said: readonly Pick<Kept, "by">[]): Person[] {
  const all = [...speakers]
  for (const { by } of said) if (![requester, ...all].some((one) => samePerson(one, by))) all.push(by)
  return all
}

/** What was kept goes to the transcript, in order; the turn that comes is of whoever spoke last. No call may be open. */
export function handedOver(run: Run, now: number): Step | undefined {
  const last = run.said?.at(-1)
  if (!run.said || !last || run.ended || run.cancelled || run.calls.length > 0) return undefined
  const speakers = speakersAfter(run, run.said)
  const next: Run = {
    ...run,
    said: undefined,
    asker: samePerson(last.by, run.requester) ? undefined : last.by,
    speakers: speakers.length === 0 ? undefined : speakers,
  }
  return step(next, now, [], { append: run.said.map(({ field }) => ({ field })) })
}

/** A run that has ended goes on with what was said: limits count anew, and what was granted for what it did is over. */
export function goneOn(run: Run, now: number): Step | undefined {
  if (!run.ended || (run.said ?? []).length === 0) return undefined
  const { prompt, completion } = run.usage
  const next: Run = {
    ...run,
    ended: undefined,
    cancelled: undefined,
    retry: undefined,
    // Its cancelling must not come again and end what goes on.
    heard: run.cancelled ? recognising(run, run.cancelled.cause) : run.heard,
    refusals: {},
    grants: run.grants?.map((grant) => ({ ...grant, until: Math.min(grant.until, now) })),
    stretch: { n: (run.stretch?.n ?? 0) + 1, turns: run.turns, tokens: prompt + completion },
  }
  const woken = step(next, now, [{ what: "continued", via: "bot" }], { show: "cards" })
  return merge(woken, handedOver(woken.run, now))
}

/** What the run used since it went on last: turns and tokens. */
export function usedBy({ turns, usage, stretch }: Run): { turns: number; tokens: number } {
  const tokens = usage.prompt + usage.completion
  return { turns: turns - (stretch?.turns ?? 0), tokens: tokens - (stretch?.tokens ?? 0) }
}

/** The name of the text that holds the answer with which a stretch ends. */
export const answerField = (stretch: number): string => (stretch === 0 ? "answer" : `answer:${stretch}`)

/** What a run's messages say of the end of one stretch. */
export interface End {
  how: Ended["how"]
  words?: string
  to: Person
  /** How many messages the agent has not read: with the next one it reads them all. */
  unread?: number
}

/** How the run ends now. */
export function endOf(run: Run, { how, words }: Omit<Ended, "at">): End {
  const unread = how === "cancelled" ? (run.said?.length ?? 0) : 0
  return {
    how,
    ...(words === undefined ? {} : { words }),
    to: wishOf(run).asker,
    ...(unread === 0 ? {} : { unread }),
  }
}

/** Owed when a stretch ends: what it says then stays as it is, however often the run goes on. */
export const endSlot = (run: Run, how: Omit<Ended, "at">): Slot => ({
  name: endName(run.stretch?.n ?? 0),
  data: JSON.stringify(endOf(run, how)),
})

/** The slot of the end of a stretch; its messages are called after it. */
export const endName = (stretch: number): string => (stretch === 0 ? "end" : `end:s${stretch}`)

/** Of which stretch's end a slot is; undefined for every other slot. */
export function stretchOf(slot: string): number | undefined {
  const [, n] = /^end(?::s(\d+))?$/.exec(slot) ?? []
  return slot === "end" ? 0 : n === undefined ? undefined : Number(n)
}
