/**
 * Whether every rule is about some tool, and every tool that is asked about has somebody who may say yes. It asks nobody.
 */
import type { Config } from "../config.ts"
import { alike } from "../config/forms.ts"
import { decide, globMatches, type Rule } from "../core/policy.ts"
import type { Finding } from "./lists.ts"
import { fault, type Report, together, warning } from "./report.ts"

type Rules = Config["approvals"]

/** `tools` are the names of all tools there are. */
export function checkRules(rules: Rules, tools: readonly string[]): Report {
  return together(
    ...rules.map(({ tool }, index) => {
      const where = `approvals[${index}]`
      if (tool !== "*" && !tools.some((name) => globMatches(tool, name))) {
        return fault(`${where}: no tool's name is ${tool}; ${meant(tool, tools)}`)
      }
      const earlier = rules.findIndex((rule) => covers(rule.tool, tool))
      if (earlier < 0 || earlier >= index) return together()
      const first = `approvals[${earlier}] (${rules[earlier]?.tool ?? ""})`
      return fault(
        `${where}: ${tool} never gets that far: ${first} matches it, and the first match wins. Put it first.`,
      )
    }),
  )
}

/** Whether the first matches all that the second does. Read as a name, a pattern stands for what it matches, but a `?` is no `*`. */
const covers = (wide: string, narrow: string): boolean =>
  globMatches(wide, narrow) && !(wide.includes("?") && /[*?]/.test(narrow))

function meant(tool: string, tools: readonly string[]): string {
  if (tools.length === 0) return "tools lists none."
  const bare = tool.replaceAll(/[*?]/g, "")
  const near = tools.filter((name) => alike(bare, name) || (bare.length > 2 && name.includes(bare)))
  if (near.length > 0) return `did you mean ${near.join(" or ")}?`
  const some = tools.slice(0, 10).join(", ")
  return `there ${tools.length === 1 ? "is" : "are"} ${some}${tools.length > 10 ? ", …" : ""}.`
}

/** Somebody may start what only they could approve, and may not approve because it is their own. */
export function checkApprovable(
  config: Config,
  tools: readonly string[],
  findings: ReadonlyMap<string, Finding>,
): Report {
  const starters = usersOf(config.starters, findings)
  if (starters === undefined) return together()
  const { approvers, selfApproval, expiresIn, startWithin } = config
  const defaults: Rule = { approvers, selfApproval, expiresIn, startWithin }
  const stuck = new Map<string, string[]>()
  for (const tool of tools) {
    const decision = decide(config.approvals, defaults, tool)
    const only = decision.do === "ask" ? onlyApprover(decision.rule, findings) : undefined
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
