/**
 * Carries facts from the outbox to the audit channel: complete, in order, at least once, at Slack's pace. A shard is
 * audited by one process at a time; the cursor in Redis tells the next one where to go on. Knows no Slack method.
 */
import { setTimeout as delay } from "node:timers/promises"
import { sha256 } from "../core/digest.ts"
import type { Fact } from "../core/fact.ts"
import type { Run, Step } from "../core/run.ts"
import type { Log } from "../log.ts"
import type { Outgoing } from "../store/outbox.ts"
import type { Store } from "../store/store.ts"
import { checkpointOf, lineOf } from "./lines.ts"
import type { Reached } from "./lines.ts"

/** What came of posting a message of lines. */
export type Posted = { kind: "posted" } | { kind: "limited"; retryAfterMs: number } | { kind: "failed"; error: string }

/** The audit channel: whoever implements it makes a message of the lines, in which nothing is parsed. */
export interface AuditChannel {
  post(lines: readonly string[]): Promise<Posted>
  /** Whether args may be read there. */
  showsArgs(): Promise<boolean>
}

export interface AuditOptions {
  store: Store
  owner: string
  log: Log
  /** Without one there is no outbox: facts go to the log alone. */
  channel: AuditChannel | undefined
  /** ms between two messages. */
  every?: number
}

export interface Audit {
  /** This process committed a step: its facts are logged, and are on their way to the channel. */
  committed(id: string, step: Step): void
  /** What a look at Redis found. */
  tick(seen: { outbox: number }): void
  stop(): Promise<void>
}

/** Facts in one message: with a checkpoint and the longest lines it still fits. */
const BATCH = 7
const LEASE = 30_000
const EVERY = 1100
/** A checkpoint stands behind every so many lines. */
const CHECKPOINT_EVERY = 50
/** How long to wait after a failure, ms: a channel that is gone or closed needs a person. */
const FAILED_AGAIN = 15_000

/** Starts carrying. The caller ticks it once a second. */
export function startAudit({ store, owner, log, channel, every = EVERY }: AuditOptions): Audit {
  const journal = log.child({}, { level: "info" })
  const shards = channel
    ? Array.from({ length: store.shards }, (_, shard) => new ShardAudit({ store, owner, log, channel, every }, shard))
    : []
  return {
    committed(_id, { facts }) {
      for (const fact of facts) journal.info({ fact }, "fact")
      if (facts.length > 0) for (const shard of shards) shard.wake()
    },
    tick({ outbox }) {
      if (outbox > 0) for (const shard of shards) shard.wake()
    },
    async stop() {
      await Promise.all(shards.map((shard) => shard.stop()))
    },
  }
}

type Parts = Required<Omit<AuditOptions, "channel">> & { channel: AuditChannel }

class ShardAudit {
  readonly #parts: Parts
  readonly #shard: number
  readonly #stopping = new AbortController()
  #working: Promise<void> | undefined
  /** Not before this by `performance.now()`: the pace, or Slack's own wish. */
  #notBefore = 0
  #complained = ""

  constructor(parts: Parts, shard: number) {
    this.#parts = parts
    this.#shard = shard
  }

  wake(): void {
    if (this.#stopping.signal.aborted) return
    this.#working ??= this.#work()
      .catch((error: unknown) =>
        this.#parts.log.error({ err: error }, "the audit stumbled; going on with the next tick"),
      )
      .finally(() => {
        this.#working = undefined
      })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#working
    // Whoever comes next need not wait for the lease to lapse.
    await this.#parts.store.lease(this.#shard, "audit", this.#parts.owner, 1).catch(() => false)
  }

  /** Batch after batch, until the outbox is empty or another process has the lease. */
  async #work(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const wait = this.#notBefore - performance.now()
      // Cut short by stop(), and then the loop ends.
      if (wait > 0) await delay(wait, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted || !(await this.#batch())) return
    }
  }

  /** One message. False when there is nothing (for us) to do. */
  async #batch(): Promise<boolean> {
    const { store, owner, channel, every } = this.#parts
    if (!(await store.lease(this.#shard, "audit", owner, LEASE))) return false
    const { cursor = "", count = "0", root = "" } = await store.outbox.audit(this.#shard)
    const entries = await store.outbox.read(this.#shard, cursor, BATCH)
    const last = entries.at(-1)
    if (!last) return false
    const { lines, reached } = await this.#linesOf(entries, { count: Number(count), root })
    const posted = await channel.post(lines)
    this.#notBefore = performance.now() + every
    if (posted.kind !== "posted") return this.#putOff(posted)
    this.#complained = ""
    const fields = { cursor: last.entry, count: String(reached.count), root: reached.root }
    return store.outbox.advance(this.#shard, owner, fields, last.entry)
  }

  async #linesOf(entries: readonly Outgoing[], from: Reached): Promise<{ lines: string[]; reached: Reached }> {
    const lines: string[] = []
    let { count, root } = from
    const showsArgs = await this.#parts.channel.showsArgs()
    for (const { run, fact: text } of entries) {
      const fact = JSON.parse(text) as Fact
      count += 1
      root = sha256(root + fact.hash)
      lines.push(`#${count} · ${lineOf(fact, showsArgs ? await this.#argsOf(run, fact) : undefined)}`)
      if (count % CHECKPOINT_EVERY === 0) lines.push(checkpointOf(this.#shard, { count, root }))
    }
    return { lines, reached: { count, root } }
  }

  /** Args stand on the line that asks or starts; the others have the digest. */
  async #argsOf(run: Run["id"], { call, what }: Fact): Promise<string | undefined> {
    if (call === undefined || (what !== "asked" && what !== "started" && what !== "settled")) return undefined
    const [args] = await this.#parts.store.texts(run, [`args:${call}`])
    return args
  }

  #putOff(posted: Exclude<Posted, { kind: "posted" }>): boolean {
    const limited = posted.kind === "limited"
    this.#notBefore = performance.now() + (limited ? posted.retryAfterMs : FAILED_AGAIN)
    if (!limited && this.#complained !== posted.error) {
      this.#complained = posted.error
      this.#parts.log.error(
        { error: posted.error },
        "the audit channel takes no lines; they wait in Redis until it does",
      )
    }
    return true
  }
}
