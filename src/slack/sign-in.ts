/**
 * Where whoever asked for a run signs in, shown to them alone: the whole address, after the fact of showing it, and only one
 * that the configuration or the tool's author names. Opening it answers nothing.
 */
import type { ModalView } from "@slack/types"
import { about } from "../core/ask.ts"
import type { Person } from "../core/fact.ts"
import { samePerson, type Denial, type Who } from "../core/policy.ts"
import { step, wishOf, type Ask, type Run } from "../core/run.ts"
import { textsOf, type Found } from "./ask.ts"
import { placeOf, signInView } from "./blocks/sign-in.ts"
import type { Press } from "./blocks/intent.ts"
import { words, type Said } from "./blocks/words.ts"
import { attempt } from "./counted.ts"
import type { Front } from "./front.ts"
import { causeOf } from "./press.ts"
import { unapplied } from "./replies.ts"

/** The window with the address, or why it is not shown. */
export async function fillSignIn(front: Front, press: Press, person: Person, found: Found): Promise<ModalView | Said> {
  const { loaded, ask } = found
  if (ask.settled) return { about: "decision", outcome: { kind: "settled", ask } }
  const { request } = await textsOf(front, loaded.run.id, ask)
  if (ask.kind !== "authorization" || request.url === undefined) return { about: "stale" }
  const who = await front.people.who(person, [])
  const why = refusedTo(loaded.run, who)
  const place = placeOf(request.url, (await front.callsFor(loaded.run)).hostsOf(ask.tool))
  if (why === undefined && !place.ok) return { about: "wrong address", why: place.why }
  const told = await recorded(front, press, { found, who, why })
  if (told) return told
  return place.ok ? signInView(ask.tool, place) : { about: "stale" }
}

function refusedTo(run: Run, { person, standing }: Who): Denial | undefined {
  if (!samePerson(wishOf(run).asker, person)) return "requester only"
  if (standing === "member") return undefined
  return standing === "unknown" ? "cannot check" : standing
}

/** Undefined once the fact that it is shown stands. */
async function recorded(
  front: Front,
  press: Press,
  { found, who, why }: { found: Found; who: Who; why: Denial | undefined },
): Promise<Said | undefined> {
  const { loaded, ask } = found
  const cause = causeOf(press, ask.id)
  const applied = await attempt<"done" | "gone">(front, loaded.run.id, {
    transition: (run, now) => ({
      step: step(run, now, [entryOf(ask, who, why, cause)], { show: "" }),
      outcome: "done",
      ...(why === undefined ? {} : { refusal: words({ about: "sign in", why }) }),
    }),
    gone: "gone",
    // Without a way: the window that stands open says it.
    cause,
    known: loaded,
  })
  if (applied.kind !== "applied") return unapplied(applied)
  return why === undefined ? undefined : { about: "sign in", why }
}

function entryOf(ask: Ask, who: Who, why: Denial | undefined, cause: string) {
  const outcome = why === undefined ? "where to sign in" : `sign in: ${why}`
  const what = why === undefined ? "revealed" : "refused"
  return about(ask, { what, via: "click", by: who.person, outcome, cause })
}
