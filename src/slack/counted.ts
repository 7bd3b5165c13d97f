/**
 * How an attempt that was refused is kept: with a fact and a word to the person in the same commit, or, when it repeats
 * within a minute, counted towards a later fact. Knows no reason for refusing.
 */
import type { Entry, Fact } from "../core/fact.ts"
import { step as stepOf, type Step } from "../core/run.ts"
import type { Applied, ApplyOptions, Transition } from "../store/store.ts"
import type { Front } from "./front.ts"
import { wordData, type Word } from "./word.ts"

/** What a transition came to. */
export interface Tried<O> {
  step?: Step | undefined
  outcome: O
  /** Set when it was refused: what the person is to be told. */
  refusal?: string
}

/** `told`: the word is owed by the run now, and will be said whatever happens to this process. */
export type Counted<O> = Applied<{ outcome: O; told: boolean }>

interface Result<O> {
  outcome: O
  told: boolean
  /** The fact of a refusal, and whether it was left to be counted. */
  refused?: { entry: Entry; counted: boolean }
}

/** ms that a person is kept waiting for a commit. */
const PATIENCE = 15_000

/**
 * Applies what a person attempts. A refusal gets a slot `word:<cause>` beside its fact; if it repeats another one it gets
 * neither, and is for the caller to answer.
 */
export async function attempt<O>(
  front: Pick<Front, "store" | "repeats">,
  id: string,
  how: {
    /** Pure, as for `store.apply`; it is asked only when there is such a run. */
    transition: (...given: Given) => Tried<O>
    /** What it comes to when there is no such run. */
    gone: O
    /** Without it no word is owed: whoever calls answers in any case. */
    word?: Omit<Word, "text">
    cause: string
    known?: ApplyOptions["known"]
  },
): Promise<Counted<O>> {
  const { store, repeats } = front
  const first = new Set<Entry>()
  const transition: Transition<Result<O>> = (run, now) => {
    if (!run) return { outcome: { outcome: how.gone, told: false } }
    const { step, outcome, refusal } = how.transition(run, now)
    const fact = step?.facts.at(-1)
    if (refusal === undefined || !step || !fact) return { step, outcome: { outcome, told: refusal === undefined } }
    const entry = entryOf(fact)
    // Whatever else the step does (something expired) must be committed, so it can't be left out.
    if (step.facts.length === 1 && !repeats.isFirst(id, entry, now)) {
      return { outcome: { outcome, told: false, refused: { entry, counted: true } } }
    }
    first.add(entry)
    const word = hasWay(how.word) ? how.word : undefined
    const told = word !== undefined
    return {
      step: word ? owing(step, how.cause, { ...word, text: refusal }) : step,
      outcome: { outcome, told, refused: { entry, counted: false } },
    }
  }
  const applied = await store.apply(id, transition, { notAfterMs: PATIENCE, confirm: true, known: how.known })
  if (applied.kind !== "applied") for (const entry of first) repeats.notRecorded(id, entry)
  else if (applied.outcome.refused?.counted) repeats.answered(id, applied.outcome.refused.entry)
  return applied
}

type Given = [run: NonNullable<Parameters<Transition<unknown>>[0]>, now: number]

/** Records the repeats whose minute is over, or with `all` every one. */
export async function settleRepeats(front: Pick<Front, "store" | "repeats" | "log">, all = false): Promise<void> {
  const { store, repeats, log } = front
  if (repeats.isEmpty) return
  try {
    const owed = repeats.due(all ? Number.POSITIVE_INFINITY : await store.now())
    for (const { run: id, entry } of owed) {
      await store.apply(id, (run, now) => ({
        step: run && stepOf(run, now, [entry], { show: "" }),
        outcome: undefined,
      }))
    }
  } catch (error) {
    log.warn({ err: error }, "repeated refusals could not be recorded")
  }
}

/** Whoever came by a view of their own is answered there: no word is owed to where nobody was. */
const hasWay = (word: Omit<Word, "text"> | undefined): boolean =>
  word?.channel !== undefined || word?.responseUrl !== undefined

function owing(step: Step, cause: string, word: Word): Step {
  const slot = { name: `word:${cause}`, data: wordData(word) }
  return { ...step, slots: [...step.slots, slot], show: step.show === "" ? "rest" : step.show }
}

function entryOf(fact: Fact): Entry {
  const { run: _run, n: _n, at: _at, prev: _prev, hash: _hash, ...entry } = fact
  return entry
}
