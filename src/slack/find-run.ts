/**
 * Finding a run, or a grant, by what somebody says of its id: all of it, or its beginning. For whom may not see it there is
 * none. Looks for a beginning in that person's own lists.
 */
import type { Person } from "../core/fact.ts"
import { grantRef } from "../core/grant.ts"
import type { Grant } from "../core/run.ts"
import { shardOf } from "../store/keys.ts"
import type { Loaded } from "../store/store.ts"
import type { Front } from "./front.ts"
import { concernOf, decidedBy, grantsFor, runsOf, sees, waitingFor, type InForce } from "./mine.ts"

export type FoundRun =
  | { kind: "one"; loaded: Loaded }
  /** The beginning of several. */
  | { kind: "several"; found: Loaded[] }
  | { kind: "none" }

const BEGINNING = /^r[0-9a-z]{1,13}$/

export async function findRun(front: Front, said: string, person: Person): Promise<FoundRun> {
  const id = said.toLowerCase()
  if (shardOf(id, front.store.shards) !== undefined) {
    const loaded = await front.store.load(id)
    return loaded && (await sees(front, loaded.run, person)) ? { kind: "one", loaded } : { kind: "none" }
  }
  if (!BEGINNING.test(id)) return { kind: "none" }
  const found = (await known(front, person)).filter(({ run }) => run.id.startsWith(id))
  const [first] = found
  if (!first) return { kind: "none" }
  return found.length === 1 ? { kind: "one", loaded: first } : { kind: "several", found }
}

/** Every run of the person's lists, once. All of them are theirs to see. */
async function known(front: Front, person: Person): Promise<Loaded[]> {
  const concern = await concernOf(front, person)
  const [waiting, mine, decided, grants] = await Promise.all([
    waitingFor(front, concern),
    runsOf(front, concern),
    decidedBy(front, concern),
    grantsFor(front, concern),
  ])
  const all = [...mine, ...[...waiting, ...decided, ...grants].map(({ loaded }) => loaded)]
  return [...new Map(all.map((loaded) => [loaded.run.id, loaded])).values()]
}

export type FoundGrant =
  | { kind: "one"; loaded: Loaded; grant: Grant }
  | { kind: "several"; found: InForce[] }
  | { kind: "none" }

/** By `<run>.<number>`, by its own id, or by the beginning of either. Grants that are over are found by all of their id alone. */
export async function findGrant(front: Front, said: string, person: Person): Promise<FoundGrant> {
  const id = said.toLowerCase()
  const [run = "", number] = id.split(".", 2)
  if (number !== undefined && shardOf(run, front.store.shards) !== undefined) return grantOf(front, run, id, person)
  if (id.length < 2) return { kind: "none" }
  const concern = await concernOf(front, person)
  const found = (await grantsFor(front, concern)).filter(({ loaded, grant }) =>
    [grantRef(loaded.run, grant), grant.id].some((one) => one.startsWith(id)),
  )
  const [first] = found
  if (!first) return { kind: "none" }
  return found.length === 1 ? { kind: "one", ...first } : { kind: "several", found }
}

async function grantOf(front: Front, run: string, id: string, person: Person): Promise<FoundGrant> {
  const loaded = await front.store.load(run)
  const grant = loaded?.run.grants?.find((one) => grantRef(loaded.run, one) === id)
  if (!loaded || !grant || !(await sees(front, loaded.run, person))) return { kind: "none" }
  return { kind: "one", loaded, grant }
}
