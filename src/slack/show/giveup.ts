/**
 * What becomes of a run when something of it can't be shown in Slack: whom that leaves without a say is answered for, the
 * requester is told in private how to mend it, and it is a fact. Knows no call.
 */
import { cancelled, undelivered, withdrawn } from "../../core/ask.ts"
import { openAsks, step, type Ask, type Run, type Step } from "../../core/run.ts"
import type { Store } from "../../store/store.ts"
import { wordData, wordOf, type Word } from "../word.ts"
import type { Desk, Seen } from "./deliver.ts"
import { placesOf, readName, slotAt, THREAD } from "./places.ts"
import { isOver, slotOf, type Slot } from "./record.ts"
import { turnOf } from "./wanted.ts"
import { misplaced, undeliverable } from "./words.ts"

/** `channel`: nothing can be posted there · `content`: this message can't, whatever its form. */
interface Why {
  error: string
  what: "channel" | "content"
}

/**
 * A message will not be posted. Where the run lives it must not go on unseen; where another place than its thread takes none,
 * the thread goes on, and says so.
 */
export function givenUp(seen: Seen, slot: Slot, why: Why, desk: Desk): Promise<void> {
  if (readName(slot.name).place !== THREAD) return givenUpPlace(seen, slot, why, desk)
  return why.what === "channel" || slot.name === "root"
    ? givenUpRun(seen, slot, why, desk)
    : givenUpSlot(seen, slot, why, desk)
}

async function givenUpRun({ run, slots }: Seen, { name }: Slot, { error }: Why, { store }: Desk): Promise<void> {
  const never = name === "root" && !run.rooted
  const link = never ? wordOf(slotOf(slots, "link").data ?? "") : undefined
  const text = undeliverable(run, error, never ? "root" : run.ended ? "end" : "thread")
  const owed = owing("channel", { ...(link ?? { user: run.requester.user }), text })
  // What else can't be posted says nothing new.
  if (slots.has(owed.name)) return
  const words = `Slack takes no messages in its channel (${error})`
  await change(store, run.id, (run, now): Step => {
    if (run.ended || run.cancelled) return withWord(undelivered(run, [], { where: run.channel, words }, now), owed)
    return withWord(cancelled(run, { via: "bot", cause: `show:${name}`, words }, now), owed)
  })
}

/** An ask is answered no, so that nobody waits for what can't be seen. */
async function givenUpSlot({ run }: Seen, slot: Slot, { error }: Why, { store }: Desk): Promise<void> {
  const { kind, of } = readName(slot.name)
  // A card says itself that its args can't be read whole, and offers no yes; notices are a courtesy.
  if (kind !== "card" && kind !== "end") return
  const text = undeliverable(run, error, kind)
  const owed = owing(slot.name, { user: run.requester.user, text })
  const words = `Slack does not take its card (${error})`
  await change(store, run.id, (run, now): Step => {
    const given = kind === "card" ? withdrawn(run, of, words, now) : undefined
    return withWord(given ?? step(run, now, [], { show: "cards" }), owed)
  })
}

/** All cards that are open should stand there, or this one: nobody is asked, or reminded, at that place any more. */
async function givenUpPlace({ run, slots }: Seen, slot: Slot, why: Why, { store, names }: Desk): Promise<void> {
  const { place, kind, of } = readName(slot.name)
  const cardOf = ({ id }: Ask): Slot => slotOf(slots, slotAt(place, `card:${id}`))
  const lost = openAsks(run).filter((ask) => {
    const isMeant = why.what === "channel" ? placesOf(run, ask).includes(place) : kind === "card" && ask.id === of
    return isMeant && !isOver(cardOf(ask))
  })
  const [first] = lost
  if (!first) return
  const { error } = why
  const text = misplaced(run, { place, error, asks: lost, names: await names.of([place]) })
  // Once a turn, however many cards should stand there.
  const owed = owing(`lost:${turnOf(first)}:${place}`, { user: run.requester.user, text })
  const ids = lost.map(({ id }) => id)
  await change(store, run.id, (run, now) => withWord(undelivered(run, ids, { where: place, words: error }, now), owed))
  for (const card of lost.map(cardOf)) {
    await store.show.recordSent(run.id, card.name, JSON.stringify({ ...card.sent, over: error }), card.sent.late?.until)
  }
}

/** By direct message, unless there is a way back to them: they may look elsewhere by now. */
const owing = (name: string, word: Word): Step["slots"][number] => ({ name: `word:${name}`, data: wordData(word) })

const withWord = (given: Step, owed: Step["slots"][number]): Step => ({
  ...given,
  slots: [...given.slots, owed],
  show: "cards",
})

/** Throws when it could not be stored: the run stays due, and the next look finds what is missing. */
export async function change(
  store: Store,
  id: string,
  next: (run: Run, now: number) => Step | undefined,
): Promise<void> {
  const done = await store.apply(id, (run, now) => {
    const given = run && next(run, now)
    return { outcome: undefined, ...(given ? { step: given } : {}) }
  })
  if (done.kind === "not known" || done.kind === "not recorded")
    throw new Error(`the run was not changed: ${done.kind}`)
}
