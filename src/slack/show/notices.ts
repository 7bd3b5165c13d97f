/**
 * What stands beside the cards: reminders and who is called in, where a card can't be posted, what ran unasked, what was
 * refused. Pure; says what should stand, not what is missing of it.
 */
import { isRecord } from "../../core/json.ts"
import { isPerson } from "../../core/policy.ts"
import { openAsks, wishOf, type Ask, type Run } from "../../core/run.ts"
import type { Message } from "../blocks/limits.ts"
import { calledIn, changedCall, ranUnasked, refusedCalls, reminder, unplaced } from "../blocks/notices.ts"
import {
  askedBy,
  calledBy,
  calledTo,
  comesWithCard,
  placeFor,
  placesOf,
  readName,
  slotAt,
  THREAD,
  waitedFor,
} from "./places.ts"
import { isOver, slotOf, stands, type Slot } from "./record.ts"
import {
  formOf,
  sparedOf,
  threadOf,
  turnOf,
  type Lane,
  type Scene,
  type Shown,
  type Target,
  type Wanted,
} from "./wanted.ts"

/** A notice that is taken away once it is no longer true. */
export const isPassing = (name: string): boolean => ["remind", "called", "changed"].includes(readName(name).kind)

/** Where an ask's people are to be pinged: where its card can't be posted, nobody would see it. */
function reachable({ run, slots }: Scene, ask: Ask, place: string): string {
  return placesOf(run, ask).includes(place) && !isOver(slotOf(slots, slotAt(place, `card:${ask.id}`))) ? place : THREAD
}

interface Notice {
  /** Of its slot, without the place. */
  name: string
  lane: Lane
  place: string
  pings: readonly string[]
  changes?: boolean
  content(to: { pinged: string[]; named: string[] }): Message
}

/** The notice as a message; nobody who opted out is pinged by it. */
function noticeWanted(scene: Scene, notice: Notice): Wanted {
  const { place, pings, lane, changes = false } = notice
  const slot = slotOf(scene.slots, slotAt(place, notice.name))
  const spared = sparedOf(scene, slot, pings)
  const pinged = pings.filter((id) => !spared.includes(id))
  return {
    slot,
    lane,
    to: targetOf(scene, place),
    ...formOf(slot, notice.content({ pinged, named: [...spared] })),
    final: !isPassing(notice.name),
    changes,
    pings: stands(slot) ? [] : pings,
    spared,
  }
}

/** Below the first card of the place that waits; in direct messages beside it, where a thread is easily missed. */
function targetOf({ run, slots }: Scene, place: string): Target {
  if (place === THREAD) return threadOf(run, slots)
  const cards = openAsks(run).map((ask) => slotOf(slots, slotAt(place, `card:${ask.id}`)))
  const copy = cards.find(stands)?.copies[0]
  const channel = copy?.channel ?? place
  return copy === undefined || isPerson(place) ? { channel } : { channel, thread: copy.ts }
}

/** Reminders, calls and changes at one place, as far as they are still true. */
export function passingAt(scene: Scene, place: string): Wanted[] {
  if (scene.run.ended) return []
  return [...changed(scene, place), ...calls(scene, place), ...reminders(scene, place)].map((notice) =>
    noticeWanted(scene, notice),
  )
}

/** One message for all that an escalation at that place calls the same people for. */
function calls(scene: Scene, place: string): Notice[] {
  const { run, around } = scene
  const here = run.asks.filter(
    (ask) =>
      calledBy(ask).length > 0 && !comesWithCard(run, ask) && reachable(scene, ask, calledTo(run, ask)) === place,
  )
  const before = new Set<string>()
  return here.flatMap((ask): Notice[] => {
    const pings = calledBy(ask).filter((id) => !before.has(id))
    const together = here.filter((other) => other.escalated === ask.escalated && !other.settled)
    for (const id of pings) before.add(id)
    const isQuiet = ask.rule.notify === "none" || pings.every((id) => around.quiet.has(id))
    if (ask.settled || isQuiet) return []
    const content: Notice["content"] = (to) => calledIn(together, { ...to, names: around.names })
    return [{ name: `called:${ask.id}`, lane: "cards", place, pings, content }]
  })
}

/** Cards that were changed notify nobody by that: whoever looked already, or said yes, is told to look again. */
function changed(scene: Scene, place: string): Notice[] {
  const { run, around } = scene
  return openAsks(run).flatMap((ask): Notice[] => {
    const editor = ask.editors?.at(-1)
    // Asked once more, it is as it was when it was asked.
    if (!editor || ask.version === 1 || ask.rule.notify === "none" || around.quiet.has(place)) return []
    const asked = [...askedBy(run, ask), ...calledBy(ask)].filter((id) => id !== editor.user)
    const pings = asked.filter((id) => reachable(scene, ask, placeFor(run, ask, id)) === place)
    if (pings.every((id) => around.quiet.has(id))) return []
    const content: Notice["content"] = (to) => changedCall(ask, editor, { ...to, names: around.names })
    return [{ name: `changed:${ask.id}:${ask.version}`, lane: "cards", place, pings, content }]
  })
}

/** The one reminder of a place: a new one each time that one more is due. */
function reminders(scene: Scene, place: string): Notice[] {
  const { run, around } = scene
  const due = openAsks(run).filter((ask) => (ask.reminded ?? 0) > 0)
  const people = (ask: Ask): string[] =>
    waitedFor(run, ask).filter((id) => reachable(scene, ask, placeFor(run, ask, id)) === place)
  const here = due.filter((ask) => people(ask).length > 0)
  const [first] = here
  if (!first || around.quiet.has(place)) return []
  const count = run.asks.reduce((sum, { reminded = 0 }) => sum + reminded, 0)
  const pings = [...new Set(here.filter(({ rule }) => rule.notify !== "none").flatMap(people))]
  const content: Notice["content"] = (to) => reminder(here, { ...to, names: around.names })
  return [{ name: `remind:${turnOf(first)}:${count}`, lane: "cards", place, pings, changes: true, content }]
}

