/**
 * Whether every rule is about some tool and can match, and every tool that is asked about has people enough who may say
 * yes. It asks nobody.
 */
import type { Known } from "../config.ts"
import { alike } from "../config/forms.ts"
import type { KnownRule } from "../config/known.ts"
import type { Rule } from "../core/policy.ts"
import { decide, globMatches } from "../core/rules.ts"
import type { Finding } from "./lists.ts"
import { fault, type Report, together, warning } from "./report.ts"

/** `tools` are the names of all tools there are; undefined when some of them can't be told. */
export function checkRules({ approvals, at }: Known, tools: readonly string[] | undefined): Report {
  return together(
    ...approvals.items.map((rule) => {
      const { index, tool } = rule
      if (tool === undefined) return together()
      const where = at(["approvals", index])
      if (tools && tool !== "*" && !tools.some((name) => globMatches(tool, name))) {
        return fault(`${where}: no tool's name is ${tool}; ${meant(tool, tools)}`)
      }
      const earlier = approvals.items.find((one) => one.index < index && covers(one, tool))
      if (earlier === undefined) return hidden(rule, approvals.items, where)
      const first = `approvals[${earlier.index}] (${earlier.tool ?? ""})`
      const remedy = earlier.tool === tool ? "Take one of them out" : "Put it first, or take it out"
      return fault(`${where}: ${tool} never gets that far: ${first} matches it, and the first match wins. ${remedy}.`)
    }),
  )
}

/**
 * Whether the rule matches all that a pattern does. Read as a name, a pattern stands for what it matches, but a `?` is no
 * `*`.
 */
function covers({ tool: wide, always }: KnownRule, narrow: string): boolean {
  if (wide === undefined || !always) return false
  return wide === narrow || (globMatches(wide, narrow) && !(wide.includes("?") && /[*?]/.test(narrow)))
}

/** What an earlier rule takes whenever this one would: it asks for no more of the args. Told apart from it only by odd values. */
function hidden({ index, tool = "", rule }: KnownRule, all: readonly KnownRule[], where: string): Report {
  const when = rule?.when
  if (when === undefined) return together()
  const earlier = all.find((one) => {
    const first = one.index < index ? one.rule?.when : undefined
    if (first === undefined || !covers({ ...one, always: true }, tool)) return false
    return Object.entries(first).every(([path, wanted]) => sameWanted(when[path], wanted))
  })
  if (earlier === undefined) return together()
  const first = `approvals[${earlier.index}] (${earlier.tool ?? ""})`
  return warning(
    `${where}: ${first} matches whenever this rule does, and the first match wins. Put this one first, or take it out.`,
  )
}

const sameWanted = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

function meant(tool: string, tools: readonly string[]): string {
  if (tools.length === 0) return "there are no tools: put the file of that one into tools, or take the rule out."
  const bare = tool.replaceAll(/[*?]/g, "")
  const near = tools.filter((name) => alike(bare, name) || (bare.length > 2 && name.includes(bare)))
  if (near.length > 0) return `did you mean ${near.join(" or ")}? Correct it, or take the rule out.`
  const some = tools.slice(0, 10).join(", ")
  return `there ${tools.length === 1 ? "is" : "are"} ${some}${tools.length > 10 ? ", …" : ""}: put one of these, or take the rule out.`
}

/** How the people of a rule are too few: those who may approve, and how many must. */
interface Few {
  tools: string[]
  users: Set<string>
  quorum: number
}

/** Somebody may start what only they could approve, or too few besides, and may not approve because it is their own. */
export function checkApprovable(
  known: Known,
  tools: readonly string[],
  findings: ReadonlyMap<string, Finding>,
): Report {
  const starters = known.starters.whole ? usersOf(known.starters.items, findings) : undefined
  if (starters === undefined) return together()
  const few = new Map<string, Few>()
  for (const tool of tools) {
    const rule = askedUnder(known, tool)
    const users = rule?.selfApproval === false ? usersOf(approversOf(rule), findings) : undefined
    const quorum = rule?.quorum ?? 1
    // Too few in any case is told of the rule.
    if (!users || users.size !== quorum) continue
    const key = [quorum, ...users].join(" ")
    const found = few.get(key) ?? { tools: [], users, quorum }
    few.set(key, { ...found, tools: [...found.tools, tool] })
  }
  return together(...[...few.values()].flatMap((one) => stuckWords(one, starters)).map((words) => warning(words)))
}

