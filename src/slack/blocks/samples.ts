/**
 * One message of every kind, made by the very functions that make the real ones: what tests pin, and what Slack itself can
 * be asked to check. Made up from end to end.
 */
import type { Rule } from "../../core/policy.ts"
import type { Ask, Run } from "../../core/run.ts"
import type { Request } from "../../core/suspension.ts"
import { argsMessages, card, minimal, type CardView } from "./card.ts"
import type { Message } from "./limits.ts"
import { help, list } from "./lists.ts"
import { answers, root } from "./messages.ts"
import { LINK, listSamples } from "./sample-lists.ts"
import { noticeSamples } from "./sample-notices.ts"
import { note, revealed, words } from "./words.ts"

export const AT = Date.UTC(2026, 10, 29, 11, 30)
export const MINUTE = 60_000
export const ANA = { team: "T0HOME", user: "U0ANA", name: "Ana Ruiz" }
export const BEN = { team: "T0HOME", user: "U0BEN", name: "Ben Okafor" }

export const sampleRun: Run = {
  format: 1,
  seal: "plain",
  id: "r007k2m9qxv4tb3",
  cause: "trigger",
  requester: ANA,
  channel: "C0OPS",
  title: "restart web in staging if it still answers 502",
  at: AT - 2 * MINUTE,
  keep: 30 * 24 * 60 * MINUTE,
  rooted: true,
  turns: 1,
  usage: { prompt: 900, completion: 60 },
  calls: [],
  asks: [],
  refusals: {},
  facts: { n: 3, hash: "" },
}

export const sampleAsk = (change: Partial<Ask> = {}): Ask => ({
  id: "pnd-5f3a",
  call: "1.1",
  tool: "restart",
  from: "guard",
  kind: "approval",
  version: 1,
  digest: "3c2f9a7be01d4c5e8f60718293a4b5c6d7e8f90123456789abcdef0123456789",
  at: AT,
  expiresAt: AT + 60 * MINUTE,
  rule: {
    approvers: ["S0SRE", "U0BEN"],
    selfApproval: false,
    expiresIn: 60 * MINUTE,
    startWithin: 15 * MINUTE,
  },
  ...change,
})

const request = (change: Partial<Request> = {}): Request => ({
  id: "pnd-5f3a",
  kind: "approval",
  prompt: "Run restart",
  ...change,
})

/** The view of a card about restarting a service, with what is to be different. */
export const sampleView = (
  change: Partial<CardView> = {},
  ofAsk: Partial<Ask> = {},
  ofRequest: Partial<Request> = {},
): CardView => ({
  run: sampleRun,
  ask: sampleAsk({ ...ofAsk, kind: ofRequest.kind ?? "approval" }),
  request: request(ofRequest),
  args: '{"env":"staging","service":"web"}',
  why: "web has answered 502 for ten minutes and its log shows that it ran out of memory. A restart should bring it back.",
  argsPosted: false,
  mention: false,
  names: { S0SRE: "SRE on call", U0BEN: "Ben Okafor" },
  ...change,
})

const by = (change: Partial<NonNullable<Ask["settled"]>>): Partial<Ask> => ({
  settled: { ok: true, by: BEN, via: "click", at: AT + 5 * MINUTE, cause: "click", ...change },
})
const timer: NonNullable<Ask["settled"]> = {
  ok: false,
  reason: "expired",
  via: "timer",
  at: AT + 60 * MINUTE,
  cause: "timer",
}
const known: NonNullable<Ask["settled"]> = {
  ok: true,
  choice: "done",
  via: "bot",
  at: AT + 5 * MINUTE,
  cause: "result",
}
const ended = (how: "done" | "failed" | "incomplete" | "cancelled", text?: string): Run => ({
  ...sampleRun,
  ended: { how, at: AT + 7 * MINUTE, ...(text === undefined ? {} : { words: text }) },
})
export const long = sampleView({ args: JSON.stringify({ script: "echo ok; ".repeat(2000) }) })
const doubted: Partial<Ask> = { from: "doubt" }
const running: Run = {
  ...sampleRun,
  calls: [
    {
      id: "1.1",
      ref: "call_1",
      tool: "restart",
      effects: "once",
      digest: sampleAsk().digest,
      state: "running",
      ask: "pnd-5f3a",
      attempt: { id: "a1", owner: "o1", at: AT - MINUTE },
    },
  ],
}
const waiting: Run = {
  ...sampleRun,
  asks: [sampleAsk(), sampleAsk({ id: "pnd-5f3b", call: "1.2", tool: "page_oncall" })],
}

