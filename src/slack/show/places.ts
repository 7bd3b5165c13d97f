/**
 * Where else than in its run's thread the card of an ask stands, and where each of those who are asked is pinged. Pure
 * functions of the stored ask; what Slack lets us post is not known here.
 */
import { isPerson, spokeIn, type Principal } from "../../core/policy.ts"
import { wishOf, type Ask, type Run } from "../../core/run.ts"

/** The run's own thread; every other place is the id of a channel, or of a person for their direct messages. */
export const THREAD = ""

/** What a slot is called at a place. */
export const slotAt = (place: string, name: string): string => (place === THREAD ? name : `@${place}/${name}`)

/** The other way round; `of` is what follows the kind: most often the id of an ask. */
export function readName(name: string): { place: string; kind: string; of: string } {
  const [, place = THREAD, rest = name] = /^@([A-Z0-9]+)\/(.*)$/su.exec(name) ?? []
  const colon = rest.indexOf(":")
  return colon === -1 ? { place, kind: rest, of: "" } : { place, kind: rest.slice(0, colon), of: rest.slice(colon + 1) }
}

/** The most people who get the card of one ask as a direct message. */
const DIRECT = 5

/** Those whom the card asks from the beginning: who spoke in the run is among them only where they may say yes. */
export function askedBy(run: Run, { rule }: Ask): Principal[] {
  if (rule.selfApproval === "confirm") return [wishOf(run).asker.user]
  return rule.selfApproval ? rule.approvers : rule.approvers.filter((id) => !spoke(run, id))
}

/** Whoever spoke in the run's thread looks there. */
const spoke = (run: Run, id: Principal): boolean => spokeIn(wishOf(run)).some(({ user }) => user === id)

const directly = (run: Run, ask: Ask): Principal[] =>
  ask.rule.notify === "dm" ? askedBy(run, ask).filter(isPerson).slice(0, DIRECT) : []

/** The other places where the card of an open ask stands. */
export function placesOf(run: Run, ask: Ask): string[] {
  const { cards, escalate } = ask.rule
  const others = askedBy(run, ask).some((id) => !spoke(run, id))
  const later = calledBy(ask).length === 0 ? undefined : escalate?.channel
  const places = [others ? cards : undefined, later, ...directly(run, ask)]
  return [...new Set(places.filter((place) => place !== undefined && place !== run.channel))] as string[]
}

/** Where those are called who may decide as well after the escalation. */
export function calledTo(run: Run, { rule }: Ask): string {
  const channel = rule.escalate?.channel
  return channel === undefined || channel === run.channel ? THREAD : channel
}

/** Who may decide as well by now. */
export const calledBy = ({ rule, escalated }: Ask): Principal[] =>
  escalated === undefined || rule.selfApproval === "confirm" ? [] : (rule.escalate?.to ?? [])

/** Whether the card comes to that place for their sake, so that it calls them itself. */
export const comesWithCard = (run: Run, ask: Ask): boolean => {
  const place = calledTo(run, ask)
  return place !== THREAD && place !== ask.rule.cards
}

/** Where somebody who is asked is pinged. */
export function placeFor(run: Run, ask: Ask, id: Principal): string {
  const { cards } = ask.rule
  if (directly(run, ask).includes(id)) return id
  if (spoke(run, id)) return THREAD
  if (!askedBy(run, ask).includes(id)) return calledTo(run, ask)
  return cards === undefined || cards === run.channel ? THREAD : cards
}

/** Everybody who is to be reminded: who is asked, has not said yes, and was not called in after that reminder was due. */
export function waitedFor(run: Run, ask: Ask): Principal[] {
  const { reminded = 0, escalated = 0, votes = [], at, rule } = ask
  const due = at + (rule.remind?.[reminded - 1] ?? 0)
  const voted = new Set(votes.map(({ by }) => by.user))
  const called = escalated < due ? calledBy(ask) : []
  return [...new Set([...askedBy(run, ask), ...called])].filter((id) => !voted.has(id))
}

/** Whom the card of an ask pings by being posted at a place. */
export function pingedBy(run: Run, ask: Ask, place: string): Principal[] {
  if (ask.rule.notify === "none") return []
  const called = comesWithCard(run, ask) ? calledBy(ask) : []
  return [...new Set([...askedBy(run, ask), ...called])].filter((id) => placeFor(run, ask, id) === place)
}
