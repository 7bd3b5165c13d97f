/**
 * Goes on from a parked run with the Answer to its Request. In one process an Answer counts once: given again, it leads
 * to the same outcome, and after a failure goes on from what was done until then; another answer is refused.
 */
import type { Answer } from "../core/suspension.ts"
import { answerOf } from "../core/suspension.ts"
import { MemoryHeld, openInOrder } from "./memory.ts"
import type { Parked, Recorded, RunResult } from "./result.ts"
import { parkedOf } from "./result.ts"

export type Records = Map<string, Recorded>

interface Resumption {
  answer: string
  held: MemoryHeld
  records: Records
  outcome: Promise<RunResult>
}

/** So many answers are remembered; when the oldest is forgotten, its run is long over. */
const REMEMBERED = 1000
const resumptions = new Map<string, Resumption>()

type Play = (held: MemoryHeld, records: Records) => Promise<RunResult>

/** Rejects, and does nothing, when nothing is parked, or the Answer is none or to another Request. */
export async function resumed(from: unknown, value: Answer | undefined, play: Play): Promise<RunResult> {
  const parked = parkedIn(from)
  const held = MemoryHeld.restore(parked)
  const records: Records = new Map(parked.records.map((record) => [record.id, record]))
  const run = held.run()
  if (run.ended) throw new Error("resume: the run is over")
  const [ask] = openInOrder(run)
  // A run whose model could not be asked waits for nobody.
  if (ask === undefined) return play(held, records)
  const read = answerOf(value)
  if (!read.ok) throw new TypeError(`resume: ${read.error}`)
  const { answer } = read
  if (answer.id !== ask.id)
    throw new Error(`resume: the answer is to ${answer.id}, but the run waits for one to ${ask.id}`)
  return once(`${run.id} ${ask.id}`, JSON.stringify(answer), (before) => {
    if (before === undefined) {
      held.answer(answer)
      return { held, records, outcome: play(held, records) }
    }
    const again = MemoryHeld.restore(parkedOf(before.held, before.records))
    return { held: again, records: before.records, outcome: play(again, before.records) }
  })
}

function parkedIn(from: unknown): Parked {
  const nothing = new Error("resume: nothing is parked here; it takes a pending result, or a RunFailed's parked")
  if (typeof from !== "object" || from === null) throw nothing
  const parked: unknown = "parked" in from ? from.parked : from
  if (typeof parked !== "object" || parked === null || !("run" in parked) || !("texts" in parked)) throw nothing
  return parked as Parked
}

function once(
  question: string,
  answer: string,
  work: (before?: Resumption) => Omit<Resumption, "answer">,
): Promise<RunResult> {
  const known = resumptions.get(question)
  if (known !== undefined && known.answer !== answer) {
    return Promise.reject(new Error("resume: the Request was answered before, and otherwise"))
  }
  const now: Resumption = known === undefined ? { answer, ...work() } : again(known, work)
  remember(question, now)
  return now.outcome
}

/** The same outcome; or when there is none, what was done until then goes on. */
function again(known: Resumption, work: (before: Resumption) => Omit<Resumption, "answer">): Resumption {
  const now: Resumption = { ...known }
  now.outcome = known.outcome.catch(() => {
    const next = work(known)
    now.held = next.held
    return next.outcome
  })
  return now
}

function remember(question: string, resumption: Resumption): void {
  resumptions.delete(question)
  resumptions.set(question, resumption)
  const [oldest] = resumptions.keys()
  if (resumptions.size > REMEMBERED && oldest !== undefined) resumptions.delete(oldest)
}
