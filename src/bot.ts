/**
 * The bot, put together: Redis, Slack in both directions, the model, the tools, the worker and the audit, started and
 * stopped as one. It decides nothing; it knows who needs whom.
 */
import { randomUUID } from "node:crypto"
import { dirname } from "node:path"
import type { LanguageModelV3 } from "@ai-sdk/provider"
import { startAudit } from "./audit/audit.ts"
import type { Agent } from "./agent/agent.ts"
import { gone, narrowed } from "./agent/named.ts"
import { loadModel } from "./agent/provider.ts"
import { createToolkit } from "./agent/tool.ts"
import type { Tool, Toolkit } from "./agent/tool.ts"
import type { Config } from "./config.ts"
import type { Person } from "./core/fact.ts"
import { mayStillGrant } from "./core/grant.ts"
import { userMessage, type Part } from "./core/parts.ts"
import { isPerson, principalsOf } from "./core/policy.ts"
import { globMatches } from "./core/rules.ts"
import { wishOf, type Run, type Step } from "./core/run.ts"
import { sdkLog, type Log } from "./log.ts"
import { startApp } from "./slack/app.ts"
import { auditChannel } from "./slack/audit-channel.ts"
import { identify, slackClient } from "./slack/client.ts"
import { startLive, type Telling } from "./slack/live.ts"
import { People } from "./slack/people.ts"
import { startShow } from "./slack/show.ts"
import { Names } from "./slack/show/names.ts"
import { Pace } from "./slack/show/pace.ts"
import { CALL_TIMEOUT } from "./slack/show/send.ts"
import { signingIn } from "./signing.ts"
import { Store, type Loaded } from "./store/store.ts"
import { callsOf, fallsOf, decidersIn, masksFor, policiesOf, policyGuard, policyOf, ruleFor } from "./work/guard.ts"
import type { Policy, StillMay } from "./work/guard.ts"
import { startPulse } from "./work/pulse.ts"
import { Servers } from "./tools/mcp/servers.ts"
import { sharedOf, type PersonalStanding } from "./tools/oauth/kits.ts"
import { KnownPause } from "./work/paused.ts"
import { startWorker } from "./work/worker.ts"

export interface BotOptions {
  config: Config
  tools: readonly Tool[]
  /** Our own secrets: whoever is sent one may send it back. */
  secrets: readonly string[]
  log: Log
  /** The model of `provider: demo`. */
  demo: () => LanguageModelV3
  /** ms from one comparison of a run with Slack to the next. */
  lookEvery?: number
}

export interface Bot {
  /** Where signed HTTP is served, if it is. */
  port?: number
  /** Takes nothing new, finishes what is under way within `ms`, and lets go of Slack and Redis. */
  stop(ms: number): Promise<void>
}

/** How often a model is asked again after a passing fault. */
const MODEL_RETRIES = 8
/** ms that one model turn may take. */
const TURN_TIMEOUT = 180_000

/** Whoever gave a grant is asked about at each use: who can't be looked up may not. */
const stillMayWith =
  (people: People): StillMay =>
  async (grant, run) =>
    mayStillGrant(grant, wishOf(run), await people.who(grant.by, principalsOf(grant.rule)))

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

