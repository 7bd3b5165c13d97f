/**
 * Who may start, decide, see and cancel, and which rule a call falls under: one place, asked at the moment of acting.
 * Decides from what it is told about a person; it looks nobody up and knows nothing of Slack's API.
 */
import type { Person } from "./fact.ts"

/** A user (`U…`, `W…`), a user group (`S…`) or the members of a channel (`C…`), by id. */
export type Principal = string

/** Whether the requester may approve; `confirm`: the requester alone does (no second person is meant). */
export type SelfApproval = boolean | "confirm"

/** The policy that applied when an ask was made; stored with it, so that a later change of the file weakens nothing. */
export interface Rule {
  approvers: Principal[]
  selfApproval: SelfApproval
  /** ms from asking to the deadline. */
  expiresIn: number
  /** ms from the yes to the latest start of the call. */
  startWithin: number
}

/** What is known about a person now. Whatever could not be looked up is "unknown", and unknown never opens a door. */
export interface Who {
  person: Person
  standing: "member" | "guest" | "deactivated" | "bot" | "foreign" | "unknown"
  /** Membership of the groups and channels that were looked up, by their id. */
  member: Record<Principal, "yes" | "no" | "unknown">
}

export type Denial =
  | "not listed"
  | "own request"
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

const isUser = (principal: Principal): boolean => /^[UW]/.test(principal)

/** Whether the person is one of `principals`: by user id, or by a membership that was looked up. */
export function listed(principals: readonly Principal[], who: Who): Right {
  if (principals.length === 0) return no("nobody listed")
  if (principals.includes(who.person.user)) return YES
  const groups = principals.filter((principal) => !isUser(principal)).map((group) => who.member[group] ?? "unknown")
  if (groups.includes("yes")) return YES
  return no(groups.includes("unknown") ? "cannot check" : "not listed")
}

const both = (first: Right, second: () => Right): Right => (first.ok ? second() : first)

export interface Doors {
  starters: readonly Principal[]
  channels: readonly string[]
}

/** Whether the person may start a run in the channel. */
export function mayStart(doors: Doors, who: Who, channel: string): Right {
  return both(standing(who), () =>
    both(listed(doors.starters, who), () => {
      if (doors.channels.length === 0) return no("nobody listed")
      return doors.channels.includes(channel) ? YES : no("wrong channel")
    }),
  )
}

export const samePerson = (a: Person, b: Person): boolean => a.user === b.user && a.team === b.team

/** Whether the person may say yes (`approve`) or no to an ask under `rule` of a run of `requester`. */
export function mayDecide(rule: Rule, requester: Person, who: Who, approve: boolean): Right {
  return both(standing(who), () => {
    const own = samePerson(requester, who.person)
    if (own && (!approve || rule.selfApproval === "confirm")) return YES
    if (rule.selfApproval === "confirm") return no("requester only")
    // Whether listed or not: "not listed" would say that they may not even decline.
    return own && !rule.selfApproval ? no("own request") : listed(rule.approvers, who)
  })
}

/** Whether the person may cancel a run: its requester, who may decide its asks, and the admins. */
export function mayCancel(people: readonly Principal[], requester: Person, who: Who): Right {
  return both(standing(who), () => (samePerson(requester, who.person) ? YES : listed(people, who)))
}

/** Whether the person may know that the run exists: as for cancelling, or as a member of its channel. */
export function maySee(people: readonly Principal[], requester: Person, channel: string, who: Who): boolean {
  return mayCancel([...people, channel], requester, who).ok
}

/** One line of `approvals`, durations in ms, defaults not yet filled in. */
export interface ApprovalRule {
  tool: string
  do: "allow" | "ask" | "deny"
  approvers?: Principal[] | undefined
  selfApproval?: SelfApproval | undefined
  expiresIn?: number | undefined
  startWithin?: number | undefined
}

export type Decision = { do: "allow" } | { do: "deny"; rule: string } | { do: "ask"; rule: Rule }

/**
 * `*` is any run of characters, `?` one; everything else is itself. Case-sensitive, whole name. No regular expression, which
 * would try every way to share a name among many `*`: only the last `*` seen can ever need to take one character more.
 */
export function globMatches(glob: string, name: string): boolean {
  const pattern = [...glob]
  const text = [...name]
  let at = 0
  let star: { next: number; takenTo: number } | undefined
  for (let i = 0; i < text.length;) {
    if (pattern[at] === "*") star = { next: ++at, takenTo: i }
    else if (pattern[at] === "?" || pattern[at] === text[i]) [at, i] = [at + 1, i + 1]
    else if (star) [at, i] = [star.next, ++star.takenTo]
    else return false
  }
  return pattern.slice(at).every((one) => one === "*")
}

/** The first rule that matches decides; what no rule matches is asked. */
export function decide(rules: readonly ApprovalRule[], defaults: Rule, tool: string): Decision {
  const found = rules.find((rule) => globMatches(rule.tool, tool))
  if (found?.do === "allow") return { do: "allow" }
  if (found?.do === "deny") return { do: "deny", rule: found.tool }
  return { do: "ask", rule: found ? ruleOf(defaults, found) : defaults }
}

function ruleOf(defaults: Rule, own: ApprovalRule): Rule {
  const { approvers, selfApproval, expiresIn, startWithin } = own
  return {
    approvers: approvers ?? defaults.approvers,
    selfApproval: selfApproval ?? defaults.selfApproval,
    expiresIn: expiresIn ?? defaults.expiresIn,
    startWithin: startWithin ?? defaults.startWithin,
  }
}
