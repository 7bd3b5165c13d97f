/**
 * The windows (modals) of an ask: the one that stands while things are looked up, the ones that ask for something, and the
 * one that says something. Pure; opens none and decides nothing.
 */
import type { InputBlock, KnownBlock, ModalView, PlainTextElement } from "@slack/types"
import { isRecord } from "../../core/json.ts"
import type { Need } from "../../core/policy.ts"
import { carry, type Carried, type FormName, type VerdictName, type WindowName } from "./intent.ts"
import { bold, code, rich, section } from "./rich.ts"
import { chunks, clip, oneLine, toolName, visible } from "./text.ts"

const plain = (text: string): PlainTextElement => ({ type: "plain_text", text, emoji: false })

/** At most 24 characters. */
const TITLES: Record<WindowName, string> = {
  reason: "Say why",
  answer: "Answer the agent",
  edit: "Edit before approving",
  details: "Details",
  "sign-in": "Sign in",
}

const isForm = (window: WindowName): window is FormName => window !== "details" && window !== "sign-in"

/** Whoever closes a form is told that nothing came of it. */
const formed = (form: FormName, carried: Carried): Partial<ModalView> => ({
  callback_id: form,
  private_metadata: carry(carried),
  notify_on_close: true,
})

/** What stands at once, while nobody knows yet what belongs into it. */
export const checking = (window: WindowName, carried: Carried): ModalView => ({
  ...sayingView(window, "Checking…"),
  ...(isForm(window) ? formed(window, carried) : {}),
})

/** A window that says something and asks nothing. */
export function sayingView(window: WindowName, text: string): ModalView {
  const [said = " "] = chunks(visible(text), 2900)
  return windowOf(window, [{ type: "section", text: plain(said) }])
}

/** A window to look at. */
export const windowOf = (window: WindowName, blocks: KnownBlock[]): ModalView => ({
  type: "modal",
  title: plain(TITLES[window]),
  close: plain("Close"),
  blocks,
})

const formView = (form: FormName, carried: Carried, how: { submit: string; blocks: KnownBlock[] }): ModalView => ({
  type: "modal",
  ...formed(form, carried),
  title: plain(TITLES[form]),
  submit: plain(how.submit),
  close: plain("Back"),
  blocks: how.blocks,
})

/** The one text input of a form, where that is all there is. */
const WORDS = "words"

/** What was written there, if anything. */
export function wordsIn(values: unknown): string | undefined {
  const block = isRecord(values) ? values[WORDS] : undefined
  const input = isRecord(block) ? block[WORDS] : undefined
  const value = isRecord(input) ? input["value"] : undefined
  return typeof value === "string" && value.trim() !== "" ? value : undefined
}

/** What is wrong with it, as a modal's `errors` want it. */
export const wordsError = (text: string): Record<string, string> => ({ [WORDS]: text })

function wordsInput(how: { label: string; hint: string; optional: boolean; max: number }): InputBlock {
  return {
    type: "input",
    block_id: WORDS,
    optional: how.optional,
    label: plain(how.label),
    hint: plain(how.hint),
    element: { type: "plain_text_input", action_id: WORDS, multiline: true, max_length: how.max, focus_on_load: true },
  }
}

const NEVER = "Never write passwords, keys or codes here."

/** What a reason is asked for, as it goes on after "Why". */
const REASON: Record<VerdictName, { submit: string; doing: string }> = {
  approve: { submit: "Approve", doing: "You are about to approve" },
  grant: { submit: "Approve", doing: "You are about to approve" },
  decline: { submit: "Decline", doing: "You are about to decline" },
  again: { submit: "Run it again", doing: "You are about to have it run again:" },
  done: { submit: "It was done", doing: "You are about to say that it was done:" },
  failed: { submit: "It failed", doing: "You are about to say that it failed:" },
}

/** Asks why, before it is said. `args`: as they may be shown, on one line; `more`: what else comes with it, as a sentence. */
export function reasonForm(
  carried: Carried & { says: VerdictName },
  about: { tool: string; args: string; fingerprint: string; need: Need; more?: string },
): ModalView {
  const { submit, doing } = REASON[carried.says]
  const more = about.more === undefined ? [] : [`\n${about.more}`]
  return formView("reason", carried, {
    submit,
    blocks: [
      rich(
        section(
          `${doing} `,
          bold(toolName(about.tool)),
          " with ",
          code(clip(about.args, 400)),
          ". Fingerprint ",
          code(about.fingerprint),
          ...more,
        ),
      ),
      wordsInput({
        label: "Why?",
        hint: `The agent reads it, and it is kept with the run. ${NEVER}`,
        optional: about.need === "optional",
        max: REASON_MAX,
      }),
    ],
  })
}

/** Characters of a reason. */
const REASON_MAX = 1000

/** The form for an answer in words. */
export const answerInWords = (carried: Carried, asked: string): ModalView =>
  formView("answer", carried, {
    submit: "Send answer",
    blocks: [
      ...askedBlocks(asked),
      wordsInput({
        label: "Your answer",
        hint: `It goes to the agent as you write it, and is kept with the run. ${NEVER}`,
        optional: false,
        max: 3000,
      }),
    ],
  })

/** The form for an answer in fields. */
export const answerInFields = (carried: Carried, asked: string, fields: InputBlock[]): ModalView =>
  formView("answer", carried, {
    submit: "Send answer",
    blocks: [
      ...askedBlocks(asked),
      ...fields,
      note(`What you answer goes to the agent and is kept with the run. ${NEVER}`),
    ],
  })

/** `asked` is masked already. */
function askedBlocks(asked: string): KnownBlock[] {
  const said = visible(asked).trim()
  return said === "" ? [] : [{ type: "section", text: plain(clip(said, 2800)) }]
}

/** The form in which the args are changed; `kept` names what is not offered. */
export function editForm(
  carried: Carried,
  about: { tool: string; fingerprint: string; kept: readonly string[]; votes: boolean },
  fields: InputBlock[],
): ModalView {
  const { tool, fingerprint, kept, votes } = about
  const editor = votes ? "whoever changes it may approve it all the same" : "whoever changes it can't approve it"
  const names = clip(kept.map(oneLine).join(", "), 1000)
  const stays = kept.length === 0 ? [] : [note(`Not offered here, and staying as it is: ${names}.`)]
  return formView("edit", carried, {
    submit: "Save",
    blocks: [
      rich(
        section(
          "These are the arguments of ",
          bold(toolName(tool)),
          ". Fingerprint ",
          code(fingerprint),
          `.\nSaving approves nothing: the card shows the change, whoever agreed already has to agree anew, and ${editor}.`,
        ),
      ),
      ...fields,
      ...stays,
    ],
  })
}

const note = (text: string): KnownBlock => ({ type: "context", elements: [plain(text)] })
