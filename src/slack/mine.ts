/**
 * What concerns one person: runs that wait for them, their own, what they decided lately, grants they may take back. For the
 * command and the app's home. Tells what waits for somebody by asking the policy about each run; posts nothing.
 */
import type { Person } from "../core/fact.ts"
import { grantsInForce } from "../core/grant.ts"
import {
  editorsVote,
  mayCancel,
  mayDecide,
  mayRevoke,
  maySee,
  principalsOf,
  samePerson,
  type Principal,
  type Who,
} from "../core/policy.ts"
import { decidersOf, openAsks, ruleOf, wishOf, type Ask, type Grant, type Run } from "../core/run.ts"
import type { Loaded } from "../store/store.ts"
import type { Front } from "./front.ts"

/** Runs that are read of one list. Who has more of them is told that there are more. */
export const MANY = 500

/** A person, and every list that they are on. */
export interface Concern {
  who: Who
  /** Their id, and the groups and channels that they are in. */
  principals: Principal[]
  /** Some of these could not be looked up, so that something may be missing. */
  unsure: boolean
}

export async function concernOf({ people, lists }: Front, person: Person): Promise<Concern> {
  const who = await people.who(person, [...lists.deciders, ...lists.admins])
  const groups = Object.entries(who.member)
  const inside = groups.flatMap(([group, member]) => (member === "yes" ? [group] : []))
  const unsure = who.standing === "unknown" || groups.some(([, member]) => member === "unknown")
  return { who, principals: [who.person.user, ...inside], unsure }
}

/** One ask that the person may say yes to. */
export interface Waiting {
  loaded: Loaded
  ask: Ask
}

/** What waits for the person, the soonest deadline first. */
export async function waitingFor({ store }: Front, { who, principals }: Concern): Promise<Waiting[]> {
  const { team, user } = who.person
  // Their own run may wait for nobody but them; it is in no approver's list.
  const names = [...principals.map((principal) => `waits:${principal}`), `requester:${team}:${user}`]
  const found = await store.list(names, MANY)
  return found
    .flatMap((loaded) => openAsks(loaded.run).map((ask): Waiting => ({ loaded, ask })))
    .filter(({ loaded, ask }) => waitsFor(who, loaded, ask))
    .sort((a, b) => a.ask.expiresAt - b.ask.expiresAt || a.ask.at - b.ask.at)
}

/** Whether the person may say yes and hasn't. Of several who must agree, whoever has is not waited for. */
function waitsFor(who: Who, { run, now }: Loaded, ask: Ask): boolean {
  if (run.ended || run.cancelled || ask.expiresAt <= now) return false
  const isOwn = ({ by }: { by: Person }): boolean => samePerson(by, who.person)
  if (ask.votes?.some(isOwn) === true) return false
  if (!editorsVote(ask.rule) && ask.editors?.some((by) => isOwn({ by })) === true) return false
  return mayDecide(ruleOf(ask), wishOf(run), who, true).ok
}

/** The person's own runs, the newest first. */
export const runsOf = ({ store }: Front, { who: { person } }: Concern): Promise<Loaded[]> =>
  store.list([`requester:${person.team}:${person.user}`], MANY)

/** What the person said in a run, and to what; the ask is not there any more when its turn was over long ago. */
export interface Decided {
  loaded: Loaded
  ask: string
  at: number
}

/** What the person decided or voted on, the latest first; of each run the last. */
export async function decidedBy({ store }: Front, { who: { person } }: Concern): Promise<Decided[]> {
  const by = `${person.team}:${person.user}`
  const found = await store.list([`decided:${by}`], MANY)
  return found.flatMap((loaded) => {
    const said = loaded.run.lately?.find((one) => one.by === by)
    return said ? [{ loaded, ask: said.ask, at: said.at }] : []
  })
}

export interface InForce {
  loaded: Loaded
  grant: Grant
}

/** Grants in force that the person may take back, the newest first. */
export async function grantsFor({ store, lists }: Front, { who, principals }: Concern): Promise<InForce[]> {
  const isAdmin = principals.some((principal) => lists.admins.includes(principal))
  const found = await store.list(isAdmin ? ["grants:"] : principals.map((principal) => `grants:${principal}`), MANY)
  const { admins } = lists
  return found
    .flatMap((loaded) => grantsInForce(loaded.run, loaded.now).map((grant): InForce => ({ loaded, grant })))
    .filter(({ loaded, grant }) => mayRevoke({ ...grant, admins }, wishOf(loaded.run), who).ok)
    .sort((a, b) => b.grant.at - a.grant.at)
}

/** Everybody who may cancel the run, beside those who spoke in it. */
export const peopleOf = ({ approvers, admins }: Front["lists"], run: Run): Principal[] => [
  ...new Set([...approvers, ...admins, ...run.asks.flatMap(decidersOf)]),
]

/** Whether the person may know that there is this run. Whoever said something in it may. */
export async function sees({ people, lists }: Front, run: Run, person: Person): Promise<boolean> {
  const listed = [...peopleOf(lists, run), ...(run.grants ?? []).flatMap(({ rule }) => principalsOf(rule))]
  const who = await people.who(person, listed)
  const { team, user } = who.person
  const said = run.lately?.some(({ by }) => by === `${team}:${user}`) === true ? [user] : []
  if (mayCancel([...listed, ...said], wishOf(run), who).ok) return true
  return maySee(listed, wishOf(run), run.channel, await people.seer(person, listed, run.channel))
}
