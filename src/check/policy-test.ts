/**
 * What the file's rules say of one call, told to whoever writes them: which rule applies and why the earlier ones didn't, who
 * may decide, and what a person may do. It decides nothing: the bot asks the same functions when it is asked in earnest.
 */
import { checkArgs, type Tool } from "../agent/tool.ts"
import type { Known, Reading } from "../config.ts"
import { isRecord } from "../core/json.ts"
import {
  escalatedRule,
  isPerson,
  mayDecide,
  mayEdit,
  principalsOf,
  type Right,
  type Rule,
  type Who,
  wishOnly,
} from "../core/policy.ts"
import { anyMatches, fitOf, type ApprovalRule, type Called, type PathFit } from "../core/rules.ts"
import type { Tightened } from "../core/tightened.ts"
import { People } from "../slack/people.ts"
import { nameOf } from "../tools/mcp/names.ts"
import { loadTools } from "../tools/modules.ts"
import { signInNameOf } from "../tools/oauth/asks.ts"
import { personalOf } from "../tools/oauth/kits.ts"
import { policiesOf, policyOf, ruledBy, type Policy } from "../work/guard.ts"
import { asker } from "./ask.ts"
import type { Finding } from "./lists.ts"
import { findPrincipals } from "./principals.ts"
import { plain } from "./report.ts"
import { checkBotToken, type Bot } from "./tokens.ts"

export interface Question {
  tool: string
  /** JSON text. */
  args: string
  /** Whose rights are told. */
  user?: string | undefined
  /** Of the agents that the file names, the one that wants the call. */
  agent?: string | undefined
}

export type Told = { ok: true; lines: string[] } | { ok: false; faults: string[] }

type Settings = NonNullable<Reading["settings"]>

/**
 * Faults are sentences with their remedy. What Slack can't be asked about is said, not guessed. `looked`: the tool, where
 * somebody has looked it up already.
 */
export async function testPolicy(reading: Reading, question: Question, looked?: Tool): Promise<Told> {
  const { known, settings } = reading
  const args = argsOf(question.args)
  const wrong = [...(args.ok ? [] : [args.fault]), ...userFaults(question.user)]
  if (!settings) return { ok: false, faults: [...ofFile(reading.faults), ...wrong] }
  if (!args.ok || wrong.length > 0) return { ok: false, faults: wrong }
  const unknown = unknownAgent(settings, question)
  if (unknown !== undefined) return { ok: false, faults: [unknown] }
  const found = looked ? { tool: looked, notes: [] } : await toolNamed(question.tool, settings)
  if ("fault" in found) return { ok: false, faults: [found.fault] }
  return { ok: true, lines: await telling({ known, settings }, question, found, args.value) }
}

async function telling(
  { known, settings }: { known: Known; settings: Settings },
  question: Question,
  { tool, notes }: Seen,
  args: Record<string, unknown>,
): Promise<string[]> {
  const { agent } = question
  const called = { tool: question.tool, args, schema: tool?.inputSchema, since: tool?.foreign?.since }
  const signIn = isSignIn(settings, question)
  const decision = ruledBy(policyFor(settings, agent), called, signIn ? { do: "allow" } : undefined)
  const who = decision.do === "ask" ? await deciding(known, decision.rule, question) : []
  const misfit = unfit(tool, args)
  const about = [`${question.tool} ${JSON.stringify(args)}`, ...notes, ...outOfKit(settings, question), ...misfit]
  const traced = tracing(known, settings, called, { agent, decision, would: misfit.length > 0, signIn })
  return [...about, "", ...traced, ...who]
}

const policyFor = (settings: Settings, agent: string | undefined): Policy =>
  (agent === undefined ? undefined : policiesOf(settings).get(agent)) ?? policyOf(settings)

/** That the file names no such agent. */
export function unknownAgent({ agents }: Settings, { agent }: Pick<Question, "agent">): string | undefined {
  if (agent === undefined || Object.hasOwn(agents, agent)) return undefined
  const names = Object.keys(agents)
  return `--agent: no agent's name is ${plain(agent)}; ${names.length === 0 ? "the file names none" : `there are ${names.join(", ")}`}.`
}

