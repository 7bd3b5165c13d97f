/**
 * The agents that a configuration makes: the file's own and those that it names, each with its model, its tools and its rules, and
 * what people are told of them. It starts nothing and knows neither Redis nor Slack.
 */
import { dirname } from "node:path"
import type { LanguageModelV3 } from "@ai-sdk/provider"
import { toolsIn, type Agent } from "./agent/agent.ts"
import { gone, narrowed } from "./agent/named.ts"
import { loadModel } from "./agent/provider.ts"
import type { Tool, Toolkit } from "./agent/tool.ts"
import type { Config } from "./config.ts"
import type { Person } from "./core/fact.ts"
import { anyMatches } from "./core/rules.ts"
import type { Run } from "./core/run.ts"
import type { Telling } from "./slack/live.ts"
import type { Servers } from "./tools/mcp/servers.ts"
import type { PersonalStanding } from "./tools/oauth/kits.ts"
import type { SigningIn } from "./sign-ins.ts"
import {
  callsOf,
  fallsOf,
  policiesOf,
  policyGuard,
  policyOf,
  ruleFor,
  type Policy,
  type StillMay,
} from "./work/guard.ts"

export interface AgentsOptions {
  config: Config
  /** The model of `provider: demo`. */
  demo: () => LanguageModelV3
  telling: Telling
  /** Tools that everybody has. */
  tools: Toolkit
  signing: SigningIn
  stillMay: StillMay
}

/** How often a model is asked again after a passing fault. */
const MODEL_RETRIES = 8
/** ms that one model turn may take. */
const TURN_TIMEOUT = 180_000

/** The rules of the file, and of each agent that it names. */
export interface Rules {
  own: Policy
  named: ReadonlyMap<string, Policy>
  all: readonly Policy[]
}

export function rulesOf(config: Config, signing: SigningIn): Rules {
  const unasked = (tool: Tool): boolean => signing.unasked(tool)
  const own = policyOf(config, undefined, unasked)
  const named = policiesOf(config, unasked)
  return { own, named, all: [own, ...named.values()] }
}

const ruled = ({ own, named }: Rules, agent: string): Policy => named.get(agent) ?? own

/** Which agent a run is of: what one of the file leaves out is as the file has it. Rejects when a model can't be loaded. */
export async function agentsOf(options: AgentsOptions, rules: Rules): Promise<(run: Run) => Agent> {
  const { config, tools, signing } = options
  const kits = { tools, toolsFor: signing.toolsFor }
  const own = await agentOf(options, config, kits, rules.own)
  const named = new Map<string, Agent>()
  for (const [name, agent] of Object.entries(config.agents)) {
    const settings = { instructions: agent.instructions ?? config.instructions, model: agent.model ?? config.model }
    const fewer = agent.tools ? fewerOf(kits, agent.tools) : kits
    named.set(name, await agentOf(options, settings, fewer, ruled(rules, name)))
  }
  return ({ agent }) => (agent === undefined ? own : (named.get(agent) ?? gone(own, agent)))
}

type Kits = Pick<Agent, "tools" | "toolsFor">

function fewerOf({ tools, toolsFor }: Kits, globs: readonly string[]): Kits {
  return {
    tools: narrowed(tools, globs),
    toolsFor: toolsFor && (async (person: Person) => narrowed(await toolsFor(person), globs)),
  }
}

/** `instructions`, `model`: of the agent. */
async function agentOf(
  { config, demo, telling: { said, told }, stillMay }: AgentsOptions,
  { instructions, model }: Pick<Config, "instructions" | "model">,
  { tools, toolsFor }: Kits,
  policy: Policy,
): Promise<Agent> {
  const { settings, prices } = model
  return {
    model: await modelOf(config, model, demo),
    ...(settings === undefined ? {} : { wishes: settings }),
    ...(prices === undefined ? {} : { prices }),
    live: model.stream ? { said, told } : { told },
    ...(instructions === "" ? {} : { instructions }),
    tools,
    toolsFor,
    maxTurns: model.maxTurns,
    maxTokens: model.maxTokens,
    contextTokens: model.contextTokens,
    maxAsksPerTurn: config.maxAsksPerTurn,
    answers: true,
    retries: MODEL_RETRIES,
    timeoutMs: TURN_TIMEOUT,
    guard: policyGuard(policy, stillMay),
    ruleOf: ruleFor(policy),
  }
}

async function modelOf(
  { file }: Config,
  model: Config["model"],
  demo: () => LanguageModelV3,
): Promise<LanguageModelV3> {
  if (!("model" in model)) return demo()
  const loaded = await loadModel(model, dirname(file))
  if (!loaded.ok) throw new Error(`the provider ${model.provider} ${loaded.fault}`)
  return loaded.model
}

/** What people are told of a run's calls, and what is judged of them: by the tools of the person that the run works for. */
export const callsIn =
  ({ config, tools, signing }: Pick<AgentsOptions, "config" | "tools" | "signing">, { own, named }: Rules) =>
  async (run: Run) => {
    const kit = await toolsIn({ tools, toolsFor: signing.toolsFor }, run)
    const hosts = (name: string) => [...config.authorizationHosts, ...signing.hostsFor(name, kit.get(name))]
    return callsOf(own, kit, hosts, named)
  }

interface Origins {
  /** Of the configuration. */
  own: readonly Tool[]
  servers: Servers
  /** What one person has besides. */
  personal: readonly PersonalStanding[]
}

/** Where tools come from, for one person; of an agent, those that it has, as its rules have them. */
export function sourcesOf({ own, servers, personal }: Origins, config: Config, rules: Rules, agent = "") {
  const policy = ruled(rules, agent)
  const { tools: globs = ["*"] } = config.agents[agent] ?? {}
  const shown = (tools: readonly Tool[]) =>
    tools
      .filter(({ name }) => anyMatches(globs, name))
      .map((tool) => ({ name: tool.name, falls: fallsOf(policy, tool), since: tool.foreign?.since }))
  const all = [
    ...(own.length === 0 ? [] : [{ name: "From the configuration", tools: own, notes: [] }]),
    ...servers.standing(),
    ...personal.map((one) => ({ ...one, own: true })),
  ]
  // A server that has nothing for an agent is none of its own; of one that never answered nobody knows.
  return all
    .map((one) => ({ ...one, tools: shown(one.tools), had: one.tools.length }))
    .filter(({ tools, had }) => tools.length > 0 || had === 0)
}
