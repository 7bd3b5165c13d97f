/**
 * What the buttons and forms say and how it is read back; and what a command says. Whatever comes back was in other
 * hands: a value only names an ask, it grants nothing. Knows no rights and looks nothing up.
 */
import type { Ask, DoubtChoice, Run } from "../../core/run.ts"

/** The action ids of everything that can be pressed. */
export const PRESS = {
  approve: "approve",
  grant: "grant",
  decline: "decline",
  reveal: "reveal",
  answer: "answer",
  edit: "edit",
  details: "details",
  signIn: "sign-in",
  /** The link of a sign-in: opening it answers nothing. */
  link: "link",
  again: "again",
  done: "done",
  failed: "failed",
  cancel: "cancel",
} as const

/** What a person can say to an ask, by the button that says it. */
const VERDICTS = {
  approve: { ok: true },
  grant: { ok: true, grant: true },
  decline: { ok: false },
  again: { ok: true, choice: "again" },
  done: { ok: true, choice: "done" },
  failed: { ok: false },
} as const satisfies Record<string, Verdict>

export type VerdictName = keyof typeof VERDICTS

export interface Verdict {
  ok: boolean
  choice?: DoubtChoice
  grant?: boolean
}

export const verdictOf = (name: VerdictName): Verdict => VERDICTS[name]
const isVerdict = (name: string | undefined): name is VerdictName => name !== undefined && Object.hasOwn(VERDICTS, name)

const WHY = ":why"
/** The action id of a button that asks for the reason before it says anything. */
export const withReason = (name: VerdictName): string => `${name}${WHY}`

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

/** What opens a window, and which. */
export type WindowName = "reason" | "answer" | "edit" | "details" | "sign-in"
/** The windows in which something can be sent; their callback ids. */
const FORMS = ["reason", "answer", "edit"] as const
export type FormName = (typeof FORMS)[number]

export type Intent =
  | ({ kind: "decide"; says: VerdictName; press: Press } & Ref)
  | ({ kind: "reveal"; press: Press } & Ref)
  /** `says`: what the reason is for. */
  | ({ kind: "open"; window: WindowName; says?: VerdictName; press: Press } & Ref)
  /** `values`: the state of the form, as Slack says. */
  | ({ kind: "submit"; form: FormName; says?: VerdictName; values: unknown; press: Press } & Ref)
  | ({ kind: "closed"; form: FormName; press: Press } & Ref)
  | { kind: "cancel"; run: string; press: Press }
  /** A link of ours was opened. */
  | { kind: "link" }
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

/** What a press on one of our buttons asks for, or the sending or closing of a form of ours. Never throws. */
export function intentOf(body: unknown): Intent {
  const it = fields(body)
  if (it["type"] === "view_submission" || it["type"] === "view_closed") return formed(it)
  return it["type"] === "block_actions" ? pressed(it) : none("not a press")
}

function pressed(it: Fields): Intent {
  const list: unknown = it["actions"]
  if (!Array.isArray(list) || list.length !== 1) return none("not one press")
  const action = fields(list[0])
  if (action["type"] !== "button") return none("not a button")
  const id = text(action["action_id"]) ?? ""
  if (id === PRESS.link) return { kind: "link" }
  const press = pressOf(it, `${id}:${text(action["action_ts"], /^[\d.]{1,40}$/) ?? ""}`)
  if (!press) return none("nobody pressed")
  if (id !== PRESS.cancel) return meant(id, readRef(action["value"]), press)
  const run = text(action["value"], RUN)
  return run === undefined ? none("no run") : { kind: "cancel", run, press }
}

const WINDOWS: Record<string, WindowName> = {
  [PRESS.answer]: "answer",
  [PRESS.edit]: "edit",
  [PRESS.details]: "details",
  [PRESS.signIn]: "sign-in",
}

function meant(id: string, ref: Ref | undefined, press: Press): Intent {
  if (!ref) return none("no ask")
  if (isVerdict(id)) return { kind: "decide", says: id, ...ref, press }
  if (id === PRESS.reveal) return { kind: "reveal", ...ref, press }
  const says = id.endsWith(WHY) ? id.slice(0, -WHY.length) : undefined
  if (isVerdict(says)) return { kind: "open", window: "reason", says, ...ref, press }
  const window = Object.hasOwn(WINDOWS, id) ? WINDOWS[id] : undefined
  return window === undefined ? none("not a button of ours") : { kind: "open", window, ...ref, press }
}

/** Who and where; undefined without a user. */
export function pressOf(it: Fields, what: string): Press | undefined {
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

/** What a form carries along, for Slack says of it neither what it is about nor where its button was. */
export interface Carried {
  ref: Ref
  says?: VerdictName | undefined
  back: Pick<Press, "channel" | "thread" | "responseUrl">
}

/** For `private_metadata`. */
export const carry = ({ ref, says, back }: Carried): string =>
  JSON.stringify({
    ref: refOf({ id: ref.run }, { id: ref.ask, version: ref.version }),
    ...(says === undefined ? {} : { says }),
    ...given("channel", back.channel),
    ...given("thread", back.thread),
    ...given("responseUrl", back.responseUrl),
  })

function formed(it: Fields): Intent {
  const view = fields(it["view"])
  const form = FORMS.find((name) => name === view["callback_id"])
  if (form === undefined) return none("not a form of ours")
  const back = metadataOf(view["private_metadata"])
  const ref = readRef(back["ref"])
  if (!ref) return none("no ask")
  const pressed = pressOf(it, `${form}:${text(view["id"]) ?? ""}`)
  if (!pressed) return none("nobody pressed")
  const press: Press = {
    ...pressed,
    ...given("channel", text(back["channel"])),
    ...given("thread", text(back["thread"])),
    ...given("responseUrl", text(back["responseUrl"])),
  }
  if (it["type"] === "view_closed") return { kind: "closed", form, ...ref, press }
  const said = text(back["says"])
  const says = isVerdict(said) ? { says: said } : {}
  return { kind: "submit", form, ...says, values: fields(view["state"])["values"], ...ref, press }
}

function metadataOf(value: unknown): Fields {
  try {
    return fields(JSON.parse(text(value) ?? "{}"))
  } catch {
    return {}
  }
}
