/**
 * The audit: takes every fact from the outbox to the audit channel as a numbered line, in order and at least once, and
 * goes on where it, or another process, stopped. It knows no Slack: how lines are posted is given.
 */
import type { Fact } from "../core/fact.ts"
import type { Step } from "../core/run.ts"
import type { Log } from "../log.ts"
import { Duty } from "../store/duty.ts"
import type { Outgoing } from "../store/outbox.ts"
import type { Peek, Store } from "../store/store.ts"
import { besideOf } from "./beside.ts"
import { fold } from "./journal.ts"
import { bareLine, checkpointLine, closedLine, lineOf, plainLine, type Beside } from "./line.ts"

/** What came of posting a message of lines. `content`: these very lines are refused, others may not be. */
export type Posted =
  | { kind: "posted" }
  /** Not now: Slack, or what waits in front of it, takes no more for a while. */
  | { kind: "limited"; retryAfterMs: number }
  /** `closed`: it takes nothing until somebody lets us in again. */
  | { kind: "failed"; error: string; content: boolean; closed?: boolean }

/** The audit channel: whoever implements it makes a message of the lines, in which nothing is parsed. */
export interface AuditChannel {
  /** Called once per try; resolves in less than `LEASE`. */
  post(lines: readonly string[]): Promise<Posted>
  /** Whether args and prompts may be read there, masked; asked again and again, since a channel can be opened. */
  showsArgs(): Promise<boolean>
  /** Tells those who can mend it that the channel is closed, and why. */
  closed(error: string): Promise<void>
}

export interface AuditOptions {
  store: Store
  /** Names this process in the lease. */
  owner: string
  log: Log
  /** Without one there is no outbox: facts go to the log alone. */
  channel: AuditChannel | undefined
  /** The paths in a tool's args that any rule for it masks. */
  masksOf?: (tool: string) => readonly string[]
  /** ms from one message to the next: lines that come meanwhile go together. */
  every?: number
  /** Lines from one checkpoint to the next. */
  checkpointEvery?: number
}

export interface Audit {
  /** This process committed a step: its facts are logged, and are on their way to the channel. */
  committed(id: string, step: Pick<Step, "facts">): void
  /** What a look at Redis found. */
  tick(peeked: Pick<Peek, "outbox">): void
  stop(): Promise<void>
}

export function startAudit(options: AuditOptions): Audit {
  const { store, channel } = options
  // Facts are logged whatever else is wanted in the log.
  const journal = options.log.child({}, { level: "info" })
  const shards = channel
    ? Array.from({ length: store.shards }, (_, shard) => new ShardAudit({ ...options, channel }, shard))
    : []
  return {
    committed(_, { facts }) {
      for (const fact of facts) journal.info({ fact }, "fact")
      if (facts.length > 0) shards.forEach((shard) => shard.wake())
    },
    tick({ outbox }) {
      if (outbox > 0) shards.forEach((shard) => shard.wake())
    },
    async stop() {
      await Promise.all(shards.map((shard) => shard.stop()))
    },
  }
}

const LEASE = 15_000
/** What posting may take, ms; the lease must outlast it. */
const POSTING = 12_000
/** Lines that come within so long of a message go together. How fast messages may follow is for the channel to say. */
const EVERY = 1200
/** The longest that it is not looked whether the channel takes lines again, ms. */
const LONGEST = 60_000
const CHECKPOINT_EVERY = 100
const CHECKPOINT_AFTER = 3_600_000
/** The most that goes into one message: facts, and what their lines cost of Slack's limits. */
const LINES = 20
const ROOM = 7500

/** How far a shard's audit came; stored as text fields. */
export interface Reached {
  /** The last entry of the outbox that was posted. */
  cursor: string
  lines: number
  root: string
  /** Lines at the last checkpoint, the root by then, and when that was. */
  checkpoint: number
  checkpointRoot: string
  checkpointAt: number
  /** Since when the channel has been closed, ms, and why; 0: it is not. */
  closedAt: number
  closedWhy: string
}

interface Batch {
  lines: string[]
  from: Reached
  /** What the lines tell, by their numbers. */
  told: { number: string; fact: Fact }[]
  reached: Reached
}

