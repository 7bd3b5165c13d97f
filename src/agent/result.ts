/**
 * What a host gets of a run in memory: its result, and the plain data to go on from. Reads a run's state; changes
 * nothing.
 */
import type { LanguageModelV3Message } from "@ai-sdk/provider"
import { jsonCopy } from "../core/json.ts"
import type { Request } from "../core/suspension.ts"
import type { MemoryHeld, State } from "./memory.ts"
import { openInOrder } from "./memory.ts"
import { resultMessage } from "./plan.ts"

/** One call and what it came to. */
export interface ToolCallRecord {
  name: string
  args: Record<string, unknown>
  output: string
  isError: boolean
  metadata?: Record<string, unknown>
}

/** A record with the call it belongs to. */
export interface Recorded extends ToolCallRecord {
  id: string
}

/** A run that waits, or whose model could not be asked: plain JSON, for `resume` in any process. */
export interface Parked extends State {
  records: Recorded[]
}

export interface RunResult {
  /** The model's last words; the prompt of the Request when pending. */
  text: string
  /** The conversation, plain JSON in the AI SDK's prompt format. */
  messages: LanguageModelV3Message[]
  /** In call order. */
  toolCalls: ToolCallRecord[]
  toolCallCount: number
  turns: number
  usage: { promptTokens: number; completionTokens: number; totalTokens: number }
  model: string
  status: "done" | "pending" | "incomplete"
  /** What the run waits for; with status "pending" alone. */
  pending?: Request
  /** Which limit ended the run; with status "incomplete" alone. */
  limit?: string
  /** What `resume` needs; with status "pending" alone. */
  parked?: Parked
}

/** The model could not be asked. What was done until then is in `parked`: `resume` goes on from it and repeats nothing. */
export class RunFailed extends Error {
  override name = "RunFailed"
  readonly parked: Parked

  constructor(words: string, parked: Parked) {
    super(words)
    this.parked = parked
  }
}

/** The Request that a run without anybody to ask waits for: the first in call order, whoever suspended first. */
export function pendingIn(held: MemoryHeld): Request | undefined {
  const [ask] = openInOrder(held.run())
  const text = ask === undefined ? undefined : held.text(`req:${ask.id}`)
  return text === undefined ? undefined : (JSON.parse(text) as Request)
}

export function resultOf(held: MemoryHeld, records: ReadonlyMap<string, Recorded>, model: string): RunResult {
  const { usage, turns, ended } = held.run()
  const request = pendingIn(held)
  const toolCalls = recordsOf(held, records, request)
  const common = {
    messages: messagesOf(held, request),
    toolCalls,
    toolCallCount: toolCalls.length,
    turns,
    usage: {
      promptTokens: usage.prompt,
      completionTokens: usage.completion,
      totalTokens: usage.prompt + usage.completion,
    },
    model,
  }
  if (request !== undefined) {
    return { text: request.prompt, ...common, status: "pending", pending: request, parked: parkedOf(held, records) }
  }
  const text = held.text("answer") ?? held.text(`why:${turns}`) ?? ""
  if (ended?.how !== "incomplete") return { text, ...common, status: "done" }
  // "maxTurns (10)" is for people; a host compares the name.
  return { text, ...common, status: "incomplete", limit: ended.words?.split(" ", 1)[0] ?? "" }
}

/** The state to go on from. A run that failed for want of a model is as it was before it failed. */
export function parkedOf(held: MemoryHeld, records: ReadonlyMap<string, Recorded>): Parked {
  const { run, texts, transcript } = held.state()
  const { ended, retry: _retry, ...rest } = run
  const open = ended?.how === "failed" ? rest : run
  return { run: structuredClone(open), texts, transcript, records: [...records.values()].map(plain) }
}

/** Metadata that is no JSON stays in this process. */
function plain({ metadata, ...record }: Recorded): Recorded {
  const copied = metadata === undefined ? undefined : jsonCopy(metadata)
  return copied?.ok === true ? { ...record, metadata: copied.value as Record<string, unknown> } : record
}

function recordsOf(
  held: MemoryHeld,
  records: ReadonlyMap<string, Recorded>,
  request: Request | undefined,
): ToolCallRecord[] {
  const all = [...records.values()]
  const [halted] = request === undefined ? [] : openInOrder(held.run())
  if (halted !== undefined && request !== undefined) {
    const args = JSON.parse(held.text(`args:${halted.call}`) ?? "{}") as Record<string, unknown>
    all.push({ id: halted.call, name: halted.tool, args, output: request.prompt, isError: true })
  }
  return all.toSorted((a, b) => orderOf(a.id) - orderOf(b.id)).map(({ id: _id, ...record }) => record)
}

/** `<turn>.<index>` as a number to sort by. */
function orderOf(id: string): number {
  const [turn = 0, index = 0] = id.split(".").map(Number)
  return turn * 1e6 + index
}

/**
 * The transcript; with what the unfinished turn has so far, when the run waits: results in call order, and for the call
 * it waits for the prompt in place of one. Calls that wait behind it have none yet.
 */
function messagesOf(held: MemoryHeld, request: Request | undefined): LanguageModelV3Message[] {
  const { run, texts, transcript } = held.state()
  const waiting = request === undefined ? undefined : openInOrder(run)[0]?.call
  const results = run.calls.flatMap((call) => {
    if (call.id === waiting) {
      return [resultMessage(call.ref, call.tool, { output: request?.prompt ?? "", isError: true })]
    }
    const result = texts[`out:${call.id}`]
    return result === undefined ? [] : [result]
  })
  return [...transcript, ...results].map((text) => JSON.parse(text) as LanguageModelV3Message)
}