export const ruled = (rule: Partial<Rule>): Partial<Ask> => ({ rule: { ...sampleAsk().rule, ...rule } })
export const REASONS: Partial<Rule> = { reason: { approve: "optional", decline: "required" } }
const ESCALATION: Partial<Rule> = { escalate: { after: 15 * MINUTE, to: ["S0LEADS"] } }
export const FREE: Partial<Rule> = {
  name: "approvals[2]",
  edit: { by: "approvers" },
  grant: { for: 60 * MINUTE, same: ["env", "service"] },
}
export const CID = { team: "T0HOME", user: "U0CID", name: "Cid Amari" }
export const partly: Partial<Ask> = {
  votes: [
    { by: CID, at: AT + 2 * MINUTE, cause: "c1" },
    { by: BEN, at: AT + 5 * MINUTE, cause: "c2" },
  ],
}
const destructive: Run = {
  ...sampleRun,
  calls: [
    {
      id: "1.1",
      ref: "call_1",
      tool: "restart",
      effects: "once",
      destructive: true,
      digest: sampleAsk().digest,
      state: "asked",
      ask: "pnd-5f3a",
    },
  ],
}
export const edit = {
  view: { before: '{"env":"prod","service":"web"}', args: '{"env":"staging","replicas":0,"service":"web"}' },
  ask: { version: 2, edit: 1, editors: [BEN], ...ruled(FREE) },
} satisfies { view: Partial<CardView>; ask: Partial<Ask> }
export const SCHEMA = {
  type: "object",
  properties: {
    env: { type: "string", title: "Environment", enum: ["prod", "staging"] },
    replicas: { type: "integer", title: "Replicas", minimum: 0, maximum: 9, default: 0 },
    drain: { type: "boolean", title: "Drain first" },
    note: { type: "string", title: "Note", maxLength: 500 },
  },
  required: ["env", "drain"],
}

const ANSWER = `**web is back.** It answers 200 again since 12:41.

1. Restarted \`web\` in *staging*
2. Watched it for five minutes

- memory is at 40 %
- the [dashboard](https://grafana.example/d/web?from=now-1h) is green

\`\`\`
GET /healthz 200 3 ms
\`\`\``

const one = (name: string, message: Message): [string, Message] => [name, message]
const several = (name: string, messages: readonly Message[]): [string, Message][] =>
  messages.map((message, index) => [`${name} ${index + 1}`, message])

