/**
 * What the buttons say and how it is read back, side by side; and what a command says. Whatever comes back was in other
 * hands: a value only names an ask, it grants nothing. Knows no rights and looks nothing up.
 */
import type { ModalView } from "@slack/types"
import type { Ask, DoubtChoice, Run } from "../../core/run.ts"

/** The action ids of everything that can be pressed. */
export const PRESS = {
  approve: "approve",
  decline: "decline",
  reveal: "reveal",
  answer: "answer",
  again: "again",
  done: "done",
  failed: "failed",
  cancel: "cancel",
} as const

/** Which ask at which version: the value of its buttons. */
export const refOf = (run: Pick<Run, "id">, ask: Pick<Ask, "id" | "version">): string =>
  `${run.id}:${ask.version}:${ask.id}`

export interface Ref {
  run: string
  ask: string
  version: number
}

/** Where and by whom something was pressed, as Slack says. */
export interface Press {
  user: string
  team?: string
  enterprise?: string
  name?: string
  channel?: string
  /** Of the message that was pressed on. */
  ts?: string
  thread?: string
  responseUrl?: string
  trigger?: string
  /** The same over redeliveries of one press. */
  cause: string
}

export type Intent =
  | ({ kind: "decide"; ok: boolean; choice?: DoubtChoice; output?: string; press: Press } & Ref)
  | ({ kind: "reveal"; press: Press } & Ref)
  | ({ kind: "answer"; press: Press } & Ref)
  | { kind: "cancel"; run: string; press: Press }
  | { kind: "none"; why: string }

type Fields = Record<string, unknown>

const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {}
const text = (value: unknown, pattern = /^.+$/su): string | undefined =>
  typeof value === "string" && value.length <= 4000 && pattern.test(value) ? value : undefined
const none = (why: string): Intent => ({ kind: "none", why })

const RUN = /^[A-Za-z0-9_-]{1,64}$/

/** Reads a button's value; undefined for anything that we don't write. */
export function readRef(value: unknown): Ref | undefined {
  const match = /^([A-Za-z0-9_-]{1,64}):([1-9]\d{0,8}):(.+)$/su.exec(text(value) ?? "")
  const [, run, version, ask] = match ?? []
  return run === undefined || ask === undefined ? undefined : { run, ask, version: Number(version) }
}

/** What a press on one of our buttons, or the submission of our form, asks for. Never throws. */
export function intentOf(body: unknown): Intent {
  const it = fields(body)
  if (it["type"] === "view_submission") return submitted(it)
  return it["type"] === "block_actions" ? pressed(it) : none("not a press")
}

function pressed(it: Fields): Intent {
  const list: unknown = it["actions"]
  if (!Array.isArray(list) || list.length !== 1) return none("not one press")
  const action = fields(list[0])
  if (action["type"] !== "button") return none("not a button")
  const id = text(action["action_id"]) ?? ""
  const press = pressOf(it, `${id}:${text(action["action_ts"], /^[\d.]{1,40}$/) ?? ""}`)
  if (!press) return none("nobody pressed")
  if (id !== PRESS.cancel) return meant(id, readRef(action["value"]), press)
  const run = text(action["value"], RUN)
  return run === undefined ? none("no run") : { kind: "cancel", run, press }
}

function meant(id: string, ref: Ref | undefined, press: Press): Intent {
  if (!ref) return none("no ask")
  switch (id) {
    case PRESS.approve:
      return { kind: "decide", ...ref, ok: true, press }
    case PRESS.decline:
    case PRESS.failed:
      return { kind: "decide", ...ref, ok: false, press }
    case PRESS.again:
    case PRESS.done:
      return { kind: "decide", ...ref, ok: true, choice: id, press }
    case PRESS.reveal:
    case PRESS.answer:
      return { kind: id, ...ref, press }
    default:
      return none("not a button of ours")
  }
}

