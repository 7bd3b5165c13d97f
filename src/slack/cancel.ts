/**
 * Cancelling a run for a person, by whichever door they come. For whom may not see the run there is none.
 */
import { cancel, type CancelOutcome } from "../core/ask.ts"
import type { Person, Via } from "../core/fact.ts"
import { mayCancel } from "../core/policy.ts"
import { wishOf } from "../core/run.ts"
import { words, type Said } from "./blocks/words.ts"
import { attempt } from "./counted.ts"
import { rightOf, type Front, type Way } from "./front.ts"
import { peopleOf, sees } from "./mine.ts"
import { unapplied } from "./replies.ts"

export interface Cancelling {
  run: string
  person: Person
  via: Via
  cause: string
  way: Way
}

/** What the person is to be told, and whether the run owes them that word already. Throws when the run can't be read. */
export async function cancelRun(front: Front, how: Cancelling): Promise<{ said: Said; told: boolean }> {
  const { store, people, lists } = front
  const { person, via, cause, way } = how
  const loaded = await store.load(how.run)
  if (!loaded) return { said: GONE, told: false }
  const { run } = loaded
  const deciders = peopleOf(lists, run)
  const { who, right } = await rightOf(people, person, deciders, (who) => mayCancel(deciders, wishOf(run), who))
  const isSeen = right.ok || (await sees(front, run, person))
  const said = (outcome: CancelOutcome): Said => (isSeen ? { about: "cancel", outcome } : GONE)
  const applied = await attempt<CancelOutcome | { kind: "unknown" }>(front, run.id, {
    transition: (run, now) => {
      const { step, outcome } = cancel(run, { who, people: deciders, via, cause }, now)
      return { step, outcome, ...(outcome.kind === "denied" ? { refusal: words(said(outcome)) } : {}) }
    },
    gone: { kind: "unknown" },
    // A command is answered anyway.
    ...(via === "command" ? {} : { word: way }),
    cause,
    known: loaded,
  })
  if (applied.kind !== "applied") return { said: unapplied(applied), told: false }
  const { outcome, told } = applied.outcome
  return { said: outcome.kind === "unknown" ? GONE : said(outcome), told: told && outcome.kind !== "over" }
}

const GONE: Said = { about: "cancel", outcome: { kind: "unknown" } }
