/**
 * The cards of a run's asks, in its thread and in the other places, with the messages that hold what is too long for them.
 * Pure; says what should stand, not what is missing of it.
 */
import { isRecord } from "../../core/json.ts"
import { isPerson } from "../../core/policy.ts"
import { argsField, argsOf, ruleOf, type Ask, type Run } from "../../core/run.ts"
import type { Request } from "../../core/suspension.ts"
import { argsMessages, card, minimal, type CardView } from "../blocks/card.ts"
import { editFields } from "../blocks/fields/edit.ts"
import { pingedBy, placesOf, readName, slotAt, THREAD } from "./places.ts"
import { isOver, linkOfSlot, slotOf, stands, type Slot, type Slots } from "./record.ts"
import {
  formOf,
  sparedOf,
  threadOf,
  turnOf,
  type Form,
  type Lane,
  type Scene,
  type Shown,
  type Target,
  type Texts,
  type Wanted,
} from "./wanted.ts"

/** Asks of which some card must be looked at: all of them but those whose cards stand as they always will. */
function openAskIds(slots: Slots): Set<string> {
  const open = [...slots.values()].filter((slot) => {
    const isCard = readName(slot.name).kind === "card"
    return isCard && (!isOver(slot) || slot.copies.some((copy) => copy.hash === ""))
  })
  return new Set(open.map((slot) => readName(slot.name).of))
}

/** Asks that stand beside the run because their turn is over: the first texts to load. */
export const archivedTexts = (run: Run, slots: Slots): string[] =>
  [...openAskIds(slots)].filter((id) => !run.asks.some((ask) => ask.id === id)).map((id) => `ask:${id}`)

/** What else must be loaded to render the cards. */
export const cardTexts = (shown: readonly Shown[]): string[] =>
  shown.flatMap(({ ask }) => [
    `req:${ask.id}`,
    argsOf(ask),
    `why:${turnOf(ask)}`,
    ...(ask.edit === undefined ? [] : [argsField({ id: ask.call })]),
    ...(ask.settled ? [`answer:${ask.id}`] : []),
  ])

/** The asks whose cards are looked at, in order; `texts` has the archived ones. */
export function shownAsks(run: Run, slots: Slots, texts: Texts): Shown[] {
  const found = [...openAskIds(slots)].flatMap((id): Shown[] => {
    const current = run.asks.find((ask) => ask.id === id)
    if (current) return [{ ask: current, archived: false }]
    const stored = texts.get(`ask:${id}`)
    return stored === undefined ? [] : [{ ask: JSON.parse(stored) as Ask, archived: true }]
  })
  return found.sort((a, b) => a.ask.at - b.ask.at || compareCalls(a.ask.call, b.ask.call))
}

const compareCalls = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true })

/** Where cards of these asks stand or should, beside the thread. */
export function otherPlaces({ run, slots }: Scene, shown: readonly Shown[]): string[] {
  const ids = new Set(shown.map(({ ask }) => ask.id))
  const standing = [...slots.values()].flatMap((slot) => {
    const { place, kind, of } = readName(slot.name)
    return kind === "card" && place !== THREAD && ids.has(of) && stands(slot) ? [place] : []
  })
  const due = shown.filter(({ ask }) => !ask.settled).flatMap(({ ask }) => placesOf(run, ask))
  return [...new Set([...due, ...standing])]
}

/** The cards of the thread, each after what is too long for it. `final` is asked of each that will not change by itself. */
export const threadCards = (scene: Scene, shown: readonly Shown[], final: (one: Shown) => boolean): Wanted[] =>
  shown.flatMap((one) => cardWanted(scene, one, THREAD, final(one)))

/** The cards at another place: what is too long comes after its card, into that card's own thread. */
export const placeCards = (scene: Scene, shown: readonly Shown[], place: string): Wanted[] =>
  shown.flatMap((one) => {
    const card = slotOf(scene.slots, slotAt(place, `card:${one.ask.id}`))
    const due = !one.ask.settled && !isOver(card) && placesOf(scene.run, one.ask).includes(place)
    return stands(card) || (due && !scene.around.quiet.has(place)) ? cardWanted(scene, one, place, one.archived) : []
  })

function cardWanted(scene: Scene, { ask }: Shown, place: string, final: boolean): Wanted[] {
  const { run, slots } = scene
  const slot = slotOf(slots, slotAt(place, `card:${ask.id}`))
  const isHere = place === THREAD
  const pings = stands(slot) || ask.settled ? [] : newlyPinged(run, ask, place)
  const spared = sparedOf(scene, slot, pings)
  const view = viewOf(scene, ask, place, spared)
  const beside = piecesOf(scene, view, place, slot)
  // A piece that is missing, or that Slack refused for good, leaves the card without Approve: nobody could read what they agree to.
  const posted = beside.every(({ slot: piece }) => stands(piece))
  const form = cardForm(scene, view, slot, posted)
  const one: Wanted = {
    slot,
    lane: laneOf(ask),
    to: isHere ? threadOf(run, slots) : { channel: place },
    ...form,
    final,
    changes: true,
    // A direct message pings by itself.
    pings: isPerson(place) && !stands(slot) ? [place] : pings,
    spared,
    urgent: !ask.settled && beside.length > 0,
  }
  return isHere ? [...beside, one] : [one, ...beside]
}

