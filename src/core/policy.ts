/**
 * Who may start, decide, see and cancel, and which rule a call falls under: one place, asked at the moment of acting.
 * Decides from what it is told about a person; it looks nobody up and knows nothing of Slack's API.
 */
import type { Person } from "./fact.ts"

/** A user (`U…`, `W…`), a user group (`S…`) or the members of a channel (`C…`), by id. */
export type Principal = string

/** Whether the requester may approve; `confirm`: the requester alone does (no second person is meant). */
export type SelfApproval = boolean | "confirm"

/** The policy that applied when an ask was made; stored with it, so that a later change of the file weakens nothing. What is left out costs nothing in a parked run. */
export interface Rule {
  /** Where it stands in the file, such as `approvals[2]`; absent for the file's defaults. */
  name?: string
  approvers: Principal[]
  /** Further lists, each of which whoever decides must be on as well: of rules that hold together. */
  also?: Principal[][]
  selfApproval: SelfApproval
  /** How many people must say yes; 1 unless said. One no settles it. */
  quorum?: number
  /** ms from asking to the deadline. */
  expiresIn: number
  /** ms from the yes to the latest start of the call. */
  startWithin: number
  /** How those who may decide are told; they are mentioned in the thread unless said. */
  notify?: "dm" | "none"
  /** A channel where the card stands as well, in step with the thread's. */
  cards?: string
  /** When to remind, ms after asking, in order. */
  remind?: number[]
  /** Who may decide as well from `after` ms after asking on, and the channel where the card then stands, too. */
  escalate?: { after: number; to: Principal[]; channel?: string }
  /** Whether a reason is asked for; not unless said. */
  reason?: { decline?: Need; approve?: Need }
  /** Who may change the args before they are approved; `votes`: and may approve them all the same. Nobody unless said. */
  edit?: { by: "approvers" | "requester"; votes?: true }
  /** For how long (ms) an approver may let the like of it run unasked in this run: the same tool with the same args, at the paths in `same` where it is given. */
  grant?: { for: number; same?: string[] }
  /** Paths of args whose values are shown masked. */
  mask?: string[]
}

export type Need = "required" | "optional"

/** What is known about a person now. Whatever could not be looked up is "unknown", and unknown never opens a door. */
export interface Who {
  person: Person
  standing: "member" | "guest" | "deactivated" | "bot" | "foreign" | "unknown"
  /** Membership of the groups and channels that were looked up, by their id. */
  member: Record<Principal, "yes" | "no" | "unknown">
}

/** Who is behind what a run does: nobody of them is the second person that an approval is about. */
export interface Wish {
  /** Who started the run. */
  requester: Person
  /** Whose words the turn under way answers. */
  asker: Person
  /** Everybody else whose words the agent has read in it. */
  speakers: readonly Person[]
}

/** Of one person alone. */
export const wishOnly = (person: Person): Wish => ({ requester: person, asker: person, speakers: [] })

/** Everybody who is behind it. */
export const spokeIn = ({ requester, speakers }: Wish): Person[] => [requester, ...speakers]

export type Denial =
  | "not listed"
  | "own request"
  | "own words"
  | "own edit"
  | "requester only"
  | "guest"
  | "deactivated"
  | "bot"
  | "foreign"
  | "cannot check"
  | "nobody listed"
  | "wrong channel"

export type Right = { ok: true } | { ok: false; why: Denial }

const YES: Right = { ok: true }
const no = (why: Denial): Right => ({ ok: false, why })

function standing({ standing: is }: Who): Right {
  if (is === "member") return YES
  return no(is === "unknown" ? "cannot check" : is)
}

/** Whether it is a person's id, not that of a user group or a channel. */
export const isPerson = (principal: Principal): boolean => /^[UW]/.test(principal)

/** Whether the person is one of `principals`: by user id, or by a membership that was looked up. */
export function listed(principals: readonly Principal[], who: Who): Right {
  if (principals.length === 0) return no("nobody listed")
  if (principals.includes(who.person.user)) return YES
  const groups = principals.filter((principal) => !isPerson(principal)).map((group) => who.member[group] ?? "unknown")
  if (groups.includes("yes")) return YES
  return no(groups.includes("unknown") ? "cannot check" : "not listed")
}

