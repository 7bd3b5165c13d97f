/**
 * What the browser page asks and does, as JSON: the state as one person sees it, and that person's acts. Whether a request may
 * come in at all is the server's business.
 */
import { z } from "zod"
import type { Channel } from "./directory.ts"
import type { LiveWorkspace, Seen } from "./live.ts"
import type { Rule } from "./misbehave.ts"
import type { Message, Place, State } from "./workspace.ts"

/** What everybody who looks at the page as `me` sees. */
export function stateOf(workspace: LiveWorkspace, me: string): State<Rule> | undefined {
  if (!workspace.people.has(me)) return undefined
  const channels = [...workspace.channels.values()].filter((it) => it.members.includes(me))
  const mine = workspace.ephemerals(me)
  const messages = new Map(
    channels.map(({ id }): [string, Message[]] => {
      const all = [...workspace.messages(id), ...mine.filter((it) => it.channel === id)]
      return [id, all.sort((a, b) => Number(a.ts) - Number(b.ts))]
    }),
  )
  const notifications = notificationsOf(workspace)
  const home = workspace.home(me)
  return {
    me,
    people: [...workspace.people.values()].map(({ id, real_name, role }) => ({ id, name: real_name, role })),
    channels: channels.map((channel) => {
      const upTo = workspace.readUpTo(me, channel.id)
      const unread = (messages.get(channel.id) ?? []).some(({ ts, user }) => ts > upTo && user !== me)
      const pings = notifications.filter((it) => it.user === me && it.channel === channel.id && !it.seen && !it.gone)
      const beside = {
        prompts: workspace.beside.promptsOf(channel.id),
        statuses: workspace.beside.statusesOf(channel.id),
      }
      return { ...placeOf(workspace, channel, me), unread, pings: pings.length, ...beside }
    }),
    groups: [...workspace.groups.values()].map(({ id, handle }) => ({ id, name: handle })),
    messages: Object.fromEntries(messages),
    views: workspace.views(me),
    ...(home ? { home } : {}),
    notifications,
    misbehave: workspace.rules(),
    connected: workspace.sockets.count,
  }
}

/** A channel as one of its members calls it. */
function placeOf(workspace: LiveWorkspace, { id, name, kind, members, is_ext_shared }: Channel, me: string): Place {
  if (kind !== "dm") return { id, name, kind, ...(is_ext_shared ? { shared: true } : {}) }
  const other = workspace.people.get(members.find((it) => it !== me) ?? "")
  return other ? { id, name: other.real_name, kind, with: other.id } : { id, name, kind }
}

const notificationsOf = (workspace: LiveWorkspace): State["notifications"] =>
  workspace.notifications().map((it) => ({
    ...it,
    place: placeOf(workspace, workspace.channel(it.channel), it.user),
    seen: it.ts <= workspace.readUpTo(it.user, it.channel),
    gone: !workspace.holds(it.channel, it.ts),
  }))

export interface Answer {
  ok: boolean
  response?: unknown
  error?: string
}

const as = { as: z.string() }
const record = z.record(z.string(), z.unknown())
const rule = z.strictObject({
  do: z.enum(["lose-reply", "delay", "hold", "error", "status", "429", "hang", "pace", "repeat", "drop-socket"]),
  method: z.string().optional(),
  channel: z.string().optional(),
  envelope: z.string().optional(),
  times: z.int().positive().optional(),
  ms: z.int().positive().optional(),
  error: z.string().optional(),
  status: z.int().min(500).max(599).optional(),
  retryAfter: z.int().positive().optional(),
  after: z.boolean().optional(),
})

/** As the page sends it, in base64. */
const file = z
  .object({ name: z.string().max(200), mimetype: z.string().max(100), data: z.base64() })
  .transform(({ name, mimetype, data }) => ({ name, mimetype, bytes: Buffer.from(data, "base64") }))

const acts = {
  message: z.object({
    ...as,
    channel: z.string(),
    thread_ts: z.string().optional(),
    text: z.string(),
    files: z.array(file).max(10).default([]),
  }),
  click: z.object({
    ...as,
    channel: z.string().optional(),
    ts: z.string().optional(),
    view_id: z.string().optional(),
    action_id: z.string(),
    block_id: z.string().optional(),
    value: z.string().optional(),
    state: record.optional(),
  }),
  submit: z.object({ ...as, view_id: z.string(), values: z.record(z.string(), record).default({}) }),
  close: z.object({ ...as, view_id: z.string(), all: z.boolean().optional() }),
  home: z.object({ ...as, tab: z.enum(["home", "messages"]).optional() }),
  read: z.object({ ...as, channel: z.string(), ts: z.string() }),
  misbehave: z.object({ rules: z.array(rule) }),
}

type Doer = (workspace: LiveWorkspace, body: unknown) => Promise<Answer> | undefined

/** An act whose body is checked first; `undefined` for a body that makes no sense. */
const act =
  <T>(schema: z.ZodType<T>, run: (workspace: LiveWorkspace, body: T) => Promise<Answer>): Doer =>
  (workspace, body) => {
    const { success, data } = schema.safeParse(body)
    return success ? run(workspace, data) : undefined
  }

const told = ({ acked, response, error }: Seen): Answer => ({
  ok: acked && error === undefined,
  ...(response === undefined ? {} : { response }),
  ...(error === undefined ? {} : { error }),
})

async function write(workspace: LiveWorkspace, body: z.infer<typeof acts.message>): Promise<Answer> {
  const { as: user, channel, thread_ts, text, files } = body
  const [command = "", ...rest] = text.trim().split(" ")
  if (command.startsWith("/")) {
    if (thread_ts !== undefined) return { ok: false, error: "command_in_thread" }
    return told(await workspace.command(user, channel, rest.join(" ").trim(), command))
  }
  const response = workspace.say(user, channel, text, thread_ts, files)
  return response ? { ok: true, response } : { ok: false, error: "not_posted" }
}

async function click(workspace: LiveWorkspace, body: z.infer<typeof acts.click>): Promise<Answer> {
  const { as: user, channel, ts, view_id, action_id, block_id, value, state } = body
  const press = {
    ...(block_id === undefined ? {} : { block_id }),
    ...(value === undefined ? {} : { value }),
    ...(state === undefined ? {} : { state }),
  }
  if (view_id !== undefined) return told(await workspace.click(user, { view_id }, action_id, press))
  if (channel === undefined || ts === undefined) return { ok: false, error: "no_such_action" }
  return told(await workspace.click(user, { channel, ts }, action_id, press))
}

/** The acts by the last part of their path, `/sandbox/<act>`. */
export const ACTS = new Map<string, Doer>([
  ["message", act(acts.message, write)],
  ["click", act(acts.click, click)],
  [
    "submit",
    act(acts.submit, async (it, { as: user, view_id, values }) => told(await it.submit(user, view_id, values))),
  ],
  ["close", act(acts.close, async (it, { as: user, view_id, all }) => told(await it.closeView(user, view_id, all)))],
  ["home", act(acts.home, async (it, { as: user, tab }) => told(await it.openHome(user, tab)))],
  [
    "read",
    act(acts.read, async (it, { as: user, channel, ts }) => {
      it.markRead(user, channel, ts)
      return { ok: true }
    }),
  ],
  [
    "misbehave",
    act(acts.misbehave, async (it, { rules }) => {
      it.behave()
      for (const one of rules) it.misbehave(definite(one))
      return { ok: true }
    }),
  ],
])

/** The same without what is undefined, which an optional property may not hold. */
const definite = (one: z.infer<typeof rule>): Rule =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined))
