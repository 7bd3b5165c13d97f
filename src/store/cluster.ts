/**
 * Which node of a Redis Cluster has which key, and a connection to each node that has any. It follows the cluster when
 * told to look again; it sends no command of anybody's, so none is sent a second time behind their back.
 */
import { setTimeout as delay } from "node:timers/promises"
import type { Redis } from "ioredis"
import type { Host } from "./address.ts"

/** Slots of a cluster. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/ */
const SLOTS = 16_384
/** The least time from one look at the cluster to the next, ms: while it has no primary, many ask for one. */
const LOOK_EVERY = 200
/** How long a node may take to say which slots are whose, ms. */
const LOOK_WITHIN = 2000

/** Which slots one node has. */
interface Range {
  from: number
  to: number
  node: string
}

export class Cluster {
  readonly #seeds: readonly Host[]
  readonly #connect: (host: Host) => Redis
  /** By `host:port`. */
  readonly #nodes = new Map<string, Redis>()
  #ranges: readonly Range[] = []
  #looking: Promise<void> | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #looks = 0
  /** Why the last node that was asked said nothing. */
  #trouble = ""

  /** `connect` makes a connection that keeps itself up, and begins when it is told to. */
  constructor(seeds: readonly Host[], connect: (host: Host) => Redis) {
    this.#seeds = seeds
    this.#connect = connect
  }

  /** The primary that had the key when last looked; undefined while none is known. */
  at(key: string): Redis | undefined {
    const slot = slotOf(key)
    const range = this.#ranges.find(({ from, to }) => from <= slot && slot <= to)
    return range && this.#nodes.get(range.node)
  }

  /** A connection to each primary that has slots; empty while none is known. */
  primaries(): Redis[] {
    return [...new Set(this.#ranges.map(({ node }) => node))].flatMap((node) => this.#nodes.get(node) ?? [])
  }

  get trouble(): string {
    return this.#trouble
  }

  /** All that are held, whatever they are. */
  all(): Redis[] {
    return [...this.#nodes.values()]
  }

  /** Looks which node has what now; at once, unless it was looked at just before. Never rejects: what is known stays. */
  look(): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_EVERY) return this.#looking ?? Promise.resolve()
    this.#lookedAt = performance.now()
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #look(): Promise<void> {
    for (const seed of this.#seeds) this.#nodeOf(seed)
    const open = this.all().filter(({ status }) => status === "ready")
    // Another one first each time: one that is cut off from the others knows nothing new.
    const first = this.#looks++ % Math.max(open.length, 1)
    for (const node of [...open.slice(first), ...open.slice(0, first)]) {
      const ranges = await rangesFrom(node).catch((error: unknown) => {
        this.#trouble = error instanceof Error ? error.message : String(error)
      })
      if (!ranges || ranges.length === 0) continue
      this.#ranges = ranges.map(({ from, to, host }) => ({ from, to, node: this.#nodeOf(host) }))
      this.#letGo()
      return
    }
  }

  /** Of whoever has no slots any more; seeds stay, for they are asked first when nobody else is left. */
  #letGo(): void {
    const kept = new Set([...this.#ranges.map(({ node }) => node), ...this.#seeds.map(nameOf)])
    for (const [name, node] of this.#nodes) {
      if (kept.has(name)) continue
      this.#nodes.delete(name)
      node.disconnect()
    }
  }

  #nodeOf(host: Host): string {
    const name = nameOf(host)
    let node = this.#nodes.get(name)
    if (!node) this.#nodes.set(name, (node = this.#connect(host)))
    if (node.status === "wait") node.connect().catch(() => {})
    return name
  }
}

const nameOf = ({ host, port = 6379 }: Host): string => `${host}:${port}`

/** Undefined when the node says nothing. Rejects when it refuses to. */
async function rangesFrom(node: Redis): Promise<{ from: number; to: number; host: Host }[] | undefined> {
  const late = delay(LOOK_WITHIN, undefined, { ref: false })
  const slots = await Promise.race([node.cluster("SLOTS"), late])
  return (slots as [number, number, [string | null, number]][] | undefined)?.map(([from, to, [host, port]]) => ({
    from,
    to,
    // A node that doesn't know its own name leaves it out: it is where it was asked.
    host: { host: host === null || host === "" ? (node.options.host ?? "") : host, port },
  }))
}

/** Which slot a key is in: of what stands between its first braces, where something does. */
export function slotOf(key: string): number {
  const [, tag = key] = /^[^{]*\{([^}]+)\}/.exec(key) ?? []
  return crc16(Buffer.from(tag)) % SLOTS
}

/** CRC16-CCITT (XMODEM), as the cluster specification has it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80_00 ? (crc << 1) ^ 0x10_21 : crc << 1
  }
  return crc & 0xff_ff
}
