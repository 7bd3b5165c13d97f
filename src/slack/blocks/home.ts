/**
 * The app's home of one person, and how presses on what is only there are read back. A pure function of what is stored;
 * what is decided from here stands here whole, or is decided on its card. Mentions nobody: it is for one reader.
 */
import type { Button, HomeView, KnownBlock } from "@slack/types"
import { grantRef } from "../../core/grant.ts"
import { ruleOf, type Ask } from "../../core/run.ts"
import { buttons } from "./buttons.ts"
import { agentsSection, type ShownAgent } from "./agents.ts"
import type { CardView } from "./card.ts"
import { risk } from "./glance.ts"
import { PRESS, withReason } from "./intent.ts"
import { entry, grantWords, linkTo, missing, titleOf, type Inline, type Listed, type ListedGrant } from "./lists.ts"
import { material, type Part } from "./material.ts"
import { headline, verdict } from "./outcome.ts"
import {
  actions,
  agentIn,
  bold,
  button,
  code,
  exactly,
  header,
  instant,
  nameOf,
  quote,
  rich,
  section,
  until,
  words,
} from "./rich.ts"
import { clip, cost, count, oneLine, toolName, visible } from "./text.ts"

/** The lists of the home, as its pages name them. */
export const LISTS = ["waiting", "mine", "decided", "grants"] as const
export type ListName = (typeof LISTS)[number]
/** Which page of each list is shown, from 0. */
export type Pages = Record<ListName, number>
export const FIRST: Pages = { waiting: 0, mine: 0, decided: 0, grants: 0 }

/** Entries of a page. */
export const PAGE = 10

/** A page of a list. */
export interface Page<T> {
  items: readonly T[]
  /** Which it is, from 0, and how many entries there are in all. */
  page: number
  total: number
}

/** What waits: as for its card. */
export interface WaitingItem {
  card: Pick<CardView, "run" | "ask" | "request" | "args">
  link?: string | undefined
}

/** What the reader said; the ask is known as long as it is kept. */
export interface DecidedItem extends Listed {
  at: number
}

export interface Home {
  waiting: Page<WaitingItem>
  mine: Page<Listed>
  decided: Page<DecidedItem>
  grants: Page<ListedGrant>
  /** What came of the reader's last press. */
  said?: string | undefined
  caution?: string | undefined
  /** Those that the reader may use somewhere. */
  agents?: readonly ShownAgent[]
  /** Nothing may be approved at the moment. */
  paused: boolean
  /** Whether the reader wants no pings. */
  quiet: boolean
  /** With its slash. */
  command: string
}

/** The action ids of what is only here. A press on anything else of the home is a press as on a card. */
const HOME = { page: "home:page", revoke: "home:revoke", quiet: "home:quiet" } as const

export function home(view: Home): HomeView {
  const { waiting, mine, decided, grants, said, caution } = view
  const blocks: KnownBlock[] = [
    ...(said === undefined ? [] : [rich(section(bold(visible(said))))]),
    ...(caution === undefined ? [] : [rich(section(words(caution, { italic: true })))]),
    ...(view.paused ? [plain(PAUSED)] : []),
    header(titled("Waiting for you", waiting)),
    ...(waiting.total === 0 ? [plain("Nothing waits for you.")] : []),
    ...waiting.items.flatMap((item, index) => [
      ...(index === 0 ? [] : [{ type: "divider" } as const]),
      ...waitingBlocks(item, index, view.paused),
    ]),
    ...pager("waiting", waiting),
    header(titled("Your runs", mine)),
    mine.total === 0
      ? plain(`You have no runs. Start one in a channel: ${oneLine(view.command)} and what is to be done.`)
      : rich(...mine.items.map(entry)),
    ...pager("mine", mine),
    header(titled("You decided lately", decided)),
    decided.total === 0 ? plain("You have decided nothing lately.") : rich(...decided.items.map(decidedEntry)),
    ...pager("decided", decided),
    header(titled("Grants in force", grants)),
    ...(grants.total === 0 ? [plain("Nothing runs unasked.")] : grants.items.flatMap(grantBlocks)),
    ...pager("grants", grants),
    ...agentsSection(view),
    header("Pings"),
    ...pings(view),
  ]
  const pages: Pages = { waiting: waiting.page, mine: mine.page, decided: decided.page, grants: grants.page }
  return { type: "home", private_metadata: JSON.stringify(pages), blocks }
}

