/**
 * Answering an ask for a person who pressed a button or sent a form, and showing what is masked. What a button carries
 * names the ask; everything else comes from the store, and the right is asked at the moment of settling.
 */
import { settle, type Attempted, type Outcome } from "../core/ask.ts"
import { validateAnswerData } from "../core/answer-schema.ts"
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import { mayDecide, type Denial, type Rule, type Who } from "../core/policy.ts"
import { askOf, step, type Ask, type Run } from "../core/run.ts"
import type { Loaded } from "../store/store.ts"
import { visibleJson } from "./blocks/text.ts"
import type { Intent, Press } from "./blocks/intent.ts"
import { words, type Said } from "./blocks/words.ts"
import { attempt } from "./counted.ts"
import { rightOf, type Front } from "./front.ts"
import { causeOf, wayOf } from "./press.ts"
import { unapplied } from "./replies.ts"

/** What the person is to be told. `told`: they see it anyway, on the card or by a word that the run owes them. */
export interface Reaction {
  said: Said
  told: boolean
}

export type Decision = Extract<Intent, { kind: "decide" }>
type Ref = Pick<Decision, "run" | "ask" | "version">

interface Found {
  loaded: Loaded
  ask: Ask
  /** Its turn is over: it can only be told about. */
  archived: boolean
}

/** Settles an ask, if the person may. Throws when it can't be read. */
export async function decide(front: Front, intent: Decision, person: Person): Promise<Reaction> {
  const found = await find(front, intent)
  const reaction = found && (await decideOn(front, intent, person, found))
  // Its turn was over before this one could be judged: whoever was first is told of as of any that is over.
  if (reaction === "moved") return decide(front, intent, person)
  return reaction ?? { said: { about: "stale" }, told: false }
}

/** `moved`: the ask stood with the run when it was read, and no longer when it was to be settled. */
async function decideOn(
  front: Front,
  intent: Decision,
  person: Person,
  { loaded, ask, archived }: Found,
): Promise<Reaction | "moved"> {
  if (!archived && !(await answers(front, intent, ask))) return { said: { about: "stale" }, told: false }
  const who = await whoDecides(front, loaded.run, ask, person, intent.ok)
  const tried = attempted(intent, who)
  const applied = await attempt<Outcome>(front, loaded.run.id, {
    transition: (run, now) => {
      const { step, outcome } = settle(run, tried, now, archived ? { archived: ask } : {})
      return {
        step,
        outcome,
        ...(outcome.kind === "recorded" ? {} : { refusal: words({ about: "decision", outcome }) }),
      }
    },
    gone: { kind: "unknown" },
    word: wayOf(intent.press),
    cause: tried.cause,
    known: loaded,
  })
  if (applied.kind !== "applied") return { said: unapplied(applied), told: false }
  const { outcome, told } = applied.outcome
  if (outcome.kind === "unknown" && !archived && applied.run) return "moved"
  return { said: { about: "decision", outcome }, told: told && outcome.kind !== "unknown" }
}

/** What would come of deciding now, without trying it. Throws when it can't be read. */
export async function foresee(front: Front, ref: Ref, press: Press, person: Person): Promise<Said | undefined> {
  const found = await find(front, ref)
  if (!found) return { about: "stale" }
  const { loaded, ask, archived } = found
  const who = await whoDecides(front, loaded.run, ask, person, true)
  const tried = attempted({ ...ref, kind: "decide", ok: true, press }, who)
  const { outcome } = settle(loaded.run, tried, loaded.now, archived ? { archived: ask } : {})
  return outcome.kind === "recorded" ? undefined : { about: "decision", outcome }
}

