/**
 * The form in which a question is answered: its submission is an answer like a click, and its own window says what came of
 * it when that is known in time. Knows no rule by which anything is decided.
 */
import type { ModalView } from "@slack/types"
import type { Person } from "../core/fact.ts"
import { answerForm, intentOf, type Intent } from "./blocks/intent.ts"
import { note, words } from "./blocks/words.ts"
import { decide, foresee, type Reaction } from "./decide.ts"
import { tell, type Front } from "./front.ts"
import { personOf, wayOf } from "./press.ts"
import { failed, inTime, type Ack } from "./replies.ts"

/** A window that says something and asks nothing. */
function wordsView(text: string): ModalView {
  return {
    type: "modal",
    title: { type: "plain_text", text: "Answer the agent", emoji: false },
    close: { type: "plain_text", text: "Close", emoji: false },
    blocks: [{ type: "section", text: { type: "plain_text", text, emoji: false } }],
  }
}

/** Opens it for whoever pressed Answer. Undefined: it stands open, or says itself why it can't be answered. */
export async function openForm(
  front: Front,
  intent: Extract<Intent, { kind: "answer" }>,
  person: Person,
): Promise<Reaction | undefined> {
  const { press } = intent
  const { channel, responseUrl, trigger = "" } = press
  const back = { ...(channel === undefined ? {} : { channel }), ...(responseUrl === undefined ? {} : { responseUrl }) }
  let view: string | undefined
  try {
    const opened = await front.client.views.open({ trigger_id: trigger, view: answerForm(intent, back) })
    view = opened.view?.id
  } catch (error) {
    front.log.warn({ err: error, run: intent.run }, "the form for an answer could not be opened")
    return { said: { about: "not recorded" }, told: false }
  }
  // It stands open by now; whoever can't answer is told before they write.
  const said = await foresee(front, intent, press, person).catch(failed)
  if (said === undefined || view === undefined) return undefined
  await front.client.views.update({ view_id: view, view: wordsView(words(said)) }).catch((error: unknown) => {
    front.log.warn({ err: error, run: intent.run }, "the form for an answer could not be changed")
  })
  return undefined
}

export async function onForm(front: Front, body: object, ack: Ack): Promise<void> {
  const intent = intentOf(body)
  if (intent.kind !== "decide") return ack()
  const work: Promise<Reaction> = decide(front, intent, personOf(intent.press)).catch((error: unknown) => {
    front.log.error({ err: error, run: intent.run }, "a form could not be dealt with")
    return { said: failed(error), told: false }
  })
  const early = await inTime(work)
  const shown = await answer(front, ack, early ? sayingOf(early.done) : words({ about: "received" }))
  if (early && shown) return
  const reaction = await work
  // A window that said "received" is owed the outcome, also when the card shows it.
  if (!reaction.told || isRecorded(reaction)) await tell(front, wayOf(intent.press), note(words(reaction.said)))
}

const sayingOf = ({ said, told }: Reaction): string | undefined => (told ? undefined : words(said))
const isRecorded = ({ said }: Reaction): boolean => said.about === "decision" && said.outcome.kind === "recorded"

/** Closes the window, or has it say something. False when Slack did not get the answer. */
async function answer(front: Front, ack: Ack, saying: string | undefined): Promise<boolean> {
  try {
    await ack(saying === undefined ? undefined : { response_action: "update", view: wordsView(saying) })
    return true
  } catch (error) {
    front.log.warn({ err: error }, "an ack of a form did not get through")
    return false
  }
}
