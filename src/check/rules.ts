/**
 * Whether every rule is about some tool, and every tool that is asked about has somebody who may say yes. It asks nobody.
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
      if (earlier === undefined) return together()
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

function meant(tool: string, tools: readonly string[]): string {
  if (tools.length === 0) return "there are no tools: put the file of that one into tools, or take the rule out."
  const bare = tool.replaceAll(/[*?]/g, "")
  const near = tools.filter((name) => alike(bare, name) || (bare.length > 2 && name.includes(bare)))
  if (near.length > 0) return `did you mean ${near.join(" or ")}? Correct it, or take the rule out.`
  const some = tools.slice(0, 10).join(", ")
  return `there ${tools.length === 1 ? "is" : "are"} ${some}${tools.length > 10 ? ", …" : ""}: put one of these, or take the rule out.`
}

/** Somebody may start what only they could approve, and may not approve because it is their own. */
export function checkApprovable(
  known: Known,
  tools: readonly string[],
  findings: ReadonlyMap<string, Finding>,
): Report {
  const starters = known.starters.whole ? usersOf(known.starters.items, findings) : undefined
  if (starters === undefined) return together()
  const stuck = new Map<string, string[]>()
  for (const tool of tools) {
    const rule = askedUnder(known, tool)
    const only = rule && onlyApprover(rule, findings)
    if (only !== undefined && starters.has(only)) stuck.set(only, [...(stuck.get(only) ?? []), tool])
  }
  return together(
    ...[...stuck].map(([user, names]) => {
      const what = names.slice(0, 10).join(", ") + (names.length > 10 ? ", …" : "")
      const whom = starters.size === 1 ? "Nobody can approve" : `When ${user} starts a run, nobody can approve`
      const why = `${user} is the only approver${starters.size === 1 ? " and the only starter" : ""}`
      return warning(
        `${whom} ${what}: ${why}, and selfApproval is false. List another approver, or set selfApproval to true or confirm.`,
      )
    }),
  )
}

/** The policy under which the tool is asked about; undefined when it isn't, or may not be. */
function askedUnder({ approvals, approvers, selfApproval }: Known, tool: string): Rule | undefined {
  const unread = approvals.items.findIndex(({ rule }) => rule === undefined)
  const rules = approvals.items.slice(0, unread < 0 ? undefined : unread).flatMap(({ rule }) => rule ?? [])
  // What could not be read may say anything: a rule that nothing is asked, an approver of whom nothing is known.
  if (!approvals.whole) rules.push({ tool: "*", do: "allow" })
  const decision = decide(
    rules,
    {
      approvers: approvers.whole ? [...approvers.items] : [UNREAD],
      selfApproval: selfApproval ?? true,
      expiresIn: 0,
      startWithin: 0,
    },
    { tool, args: undefined },
  )
  return decision.do === "ask" ? decision.rule : undefined
}

const UNREAD = "?"

/** The one person who may approve under the rule, when there is just one and their own requests are not theirs to approve. */
function onlyApprover({ approvers, selfApproval }: Rule, findings: ReadonlyMap<string, Finding>): string | undefined {
  const users = selfApproval === false ? usersOf(approvers, findings) : undefined
  return users?.size === 1 ? [...users][0] : undefined
}

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
