/**
 * The names of all keys, and which shard a run lives in. Every key of one shard shares a hash tag, so that one script may
 * touch them all also in a cluster. Knows nothing of what the keys hold.
 */
import { createHash } from "node:crypto"

/** Two base-36 digits name the shard. */
export const MAX_SHARDS = 1296

const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"
const RUN_ID = /^r[0-9a-z]{2}[0-9a-hjkmnp-tv-z]{12}$/

/** The keys of one shard; those of a run are made by appending its id. */
export interface Shard {
  /** The common beginning, with the hash tag: `{prefix:0}:` */
  tag: string
  agenda: string
  cards: string
  rest: string
  /** Runs whose messages are compared with Slack, in the order of when. */
  looks: string
  /** The same of runs with messages that a call of unknown outcome may still change, by when it no longer may. */
  late: string
  outbox: string
  audit: string
  /** Set while Countersign is paused: by whom, since when. */
  pause: string
  /** index, lease, run, log, show: what is appended is the name or the run's id. */
  index: string
  lease: string
  run: string
  log: string
  show: string
}

export function shardKeys(prefix: string, shard: number): Shard {
  const tag = `{${prefix}:${shard}}:`
  return {
    tag,
    agenda: `${tag}agenda`,
    cards: `${tag}show:cards`,
    rest: `${tag}show:rest`,
    looks: `${tag}looks`,
    late: `${tag}late`,
    outbox: `${tag}outbox`,
    audit: `${tag}audit`,
    pause: `${tag}pause`,
    index: `${tag}index:`,
    lease: `${tag}lease:`,
    run: `${tag}run:`,
    log: `${tag}log:`,
    show: `${tag}sent:`,
  }
}

/** Set once for all shards, so it is in the first: how many shards there are. */
export const metaKey = (prefix: string): string => `{${prefix}:0}:meta`

/** Slack limits per method and channel, whichever shard a message comes from: one hash for all, in the first. */
export const paceKey = (prefix: string): string => `{${prefix}:0}:pace`

/** Who wants no pings: one set for all shards, in the first. */
export const quietKey = (prefix: string): string => `{${prefix}:0}:quiet`

/** What texts begin with that belong to no run: they are in the first shard. */
export const drawerKey = (prefix: string): string => `{${prefix}:0}:kept:`

/**
 * The id of the run that a command starts: the same for every delivery of one command, since it comes from its team and
 * trigger id alone. It begins with the shard the run lives in.
 */
export function runIdOf(team: string, triggerId: string, shards: number): string {
  const digest = createHash("sha256").update(`${team}\n${triggerId}`).digest()
  const shard = (digest.readUInt32BE(0) % shards).toString(36).padStart(2, "0")
  const tail = Array.from(digest.subarray(4, 16), (byte) => BASE32.charAt(byte & 31))
  return `r${shard}${tail.join("")}`
}

/** The shard that an id names; undefined when no run of this set-up can have that id (people type ids). */
export function shardOf(id: string, shards: number): number | undefined {
  if (!RUN_ID.test(id)) return undefined
  const shard = Number.parseInt(id.slice(1, 3), 36)
  return shard < shards ? shard : undefined
}
