/**
 * The app's home of one person, put together: what concerns them, a page of each list, with links. Knows no press and no
 * clock.
 */
import type { HomeView } from "@slack/types"
import type { Person } from "../core/fact.ts"
import type { Ask } from "../core/run.ts"
import { askOf } from "../core/run.ts"
import { principalsFor, usableBy, type NamedAgent } from "./agents.ts"
import { textsOf } from "./ask.ts"
import { home, PAGE, type DecidedItem, type Page, type Pages, type WaitingItem } from "./blocks/home.ts"
import type { Listed, ListedGrant } from "./blocks/lists.ts"
import type { Front } from "./front.ts"
import { keyOf, linksTo, type Wanted } from "./links.ts"
import {
  concernOf,
  decidedBy,
  grantsFor,
  runsOf,
  waitingFor,
  type Concern,
  type Decided,
  type Waiting,
} from "./mine.ts"
import { UNSURE } from "./show-run.ts"

/** A home, and by what it is known whether a change of a run is a change of it. */
export interface Made {
  view: HomeView
  concern: Concern
  /** The runs that it shows. */
  runs: ReadonlySet<string>
}

/** `said`: what came of the person's last press. Throws when it can't be read. */
export async function homeOf(front: Front, person: Person, pages: Pages, said?: string): Promise<Made> {
  const concern = await concernOf(front, person)
  const [waiting, mine, decided, grants, agents, quiet, paused] = await Promise.all([
    waitingFor(front, concern),
    runsOf(front, concern),
    decidedBy(front, concern),
    grantsFor(front, concern),
    agentsOf(front, person),
    front.store.quiet(),
    front.store.pause.read(),
  ])
  const shown = {
    waiting: pageOf(waiting, pages.waiting),
    mine: pageOf(mine, pages.mine),
    decided: pageOf(decided, pages.decided),
    grants: pageOf(grants, pages.grants),
  }
  const items = await Promise.all(shown.decided.items.map((one) => decidedItem(front, one)))
  const cards = shown.waiting.items.map(({ loaded: { run }, ask }) => cardAt(run, ask))
  const roots = shown.mine.items.map(({ run }) => rootOf(run))
  const links = await linksTo(front, [
    ...cards,
    ...roots,
    ...shown.grants.items.map(({ loaded: { run }, grant }) => cardAt(run, { id: grant.ask })),
    ...items.map(({ run, ask }) => (ask ? cardAt(run, ask) : rootOf(run))),
  ])
  const linked = <T extends Listed>(one: T): T => ({
    ...one,
    link: links.get(keyOf(one.ask ? cardAt(one.run, one.ask) : rootOf(one.run))),
  })
  const view = home({
    waiting: {
      ...shown.waiting,
      items: await Promise.all(shown.waiting.items.map((one) => waitingItem(front, one, links))),
    },
    mine: { ...shown.mine, items: shown.mine.items.map(({ run }) => linked({ run })) },
    decided: { ...shown.decided, items: items.map(linked) },
    grants: {
      ...shown.grants,
      items: shown.grants.items.map(({ loaded: { run }, grant }): ListedGrant => {
        return { run, grant, link: links.get(keyOf(cardAt(run, { id: grant.ask }))) }
      }),
    },
    agents,
    said,
    caution: concern.unsure ? UNSURE : undefined,
    paused: paused !== undefined,
    quiet: quiet.has(concern.who.person.user),
    command: front.command,
  })
  const runs = [...shown.waiting.items, ...shown.decided.items, ...shown.grants.items].map(
    ({ loaded }) => loaded.run.id,
  )
  return { view, concern, runs: new Set([...runs, ...shown.mine.items.map(({ run }) => run.id)]) }
}

async function agentsOf({ people, lists, agents }: Front, person: Person): Promise<NamedAgent[]> {
  if (agents.length === 0) return []
  return usableBy(lists, agents, await people.who(person, principalsFor(lists, agents)))
}

const rootOf = (run: Wanted["run"]): Wanted => ({ run, slot: "root" })
const cardAt = (run: Wanted["run"], { id }: Pick<Ask, "id">): Wanted => ({ run, slot: `card:${id}` })

/** The page that is wanted, or the last there is: what was shown on one may have been decided since. */
function pageOf<T>(all: readonly T[], wanted: number): Page<T> {
  const page = Math.max(0, Math.min(wanted, Math.ceil(all.length / PAGE) - 1))
  return { items: all.slice(page * PAGE, (page + 1) * PAGE), page, total: all.length }
}

async function waitingItem(
  front: Front,
  { loaded: { run }, ask }: Waiting,
  links: ReadonlyMap<string, string>,
): Promise<WaitingItem> {
  const { request, args } = await textsOf(front, run.id, ask)
  return { card: { run, ask, request, args }, link: links.get(keyOf(cardAt(run, ask))) }
}

/** With the ask as it was put away, when its turn is over. */
async function decidedItem({ store }: Front, { loaded: { run }, ask: id, at }: Decided): Promise<DecidedItem> {
  const current = askOf(run, id)
  if (current) return { run, at, ask: current }
  const [text] = await store.texts(run.id, [`ask:${id}`])
  return text === undefined ? { run, at } : { run, at, ask: JSON.parse(text) as Ask }
}
