/**
 * Questions that a call asks people while it goes on: each is an ask of the run like any other, and its Answer is handed to the
 * call that waits. Where the run is held, and who is asked, is not known here.
 */
import { setTimeout as delay } from "node:timers/promises"
import { withdrawn } from "../core/ask.ts"
import { heldAsk } from "../core/hold.ts"
import { askOf } from "../core/run.ts"
import type { Attempt, Call } from "../core/run.ts"
import { answerDeclined, answerOf, requestOf } from "../core/suspension.ts"
import type { Answer, Request } from "../core/suspension.ts"
import { renamed, stepped, type Agent, type Held } from "./agent.ts"
import type { Deadline } from "./deadline.ts"

/** So often may one call ask; a server that asks on and on is told that nobody answers. */
export const MOST_HELD = 10
/** ms before an Answer that could not be read is read again. */
const READ_AGAIN = 1000

/** Who looks at a run when it may have changed. */
const waiting = new WeakMap<Held, Set<() => void>>()

/** The run may look different: whoever waits for an Answer looks. */
export function lookForAnswers(held: Held): void {
  for (const look of waiting.get(held) ?? []) look()
}

interface Holding {
  call: Call
  args: string
  attempt: Attempt
}

/**
 * For a tool's `ctx.hold`: puts a Request to people, and resolves with what they answer, however long that takes; with a no
 * ("cancelled") when the run is cancelled, `stop` aborts, or it can't be asked. Rejects for a Request that must not be shown.
 */
export function holding(held: Held, agent: Agent, how: Holding, limit: Deadline) {
  let asked = 0
  return async (given: Request, stop?: AbortSignal): Promise<Answer> => {
    const read = requestOf(given)
    if (!read.ok) throw new TypeError(`hold: ${read.error}`)
    const nobody = answerDeclined(given.id, "cancelled")
    asked += 1
    if (asked > MOST_HELD || limit.aborted || stop?.aborted) return nobody
    const request = await freshIn(held, read.request)
    if (!(await raised(held, agent, how, request))) return nobody
    const isSettled = await settledOrLeft(held, request.id, limit, stop)
    const answer = isSettled ? await answerTo(held, request.id, limit) : undefined
    if (answer) return { ...answer, id: given.id }
    // Cancelled, it was closed along with the run; without the lease, by whoever has it now.
    const close = (words: string) => held.apply((run, now) => stepped(withdrawn(run, request.id, words, now)))
    await close("the tool did not wait for the answer").catch(() => undefined)
    return nobody
  }
}

async function freshIn(held: Held, request: Request): Promise<Request> {
  const [before] = await held.texts([`req:${request.id}`])
  return before === undefined ? request : renamed(request)
}

async function raised(held: Held, agent: Agent, { call, args, attempt }: Holding, request: Request): Promise<boolean> {
  const rule = agent.ruleOf({ run: held.run(), tool: call.tool, args, request })
  const { outcome } = await held.apply((run, now) => {
    // This very change may have been stored before.
    if (askOf(run, request.id)?.call === call.id) return { outcome: true }
    const step = heldAsk(run, call.id, attempt, { request, rule }, now)
    return step ? { step, outcome: true } : { outcome: false }
  })
  return outcome
}

/** False when nobody waits for it any more. */
function settledOrLeft(held: Held, id: string, limit: Deadline, stop: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const looks = waiting.get(held) ?? new Set()
    waiting.set(held, looks)
    const over = (isSettled: boolean): void => {
      looks.delete(look)
      letGo()
      stop?.removeEventListener("abort", left)
      resolve(isSettled)
    }
    const look = (): void => {
      const ask = askOf(held.run(), id)
      if (!ask || ask.settled) over(true)
    }
    const left = (): void => over(false)
    looks.add(look)
    stop?.addEventListener("abort", left)
    let letGo = (): void => undefined
    letGo = limit.whenAborted(left)
    look()
  })
}

/** It is stored by now: a Redis that does not answer is waited for. */
async function answerTo(held: Held, id: string, limit: Deadline): Promise<Answer | undefined> {
  for (;;) {
    try {
      const [text] = await held.texts([`answer:${id}`])
      const read = text === undefined ? undefined : answerOf(JSON.parse(text))
      return read?.ok ? read.answer : undefined
    } catch (error) {
      if (limit.aborted) throw error
      await delay(READ_AGAIN)
    }
  }
}
