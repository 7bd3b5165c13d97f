/**
 * The Slack side whole: the local Slack, real Bolt, a real Redis and the show loop. There is no model: what a worker would
 * commit is committed by hand.
 */
import { randomUUID } from "node:crypto"
import type { LogLevel } from "@slack/web-api"
import { onTestFinished } from "vitest"
import { canonical, sha256 } from "../../src/core/digest.ts"
import type { Fact } from "../../src/core/fact.ts"
import type { Rule } from "../../src/core/policy.ts"
import { createToolkit } from "../../src/agent/tool.ts"
import { callsOf } from "../../src/work/guard.ts"
import { merge, type Ask, type Run, type Step } from "../../src/core/run.ts"
import { starting, suspended, took } from "../../src/core/turn.ts"
import type { Request } from "../../src/core/suspension.ts"
import { createLog, sdkLog } from "../../src/log.ts"
import { ADA, GRACE, OPS, ROBIN, SRE } from "../../src/sandbox/seed.ts"
import { startSlack, type SandboxSlack, type SlackOptions } from "../../src/sandbox/slack.ts"
import type { Seen } from "../../src/sandbox/live.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { startApp, type AppOptions, type RunningApp } from "../../src/slack/app.ts"
import { identify, slackClient } from "../../src/slack/client.ts"
import type { Calls } from "../../src/slack/front.ts"
import { People } from "../../src/slack/people.ts"
import { startShow, type Show } from "../../src/slack/show.ts"
import { Store } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { isCard } from "./show.rig.ts"

export const RULE: Rule = { approvers: [SRE], selfApproval: false, expiresIn: 3_600_000, startWithin: 900_000 }
export const LISTS = { starters: [ROBIN], channels: [OPS], approvers: [SRE], deciders: [SRE], admins: [] as string[] }

export const DOORS: AppOptions["doors"] = { command: true, mention: true, reply: true, message: false }

/** One process of the bot. */
export interface Bot {
  app: RunningApp
  store: Store
  people: People
  show: Show | undefined
  stop(): Promise<void>
}

export interface Rig {
  slack: SandboxSlack
  prefix: string
  /** The same Redis, to look at. */
  store: Store
  /** The first process. */
  bot: Bot
  /** What all processes logged, one JSON text a line. */
  logged: string[]
  /** The clock of everybody's memory, ms to add. */
  clock: { later: number }
  another(options?: BotOptions): Promise<Bot>
  /** Types the command, and waits for the run's message. Returns the run's id. */
  start(text?: string, user?: string): Promise<string>
  run(id: string): Promise<Run>
  facts(id: string): Promise<Fact[]>
  /** The run takes a turn of a model that asks about each call; returns the cards once they stand. */
  ask(id: string, ...calls: Call[]): Promise<Message[]>
  /** The asks' Requests' ids, in the order of the cards that `ask` returned. */
  asks(id: string): Promise<Ask[]>
  change(id: string, next: (run: Run, now: number) => Step | undefined): Promise<void>
  /** The message as it is now. */
  now(message: Message): Message
  press(user: string, card: Message, action: string): Promise<Seen>
  /** The last thing said to this person alone that has the words. */
  told(user: string, words: string | RegExp): Promise<string>
}

export interface Call {
  tool?: string
  args?: unknown
  rule?: Partial<Rule>
  request?: Partial<Request>
  /** guard unless said: then the tool itself suspends. */
  from?: "tool"
}

export interface BotOptions {
  app?: Partial<AppOptions>
  /** What is said of everybody's calls. */
  calls?: Calls
  redisUrl?: string
  /** Signed HTTP in place of Socket Mode. */
  http?: boolean
  /** Without the show loop nothing is posted by this process. */
  show?: boolean
}

const RATES = {
  "chat.postMessage": { every: 5, burst: 10 },
  "chat.update": { every: 5, burst: 10 },
  "chat.postEphemeral": { every: 5, burst: 10 },
}

