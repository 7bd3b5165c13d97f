/**
 * A team for whole-bot tests: the sandbox's Slack, a model provider on loopback, real Redis, and bots on it, in this
 * process or as processes of their own that can be killed. What a person does and sees goes through Slack alone.
 */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TestContext } from "vitest"
import { createLog } from "../../src/log.ts"
import { startBot } from "../../src/bot.ts"
import { readConfig } from "../../src/config.ts"
import { mask } from "../../src/core/mask.ts"
import type { Fact } from "../../src/core/fact.ts"
import type { Run } from "../../src/core/run.ts"
import { startSlack } from "../../src/sandbox/slack.ts"
import type { SandboxSlack } from "../../src/sandbox/slack.ts"
import { Store } from "../../src/store/store.ts"
import { loadTools } from "../../src/tools/modules.ts"
import type { Provider, Style, WireRequest, WireTurn } from "../fakes/provider.ts"
import { startProvider } from "../fakes/provider.ts"
import { startProxy, type Proxy } from "../fakes/proxy.ts"
import { freshPrefix, redisUrl, scratchFolder } from "../redis.ts"

export const REQ = "U0REQ"
export const APP1 = "U0APP1"
export const APP2 = "U0APP2"
export const OUT = "U0OUT"
export const OPS = "C0OPS"
export const AUDIT = "C0AUDIT"

export interface TeamOptions {
  /** What the model says, one a request. */
  turns?: WireTurn[]
  /** Or what it says to each prompt, by how far that conversation is: for several runs at once, and for repeated turns. */
  scripts?: Record<string, WireTurn[]>
  style?: Style
  /** More of the model's settings. */
  model?: Record<string, unknown>
  /** More lines of countersign.yaml, as JSON (YAML takes it). */
  config?: Record<string, unknown>
  /** More of the bots' environment. */
  env?: Record<string, string>
  redisUrl?: string
  /** What the url names, and how many shards there are. */
  redis?: { cluster?: boolean; sentinel?: string; shards?: number }
}

/** A bot that runs. */
export interface RunningBot {
  stop(): Promise<void>
  /** SIGKILL; only a bot that is a process of its own can die so. */
  kill(): Promise<void>
  /** Stops and continues it in mid-air (SIGSTOP, SIGCONT), as `kill` only where it is a process of its own. */
  freeze(): void
  thaw(): void
  /** Its log so far. */
  log(): string
}

export interface Execution {
  name: string
  args: Record<string, unknown>
  answer?: unknown
  callId?: string
  attempt?: string
  pid: number
}

export type Message = ReturnType<SandboxSlack["workspace"]["messages"]>[number]

export class Team {
  readonly slack: SandboxSlack
  readonly provider: Provider
  readonly store: Store
  readonly prefix: string
  readonly #folder: string
  readonly #env: Readonly<Record<string, string>>
  readonly #config: Record<string, unknown>
  readonly #bots = new Set<RunningBot>()
  readonly #proxies: Proxy[] = []

  private constructor(parts: {
    slack: SandboxSlack
    provider: Provider
    store: Store
    prefix: string
    folder: string
    env: Record<string, string>
    config: Record<string, unknown>
  }) {
    this.slack = parts.slack
    this.provider = parts.provider
    this.store = parts.store
    this.prefix = parts.prefix
    this.#folder = parts.folder
    this.#env = parts.env
    this.#config = parts.config
  }

  /** A team that ends with the test. */
  static async during(finished: TestContext["onTestFinished"], options: TeamOptions = {}): Promise<Team> {
    const team = await Team.start(options)
    finished(() => team.close())
    return team
  }

