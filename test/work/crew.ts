/** Workers as processes have them: each with a connection, an owner and a pulse of its own, on one real Redis. */
import { randomUUID } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import { pino } from "pino"
import { onTestFinished } from "vitest"
import type { Agent } from "../../src/agent/agent.ts"
import { createToolkit, defineTool, type Tool, type ToolContext } from "../../src/agent/tool.ts"
import { cancel } from "../../src/core/ask.ts"
import { settle, type Attempted } from "../../src/core/settle.ts"
import type { Rule, Who } from "../../src/core/policy.ts"
import { openAsks, type Effects, type Run, type Step } from "../../src/core/run.ts"
import { mintId } from "../../src/core/suspension.ts"
import { begin } from "../../src/core/turn.ts"
import { runIdOf } from "../../src/store/keys.ts"
import { Store, type Peek, type StoreOptions } from "../../src/store/store.ts"
import { startPulse } from "../../src/work/pulse.ts"
import { KnownPause } from "../../src/work/paused.ts"
import { startWorker, type Worker } from "../../src/work/worker.ts"
import type { ScriptedModel } from "../fakes/model.ts"
import { startProxy } from "../fakes/proxy.ts"
import { freshPrefix, redisUrl } from "../redis.ts"

export const ROBIN = { team: "T1", user: "U_ROBIN", name: "Robin" }
export const ADA: Who = { person: { team: "T1", user: "U_ADA", name: "Ada" }, standing: "member", member: {} }
export const RULE: Rule = {
  approvers: [ADA.person.user],
  selfApproval: false,
  expiresIn: 3_600_000,
  startWithin: 900_000,
}

/** One execution that a test holds in its hands. */
export interface Execution {
  args: Record<string, unknown>
  ctx: ToolContext
  finish(output: string): void
}

export interface HeldTool {
  tool: Tool
  /** The next execution, once it has begun. */
  next(): Promise<Execution>
  /** How many have begun. */
  count(): number
}

/** A tool whose executions last until the test ends them; with `obeys` they end when they are told to stop, too. */
export function heldTool(
  name: string,
  { effects, obeys = false }: { effects?: Effects; obeys?: boolean } = {},
): HeldTool {
  const begun: Execution[] = []
  const taken = { count: 0 }
  const tool = defineTool({
    name,
    description: name,
    ...(effects ? { effects } : {}),
    inputSchema: { type: "object" },
    run: (args, ctx) =>
      new Promise<string>((resolve) => {
        begun.push({ args, ctx, finish: resolve })
        if (obeys) ctx.signal?.addEventListener("abort", () => resolve("stopped"))
      }),
  })
  return {
    tool,
    count: () => begun.length,
    next: async () => {
      const index = taken.count++
      await eventually(() => begun[index] !== undefined)
      return begun[index] as Execution
    },
  }
}

/** A tool that returns at once, and notes that it ran. */
export function quickTool(name: string, ran: unknown[] = []): Tool {
  return defineTool({
    name,
    description: name,
    inputSchema: { type: "object" },
    run: (args) => {
      ran.push(args)
      return `${name} is done`
    },
  })
}

/** Looks again and again until it holds; the test's own time limit is the end of patience. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(5)
}

export interface Member {
  owner: string
  store: Store
  worker: Worker
  /** Every step that this process committed. */
  steps: Step[]
  /** What was logged: level and words. */
  logged: string[]
  /** Whether it begins nothing now. */
  isPaused(): boolean
  /** Cuts the process off from Redis, or lets it in again. */
  cutOff(on: boolean): void
}

export interface Crew {
  /** One more process; its worker claims from now on. */
  join(how: {
    model: ScriptedModel
    tools: Tool[]
    leaseMs?: number
    atOnce?: number
    agent?: Partial<Agent>
    /** Whether it looks at Redis for what is due. */
    looks?: boolean
  }): Promise<Member>
  /** One that commits and never works. */
  door: Store
  /** Begins a run; returns its id. */
  begin(how?: { prompt?: string; keep?: number; rooted?: boolean; age?: number }): Promise<string>
  load(id: string): Promise<Run | undefined>
  /** The run, once it is as `is` says. */
  when(id: string, is: (run: Run) => boolean): Promise<Run>
  /** Answers the open ask about a call of that tool. */
  answer(id: string, tool: string, ok: boolean, rest?: Partial<Attempted>, through?: Store): Promise<void>
  cancel(id: string, through?: Store): Promise<void>
  /** What the transcript says the tools said. */
  outputs(id: string): Promise<string[]>
}

