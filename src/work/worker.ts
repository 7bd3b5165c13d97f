/**
 * Moves every run that needs moving: claims what is due, holds it under a lease while its steps are done, hands it back.
 * Knows the agenda and the steps; what a model, a tool or Slack is, is not known here.
 */
import { setTimeout as delay } from "node:timers/promises"
import { stepped } from "../agent/agent.ts"
import type { Agent } from "../agent/agent.ts"
import { advance } from "../agent/advance.ts"
import { Deadline } from "../agent/deadline.ts"
import { cancelled } from "../core/ask.ts"
import { ROOT_WITHIN, wakeAt } from "../core/run.ts"
import type { Call, Run } from "../core/run.ts"
import type { Request } from "../core/suspension.ts"
import { doubted } from "../core/doubt.ts"
import { stumbled } from "../core/stumble.ts"
import type { Log } from "../log.ts"
import type { Claims, Left, Store } from "../store/store.ts"
import { doubtRequest } from "./guard.ts"
import { LeaseLost, RedisHeld } from "./held.ts"
import { Overdue } from "./overdue.ts"

export interface WorkerOptions {
  store: Store
  /** Names this process among all, for as long as it lives. */
  owner: string
  /** Whose steps a run's are. */
  agentOf: (run: Run) => Agent
  /** Runs held at once. */
  atOnce?: number
  /** ms that a lease lasts unrenewed. */
  leaseMs?: number
  /** While it says so no model is asked and no call begins; deadlines go on. */
  paused?: () => boolean
  log: Log
}

export interface Worker {
  /** This process committed a run: its holder looks at it, or it is claimed when it needs a worker now. */
  committed(id: string, at: Left): void
  /** Something is due, at once or in so many ms. */
  wake(ms?: number): void
  /**
   * Stops claiming, lets what is under way finish within `deadlineMs`, then aborts it, and hands back what is left: whoever
   * else is there takes it at once. May be called again: for what a commit that was on its way then left here.
   */
  stop(deadlineMs: number): Promise<void>
}

/** When a run that waits for the end of a pause is looked at again, ms. */
const LOOK_AGAIN = 2000
/** How long what was aborted may take to end, ms. */
const ABORT_WITHIN = 1000
/** How long handing back may take, ms; a lease that could not be given back lapses. */
const HAND_BACK_WITHIN = 1000

