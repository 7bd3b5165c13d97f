/**
 * The show agenda and what Slack was sent of each run, outside the run's revision. Knows no message and no method: what a
 * slot, a copy or a pace key stands for is the caller's matter.
 */
import { FORMAT } from "../core/run.ts"
import type { Run } from "../core/run.ts"
import { scoreOf } from "./commit.ts"
import type { Connection } from "./connection.ts"
import type { Shard } from "./keys.ts"
import { Lately } from "./lately.ts"
import { ASIDE, readable, type UnreadableRuns } from "./unreadable.ts"

/** cards wait for people and come first. */
export type ShowClass = "cards" | "rest"

export interface ToShow {
  id: string
  class: ShowClass
  run: Run
  revision: number
  now: number
  /** Slots that commits owe, by name: their data. */
  owed: Map<string, string>
  /** What was noted as sent, by slot. */
  sent: Map<string, string>
  /** Further copies of a slot's message: by slot, then by the message's ts. */
  copies: Map<string, Map<string, string>>
  /** Pass it on to `leaveShow`. */
  learnt: string
  /** Somebody began to serve it, and has not ended. */
  served: boolean
}

/** A run to be compared with Slack. */
export interface ToLook extends Omit<ToShow, "class"> {
  /** Its place in the line, and when it was due, ms. */
  place: string
  due: number
  /** line: as all that people decide about · late: a call of unknown outcome may have changed something until now. */
  why: "line" | "late"
}

type LookReply =
  | [
      what: "run",
      id: string,
      now: number,
      revision: number,
      state: string,
      fields: string[],
      place: string,
      due: number,
      why: "line" | "late",
    ]
  | [what: "idle", now: number, next: string]

/** What Slack limits together: a steady rate with a small burst. */
export interface Limit {
  key: string
  /** ms from one call to the next, in the long run. */
  every: number
  /** Calls at once after a rest. */
  burst: number
  /** How many of the burst are left to more urgent calls. */
  spare: number
}

export type Sent = Pick<ToShow, "owed" | "sent" | "copies" | "learnt" | "served">

interface Parts {
  shards: readonly Shard[]
  keysOf: (id: string) => Shard
  /** The key of the pace. */
  pace: string
  unreadable: UnreadableRuns
}

export class Show {
  /** What this process noted as sent. */
  readonly lately = new Lately()
  readonly #connection: Connection
  readonly #shards: readonly Shard[]
  readonly #keysOf: (id: string) => Shard
  readonly #pace: string
  readonly #unreadable: UnreadableRuns

  constructor(connection: Connection, { shards, keysOf, pace, unreadable }: Parts) {
    this.#connection = connection
    this.#shards = shards
    this.#keysOf = keysOf
    this.#pace = pace
    this.#unreadable = unreadable
  }

  /** How often Redis was another one, or began anew, since this was opened: it may know less than it had acknowledged. */
  get restarts(): number {
    return this.#connection.restarts
  }

