/** Runs and steps for the tests of the store: made with the real transitions, from a person and a trigger id. */
import { sha256 } from "../../src/core/digest.ts"
import { type Outcome, settle } from "../../src/core/settle.ts"
import type { Rule } from "../../src/core/policy.ts"
import { type Run, type Step, step } from "../../src/core/run.ts"
import { begin, took } from "../../src/core/turn.ts"
import { runIdOf } from "../../src/store/keys.ts"
import { Store, type Change, type StoreOptions } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"

export const TEAM = "T1"
export const REQUESTER = { team: TEAM, user: "U_REQ" }
export const APPROVER = { team: TEAM, user: "U_APP1" }

let triggers = 0
/** The id of a run that nobody else has. */
export const freshId = (shards = 1): string => runIdOf(TEAM, `trigger ${process.pid} ${triggers++}`, shards)

export async function openStore(options: Partial<StoreOptions> = {}): Promise<Store> {
  return Store.open({ url: redisUrl(), prefix: freshPrefix(), shards: 1, confirm: 0, outbox: false, ...options })
}

const base = { keep: 30 * 86_400_000, rooted: true, via: "command" as const, channel: "C_OPS" }

/** Of two lines: what is its own title is not stored twice. */
export const PROMPT = "restart the web server\nplease"

/** Creates a run, recognised by its trigger. */
export const beginning =
  (id: string, prompt = PROMPT, transcript = ['{"role":"user","content":"restart web"}']) =>
  (run: Run | undefined, now: number): Change<"started" | "known"> =>
    run
      ? { outcome: "known" }
      : {
          step: begin({ ...base, id, cause: `trigger:${id}`, requester: REQUESTER, prompt, transcript }, now),
          outcome: "started",
        }

export const HOUR = 3_600_000

export const rule = (expiresIn = HOUR, approvers: string[] = ["U_APP1"]): Rule => ({
  approvers,
  selfApproval: false,
  expiresIn,
  startWithin: 900_000,
})

export const ARGS = '{"choices":[],"id":15947634569000323,"line":"a\u2028b","nul":"\\u0000"}'
export const DIGEST = sha256(ARGS)

/** The model's turn with one call that must be asked about, for `expiresIn` ms. */
export const asking =
  (ask: string, expiresIn = HOUR, approvers?: string[]) =>
  (run: Run | undefined, now: number): Change<"asked" | "no"> => {
    if (!run || run.calls.length > 0) return { outcome: "no" }
    const request = { id: ask, kind: "approval", prompt: "May I?", data: { path: ["a"], choices: [] } }
    const next = took(
      run,
      {
        message: '{"role":"assistant","content":"…"}',
        text: "I would like to restart it.",
        usage: { prompt: 1, completion: 1 },
        planned: [
          {
            ref: "call_1",
            tool: "restart",
            effects: "once",
            args: ARGS,
            digest: DIGEST,
            next: { do: "ask", request, rule: rule(expiresIn, approvers) },
          },
        ],
      },
      now,
    )
    return next ? { step: next, outcome: "asked" } : { outcome: "no" }
  }

/** A person's click on an ask; `cause` identifies it. */
export const clicking =
  (ask: string, cause: string, ok = true) =>
  (run: Run | undefined, now: number): Change<Outcome> => {
    if (!run) return { outcome: { kind: "unknown" } }
    const who = { person: APPROVER, standing: "member" as const, member: {} }
    return settle(run, { ask, version: 1, ok, who, via: "click", cause }, now)
  }

/** Any change at all, recognised by its cause; the smallest step there is. */
export const marking =
  (cause: string, rest: Partial<Omit<Step, "run" | "facts">> = {}) =>
  (run: Run | undefined, now: number): Change<"marked" | "known" | "none"> => {
    if (!run) return { outcome: "none" }
    if (cause in run.refusals) return { outcome: "known" }
    const next = { ...run, refusals: { ...run.refusals, [cause]: 1 } }
    const entry = { what: "refused" as const, via: "click" as const, cause }
    return { step: step(next, now, [entry], { show: "", ...rest }), outcome: "marked" }
  }

/** How many marks a run bears. */
export const marks = (run: Run | undefined): number => Object.keys(run?.refusals ?? {}).length
