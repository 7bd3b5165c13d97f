/**
 * Whether enough people may say yes to what is asked: under each rule, of each tool, and also when one of them asked for the
 * run or changed the args. It asks nobody.
 */
import type { Known } from "../config.ts"
import type { Rule } from "../core/policy.ts"
import { asking, decide } from "../core/rules.ts"
import type { Finding } from "./lists.ts"
import { type Report, together, warning } from "./report.ts"

type Findings = ReadonlyMap<string, Finding>

/** As many people as must agree, and not one more. */
interface Few {
  tools: string[]
  users: Set<string>
  quorum: number
}

/** Somebody may start what only they could approve, or too few besides, and may not approve because it is their own. */
export function checkApprovable(known: Known, tools: readonly string[], findings: Findings): Report {
  const starters = known.starters.whole ? usersOf(known.starters.items, findings) : undefined
  if (starters === undefined) return together()
  const few = new Map<string, Few>()
  for (const tool of tools) {
    const one = fewFor(known, tool, findings)
    const key = one && [one.quorum, ...one.users].join(" ")
    if (one) few.set(key ?? "", { ...one, tools: [...(few.get(key ?? "")?.tools ?? []), tool] })
  }
  return together(...[...few.values()].flatMap((one) => stuckWords(one, starters)).map((words) => warning(words)))
}

/** Fewer than must agree is told of the rule. */
function fewFor(known: Known, tool: string, findings: Findings): Few | undefined {
  const rule = askedUnder(known, tool)
  const users = rule?.selfApproval === false ? usersOf(approversOf(rule), findings) : undefined
  const quorum = rule?.quorum ?? 1
  return users?.size === quorum ? { tools: [tool], users, quorum } : undefined
}

function stuckWords({ tools, users, quorum }: Few, starters: ReadonlySet<string>): string[] {
  const what = tools.slice(0, 10).join(", ") + (tools.length > 10 ? ", …" : "")
  const own = [...users].filter((user) => starters.has(user))
  const [user] = own
  if (user === undefined) return []
  const whom = starters.size === own.length ? "Nobody" : `When ${own.join(" or ")} starts a run, nobody`
  if (quorum === 1) {
    const why = `${user} is the only approver${starters.size === 1 ? " and the only starter" : ""}`
    const remedy = "List another approver, or set selfApproval to true or confirm."
    return [`${whom} can approve ${what}: ${why}, and selfApproval is false. ${remedy}`]
  }
  const why = `quorum is ${quorum}, there are ${users.size} approvers, and selfApproval is false`
  return [`${whom} can approve ${what}: ${why}. List another approver, or lower the quorum.`]
}

/** Rules under which too few people may approve in any case, or once one of them has changed the args. */
export function checkEnough(known: Known, findings: Findings): Report {
  const { approvals, at } = known
  const defaults = defaultsOf(known)
  if (!defaults) return together()
  const own = approvals.items.flatMap(({ index, rule }) =>
    rule?.do === "ask" && SAYING.some((key) => rule[key] !== undefined)
      ? [{ where: at(["approvals", index]), rule: asking(defaults, rule) }]
      : [],
  )
  const ofFile = { where: at([known.quorum === undefined ? "edit" : "quorum"]), rule: defaults }
  return together(
    ...[ofFile, ...own].flatMap(({ where, rule }) => fewWords(where, rule, findings)).map((words) => warning(words)),
  )
}

/** A rule that says none of these is as the file is. */
const SAYING = ["approvers", "quorum", "escalate", "edit", "selfApproval"] as const

function fewWords(where: string, rule: Rule, findings: Findings): string[] {
  const { quorum = 1 } = rule
  const users = rule.selfApproval === "confirm" ? undefined : usersOf(approversOf(rule), findings)
  // That there is nobody at all is told of the list.
  if (!users || users.size === 0 || users.size > quorum) return []
  const are = users.size === 1 ? "is one approver" : `are ${users.size} approvers`
  if (users.size < quorum) {
    const remedy = "List more approvers, or lower the quorum."
    return [`${where}: nobody can satisfy it: quorum is ${quorum}, and there ${are}. ${remedy}`]
  }
  return canEdit(rule) ? [editWords(where, are, quorum)] : []
}

/** Whether an approver may change the args, and may not vote then. */
const canEdit = ({ edit }: Rule): boolean => edit?.by === "approvers" && edit.votes !== true

function editWords(where: string, are: string, quorum: number): string {
  const remedy = "List more approvers, or put edit: { by: approvers, votes: true }."
  const why = `whoever edits does not vote, there ${are}, and quorum is ${quorum}`
  return `${where}: once an approver has changed the args, nobody can satisfy it: ${why}. ${remedy}`
}

/** Everybody who may approve, at the latest once it was handed on. */
const approversOf = ({ approvers, escalate }: Rule): string[] => [...approvers, ...(escalate?.to ?? [])]

/** The file's own policy, as far as it says who decides; undefined when that could not be read. */
function defaultsOf({ approvers, selfApproval, quorum, escalate, edit }: Known): Rule | undefined {
  if (!approvers.whole || selfApproval === undefined) return undefined
  const bare = { approvers: [...approvers.items], selfApproval, expiresIn: 0, startWithin: 0 }
  return asking(bare, { quorum, escalate, edit })
}

/** The policy under which the tool is asked about; undefined when it isn't, or may not be. */
function askedUnder(known: Known, tool: string): Rule | undefined {
  const { approvals } = known
  const unread = approvals.items.findIndex(({ rule }) => rule === undefined)
  const rules = approvals.items.slice(0, unread < 0 ? undefined : unread).flatMap(({ rule }) => rule ?? [])
  // What could not be read may say anything: a rule that nothing is asked, an approver of whom nothing is known.
  if (!approvals.whole) rules.push({ tool: "*", do: "allow" })
  const unknown = { approvers: [UNREAD], selfApproval: true, expiresIn: 0, startWithin: 0 }
  const decision = decide(rules, defaultsOf(known) ?? unknown, { tool, args: undefined })
  return decision.do === "ask" ? decision.rule : undefined
}

const UNREAD = "?"

/** Whom the entries stand for, together; undefined when one couldn't be looked up. */
export function usersOf(ids: readonly string[], findings: Findings): Set<string> | undefined {
  const users = new Set<string>()
  for (const id of ids) {
    const finding = findings.get(id)
    if (finding === undefined || finding.kind === "unknown") return undefined
    if (finding.kind === "counts") for (const user of finding.users) users.add(user)
  }
  return users
}