  static async start(options: TeamOptions = {}): Promise<Team> {
    const { style = "openai", turns = [], scripts } = options
    const prefix = freshPrefix()
    const url = options.redisUrl ?? redisUrl()
    const folder = await scratchFolder("team")
    const slack = await startSlack({})
    const provider = await startProvider({ style, turns, ...(scripts ? { handler: following(scripts) } : {}) })
    const file = join(folder, "countersign.yaml")
    const executions = join(folder, "executions")
    const toolsFile = join(folder, "tools.mjs")
    writeFileSync(executions, "")
    writeFileSync(
      toolsFile,
      `import { toolsCounting } from ${JSON.stringify(new URL("./tools.process.mjs", import.meta.url).href)}
      export default toolsCounting(${JSON.stringify(executions)})`,
    )
    const config = {
      model: {
        provider: style === "openai" ? "openai-compatible" : "anthropic",
        baseUrl: provider.baseUrl,
        model: "test-model",
        apiKey: "${MODEL_KEY}",
        ...options.model,
      },
      tools: [toolsFile],
      starters: [REQ, APP1],
      channels: [OPS, "C0NOBOT"],
      approvers: ["S0SRE"],
      approvals: [
        { tool: "read", do: "allow" },
        { tool: "confirm", do: "allow" },
        { tool: "insist", do: "allow" },
      ],
      audit: { channel: AUDIT },
      redis: { prefix, ...options.redis },
      ...options.config,
    }
    writeFileSync(file, JSON.stringify(config))
    const env = {
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
      REDIS_URL: url,
      COUNTERSIGN_CONFIG: file,
      MODEL_KEY: "sk-test-key-of-the-team",
      ...options.env,
    }
    const store = await Store.open({ url, prefix, shards: 1, confirm: 0, outbox: true, ...options.redis })
    return new Team({ slack, provider, store, prefix, folder, env, config })
  }

  /** A channel of one's own, where everybody is: what is posted there waits for nothing that is posted elsewhere. */
  room(id: string): string {
    const { members } = this.slack.workspace.channel(OPS)
    this.slack.workspace.addChannel({ id, members: [...members] })
    return id
  }

