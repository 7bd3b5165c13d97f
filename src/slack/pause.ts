/**
 * Pausing everything, and going on, for an admin. What it says is true of all processes by then.
 */
import type { Person } from "../core/fact.ts"
import { mayPause } from "../core/policy.ts"
import type { Said } from "./blocks/words.ts"
import { nameOf } from "./blocks/rich.ts"
import { rightOf, type Front } from "./front.ts"

export async function pauseOrResume(front: Front, about: "pause" | "resume", person: Person): Promise<Said> {
  const { store, people, lists, log } = front
  const { who, right } = await rightOf(people, person, lists.admins, (who) => mayPause(lists.admins, who))
  log.warn(
    { what: about, via: "command", by: who.person, outcome: right.ok ? "done" : right.why },
    "a pause was asked for",
  )
  if (!right.ok) return { about, outcome: { kind: "denied", why: right.why } }
  const to = about === "pause" ? { by: nameOf(who.person), at: await store.now() } : undefined
  const { done, before } = await store.pause.turn(to)
  return { about, outcome: done ? { kind: "done" } : { kind: "before", ...before } }
}
