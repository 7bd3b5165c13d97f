/**
 * What is missing in Slack of a run: a pure function of the stored run and of what was sent. It knows how nothing is sent,
 * and no pace.
 */
import { answerField, endName, endOf, stretchOf, type End } from "../../core/converse.ts"
import { isRecord } from "../../core/json.ts"
import { isWorking, type Run } from "../../core/run.ts"
import type { Message } from "../blocks/limits.ts"
import { answers, root } from "../blocks/messages.ts"
import { wordOf, type Word } from "../word.ts"
import { archivedTexts, cardTexts, otherPlaces, placeCards, shownAsks, threadCards } from "./cards.ts"
import { isPassing, passingAt, refusedOnes, unplacedCards, untold, usedGrants, usedTexts } from "./notices.ts"
import { THREAD } from "./places.ts"
import { isOver, LIVE, slotOf, stands, type Copy, type Slot, type Slots } from "./record.ts"
import {
  formOf,
  hashOf,
  rootTarget,
  threadOf,
  type Lane,
  type Scene,
  type Shown,
  type Target,
  type Texts,
  type Wanted,
} from "./wanted.ts"

export { archivedTexts }

/** One thing that is missing: a message, a change of one, the end of one, a word to a person, its address, or a mark in the run. */
export type Act =
  | {
      do: "post"
      lane: Lane
      slot: Slot
      content: Message
      hash: string
      to: Target
      spared: readonly string[]
      notBefore: number
      least?: true
    }
  | {
      do: "update"
      lane: Lane
      slot: Slot
      copy: Copy
      content: Message
      hash: string
      notBefore: number
      least?: true
    }
  | { do: "remove"; lane: Lane; slot: Slot; copy: Copy }
  | { do: "seek"; lane: Lane; slot: Slot }
  | { do: "tell"; lane: Lane; slot: Slot; word: Word }
  | { do: "link"; lane: Lane; slot: Slot; copy: Copy }
  | { do: "mark"; lane: Lane; mark: { rooted: string } | { shown: string } }

export interface Missing {
  /** The most urgent first. None waits for another of them. */
  acts: Act[]
  /** Slots that stand as they always will: they need not be rendered again. */
  done: Slot[]
  /** Whom a post among the acts would ping, if they have not opted out. */
  pings: string[]
}

/** What else must be loaded to render; `texts` has the archived asks. */
export const neededTexts = (run: Run, slots: Slots, texts: Texts): string[] => [
  ...new Set([
    "prompt",
    ...stretchesOf({ slots }).map(answerField),
    ...cardTexts(shownAsks(run, slots, texts)),
    ...usedTexts({ slots }),
  ]),
]

/** What is missing in Slack. `root` given up: nothing is posted any more, only told. */
export function missing(scene: Scene): Missing {
  const { run, slots, texts } = scene
  const rootSlot = slotOf(slots, "root")
  const shown = shownAsks(run, slots, texts)
  const first = rootWanted(scene, rootSlot)
  const thread = threadWanted(scene, shown)
  const places = otherPlaces(scene, shown).map((place) => [
    ...placeCards(scene, shown, place),
    ...passingAt(scene, place),
  ])
  const rows = rootSlot.sent.over === undefined ? [[first, ...thread], ...(stands(rootSlot) ? places : [])] : []
  const next = rows.flatMap(nextOf)
  const all = [...thread, ...places.flat(), first]
  // A settled card loses its buttons before the root says so.
  const changes = all.flatMap(updates)
  const acts = [
    ...marks(run, slots),
    ...(places.length > 0 ? linkOf(rootSlot) : []),
    ...next.map(postOf),
    ...changes.filter(({ lane }) => lane === "cards"),
    ...words(slots, rootSlot),
    ...changes.filter(({ lane }) => lane === "rest"),
    ...removals(slots, all),
    ...overtaken(run, slotOf(slots, LIVE)),
  ]
  const done = all.filter((it) => it.final && isUpToDate(it) && !it.slot.sent.done).map((it) => it.slot)
  done.push(...endsDone(scene, all))
  return { acts, done, pings: next.flatMap(({ pings = [] }) => pings) }
}

