/**
 * Opening a window (modal) for whoever pressed a button: it stands at once, for what opens it is good for three seconds,
 * and is filled when it is known what belongs into it. A window that fails decides nothing, and the person is told.
 */
import type { ModalView } from "@slack/types"
import { WebAPIPlatformError } from "@slack/web-api"
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import { shownArgs } from "../core/mask.ts"
import { ruleOf } from "../core/run.ts"
import { find, textsOf, type Found } from "./ask.ts"
import { short } from "./blocks/rich.ts"
import { fieldsOf } from "./blocks/fields.ts"
import { questionBlocks } from "./blocks/fields/questions.ts"
import { answerInFields, answerInWords, checking, reasonForm, sayingView } from "./blocks/forms.ts"
import { verdictOf, type Carried, type Intent } from "./blocks/intent.ts"
import { beside } from "./blocks/material.ts"
import { visibleJson } from "./blocks/text.ts"
import { words, type Said } from "./blocks/words.ts"
import { foresee, type Reaction } from "./decide.ts"
import { fillDetails } from "./details.ts"
import { fillEdit } from "./edit.ts"
import type { Front } from "./front.ts"
import { grantWords } from "./blocks/rule.ts"
import { failed } from "./replies.ts"
import { fillSignIn } from "./sign-in.ts"

export type Opening = Extract<Intent, { kind: "open" }>

/** Opens it. Undefined: it stands, with what it is for or with why there is nothing to do. */
export async function openWindow(front: Front, intent: Opening, person: Person): Promise<Reaction | undefined> {
  const { press, window } = intent
  const carried = carriedBy(intent)
  let view: string | undefined
  try {
    const opened = await front.client.views.open({
      trigger_id: press.trigger ?? "",
      view: checking(window, carried),
    })
    view = opened.view?.id
  } catch (error) {
    front.log.warn({ err: error, run: intent.run, window }, "a window could not be opened")
  }
  if (view === undefined) return { said: { about: "no window" }, told: false }
  try {
    await front.client.views.update({ view_id: view, view: await filled(front, intent, carried, person) })
  } catch (error) {
    // Whoever closed it meanwhile is told of that.
    if (error instanceof WebAPIPlatformError && error.data.error === "not_found") return undefined
    front.log.warn({ err: error, run: intent.run, window }, "a window could not be filled")
    return { said: { about: "empty window" }, told: false }
  }
  return undefined
}

function carriedBy({ run, ask, version, says, press }: Opening): Carried {
  const { channel, thread, ts, responseUrl } = press
  const back = {
    ...(channel === undefined ? {} : { channel }),
    ...(thread === undefined || thread === ts ? {} : { thread }),
    ...(responseUrl === undefined ? {} : { responseUrl }),
  }
  return { ref: { run, ask, version }, says, back }
}

/** What belongs into it, for this person. Never throws. */
async function filled(front: Front, intent: Opening, carried: Carried, person: Person): Promise<ModalView> {
  const { window } = intent
  const made = await viewOf(front, intent, carried, person).catch((error: unknown): Said => {
    front.log.error({ err: error, run: intent.run, window }, "what belongs into a window could not be looked up")
    return failed(error)
  })
  return "about" in made ? sayingView(window, words(made)) : made
}

async function viewOf(front: Front, intent: Opening, carried: Carried, person: Person): Promise<ModalView | Said> {
  const found = await find(front, intent)
  if (!found) return { about: "stale" }
  switch (intent.window) {
    case "reason":
      return reason(front, intent, carried, person, found)
    case "answer":
      return answer(front, intent, carried, person, found)
    case "edit":
      return fillEdit(front, intent, carried, person, found)
    case "details":
      return fillDetails(front, person, found)
    case "sign-in":
      return fillSignIn(front, intent.press, person, found)
  }
}

async function reason(
  front: Front,
  intent: Opening,
  carried: Carried,
  person: Person,
  found: Found,
): Promise<ModalView | Said> {
  const { says = "decline" } = intent
  const { ok } = verdictOf(says)
  const { run, ask, version, press } = intent
  const said = await foresee(front, { run, ask, version, ...choiceOf(says), ok, press }, person, found)
  if (said) return said
  const rule = ruleOf(found.ask)
  const need = (ok ? rule.reason?.approve : rule.reason?.decline) ?? "optional"
  const { args } = await textsOf(front, run, found.ask)
  const more = says === "grant" ? { more: grantWords(rule, args) } : {}
  const { tool, digest } = found.ask
  const shown = visibleJson(shownArgs(args, rule.mask).text)
  return reasonForm({ ...carried, says }, { tool, args: shown, fingerprint: short(digest), need, ...more })
}

function choiceOf(says: Opening["says"] & string): { choice?: "again" | "done" } {
  const { choice } = verdictOf(says)
  return choice === undefined ? {} : { choice }
}

async function answer(
  front: Front,
  { run, ask, version, press }: Opening,
  carried: Carried,
  person: Person,
  found: Found,
): Promise<ModalView | Said> {
  const said = await foresee(front, { run, ask, version, ok: true, press }, person, found)
  if (said) return said
  const { request, args } = await textsOf(front, run, found.ask)
  const asked = beside({ ask: found.ask, args }, request.prompt)
  const { schema, questions } = request.data ?? {}
  const made = isRecord(schema) ? fieldsOf(schema) : questions === undefined ? undefined : questionBlocks(questions)
  if (made === undefined) return answerInWords(carried, asked)
  return made.ok ? answerInFields(carried, asked, made.blocks) : { about: "unanswerable", why: made.why }
}