const PAUSED = "Countersign is paused: nothing starts and nothing can be approved. Deadlines go on."

/** What is shown when nothing of it could be read. */
export const homeSaying = (sentence: string): HomeView => ({ type: "home", blocks: [plain(sentence)] })

const plain = (text: string): KnownBlock => rich(section(text))
const titled = (title: string, { total }: Page<unknown>): string => (total === 0 ? title : `${title} (${total})`)

/** A page's place in its list, and the way to the others. */
function pager(list: ListName, { items, page, total }: Page<unknown>): KnownBlock[] {
  if (total <= PAGE && page === 0) return []
  const first = page * PAGE + 1
  const where = section(words(`${first} to ${first + items.length - 1} of ${total}`, { italic: true }))
  const to = (text: string, target: number): Button =>
    // Ids are one block's own.
    button({
      id: `${HOME.page}:${text.toLowerCase()}`,
      text,
      label: `${text}: ${TITLES[list]}`,
      value: `${list}:${target}`,
    })
  const ways = [
    ...(page > 0 ? [to("Newer", page - 1)] : []),
    ...((page + 1) * PAGE < total ? [to("Older", page + 1)] : []),
  ]
  return [rich(where), ...(ways.length > 0 ? [actions(`page-${list}-${page}`, ways)] : [])]
}

const TITLES: Record<ListName, string> = {
  waiting: "what waits for me",
  mine: "my runs",
  decided: "what I decided",
  grants: "grants in force",
}

/** The most that a part of what is asked may cost to stand here whole. */
const ROOM = 1500

function waitingBlocks({ card, link }: WaitingItem, index: number, paused: boolean): KnownBlock[] {
  const { run, ask, request } = card
  const view: CardView = { ...card, argsPosted: false, mention: false, paused }
  const parts = material(view)
  const blocker = blockerOf(parts)
  const hint = blocker === undefined ? [] : [section(words(`${blocker} `, { italic: true }))]
  return [
    rich(
      section(bold(headline(ask, request)), `\nfor ${nameOf(run.requester)}${agentIn(run)}: ${titleOf(run)}`),
      ...parts.flatMap((part) => (isShown(part) ? shownPart(part) : [])),
      ...warned(parts),
      ...hint,
      section("Decide by ", until(ask), ...missing(ask), ...edited(ask)),
      section(code(run.id), ...linkTo(link, "open the card")),
    ),
    ...risk(view),
    ...pressable(view, parts, blocker !== undefined, index),
  ]
}

const isShown = (part: Part): boolean => !part.long && cost(part.text) <= ROOM

function shownPart(part: Part): Parameters<typeof rich> {
  return [section(bold(part.title)), part.exact ? exactly(part.text) : quote(part.text)]
}

/** Why nobody should agree to it here. */
function blockerOf(parts: readonly Part[]): string | undefined {
  if (!parts.every(isShown)) {
    const long = parts.filter((part) => !isShown(part))
    const what = long.map(({ title, text }) => `${title} (${count(text.length, "character")})`).join(", ")
    return `Too long to stand here: ${what}. It can be approved on its card.`
  }
  return parts.some(({ masked }) => masked > 0)
    ? "Some of it is masked. Its card can show it to you, and can be approved."
    : undefined
}

function warned(parts: readonly Part[]): Parameters<typeof rich> {
  const warnings = [...new Set(parts.flatMap((part) => part.warnings))].slice(0, 4)
  if (warnings.length === 0) return []
  return [section(bold("⚠ Look closely"), ...warnings.map((warning) => `\n• ${clip(visible(warning), 300)}`))]
}

function edited({ editors = [], version }: Ask): Inline {
  const last = editors.at(-1)
  return last ? [` · changed by ${nameOf(last)}, version ${version}`] : []
}