/** The root stands but the run doesn't know; a card stands and that is no fact yet. */
function marks(run: Run, slots: Slots): Act[] {
  const root = rootMark(run, slotOf(slots, "root"))
  if (run.ended) return root
  const seen = run.asks.filter(
    (ask) => ask.shownAt === undefined && !ask.settled && stands(slotOf(slots, `card:${ask.id}`)),
  )
  return [...root, ...seen.map((ask): Act => ({ do: "mark", lane: "cards", mark: { shown: ask.id } }))]
}

/** Where its thread hangs, unless the run knows: it may have been posted anew, since somebody deleted it. */
function rootMark(run: Run, { copies: [first] }: Slot): Act[] {
  const isKnown = run.rooted ? run.below === true || run.thread === first?.ts : run.ended !== undefined
  return first === undefined || isKnown ? [] : [{ do: "mark", lane: "cards", mark: { rooted: first.ts } }]
}

/** The address of the thread, for whoever reads of the run elsewhere. */
function linkOf(slot: Slot): Act[] {
  const [copy] = slot.copies
  return copy && slot.sent.link === undefined ? [{ do: "link", lane: "cards", slot, copy }] : []
}

function rootWanted({ run, texts, around: { paused, rests } }: Scene, slot: Slot): Wanted {
  const final = run.ended !== undefined
  const full = root(run, { prompt: texts.get("prompt") ?? run.title, paused })
  const form = formOf(slot, full, { again: final ? undefined : rests.refused })
  const mayWait = stands(slot) && !final && !paused && !run.cancelled
  const notBefore = Math.max(mayWait ? lastAsked(run) + rests.root : 0, form.notBefore ?? 0)
  return { slot, lane: "cards", to: rootTarget(run), ...form, final, changes: true, notBefore }
}

/** When people were last asked something in this turn, or answered it, ms. */
const lastAsked = ({ asks }: Run): number => Math.max(0, ...asks.map(({ at, settled }) => settled?.at ?? at))

/** The thread, in its order. Each waits for the one before it. */
function threadWanted(scene: Scene, shown: readonly Shown[]): Wanted[] {
  const open = untold(scene, shown)
  const ends = endsWanted(scene)
  return [
    ...ends.before,
    ...threadCards(scene, shown, ({ ask, archived }) => archived && !open.has(ask.id)),
    ...passingAt(scene, THREAD),
    ...unplacedCards(scene),
    ...usedGrants(scene),
    ...refusedOnes(scene, shown),
    ...ends.last,
  ]
}

/** The stretches whose end is to be looked at: not those that stand as they always will. */
const stretchesOf = ({ slots }: Pick<Scene, "slots">): number[] =>
  [...slots.values()]
    .map((slot) => (slot.sent.done ? undefined : stretchOf(slot.name)))
    .filter((stretch) => stretch !== undefined)
    .sort((a, b) => a - b)

/** What each stretch came to; `last` is that of a run that has ended, and the others come before all that followed. */
function endsWanted(scene: Scene): { before: Wanted[]; last: Wanted[] } {
  const { run } = scene
  const [now, then]: [Wanted[], Wanted[]] = [[], []]
  for (const stretch of stretchesOf(scene)) {
    const isLast = run.ended !== undefined && stretch === (run.stretch?.n ?? 0)
    ;(isLast ? now : then).push(...endWanted(scene, stretch))
  }
  return { before: then, last: now }
}