/** The args (and for a tool's own ask its Request) as they are, once the fact of showing them is recorded. */
export async function reveal(
  front: Front,
  ref: Ref,
  press: Press,
  person: Person,
): Promise<{ text: string } | Reaction> {
  const found = await find(front, ref)
  if (!found) return { said: { about: "stale" }, told: false }
  const { loaded, ask } = found
  // Whoever asked for the run may not say yes to it, but if listed is one of those who decide all the same.
  const sees: Rule = { ...ask.rule, selfApproval: ask.rule.selfApproval || true }
  const { who, right } = await rightOf(front.people, person, ask.rule.approvers, (who) =>
    mayDecide(sees, loaded.run.requester, who, true),
  )
  const why: Denial | undefined = right.ok ? undefined : right.why
  const cause = causeOf(press, ref.ask)
  const entry = {
    via: "click" as const,
    by: who.person,
    ask: ask.id,
    call: ask.call,
    tool: ask.tool,
    args: ask.digest,
    version: ask.version,
    cause,
  }
  const applied = await attempt<"shown" | "refused" | "gone">(front, loaded.run.id, {
    transition: (run, now) => {
      if (why === undefined) {
        return { step: step(run, now, [{ what: "revealed", ...entry }], { show: "" }), outcome: "shown" }
      }
      const refused = step(run, now, [{ what: "refused", ...entry, outcome: `reveal: ${why}` }], { show: "" })
      return { step: refused, outcome: "refused", refusal: words({ about: "reveal", why }) }
    },
    gone: "gone",
    word: wayOf(press),
    cause,
    known: loaded,
  })
  if (applied.kind !== "applied") return { said: unapplied(applied), told: false }
  const { outcome, told } = applied.outcome
  if (outcome === "gone") return { said: { about: "stale" }, told: false }
  if (why !== undefined) return { said: { about: "reveal", why }, told }
  const [args, request] = await front.store.texts(ref.run, [`args:${ask.call}`, `req:${ask.id}`])
  const asked = ask.from === "tool" && request !== undefined ? `\n\nThe tool's request:\n${visibleJson(request)}` : ""
  return { text: `${visibleJson(args ?? "")}${asked}` }
}

/** The run and the ask; undefined when there is none (any more). */
async function find({ store }: Front, ref: Ref): Promise<Found | undefined> {
  const loaded = await store.load(ref.run)
  if (!loaded) return undefined
  const current = askOf(loaded.run, ref.ask)
  if (current) return { loaded, ask: current, archived: false }
  const [text] = await store.texts(ref.run, [`ask:${ref.ask}`])
  return text === undefined ? undefined : { loaded, ask: JSON.parse(text) as Ask, archived: true }
}

async function whoDecides({ people }: Front, run: Run, ask: Ask, person: Person, ok: boolean): Promise<Who> {
  const { who } = await rightOf(people, person, ask.rule.approvers, (who) =>
    mayDecide(ask.rule, run.requester, who, ok),
  )
  return who
}

/**
 * Whether a yes is an answer to what is asked: a card never offers a plain yes where words or fields are wanted, but a
 * press is made in somebody else's program.
 */
async function answers({ store }: Front, intent: Decision, ask: Ask): Promise<boolean> {
  if (!intent.ok || ask.from !== "tool") return true
  if ((ask.kind === "input" || ask.kind === "question") && intent.output === undefined) return false
  const [text] = await store.texts(intent.run, [`req:${ask.id}`])
  const request: unknown = JSON.parse(text ?? "{}")
  const data = isRecord(request) && isRecord(request["data"]) ? request["data"] : {}
  const schema = data["schema"]
  return !isRecord(schema) || validateAnswerData(schema, dataOf(intent)).ok
}

const dataOf = ({ output }: Decision): Record<string, unknown> | undefined =>
  output === undefined ? undefined : { output }

function attempted(intent: Decision, who: Who): Attempted {
  const { ask, version, ok, choice, press } = intent
  const data = dataOf(intent)
  return {
    ask,
    version,
    ok,
    ...(choice === undefined ? {} : { choice }),
    ...(data === undefined ? {} : { data }),
    who,
    via: intent.output === undefined ? "click" : "form",
    cause: causeOf(press, ask),
  }
}
