/**
 * The policy of the configuration as the guard of an agent's calls: what may start, what is asked and of whom.
 * Decides by rules alone; it looks up no person and posts nothing.
 */
import type { Agent, Guard } from "../agent/agent.ts"
import { checkArgs, type Tool, type Toolkit } from "../agent/tool.ts"
import { canonical, sha256 } from "../core/digest.ts"
import { grantFor, isGrantable, markOf } from "../core/grant.ts"
import { shownBeside } from "../core/mask.ts"
import { principalsOf, type Principal, type Rule } from "../core/policy.ts"
import { asking, decide, globMatches } from "../core/rules.ts"
import type { ApprovalRule, Asking, Called, Decision } from "../core/rules.ts"
import { wishOf, type Grant, type Run, type Since } from "../core/run.ts"
import { askingIn, tightened, tightenedDefaults, type Tightened, type Tightening } from "../core/tightened.ts"
import { mintId } from "../core/suspension.ts"
import type { Request } from "../core/suspension.ts"

/** The file's rules and what they leave out, and what an agent adds to them. */
export interface Policy {
  rules: readonly ApprovalRule[]
  defaults: Rule
  own?: Tightening
  /** What is not asked about where no rule is about it: a tool that only asks its own person something. */
  unasked?: ((tool: Tool) => boolean) | undefined
  /** Where the cards of runs in direct messages stand when no rule says where: nobody else could see them there. */
  direct?: string
}

/** The policy of a configuration: of the file's own agent, or of one that it names. */
export function policyOf(
  settings: Usual & Asking & { approvals: readonly ApprovalRule[]; doors?: { message: false | { cards: string } } },
  agent?: Asking & { name: string; approvals: readonly ApprovalRule[] },
  unasked?: Policy["unasked"],
): Policy {
  const { approvals, approvers, selfApproval, expiresIn, startWithin } = settings
  const direct = settings.doors?.message ? { direct: settings.doors.message.cards } : {}
  const defaults = asking({ approvers, selfApproval, expiresIn, startWithin }, settings)
  const policy = { rules: approvals, defaults, ...direct, unasked }
  if (agent === undefined) return policy
  return { ...policy, own: { agent: agent.name, rules: agent.approvals, asking: askingIn(agent) } }
}

type File = Parameters<typeof policyOf>[0]
type Named = Asking & { approvals: readonly ApprovalRule[] }

/** The policies of all agents that a configuration names. */
export const policiesOf = (
  settings: File & { agents: Readonly<Record<string, Named>> },
  unasked?: Policy["unasked"],
): Map<string, Policy> =>
  new Map(
    Object.entries(settings.agents).map(([name, agent]) => [name, policyOf(settings, { ...agent, name }, unasked)]),
  )

/** Everybody and every list that some rule names as deciding. */
export const decidersIn = (policies: readonly Policy[]): Principal[] => [
  ...new Set(
    policies.flatMap(({ rules, defaults, own }) => {
      const base = own && asking(defaults, own.asking)
      const all = [defaults, ...rules.map((rule) => asking(defaults, rule))]
      const further = base ? [base, ...(own?.rules ?? []).map((rule) => asking(base, rule))] : []
      return [...all, ...further].flatMap(principalsOf)
    }),
  ),
]

/** What every configuration says. */
type Usual = Pick<Rule, "approvers" | "selfApproval" | "expiresIn" | "startWithin">

/** Whether whoever gave a grant could still approve what it covers: asked at each use. */
export type StillMay = (grant: Grant, run: Run) => Promise<boolean>

/** What the rules say of a call; `otherwise`: where none of the file's does. `since`: what became of its tool after the start. */
export function ruledBy(
  { rules, defaults, own }: Policy,
  called: Called & { since?: Since | undefined },
  otherwise?: Decision,
): Tightened {
  const decision = asAtStart(decide(rules, defaults, called, otherwise), called.since, { rules, defaults })
  return own ? tightened(decision, own, defaults, called) : decision
}

/**
 * Whoever lets run unasked what a glob matches has seen what there was at the start: what appeared or changed since is asked
 * about, as if no rule had matched.
 */
function asAtStart(decision: Decision, since: Since | undefined, { rules, defaults }: Policy): Decision {
  const glob = rules[decision.index ?? -1]?.tool ?? ""
  if (decision.do !== "allow" || since === undefined || !/[*?]/.test(glob)) return decision
  const name = `approvals[${decision.index}] allows ${glob} as it was at the start; this tool ${since} later`
  return { do: "ask", rule: { ...defaults, name } }
}

type Does = Decision["do"]