const isSignIn = ({ mcpServers }: Pick<Settings, "mcpServers">, { tool }: Pick<Question, "tool">): boolean =>
  personalOf(mcpServers.servers).some(({ name }) => signInNameOf(name) === tool)

/** Whether the agent has the tool at all. */
function outOfKit({ agents }: Settings, { agent, tool }: Question): string[] {
  const globs = agent === undefined ? undefined : agents[agent]?.tools
  if (globs === undefined || anyMatches(globs, tool)) return []
  return [`  The agent ${agent ?? ""} does not have this tool, so it can't call it.`]
}

/** `notes` say why nothing is known of it. */
interface Seen {
  tool: Tool | undefined
  notes: string[]
}

type Found = Seen | { fault: string }

async function toolNamed(tool: string, { tools, httpTools, mcpServers }: Settings): Promise<Found> {
  const loaded = await loadTools(tools, httpTools)
  if (!loaded.ok) {
    const why = `  The tools couldn't be loaded; their schemas aren't known: ${loaded.faults.join(" ")}`
    return { tool: undefined, notes: [why] }
  }
  if (isSignIn({ mcpServers }, { tool })) return { tool: undefined, notes: [] }
  const found = loaded.tools.find(({ name }) => name === tool)
  if (!found && mcpServers.servers.some(({ name }) => tool.startsWith(nameOf(name, "")))) {
    return {
      tool: undefined,
      notes: [`  It may be one of an MCP server, which is not asked here: “tools --tool ${plain(tool)}” asks it.`],
    }
  }
  return found ? { tool: found, notes: [] } : { fault: `--tool: ${noSuchTool(tool, loaded.names)}` }
}

const noSuchTool = (tool: string, names: readonly string[]): string =>
  `no tool's name is ${plain(tool)}; ${names.length === 0 ? "there are none" : `there are ${names.join(", ")}`}.`

async function deciding(known: Known, rule: Rule, { user }: Question): Promise<string[]> {
  const slack = await ask(known, rule)
  return ["", ...ruling(rule, slack), ...(await rights(user, rule, slack))]
}

/** What is missing in the environment is not asked about here. */
const ofFile = (faults: readonly string[]): string[] => faults.filter((fault) => !/^[A-Z_]+ /.test(fault))

type Args = { ok: true; value: Record<string, unknown> } | { ok: false; fault: string }

function argsOf(text: string): Args {
  const fault = `--args must be a JSON object, such as '{"env":"prod"}'.`
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? { ok: true, value } : { ok: false, fault }
  } catch {
    return { ok: false, fault }
  }
}

const userFaults = (user: string | undefined): string[] =>
  user === undefined || /^[UW][A-Z0-9]+$/.test(user)
    ? []
    : ["--user must be a person's id, such as U0123 (their profile in Slack, its menu, Copy member ID)."]

function unfit(tool: Tool | undefined, args: Record<string, unknown>): string[] {
  const why = tool && checkArgs(tool, args)
  return why === undefined
    ? []
    : [`  The tool doesn't take these args (${plain(why)}), so as they are it is neither asked about nor run.`]
}

// --- which rule

const DOES = { allow: "runs without asking", ask: "is asked about", deny: "is refused to everybody" }
const WOULD = { allow: "would run without asking", ask: "would be asked about", deny: "would be refused to everybody" }

/** `would`: with args that the tool takes, which these are not. */
interface Outcome {
  agent: string | undefined
  decision: Tightened
  would: boolean
  /** It only asks its own person to sign in. */
  signIn: boolean
}