/** Told in the thread, whose people decide there then: where a card of this turn can't be posted. */
export function unplacedCards(scene: Scene): Wanted[] {
  const { run, slots, around } = scene
  const open = openAsks(run)
  const places = [...new Set(open.flatMap((ask) => placesOf(run, ask)))]
  return places.flatMap((place): Wanted[] => {
    const lost = open.filter((ask) => placesOf(run, ask).includes(place) && isLost(scene, ask, place))
    const [first] = lost
    const { over = "" } = first ? slotOf(slots, slotAt(place, `card:${first.id}`)).sent : {}
    if (!first) return []
    const people = lost.filter(({ rule }) => rule.notify !== "none").flatMap((ask) => peopleOf(run, ask, place))
    // Whoever asked for the run is told in private.
    const pings = [...new Set(people)]
    const content: Notice["content"] = (to) => unplaced(place, over, lost, { ...to, names: around.names })
    const name = `lost:${turnOf(first)}:${place}`
    return [noticeWanted(scene, { name, lane: "cards", place: THREAD, pings, content })]
  })
}

const isLost = ({ slots }: Scene, ask: Ask, place: string): boolean =>
  slotOf(slots, slotAt(place, `card:${ask.id}`)).sent.over !== undefined

const peopleOf = (run: Run, ask: Ask, place: string): string[] =>
  [...askedBy(run, ask), ...calledBy(ask)].filter((id) => placeFor(run, ask, id) === place)

/** The calls whose lines are to be looked at. */
const usedSlots = ({ slots }: Pick<Scene, "slots">): Slot[] =>
  [...slots.values()].filter((slot) => readName(slot.name).kind === "used" && !isOver(slot))

export const usedTexts = (scene: Pick<Scene, "slots">): string[] =>
  usedSlots(scene).map((slot) => `args:${readName(slot.name).of}`)

/** A line for each call that ran unasked, under a grant. */
export function usedGrants(scene: Scene): Wanted[] {
  const { run, texts, around } = scene
  return usedSlots(scene).flatMap((slot): Wanted[] => {
    const data: unknown = JSON.parse(slot.data ?? "{}")
    const grant = run.grants?.find(({ id }) => isRecord(data) && id === data["grant"])
    if (!grant) return []
    const call = { id: readName(slot.name).of, tool: grant.tool }
    const args = texts.get(`args:${call.id}`) ?? ""
    const content: Notice["content"] = () => ranUnasked(run, { call, args, grant, command: around.command })
    return [noticeWanted(scene, { name: slot.name, lane: "rest", place: THREAD, pings: [], content })]
  })
}

const KINDS = ["declined", "expired"] as const

/** What whoever spoke last is told, once a turn and kind: calls that others declined, or nobody answered. */
function refusals(
  { run, slots }: Pick<Scene, "run" | "slots">,
  shown: readonly Shown[],
): { name: string; asks: Ask[]; how: (typeof KINDS)[number] }[] {
  if (run.ended || run.cancelled) return []
  return KINDS.flatMap((how) => {
    const asks = shown.map(({ ask }) => ask).filter((ask) => isRefused(run, ask, how))
    const [last] = asks.slice(-1)
    if (!last) return []
    const name = `refused:${turnOf(last)}:${how}`
    const slot = slotOf(slots, name)
    const told = stands(slot) || isOver(slot)
    return told ? [] : [{ name, how, asks: asks.filter((ask) => turnOf(ask) === turnOf(last)) }]
  })
}

const isRefused = (run: Run, { settled }: Ask, how: string): boolean =>
  settled?.ok === false && settled.reason === how && settled.by?.user !== wishOf(run).asker.user

export function refusedOnes(scene: Scene, shown: readonly Shown[]): Wanted[] {
  const { run, texts, around } = scene
  return refusals(scene, shown).map(({ name, how, asks }) => {
    const notes = new Map(asks.map((ask) => [ask.id, noteOf(texts.get(`answer:${ask.id}`))] as const).filter(isGiven))
    const pings = [wishOf(run).asker.user]
    const content: Notice["content"] = (to) => refusedCalls(how, asks, notes, to)
    const wanted = noticeWanted(scene, { name, lane: "rest", place: THREAD, pings, content })
    const first = Math.min(...asks.map(({ settled }) => settled?.at ?? Infinity))
    return { ...wanted, notBefore: first + around.tellAfter }
  })
}

const isGiven = (pair: readonly [string, string | undefined]): pair is readonly [string, string] =>
  pair[1] !== undefined

/** Asks that are yet to be told of: their cards must be looked at until then. */
export const untold = (scene: Pick<Scene, "run" | "slots">, shown: readonly Shown[]): Set<string> =>
  new Set(refusals(scene, shown).flatMap(({ asks }) => asks.map(({ id }) => id)))

/** The reason that was given with an answer; the words of an expiry are our own. */
function noteOf(answer: string | undefined): string | undefined {
  const value: unknown = JSON.parse(answer ?? "null")
  if (!isRecord(value) || value["reason"] !== "declined" || !isRecord(value["data"])) return undefined
  const { note } = value["data"]
  return typeof note === "string" ? note : undefined
}