/** What is open is tried in full again, where Slack refused that: nobody can say yes to the least of it. */
function cardForm(scene: Scene, view: CardView, slot: Slot, posted: boolean): Form {
  const again = view.ask.settled ? undefined : scene.around.rests.refused
  const form = formOf(slot, card({ ...view, argsPosted: posted }), { least: minimal(view), again })
  const rests = stands(slot) ? restsUntil(scene, view.ask) : 0
  return { ...form, notBefore: Math.max(rests, form.notBefore ?? 0) }
}

/** Until when a card waits for what came of its call, ms: one change tells that with the decision. */
const restsUntil = ({ run, around }: Scene, { settled, ran }: Ask): number =>
  settled?.ok === true && (ran === undefined || ran === "running") && !run.ended ? settled.at + around.rests.card : 0

const laneOf = (ask: Ask): Lane => (ask.settled ? "rest" : "cards")

/** The messages that hold what is too long for a card; none once it is settled, unless some of them stand. */
function piecesOf({ run, slots }: Scene, view: CardView, place: string, card: Slot): Wanted[] {
  const { ask } = view
  const to = place === THREAD ? threadOf(run, slots) : belowOf(card.copies[0]?.channel ?? place, card)
  const pieces = argsMessages(view).map((content, index): Wanted => {
    const slot = slotOf(slots, slotAt(place, `args:${ask.id}:${ask.version}:${index}`))
    return { slot, lane: laneOf(ask), to, ...formOf(slot, content), final: true, changes: false }
  })
  return ask.settled && !pieces.some(({ slot }) => stands(slot)) ? [] : pieces
}

const belowOf = (channel: string, first: Slot): Target => {
  const thread = first.copies[0]?.ts
  return thread === undefined ? { channel } : { channel, thread }
}

function viewOf(scene: Scene, ask: Ask, place: string, spared: readonly string[]): CardView {
  const { run, slots, texts, around } = scene
  const why = texts.get(`why:${turnOf(ask)}`)
  const link = linkOfSlot(slotOf(slots, "root"))
  const among = amongOf(run, ask)
  return {
    run,
    ask,
    request: requestOf(ask, texts),
    args: texts.get(argsOf(ask)) ?? "",
    argsPosted: false,
    mention: ask.settled ? false : newlyPinged(run, ask, place).filter((id) => !spared.includes(id)),
    names: around.names,
    paused: around.paused,
    ...(why === undefined ? {} : { why }),
    ...noteOf(ask, texts),
    ...beforeOf(ask, texts),
    ...editableOf(scene, ask),
    ...(place === THREAD ? {} : { elsewhere: link === undefined ? {} : { link } }),
    ...(among === undefined ? {} : { among }),
    ...(place === THREAD && !ask.settled ? { alsoIn: channelsOf(scene, ask) } : {}),
  }
}

/** Why it was settled as it was: what the Answer says beside it. */
function noteOf(ask: Ask, texts: Texts): { note?: string } {
  const answer: unknown = ask.settled?.by ? JSON.parse(texts.get(`answer:${ask.id}`) ?? "null") : undefined
  const note = isRecord(answer) && isRecord(answer["data"]) ? answer["data"]["note"] : undefined
  // A tool's own question may be answered with anything.
  return typeof note === "string" && (ask.from !== "tool" || ask.settled?.ok === false) ? { note } : {}
}

/** Whether a form can hold the args; it is not looked at where the rule lets nobody change them. */
function editableOf({ run, texts, around }: Scene, ask: Ask): { editable?: boolean } {
  const { edit, mask = [] } = ruleOf(ask)
  if (!around.schemaOf || edit === undefined || ask.settled || ask.from !== "guard") return {}
  const schema = around.schemaOf(ask.tool, run)
  const args: unknown = JSON.parse(texts.get(argsOf(ask)) ?? "null")
  return { editable: schema !== undefined && isRecord(args) && editFields(schema, args, mask).ok }
}

/** What the agent wanted, where people changed it. */
function beforeOf(ask: Ask, texts: Texts): { before?: string } {
  const before = ask.edit === undefined ? undefined : texts.get(argsField({ id: ask.call }))
  return before === undefined ? {} : { before }
}

/** The channels where the card stands as well, or will. */
const channelsOf = ({ run, slots }: Scene, ask: Ask): string[] =>
  placesOf(run, ask).filter((place) => !isPerson(place) && !isOver(slotOf(slots, slotAt(place, `card:${ask.id}`))))

function requestOf(ask: Ask, texts: Texts): Request {
  const stored: unknown = JSON.parse(texts.get(`req:${ask.id}`) ?? "null")
  return isRecord(stored) ? (stored as unknown as Request) : { id: ask.id, kind: ask.kind, prompt: "" }
}

/** Which one it is of those that were asked at once. */
function amongOf(run: Run, ask: Ask): CardView["among"] {
  const group = run.asks.filter(({ at, from }) => at === ask.at && from === ask.from)
  const place = group.findIndex(({ id }) => id === ask.id) + 1
  return group.length < 2 || place === 0 ? undefined : { place, total: group.length }
}

/** Whom the card pings at a place and no earlier card of the same turn did; for an unknown outcome all of them. */
function newlyPinged(run: Run, ask: Ask, place: string): string[] {
  const pinged = pingedBy(run, ask, place)
  if (ask.from === "doubt") return pinged
  const index = run.asks.findIndex((other) => other.id === ask.id)
  const before = new Set(run.asks.slice(0, Math.max(index, 0)).flatMap((other) => pingedBy(run, other, place)))
  return pinged.filter((id) => !before.has(id))
}
