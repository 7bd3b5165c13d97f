/**
 * Sends a commit until it is known what became of it, and has replicas confirm it where that is asked for. Knows that a
 * commit may be sent twice (its token is recognised), and not what it says.
 */
import { committed, type Committed, type Sent } from "./commit.ts"
import { type Connection, errorOf, type Fault, faultOf } from "./connection.ts"
import { Group } from "./group.ts"

/** not known: it may be stored, and nothing showed it in time · not recorded: it is not stored and never will be. */
export type Unsent = { kind: "not known"; error: Error } | { kind: "not recorded"; error: Error }

/** How much longer to ask what became of a commit whose reply was lost, so that its time is over by Redis' clock too, ms. */
const MARGIN = 2_000
/** How long a commit waits for its replicas, ms. */
const CONFIRM_WITHIN = 2_000

interface Confirming {
  group: Group
  count: number
}

export class Sender {
  readonly #group: Group
  readonly #confirming: Confirming | undefined

  /** `confirming`: a connection of its own for commits that wait for `count` replicas, since WAIT holds up what follows it. */
  constructor(connection: Connection, confirming?: { connection: Connection; count: number }) {
    this.#group = new Group(connection)
    this.#confirming = confirming && { group: new Group(confirming.connection), count: confirming.count }
  }

  /**
   * Sends a commit, by `until` (of `performance.now()`) at the latest for the first time.
   *
   * @param lease what comes before a lease's name in the run's shard
   */
  send(
    lease: string,
    sent: Sent,
    { until, confirm }: { until: number; confirm: boolean },
  ): Promise<Committed | Unsent> {
    if (!confirm || !this.#confirming) return deliver(this.#group, sent, until)
    return confirmed(this.#confirming, lease, sent, until)
  }
}

async function confirmed(
  { group, count }: Confirming,
  lease: string,
  sent: Sent,
  until: number,
): Promise<Committed | Unsent> {
  const result = await deliver(group, sent, until)
  if (result.kind !== "stored") return result
  const key = `${lease}confirm`
  try {
    const client = group.connection.at(key)
    // WAIT is about its connection's last write: when this commit was stored over an earlier connection, there is none.
    if (result.again) await client.set(key, "", "PX", 1000)
    const have = await client.wait(count, CONFIRM_WITHIN)
    if (have >= count) return result
    return { kind: "not known", error: new Error(`${have} of ${count} replicas confirmed it`) }
  } catch (error) {
    return { kind: "not known", error: errorOf(error) }
  }
}

async function deliver(group: Group, sent: Sent, until: number): Promise<Committed | Unsent> {
  let lost = false
  for (;;) {
    try {
      return committed(await group.commit(sent))
    } catch (error) {
      const fault = faultOf(error)
      lost ||= fault === "lost"
      const left = until + (lost ? MARGIN : 0) - performance.now()
      const kind = givenUp(fault, lost, left)
      if (kind) return { kind, error: errorOf(error) }
      await group.connection.pause(fault, left).catch(() => {})
    }
  }
}

/** What to say of a commit that is not sent again; undefined while it makes sense to. */
function givenUp(fault: Fault, lost: boolean, left: number): Unsent["kind"] | undefined {
  if (fault === "broken") return "not known"
  if (fault === "refused" && !lost) return "not recorded"
  if (left > 0) return undefined
  return lost ? "not known" : "not recorded"
}
