/**
 * The show loop: brings Slack up to date with the stored runs, one missing message at a time and at Slack's pace, cards
 * that people wait for first. It decides nothing about a run, and nobody who works or clicks ever waits for it.
 */
import type { WebClient } from "@slack/web-api"
import { Duty } from "../store/duty.ts"
import type { Peek, Store } from "../store/store.ts"
import { decidersOf, openAsks, type Run } from "../core/run.ts"
import { archivedTexts, missing, neededTexts, type Act, type Missing } from "./show/acts.ts"
import type { Log } from "./client.ts"
import { choose } from "./show/choice.ts"
import { close, deliver, type Desk, type Seen } from "./show/deliver.ts"
import { LATE_FOR, suspected } from "./show/late.ts"
import { limitsOf } from "./show/limits.ts"
import { Sight } from "./show/look.ts"
import { Names } from "./show/names.ts"
import { Pace, type Rate } from "./show/pace.ts"
import { LOOK_EVERY, Reconciler } from "./show/reconcile.ts"
import { readSlots, type Slots } from "./show/record.ts"
import { Regain } from "./show/regain.ts"
import { CALL_TIMEOUT } from "./show/send.ts"
import type { Around, Rests } from "./show/wanted.ts"

export interface ShowOptions {
  store: Store
  /** A client of its own, which repeats no call, waits out no 429, and gives up after `CALL_TIMEOUT`. */
  client: WebClient
  log: Log
  /** Names this process in the lease: one process shows a shard at a time. */
  owner: string
  /** What runs are started by, with its slash: how things are revoked is said in it. */
  command?: string
  /** A tool's input schema: whether there is a form for changing its args. */
  schemaOf?: (tool: string, run: Run) => Record<string, unknown> | undefined
  rates?: Readonly<Record<string, Rate>>
  /** ms that a run has to come to its end before whoever asked for it is told of what was refused in it. */
  tellAfter?: number
  rests?: Rests
  /** ms from one comparison of a run with Slack to the next. */
  lookEvery?: number
  /** How long after it was sent Slack may carry out a call that was not answered, ms: a run is compared with Slack after that, too. */
  lateFor?: number
}

export interface Show {
  /** Something was committed here: look now. */
  wake(): void
  /** What a look at Redis found, once a second for the whole process. */
  tick(peeked: Pick<Peek, "now" | "cards" | "rest" | "looks">): void
  /** Ends after what is under way. */
  stop(): Promise<void>
}

export function startShow(options: ShowOptions): Show {
  // One for all: they call the same Slack.
  const pace = new Pace(options.store, options.rates)
  const sight = new Sight(options.client)
  const { store, owner, log, lookEvery: every = LOOK_EVERY, lateFor = LATE_FOR } = options
  const all = Array.from({ length: store.shards }, (_, shard) => shard)
  const wake = (): void => shards.forEach((shard) => shard.wake())
  const regain = new Regain({ store, client: options.client, log, wake })
  const shared = { pace, sight, regain }
  const shards = all.map((shard) => new ShardShow({ ...options, lookEvery: every, lateFor }, shard, shared))
  const looking = { store, owner, sight, pace, log, every, lateFor }
  const reconcilers = all.map((shard) => new Reconciler({ ...looking, shard }))
  return {
    wake,
    tick({ now, cards, rest, looks }) {
      if ((looks ?? Infinity) <= now) reconcilers.forEach((one) => one.wake())
      if (Math.min(cards ?? Infinity, rest ?? Infinity) < now + SOON) wake()
      regain.tick()
    },
    async stop() {
      await Promise.all([...shards, ...reconcilers].map((one) => one.stop()))
    },
  }
}

/** A lease outlives a call that is begun under it. Whoever takes over after a crash waits that long at most. */
const LEASE = CALL_TIMEOUT + 2000
/** Runs that are served at once; changes of what stands may take only some of the places. */
const AT_ONCE = 6
const REST_AT_ONCE = 3
const TELL_AFTER = 10_000
const RESTS: Rests = { root: 3000, card: 500, refused: 60_000 }
/** Nobody else takes a run that is being served for so long, ms. */
const SERVING = LEASE
const ENDS = { serving: false } as const

