/** What the local Slack tells this page and what the page may ask of it. Nothing here draws. */
import type { Rule } from "../misbehave.ts"
import type * as workspace from "../workspace.ts"

export type { Block, Message, View } from "../workspace.ts"

export type { Rule } from "../misbehave.ts"
export type State = workspace.State<Rule>
export type Person = State["people"][number]
export type Channel = State["channels"][number]
export type Notification = State["notifications"][number]

/** What a person saw of something done: `response` is the app's own answer, `error` what Slack says when there is none. */
export interface Outcome {
  ok: boolean
  error?: string
  response?: unknown
}

export interface Press {
  action_id: string
  block_id: string
  value?: string
  state?: unknown
}

async function post(path: string, body: object): Promise<Outcome> {
  try {
    const reply = await fetch(`/sandbox/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    const outcome: Outcome = await reply.json()
    return outcome
  } catch {
    return { ok: false, error: "no_connection" }
  }
}

export interface Written {
  channel: string
  thread_ts: string | undefined
  text: string
  files: readonly File[]
}

export async function send(as: string, { files, ...written }: Written): Promise<Outcome> {
  try {
    return await post("message", { as, ...written, files: await Promise.all(files.map(asSent)) })
  } catch {
    return { ok: false, error: "unreadable_file" }
  }
}

/** With its bytes in base64. */
const asSent = (file: File): Promise<{ name: string; mimetype: string; data: string }> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("error", () => reject(new Error("the file can't be read")))
    reader.addEventListener("load", () => {
      const address = typeof reader.result === "string" ? reader.result : ""
      const data = address.split(",", 2)[1] ?? ""
      const mimetype = (file.type || "application/octet-stream").slice(0, 100)
      resolve({ name: file.name.slice(-200), mimetype, data })
    })
    reader.readAsDataURL(file)
  })

export const click = (as: string, at: { channel: string; ts: string } | { view_id: string }, press: Press) =>
  post("click", { as, ...at, ...press })

export const submit = (as: string, view_id: string, values: unknown): Promise<Outcome> =>
  post("submit", { as, view_id, values })

export const close = (as: string, view_id: string, all: boolean): Promise<Outcome> =>
  post("close", { as, view_id, all })
/** Opens the app on one of its tabs; the app hears of it. */
export const openApp = (as: string, tab: "home" | "messages"): Promise<Outcome> => post("home", { as, tab })
export const read = (as: string, channel: string, ts: string): Promise<Outcome> => post("read", { as, channel, ts })
export const misbehave = (rules: Rule[]): Promise<Outcome> => post("misbehave", { rules })

async function readState(as: string): Promise<State | undefined> {
  const reply = await fetch(`/sandbox/state?as=${encodeURIComponent(as)}`)
  if (!reply.ok) return undefined
  const state: State = await reply.json()
  return state
}

/** Milliseconds. */
const RETRY_AFTER = 1500

export interface Watch {
  /** Reads again now, and tells. */
  refresh: () => void
  stop: () => void
}

/**
 * Tells what `as` sees, now and after every change, and whether the local Slack can be reached. Changes that come while
 * a read is under way lead to one more read, however many they were.
 */
export function watch(as: string, told: (state: State) => void, reachable: (yes: boolean) => void): Watch {
  let reading = false
  let again = false
  const stopped = new AbortController()
  const read = async (): Promise<void> => {
    again = true
    if (reading) return
    reading = true
    while (again && !stopped.signal.aborted) {
      again = false
      const state = await readState(as).catch(() => undefined)
      if (stopped.signal.aborted) return
      reachable(state !== undefined)
      if (state !== undefined) told(state)
    }
    reading = false
  }
  const refresh = (): void => void read()
  let events: EventSource | undefined
  const listen = (): void => {
    if (stopped.signal.aborted) return
    events = new EventSource(`/sandbox/events?as=${encodeURIComponent(as)}`)
    events.addEventListener("change", refresh)
    events.addEventListener("open", refresh)
    events.addEventListener("error", () => {
      reachable(false)
      // After some errors the browser does not try again by itself.
      if (events?.readyState === EventSource.CLOSED) setTimeout(listen, RETRY_AFTER)
    })
  }
  listen()
  refresh()
  return {
    refresh,
    stop() {
      stopped.abort()
      events?.close()
    },
  }
}