/** After a refusal of what lines hold: one at a time, then the bare one, then one that says nothing but its number. */
type Caution = "none" | "single" | "bare" | "plain"
const MORE_CAUTION: Record<Caution, Caution> = { none: "single", single: "bare", bare: "plain", plain: "plain" }
/** So often a line that says nothing is tried before the others go on without it. */
const PLAIN_TRIES = 3

type Parts = AuditOptions & { channel: AuditChannel }

class ShardAudit {
  readonly #options: Parts
  readonly #channel: AuditChannel
  readonly #store: Store
  readonly #shard: number
  readonly #duty: Duty
  #caution: Caution = "none"
  #refusals = 0
  #fails = 0

  constructor(options: Parts, shard: number) {
    this.#options = options
    this.#channel = options.channel
    this.#store = options.store
    this.#shard = shard
    const { owner, log } = options
    this.#duty = new Duty({
      lease: (ms) => options.store.lease(shard, "audit", owner, ms),
      length: LEASE,
      spare: POSTING,
      next: () => this.#next(),
      // Facts come in groups; a little patience makes one message of them.
      patient: true,
      log,
      interrupted: { about: { shard }, words: "the audit was interrupted; it goes on by itself" },
    })
  }

  wake(): void {
    this.#duty.wake()
  }

  async stop(): Promise<void> {
    await this.#duty.stop()
    await this.#duty.letGo().catch(() => undefined)
  }

  /** Posts the next lines. Returns how long to wait before the next message, ms; Infinity: until there are more. */
  async #next(): Promise<number> {
    if (!(await this.#duty.leased())) return Infinity
    const reached = reachedOf(await this.#store.outbox.audit(this.#shard))
    const count = this.#caution === "none" ? LINES : 1
    const entries = await this.#store.outbox.read(this.#shard, reached.cursor, count)
    if (entries.length === 0) return Infinity
    const batch = await this.#batch(reached, entries)
    return this.#posted(batch, await this.#channel.post(batch.lines))
  }

  async #posted(batch: Batch, posted: Posted): Promise<number> {
    const { log, every = EVERY } = this.#options
    if (posted.kind === "posted") {
      await this.#passed(batch.reached, "none")
      return every
    }
    if (posted.kind === "limited") return Math.min(Math.max(posted.retryAfterMs, 1), LONGEST)
    if (posted.content) return this.#refused(batch, posted.error)
    this.#fails += 1
    log.error(
      { shard: this.#shard, error: posted.error },
      "the audit channel takes no lines; nothing is lost, it is tried again",
    )
    if (posted.closed && batch.from.closedAt === 0) await this.#closed(batch.from, posted.error)
    return Math.min(1000 * 2 ** Math.min(this.#fails, 6), LONGEST)
  }

  /** Those who can mend it are told once, whoever posts next; what is noted is told in the channel when it is open again. */
  async #closed(from: Reached, why: string): Promise<void> {
    const { owner } = this.#options
    const noted = fieldsOf({ ...from, closedAt: await this.#store.now(), closedWhy: why })
    if (await this.#store.outbox.advance(this.#shard, owner, noted)) await this.#channel.closed(why)
  }

  /** These very lines are refused. A number is never left out without an error in the log that has its fact. */
  async #refused({ told, reached }: Batch, error: string): Promise<number> {
    const { log, every = EVERY } = this.#options
    const about = { shard: this.#shard, error }
    if (this.#caution !== "plain") {
      this.#caution = MORE_CAUTION[this.#caution]
      if (this.#caution !== "plain") log.warn(about, "lines of the audit were refused; they go one by one")
      else
        told.forEach((one) => log.error({ ...about, ...one }, "a line of the audit can't be shown: the fact is here"))
      return every
    }
    this.#refusals += 1
    if (this.#refusals < PLAIN_TRIES) return 1000 * this.#refusals
    told.forEach((one) =>
      log.error({ ...about, ...one }, "a line of the audit is not in the channel: the fact is here"),
    )
    await this.#passed(reached, "single")
    return every
  }

  /** Goes on behind what was posted, or given up. */
  async #passed(reached: Reached, caution: Caution): Promise<void> {
    this.#fails = 0
    this.#refusals = 0
    this.#caution = caution
    const { owner } = this.#options
    const kept = await this.#store.outbox.advance(this.#shard, owner, fieldsOf(reached), reached.cursor)
    if (!kept) this.#duty.lost()
  }

  /** As many lines as fit into one message, and how far they bring us. */
  async #batch(from: Reached, entries: readonly Outgoing[]): Promise<Batch> {
    const showsArgs = await this.#channel.showsArgs().catch(() => false)
    const batch: Batch = { lines: [], told: [], from, reached: from }
    let room = ROOM
    for (const { entry, run, fact: text } of entries) {
      const fact = JSON.parse(text) as Fact
      const lines = batch.reached.lines + 1
      const number = this.#store.shards === 1 ? String(lines) : `${this.#shard}.${lines}`
      const line = await this.#line(number, fact, () => this.#beside(run, fact, showsArgs))
      room -= cost(line)
      if (room < 0 && batch.lines.length > 0) break
      batch.lines.push(line)
      batch.told.push({ number, fact })
      batch.reached = { ...batch.reached, cursor: entry, lines, root: fold(batch.reached.root, fact) }
    }
    // A line that may be refused goes alone, so that it is clear which one was.
    return this.#caution === "none" ? this.#withCheckpoint(this.#withGap(batch)) : batch
  }

  /** What the channel did not take while it was closed comes after the word that it was. */
  #withGap(batch: Batch): Batch {
    const { closedAt, closedWhy } = batch.from
    if (closedAt === 0) return batch
    const lines = [closedLine(this.#shard, closedAt, closedWhy), ...batch.lines]
    return { ...batch, lines, reached: { ...batch.reached, closedAt: 0, closedWhy: "" } }
  }

  async #line(number: string, fact: Fact, beside: () => Promise<Beside>): Promise<string> {
    if (this.#caution === "plain") return plainLine(number)
    return this.#caution === "bare" ? bareLine(number, fact) : lineOf(number, fact, await beside())
  }

  async #withCheckpoint(batch: Batch): Promise<Batch> {
    const { lines, reached } = batch
    const now = await this.#store.now()
    if (reached.checkpointAt === 0) return { ...batch, reached: { ...reached, checkpointAt: now } }
    const many = reached.lines - reached.checkpoint >= (this.#options.checkpointEvery ?? CHECKPOINT_EVERY)
    if (!many && now - reached.checkpointAt < CHECKPOINT_AFTER) return batch
    return {
      ...batch,
      lines: [...lines, checkpointLine(this.#shard, reached.lines, reached.root)],
      reached: { ...reached, checkpoint: reached.lines, checkpointRoot: reached.root, checkpointAt: now },
    }
  }

  async #beside(run: string, fact: Fact, showsArgs: boolean): Promise<Beside> {
    if (!showsArgs) return {}
    const texts = await besideOf(this.#store, run, fact)
    return texts.args === undefined ? texts : { ...texts, masks: this.#options.masksOf?.(fact.tool ?? "") ?? [] }
  }
}

/** What a line costs of Slack's limits at most, which may count it escaped and as JSON. */
const cost = (line: string): number =>
  JSON.stringify(line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")).length + 100

/** How far a shard's audit came, as it was stored. */
export function reachedOf(fields: Record<string, string>): Reached {
  const number = (name: string): number => Number(fields[name] ?? 0)
  return {
    cursor: fields["cursor"] ?? "",
    lines: number("lines"),
    root: fields["root"] ?? "",
    checkpoint: number("checkpoint"),
    checkpointRoot: fields["checkpointRoot"] ?? "",
    checkpointAt: number("checkpointAt"),
    closedAt: number("closedAt"),
    closedWhy: fields["closedWhy"] ?? "",
  }
}

const fieldsOf = ({
  cursor,
  lines,
  root,
  checkpoint,
  checkpointRoot,
  checkpointAt,
  closedAt,
  closedWhy,
}: Reached): Record<string, string> => ({
  cursor,
  lines: String(lines),
  root,
  checkpoint: String(checkpoint),
  checkpointRoot,
  checkpointAt: String(checkpointAt),
  closedAt: String(closedAt),
  closedWhy,
})
