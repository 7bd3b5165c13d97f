/**
 * What the command shows of runs and grants: lists and single ones, with links to their messages. Decides nothing.
 */
import type { Person } from "../core/fact.ts"
import { grantsInForce } from "../core/grant.ts"
import { openAsks, type Run } from "../core/run.ts"
import type { Loaded } from "../store/store.ts"
import type { Message } from "./blocks/limits.ts"
import { cautioned, choices, grantsList, list, shownRun, type Listed, type ListedGrant } from "./blocks/lists.ts"
import type { Front } from "./front.ts"
import { keyOf, linksTo } from "./links.ts"
import { concernOf, grantsFor, runsOf, waitingFor, type InForce } from "./mine.ts"

/** Entries of a list that may be shown; only these get links. */
const SHOWN = 10

export const UNSURE = "I can't look up your groups now, so something that waits for you may be missing here."

export async function listFor(front: Front, person: Person): Promise<Message> {
  const concern = await concernOf(front, person)
  const [waiting, mine] = await Promise.all([waitingFor(front, concern), runsOf(front, concern)])
  const links = await linksTo(front, [
    ...waiting.slice(0, SHOWN).map(({ loaded: { run }, ask }) => ({ run, slot: `card:${ask.id}` })),
    ...mine.slice(0, SHOWN).map(({ run }) => ({ run, slot: "root" })),
  ])
  const message = list({
    waiting: waiting.map(({ loaded: { run }, ask }) => ({
      run,
      ask,
      link: links.get(keyOf({ run, slot: `card:${ask.id}` })),
    })),
    mine: mine.map(({ run }): Listed => ({ run, link: links.get(keyOf({ run, slot: "root" })) })),
    command: front.command,
  })
  return concern.unsure ? cautioned(message, UNSURE) : message
}

export async function runFor(front: Front, { run, now }: Loaded): Promise<Message> {
  const cards = openAsks(run).slice(0, SHOWN)
  const links = await linksTo(front, [{ run, slot: "root" }, ...cards.map(({ id }) => ({ run, slot: `card:${id}` }))])
  const linkOf = (slot: string): string | undefined => links.get(keyOf({ run, slot }))
  const found = cards.flatMap(({ id }): [string, string][] => {
    const link = linkOf(`card:${id}`)
    return link === undefined ? [] : [[id, link]]
  })
  return shownRun({
    run,
    link: linkOf("root"),
    cards: new Map(found),
    grants: grantsInForce(run, now),
    command: front.command,
  })
}

export async function choicesFor(front: Front, said: string, found: readonly Loaded[]): Promise<Message> {
  const links = await linksTo(
    front,
    found.slice(0, SHOWN).map(({ run }) => ({ run, slot: "root" })),
  )
  return choices(
    said,
    found.map(({ run }) => ({ run, link: links.get(keyOf({ run, slot: "root" })) })),
  )
}

export async function grantsListFor(front: Front, person: Person): Promise<Message> {
  const concern = await concernOf(front, person)
  const message = grantsList(await linked(front, await grantsFor(front, concern)), front.command)
  return concern.unsure ? cautioned(message, UNSURE) : message
}

/** Several grants that the beginning of an id could mean. */
export const grantChoices = async (front: Front, found: readonly InForce[]): Promise<Message> =>
  grantsList(await linked(front, found), front.command)

async function linked(front: Front, found: readonly InForce[]): Promise<ListedGrant[]> {
  const cardOf = ({ loaded: { run }, grant }: InForce): { run: Run; slot: string } => ({
    run,
    slot: `card:${grant.ask}`,
  })
  const links = await linksTo(front, found.slice(0, SHOWN).map(cardOf))
  return found.map((one) => ({ run: one.loaded.run, grant: one.grant, link: links.get(keyOf(cardOf(one))) }))
}
