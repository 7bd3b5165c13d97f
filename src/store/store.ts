/**
 * The store: runs in Redis, each changed by one atomic commit at a time, and claimed by one worker at a time. It knows no
 * approval, no model and no Slack: what a run becomes is decided by the transitions it is given.
 */
import { FORMAT, indexesOf } from "../core/run.ts"
import type { Run, Step } from "../core/run.ts"
import type { Server } from "./address.ts"
import { type Broken, type Claim, claimed, type Claims } from "./claimed.ts"
import { Clock } from "./clock.ts"
import { scoreOf } from "./commit.ts"
import { Connection, errorOf, faultOf, type Log, type Script } from "./connection.ts"
import { Drawer } from "./drawer.ts"
import { fieldOf, unpacked } from "./facts.ts"
import { mustFit } from "./fit.ts"
import { healthOf, type Health } from "./health.ts"
import { admit, fullOne, type Full, type Limit } from "./limits.ts"
import { drawerKey, MAX_SHARDS, paceKey, quietKey, shardKeys, shardOf, type Shard } from "./keys.ts"
import { minter } from "./mint.ts"
import { Outbox } from "./outbox.ts"
import { overdue, type Overdue } from "./overdue.ts"
import type { Taker } from "./lease.ts"
import { Pause } from "./pause.ts"
import { together, type Peek } from "./peek.ts"
import { RunQueue } from "./queue.ts"
import { Sender } from "./sender.ts"
import { earlier, Show } from "./show.ts"
import { hungAt, liveIn } from "./threads.ts"
import { ASIDE, readable, runFrom, Unreadable, UnreadableRuns } from "./unreadable.ts"
import type { Applied, ApplyOptions, Left, Loaded, Transition } from "./waiting.ts"

export type { Claim, Claims } from "./claimed.ts"
export type { Needs } from "./lease.ts"
export type { Peek } from "./peek.ts"
export type { Applied, ApplyOptions, Change, Left, Loaded, Transition, Unapplied } from "./waiting.ts"

export interface StoreOptions extends Server {
  /** What all keys begin with; bots with different prefixes share a Redis without meeting. */
  prefix: string
  /** How many shards; fixed in Redis at the first start. */
  shards: number
  /** How many replicas must have a commit that asks for it; 0: none. */
  confirm: number
  /** Whether facts go to the outbox: only when somebody reads it. */
  outbox: boolean
  log?: Log
  /** After each commit of this process, with the run as it is then: whoever works or shows need not look for it. */
  onCommit?: (id: string, step: Step, at: Left) => void
}

/** How long opening a store tries to reach Redis, ms. */
const OPEN_WITHIN = 10_000

export class Store {
  /** How many shards there are; each is shown and audited by one process at a time. */
  readonly shards: number
  readonly show: Show
  readonly outbox: Outbox
  readonly pause: Pause
  /** What belongs to no run. */
  readonly drawer: Drawer
  readonly #connection: Connection
  readonly #confirming: Connection | undefined
  readonly #keys: readonly Shard[]
  readonly #quiet: string
  readonly #queue: RunQueue
  readonly #mint: () => string
  readonly #clock = new Clock()
  readonly #audited: "1" | ""
  readonly #unreadable: UnreadableRuns
  #taker: () => Taker | undefined = () => undefined
  /** The shard where claiming begins. */
  #from = 0

  private constructor(options: StoreOptions, connection: Connection, confirming: Connection | undefined) {
    this.shards = options.shards
    this.#connection = connection
    this.#confirming = confirming
    this.#keys = Array.from({ length: options.shards }, (_, shard) => shardKeys(options.prefix, shard))
    this.#quiet = quietKey(options.prefix)
    this.#mint = minter()
    this.#audited = options.outbox ? "1" : ""
    const keysOf = (id: string) => this.#keysOf(id)
    this.#unreadable = new UnreadableRuns(options.log, (id) => keysOf(id).run + id)
    this.show = new Show(connection, {
      shards: this.#keys,
      keysOf,
      pace: paceKey(options.prefix),
      unreadable: this.#unreadable,
    })
    this.outbox = new Outbox(connection, this.#keys)
    this.pause = new Pause(connection, this.#keys)
    this.drawer = new Drawer(connection, drawerKey(options.prefix))
    this.#queue = new RunQueue({
      connection,
      sender: new Sender(connection, confirming && { connection: confirming, count: options.confirm }),
      outbox: options.outbox,
      keysOf,
      load: (id, within) => this.#read(keysOf(id).run + id, within),
      texts: (id, fields) => this.texts(id, fields),
      transcript: (id) => this.transcript(id),
      mint: this.#mint,
      clock: this.#clock,
      onCommit: options.onCommit ?? (() => {}),
      taker: () => this.#taker(),
    })
  }