/** Who and where; undefined without a user. */
function pressOf(it: Fields, what: string): Press | undefined {
  const user = fields(it["user"])
  const id = text(user["id"], /^[UW][A-Z0-9]{1,40}$/)
  if (id === undefined) return undefined
  const container = fields(it["container"])
  return {
    user: id,
    cause: `${what}:${id}`,
    ...given("team", text(user["team_id"]) ?? text(fields(it["team"])["id"])),
    ...given("enterprise", text(fields(it["enterprise"])["id"]) ?? text(fields(it["team"])["enterprise_id"])),
    ...given("name", text(user["name"]) ?? text(user["username"])),
    ...given("channel", text(container["channel_id"]) ?? text(fields(it["channel"])["id"])),
    ...given("ts", text(container["message_ts"])),
    ...given("thread", text(container["thread_ts"])),
    ...given("responseUrl", text(it["response_url"])),
    ...given("trigger", text(it["trigger_id"])),
  }
}

const given = <K extends string>(key: K, value: string | undefined): { [P in K]?: string } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: string }

const FORM = "answer"
const FIELD = "words"

/**
 * The form for an answer in words. It is opened from the press alone, before anything is looked up, so it says nothing of
 * the question; `said` (at most 2,000 characters) comes back with the submission.
 */
export function answerForm(ref: Ref, back: { channel?: string; responseUrl?: string } = {}): ModalView {
  const { run, version, ask } = ref
  return {
    type: "modal",
    callback_id: FORM,
    private_metadata: JSON.stringify({ ref: refOf({ id: run }, { id: ask, version }), ...back }),
    title: { type: "plain_text", text: "Answer the agent", emoji: false },
    submit: { type: "plain_text", text: "Send answer", emoji: false },
    close: { type: "plain_text", text: "Back", emoji: false },
    blocks: [
      {
        type: "input",
        block_id: FIELD,
        label: { type: "plain_text", text: "Your answer to the question on the card", emoji: false },
        hint: {
          type: "plain_text",
          text: "It goes to the agent as you write it, and is kept with the run. Never write passwords, keys or codes here.",
          emoji: false,
        },
        element: { type: "plain_text_input", action_id: FIELD, multiline: true, max_length: 3000, focus_on_load: true },
      },
    ],
  }
}

function submitted(it: Fields): Intent {
  const view = fields(it["view"])
  if (view["callback_id"] !== FORM) return none("not a form of ours")
  const back = metadataOf(view["private_metadata"])
  const ref = readRef(back["ref"])
  if (!ref) return none("no ask")
  const output = fields(fields(fields(fields(view["state"])["values"])[FIELD])[FIELD])["value"]
  if (typeof output !== "string") return none("no answer")
  const press = pressOf(it, `${FORM}:${text(view["id"]) ?? ""}`)
  if (!press) return none("nobody pressed")
  const place = { ...given("channel", text(back["channel"])), ...given("responseUrl", text(back["responseUrl"])) }
  return { kind: "decide", ...ref, ok: true, output, press: { ...press, ...place } }
}

function metadataOf(value: unknown): Fields {
  try {
    return fields(JSON.parse(text(value) ?? "{}"))
  } catch {
    return {}
  }
}

export type Command =
  | { kind: "help" }
  | { kind: "list" }
  /** `run` is empty when none was named. */
  | { kind: "cancel"; run: string }
  | { kind: "start"; prompt: string }

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" }

/** What the text behind the command means. Slack escapes `&`, `<` and `>` in it; the person's own words come out. */
export function commandOf(raw: string): Command {
  const said = raw.replaceAll(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity).trim()
  if (said === "" || /^help$/i.test(said)) return { kind: "help" }
  if (/^list$/i.test(said)) return { kind: "list" }
  const cancel = /^cancel(?:\s+(\S+))?$/i.exec(said)
  return cancel
    ? { kind: "cancel", run: cancel[1]?.replaceAll(/^[`'"“‘]|[`'"”’]$/g, "") ?? "" }
    : { kind: "start", prompt: said }
}
