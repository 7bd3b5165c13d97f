/**
 * How this Slack misbehaves on request: rules that are matched against calls and envelopes, and their effects on them. It does
 * not know what a call does.
 */
import type { Args } from "./content.ts"
import type { Workspace } from "./workspace.ts"

/** What to do to a call, or ("repeat", "drop-socket") to an envelope on its way to the app. */
export type Deed =
  | "lose-reply"
  | "delay"
  | "hold"
  | "error"
  | "status"
  | "429"
  | "hang"
  | "pace"
  | "repeat"
  | "drop-socket"

export interface Rule {
  /** Absent: only `during` is run. */
  do?: Deed
  /** A Web API method, or "response_url"; absent: any. */
  method?: string
  channel?: string
  /** For envelopes: "slash_commands", "interactive" or "events_api"; absent: any. */
  envelope?: string
  /** How often it acts; absent: always. */
  times?: number
  /** For "delay", and the shortest time between two calls for "pace" (1000). */
  ms?: number
  /** For "error": Slack's word (internal_error). */
  error?: string
  /** For "status" (500). */
  status?: number
  /** For "429", in seconds (1). */
  retryAfter?: number
  /** Act when the call has been carried out and is not yet answered, instead of before it. */
  after?: boolean
}

/** A rule in force. `during` runs inside the request: carried out, not yet answered. */
export interface Armed {
  readonly rule: Rule
  readonly hits: number
  /** Acts no more; what it holds stays held. */
  cease: () => void
  /** Lets go what it holds, and holds nothing any more. */
  release: () => void
  remove: () => void
}

export type During = (call: { method: string; args: Args }) => unknown

/** What becomes of a call instead of its proper answer. */
export type Verdict =
  | { kind: "drop" }
  | { kind: "hang" }
  | { kind: "answer"; status: number; body: Record<string, unknown>; headers?: Record<string, string> }

interface Entry extends Armed {
  hits: number
  left: number
  during: During | undefined
  freed: Promise<void>
}

type Phase = "before" | "after"

export class Misbehaviour {
  readonly #workspace: Workspace
  #entries: Entry[] = []
  readonly #lastCall = new Map<string, number>()

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  /** The rules that still act; `times` counts what is left. */
  rules(): Rule[] {
    return this.#entries
      .filter(({ left }) => left > 0)
      .map(({ rule, left }) => ({ ...rule, ...(Number.isFinite(left) ? { times: left } : {}) }))
  }

  add(rule: Rule & { during?: During }): Armed {
    const { during, ...rest } = rule
    let free: () => void = () => undefined
    const freed = new Promise<void>((resolve) => {
      free = resolve
    })
    const remove = (): void => {
      this.#entries = this.#entries.filter((it) => it !== entry)
      free()
      this.#workspace.changed()
    }
    const left = rule.times ?? Infinity
    const cease = (): void => void (entry.left = 0)
    const entry: Entry = { rule: rest, hits: 0, left, during, freed, cease, remove, release: remove }
    this.#entries.push(entry)
    this.#workspace.changed()
    return entry
  }

  /** Takes back every rule and releases what is held. */
  clear(): void {
    for (const entry of this.#entries) entry.remove()
  }

  /** What the rules do to a call before it is carried out. */
  before(method: string, args: Args): Promise<Verdict | undefined> {
    return this.#act("before", method, args)
  }

  /** What they do when it has been carried out and is not yet answered. */
  after(method: string, args: Args): Promise<Verdict | undefined> {
    return this.#act("after", method, args)
  }

  /** What they do to an envelope. */
  envelope(type: string): { repeat: boolean; drop: boolean } {
    const hit = (deed: Deed): boolean => {
      const entry = this.#entries.find((it) => it.rule.do === deed && (it.rule.envelope ?? type) === type)
      return entry !== undefined && this.#spend(entry)
    }
    return { repeat: hit("repeat"), drop: hit("drop-socket") }
  }

  async #act(phase: Phase, method: string, args: Args): Promise<Verdict | undefined> {
    for (const entry of this.#entries.filter((it) => this.#concerns(it, phase, method, args))) {
      if (!this.#spend(entry)) continue
      await entry.during?.({ method, args })
      const verdict = await this.#carryOut(entry, method, args)
      if (verdict) return verdict
    }
    return undefined
  }

  #concerns({ rule, during }: Entry, phase: Phase, method: string, args: Args): boolean {
    if (rule.do === "repeat" || rule.do === "drop-socket") return false
    const late = rule.after === true || rule.do === "lose-reply" || during !== undefined
    if (late !== (phase === "after")) return false
    if ((rule.method ?? method) !== method) return false
    return rule.channel === undefined || rule.channel === args["channel"]
  }

  #spend(entry: Entry): boolean {
    if (entry.left <= 0) return false
    entry.left -= 1
    entry.hits += 1
    this.#workspace.changed()
    return true
  }

  async #carryOut({ rule, freed }: Entry, method: string, args: Args): Promise<Verdict | undefined> {
    if (rule.do === "delay") await new Promise((resolve) => setTimeout(resolve, rule.ms ?? 1000))
    if (rule.do === "hold") await freed
    if (rule.do === "pace") return this.#pace(`${method} ${JSON.stringify(args["channel"])}`, rule.ms ?? 1000)
    return rule.do && VERDICTS[rule.do]?.(rule)
  }

  #pace(key: string, ms: number): Verdict | undefined {
    const now = this.#workspace.now()
    const next = (this.#lastCall.get(key) ?? -Infinity) + ms
    if (now < next) return limited(Math.ceil((next - now) / 1000))
    this.#lastCall.set(key, now)
    return undefined
  }
}

const limited = (seconds: number): Verdict => ({
  kind: "answer",
  status: 429,
  body: { ok: false, error: "ratelimited" },
  headers: { "retry-after": String(seconds) },
})

const VERDICTS: Partial<Record<Deed, (rule: Rule) => Verdict>> = {
  "lose-reply": () => ({ kind: "drop" }),
  hang: () => ({ kind: "hang" }),
  error: ({ error = "internal_error" }) => ({ kind: "answer", status: 200, body: { ok: false, error } }),
  status: ({ status = 500 }) => ({ kind: "answer", status, body: { ok: false, error: "internal_error" } }),
  "429": ({ retryAfter = 1 }) => limited(retryAfter),
}