function endWanted({ run, slots, texts, around }: Scene, stretch: number): Wanted[] {
  const name = endName(stretch)
  const end = notedEnd(run, slotOf(slots, name))
  if (!end) return []
  const to = threadOf(run, slots)
  const { user } = end.to
  const mention = !around.quiet.has(user)
  return answers(run, { end, answer: texts.get(answerField(stretch)) ?? "", mention }).map((content, index): Wanted => {
    const slot = slotOf(slots, stretch === 0 ? `${name}:${index}` : `${name}.${index}`)
    const pings = index === 0 ? [user] : []
    return { slot, lane: "rest", to, ...formOf(slot, content), final: true, changes: false, pings }
  })
}

/** What was noted when it ended; a release before this one left that in the state alone. */
function notedEnd(run: Run, { data }: Slot): End | undefined {
  const noted: unknown = JSON.parse(data ?? "{}")
  if (isRecord(noted) && typeof noted["how"] === "string" && isRecord(noted["to"])) return noted as unknown as End
  return run.ended && endOf(run, run.ended)
}

/** Ends that stand whole while the run goes on: they will never look different. */
const endsDone = ({ run, slots }: Scene, wanted: readonly Wanted[]): Slot[] =>
  stretchesOf({ slots })
    .filter((stretch) => !run.ended || stretch < (run.stretch?.n ?? 0))
    .map((stretch) => slotOf(slots, endName(stretch)))
    .filter((slot) => {
      const its = wanted.filter((it) => it.slot.name.startsWith(`${slot.name}${slot.name === "end" ? ":" : "."}`))
      return its.every((it) => isOver(it.slot) || isUpToDate(it))
    })

/** Of messages that stand one after another, the first that doesn't; those behind it must come after it. */
function nextOf(wanted: readonly Wanted[]): Wanted[] {
  const next = wanted.find(({ slot }) => !stands(slot) && !isOver(slot))
  return next ? [next] : []
}

const postOf = ({ slot, lane, content, least, to, spared = [], notBefore = 0 }: Wanted): Act => ({
  do: "post",
  lane,
  slot,
  content,
  hash: hashOf(content),
  to,
  spared,
  notBefore,
  ...(least ? { least } : {}),
})

/** What stays as it was posted is put right only where it isn't known to be so. */
function updates({ slot, content, least, changes, urgent, notBefore = 0 }: Wanted): Act[] {
  const hash = hashOf(content)
  return slot.copies
    .filter((copy) => (changes ? copy.hash !== hash : copy.hash === ""))
    .map((copy): Act => {
      const lane = urgent ? "cards" : "rest"
      return { do: "update", lane, slot, copy, content, hash, notBefore, ...(least ? { least } : {}) }
    })
}

/** What stands and is no longer true. */
const removals = (slots: Slots, wanted: readonly Wanted[]): Act[] =>
  [...slots.values()]
    .filter((slot) => isPassing(slot.name) && !wanted.some((it) => it.slot.name === slot.name))
    .flatMap((slot) => slot.copies.map((copy): Act => ({ do: "remove", lane: "rest", slot, copy })))

/** Nothing is under way any more that was told of. Of a post whose outcome isn't known, it is looked for. */
function overtaken(run: Run, slot: Slot): Act[] {
  if (isWorking(run)) return []
  if (slot.copies.length === 0 && slot.sent.tries !== undefined) return [{ do: "seek", lane: "rest", slot }]
  return slot.copies.map((copy): Act => ({ do: "remove", lane: "rest", slot, copy }))
}

const isUpToDate = ({ slot, content, changes }: Wanted): boolean =>
  stands(slot) && slot.copies.every((copy) => (changes ? copy.hash === hashOf(content) : copy.hash !== ""))

/** Words owed to one person; the link to the run's thread as soon as there is one. */
function words(slots: Slots, rootSlot: Slot): Act[] {
  return [...slots.values()].flatMap((slot): Act[] => {
    const isWord = slot.name.startsWith("word:") || (slot.name === "link" && stands(rootSlot))
    if (!isWord || isOver(slot) || slot.data === undefined) return []
    const word = wordOf(slot.data)
    return word ? [{ do: "tell", lane: "cards", slot, word }] : []
  })
}