/** What the rules, an agent's besides, make of a tool's calls as a whole; `depends`: on their args. */
export function fallsOf({ rules, defaults, own, unasked }: Policy, tool: Tool): Does | "depends" {
  const { name, foreign } = tool
  const file = possible(rules, name, unasked?.(tool) ? "allow" : "ask", (does, index) =>
    does === "allow" ? asAtStart({ do: does, index }, foreign?.since, { rules, defaults }).do : does,
  )
  // What the agent's own rules don't mention is as the file has it.
  const further = own ? possible(own.rules, name, "allow") : ["allow" as const]
  const [first = "ask", ...rest] = new Set(file.flatMap((one) => further.map((other) => stricter(one, other))))
  return rest.length === 0 ? first : "depends"
}

/** What a list of rules may make of the calls of one tool. */
function possible(
  rules: readonly ApprovalRule[],
  name: string,
  unmatched: Does,
  seen: (does: Does, index: number) => Does = (does) => does,
): Does[] {
  const about = rules.map((rule, index) => ({ ...rule, index })).filter(({ tool }) => globMatches(tool, name))
  const last = about.findIndex(({ when }) => when === undefined)
  const dos = (last < 0 ? about : about.slice(0, last + 1)).map(({ do: does, index }) => seen(does, index))
  return last < 0 ? [...dos, unmatched] : dos
}

const stricter = (one: Does, other: Does): Does =>
  one === "deny" || other === "deny" ? "deny" : one === "ask" || other === "ask" ? "ask" : "allow"

/** The same, by the tool; `args` is its canonical text. */
function ruled(policy: Policy, tool: Tool, args: string): Tightened {
  const { name, inputSchema: schema, foreign } = tool
  const called = { tool: name, args: JSON.parse(args) as unknown, schema, since: foreign?.since }
  return ruledBy(policy, called, policy.unasked?.(tool) ? { do: "allow" } : undefined)
}

/** Under what people answer where no rule asks. */
const usual = ({ defaults, own }: Policy): Rule => (own ? tightenedDefaults(own, defaults) : defaults)

/** The guard's question about a call. A summary that throws hides nothing. */
const approvalOf = (tool: Tool, args: string, masks: readonly string[] | undefined): Request => ({
  id: mintId(),
  kind: "approval",
  prompt: promptOf(tool, args, masks),
})

/** Guards by the first rule that matches; what no rule matches is asked, unless a grant covers it. */
export function policyGuard(policy: Policy, stillMay: StillMay): Guard {
  return async ({ run, tool, args }) => {
    const decision = ruled(policy, tool, args)
    if (decision.do === "allow") return { do: "run" }
    if (decision.do === "deny") {
      const output = `denied by policy: the rule "${decision.rule}" allows nobody to run ${tool.name}`
      return { do: "result", result: { output, isError: true }, why: "denied by policy" }
    }
    const rule = seen(policy, run, decision.rule)
    if (isUnseen(run, rule))
      return { do: "result", result: { output: UNSEEN, isError: true }, why: "nobody could see it" }
    const asking = { rule, request: approvalOf(tool, args, rule.mask) }
    const grant = grantOf(run, tool, args, rule)
    if (grant && (await stillMay(grant, run))) return { do: "run", grant: { id: grant.id, otherwise: asking } }
    return { do: "ask", ...asking }
  }
}

const isDirect = ({ channel }: Run): boolean => channel.startsWith("D")

/** The rule under which people are asked where they can see it. */
const seen = ({ direct }: Policy, run: Run, rule: Rule): Rule =>
  isDirect(run) && rule.cards === undefined && direct !== undefined ? { ...rule, cards: direct } : rule

/** The door of direct messages was closed meanwhile, and with it the place for what is asked there. */
const isUnseen = (run: Run, { cards, selfApproval, notify }: Rule): boolean =>
  isDirect(run) && cards === undefined && selfApproval !== "confirm" && notify !== "dm"

const UNSEEN =
  "not asked: nobody else can see a direct message, and no channel is configured for what is asked there any more; ask for it in a channel"

/** Whether it is over is seen when it is used, by Redis' clock. */
function grantOf(run: Run, tool: Tool, args: string, rule: Rule): Grant | undefined {
  if (run.grants === undefined || !isGrantable(rule)) return undefined
  return grantFor(run, markOf({ tool, args: JSON.parse(args), rule }))
}