function stuckWords({ tools, users, quorum }: Few, starters: ReadonlySet<string>): string[] {
  const what = tools.slice(0, 10).join(", ") + (tools.length > 10 ? ", …" : "")
  const own = [...users].filter((user) => starters.has(user))
  const [user] = own
  if (user === undefined) return []
  if (quorum === 1) {
    const whom = starters.size === 1 ? "Nobody can approve" : `When ${user} starts a run, nobody can approve`
    const why = `${user} is the only approver${starters.size === 1 ? " and the only starter" : ""}`
    return [
      `${whom} ${what}: ${why}, and selfApproval is false. List another approver, or set selfApproval to true or confirm.`,
    ]
  }
  const whom = starters.size === own.length ? "" : `When ${own.join(" or ")} starts a run, `
  const why = `quorum is ${quorum}, there are ${users.size} approvers, and selfApproval is false`
  return [
    `${whom}${whom === "" ? "Nobody" : "nobody"} can approve ${what}: ${why}. List another approver, or lower the quorum.`,
  ]
}

/** Everybody who may approve, at the latest once it was handed on. */
const approversOf = ({ approvers, escalate }: Pick<Rule, "approvers" | "escalate">): string[] => [
  ...approvers,
  ...(escalate?.to ?? []),
]

/** Rules under which too few people may approve in any case, or once one of them has changed the args. */
export function checkEnough(known: Known, findings: ReadonlyMap<string, Finding>): Report {
  const { approvals, at } = known
  const rules = approvals.items.flatMap(({ index, rule }) =>
    rule?.do === "ask" && SAYING.some((key) => rule[key] !== undefined)
      ? [{ where: at(["approvals", index]), ...rule }]
      : [],
  )
  const whole = known.approvers.whole && known.selfApproval !== undefined
  if (!whole) return together()
  const ofFile = { where: at([known.quorum === undefined ? "edit" : "quorum"]), ...OWN }
  return together(
    ...[ofFile, ...rules].flatMap((rule) => fewWords(known, rule, findings)).map((words) => warning(words)),
  )
}

/** A rule that says none of these is as the file is. */
const SAYING = ["approvers", "quorum", "escalate", "edit", "selfApproval"] as const

type Own = Partial<Pick<Rule, "approvers" | "quorum" | "selfApproval" | "escalate">> & {
  edit?: "off" | Rule["edit"] | undefined
}
/** The file itself, which says all of it for every rule. */
const OWN: Own = {}

function fewWords(
  known: Known,
  own: { where: string } & { [K in keyof Own]?: Own[K] | undefined },
  findings: ReadonlyMap<string, Finding>,
): string[] {
  const { where, approvers = known.approvers.items, quorum = known.quorum ?? 1, edit = known.edit ?? "off" } = own
  const { selfApproval = known.selfApproval, escalate = known.escalate } = own
  const users = selfApproval === "confirm" ? undefined : usersOf([...approvers, ...(escalate?.to ?? [])], findings)
  // That there is nobody at all is told of the list.
  if (!users || users.size === 0) return []
  const are = `${users.size === 1 ? "is one approver" : `are ${users.size} approvers`}`
  if (users.size < quorum)
    return [
      `${where}: nobody can satisfy it: quorum is ${quorum}, and there ${are}. List more approvers, or lower the quorum.`,
    ]
  if (edit === "off" || edit.by !== "approvers" || edit.votes === true || users.size > quorum) return []
  return [
    `${where}: once an approver has changed the args, nobody can satisfy it: whoever edits does not vote, there ${are}, and quorum is ${quorum}. List more approvers, or put edit: { by: approvers, votes: true }.`,
  ]
}

/** The policy under which the tool is asked about; undefined when it isn't, or may not be. */
function askedUnder(known: Known, tool: string): Rule | undefined {
  const { approvals, approvers, selfApproval, quorum, escalate } = known
  const unread = approvals.items.findIndex(({ rule }) => rule === undefined)
  const rules = approvals.items.slice(0, unread < 0 ? undefined : unread).flatMap(({ rule }) => rule ?? [])
  // What could not be read may say anything: a rule that nothing is asked, an approver of whom nothing is known.
  if (!approvals.whole) rules.push({ tool: "*", do: "allow" })
  const decision = decide(
    rules,
    {
      approvers: approvers.whole ? [...approvers.items] : [UNREAD],
      selfApproval: selfApproval ?? true,
      ...(quorum === undefined ? {} : { quorum }),
      ...(escalate === undefined ? {} : { escalate }),
      expiresIn: 0,
      startWithin: 0,
    },
    { tool, args: undefined },
  )
  return decision.do === "ask" ? decision.rule : undefined
}

const UNREAD = "?"

/** Whom the entries stand for, together; undefined when one couldn't be looked up. */
function usersOf(ids: readonly string[], findings: ReadonlyMap<string, Finding>): Set<string> | undefined {
  const users = new Set<string>()
  for (const id of ids) {
    const finding = findings.get(id)
    if (finding === undefined || finding.kind === "unknown") return undefined
    if (finding.kind === "counts") for (const user of finding.users) users.add(user)
  }
  return users
}