/** What a person can say here though they can't read all of it. */
const REFUSING: readonly string[] = [
  PRESS.decline,
  withReason("decline"),
  PRESS.failed,
  withReason("failed"),
  PRESS.details,
]

/** The card's own buttons. What is masked is shown on the card alone: here is no place for one person's eyes. */
function pressable(view: CardView, parts: readonly Part[], blocked: boolean, index: number): KnownBlock[] {
  const all = buttons({ ...view, argsPosted: !blocked }, parts)
  return all.flatMap((block): KnownBlock[] => {
    if (block.type !== "actions") return []
    const kept = block.elements.filter(
      (it): it is Button =>
        it.type === "button" && it.action_id !== PRESS.reveal && (!blocked || REFUSING.includes(it.action_id ?? "")),
    )
    return kept.length === 0 ? [] : [actions(`waiting-${index}-${block.block_id ?? ""}`, kept)]
  })
}

function decidedEntry({ run, ask, at, link }: DecidedItem): ReturnType<typeof section> {
  return section(
    bold(ask ? `${verdictWords(ask)}: ${toolName(ask.tool)}` : "Decided"),
    `, for ${nameOf(run.requester)}${agentIn(run)}: ${titleOf(run)}\n`,
    instant(at),
    ...linkTo(link, ask ? "open the card" : "open the thread"),
    "\n",
  )
}

function verdictWords(ask: Ask): string {
  if (ask.settled) return verdict(ask, ask.settled)
  return `Approved by you, ${ask.votes?.length ?? 0} of ${ruleOf(ask).quorum ?? 1}`
}

function grantBlocks({ run, grant, link }: ListedGrant, index: number): KnownBlock[] {
  const revoke = button({
    id: HOME.revoke,
    text: "Revoke",
    label: `Take back the grant for ${grant.tool}`,
    value: grantRef(run, grant),
    style: "danger",
    confirm: {
      title: "Take this grant back?",
      text: `From now on the like of ${grant.tool} is asked about again in this run.`,
      yes: "Take it back",
      no: "Keep it",
    },
  })
  return [
    rich(section(...grantWords(run, grant), ...linkTo(link, "open its card"))),
    actions(`grant-${index}`, [revoke]),
  ]
}

function pings({ quiet }: Home): KnownBlock[] {
  const said = quiet
    ? "I don't ping you: no mention in cards and reminders, no cards by direct message. What waits for you is here and in the list."
    : "I ping you when something waits for you: once for a card, and with its reminders."
  const text = quiet ? "Ping me" : "Don't ping me"
  return [plain(said), actions("pings", [button({ id: HOME.quiet, text, label: text, value: quiet ? "no" : "yes" })])]
}

/** A press on what is only here. */
export type HomePress =
  | { kind: "page"; list: ListName; page: number }
  /** What people call the grant by. */
  | { kind: "revoke"; grant: string }
  | { kind: "quiet"; quiet: boolean }

/** What such a press says; undefined for any other. Its value was in other hands: it names things, it grants nothing. */
export function homePressOf(action: { action_id?: unknown; value?: unknown }): HomePress | undefined {
  const { action_id: id, value } = action
  if (typeof id !== "string" || typeof value !== "string" || value.length > 200) return undefined
  if (id === HOME.quiet) return { kind: "quiet", quiet: value === "yes" }
  if (id === HOME.revoke) return { kind: "revoke", grant: value }
  if (!id.startsWith(`${HOME.page}:`)) return undefined
  const [, name, page] = /^([a-z]+):(\d{1,3})$/.exec(value) ?? []
  const list = LISTS.find((one) => one === name)
  return list === undefined ? undefined : { kind: "page", list, page: Number(page) }
}

/** Which pages were shown, by what came back with a press. */
export function pagesOf(metadata: unknown): Pages {
  if (typeof metadata !== "string" || metadata.length > 500) return FIRST
  const pages = { ...FIRST }
  for (const list of LISTS) {
    const [, page] = new RegExp(`"${list}":(\\d{1,3})[,}]`).exec(metadata) ?? []
    if (page !== undefined) pages[list] = Number(page)
  }
  return pages
}
