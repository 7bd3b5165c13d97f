/**
 * The bot, put together: Redis, Slack in both directions, the model, the tools, the worker and the audit, started and
 * stopped as one. It decides nothing; it knows who needs whom.
 */
import { randomUUID } from "node:crypto"
import type { LanguageModelV3 } from "@ai-sdk/provider"
import { agentsOf, callsIn, rulesOf, sourcesOf, type Rules } from "./agents.ts"
import { startAudit } from "./audit/audit.ts"
import { createToolkit, type Tool } from "./agent/tool.ts"
import type { Config } from "./config.ts"
import { mayStillGrant } from "./core/grant.ts"
import { userMessage, type Part } from "./core/parts.ts"
import { isPerson, principalsOf } from "./core/policy.ts"
import { wishOf, type Step } from "./core/run.ts"
import { sdkLog, type Log } from "./log.ts"
import { startApp } from "./slack/app.ts"
import { auditChannel } from "./slack/audit-channel.ts"
import { identify, slackClient } from "./slack/client.ts"
import { startLive } from "./slack/live.ts"
import { People } from "./slack/people.ts"
import { startShow } from "./slack/show.ts"
import { Names } from "./slack/show/names.ts"
import { Pace } from "./slack/show/pace.ts"
import { CALL_TIMEOUT } from "./slack/show/send.ts"
import { signingIn, type SigningIn } from "./sign-ins.ts"
import { stopAll, type Stop, type Stops } from "./stops.ts"
import { Store, type Loaded } from "./store/store.ts"
import { Servers } from "./tools/mcp/servers.ts"
import { sharedOf } from "./tools/oauth/kits.ts"
import { decidersIn, masksFor, type StillMay } from "./work/guard.ts"
import { KnownPause } from "./work/paused.ts"
import { startPulse } from "./work/pulse.ts"
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
  /** How long after it was sent Slack may carry out a call that was not answered, ms. */
  lateFor?: number
}

export interface Bot {
  /** Where signed HTTP is served, if it is. */
  port?: number
  /** Takes nothing new, finishes what is under way within `ms`, and lets go of Slack and Redis. */
  stop(ms: number): Promise<void>
}

/** Hears of every commit, at once. */
type Ear = (id: string, step: Step, at: Loaded) => void

