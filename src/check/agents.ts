/**
 * Whether the agents that the configuration names can be used: their tools and rules match something, and what they add to the
 * file's people leaves somebody. It asks nobody.
 */
import type { Known, Reading } from "../config.ts"
import type { KnownRule } from "../config/known.ts"
import type { Rule } from "../core/policy.ts"
import { anyMatches, globMatches } from "../core/rules.ts"
import { policiesOf, ruledBy, type Policy } from "../work/guard.ts"
import { usersOf } from "./enough.ts"
import type { Finding } from "./lists.ts"
import { fault, type Report, together, warning } from "./report.ts"
import { checkRules } from "./rules.ts"

type Settings = NonNullable<Reading["settings"]>
type Agent = Settings["agents"][string]
type Findings = ReadonlyMap<string, Finding>

/** `tools` are the names of all tools there are; undefined when some of them can't be told. */
export function checkAgents(
  { known, settings }: Reading,
  tools: readonly string[] | undefined,
  findings: Findings,
): Report {
  if (!settings) return together()
  const policies = policiesOf(settings)
  const reports = Object.entries(settings.agents).map(([name, agent]) => {
    const at: Known["at"] = (path) => known.at(["agents", name, ...path])
    const kit = tools?.filter((tool) => anyMatches(agent.tools ?? ["*"], tool))
    const policy = policies.get(name)
    return together(
      ...checkTools(agent, at, tools),
      checkRules({ ...known, at, approvals: { items: agent.approvals.map(knownRule), whole: true } }, kit),
      ...checkPlaces(settings, agent, at),
      ...checkStarters(settings, agent, at, findings),
      ...(policy ? checkPeople(policy, at, kit ?? [], findings) : []),
    )
  })
  return together(...reports)
}

const knownRule = (rule: Agent["approvals"][number], index: number): KnownRule => ({
  index,
  tool: rule.tool,
  always: rule.when === undefined,
  do: rule.do,
  selfApproval: rule.selfApproval,
  approvers: undefined,
  rule,
})

const checkTools = ({ tools = [] }: Agent, at: Known["at"], all: readonly string[] | undefined): Report[] =>
  tools.flatMap((glob, index) =>
    all === undefined || glob === "*" || all.some((name) => globMatches(glob, name))
      ? []
      : [fault(`${at(["tools", index])}: no tool's name is ${glob}: correct it, or take it out.`)],
  )

const checkPlaces = (file: Settings, { channels = [] }: Agent, at: Known["at"]): Report[] =>
  channels.flatMap((id, index) =>
    file.channels.includes(id)
      ? []
      : [warning(`${at(["channels", index])}: ${id} is none of the file's channels, so it can't be used there.`)],
  )

function checkStarters(file: Settings, { starters }: Agent, at: Known["at"], findings: Findings): Report[] {
  const [theirs, mine] = [usersOf(file.starters, findings), starters && usersOf(starters, findings)]
  if (!theirs || !mine || [...mine].some((user) => theirs.has(user))) return []
  return [warning(`${at(["starters"])}: nobody may use it, for none of them is among the file's starters.`)]
}

/** Tools of which it would ask people who aren't there: whoever approves is on every list. */
function checkPeople(policy: Policy, at: Known["at"], tools: readonly string[], findings: Findings): Report[] {
  const stuck = new Map<string, string[]>()
  for (const tool of tools) {
    const decision = ruledBy(policy, { tool, args: undefined })
    const why = decision.do === "ask" ? stuckOf(decision.rule, policy, findings) : undefined
    if (why !== undefined) stuck.set(why, [...(stuck.get(why) ?? []), tool])
  }
  return [...stuck].map(([why, of]) => {
    const what = of.slice(0, 10).join(", ") + (of.length > 10 ? ", …" : "")
    return warning(`${at([])}: nobody can approve ${what}: ${why}.`)
  })
}

function stuckOf(rule: Rule, { defaults }: Policy, findings: Findings): string | undefined {
  const { approvers, also = [], selfApproval, quorum = 1 } = rule
  // That the file itself names nobody is told of the file.
  if (selfApproval === "confirm" || defaults.approvers.length === 0) return undefined
  if (approvers.length === 0) return CONTRARY
  const all = also.length === 0 ? undefined : onAll(rule, findings)
  return all === undefined || all >= quorum ? undefined : tooFew(quorum, all)
}

function tooFew(quorum: number, all: number): string {
  const are = all === 0 ? "nobody is" : all === 1 ? "one person is" : `${all} people are`
  return `it takes ${quorum} on the lists of the file and of the agent, and ${are} on both. List more approvers`
}

const CONTRARY =
  "one of file and agent wants the requester alone to confirm, the other somebody else. Say the same in both"

/** How many people are on every list, at the latest once it was handed on; undefined when that can't be told. */
function onAll({ approvers, also = [], escalate }: Rule, findings: Findings): number | undefined {
  const lists = [approvers, ...also].map((list) => usersOf([...list, ...(escalate?.to ?? [])], findings))
  const [first, ...rest] = lists.filter((list) => list !== undefined)
  if (!first || rest.length < also.length) return undefined
  return [...first].filter((user) => rest.every((list) => list.has(user))).length
}