/** By name. Every one must be fit to send. */
export function samples(): Map<string, Message> {
  return new Map([
    one("card, first of its turn", card(sampleView({ mention: true }))),
    one("card", card(sampleView())),
    one(
      "card with a summary",
      card(sampleView({}, {}, { prompt: "Restart web in staging (3 instances, one after another)" })),
    ),
    one("card with masked values", card(sampleView({ args: '{"env":{"DB_PASSWORD":"hunter2"},"service":"web"}' }))),
    one("card to look at closely", card(sampleView({ args: '{"url":"https://аpple.com/\u202Egnp.exe"}' }))),
    one("card with long args, not there yet", card(long)),
    ...several("long args", argsMessages(long).slice(0, 1)),
    one("card with long args", card({ ...long, argsPosted: true })),
    one("card, paused", card(sampleView({ paused: true }))),
    one("card, approved", card(sampleView({}, by({})))),
    one("card, approved and run", card(sampleView({}, { ...by({}), ran: "ok" }))),
    one("card, approved and failed", card(sampleView({}, { ...by({}), ran: "error" }))),
    one("card, declined", card(sampleView({}, by({ ok: false, reason: "declined" })))),
    one("card, expired", card(sampleView({}, { settled: timer }))),
    one("card, cancelled", card(sampleView({}, by({ ok: false, reason: "cancelled", by: ANA })))),
    one(
      "card of a tool's question",
      card(sampleView({}, { from: "tool" }, { kind: "question", prompt: "Which of the two?\n• web-1\n• web-2" })),
    ),
    one(
      "card of a tool's approval",
      card(sampleView({}, { from: "tool" }, { prompt: "Restart takes 40 s. Go?", data: { customers: 1200 } })),
    ),
    one(
      "card of a sign-in",
      card(
        sampleView(
          {},
          { from: "tool", ...ruled({ selfApproval: "confirm" }) },
          {
            kind: "authorization",
            prompt: "Sign in to the cloud console",
            url: "https://login.example/device?flow=42",
          },
        ),
      ),
    ),
    one("card of a doubt", card(sampleView({ run: running }, doubted, { kind: "doubt" }))),
    one(
      "card of a doubt, run again",
      card(sampleView({}, { ...doubted, ...by({ choice: "again" }) }, { kind: "doubt" })),
    ),
    one(
      "card of a doubt, was done",
      card(sampleView({}, { ...doubted, ...by({ choice: "done" }) }, { kind: "doubt" })),
    ),
    one("card whose answer Redis lost", card(sampleView({}, { settled: known, ran: "ok" }))),
    one(
      "card of a doubt that wants a reason",
      card(sampleView({}, { ...doubted, ...ruled(REASONS) }, { kind: "doubt" })),
    ),
    one("card for several", card(sampleView({ mention: true }, ruled({ quorum: 3 })))),
    one("card for several, partly approved", card(sampleView({}, { ...ruled({ quorum: 3 }), ...partly }))),
    one("card for several, approved", card(sampleView({}, { ...ruled({ quorum: 2 }), ...partly, ...by({}) }))),
    one("card, brought in", card(sampleView({}, { ...ruled(ESCALATION), escalated: AT + 15 * MINUTE }))),
    one("card with reasons, a grant and edits", card(sampleView({ run: destructive }, ruled({ ...REASONS, ...FREE })))),
    one("card with a grant", card(sampleView({ run: destructive }, ruled(FREE)))),
    one("card, edited", card(sampleView(edit.view, edit.ask))),
    one("card, edited and approved", card(sampleView(edit.view, { ...edit.ask, ...by({}) }))),
    one(
      "card, declined with a reason",
      card(
        sampleView(
          { note: "Not during the freeze. Please try again on Monday." },
          by({ ok: false, reason: "declined" }),
        ),
      ),
    ),
    one(
      "card of a tool's form",
      card(sampleView({}, { from: "tool" }, { kind: "input", prompt: "Where to?", data: { schema: SCHEMA } })),
    ),
    one("card of an unknown kind", card(sampleView({}, { from: "tool" }, { kind: "handshake", prompt: "Shake?" }))),
    one("card, minimal", minimal(sampleView())),
    one("root", root(sampleRun, { prompt: sampleRun.title })),
    one("root, waiting", root(waiting, { prompt: sampleRun.title })),
    one("root, done", root(ended("done"), { prompt: sampleRun.title })),
    one("root, failed", root(ended("failed", "the model refused the API key"), { prompt: sampleRun.title })),
    ...several("answer", answers(ended("done"), { answer: ANSWER })),
    ...several("answer, empty", answers(ended("done"), { answer: " " })),
    ...several("answer, failed", answers(ended("failed", "the model refused the API key"), { answer: "" })),
    ...several("answer, incomplete", answers(ended("incomplete", "it reached maxTurns (20)"), { answer: "Not yet" })),
    ...several("answer, cancelled", answers(ended("cancelled", "cancelled by Ben Okafor"), { answer: "" })),
    one(
      "list",
      list({
        waiting: [{ run: waiting, ask: sampleAsk(), link: LINK }],
        mine: [{ run: ended("done") }],
      }),
    ),
    one("list, empty", list({ waiting: [], mine: [] })),
    ...listSamples(sampleRun, sampleAsk(), [ANA, BEN]),
    ...noticeSamples(sampleRun, sampleAsk(), [ANA, BEN]),
    one("help", help()),
    one("note", note(words({ about: "started" }), LINK)),
    ...several("revealed", revealed('{"env":{"DB_PASSWORD":"hunter2"},"service":"web"}')),
  ])
}
