/**
 * Executes one call, or writes the result of one that won't run. The args that run are the stored text, checked against
 * its digest; before anything with effects starts, the attempt is marked in the run.
 */
import { randomUUID } from "node:crypto"
import { sha256 } from "../core/digest.ts"
import { maskScanned } from "../core/mask.ts"
import { argsField, askOf, textsOf, wishOf } from "../core/run.ts"
import type { Ask, Attempt, Call, Run } from "../core/run.ts"
import { mintId, refusalOutput, suspensionOf, unresolvedOutput } from "../core/suspension.ts"
import type { Answer, Request, ToolResult } from "../core/suspension.ts"
import { isMarked, requestOf } from "../core/attempt.ts"
import { doubtful } from "../core/doubt.ts"
import type { Rule } from "../core/policy.ts"
import { askedAgain, decided, finished, starting, suspended, unmarked } from "../core/turn.ts"
import type { Result } from "../core/turn.ts"
import { renamed, stepped, toolsIn } from "./agent.ts"
import { checkArgs, failure, isUnknown, runTool } from "./tool.ts"
import type { Agent, Held } from "./agent.ts"
import type { Deadline } from "./deadline.ts"
import { holding } from "./hold.ts"
import { resultMessage } from "./plan.ts"
import type { Tool } from "./tool.ts"

/** One execution: the call with what it runs on. */
interface Execution {
  call: Call
  tool: Tool
  args: string
  attempt: Attempt
  /** The tool's own Request and what was answered, when it suspended before. */
  answered?: { request: Request; answer: Answer }
}

/** Takes a call that is ready or decided as far as it goes now. */
export async function perform(held: Held, agent: Agent, call: Call, limit: Deadline): Promise<void> {
  if (call.state === "decided") return decide(held, agent, call)
  const not = notRun(held.run(), call)
  if (held.run().cancelled) return close(held, agent, call, failure(`cancelled: ${not}`), "cancelled")
  const [args = "", request, answer] = await held.texts(textsOf(call))
  const tool = (await toolsIn(agent, held.run())).get(call.tool)
  if (!tool) {
    const why = agent.gone ?? `tool not available any more: ${call.tool}`
    return close(held, agent, call, failure(`${why}; ${not}`), "not available")
  }
  const fault = faultOf(tool, call, args)
  if (fault) return close(held, agent, call, failure(`${fault.words}; ${not}`), fault.outcome)
  const attempt = { id: randomUUID(), owner: held.owner, at: 0 }
  await execute(held, agent, { call, tool, args, attempt, ...questionOf(request, answer) }, limit)
}

/** Of a call whose first attempt is in doubt nobody knows that it was not executed. */
const notRun = (run: Run, { yes }: Call): string =>
  askOf(run, yes?.ask ?? "")?.from === "doubt"
    ? "it was not executed again, and what came of the attempt before is not known"
    : "it was not executed"

function questionOf(request?: string, answer?: string): Pick<Execution, "answered"> {
  if (request === undefined || answer === undefined) return {}
  return { answered: { request: JSON.parse(request) as Request, answer: JSON.parse(answer) as Answer } }
}

function faultOf(tool: Tool, call: Call, args: string): { words: string; outcome: string } | undefined {
  if (sha256(args) !== call.digest) {
    return { words: "the stored arguments are not those that were shown", outcome: "args changed" }
  }
  if (call.print !== undefined && call.print !== tool.foreign?.print && call.print !== tool.foreign?.origin) {
    return {
      words: `${call.tool} has changed since it was called; call it again as it is now`,
      outcome: "tool changed",
    }
  }
  const fault = checkArgs(tool, JSON.parse(args))
  return fault === undefined ? undefined : { words: `tool has changed: ${fault}`, outcome: "tool changed" }
}