const both = (first: Right, second: () => Right): Right => (first.ok ? second() : first)

/** Who may start runs, and where. */
export interface Starting {
  starters: readonly Principal[]
  channels: readonly string[]
}

/** Whether the person may start a run in the channel. */
export function mayStart(starting: Starting, who: Who, channel: string): Right {
  return both(standing(who), () =>
    both(listed(starting.starters, who), () => {
      if (starting.channels.length === 0) return no("nobody listed")
      return starting.channels.includes(channel) ? YES : no("wrong channel")
    }),
  )
}

export const samePerson = (a: Person, b: Person): boolean => a.user === b.user && a.team === b.team

/** Everybody and every list that a rule names as deciding now. */
export const decidingNow = ({ approvers, also = [] }: Rule): Principal[] => [
  ...new Set(also.length === 0 ? approvers : [...approvers, ...also.flat()]),
]

/** Everybody and every list that a rule names as deciding, now or later. */
export const principalsOf = (rule: Rule): Principal[] =>
  rule.escalate ? [...new Set([...decidingNow(rule), ...rule.escalate.to])] : decidingNow(rule)

/** The rule as it is once it has been escalated: whoever was added is on every list. */
export function escalatedRule(rule: Rule): Rule {
  if (!rule.escalate) return rule
  const { escalate, ...rest } = rule
  const { to } = escalate
  return {
    ...rest,
    approvers: [...rule.approvers, ...to],
    ...(rule.also ? { also: rule.also.map((list) => [...list, ...to]) } : {}),
  }
}

const listedOnAll = ({ approvers, also = [] }: Rule, who: Who): Right =>
  [approvers, ...also].map((list) => listed(list, who)).find(({ ok }) => !ok) ?? YES

const isOf = (wish: Wish, { person }: Who): boolean => spokeIn(wish).some((one) => samePerson(one, person))

/** Whether the person may say yes (`approve`) or no to an ask under `rule`. */
export function mayDecide(rule: Rule, wish: Wish, who: Who, approve: boolean): Right {
  return both(standing(who), () => {
    const own = isOf(wish, who)
    if (own && !approve) return YES
    if (rule.selfApproval === "confirm") return samePerson(wish.asker, who.person) ? YES : no("requester only")
    if (!own || rule.selfApproval) return listedOnAll(rule, who)
    // Whether listed or not: "not listed" would say that they may not even decline.
    return no(samePerson(wish.requester, who.person) ? "own request" : "own words")
  })
}

/** Whether the person may change the args of a call that is asked about under `rule`. */
export function mayEdit(rule: Rule, { asker }: Wish, who: Who): Right {
  return both(standing(who), () => {
    if (rule.edit === undefined) return no("not listed")
    if (rule.edit.by === "requester") return samePerson(asker, who.person) ? YES : no("requester only")
    return listedOnAll(rule, who)
  })
}

/** Whether whoever changed the args may approve them all the same: where the requester alone decides, nobody else could. */
export const editorsVote = ({ edit, selfApproval }: Rule): boolean => edit?.votes === true || selfApproval === "confirm"

/** Whether the person may cancel a run: whoever spoke in it, who may decide its asks, and the admins. */
export function mayCancel(people: readonly Principal[], wish: Wish, who: Who): Right {
  return both(standing(who), () => (isOf(wish, who) ? YES : listed(people, who)))
}

/** Whether the person may take a grant back: whoever gave it or decides under its rule, whoever spoke in the run, and the admins. */
export function mayRevoke(
  { by, rule, admins }: { by: Person; rule: Rule; admins: readonly Principal[] },
  wish: Wish,
  who: Who,
): Right {
  return both(standing(who), () =>
    samePerson(by, who.person) ? YES : mayCancel([...principalsOf(rule), ...admins], wish, who),
  )
}

/** Whether the person may pause everything, and end a pause. */
export const mayPause = (admins: readonly Principal[], who: Who): Right =>
  both(standing(who), () => listed(admins, who))

/** Whether the person may know that the run exists: as for cancelling, or as a member of its channel. */
export function maySee(people: readonly Principal[], wish: Wish, channel: string, who: Who): boolean {
  return mayCancel([...people, channel], wish, who).ok
}