/** Starts the bot. Rejects, with nothing left running, when Redis or Slack can't be reached or refuse us. */
export async function startBot(options: BotOptions): Promise<Bot> {
  const { config, log } = options
  const stops: Stops = { doors: [], tellers: [], ground: [] }
  const stop = (ms: number): Promise<void> => stopAll(stops, ms, log)
  try {
    const ears: Ear[] = []
    const ground = await startGround(options, stops.ground, ears)
    const { store, people, servers, tools, names, workspace } = ground
    const own = { config, tools: options.tools, secrets: options.secrets }
    const signing = signingIn({ ...own, shared: servers, store, names, workspace, log })
    stops.tellers.push((ms) => signing.stop(ms))
    const rules = rulesOf(config, signing)
    const { show, audit, telling } = startTellers(options, ground, { rules, signing }, stops.tellers, ears)
    const agentOf = await agentsOf({ ...options, telling, tools, signing, stillMay: stillMayWith(people) }, rules)
    // What an approved call needs should be there when it goes on.
    await ground.serversStarted
    const pause = new KnownPause()
    const { owner } = ground
    const worker = startWorker({
      store,
      owner,
      agentOf,
      atOnce: config.limits.process,
      log,
      paused: () => pause.paused,
    })
    stops.doors.push((ms) => worker.stop(ms))
    // The last click's commit may have left its run here.
    stops.tellers.push(() => worker.stop(1000))
    ears.push((id, _step, at) => worker.committed(id, at))
    const app = await startApp({
      ...appearing(config, rules),
      callsFor: callsIn({ config, tools, signing }, rules),
      home: ground.home,
      sources: async (person, agent) => {
        const personal = await signing.standing(person)
        return sourcesOf({ own: options.tools, servers, personal }, config, rules, agent)
      },
      signOut: (person, server) => signing.signOut(person, server),
      opening,
      store,
      people,
      log,
    })
    stops.doors.push((ms) => app.stop(ms))
    ears.push((_id, { run }) => app.committed(run))
    stops.doors.push(await signing.serve())
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

type Ground = Awaited<ReturnType<typeof startGround>>

/** What everything else stands on: the servers' tools, Redis, and Slack as it knows us. */
async function startGround({ config, tools: own, secrets, log }: BotOptions, stops: Stop[], ears: readonly Ear[]) {
  const servers = new Servers({
    servers: sharedOf(config.mcpServers.servers),
    taken: own.map(({ name }) => name),
    secrets,
    log,
  })
  stops.push((ms) => servers.stop(ms))
  const serversStarted = servers.start()
  const tools = await createToolkit({ extraTools: own, sources: [servers] })
  const store = await Store.open({
    ...config.redis,
    outbox: config.audit !== undefined,
    log,
    onCommit: (id, step, at) => {
      for (const hear of ears) hear(id, step, at)
    },
  })
  stops.push(() => store.close())
  const { botToken: token, apiUrl } = config.slack
  const newClient = (timeout?: number) =>
    // Its own logger writes lines that are no JSON, past every mask.
    slackClient({ token, apiUrl, logger: sdkLog(log), ...(timeout === undefined ? {} : { timeout }) })
  const home = await identify(newClient())
  return {
    servers,
    serversStarted,
    tools,
    store,
    newClient,
    home,
    workspace: home.name ?? home.team,
    people: new People(newClient(), home),
    names: new Names(newClient()),
    /** Of the leases that this process takes. */
    owner: randomUUID(),
  }
}

/** What tells people and the audit of what was committed. */
function startTellers(
  { config, log, lookEvery, lateFor }: BotOptions,
  { store, tools, newClient, owner }: Ground,
  { rules, signing }: { rules: Rules; signing: SigningIn },
  stops: Stop[],
  ears: Ear[],
) {
  const show = startShow({
    schemaOf: (tool, run) => signing.known(run, tools).get(tool)?.inputSchema,
    store,
    client: newClient(CALL_TIMEOUT),
    log,
    owner,
    command: config.command,
    ...(lookEvery === undefined ? {} : { lookEvery }),
    ...(lateFor === undefined ? {} : { lateFor }),
  })
  stops.push(() => show.stop())
  const channel =
    config.audit &&
    auditChannel({
      client: newClient(10_000),
      pace: new Pace(store),
      args: undefined,
      admins: config.admins.filter(isPerson),
      ...config.audit,
    })
  const audit = startAudit({ store, owner, log, channel, masksOf: (tool) => masksFor(rules.all, tool) })
  stops.push(() => audit.stop())
  const telling = startLive({ store, client: newClient(CALL_TIMEOUT), pace: new Pace(store), log })
  stops.push(() => telling.stop())
  ears.push((id, step) => {
    audit.committed(id, step)
    if (step.show !== "") show.wake()
    telling.committed(step.run)
  })
  return { show, audit, telling }
}

/** What of the configuration shows in Slack. */
function appearing(
  { slack, command, doors, agents, limits, redis: { keepEnded }, ...config }: Config,
  rules: Rules,
): Pick<
  Parameters<typeof startApp>[0],
  "slack" | "command" | "doors" | "lists" | "agents" | "limits" | "files" | "keepEnded"
> {
  const { starters, channels, approvers, admins } = config
  return {
    slack,
    command,
    doors,
    lists: { starters, channels, approvers, admins, deciders: decidersIn(rules.all) },
    agents: Object.entries(agents).map(([name, agent]) => ({ name, ...agent })),
    limits,
    files: limits,
    keepEnded,
  }
}

/** Whoever gave a grant is asked about at each use: who can't be looked up may not. */
const stillMayWith =
  (people: People): StillMay =>
  async (grant, run) =>
    mayStillGrant(grant, wishOf(run), await people.who(grant.by, principalsOf(grant.rule)))

/** The transcript that a run begins with. */
const opening = (prompt: string, parts?: readonly Part[]): string[] => [userMessage(prompt, parts)]