/** Every rule down to the one that decides, of the file and of the agent, and what comes of it. */
function tracing({ at }: Known, { approvals, agents }: Settings, called: Called, outcome: Outcome): string[] {
  const file = stepsOf(at, approvals, called)
  const rest = approvals.length === 0 ? "There are no rules" : "No rule is left"
  const { agent, signIn } = outcome
  const unmatched = signIn
    ? `${rest}: what only asks its own person to sign in runs without asking.`
    : `${rest}: what none matches is asked about, under the file's own settings.`
  const own = stepsOf(
    (path) => at(["agents", agent ?? "", ...path]),
    agent === undefined ? [] : (agents[agent]?.approvals ?? []),
    called,
  )
  const besides =
    agent === undefined
      ? []
      : ["", `With the agent ${agent} besides, which can only make it stricter:`, ...own.lines, ...leftTo(own)]
  return [...file.lines, ...(file.matched ? [] : [unmatched]), ...besides, "", came(at, outcome, file.odd + own.odd)]
}

const leftTo = ({ matched }: Steps): string[] =>
  matched ? [] : ["None of its rules applies: it is as the file has it, with the agent's own settings."]

interface Steps {
  lines: string[]
  /** How many rules may have been meant. */
  odd: number
  matched: boolean
}

function stepsOf(at: Known["at"], rules: readonly ApprovalRule[], called: Called): Steps {
  const lines: string[] = []
  let odd = 0
  for (const [index, rule] of rules.entries()) {
    const { fits, paths } = fitOf(rule, called)
    lines.push(`${at(["approvals", index])} (${rule.tool}): ${REASONS[fits](paths)}`)
    if (fits === "odd") odd += 1
    if (fits === "yes") return { lines, odd, matched: true }
  }
  return { lines, odd, matched: false }
}

const REASONS: Record<ReturnType<typeof fitOf>["fits"], (paths: readonly PathFit[]) => string> = {
  "other tool": () => "is about other tools.",
  no: (paths) => `does not apply: ${valuesOf(paths, "no")}.`,
  odd: (paths) =>
    `may have been meant: ${valuesOf(paths, "odd")}, which is no value that a rule could name. It holds together with those behind it.`,
  yes: (paths) => (paths.length === 0 ? "applies." : `applies: ${valuesOf(paths, "yes")}.`),
}

const valuesOf = (paths: readonly PathFit[], fits: PathFit["fits"]): string =>
  paths
    .filter((one) => one.fits === fits)
    .map(({ path, value }) =>
      value === undefined ? `there is no one ${path}` : `${path} is ${plain(JSON.stringify(value))}`,
    )
    .join(", ")

function came(at: Known["at"], { agent, decision, would, signIn }: Outcome, odd: number): string {
  if (signIn && decision.do === "allow" && decision.index === undefined) return "It runs without asking."
  const file = decision.index === undefined ? "the file's own settings" : at(["approvals", decision.index])
  const own = decision.own === undefined ? "" : ` and ${at(["agents", agent ?? "", "approvals", decision.own])}`
  const more = odd > 0 ? ", and whatever else may have been meant: the strictest of all" : ""
  return `It ${(would ? WOULD : DOES)[decision.do]}, by ${file}${own}${more}.`
}

// --- who

/** What Slack says of the people of a rule; `why` when it wasn't asked, or doesn't answer. */
type Slack = { bot: Bot; people: People; findings: Map<string, Finding> } | { why: string }

async function ask({ slack: { botToken, apiUrl }, ...known }: Known, rule: Rule): Promise<Slack> {
  if (botToken === undefined || apiUrl === undefined) return { why: "there is no SLACK_BOT_TOKEN to ask Slack with" }
  const client = asker(botToken, apiUrl)
  const { bot, report } = await checkBotToken(client, { ...known, slack: { botToken, apiUrl } } as Known, apiUrl)
  if (!bot) return { why: [...report.faults, ...report.outages].join(" ").replace(/\.$/, "") }
  const findings = await findPrincipals(client, bot, principalsOf(rule))
  return { bot, people: new People(client, bot), findings }
}