async function execute(held: Held, agent: Agent, how: Execution, limit: Deadline): Promise<void> {
  const { call, tool, args, attempt, answered } = how
  if (isMarked(call)) {
    const { outcome } = await held.apply((run, now) => starting(run, call.id, attempt, now), { confirm: true })
    if (outcome.kind === "stale yes") return askAgain(held, call)
    if (outcome.kind === "no") return
  }
  const began = performance.now()
  const telling = tellingOf(held, agent, call)
  const callId = `${held.run().id}.${call.id}`
  const ctx = {
    get signal() {
      return limit.signal
    },
    callId,
    attempt: attempt.id,
    run: held.run().id,
    requester: wishOf(held.run()).asker,
    progress: telling.progress,
    ...(agent.answers ? { hold: holding(held, agent, how, limit) } : {}),
    ...answered,
  }
  const result = (await unlessDeaf(held, runTool(tool, args, ctx), limit).finally(telling.end)) ?? DEAF
  const ms = performance.now() - began
  const raised = suspensionOf(result)
  if (raised === undefined) return ended(held, agent, how, { result, ms, limit })
  if (!raised.ok) return deliver(held, agent, how, failure(raised.error), ms)
  if (answered) return deliver(held, agent, how, failure(unresolvedOutput(answered.request)), ms)
  return suspend(held, agent, how, raised.request, ms)
}

/** Characters of what a tool tells that are looked at. */
const MOST_TOLD = 1000

/** What a tool may tell of its call until that is over. It can do no harm: whatever else it passes is dropped. */
function tellingOf(
  held: Held,
  { live }: Agent,
  { id, tool }: Call,
): { progress: (text: string) => void; end: () => void } {
  let over = false
  return {
    progress: (text: unknown) => {
      if (!over && typeof text === "string" && text.trim() !== "") {
        live?.told?.(held.run(), { id, tool }, text.slice(0, MOST_TOLD))
      }
    },
    end: () => {
      over = true
    },
  }
}

async function ended(
  held: Held,
  agent: Agent,
  how: Execution,
  { result, ms, limit }: { result: ToolResult; ms: number; limit: Deadline },
): Promise<void> {
  if (isCutOff(held, how, result, limit)) return
  if (isUnknown(result) && isDoubtful(held, how)) return doubt(held, agent, how, result)
  await deliver(held, agent, how, result, ms)
}

/** ms that a tool has for ending when its run was cancelled. */
const GRACE = 5000

const DEAF = failure("outcome unknown: it was told to stop and did not end; whether it took effect is not known")

/**
 * What the tool came to; undefined when its run was cancelled and it doesn't end. Stopped for another reason (a lease that
 * was lost) it is waited for: whatever it comes to is the answer to the doubt about it.
 */
function unlessDeaf(held: Held, running: Promise<ToolResult>, limit: Deadline): Promise<ToolResult | undefined> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const letGo = limit.whenAborted(() => {
      if (held.run().cancelled) timer = setTimeout(() => resolve(undefined), GRACE)
    })
    const over = (): void => {
      clearTimeout(timer)
      letGo()
    }
    running.finally(over).then(resolve, reject)
  })
}

/**
 * Whether we stopped the tool in the middle: its error then says that it stopped, not how far it came. The call stays marked,
 * so whoever goes on asks people what is true; in a cancelled run there is nothing to go on with.
 */
const isCutOff = (held: Held, { call }: Execution, result: ToolResult, limit: Deadline): boolean =>
  limit.aborted && result.isError && isMarked(call) && held.run().cancelled === undefined

/** Whether people are to say what came of it; where nothing runs any more, that nobody knows is the result. */
const isDoubtful = (held: Held, { call }: Execution): boolean =>
  call.effects === "once" && held.run().cancelled === undefined

/** What runs the tool went, or does not answer: the outcome is unknown, as it is when we ourselves go. */
async function doubt(held: Held, agent: Agent, how: Execution, { output }: ToolResult): Promise<void> {
  const { call, attempt, args } = how
  const mint = (): Request => ({ id: mintId(), kind: "doubt", prompt: output.slice(0, 1000).toWellFormed() })
  const ruleOf = (): Rule => agent.ruleOf({ run: held.run(), tool: call.tool, args })
  await held.deliver((run, now) => stepped(doubtful(run, { call: call.id, attempt: attempt.id, mint, ruleOf }, now)))
}

/** Ids of Requests that are about to be asked: siblings may suspend at the same moment. */
const reservations = new WeakMap<Held, Set<string>>()

/** False when a sibling has it already. */
function reserved(held: Held, id: string): boolean {
  const ids = reservations.get(held) ?? new Set()
  reservations.set(held, ids)
  return ids.size < ids.add(id).size
}

