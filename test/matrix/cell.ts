/**
 * A cell: a Slack, a model provider, tools and keys in Redis of its own, and bots in it whose every word to the world passes
 * a gate. It starts them and kills them; what they should do is not known here.
 */
import { mkdir, writeFile } from "node:fs/promises"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Redis } from "ioredis"
import type { Fact } from "../../src/core/fact.ts"
import { openAsks, type Run } from "../../src/core/run.ts"
import { startSlack, type SandboxSlack } from "../../src/sandbox/slack.ts"
import { shardKeys } from "../../src/store/keys.ts"
import { Store } from "../../src/store/store.ts"
import { startProvider, type Provider, type WireTurn } from "../fakes/provider.ts"
import type { Border, Fate } from "./border.ts"
import type { Fleet, Seat } from "./fleet.ts"
import { wireHttp, type HttpWired } from "./http-wire.ts"
import { wireRedis, type Wired } from "./redis-wire.ts"

export const REQ = "U0REQ"
export const APP1 = "U0APP1"
export const APP2 = "U0APP2"
export const OPS = "C0OPS"
export const AUDIT = "C0AUDIT"

export interface CellOptions {
  fleet: Fleet
  redisUrl: string
  /** An empty folder of its own. */
  folder: string
  /** The model's turns, by how far the conversation is: who asks twice for one turn gets it twice. */
  turns: readonly WireTurn[]
  /** Lines of countersign.yaml, as JSON. */
  config?: Record<string, unknown>
  /** Each bot has the MCP server `desk`. */
  desk?: boolean
  /** ms from one comparison of a run with Slack to the next. */
  lookEvery?: number
  /** How long after it was sent Slack may carry out a call that was not answered, ms: as in earnest unless said. */
  lateFor?: number
  /** Asked of everything that a bot lets pass, also while it starts. */
  onBorder: (bot: Bot, border: Border) => Fate | Promise<Fate>
}

/** A server's tool knows its call by `key`, the beginning of the digest of its id, and no attempt. */
export interface Execution {
  name: string
  args: Record<string, unknown>
  callId?: string
  key?: string
  attempt?: string
  answer?: unknown
}

/** A run as it is stored. */
export interface Kept {
  run: Run
  facts: Fact[]
  transcript: string[]
}

/** One bot, from its start to its death. */
export class Bot {
  readonly name: string
  #wires: Wired[] = []
  #seat: Seat | undefined
  #dead = false

  constructor(name: string) {
    this.name = name
  }

  get isDead(): boolean {
    return this.#dead
  }

  /** Of its process; 0 before it has one. */
  get pid(): number {
    return this.#seat?.pid ?? 0
  }