function promptOf(tool: Tool, args: string, masks: readonly string[] | undefined): string {
  try {
    const summary = tool.summary?.(JSON.parse(args))
    // Masked before it is cut: half a secret is no shape that a mask knows.
    if (typeof summary === "string" && summary.trim() !== "")
      return shownBeside(summary, args, masks).text.slice(0, 1000).toWellFormed()
  } catch {
    // The args are on the card in any case; a summary is a courtesy.
  }
  return `Run ${tool.name}`
}

/**
 * What tools and rules say of a call that people look at: whether it may have these args, what a grant would cover, and
 * where it may ask somebody to sign in: at its `hosts`, and where its author says. `agents`: the policies of those that the file names.
 */
export function callsOf(
  policy: Policy,
  tools: Toolkit,
  hosts: (tool: string) => readonly string[] = () => [],
  agents: ReadonlyMap<string, Policy> = new Map(),
) {
  return {
    hostsOf: (name: string) => [...hosts(name), ...(tools.get(name)?.authorizationHosts ?? [])],
    schemaOf: (name: string) => tools.get(name)?.inputSchema,
    judge(name: string, given: Record<string, unknown>, agent?: string) {
      const its = agent === undefined ? policy : agents.get(agent)
      if (!its) return { ok: false, why: `the agent ${agent} is not configured any more` } as const
      const tool = tools.get(name)
      if (!tool) return { ok: false, why: `there is no tool ${name} any more` } as const
      const args = canonical(given)
      const why = checkArgs(tool, given)
      if (why !== undefined) return { ok: false, why } as const
      const decision = ruled(its, tool, args)
      const masks = decision.do === "ask" ? decision.rule.mask : undefined
      return { ok: true, args, digest: sha256(args), decision, request: approvalOf(tool, args, masks) } as const
    },
    markOf(name: string, args: string, rule: Rule) {
      const tool = tools.get(name)
      return tool && markOf({ tool, args: JSON.parse(args), rule })
    },
  }
}

/** Every path that some rule for the tool masks, whatever a call's args and agent are: where nobody knows the rule of a call. */
export const masksFor = (policies: readonly Policy[], tool: string): string[] => [
  ...new Set(
    policies.flatMap(({ rules, defaults, own }) => [...masksIn(rules, defaults, tool), ...ownMasks(own, tool)]),
  ),
]

const masksIn = (rules: readonly ApprovalRule[], usual: Pick<Asking, "mask">, tool: string): string[] => [
  ...(usual.mask ?? []),
  ...rules.filter((rule) => globMatches(rule.tool, tool)).flatMap(({ mask }) => mask ?? []),
]

const ownMasks = (own: Tightening | undefined, tool: string): string[] =>
  own ? masksIn(own.rules, own.asking, tool) : []

/**
 * Who answers the Requests that a tool raises, and doubts: those who decide about its calls. A question is for whoever spoke
 * last in the run, and for those whom the call's own rule names; signing in is for nobody else.
 */
export function ruleFor(policy: Policy): Agent["ruleOf"] {
  return ({ run, tool, args, request }) => {
    const decision = ruledBy(policy, { tool, args: args === undefined ? undefined : JSON.parse(args) })
    const rule = seen(policy, run, decision.do === "ask" ? decision.rule : usual(policy))
    switch (request?.kind) {
      case "authorization":
        return { ...plain(rule), selfApproval: "confirm" }
      case "input":
      case "question":
        return { ...plain(rule), ...answering(policy, decision, run), selfApproval: true }
      default:
        return rule
    }
  }
}

/** Whoever spoke last, and whom the rule of the file names, if the agent's names them as well. */
function answering(policy: Policy, decision: Tightened, run: Run): Pick<Rule, "also" | "approvers"> {
  const named = at(policy.rules, decision.index)?.approvers ?? []
  const further = at(policy.own?.rules, decision.own)?.approvers ?? policy.own?.asking.approvers
  const { user } = wishOf(run).asker
  const approvers = [user, ...named]
  return further === undefined || named.length === 0 ? { approvers } : { approvers, also: [[user, ...further]] }
}

const at = <T>(list: readonly T[] | undefined, index: number | undefined): T | undefined =>
  index === undefined ? undefined : list?.[index]

/** What makes no sense where one person answers what they are asked. */
function plain(rule: Rule): Rule {
  const { quorum: _quorum, also: _also, reason: _reason, edit: _edit, grant: _grant, ...rest } = rule
  return rest
}

/** The question about an attempt whose outcome nobody knows. */
export function doubtRequest(tool: string, at: number): Request {
  const since = new Date(at).toISOString().slice(0, 19).replace("T", " ")
  const prompt = `It is not known whether ${tool}, started at ${since} UTC, was executed`
  return { id: mintId(), kind: "doubt", prompt }
}