type Due = Extract<Awaited<ReturnType<Store["show"]["showDue"]>>, { id: string }> & {
  /** How many times Redis had begun anew when it was read. */
  restarts: number
}

/** What all shards have together. */
interface Shared {
  pace: Pace
  sight: Sight
  regain: Regain
}

class ShardShow {
  readonly #store: Store
  readonly #log: Log
  readonly #shard: number
  readonly #desk: Desk
  readonly #pace: Pace
  readonly #names: Names
  readonly #around: Pick<Around, "command" | "schemaOf" | "tellAfter" | "rests">
  /** Runs being served, and whether they fell due again meanwhile. */
  readonly #serving = new Map<string, { again: boolean }>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #lookEvery: number
  readonly #regain: Regain
  readonly #duty: Duty
  #restServed = 0

  constructor(
    options: ShowOptions & { lookEvery: number; lateFor: number },
    shard: number,
    { pace, sight, regain }: Shared,
  ) {
    const { store, client, log, owner, command = "/agent" } = options
    this.#store = store
    this.#log = log
    this.#shard = shard
    this.#pace = pace
    this.#regain = regain
    this.#names = new Names(client)
    const { schemaOf, tellAfter = TELL_AFTER, rests = RESTS } = options
    this.#around = { command, schemaOf, tellAfter, rests }
    const hold = async (act: Act, ms: number): Promise<void> => {
      const key = limitsOf(act).at(-1)
      if (key !== undefined) await pace.hold(key, ms)
    }
    this.#lookEvery = options.lookEvery
    this.#desk = { store, client, sight, names: this.#names, log, hold, lateFor: options.lateFor }
    this.#duty = new Duty({
      lease: (ms) => store.lease(shard, "show", owner, ms),
      length: LEASE,
      spare: CALL_TIMEOUT,
      next: () => this.#next(),
      log,
      interrupted: { about: { shard }, words: "showing was interrupted; it goes on by itself" },
    })
  }

  wake(): void {
    this.#duty.wake()
  }

  async stop(): Promise<void> {
    await this.#duty.stop()
    await Promise.all(this.#underWay)
    await this.#duty.letGo().catch(() => undefined)
  }

  /** Takes up the next run that is due. Returns for how long there is nothing to do, ms (Infinity: until woken). */
  async #next(): Promise<number> {
    if (this.#serving.size >= AT_ONCE) return Infinity
    if (!(await this.#duty.leased())) return Infinity
    const { restarts } = this.#store.show
    const found = await this.#store.show.showDue(this.#shard)
    if (!("id" in found)) return this.#idle(found)
    const due = { ...found, restarts }
    const served = this.#serving.get(due.id)
    if (served) {
      await this.#store.show.showLater(due.id, due.class, due.now + SERVING)
      if (this.#serving.get(due.id) === served) served.again = true
      else await this.#store.show.showLater(due.id, due.class, due.now)
      return 0
    }
    if (due.class === "rest" && this.#restServed >= REST_AT_ONCE) return Infinity
    // Put off while it is served, so that the next look finds the next run; a crash delays it by that much.
    await this.#store.show.showLater(due.id, due.class, due.now + SERVING, { serving: true })
    this.#take(due)
    return 0
  }

  async #idle({ now, next }: { now: number; next: number | undefined }): Promise<number> {
    const wait = next === undefined ? Infinity : soon(next - now)
    if (wait === Infinity && this.#serving.size === 0) await this.#duty.letGo()
    return wait
  }

  #take(due: Due): void {
    const done = this.#takenCareOf(due).finally(() => {
      this.#underWay.delete(done)
      this.wake()
    })
    this.#underWay.add(done)
  }

  /** Serves a run; it never throws. What fails is tried again, at the latest when the run is no longer put off. */
  async #takenCareOf(due: Due): Promise<void> {
    const entry = { again: false }
    this.#serving.set(due.id, entry)
    if (due.class === "rest") this.#restServed += 1
    let after: number | undefined
    try {
      await this.#serve(due)
    } catch (error) {
      this.#log.error({ err: error, run: due.id }, "a run could not be shown; it is tried again")
      after = due.now + 1000
    }
    // No await before this: whoever finds the run due from here on takes it up anew.
    this.#serving.delete(due.id)
    if (due.class === "rest") this.#restServed -= 1
    if (entry.again) after = due.now
    if (after === undefined) return
    await this.#store.show.showLater(due.id, "cards", after).catch((error: unknown) => {
      this.#log.error({ err: error, run: due.id }, "a run is shown later than it should be")
    })
  }

  /** Makes one call for a run, or finds when the next may be made, or that nothing is missing. */
  async #serve(due: Due): Promise<void> {
    const { show } = this.#store
    const { id, run, revision, now, learnt } = due
    const known = await this.#regain.mended(id, readSlots(due, run.channel), due.restarts)
    const slots = due.served ? await this.#suspected(id, known, now) : known
    const seen: Seen = { run, slots, now }
    const { acts, done } = await this.#missing(seen)
    await close(seen, done, this.#desk)
    if (acts.length === 0) {
      const lookIn = run.asks.length > 0 ? this.#lookEvery : undefined
      if (!(await show.leaveShow(id, revision, learnt, lookIn))) await show.showLater(id, "cards", now, ENDS)
      return
    }
    const isCrowded = (): boolean => this.#restServed >= REST_AT_ONCE
    const choice = await choose(this.#pace, acts, { now, lane: due.class, isCrowded })
    if ("act" in choice) {
      await deliver(seen, choice.act, this.#desk)
      await show.showLater(id, choice.act.lane, now, ENDS)
    } else if (!(await show.showLater(id, choice.lane, choice.at, { revision, ...ENDS }))) {
      await show.showLater(id, "cards", now, ENDS)
    }
  }

  /** Whoever served it last did not come to an end: what they may have sent is not known, and may come late. */
  async #suspected(id: string, slots: Slots, now: number): Promise<Slots> {
    const unsure = suspected(slots, now, this.#desk.lateFor)
    for (const { name, sent } of unsure) {
      await this.#store.show.recordSent(id, name, JSON.stringify(sent), sent.late?.until)
    }
    return new Map([...slots, ...unsure.map((slot) => [slot.name, slot] as const)])
  }

  async #missing(seen: Seen): Promise<Missing> {
    const { run, slots } = seen
    const texts = new Map<string, string>()
    const load = async (fields: string[]): Promise<void> => {
      const found = await this.#store.texts(run.id, fields)
      for (const [index, field] of fields.entries()) {
        const text = found[index]
        if (text !== undefined) texts.set(field, text)
      }
    }
    await load(archivedTexts(run, slots))
    await load(neededTexts(run, slots, texts))
    const names = await this.#names.of(namedIn(run))
    // Not as of the last pulse: whoever pauses has every run shown anew at once.
    const paused = run.ended ? false : (await this.#store.pause.read()) !== undefined
    const around = { ...this.#around, names, paused, quiet: new Set<string>() }
    const found = missing({ run, slots, texts, around })
    // Who opted out is looked up only where somebody would be pinged.
    const quiet = found.pings.length === 0 ? around.quiet : await this.#store.quiet()
    const isSpared = found.pings.some((id) => quiet.has(id))
    return isSpared ? missing({ run, slots, texts, around: { ...around, quiet } }) : found
  }
}

/** Whom the run's messages may name: all who decide about what is open, and the places where that stands. */
const namedIn = (run: Run): string[] => [
  ...new Set(
    openAsks(run).flatMap((ask) => {
      const { cards, escalate } = ask.rule
      const channels = [cards, escalate?.channel].filter((channel) => channel !== undefined)
      return [...decidersOf(ask), ...(escalate?.to ?? []), ...channels]
    }),
  ),
]

/** Longer waits are the tick's matter, which comes once a second: too late for whoever waits a second for a turn. */
const SOON = 2500
const soon = (ms: number): number => (ms < SOON ? Math.max(ms, 1) : Infinity)