export async function rig(options: BotOptions & { slack?: SlackOptions } = {}): Promise<Rig> {
  const slack = await startSlack(options.slack)
  const prefix = freshPrefix()
  const bots: Bot[] = []
  const logged: string[] = []
  const clock = { later: 0 }
  const log = createLog({
    level: "info",
    secrets: [],
    mask: (text) => text,
    out: { write: (line) => logged.push(line) },
  })
  // Of the test alone, for looking and for what a worker would commit: no process of the bot has it.
  const store = await Store.open({ url: redisUrl(), prefix, shards: 1, confirm: 0, outbox: false })
  const another = async (more: BotOptions = {}): Promise<Bot> => {
    const bot = await startBot(slack, prefix, log, clock, { ...options, ...more, app: { ...options.app, ...more.app } })
    bots.push(bot)
    return bot
  }
  onTestFinished(async () => {
    slack.workspace.behave()
    await Promise.all(bots.map((bot) => bot.stop()))
    await store.close()
    await slack.close()
  })
  const bot = await another()
  const { workspace } = slack

  const change: Rig["change"] = async (id, next) => {
    const done = await store.apply(id, (run, now) => ({ outcome: undefined, step: run && next(run, now) }))
    if (done.kind !== "applied") throw new Error(`the change was not applied: ${done.kind}`)
  }
  const run = async (id: string): Promise<Run> => {
    const loaded = await store.load(id)
    if (!loaded) throw new Error(`there is no run ${id}`)
    return loaded.run
  }
  const now = (message: Message): Message => {
    const found = workspace.message(message.channel, message.ts)
    if (!found) throw new Error("the message is gone")
    return found
  }
  return {
    slack,
    prefix,
    store,
    bot,
    logged,
    clock,
    another,
    change,
    run,
    now,
    asks: async (id) => (await run(id)).asks,
    facts: async (id) => (await store.facts(id)).map((text) => JSON.parse(text) as Fact),
    async start(text = "restart the web server", user = ROBIN) {
      const before = new Set(workspace.messages(OPS).map(({ ts }) => ts))
      const seen = await workspace.command(user, OPS, text)
      if (!seen.acked) throw new Error(`the command was not acked: ${seen.error}`)
      return workspace.waitFor(() => {
        const root = workspace.messages(OPS).find((it) => !before.has(it.ts) && it.thread_ts === undefined)
        return /"value":"(r[^":]+)"/.exec(JSON.stringify(root?.blocks ?? []))?.[1]
      })
    },
    async ask(id, ...calls) {
      const before = new Set(cards(slack).map(({ ts }) => ts))
      await change(id, (state, at) => asking(state, calls.length === 0 ? [{}] : calls, at))
      const wanted = Math.max(calls.length, 1)
      const fresh = await workspace.waitFor(() => {
        const found = cards(slack).filter(({ ts }) => !before.has(ts))
        return found.length === wanted && found
      })
      const order = (await run(id)).asks.map((ask) => ask.id)
      const indexOf = (card: Message): number => order.findIndex((ask) => JSON.stringify(card).includes(`:${ask}"`))
      return fresh.sort((a, b) => indexOf(a) - indexOf(b))
    },
    press: (user, card, action) => workspace.click(user, card, action),
    told: (user, words) => {
      const heard = () => privately(slack, user)
      return workspace.waitFor(
        () => heard().findLast((text) => (typeof words === "string" ? text.includes(words) : words.test(text))),
        30_000,
        `a word with ${String(words)} to ${user} (so far: ${heard().join(" | ")})`,
      )
    },
  }
}

/** What somebody was told for them alone, where they acted or in a direct message. */
function privately({ workspace }: SandboxSlack, user: string): string[] {
  const direct = [...workspace.channels.values()].filter(({ kind, members }) => kind === "dm" && members.includes(user))
  return [...workspace.ephemerals(user), ...direct.flatMap(({ id }) => workspace.messages(id))].map(({ text }) => text)
}

