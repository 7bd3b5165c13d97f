/**
 * Which messages of a run should stand in Slack, and what is missing of that: a pure function of the stored run and of
 * what was sent. It knows how nothing is sent, and no pace.
 */
import { canonical, sha256 } from "../../core/digest.ts"
import { isRecord } from "../../core/json.ts"
import type { Ask, Run } from "../../core/run.ts"
import type { Request } from "../../core/suspension.ts"
import { argsMessages, card, minimal, type CardView } from "../blocks/card.ts"
import type { Message } from "../blocks/limits.ts"
import { answers, root } from "../blocks/messages.ts"
import { wordOf, type Word } from "../word.ts"
import { isOver, slotOf, stands, type Copy, type Slot, type Slots } from "./record.ts"

/** cards: people wait for it · rest: it brings up to date what stands. */
export type Lane = "cards" | "rest"

/** One thing that is missing: a message, a change of one, a word to a person, or a mark in the run. */
export type Act =
  | { do: "post"; lane: Lane; slot: Slot; content: Message; hash: string; thread?: string }
  | { do: "update"; lane: Lane; slot: Slot; copy: Copy; content: Message; hash: string }
  | { do: "tell"; lane: Lane; slot: Slot; word: Word }
  | { do: "mark"; lane: Lane; mark: "rooted" | { shown: string } }

export interface Missing {
  /** The most urgent first. None waits for another of them. */
  acts: Act[]
  /** Slots that stand as they always will: they need not be rendered again. */
  done: Slot[]
}

/** A message that should stand. */
interface Wanted {
  slot: Slot
  lane: Lane
  content: Message
  /** It will never look different. */
  final: boolean
}

/** The texts of a run by field name, as far as they were loaded. */
export type Texts = ReadonlyMap<string, string>

/** An ask whose card is to be looked at, and whether its turn is over (then it never changes again). */
interface Shown {
  slot: Slot
  ask: Ask
  archived: boolean
}

/** Cards that must be looked at: everything but what stands as it always will. */
const openCards = (slots: Slots): Slot[] =>
  [...slots.values()].filter(
    (slot) => slot.name.startsWith("card:") && (!isOver(slot) || slot.copies.some((copy) => copy.hash === "")),
  )

const askId = (slot: Slot): string => slot.name.slice("card:".length)

/** Asks that stand beside the run because their turn is over: the first texts to load. */
export const archivedTexts = (run: Run, slots: Slots): string[] =>
  openCards(slots)
    .map(askId)
    .filter((id) => !run.asks.some((ask) => ask.id === id))
    .map((id) => `ask:${id}`)

/** What else must be loaded to render; `texts` has the archived asks. */
export function neededTexts(run: Run, slots: Slots, texts: Texts): string[] {
  const cards = shownAsks(run, slots, texts).flatMap(({ ask }) => [
    `req:${ask.id}`,
    `args:${ask.call}`,
    `why:${turnOf(ask)}`,
  ])
  return [...new Set(["prompt", ...(run.ended ? ["answer"] : []), ...cards])]
}

const turnOf = (ask: Ask): string => ask.call.split(".", 1)[0] ?? ""

function shownAsks(run: Run, slots: Slots, texts: Texts): Shown[] {
  const found = openCards(slots).flatMap((slot): Shown[] => {
    const current = run.asks.find((ask) => ask.id === askId(slot))
    if (current) return [{ slot, ask: current, archived: false }]
    const stored = texts.get(`ask:${askId(slot)}`)
    return stored === undefined ? [] : [{ slot, ask: JSON.parse(stored) as Ask, archived: true }]
  })
  return found.sort((a, b) => a.ask.at - b.ask.at || compareCalls(a.ask.call, b.ask.call))
}

const compareCalls = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true })

/** What is missing in Slack. `root` given up: nothing is posted any more, only told. */
export function missing(run: Run, slots: Slots, texts: Texts): Missing {
  const rootSlot = slotOf(slots, "root")
  const first = rootWanted(run, rootSlot, texts)
  const thread = threadWanted(run, slots, texts)
  const wanted = [first, ...thread]
  const posts = rootSlot.sent.over === undefined ? nextPost(wanted, rootSlot) : []
  // A settled card loses its buttons before the root says so.
  const changes = [...thread, first].flatMap(updates)
  const acts = [...marks(run, slots), ...posts, ...words(slots, rootSlot), ...changes]
  const done = wanted.filter((it) => it.final && isUpToDate(it) && !it.slot.sent.done).map((it) => it.slot)
  return { acts, done }
}

/** The root stands but the run doesn't know; a card stands and that is no fact yet. */
function marks(run: Run, slots: Slots): Act[] {
  if (run.ended) return []
  const root: Act[] =
    stands(slotOf(slots, "root")) && !run.rooted ? [{ do: "mark", lane: "cards", mark: "rooted" }] : []
  const seen = run.asks.filter(
    (ask) => ask.shownAt === undefined && !ask.settled && stands(slotOf(slots, `card:${ask.id}`)),
  )
  return [...root, ...seen.map((ask): Act => ({ do: "mark", lane: "cards", mark: { shown: ask.id } }))]
}

