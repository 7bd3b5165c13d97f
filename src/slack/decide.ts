/**
 * Answering an ask for a person who pressed a button or sent a form. What they sent names the ask; everything else comes
 * from the store, and the right is asked at the moment of settling.
 */
import { settle, type Attempted, type Outcome } from "../core/settle.ts"
import type { Person } from "../core/fact.ts"
import type { Who } from "../core/policy.ts"
import type { Ask, DoubtChoice } from "../core/run.ts"
import { find, isAnswer, textsOf, votersOf, whoDecides, type Found } from "./ask.ts"
import type { Press, Ref } from "./blocks/intent.ts"
import { words, type Said } from "./blocks/words.ts"
import { attempt } from "./counted.ts"
import type { Calls, Front } from "./front.ts"
import { causeOf, wayOf } from "./press.ts"
import { unapplied } from "./replies.ts"

/** What the person is to be told. `told`: they see it anyway, on the card or by a word that the run owes them. */
export interface Reaction {
  said: Said
  told: boolean
}

/** What a person said to an ask. */
export interface Saying extends Ref {
  ok: boolean
  choice?: DoubtChoice
  /** The answer's data, where something is asked. */
  data?: Record<string, unknown>
  /** Why, in their own words. */
  note?: string
  /** With a yes: and the like of it need not be asked about for a while. */
  grant?: boolean
  via: "click" | "form"
  press: Press
}

/** How often an ask is looked at anew when others vote meanwhile. */
const LOOKS = 5

/** Settles an ask, if the person may. Throws when it can't be read. */
export async function decide(front: Front, saying: Saying, person: Person): Promise<Reaction> {
  for (let look = 0; look < LOOKS; look++) {
    const found = await find(front, saying)
    if (!found) return { said: { about: "stale" }, told: false }
    const reaction = await decideOn(front, saying, person, found)
    if (reaction !== "again") return reaction
  }
  return { said: { about: "not recorded" }, told: false }
}

/** `again`: what was looked up is not what stands there any more. */
async function decideOn(front: Front, saying: Saying, person: Person, found: Found): Promise<Reaction | "again"> {
  const { loaded, ask, archived } = found
  const tried = archived
    ? attempted(saying, await whoDecides(front, loaded.run, ask, person, saying.ok), [])
    : await trial(front, saying, person, found)
  if (!tried) return { said: { about: "stale" }, told: false }
  const applied = await attempt<Outcome>(front, loaded.run.id, {
    transition: (run, now) => {
      const { step, outcome } = settle(run, tried, now, archived ? { archived: ask } : {})
      return { step, outcome, ...(isFine(outcome) ? {} : { refusal: words({ about: "decision", outcome }) }) }
    },
    gone: { kind: "unknown" },
    word: wayOf(saying.press),
    cause: tried.cause,
    known: loaded,
  })
  if (applied.kind !== "applied") return { said: unapplied(applied), told: false }
  const { outcome, told } = applied.outcome
  if (outcome.kind === "look again") return "again"
  // Its turn was over before this one could be judged: whoever was first is told of as of any that is over.
  if (outcome.kind === "unknown" && !archived && applied.run) return "again"
  return { said: { about: "decision", outcome }, told: told && outcome.kind !== "unknown" }
}

/** Nothing to refuse: it counts, or is to be tried once more. */
const isFine = ({ kind }: Outcome): boolean => kind === "recorded" || kind === "voted" || kind === "look again"

/** What would come of deciding now, without trying it; undefined when it would count. Throws when nobody can be looked up. */
export async function foresee(
  front: Front,
  saying: Omit<Saying, "via">,
  person: Person,
  { loaded, ask, archived }: Found,
): Promise<Said | undefined> {
  const [who, voters] = await Promise.all([
    whoDecides(front, loaded.run, ask, person, saying.ok),
    votersOf(front, loaded.run, ask),
  ])
  // Whoever is about to be asked for the reason has not said it yet.
  const tried = attempted({ ...saying, note: saying.note ?? "…", via: "form" }, who, voters)
  const { outcome } = settle(loaded.run, tried, loaded.now, archived ? { archived: ask } : {})
  return isFine(outcome) ? undefined : { about: "decision", outcome }
}

/** All that is known of the attempt; undefined when it is no answer to what is asked. */
async function trial(
  front: Front,
  saying: Saying,
  person: Person,
  { loaded, ask }: Found,
): Promise<Attempted | undefined> {
  const { run } = loaded
  const [who, voters, texts, paused] = await Promise.all([
    whoDecides(front, run, ask, person, saying.ok),
    saying.ok ? votersOf(front, run, ask) : [],
    saying.ok ? textsOf(front, run.id, ask) : undefined,
    saying.ok ? front.store.pause.read() : undefined,
  ])
  if (!texts) return attempted(saying, who, voters)
  if (paused) return { ...attempted(saying, who, voters), paused: true }
  if (!isAnswer(ask, texts.request, saying.data)) return undefined
  const grant = saying.grant === true ? markOf(await front.callsFor(run), ask, texts.args) : {}
  return grant && { ...attempted(saying, who, voters), ...grant, ...editedArgs(ask, texts.args) }
}

/** Of a tool that isn't there any more nothing can be granted. */
function markOf(calls: Calls, { tool, rule }: Ask, args: string): { grant: string } | undefined {
  const mark = calls.markOf(tool, args, rule)
  return mark === undefined ? undefined : { grant: mark }
}

/** The answer to a question of the tool's own has the form that the tool gave it. */
const editedArgs = ({ edit, from }: Ask, args: string): { args?: Record<string, unknown> } =>
  edit === undefined || from === "tool" ? {} : { args: JSON.parse(args) as Record<string, unknown> }

function attempted(saying: Saying, who: Who, voters: readonly Who[]): Attempted {
  const { ask, version, ok, choice, data, note, via, press } = saying
  return {
    ask,
    version,
    ok,
    ...(choice === undefined ? {} : { choice }),
    ...(data === undefined || !ok ? {} : { data }),
    ...(note === undefined ? {} : { note }),
    who,
    voters,
    via,
    cause: causeOf(press, ask),
  }
}
