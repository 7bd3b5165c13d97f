/**
 * How the args of a call that is asked about are changed by people: a new version of the ask, for which nobody has voted
 * yet. Pure; whether the new args fit the tool, and which rule they fall under, is told.
 */
import { about, expiredFirst, type Tried } from "./ask.ts"
import type { Via } from "./fact.ts"
import { mayEdit, samePerson, type Denial, type Rule, type Who } from "./policy.ts"
import { argsOf, askOf, callOf, ruleOf, step, wishOf, withAsk, withCall } from "./run.ts"
import type { Ask, Run, Step } from "./run.ts"
import { stricter, type Decision } from "./rules.ts"
import type { Request } from "./suspension.ts"

/** One person's attempt to change what is asked about. */
export interface Editing {
  ask: string
  /** The version that the person saw. */
  version: number
  who: Who
  via: Via
  /** The same over retries and redeliveries of this attempt. */
  cause: string
  /** The canonical text of the new args, and its digest. */
  args: string
  digest: string
  /** What the file's rules say of a call with these. */
  decision: Decision
  /** The Request as it is to be shown with them; its id is the ask's. */
  request: Request
}

export type EditOutcome =
  | { kind: "edited"; ask: Ask }
  | { kind: "settled"; ask: Ask }
  | { kind: "changed"; ask: Ask }
  | { kind: "unchanged"; ask: Ask }
  | { kind: "denied"; ask: Ask; why: Denial }
  /** The rules let nobody run it with these args. */
  | { kind: "forbidden"; ask: Ask }
  /** The rule it was asked under and the one for these args leave nobody who could approve it. */
  | { kind: "nobody left"; ask: Ask }
  | { kind: "unknown" }

/** Changes the args, if the person may. What is overdue is expired before anything else is looked at. */
export function edit(run: Run, tried: Editing, now: number): Tried<EditOutcome> {
  return expiredFirst(run, now, (left) => editOpen(left, tried, now))
}

function editOpen(run: Run, tried: Editing, now: number): Tried<EditOutcome> {
  const ask = askOf(run, tried.ask)
  if (!ask || ask.from !== "guard") return { outcome: { kind: "unknown" } }
  const outcome = judged(run, tried, ask)
  if (outcome.kind === "unchanged") return { outcome }
  if (outcome.kind !== "edited") return { step: refusal(run, tried, ask, outcome, now), outcome }
  const step = changed(run, tried, ask, now)
  return { step, outcome: { kind: "edited", ask: askOf(step.run, ask.id) ?? ask } }
}

function judged(run: Run, tried: Editing, ask: Ask): EditOutcome {
  if (ask.settled) return { kind: "settled", ask }
  const right = mayEdit(ruleOf(ask), wishOf(run), tried.who)
  if (!right.ok) return { kind: "denied", ask, why: right.why }
  if (ask.digest === tried.digest) return { kind: "unchanged", ask }
  if (ask.version !== tried.version) return { kind: "changed", ask }
  if (tried.decision.do === "deny") return { kind: "forbidden", ask }
  return leavesNobody(ask.rule, heldBy(ask, tried)) ? { kind: "nobody left", ask } : { kind: "edited", ask }
}

/** What the old rule and the new one ask for together. */
function heldBy(ask: Ask, { decision }: Editing): Rule {
  const held = stricter({ do: "ask", rule: ask.rule }, decision)
  return held.do === "ask" ? held.rule : ask.rule
}

/** Where one wants the requester alone and the other somebody else; a card for nobody would only wait for its end. */
const leavesNobody = (before: Rule, after: Rule): boolean => hasSomebody(before) && !hasSomebody(after)

const hasSomebody = ({ selfApproval, approvers }: Rule): boolean => selfApproval === "confirm" || approvers.length > 0

function refusal(run: Run, tried: Editing, ask: Ask, outcome: EditOutcome, now: number): Step {
  const { via, who, version, cause } = tried
  const why = outcome.kind === "denied" ? outcome.why : outcome.kind
  const entry = about(ask, { what: "refused", via, by: who.person, version, outcome: `edit: ${why}`, cause })
  return step(run, now, [entry], { show: "" })
}

/** The next version: under the old rule and the new one, without votes, and with no more time than before. */
function changed(run: Run, tried: Editing, ask: Ask, now: number): Step {
  const { who, via, cause, digest, request } = tried
  const rule = heldBy(ask, tried)
  const next: Ask = {
    ...ask,
    votes: undefined,
    version: ask.version + 1,
    edit: (ask.edit ?? 0) + 1,
    digest,
    rule,
    expiresAt: Math.min(ask.expiresAt, now + rule.expiresIn),
    editors: [...(ask.editors ?? []).filter((one) => !samePerson(one, who.person)), who.person],
  }
  const call = callOf(run, ask.call)
  const asked = call ? withCall(withAsk(run, next), { ...call, digest, edit: next.edit ?? 1 }) : withAsk(run, next)
  return step(asked, now, [about(next, { what: "edited", via, by: who.person, outcome: `was ${ask.digest}`, cause })], {
    texts: [
      { field: argsOf(next), text: tried.args },
      { field: `req:${ask.id}`, text: JSON.stringify({ ...request, id: ask.id }) },
    ],
    show: "cards",
  })
}