/** The policy in words, one line each. */
function ruling(rule: Rule, slack: Slack): string[] {
  const { escalate, edit, grant, mask } = rule
  const changers = edit?.by === "requester" ? "whoever asked for the run" : "those who approve"
  return [
    ...approving(rule, slack),
    ...(escalate ? [`From ${duration(escalate.after)} after asking on also: ${named(escalate.to, slack)}.`] : []),
    `No answer within ${duration(rule.expiresIn)} is a no; a yes is good for ${duration(rule.startWithin)}.`,
    ...(edit ? [`The args may be changed by ${changers}.`] : []),
    ...(grant ? [`An approver may let the like of it run unasked for ${duration(grant.for)}.`] : []),
    ...(mask ? [`Shown masked: ${mask.join(", ")}.`] : []),
    ...("why" in slack ? [`Groups and channels were not looked up: ${slack.why}.`] : []),
  ]
}

function approving({ approvers, also = [], selfApproval, quorum = 1 }: Rule, slack: Slack): string[] {
  if (selfApproval === "confirm") return ["Who may approve: whoever asked for the run, and nobody else."]
  const several = quorum > 1 ? `${quorum} of ` : ""
  const own = selfApproval ? "" : "; not whoever asked for the run"
  return [
    `Who may approve: ${several}${named(approvers, slack)}${own}.`,
    ...also.map((list) => `  and each must be one of: ${named(list, slack)}.`),
  ]
}

const named = (ids: readonly string[], slack: Slack): string =>
  ids.map((id) => principal(id, slack)).join(", ") || "nobody"

/** The most people of one group that are named. */
const NAMED = 10

function principal(id: string, slack: Slack): string {
  if ("why" in slack || isPerson(id)) return id
  const finding = slack.findings.get(id)
  if (finding?.kind !== "counts")
    return `${id} (${finding && "words" in finding ? plain(finding.words) : "couldn't be looked up"})`
  const users = [...finding.users]
  const rest = users.length - NAMED
  return `${id} (${users.slice(0, NAMED).join(", ")}${rest > 0 ? ` and ${rest} more` : ""})`
}

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1000, "s"],
] as const

/** As the file writes it. */
function duration(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms % size === 0) ?? [1000, "s"]
  return `${Math.floor(ms / size)}${unit}`
}

// --- what one person may do

async function rights(user: string | undefined, rule: Rule, slack: Slack): Promise<string[]> {
  if (user === undefined) return []
  const who = await whoIs(user, rule, slack)
  const name = who.person.name === undefined ? "" : ` (${plain(who.person.name)})`
  const assumed = "why" in slack ? ", taken for a member of the workspace" : ""
  const other = { team: who.person.team, user: "another" }
  const later = rule.escalate ? [`Once it was handed on: ${may(escalatedRule(rule), other, who)}`] : []
  return [
    "",
    `${user}${name}${assumed}`,
    `  of another's run: ${may(rule, other, who)}`,
    ...later.map((line) => `  ${line}`),
    `  of their own run: ${may(rule, who.person, who)}`,
  ]
}

async function whoIs(user: string, rule: Rule, slack: Slack): Promise<Who> {
  if ("why" in slack) return { person: { team: "", user }, standing: "member", member: {} }
  return slack.people.who({ team: slack.bot.team, user }, principalsOf(rule))
}

function may(rule: Rule, requester: Who["person"], who: Who): string {
  const wish = wishOnly(requester)
  const all: [string, Right][] = [
    ["approve", mayDecide(rule, wish, who, true)],
    ["decline", mayDecide(rule, wish, who, false)],
    ...(rule.edit ? [["edit", mayEdit(rule, wish, who)] satisfies [string, Right]] : []),
  ]
  return `${all.map(([what, right]) => (right.ok ? `may ${what}` : `may not ${what} (${WHY[right.why] ?? right.why})`)).join(", ")}.`
}

const WHY: Partial<Record<Exclude<Right, { ok: true }>["why"], string>> = {
  "own request": "it is their own request",
  "requester only": "only whoever asked for the run may",
  "cannot check": "their groups can't be looked up",
  "nobody listed": "no one is listed",
  guest: "guests may nothing",
  deactivated: "the account is deactivated",
  bot: "bots may nothing",
  foreign: "they belong to another organisation",
}