async function startBot(
  slack: SandboxSlack,
  prefix: string,
  log: AppOptions["log"],
  clock: Rig["clock"],
  options: BotOptions,
): Promise<Bot> {
  const { apiUrl, botToken, appToken } = slack
  let show: Show | undefined
  const started: { app?: RunningApp } = {}
  const url = options.redisUrl ?? redisUrl()
  const store = await Store.open({
    url,
    prefix,
    shards: 1,
    confirm: 0,
    outbox: false,
    onCommit: (_, step) => {
      show?.wake()
      started.app?.committed(step.run)
    },
  })
  const client = slackClient({ token: botToken, apiUrl, logger: sdkLog<LogLevel>(log) })
  const home = await identify(client)
  const people = new People(client, home, { now: () => performance.now() + clock.later })
  const { signingSecret } = slack
  const calls = options.calls ?? callsOf({ rules: [], defaults: RULE }, await createToolkit())
  const app = await startApp({
    slack: {
      botToken,
      apiUrl,
      transport:
        options.http === true
          ? { kind: "http", signingSecret, port: 0, host: "127.0.0.1" }
          : { kind: "socket", appToken },
    },
    home,
    command: "/agent",
    lists: LISTS,
    doors: DOORS,
    keepEnded: 86_400_000,
    limits: { requester: 100, channel: 100 },
    opening: (prompt) => [JSON.stringify({ role: "user", content: prompt })],
    store,
    callsFor: async () => calls,
    people,
    log,
    ...options.app,
  })
  started.app = app
  if (app.port !== undefined) slack.workspace.requestUrl = `http://127.0.0.1:${app.port}/slack/events`
  let pulse: NodeJS.Timeout | undefined
  if (options.show !== false) {
    const showing = startShow({ store, client, log, owner: randomUUID(), rates: RATES, schemaOf: calls.schemaOf })
    show = showing
    pulse = setInterval(() => {
      store.peek().then(
        (peeked) => showing.tick(peeked),
        () => undefined,
      )
    }, 25)
  }
  let stopped: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    clearInterval(pulse)
    await app.stop(2000)
    await show?.stop()
    await store.close()
  }
  return { app, store, people, show, stop: () => (stopped ??= stop()) }
}

const cards = (slack: SandboxSlack): Message[] => slack.workspace.messages(OPS).filter(isCard)

/** A model's turn in which every call is asked about. */
function asking(run: Run, calls: Call[], now: number): Step | undefined {
  const hows = calls.map(({ tool = "restart", rule, request }) => ({
    request: { id: `pnd-${randomUUID()}`, kind: "approval", prompt: `Run ${tool}?`, ...request },
    rule: { ...RULE, ...rule },
  }))
  const turn = took(
    run,
    {
      message: JSON.stringify({ role: "assistant", content: "" }),
      text: "The web server is stuck.",
      usage: { prompt: 1, completion: 1 },
      planned: calls.map(({ tool = "restart", args = { service: "web" }, from }, index) => {
        const how = hows[index]
        if (!how) throw new Error("a call without a Request")
        return {
          ref: `call_${index}`,
          tool,
          effects: "once",
          args: canonical(args),
          digest: sha256(canonical(args)),
          next: from === "tool" ? { do: "run" } : { do: "ask", ...how },
        }
      }),
    },
    now,
  )
  return calls.reduce<Step | undefined>((step, { from }, index) => {
    const [call, how] = [step?.run.calls[index], hows[index]]
    if (from !== "tool" || !step || !call || !how) return step
    const begun = merge(step, starting(step.run, call.id, { id: "attempt", owner: "worker", at: now }, now).step)
    return begun && merge(begun, suspended(begun.run, call.id, "attempt", how, now))
  }, turn)
}

export { ADA, GRACE, OPS, ROBIN, SRE }