/** Starts claiming. The caller wakes it when something is due, and looks for that at least once a second. */
export function startWorker(options: WorkerOptions): Worker {
  const { store, owner, log } = options
  const { atOnce = 100, leaseMs = 15_000, paused = () => false } = options
  const holding = new Map<string, { held: RedisHeld; done: Promise<void> }>()
  const drain = new AbortController()
  const abort = new Deadline([], undefined)
  const overdue = new Overdue(store, log)
  /** Commits under way that may take a lease for us. */
  let taking = 0
  const room = (): number => (drain.signal.aborted ? 0 : Math.max(0, atOnce - holding.size - taking))
  /** What a stop could not wait for. */
  const behind = new Set<RedisHeld>()
  let claiming = false
  let looping: Promise<void> | undefined
  /** How many claims are worth their while: one for each own commit that left something to do, any number after a wake. */
  let asked = 0
  /** Whether something may be overdue: looked for first, and without room too. */
  let isDue = false
  let timer: NodeJS.Timeout | undefined
  /** When it goes off, of `performance.now()`. */
  let wakesAt = Infinity

  /** A tick comes every second in any case; a timer is for what is due sooner, and for the first of that. */
  const wake = (ms = 0): void => {
    if (ms <= 0) {
      asked = Infinity
      isDue = true
      start()
      return
    }
    const at = performance.now() + ms
    if (ms >= 1000 || at >= wakesAt) return
    clearTimeout(timer)
    wakesAt = at
    timer = setTimeout(() => {
      wakesAt = Infinity
      wake()
    }, Math.ceil(ms)).unref()
  }

  const start = (): void => {
    if (!claiming) looping = loop()
  }

  async function loop(): Promise<void> {
    claiming = true
    while (!drain.signal.aborted) {
      if (isDue) await settleOverdue()
      else if (asked > 0 && room() > 0) await claimDue()
      else break
    }
    claiming = false
  }

  async function settleOverdue(): Promise<void> {
    isDue = false
    const next = await overdue.settle(() => drain.signal.aborted)
    if (next !== undefined) wake(next)
  }

  async function claimDue(): Promise<void> {
    const wanted = asked
    const most = Math.min(wanted, room())
    // From here on it counts what is committed while the claim is on its way.
    asked = 0
    const claims = await claim(most)
    if (!claims) return
    const { runs, now, next = Infinity } = claims
    for (const run of runs) take(run)
    if (runs.length === most || next <= now) asked += wanted - runs.length
    else wake(next - now)
  }

  async function claim(most: number): Promise<Claims | undefined> {
    try {
      return await store.claims(owner, leaseMs, most)
    } catch (error) {
      log.error({ err: error }, "could not claim; trying again with the next tick")
      return undefined
    }
  }

  function take(claimed: Claims["runs"][number]): void {
    const { id } = claimed
    // Our own lease lapsed while this process stood still. The holder goes on with it: its calls are not in doubt.
    const known = holding.get(id)?.held
    if (known?.holds) return known.committed(claimed)
    const held = new RedisHeld({ store, owner, leaseMs, id, loaded: claimed, needs: claimed, log })
    const done = hold(held)
      .catch((error: unknown) => {
        if (error instanceof LeaseLost) log.warn({ run: id }, "the lease was lost; another process goes on")
        else log.error({ err: error, run: id }, "a step failed; the run is due again when its lease is over")
      })
      .finally(() => {
        if (holding.get(id)?.held === held) holding.delete(id)
        start()
      })
    holding.set(id, { held, done })
  }

  async function hold(held: RedisHeld): Promise<void> {
    const run = held.run()
    if (run.ended && held.now() >= run.ended.at + run.keep) return forget(held)
    if (!run.rooted && held.now() >= run.at + ROOT_WITHIN) await giveUp(held)
    else await resume(held)
    await held.release(paused() ? LOOK_AGAIN : 0)
    const due = wakeAt(held.run())
    if (due > 0) wake(due - held.now())
  }

  /** Nobody could see what it does, so it does nothing. */
  async function giveUp(held: RedisHeld): Promise<void> {
    const words = "its message could not be posted within an hour"
    await held.apply((run, now) => {
      const how = { via: "bot", cause: `root:${run.id}`, words } as const
      return stepped(run.rooted || run.ended ? undefined : cancelled(run, how, now))
    })
  }

  async function resume(held: RedisHeld): Promise<void> {
    const agent = options.agentOf(held.run())
    const { ruleOf } = agent
    // Whatever runs was begun by a holder before us: we hold nothing twice.
    if (held.run().calls.some(({ state }) => state === "running")) {
      await held.apply((run, now) => {
        const mint = (call: Call): Request => doubtRequest(call.tool, call.attempt?.at ?? now)
        return stepped(doubted(run, { ruleOf: ({ tool }) => ruleOf({ run, tool }), mint }, now))
      })
    }
    try {
      await advance(held, agent, { abort, drain: drain.signal, paused })
    } catch (error) {
      if (!(error instanceof LeaseLost)) await broke(held, agent)
      throw error
    }
  }

  /** What breaks while a turn is taken may break each time, and each time costs a turn: it counts like a model's fault. */
  async function broke(held: RedisHeld, { retries: limit, retryBaseMs: base }: Agent): Promise<void> {
    const how = { words: "the model's answer could not be dealt with; the log says why", retryable: true, limit, base }
    await held.apply((run, now) => stepped(stumbled(run, how, now))).catch(() => undefined)
  }

  /** What is still to be shown or audited stays until the lease has run out, and is looked at again then. */
  async function forget(held: RedisHeld): Promise<void> {
    const { id } = held.run()
    if (await store.remove(id, ({ ended }) => ended === undefined)) return
    log.debug({ run: id }, "an ended run is still needed")
    await held.release()
  }

  async function finished(): Promise<void> {
    await looping
    const waited = (): Promise<void>[] =>
      [...holding.values()].filter(({ held }) => !behind.has(held)).map(({ done }) => done)
    while (waited().length > 0) await Promise.all(waited())
  }

  const over = (): void => {
    taking -= 1
    if (asked > 0) start()
  }
  store.takeFor(() => {
    if (room() === 0 || paused() || overdue.isCrowded) return undefined
    taking += 1
    return { owner, leaseMs, over }
  })

  return {
    wake,
    committed(id, at) {
      if (at.taken) return take({ id, ...at, ...at.taken })
      const held = holding.get(id)?.held
      if (held?.holds) held.committed(at)
      else if (wakeAt(at.run) === 0) {
        asked += 1
        start()
      } else wake(wakeAt(at.run) - at.now)
    },
    async stop(deadlineMs) {
      drain.abort()
      clearTimeout(timer)
      for (const { held } of holding.values()) held.notify()
      if (await within(finished(), deadlineMs)) return
      abort.abort(new Error("the bot is stopping"))
      if (await within(finished(), ABORT_WITHIN)) return
      // A tool that does not listen is left behind: its call is in doubt, and nobody need wait for its lease to find that out.
      for (const { held } of holding.values()) behind.add(held)
      const held = [...behind].filter(({ holds }) => holds)
      await within(Promise.allSettled(held.map((one) => one.release())), HAND_BACK_WITHIN)
    },
  }
}

/** Whether it is done before `ms` are over. */
async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = new AbortController()
  const late = delay(ms, false, { signal: over.signal }).catch(() => false)
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    over.abort()
  }
}
