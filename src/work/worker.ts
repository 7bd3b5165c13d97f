/**
 * Moves every run that needs moving: claims what is due, holds it under a lease while its steps are done, hands it back.
 * Knows the agenda and the steps; what a model, a tool or Slack is, is not known here.
 */
import type { Agent } from "../agent/advance.ts"
import { advance } from "../agent/advance.ts"
import { cancelled } from "../core/ask.ts"
import { ROOT_WITHIN } from "../core/run.ts"
import type { Run } from "../core/run.ts"
import { doubted } from "../core/turn.ts"
import type { Log } from "../log.ts"
import type { Claimed, Store } from "../store/store.ts"
import { doubtRequest } from "./guard.ts"
import { LeaseLost, RedisHeld } from "./held.ts"

export interface WorkerOptions {
  store: Store
  /** Names this process among all, for as long as it lives. */
  owner: string
  agent: Agent
  /** Runs held at once. */
  atOnce?: number
  /** ms that a lease lasts unrenewed. */
  leaseMs?: number
  log: Log
  /** Whether nothing of an ended run is needed any more (its messages and facts are out), so that it can go. */
  mayForget(run: Run): Promise<boolean>
}

export interface Worker {
  /** Something may be due: a commit of this process (of `run`), or a tick. */
  wake(run?: string): void
  /** Stops claiming, lets what is under way finish within `deadlineMs`, then aborts it. */
  stop(deadlineMs: number): Promise<void>
}

/** How long an ended run that is still needed is put off, ms. */
const FORGET_AGAIN = 60_000

/** Starts claiming. The caller wakes it, at least once a second. */
export function startWorker(options: WorkerOptions): Worker {
  const { store, owner, log } = options
  const leaseMs = options.leaseMs ?? 15_000
  const holding = new Map<string, { held: RedisHeld; done: Promise<void> }>()
  const drain = new AbortController()
  const abort = new AbortController()
  let looping: Promise<void> | undefined
  let again = false
  let timer: NodeJS.Timeout | undefined

  const wake = (run?: string): void => {
    if (run !== undefined) holding.get(run)?.held.notify()
    if (drain.signal.aborted) return
    again = true
    looping ??= loop().finally(() => {
      looping = undefined
      if (again) wake()
    })
  }

  async function loop(): Promise<void> {
    clearTimeout(timer)
    while (again && !drain.signal.aborted) {
      again = false
      for (;;) {
        if (holding.size >= (options.atOnce ?? 100) || drain.signal.aborted) return
        const claimed = await claim()
        if (!claimed) break
        take(claimed)
      }
    }
  }

  async function claim(): Promise<Claimed | undefined> {
    try {
      const found = await store.claim(owner, leaseMs)
      if (found.kind === "run") return found
      // A tick comes every second in any case; this is for what is due sooner.
      const wait = found.next === undefined ? 1000 : found.next - found.now
      if (wait < 1000) timer = setTimeout(wake, Math.max(wait, 1)).unref()
    } catch (error) {
      log.error({ err: error }, "could not claim; trying again with the next tick")
    }
    return undefined
  }

  function take(claimed: Claimed): void {
    const held = new RedisHeld({ store, owner, leaseMs, claimed, log })
    const done = hold(held)
      .catch((error: unknown) => {
        if (error instanceof LeaseLost) log.warn({ run: claimed.id }, "the lease was lost; another process goes on")
        else log.error({ err: error, run: claimed.id }, "a step failed; the run is due again when its lease is over")
      })
      .finally(() => {
        holding.delete(claimed.id)
        wake()
      })
    holding.set(claimed.id, { held, done })
  }

  async function hold(held: RedisHeld): Promise<void> {
    const run = held.run()
    if (run.ended && held.now() >= run.ended.at + run.keep) return forget(held)
    if (!run.rooted && !run.ended && held.now() >= run.at + ROOT_WITHIN) {
      const words = "its message could not be posted within an hour"
      const cause = `root:${run.id}`
      await held.apply((next, now) =>
        next.rooted
          ? { outcome: undefined }
          : { step: cancelled(next, { via: "bot", cause, words }, now), outcome: undefined },
      )
      return held.release()
    }
    await held.apply((next, now) => {
      const step = doubted(
        next,
        {
          mine: () => false,
          ruleOf: options.agent.ruleOf,
          mint: (call) => doubtRequest(call.tool, call.attempt?.at ?? now),
        },
        now,
      )
      return step ? { step, outcome: undefined } : { outcome: undefined }
    })
    await advance(held, options.agent, { abort: abort.signal, drain: drain.signal })
    await held.release()
  }

  async function forget(held: RedisHeld): Promise<void> {
    if (await options.mayForget(held.run())) return store.remove(held.run().id)
    await held.release(held.now() + FORGET_AGAIN)
  }

  return {
    wake,
    async stop(deadlineMs) {
      drain.abort()
      clearTimeout(timer)
      for (const { held } of holding.values()) held.notify()
      const all = async () => {
        await looping
        await Promise.allSettled([...holding.values()].map(({ done }) => done))
      }
      const deadline = setTimeout(() => abort.abort(new Error("the bot is stopping")), deadlineMs)
      await all()
      clearTimeout(deadline)
    },
  }
}