function rootWanted(run: Run, slot: Slot, texts: Texts): Wanted {
  const content = fitting(slot, root(run, { prompt: texts.get("prompt") ?? run.title }))
  return { slot, lane: "cards", content, final: run.ended !== undefined }
}

/** The thread, in its order. Each waits for the one before it. */
function threadWanted(run: Run, slots: Slots, texts: Texts): Wanted[] {
  const asks = shownAsks(run, slots, texts)
  return [...asks.flatMap((shown) => cardWanted(run, shown, slots, texts)), ...endWanted(run, slots, texts)]
}

function cardWanted(run: Run, shown: Shown, slots: Slots, texts: Texts): Wanted[] {
  const { slot, ask, archived } = shown
  const view: CardView = {
    run,
    ask,
    request: requestOf(ask, texts),
    args: texts.get(`args:${ask.call}`) ?? "",
    argsPosted: false,
    mention: !ask.settled && firstMention(run, ask),
    ...whyOf(ask, texts),
  }
  const lane: Lane = ask.settled ? "rest" : "cards"
  const pieces = argsMessages(view).map((content, index): Wanted => {
    const piece = slotOf(slots, `args:${ask.id}:${index}`)
    return { slot: piece, lane, content: fitting(piece, content), final: true }
  })
  const begun = pieces.some(({ slot: piece }) => stands(piece))
  const before = ask.settled && !begun ? [] : pieces
  // A piece that Slack refused for good leaves the card without Approve: nobody could read what they agree to.
  const posted = before.every(({ slot: piece }) => piece.sent.over === undefined)
  const content = slot.sent.small ? minimal(view) : card({ ...view, argsPosted: posted })
  return [...before, { slot, lane, content, final: archived }]
}

const whyOf = (ask: Ask, texts: Texts): { why?: string } => {
  const why = texts.get(`why:${turnOf(ask)}`)
  return why === undefined ? {} : { why }
}

function requestOf(ask: Ask, texts: Texts): Request {
  const stored: unknown = JSON.parse(texts.get(`req:${ask.id}`) ?? "null")
  return isRecord(stored) ? (stored as unknown as Request) : { id: ask.id, kind: ask.kind, prompt: "" }
}

/** Whether people are mentioned who weren't by an earlier card of the same turn; for an unknown outcome they always are. */
function firstMention(run: Run, ask: Ask): boolean {
  if (ask.from === "doubt") return true
  const index = run.asks.findIndex((other) => other.id === ask.id)
  const before = run.asks.slice(0, Math.max(index, 0)).filter((other) => turnOf(other) === turnOf(ask))
  const mentioned = new Set(before.flatMap(askedPeople))
  return askedPeople(ask).some((principal) => !mentioned.has(principal))
}

const askedPeople = ({ rule }: Ask): string[] => (rule.selfApproval === "confirm" ? ["requester"] : rule.approvers)

function endWanted(run: Run, slots: Slots, texts: Texts): Wanted[] {
  if (!run.ended || !slots.has("end") || slotOf(slots, "end").sent.done) return []
  return answers(run, { answer: texts.get("answer") ?? "" }).map((content, index): Wanted => {
    const slot = slotOf(slots, `end:${index}`)
    return { slot, lane: "rest", content: fitting(slot, content), final: true }
  })
}

/** What Slack refused in full goes as its one sentence. */
const fitting = (slot: Slot, content: Message): Message =>
  slot.sent.small
    ? {
        text: content.text,
        // The text is escaped already; as plain text Slack reads those three escapes and nothing else.
        blocks: [{ type: "section", text: { type: "plain_text", text: content.text, emoji: false } }],
      }
    : content

/** The first message that doesn't stand; those behind it must come after it. */
function nextPost(wanted: readonly Wanted[], rootSlot: Slot): Act[] {
  const next = wanted.find(({ slot }) => !stands(slot) && !isOver(slot))
  if (!next) return []
  const { slot, lane, content } = next
  const thread = slot.name === "root" ? undefined : rootSlot.copies[0]?.ts
  return [{ do: "post", lane, slot, content, hash: hashOf(content), ...(thread === undefined ? {} : { thread }) }]
}

function updates({ slot, content }: Wanted): Act[] {
  const hash = hashOf(content)
  return slot.copies
    .filter((copy) => copy.hash !== hash && isChangeable(slot))
    .map((copy): Act => ({ do: "update", lane: "rest", slot, copy, content, hash }))
}

/** Pieces of args and of an answer stay as they were posted. */
const isChangeable = (slot: Slot): boolean => slot.name === "root" || slot.name.startsWith("card:")

const isUpToDate = ({ slot, content }: Wanted): boolean =>
  stands(slot) && slot.copies.every((copy) => copy.hash === hashOf(content))

/** What a message shows, in short. */
const hashOf = (content: Message): string => sha256(canonical(content)).slice(0, 16)

/** Words owed to one person; the link to the run's thread as soon as there is one. */
function words(slots: Slots, rootSlot: Slot): Act[] {
  return [...slots.values()].flatMap((slot): Act[] => {
    const isWord = slot.name.startsWith("word:") || (slot.name === "link" && stands(rootSlot))
    if (!isWord || isOver(slot) || slot.data === undefined) return []
    const word = wordOf(slot.data)
    return word ? [{ do: "tell", lane: "cards", slot, word }] : []
  })
}