  /**
   * Connects, and fixes the number of shards at the first start. Rejects with a remedy when Redis can't be reached, is too
   * old, or was set up with another number of shards.
   */
  static async open(options: StoreOptions): Promise<Store> {
    const { prefix, shards, log } = options
    if (!Number.isInteger(shards) || shards < 1 || shards > MAX_SHARDS) {
      throw new RangeError(`redis.shards must be a whole number from 1 to ${MAX_SHARDS}`)
    }
    if (prefix === "" || /[{}\s]/u.test(prefix))
      throw new RangeError("redis.prefix must not be empty, nor hold blanks or braces")
    const connection = new Connection(options, "main", log)
    const confirming = options.confirm > 0 ? new Connection(options, "confirm", log) : undefined
    const store = new Store(options, connection, confirming)
    try {
      await connection.ready(OPEN_WITHIN)
      await confirming?.ready(OPEN_WITHIN)
      await mustFit(connection, prefix, shards)
    } catch (error) {
      await store.close()
      throw error
    }
    return store
  }

  /** Lets go of Redis. Leases lapse by themselves. */
  async close(): Promise<void> {
    await Promise.all([this.#connection.close(), this.#confirming?.close()])
  }

  health(): Promise<Health> {
    return healthOf(this.#connection)
  }

  /** Redis' clock, ms; in a cluster that of the node with the first shard. */
  async now(): Promise<number> {
    const [seconds, micros] = await this.#connection.surely(() => this.#connection.at(this.#quiet).time())
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  /** Reads a run; undefined when there is none (any text may be asked for). Rejects with NewerFormat or Unreadable. */
  async load(id: string): Promise<Loaded | undefined> {
    const shard = shardOf(id, this.shards)
    const keys = shard === undefined ? undefined : this.#keys[shard]
    if (!keys) return undefined
    const { run, revision, now } = await this.#read(keys.run + id)
    return run && { run, revision, now, seenAt: performance.now() }
  }

  /** Texts that stand beside a run's state, by field name. Rejects with Unreadable where its key holds something else. */
  async texts(id: string, fields: readonly string[]): Promise<(string | undefined)[]> {
    if (fields.length === 0) return []
    const key = this.#keysOf(id).run + id
    const texts = await this.#connection
      .surely(() => this.#connection.at(key).hmget(key, ...fields))
      .catch((error: unknown) => {
        throw errorOf(error).message.startsWith("WRONGTYPE") ? new Unreadable("the run can't be read in Redis") : error
      })
    return texts.map((text) => text ?? undefined)
  }

  /** The transcript, one JSON text per message. */
  transcript(id: string): Promise<string[]> {
    const key = this.#keysOf(id).log + id
    return this.#connection.surely(() => this.#connection.at(key).lrange(key, 0, -1))
  }

  /** All facts of a run, as JSON texts; with the run as the caller read it, those that it had then. */
  async facts(id: string, known?: Run): Promise<string[]> {
    const run = known ?? (await this.load(id))?.run
    const fields = Array.from({ length: run?.facts.n ?? 0 }, (_, index) => fieldOf(index + 1))
    return unpacked(id, await this.texts(id, fields))
  }

  /** Gives a run that is about to begin its place among those that may be at once; else tells which limit is reached. */
  admit(id: string, limits: readonly Limit[]): Promise<Full | undefined> {
    return admit(this.#connection, this.#keys, { id, keys: this.#keysOf(id), limits })
  }

  /** Which of these lists has no room for a run that goes on; two at once may both find the last place. */
  fullOne(limits: readonly Limit[]): Promise<Full | undefined> {
    return fullOne(this.#connection, this.#keys, limits)
  }

  /** The run that lives in a thread, if one does. Rejects as `load` does. */
  async inThread(channel: string, ts: string): Promise<Loaded | undefined> {
    const runs = await Promise.all((await hungAt(this.#connection, this.#keys, channel, ts)).map((id) => this.load(id)))
    return liveIn(runs, channel, ts)
  }

  /** The ids of all runs, shard by shard, in no order: each is on the agenda until it is deleted. */
  async *runs(): AsyncGenerator<string, void, undefined> {
    for (const { agenda } of this.#keys) yield* this.#runsOn(agenda)
  }

  async *#runsOn(agenda: string): AsyncGenerator<string, void, undefined> {
    const seen = new Set<string>()
    for (let cursor = ""; cursor !== "0";) {
      const from = cursor || "0"
      const [next, entries] = await this.#connection.surely(() =>
        this.#connection.at(agenda).zscan(agenda, from, "COUNT", 500),
      )
      // A scan may tell of an entry twice.
      for (const [index, id] of entries.entries()) {
        if (index % 2 === 1 || seen.has(id)) continue
        seen.add(id)
        yield id
      }
      cursor = next
    }
  }

  /**
   * Asks a transition what becomes of a run and commits that, in one atomic step. The transition may be asked several
   * times: when others commit first, or when a deadline passes meanwhile. It must recognise its own cause in a state, and
   * then yield no step, because a commit whose reply was lost may have been overtaken. What it throws, this rejects with.
   */
  apply<O>(id: string, transition: Transition<O>, options: ApplyOptions = {}): Promise<Applied<O>> {
    return this.#queue.apply(id, transition, options)
  }

  /**
   * From now on commits that leave something to do now take the lease for whoever `taker` names, if nobody has it; so no
   * claim is needed. `onCommit` is told.
   */
  takeFor(taker: () => Taker | undefined): void {
    this.#taker = taker
  }

  /** Leases the run that has been due longest, with the transcript when a model turn is next. Never waits for one. */
  async claim(owner: string, leaseMs: number): Promise<Claim> {
    const { runs, now, next } = await this.claims(owner, leaseMs, 1)
    return runs[0] ? { kind: "run", ...runs[0] } : { kind: "idle", now, next }
  }

  /** Leases up to `atMost` runs in one step, of one shard; each in its turn. */
  async claims(owner: string, leaseMs: number, atMost: number): Promise<Claims> {
    let idle: Claims = { runs: [], now: 0, next: undefined }
    for (let i = 0; i < this.shards; i++) {
      const shard = (this.#from + i) % this.shards
      const claims = await this.#claimFrom(shard, owner, leaseMs, atMost)
      if (claims.runs.length > 0) {
        // One shard's runs must not hold up those of the others.
        this.#from = (shard + 1) % this.shards
        return this.shards === 1 ? claims : { ...claims, next: claims.now }
      }
      idle = { runs: [], now: claims.now, next: earlier(idle.next, claims.next) }
    }
    return idle
  }

  /** Runs of which an open ask is overdue or to be reminded of, over all shards, up to `atMost` at a time. */
  overdue(atMost: number): AsyncGenerator<Overdue, void, undefined> {
    return overdue(this.#connection, this.#keys, this.#clock, atMost)
  }

  /** Makes a lease last `leaseMs` from now on. */
  async renew(id: string, owner: string, leaseMs: number): Promise<{ held: boolean; revision: number; now: number }> {
    const keys = this.#keysOf(id)
    const reply = await this.#do("renew", [keys.run + id, keys.agenda, id, owner, String(leaseMs)])
    const [held, now, revision] = reply as [number, number, number]
    return { held: held === 1, revision, now }
  }

  /**
   * Deletes all keys of a run together. False when it is needed, and while something of it is still to be shown or audited: it
   * is leased to nobody then, and due again in a minute.
   */
  async remove(id: string, isNeeded: (run: Run) => boolean = () => false): Promise<boolean> {
    const keys = this.#keysOf(id)
    for (;;) {
      const { run, revision } = await this.#read(keys.run + id)
      // Somebody may have said something in it since it was found to be over.
      if (run && isNeeded(run)) return false
      const indexes = run ? [...indexesOf(run).keys()] : []
      const ofRun = [keys.run + id, keys.log + id, keys.show + id]
      const ofShard = [keys.agenda, keys.cards, keys.rest, keys.outbox, keys.index, keys.late]
      const reply = await this.#do("remove", [...ofRun, ...ofShard, id, String(revision), this.#audited, ...indexes])
      if (reply !== "moved") return reply === "removed"
    }
  }

  /** The newest runs of several indexes, each run once, over all shards. Those of a newer format are left out. */
  async list(indexes: readonly string[], limit: number): Promise<Loaded[]> {
    if (indexes.length === 0 || limit < 1) return []
    const found: { score: number; loaded: Loaded }[] = []
    const replies = await Promise.all(
      this.#keys.map((keys) => this.#do("list", [keys.index, keys.run, String(limit), ...indexes])),
    )
    for (const reply of replies) {
      const [now, ...entries] = reply as [number, ...[string, number, string][]]
      for (const [score, revision, state] of entries) {
        const run = readable(state)
        if (run) found.push({ score: Number(score), loaded: { run, revision, now, seenAt: performance.now() } })
      }
    }
    return found
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ loaded }) => loaded)
  }

  /** Whether anything is to be done, over all shards: one command each. */
  async peek(): Promise<Peek> {
    const replies = await Promise.all(
      this.#keys.map(({ agenda, cards, rest, outbox, pause, looks, late }) =>
        this.#do("peek", [agenda, cards, rest, outbox, pause, looks, late]),
      ),
    )
    const seen = together(replies)
    this.#clock.saw(seen.now)
    return seen
  }

  /** The users who want no pings, by id. */
  async quiet(): Promise<Set<string>> {
    return new Set(await this.#connection.surely(() => this.#connection.at(this.#quiet).smembers(this.#quiet)))
  }

  /** Notes whether a user wants no pings. */
  async setQuiet(user: string, quiet: boolean): Promise<void> {
    const set = () => this.#connection.at(this.#quiet)
    await this.#connection.surely(() => (quiet ? set().sadd(this.#quiet, user) : set().srem(this.#quiet, user)))
  }

  /**
   * Gives a lease back without changing the run, due again at `at` (ms). When the run moved on since `revision`, it is due
   * when its newest state says.
   */
  async giveBack(id: string, owner: string, { revision, at }: { revision: number; at: number }): Promise<void> {
    const keys = this.#keysOf(id)
    await this.#do("release", [keys.run + id, keys.agenda, id, owner, String(revision), scoreOf(at)])
  }

  /** Takes or renews a lease on what one process alone may do in a shard (`show`, `audit`). False: another has it. */
  async lease(shard: number, what: string, owner: string, ms: number): Promise<boolean> {
    const keys = this.#keys[shard]
    if (!keys) throw new RangeError(`there is no shard ${shard}`)
    return (await this.#do("lease", [keys.lease + what, owner, String(ms)])) === 1
  }

  async #claimFrom(shard: number, owner: string, leaseMs: number, atMost: number): Promise<Claims> {
    const keys = this.#keys[shard]
    if (!keys) return { runs: [], now: 0, next: undefined }
    const limits = [owner, String(leaseMs), String(FORMAT), String(atMost)]
    const args = [keys.agenda, keys.run, keys.log, ...limits, this.#mint()]
    let lost = ""
    const reply = await this.#connection.surely(() =>
      this.#connection.run("claim", [...args, lost, String(ASIDE)]).catch((error: unknown) => {
        if (faultOf(error) === "lost") lost = "1"
        throw error
      }),
    )
    const { broken, ...claims } = claimed(reply)
    this.#clock.saw(claims.now)
    for (const one of broken) this.#setAside(one, owner, claims.now + ASIDE)
    return claims
  }

  /** Its lease is given back until then; should that fail, it lapses by itself. */
  #setAside(broken: string | Broken, owner: string, at: number): void {
    this.#unreadable.tell(typeof broken === "string" ? broken : broken.id)
    if (typeof broken === "string") return
    this.giveBack(broken.id, owner, { revision: broken.revision, at }).catch(() => {})
  }

  async #read(key: string, within?: number): Promise<{ run: Run | undefined; revision: number; now: number }> {
    const reply = await this.#connection.surely(() => this.#connection.run("load", [key]), within)
    const [now, revision, state] = reply as [number, number, string | null]
    this.#clock.saw(now)
    if (revision < 0) throw new Unreadable("the run can't be read in Redis")
    return { run: revision === 0 ? undefined : runFrom(state), revision, now }
  }

  #do(script: Script, args: readonly string[]): Promise<unknown> {
    return this.#connection.surely(() => this.#connection.run(script, args))
  }

  #keysOf(id: string): Shard {
    const shard = shardOf(id, this.shards)
    const keys = shard === undefined ? undefined : this.#keys[shard]
    if (!keys) throw new RangeError(`${JSON.stringify(id)} is not the id of a run`)
    return keys
  }
}