  /** The next run to show of a shard; `next`: when one is due, ms by Redis' clock. One that can't be read is set aside. */
  async showDue(shard: number): Promise<ToShow | { next: number | undefined; now: number }> {
    const keys = this.#keys(shard)
    for (;;) {
      const args = [keys.cards, keys.rest, keys.run, keys.show, String(FORMAT), String(ASIDE)]
      const reply = (await this.#do("showDue", args)) as
        | ["run", string, ShowClass, number, number, string | null, string[]]
        | ["broken", string]
        | ["idle", number, string]
      if (reply[0] === "idle") return { now: reply[1], next: dueAt(reply[2]) }
      const [what, id] = reply
      if (what === "run") {
        const [, , showClass, now, revision, state, fields] = reply
        const run = readable(state)
        if (run) return { id, class: showClass, now, revision, run, ...sentOf(fields) }
        await this.showLater(id, showClass, now + ASIDE)
      }
      this.#unreadable.tell(id)
    }
  }

  /** What is owed and was sent of one run. */
  async shown(id: string): Promise<Sent> {
    const key = this.#keysOf(id).show + id
    const fields = await this.#connection.surely(() => this.#connection.at(key).hgetall(key))
    return sentOf(Object.entries(fields).flat())
  }

  /**
   * Notes what Slack holds in a slot now. `late`: until when a call of unknown outcome may change that, ms by Redis' clock: then
   * the run is to be compared with Slack. False: the run is gone.
   */
  async recordSent(id: string, slot: string, json: string, late?: number): Promise<boolean> {
    const noted = await this.#record(id, `sent:${slot}`, json, { late })
    // Nothing deletes a run that is being shown: where there is none to note it of, it was lost.
    this.lately.acknowledged(id, slot, json, noted ? undefined : "in question")
    return noted
  }

  /** Notes another copy of a slot's message; the run is due for showing then. False: known already, or the run is gone. */
  addCopy(id: string, slot: string, ts: string, json: string): Promise<boolean> {
    return this.#record(id, `copy:${ts}:${slot}`, json, { how: "1" })
  }

  /**
   * Puts a run off until `at`, ms by Redis' clock. With the revision rendered: only if that still stands, else false. `serving`:
   * whoever does begins to serve it, or ends.
   */
  async showLater(
    id: string,
    showClass: ShowClass,
    at: number,
    { revision, serving }: { revision?: number; serving?: boolean } = {},
  ): Promise<boolean> {
    const keys = this.#keysOf(id)
    const other = showClass === "cards" ? keys.rest : keys.cards
    const ofRun = [keys.run + id, keys[showClass], other, keys.show + id]
    const now = serving === undefined ? "" : String(Number(serving))
    return (await this.#do("showLater", [...ofRun, id, scoreOf(at), String(revision ?? ""), now])) === 1
  }

  /**
   * Everything is shown. False: the run moved on, or a copy was learnt of, since it was rendered; it stays due. In `lookIn` ms
   * it is compared with Slack, unless it is in that line already.
   */
  async leaveShow(id: string, revision: number, learnt = "", lookIn?: number): Promise<boolean> {
    const keys = this.#keysOf(id)
    const ofShard = [keys.cards, keys.rest, keys.looks]
    const args = [keys.run + id, keys.show + id, ...ofShard, id, String(revision), learnt, String(lookIn ?? "")]
    return (await this.#do("showLeave", args)) === 1
  }

  /**
   * The run of a shard that has waited longest to be compared with Slack; it is again in `every` ms, or in `late` ms where a call
   * of unknown outcome is the reason. `next` as above. One that can't be read keeps its place in the line.
   */
  async lookNext(
    shard: number,
    every: number,
    late = every,
  ): Promise<ToLook | { next: number | undefined; now: number }> {
    const keys = this.#keys(shard)
    for (;;) {
      const args = [keys.looks, keys.late, keys.run, keys.show, String(FORMAT), String(every), String(late)]
      const reply = await this.#do("lookNext", args)
      const looked = reply as LookReply
      if (looked[0] === "idle") return { now: looked[1], next: dueAt(looked[2]) }
      const [, id, now, revision, state, fields, place, due, why] = looked
      const run = readable(state)
      if (run) return { id, now, revision, run, ...sentOf(fields), place, due, why }
      this.#unreadable.tell(id)
    }
  }

  /** Compares a run no more, until it leaves `show` anew. False: it moved on since, and goes on being compared. */
  async lookDone({ id, revision, place }: Pick<ToLook, "id" | "revision" | "place">): Promise<boolean> {
    const keys = this.#keysOf(id)
    const args = [keys.run + id, keys.show + id, keys.looks, String(revision), place]
    return (await this.#do("lookDone", args)) === 1
  }

  /** Nothing may change unasked any more of a run that was `late`. False: there is another such call, and it stays. */
  async lateDone({ id, place }: Pick<ToLook, "id" | "place">): Promise<boolean> {
    return (await this.#do("lateDone", [this.#keysOf(id).late, id, place])) === 1
  }

  /**
   * Notes what Slack was found to hold in a slot, where still `before` is noted; the run is due for showing then, unless that
   * is `quiet`: nothing is to be shown by it.
   */
  async correct(id: string, slot: string, before: string, json: string, how?: "quiet"): Promise<boolean> {
    return this.#record(id, `sent:${slot}`, json, { how: how ? "3" : "2", before })
  }

  /**
   * Takes a call under all of its limits, or under none. `at`: when it may be made, ms; up to `now`: it is taken. `limit`: which
   * of them says so. `now` is Redis' clock unless given.
   */
  async takePace(limits: readonly Limit[], now?: number): Promise<{ at: number; limit: number; now: number }> {
    const args = limits.flatMap(({ key, every, burst, spare }) => [key, String(every), String(burst), String(spare)])
    const given = now === undefined ? "" : String(now)
    const [at, limit, then] = (await this.#do("pace", [this.#pace, given, ...args])) as [number, number, number]
    return { at, limit: limit - 1, now: then }
  }

  /** Sets until when a limit's calls count as made at the steady rate, ms by Redis' clock. */
  async setPace(key: string, until: number): Promise<void> {
    await this.#connection.surely(() => this.#connection.at(this.#pace).hset(this.#pace, key, scoreOf(until)))
  }

  async #record(
    id: string,
    field: string,
    json: string,
    { how = "", before = "", late }: { how?: "" | "1" | "2" | "3"; before?: string; late?: number | undefined },
  ): Promise<boolean> {
    const keys = this.#keysOf(id)
    const of = [keys.run + id, keys.show + id, keys.cards, keys.late]
    return (await this.#do("showRecord", [...of, id, field, json, how, before, String(late ?? "")])) === 1
  }

  #keys(shard: number): Shard {
    const keys = this.#shards[shard]
    if (!keys) throw new RangeError(`there is no shard ${shard}`)
    return keys
  }

  #do(script: Parameters<Connection["run"]>[0], args: readonly string[]): Promise<unknown> {
    return this.#connection.surely(() => this.#connection.run(script, args))
  }
}

/** A score as the scripts return it; undefined for "nothing" and for "never". */
export function dueAt(score: string): number | undefined {
  const at = Number(score)
  return score === "" || !Number.isFinite(at) ? undefined : at
}

/** The earlier of two times, where there are such. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

function sentOf(fields: readonly string[]): Sent {
  const named = { slot: new Map<string, string>(), sent: new Map<string, string>() }
  const copies: Sent["copies"] = new Map()
  const others = new Map<string, string>()
  for (let i = 0; i < fields.length; i += 2) {
    const [field = "", value = ""] = fields.slice(i, i + 2)
    const [, kind, name = ""] = /^(slot|sent|copy):(.*)$/su.exec(field) ?? []
    if (kind === "slot" || kind === "sent") named[kind].set(name, value)
    else if (kind === "copy") addCopyOf(copies, name, value)
    else others.set(field, value)
  }
  const { slot: owed, sent } = named
  return { owed, sent, copies, learnt: others.get("learnt") ?? "", served: others.has("served") }
}

function addCopyOf(copies: Sent["copies"], name: string, value: string): void {
  const colon = name.indexOf(":")
  const slot = name.slice(colon + 1)
  const known = copies.get(slot) ?? new Map<string, string>()
  known.set(name.slice(0, colon), value)
  copies.set(slot, known)
}
