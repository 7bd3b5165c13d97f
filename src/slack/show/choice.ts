/**
 * Which of the acts that a run misses is done next: the most urgent that Slack's pace allows, or else when the first of them
 * may be. Takes the turn of what it chooses; makes no call.
 */
import type { ShowClass } from "../../store/show.ts"
import type { Act } from "./acts.ts"
import { limitsOf, urgencyOf } from "./limits.ts"
import type { Pace, Turn } from "./pace.ts"

/** When, in ms by Redis' clock, and in which class the run is taken up again. */
export type Choice = { act: Act } | { at: number; lane: ShowClass }

/** When an act may be done, and what it waits for. */
interface Possible {
  act: Act
  at: number
  /** It waits for its turn among calls of its kind. */
  turn?: Turn
  /** For a place. */
  crowded: boolean
}

interface Now {
  now: number
  /** The class in which the run was due. */
  lane: ShowClass
  /** Whether all places are taken that changes of what stands may have. */
  isCrowded: () => boolean
}

export async function choose(pace: Pace, acts: readonly Act[], now: Now): Promise<Choice> {
  const waiting: Possible[] = []
  const refused = new Map<string, Possible>()
  for (const act of acts) {
    const kind = `${urgencyOf(act)} ${limitsOf(act).join(" ")}`
    // What one of a kind must wait for, the next of it must, too.
    const possible = refused.get(kind) ?? (await possibleAt(pace, act, now))
    if (isNow(possible, now)) return { act }
    if (possible.turn) refused.set(kind, possible)
    waiting.push(possible)
  }
  const [first] = waiting.sort((a, b) => a.at - b.at)
  if (!first) return { at: now.now, lane: now.lane }
  return { at: first.turn ? pace.queue(first.turn) : first.at, lane: first.act.lane }
}

/** When an act may be done; what may be done now has taken its turn. */
async function possibleAt(pace: Pace, act: Act, { now, lane, isCrowded }: Now): Promise<Possible> {
  const after = notBefore(act)
  // What brings up to date leaves its place to cards; it comes back in its own class.
  const crowded = act.lane === "rest" && lane === "cards" && isCrowded()
  if (after > now || crowded) return { act, at: after, crowded }
  const limits = limitsOf(act)
  if (limits.length === 0) return { act, at: now, crowded }
  const turn = await pace.take(limits, urgencyOf(act))
  return turn.at <= turn.now ? { act, at: now, crowded } : { act, at: turn.at, turn, crowded }
}

const isNow = ({ at, turn, crowded }: Possible, { now }: Now): boolean => !turn && !crowded && at <= now

const notBefore = (act: Act): number =>
  Math.max("slot" in act ? (act.slot.sent.after ?? 0) : 0, "notBefore" in act ? act.notBefore : 0)