  wired(wires: Wired[]): void {
    this.#wires = wires
    if (this.#dead) for (const wire of wires) wire.cut()
  }

  seated(seat: Seat): void {
    this.#seat = seat
    if (this.#dead) seat.leave()
  }

  /** From here on it is nobody's any more: nothing it does is seen, and it hears of nothing. Its process is killed. */
  kill(): void {
    if (this.#dead) return
    this.#dead = true
    for (const wire of this.#wires) wire.cut()
    this.#seat?.leave()
  }

  /** Its addresses stay taken while its process lives: it must never come back by one that is somebody else's by then. */
  close(): void {
    this.kill()
    const freed = async (): Promise<void> => {
      await this.#seat?.gone
      await Promise.all(this.#wires.map((wire) => wire.close()))
    }
    void freed()
  }
}

interface Parts {
  slack: SandboxSlack
  provider: Provider
  store: Store
  redis: Redis
  prefix: string
  /** Where answers to people go, by whichever bot. */
  replies: HttpWired
  bots: Bot[]
  options: CellOptions
}

let cells = 0

export class Cell {
  readonly slack: SandboxSlack
  readonly provider: Provider
  readonly store: Store
  /** All there ever were. */
  readonly bots: readonly Bot[]
  readonly #parts: Parts

  private constructor(parts: Parts) {
    this.slack = parts.slack
    this.provider = parts.provider
    this.store = parts.store
    this.bots = parts.bots
    this.#parts = parts
  }

  static async start(options: CellOptions): Promise<Cell> {
    const { redisUrl: url, folder, turns, onBorder } = options
    const prefix = `m-${process.pid}-${(cells += 1)}`
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, "executions"), "")
    const slack = await startSlack({})
    const provider = await startProvider({ style: "openai", handler: following(turns) })
    const store = await Store.open({ url, prefix, shards: 1, confirm: 0, outbox: true })
    const bots: Bot[] = []
    const replies = await wireHttp({
      target: portOf(slack.url),
      named: () => ({ wire: "slack", name: "response_url" }),
      gateOf: ({ "x-process": pid }) => {
        const bot = bots.findLast((one) => String(one.pid) === pid)
        return (border) => (bot && !bot.isDead ? onBorder(bot, border) : "dead")
      },
    })
    return new Cell({ slack, provider, store, redis: new Redis(url), prefix, replies, bots, options })
  }

  /** Starts a bot; resolves when it is connected. */
  async bot(): Promise<Bot> {
    const { bots, options, replies, prefix } = this.#parts
    const { fleet, onBorder, redisUrl, folder, lookEvery, lateFor } = options
    const bot = new Bot(`bot${bots.length + 1}`)
    bots.push(bot)
    const gate = (border: Border): Fate | Promise<Fate> => (bot.isDead ? "dead" : onBorder(bot, border))
    const gateOf = () => gate
    const redis = await wireRedis(portOf(redisUrl), gate)
    const slack = await wireHttp({
      target: portOf(this.slack.url),
      named: (path) => ({ wire: "slack", name: path.replace("/api/", "") }),
      gateOf,
      socket: { gate, replies: replies.origin },
    })
    const model = await wireHttp({
      target: portOf(this.provider.baseUrl),
      named: () => ({ wire: "model", name: "model" }),
      gateOf,
    })
    const tools = await wireHttp({
      named: (path) => ({ wire: "tool", name: path.slice(1).replace("/", " ") }),
      gateOf,
    })
    bot.wired([redis, slack, model, tools])
    const at = (name: string): string => join(folder, `${bot.name}.${name}`)
    const module = new URL("./tools.process.mjs", import.meta.url).href
    const how = { gate: tools.origin, file: join(folder, "executions") }
    await writeFile(
      at("mjs"),
      `import { toolsOf } from ${JSON.stringify(module)}\nexport default toolsOf(${JSON.stringify(how)})\n`,
    )
    const more = { ...options.config, ...(options.desk ? { mcpServers: { desk: deskOf(how) } } : {}) }
    await writeFile(at("yaml"), JSON.stringify(configOf(prefix, at("mjs"), model.origin, more)))
    const env = {
      SLACK_BOT_TOKEN: this.slack.botToken,
      SLACK_APP_TOKEN: this.slack.appToken,
      SLACK_API_URL: `${slack.origin}/api/`,
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      COUNTERSIGN_CONFIG: at("yaml"),
      MODEL_KEY: "sk-test-key-of-a-cell",
    }
    const others = bots.filter((other) => other.pid > 0).map(({ pid }) => pid)
    try {
      const looks = {
        ...(lookEvery === undefined ? {} : { lookEvery }),
        ...(lateFor === undefined ? {} : { lateFor }),
      }
      bot.seated(await fleet.start({ env, log: at("log"), ...looks }, others))
    } catch (error) {
      // Whoever died while it started, started in vain.
      if (!bot.isDead) throw error
    }
    return bot
  }

  /** What tools did, in order. */
  executions(): Execution[] {
    const lines = readFileSync(join(this.#parts.options.folder, "executions"), "utf8").split("\n")
    return lines.filter(Boolean).map((line) => JSON.parse(line) as Execution)
  }

  /** All runs there are, oldest first. */
  async list(): Promise<Run[]> {
    const found = await this.store.list([`requester:T1:${REQ}`], 100)
    return found.reverse().map(({ run }) => run)
  }

  /** The same, with all that is stored of them. */
  async runs(): Promise<Kept[]> {
    const found = await this.list()
    const kept = found.map(async (run): Promise<Kept> => {
      const [facts, transcript] = await Promise.all([this.store.facts(run.id), this.store.transcript(run.id)])
      return { run, facts: facts.map((text) => JSON.parse(text) as Fact), transcript }
    })
    return Promise.all(kept)
  }

  /**
   * Whether nothing is left to do: no run is held or due, but for a call that asks somebody meanwhile, nothing is to be shown or
   * may still change, and no fact is on its way. Then a run has ended, or waits for somebody or for a time that is yet to come.
   */
  async isAtRest(): Promise<boolean> {
    const { redis, prefix } = this.#parts
    const keys = shardKeys(prefix, 0)
    const agenda = (await redis.zrange(keys.agenda, "0", "-1", "WITHSCORES")).map(String)
    const ids = agenda.filter((_, index) => index % 2 === 0)
    const [now, cards, rest, late, outbox, ...owners] = await Promise.all([
      this.store.now(),
      redis.zcard(keys.cards),
      redis.zcard(keys.rest),
      redis.zcard(keys.late),
      redis.xlen(keys.outbox).then(Number),
      ...ids.map((id) => redis.hexists(keys.run + id, "owner")),
    ])
    const isDue = agenda.some((score, index) => index % 2 === 1 && Number(score) <= now)
    const owned = ids.filter((_, index) => owners[index] === 1)
    if (isDue || cards + rest + late + outbox > 0) return false
    return owned.length === 0 || (await this.list()).every((run) => !owned.includes(run.id) || isAsking(run))
  }

  /** What Redis has of a run that is no run any more: names of keys, and of lists that it is in. */
  async remains(id: string): Promise<string[]> {
    const { redis, prefix } = this.#parts
    const { tag, agenda, cards, rest, late, looks, index } = shardKeys(prefix, 0)
    const names = await redis.keys(`${tag}*`)
    const lists = [agenda, cards, rest, late, ...names.filter((name) => name.startsWith(index))]
    const isIn = await Promise.all(lists.map(async (name) => (await redis.zscore(name, id)) !== null))
    const looked = (await redis.lrange(looks, 0, -1)).some((place) => place.endsWith(id))
    return [
      ...names.filter((name) => name.endsWith(id)),
      ...lists.filter((_, n) => isIn[n]),
      ...(looked ? [looks] : []),
    ]
  }

  async close(): Promise<void> {
    const { redis, replies } = this.#parts
    for (const bot of this.bots) bot.close()
    await Promise.all([replies.close(), this.provider.close(), this.slack.close(), this.store.close()])
    redis.disconnect()
  }
}

const isAsking = (run: Run): boolean => openAsks(run).some(({ held }) => held !== undefined)

const portOf = (url: string): number => Number(new URL(url).port)

const deskOf = ({ gate, file }: { gate: string; file: string }) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL("./desk.process.mjs", import.meta.url)), gate, file],
})

const configOf = (prefix: string, tools: string, baseUrl: string, more: CellOptions["config"]) => ({
  model: { provider: "openai-compatible", baseUrl, model: "test-model", apiKey: "${MODEL_KEY}" },
  tools: [tools],
  starters: [REQ],
  channels: [OPS],
  approvers: ["S0SRE"],
  approvals: [{ tool: "read", do: "allow" }],
  audit: { channel: AUDIT },
  ...more,
  redis: { prefix, ...(more?.["redis"] as object | undefined) },
})

const following =
  (turns: readonly WireTurn[]) =>
  ({ body }: { body: { messages: { role: string }[] } }): WireTurn =>
    turns[body.messages.filter(({ role }) => role === "assistant").length] ?? {
      status: 501,
      body: JSON.stringify({ error: { message: "nothing to say any more" } }),
    }