async function suspend(held: Held, agent: Agent, how: Execution, request: Request, ms: number): Promise<void> {
  const { call, attempt, args } = how
  const [before] = await held.texts([`req:${request.id}`])
  if (before !== undefined || !reserved(held, request.id)) return suspend(held, agent, how, renamed(request), ms)
  await agent.observe?.suspended?.({ id: call.id, ref: call.ref, tool: call.tool, args }, request, ms)
  const rule = agent.ruleOf({ run: held.run(), tool: call.tool, args, request })
  const asked = await held.deliver((run, now) => {
    // This very change may have been stored before.
    if (askOf(run, request.id)?.call === call.id) return { outcome: true }
    const step = suspended(run, call.id, attempt.id, { request, rule }, now, call)
    return step ? { step, outcome: true } : { outcome: false }
  })
  // Cancelled meanwhile: nobody is asked any more, but the call must have its result.
  if (!asked) await deliver(held, agent, how, failure(refusalOutput(request)), ms)
}

async function deliver(held: Held, agent: Agent, how: Execution, result: ToolResult, ms: number): Promise<void> {
  const { call, args, attempt } = how
  const written = await resultOf(agent, call, args, call.edit === undefined ? result : changed(result, args), ms)
  await held.deliver((run, now) =>
    stepped(finished(run, call.id, attempt.id, written, now, call) ?? unmarked(run, call.id, written, now)),
  )
}

/** The model believes that its own args were executed, unless it is told. */
const changed = (result: ToolResult, args: string): ToolResult => ({
  ...result,
  output: `A person changed the arguments before they were approved. Executed with: ${args}\n\n${result.output}`,
})

async function resultOf(agent: Agent, call: Call, args: string, result: ToolResult, ms: number): Promise<Result> {
  const { id, ref, tool } = call
  const whole = (await agent.observe?.resolved?.({ id, ref, tool, args }, result, ms)) ?? result
  const told = { ...whole, output: cut(whole.output) }
  const kept = agent.tools.get(tool)?.secrets === "keep"
  // What only a name calls a secret stays: the model may need it, such as a token that leads to the next page.
  const seen = kept ? told : { ...told, output: maskScanned(told.output).text }
  return { message: resultMessage(ref, tool, seen), isError: told.isError, outcome: told.isError ? "error" : "ok" }
}

/** Characters of a result: no model reads more, and each turn would carry it. */
const MOST_OUTPUT = 10_000_000

const cut = (output: string): string =>
  output.length <= MOST_OUTPUT
    ? output
    : `${output.slice(0, MOST_OUTPUT).toWellFormed()}\n[cut here: it has ${output.length} characters in all]`

/** Gives a call that won't run its result. */
async function close(held: Held, agent: Agent, call: Call, result: ToolResult, outcome: string): Promise<void> {
  const [args = ""] = await held.texts([argsField(call)])
  const written = { ...(await resultOf(agent, call, args, result, 0)), outcome }
  await held.apply((run, now) => stepped(decided(run, call.id, written, now)))
}

async function askAgain(held: Held, call: Call): Promise<void> {
  const [text] = await held.texts([`req:${requestOf(call) ?? ""}`])
  if (text === undefined) throw new Error(`the Request of the yes to call ${call.id} is missing`)
  // With its own deadline, if it has one: a Request is stale after that, however often it is asked.
  const fresh = renamed(JSON.parse(text) as Request)
  await held.apply((run, now) => stepped(askedAgain(run, call.id, fresh, now)))
}

/** The call's ask was settled so that it will not run: the model is told what the person (or the timer) decided. */
async function decide(held: Held, agent: Agent, call: Call): Promise<void> {
  const ask = askOf(held.run(), call.ask ?? "")
  if (!ask) throw new Error(`the ask that decided call ${call.id} is missing`)
  if (ask.from === "doubt") return close(held, agent, call, doubtResult(ask), ask.settled?.choice ?? "outcome unknown")
  const [, request, answer] = await held.texts(textsOf(call))
  if (request === undefined || answer === undefined)
    throw new Error(`the Request or Answer of ask ${ask.id} is missing`)
  const output = refusalOutput(JSON.parse(request) as Request, JSON.parse(answer) as Answer)
  await close(held, agent, call, failure(output), ask.settled?.reason ?? "declined")
}

function doubtResult({ settled }: Ask): ToolResult {
  const who = settled?.by ? (settled.by.name ?? settled.by.user) : "a person"
  if (settled?.ok) {
    return {
      output: `done: ${who} says that it was done. It was not executed again; its output is not known.`,
      isError: false,
    }
  }
  const why = settled?.reason === "declined" ? `${who} recorded it as failed` : "nobody could say what came of it"
  return failure(`failed: outcome unknown. The attempt was interrupted; ${why}. It was not executed again.`)
}