const openStore = (url: string, prefix: string, onCommit: StoreOptions["onCommit"] = () => {}): Promise<Store> =>
  Store.open({ url, prefix, shards: 1, confirm: 0, outbox: false, onCommit })

let triggers = 0

/** Nobody is at work yet. `prefix`: of what is there before. */
export async function startCrew(prefix = freshPrefix()): Promise<Crew> {
  const door = await openStore(redisUrl(), prefix)
  onTestFinished(() => door.close())
  const load = async (id: string): Promise<Run | undefined> => (await door.load(id))?.run
  const when: Crew["when"] = async (id, is) => {
    let run: Run | undefined
    await eventually(async () => {
      run = await load(id)
      return run !== undefined && is(run)
    })
    return run as Run
  }
  return {
    door,
    load,
    when,
    join: (how) => join(prefix, how),
    async begin({ prompt = "restart web", keep = 3_600_000, rooted = true, age = 0 } = {}) {
      const id = runIdOf("T1", `crew ${process.pid} ${triggers++}`, 1)
      const transcript = [JSON.stringify({ role: "user", content: [{ type: "text", text: prompt }] })]
      const how = { id, cause: id, requester: ROBIN, channel: "C_OPS", prompt, keep, rooted, transcript }
      await door.apply(id, (_, now) => ({ outcome: undefined, step: begin({ ...how, via: "command" }, now - age) }))
      return id
    },
    async answer(id, tool, ok, rest = {}, through = door) {
      const run = await when(id, (run) => openAsks(run).some((ask) => ask.tool === tool))
      const ask = openAsks(run).find((ask) => ask.tool === tool)?.id ?? ""
      const tried: Attempted = { ask, version: 1, ok, who: ADA, via: "click", cause: `click:${ask}`, ...rest }
      const applied = await through.apply(id, (run, now) =>
        run ? settle(run, tried, now) : { outcome: { kind: "unknown" as const } },
      )
      if (applied.kind !== "applied" || applied.outcome.kind !== "recorded") throw new Error(JSON.stringify(applied))
    },
    async cancel(id, through = door) {
      const by = { who: ADA, people: [ADA.person.user], via: "command", cause: `cancel:${id}` } as const
      await through.apply(id, (run, now) => (run ? cancel(run, by, now) : { outcome: undefined }))
    },
    async outputs(id) {
      const entries = (await door.transcript(id)).map((text) => JSON.parse(text) as Entry)
      return entries.flatMap(({ role, content }) => (role === "tool" ? content.map(({ output }) => output.value) : []))
    },
  }
}

interface Entry {
  role: string
  content: { output: { value: string } }[]
}

async function join(prefix: string, how: Parameters<Crew["join"]>[0]): Promise<Member> {
  const owner = randomUUID()
  const steps: Step[] = []
  const logged: string[] = []
  const log = pino({ level: "debug" }, { write: (line: string) => void logged.push(line) })
  const holding: { worker?: Worker } = {}
  const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
  onTestFinished(() => proxy.close())
  const store = await openStore(proxy.url, prefix, (id, step, at) => {
    steps.push(step)
    holding.worker?.committed(id, at)
  })
  const agent: Agent = {
    model: how.model,
    tools: await createToolkit({ extraTools: how.tools }),
    maxTurns: 20,
    maxTokens: 1_000_000,
    maxAsksPerTurn: 10,
    retries: 2,
    retryBaseMs: 20,
    guard: async ({ tool }) =>
      tool.effects === "none"
        ? { do: "run" }
        : { do: "ask", rule: RULE, request: { id: mintId(), kind: "approval", prompt: `Run ${tool.name}` } },
    ruleOf: () => RULE,
    ...how.agent,
  }
  const { leaseMs = 15_000, atOnce = 100 } = how
  const pause = new KnownPause()
  const worker = startWorker({ store, owner, agentOf: () => agent, leaseMs, atOnce, log, paused: () => pause.paused })
  holding.worker = worker
  const beat = ({ agenda, now, paused }: Peek, askedAt: number): void => {
    pause.saw(paused !== undefined, askedAt)
    if (agenda !== undefined && how.looks !== false) worker.wake(agenda - now)
  }
  const stopPulse = startPulse(store, beat, log, 50)
  worker.wake()
  onTestFinished(async () => {
    stopPulse()
    proxy.refuse(false)
    await worker.stop(1)
    await store.close()
  })
  const isPaused = (): boolean => pause.paused
  return { owner, store, worker, steps, logged, isPaused, cutOff: (on) => proxy.refuse(on) }
}