  /** Changes countersign.yaml for the bots that are started from now on. */
  reconfigure(change: Record<string, unknown>): void {
    Object.assign(this.#config, change)
    writeFileSync(this.path("countersign.yaml"), JSON.stringify(this.#config))
  }

  /** A file's path for tools that wait to be released (`holdFile`). */
  path(name: string): string {
    return join(this.#folder, name)
  }

  release(name: string): void {
    writeFileSync(this.path(name), "")
  }

  /** A bot in this process; resolves when it is connected. `redisUrl`: by way of a proxy. */
  async bot(more: { redisUrl?: string } = {}): Promise<RunningBot> {
    const lines: string[] = []
    const read = readConfig({ ...this.#env, ...(more.redisUrl === undefined ? {} : { REDIS_URL: more.redisUrl }) })
    if (!read.ok) throw new Error(read.faults.join("\n"))
    const tools = await loadTools(read.config.tools, read.config.httpTools)
    if (!tools.ok) throw new Error(tools.faults.join("\n"))
    const log = createLog({
      level: "info",
      secrets: read.secrets,
      mask: (text) => mask(text).text,
      out: { write: (line) => void lines.push(line) },
    })
    const demo = () => {
      throw new Error("no demo here")
    }
    const mortal = () => {
      throw new Error("a bot in this process has no signals: use process()")
    }
    const bot = await startBot({ config: read.config, tools: tools.tools, secrets: [], log, demo })
    return this.#keep({
      stop: () => bot.stop(5000),
      kill: mortal,
      freeze: mortal,
      thaw: mortal,
      log: () => lines.join(""),
    })
  }

  /** A bot as a process of its own, the real program; resolves when it is connected. */
  async process(more: Record<string, string> = {}): Promise<RunningBot> {
    const script = fileURLToPath(new URL("../source.mjs", import.meta.url))
    const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))
    const child = spawn(process.execPath, [script, main, "start"], {
      env: { PATH: process.env["PATH"] ?? "", ...this.#env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    })
    let out = ""
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => (out += chunk))
    const ended = endOf(child)
    await until(
      () => {
        if (child.exitCode !== null) throw new Error(`the bot ended: ${out}`)
        return out.includes('"msg":"started"')
      },
      () => `the bot to start: ${out}`,
      60_000,
    )
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      child.kill(signal)
      await ended
    }
    return this.#keep({
      // A frozen one would not hear it.
      stop: () => (child.kill("SIGCONT"), end("SIGTERM")),
      kill: () => end("SIGKILL"),
      freeze: () => void child.kill("SIGSTOP"),
      thaw: () => void child.kill("SIGCONT"),
      log: () => out,
    })
  }

  #keep(bot: RunningBot): RunningBot {
    const kept: RunningBot = {
      ...bot,
      stop: async () => {
        if (this.#bots.delete(kept)) await bot.stop()
      },
      kill: async () => {
        if (this.#bots.delete(kept)) await bot.kill()
      },
    }
    this.#bots.add(kept)
    return kept
  }

  /** A way to Redis that can be made to misbehave; give a bot its `url`. */
  async proxy(): Promise<Proxy> {
    const proxy = await startProxy({ port: Number(new URL(this.#env["REDIS_URL"] ?? "").port) })
    this.#proxies.push(proxy)
    return proxy
  }

  async close(): Promise<void> {
    for (const proxy of this.#proxies) {
      proxy.delay(0)
      proxy.refuse(false)
      proxy.release()
    }
    await Promise.all([...this.#bots].map((bot) => bot.stop()))
    for (const proxy of this.#proxies) await proxy.close()
    await this.provider.close()
    await this.slack.close()
    await this.store.close()
  }

  /** `/agent <text>`; resolves with what the person saw at once. */
  command(text: string, user = REQ, channel = OPS): ReturnType<SandboxSlack["workspace"]["command"]> {
    return this.slack.workspace.command(user, channel, text)
  }

  /** Starts a run; resolves with it once it is stored. */
  async begin(prompt: string, user = REQ, channel = OPS): Promise<Run> {
    await this.command(prompt, user, channel)
    return this.runOf(prompt, () => true, user)
  }

  /** The newest run with that prompt, once it satisfies `test`. */
  async runOf(prompt: string, test: (run: Run) => boolean = () => true, user = REQ, ms?: number): Promise<Run> {
    let last: Run | undefined
    await until(
      async () => {
        last = (await this.runs(user)).find(({ title }) => title === prompt)
        return last !== undefined && test(last)
      },
      () => `the run “${prompt}”: ${JSON.stringify(last)}`,
      ms,
    )
    if (!last) throw new Error("no run")
    return last
  }

  endOf(prompt: string, user = REQ, ms?: number): Promise<Run> {
    return this.runOf(prompt, (run) => run.ended !== undefined, user, ms)
  }

  /** The results that the run's transcript has, in order. */
  async results(run: Run): Promise<{ isError: boolean; output: string }[]> {
    const entries = (await this.store.transcript(run.id)).map((text) => JSON.parse(text) as ToolEntry)
    return entries
      .filter(({ role }) => role === "tool")
      .flatMap(({ content }) => content)
      .map(({ output }) => ({ isError: output.type === "error-text", output: output.value }))
  }

  /** The runs of a person, newest first. */
  async runs(user = REQ): Promise<Run[]> {
    const loaded = await this.store.list([`requester:T1:${user}`], 100)
    return loaded.map(({ run }) => run)
  }

  /** The only run there is, once it satisfies `test`. */
  async run(test: (run: Run) => boolean = () => true, user = REQ): Promise<Run> {
    let last: Run | undefined
    await until(
      async () => {
        last = (await this.runs(user))[0]
        return last !== undefined && test(last)
      },
      () => `a run: ${JSON.stringify(last)}`,
    )
    if (!last) throw new Error("no run")
    return last
  }

  ended(): Promise<Run> {
    return this.run((run) => run.ended !== undefined)
  }

  async facts(run: Run): Promise<Fact[]> {
    return (await this.store.facts(run.id)).map((text) => JSON.parse(text) as Fact)
  }

  /** All messages of the channel's threads, oldest first, that have a button of that action. */
  cards(action = "approve", channel = OPS): Message[] {
    return this.slack.workspace
      .messages(channel)
      .filter((message) => JSON.stringify(message.blocks ?? []).includes(`"action_id":"${action}"`))
  }

  /** Resolves with the `n`-th live card. */
  async card(n = 1, action = "approve", channel = OPS): Promise<Message> {
    await until(
      () => this.cards(action, channel).length >= n,
      () => `${n} cards with ${action}: ${JSON.stringify(this.slack.workspace.messages(channel).map((m) => m.text))}`,
    )
    const found = this.cards(action, channel)[n - 1]
    if (!found) throw new Error("no card")
    return found
  }

  /** Resolves with the `n`-th live card of a run. */
  async cardOf(run: Run, action = "approve", n = 1, ms?: number): Promise<Message> {
    const mine = () => this.cards(action, run.channel).filter((one) => JSON.stringify(one.blocks).includes(run.id))
    await until(
      () => mine().length >= n,
      () =>
        `${n} cards of “${run.title}” with ${action}: ${JSON.stringify(this.slack.workspace.messages(run.channel))}`,
      ms,
    )
    const found = mine()[n - 1]
    if (!found) throw new Error("no card")
    return found
  }

  /** Resolves when nothing of the run can be decided in Slack any more. */
  async closed(run: Run, ms?: number): Promise<void> {
    const live = () =>
      ["approve", "decline", "again", "done", "failed"]
        .flatMap((action) => this.cards(action, run.channel))
        .filter((one) => JSON.stringify(one.blocks).includes(run.id))
    await until(
      () => live().length === 0,
      () => `the cards of “${run.title}” to close: ${JSON.stringify(live())}`,
      ms,
    )
  }

  /** What a person was told privately, oldest first: ephemeral messages anywhere, and direct ones. */
  told(user: string): string[] {
    const { workspace } = this.slack
    const direct = [...workspace.channels.values()].filter(
      ({ kind, members }) => kind === "dm" && members.includes(user),
    )
    return [...workspace.ephemerals(user), ...direct.flatMap(({ id }) => workspace.messages(id))].map(
      ({ text }) => text,
    )
  }

  /** Resolves when a person was told something like it. */
  async hears(user: string, words: string | RegExp, ms?: number): Promise<void> {
    const matches = (text: string) => (typeof words === "string" ? text.includes(words) : words.test(text))
    await until(
      () => this.told(user).some(matches),
      () => `${user} to be told ${String(words)}: ${JSON.stringify(this.told(user))}`,
      ms,
    )
  }

  click(user: string, card: Message, action: string): ReturnType<SandboxSlack["workspace"]["click"]> {
    return this.slack.workspace.click(user, card, action)
  }

  /** What tools did, in order. */
  executions(name?: string): Execution[] {
    const lines = readFileSync(join(this.#folder, "executions"), "utf8").split("\n").filter(Boolean)
    const all = lines.map((line) => JSON.parse(line) as Execution)
    return name === undefined ? all : all.filter((one) => one.name === name)
  }

  /** The message that is there now under a card's ts. */
  now(card: Message): Message {
    const found = this.slack.workspace.message(card.channel, card.ts)
    if (!found) throw new Error(`the message ${card.ts} is gone`)
    return found
  }
}

interface ToolEntry {
  role: string
  content: { output: { type: string; value: string } }[]
}

/** The turn of a script that a request has come to. */
const following =
  (scripts: Record<string, WireTurn[]>) =>
  ({ body }: WireRequest): WireTurn => {
    const messages = body.messages as { role: string; content: string | { text: string }[] }[]
    const asked = messages.find(({ role }) => role === "user")?.content ?? ""
    const prompt = typeof asked === "string" ? asked : (asked[0]?.text ?? "")
    const turn = scripts[prompt]?.[messages.filter(({ role }) => role === "assistant").length]
    return turn ?? { status: 501, body: JSON.stringify({ error: { message: `nothing to say to “${prompt}”` } }) }
  }

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
}

/** What a test can't go on without. */
export function must<T>(value: T | undefined, what = "something that must be there"): T {
  if (value === undefined) throw new Error(`${what} is missing`)
  return value
}

/** Looks again and again until `test` holds; fails with what was waited for. */
export async function until(test: () => boolean | Promise<boolean>, what: () => string, ms = 30_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!(await test())) {
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms in vain for ${what()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
