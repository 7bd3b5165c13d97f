/**
 * What is sent from a form: an answer, a reason or a change, each judged like a click. The form's own window says what came
 * of it when that is known in time. Knows no rule by which anything is decided.
 */
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import { ruleOf, type Ask } from "../core/run.ts"
import type { Request } from "../core/suspension.ts"
import { find, textsOf } from "./ask.ts"
import { readFields, type Read } from "./blocks/fields.ts"
import { readQuestions } from "./blocks/fields/questions.ts"
import { sayingView, wordsError, wordsIn } from "./blocks/forms.ts"
import { intentOf, verdictOf, type FormName, type Intent } from "./blocks/intent.ts"
import { note, words, type Said } from "./blocks/words.ts"
import { decide, type Reaction } from "./decide.ts"
import { saveEdit } from "./edit.ts"
import { tell, type Front } from "./front.ts"
import { personOf, wayOf } from "./press.ts"
import { failed, inTime, type Ack } from "./replies.ts"

export type Sent = Extract<Intent, { kind: "submit" }>

/** Faults stand in the form beside what they are about, by block id. */
export type Came = Reaction | { errors: Record<string, string> }

export async function onForm(front: Front, body: object, ack: Ack): Promise<void> {
  const intent = intentOf(body)
  if (intent.kind !== "submit") return ack()
  const work: Promise<Came> = send(front, intent, personOf(intent.press)).catch((error: unknown) => {
    front.log.error({ err: error, run: intent.run }, "a form could not be dealt with")
    return { said: failed(error), told: false }
  })
  const early = await inTime(work)
  const shown = await reply(front, ack, intent.form, early?.done)
  if (early && shown) return
  const came = await work
  const { said, told } =
    "errors" in came ? { said: { about: "faults", faults: Object.values(came.errors) } as Said, told: false } : came
  // A window that said "received" is owed the outcome, also when the card shows it.
  if (!told || counts(said)) await tell(front, wayOf(intent.press), note(words(said)))
}

/** Whoever closed a form is told that it decided nothing. */
export async function onClosed(front: Front, body: object, ack: Ack): Promise<void> {
  await ack()
  const intent = intentOf(body)
  if (intent.kind === "closed") await tell(front, wayOf(intent.press), note(words({ about: "closed" })))
}

async function send(front: Front, intent: Sent, person: Person): Promise<Came> {
  switch (intent.form) {
    case "reason":
      return reasoned(front, intent, person)
    case "answer":
      return answered(front, intent, person)
    case "edit":
      return saveEdit(front, intent, person)
  }
}

async function reasoned(front: Front, intent: Sent, person: Person): Promise<Came> {
  const { run, ask, version, press, says = "decline" } = intent
  const why = wordsIn(intent.values)
  const verdict = verdictOf(says)
  if (why === undefined && (await needsReason(front, intent, verdict.ok)))
    return { errors: wordsError("Please say why. The rule for this wants a reason.") }
  return decide(
    front,
    { run, ask, version, press, via: "form", ...verdict, ...(why === undefined ? {} : { note: why }) },
    person,
  )
}

/** A form without its reason is not sent yet, as one with a wrong field isn't: nothing was attempted. */
async function needsReason(front: Front, intent: Sent, ok: boolean): Promise<boolean> {
  const ask = (await find(front, intent))?.ask
  if (!ask || ask.settled) return false
  const { reason } = ruleOf(ask)
  return (ok ? reason?.approve : reason?.decline) === "required"
}

async function answered(front: Front, intent: Sent, person: Person): Promise<Came> {
  const { run, ask, version, press, values } = intent
  const found = await find(front, intent)
  if (!found) return { said: { about: "stale" }, told: false }
  const { request } = await textsOf(front, run, found.ask)
  const read = answerIn(found.ask, request, values)
  // Whoever was first, and whether this person may, matters more than a field.
  const data = read.ok ? { data: read.data } : {}
  if (!read.ok && !found.ask.settled) return { errors: read.errors }
  return decide(front, { run, ask, version, press, ok: true, via: "form", ...data }, person)
}

function answerIn({ kind }: Ask, request: Request, values: unknown): Read {
  const { schema, questions } = request.data ?? {}
  if (isRecord(schema)) return readFields(schema, values)
  if (questions !== undefined) return readQuestions(questions, values)
  const output = kind === "input" || kind === "question" ? wordsIn(values) : undefined
  return output === undefined
    ? { ok: false, errors: wordsError("Please answer this.") }
    : { ok: true, data: { output } }
}

const counts = (said: Said): boolean =>
  (said.about === "decision" && (said.outcome.kind === "recorded" || said.outcome.kind === "voted")) ||
  (said.about === "edit" && said.outcome.kind === "edited")

/** Closes the window, marks its fields, or has it say something. False when Slack did not get the answer. */
async function reply(front: Front, ack: Ack, form: FormName, came: Came | undefined): Promise<boolean> {
  try {
    await ack(responseOf(form, came))
    return true
  } catch (error) {
    front.log.warn({ err: error }, "an ack of a form did not get through")
    return false
  }
}

function responseOf(form: FormName, came: Came | undefined): Record<string, unknown> | undefined {
  const saying = (said: Said) => ({ response_action: "update", view: sayingView(form, words(said)) })
  if (came === undefined) return saying({ about: "received" })
  if ("errors" in came) return { response_action: "errors", errors: came.errors }
  return came.told ? undefined : saying(came.said)
}