/** `instructions`, `model`: of the agent. */
async function agentOf(
  { config, demo, telling: { said, told } }: BotOptions & { telling: Telling },
  { instructions, model }: Pick<Config, "instructions" | "model">,
  { tools, toolsFor }: Pick<Agent, "tools" | "toolsFor">,
  policy: Policy,
  stillMay: StillMay,
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

/** Which agent a run is of: what one of the file leaves out is as the file has it. */
async function agentsOf(
  options: BotOptions & { telling: Telling },
  kits: Pick<Agent, "tools" | "toolsFor">,
  { policy, policies }: { policy: Policy; policies: ReadonlyMap<string, Policy> },
  stillMay: StillMay,
): Promise<(run: Run) => Agent> {
  const { config } = options
  const own = await agentOf(options, config, kits, policy, stillMay)
  const named = new Map<string, Agent>()
  for (const [name, agent] of Object.entries(config.agents)) {
    const settings = { instructions: agent.instructions ?? config.instructions, model: agent.model ?? config.model }
    const own = agent.tools ? fewer(kits, agent.tools) : kits
    named.set(name, await agentOf(options, settings, own, policies.get(name) ?? policy, stillMay))
  }
  return ({ agent }) => (agent === undefined ? own : (named.get(agent) ?? gone(own, agent)))
}

function fewer({ tools, toolsFor }: Pick<Agent, "tools" | "toolsFor">, globs: readonly string[]) {
  return {
    tools: narrowed(tools, globs),
    toolsFor: toolsFor && (async (person: Person) => narrowed(await toolsFor(person), globs)),
  }
}

/** The transcript that a run begins with. */
const opening = (prompt: string, parts?: readonly Part[]): string[] => [userMessage(prompt, parts)]

/** Where tools come from, for one person, who has `personal` besides; `globs`: those alone whose names match one. */
function sourcesOf(
  { own, servers, personal }: { own: readonly Tool[]; servers: Servers; personal: readonly PersonalStanding[] },
  policy: Policy,
  globs: readonly string[] = ["*"],
) {
  const shown = (tools: readonly Tool[]) =>
    tools
      .filter(({ name }) => globs.some((glob) => globMatches(glob, name)))
      .map((tool) => ({ name: tool.name, falls: fallsOf(policy, tool), since: tool.foreign?.since }))
  const all = [
    ...(own.length === 0 ? [] : [{ name: "Of the configuration", tools: own, notes: [] }]),
    ...servers.standing(),
    ...personal.map((one) => ({ ...one, own: true })),
  ]
  // A server that has nothing for an agent is none of its own; of one that never answered nobody knows.
  return all
    .map((one) => ({ ...one, tools: shown(one.tools), had: one.tools.length }))
    .filter(({ tools, had }) => tools.length > 0 || had === 0)
}

/** In the order in which they end; each may take so many ms. */
interface Stops {
  /** What takes new things, from Slack and from the agenda: side by side, within one deadline. */
  doors: Stop[]
  /** What tells people and the audit of it. */
  tellers: Stop[]
  /** What all of these need. */
  ground: Stop[]
}

type Stop = (ms: number) => Promise<void>

/** Each is stopped once, whatever becomes of the others. */
async function stopAll({ doors, tellers, ground }: Stops, ms: number, log: Log): Promise<void> {
  for (const group of [doors, tellers, ground]) {
    for (const ended of await Promise.allSettled(group.splice(0).map((stop) => stop(ms)))) {
      if (ended.status === "rejected") log.error({ err: ended.reason }, "something could not be ended in order")
    }
  }
}

/** Starts the bot. Rejects, with nothing left running, when Redis or Slack can't be reached or refuse us. */
export async function startBot(options: BotOptions): Promise<Bot> {
  const { config, log } = options
  const { slack, redis } = config
  const owner = randomUUID()
  const stops: Stops = { doors: [], tellers: [], ground: [] }
  const stop = (ms: number): Promise<void> => stopAll(stops, ms, log)
  let committed: (id: string, step: Step, at: Loaded) => void = () => undefined
  try {
    const servers = new Servers({
      servers: sharedOf(config.mcpServers.servers),
      taken: options.tools.map(({ name }) => name),
      secrets: options.secrets,
      log,
    })
    stops.ground.push((ms) => servers.stop(ms))
    const serversStarted = servers.start()
    const tools = await createToolkit({ extraTools: options.tools, sources: [servers] })
    const store = await Store.open({
      ...redis,
      outbox: config.audit !== undefined,
      log,
      onCommit: (id, step, at) => committed(id, step, at),
    })
    stops.ground.push(() => store.close())
    const newClient = (timeout?: number) =>
      slackClient({
        token: slack.botToken,
        apiUrl: slack.apiUrl,
        // Its own logger writes lines that are no JSON, past every mask.
        logger: sdkLog(log),
        ...(timeout === undefined ? {} : { timeout }),
      })
    const home = await identify(newClient())
    const people = new People(newClient(), home)
    const names = new Names(newClient())
    const signing = signingIn({ ...options, shared: servers, store, names, workspace: home.name ?? home.team })
    stops.tellers.push((ms) => signing.stop(ms))
    const unasked = (tool: Tool): boolean => signing.unasked(tool)
    const policy = policyOf(config, undefined, unasked)
    const policies = policiesOf(config, unasked)
    const telling = startLive({ store, client: newClient(CALL_TIMEOUT), pace: new Pace(store), log })
    stops.tellers.push(() => telling.stop())
    const { toolsFor } = signing
    const agentFor = await agentsOf(
      { ...options, telling },
      { tools, toolsFor },
      { policy, policies },
      stillMayWith(people),
    )
    const callsWith = (kit: Toolkit) => {
      const hosts = (name: string) => [...config.authorizationHosts, ...signing.hostsFor(name, kit.get(name))]
      return callsOf(policy, kit, hosts, policies)
    }
    const all = [policy, ...policies.values()]
    const show = startShow({
      schemaOf: (tool, run) => signing.known(run, tools).get(tool)?.inputSchema,
      store,
      client: newClient(CALL_TIMEOUT),
      log,
      owner,
      command: config.command,
      ...(options.lookEvery === undefined ? {} : { lookEvery: options.lookEvery }),
    })
    stops.tellers.push(() => show.stop())
    const channel =
      config.audit &&
      auditChannel({
        client: newClient(10_000),
        pace: new Pace(store),
        args: undefined,
        admins: config.admins.filter(isPerson),
        ...config.audit,
      })
    const audit = startAudit({ store, owner, log, channel, masksOf: (tool) => masksFor(all, tool) })
    stops.tellers.push(() => audit.stop())
    // What an approved call needs should be there when it goes on.
    await serversStarted
    const pause = new KnownPause()
    const worker = startWorker({
      store,
      owner,
      agentOf: agentFor,
      atOnce: config.limits.process,
      log,
      paused: () => pause.paused,
    })
    stops.doors.push((ms) => worker.stop(ms))
    // The last click's commit may have left its run here.
    stops.tellers.push(() => worker.stop(1000))
    let homes: (run: Run) => void = () => undefined
    committed = (id, step, at) => {
      audit.committed(id, step)
      if (step.show !== "") show.wake()
      worker.committed(id, at)
      telling.committed(step.run)
      homes(step.run)
    }
    const { starters, channels, approvers, admins } = config
    const app = await startApp({
      slack,
      home,
      command: config.command,
      doors: config.doors,
      lists: { starters, channels, approvers, admins, deciders: decidersIn(all) },
      agents: Object.entries(config.agents).map(([name, agent]) => ({ name, ...agent })),
      sources: async (person, agent = "") => {
        const tools = { own: options.tools, servers, personal: await signing.standing(person) }
        return sourcesOf(tools, policies.get(agent) ?? policy, config.agents[agent]?.tools)
      },
      calls: callsWith(tools),
      callsFor: async (run) => callsWith(toolsFor ? await toolsFor(wishOf(run).asker) : tools),
      signOut: (person, server) => signing.signOut(person, server),
      limits: config.limits,
      files: config.limits,
      keepEnded: redis.keepEnded,
      opening,
      store,
      people,
      log,
    })
    stops.doors.push((ms) => app.stop(ms))
    stops.doors.push(await signing.serve())
    homes = (run) => app.committed(run)
    const stopPulse = startPulse(
      store,
      (seen, askedAt) => {
        pause.saw(seen.paused !== undefined, askedAt)
        if (seen.agenda !== undefined) worker.wake(seen.agenda - seen.now)
        show.tick(seen)
        audit.tick(seen)
      },
      log,
    )
    stops.tellers.push(async () => stopPulse())
    return { ...(app.port === undefined ? {} : { port: app.port }), stop }
  } catch (error) {
    await stop(1000)
    throw error
  }
}
