/** The judge finds what it is there to find: a life that kept its promises passes, and one with a promise broken does not. */
import { expect, test } from "vitest"
import { lineOf } from "../../src/audit/line.ts"
import { shown } from "../../src/core/ask.ts"
import { settle } from "../../src/core/settle.ts"
import { finished, starting, took } from "../../src/core/turn.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { commit, member, newLife, result, take, type Life } from "../core/life.ts"
import { judge, type Evidence } from "./judge.ts"

const ATTEMPT = { id: "attempt-1", owner: "bot", at: 0 }
const ASK = "ask-1-1"

/** Asked, approved, executed, and told. */
function whole(): Life {
  let life = take(newLife(), [{ do: "ask" }], 2000)
  life = commit(life, shown(life.run, ASK, 2100))
  const how = { ask: ASK, version: 1, ok: true, who: member("U0APP1"), via: "click", cause: "click-1" } as const
  life = commit(life, settle(life.run, { ...how, voters: [] }, 2200).step)
  life = commit(life, starting(life.run, "1.1", ATTEMPT, 2300).step)
  const done = { message: result("call_1_1"), isError: false, outcome: "ok" }
  life = commit(life, finished(life.run, "1.1", ATTEMPT.id, done, 2400))
  const message = JSON.stringify({ role: "assistant", content: [{ type: "text", text: "That is all." }] })
  const last = { message, text: "That is all.", usage: { prompt: 1, completion: 1 }, planned: [] }
  return commit(life, took(life.run, last, 2500))
}

const message = (text: string, said: string, button?: { action_id: string; value: string }): Message => ({
  ts: "1.0",
  channel: "C0OPS",
  user: "U0BOT",
  username: "countersign",
  is_bot: true,
  text,
  blocks: [
    { type: "section", text: { type: "mrkdwn", text: `${said} run r00abc` } },
    ...(button ? [{ type: "actions", elements: [{ type: "button", ...button }] }] : []),
  ],
})

function evidence({ run, facts, transcript, texts } = whole()): Evidence {
  const archived = texts.get(`ask:${ASK}`)
  return {
    kept: [{ run, facts, transcript }],
    executions: [{ name: "tool1", args: {}, callId: "r00abc.1.1", attempt: ATTEMPT.id }],
    messages: [message("Robin asked the agent", "Finished"), message("Approved: tool1", "Approved by Ada")],
    audit: facts.map((fact, index) => lineOf(String(index + 1), fact)),
    words: [{ who: "U0REQ", text: "Started. Its message comes to this channel" }],
    archived: archived === undefined ? [] : [JSON.parse(archived) as Evidence["archived"][number]],
  }
}

test("a life that kept every promise has no findings", () => {
  expect(judge(evidence())).toEqual([])
})

const first = <T>(list: readonly T[]): T => {
  const [one] = list
  if (one === undefined) throw new Error("there is none")
  return one
}

const live = message("The agent wants to run tool1", "", { action_id: "approve", value: `r00abc:1:${ASK}` })

const BROKEN: Record<string, { forge: (it: Evidence) => Partial<Evidence>; found: RegExp }> = {
  "an attempt that was executed twice": {
    forge: ({ executions }) => ({ executions: [...executions, ...executions] }),
    found: /^at most once: one attempt of tool1 was executed twice/,
  },
  "a second execution that nobody asked for": {
    forge: ({ executions }) => ({ executions: [...executions, { ...first(executions), attempt: "attempt-2" }] }),
    found: /^at most once: tool1 was executed 2 times, 1 allowed/,
  },
  "an execution that was not marked before": {
    forge: ({ executions }) => ({ executions: [{ ...first(executions), attempt: "attempt-2" }] }),
    found: /^started first: /,
  },
  "a start without a yes": {
    forge: ({ kept }) => {
      const { facts, ...rest } = first(kept)
      return { kept: [{ ...rest, facts: facts.filter(({ what }) => what !== "settled") }] }
    },
    found: /^a yes first: tool1 was started/,
  },
  "a transcript without a result": {
    forge: ({ kept }) => {
      const { transcript, ...rest } = first(kept)
      return { kept: [{ ...rest, transcript: transcript.filter((text) => !text.includes("tool-result")) }] }
    },
    found: /^balance: .*calls without a result/,
  },
  "a fact that is missing": {
    forge: ({ kept }) => {
      const { facts, ...rest } = first(kept)
      return { kept: [{ ...rest, facts: facts.toSpliced(2, 1) }] }
    },
    found: /^facts: the chain is broken at 3/,
  },
  "a live card of an ask that is settled": {
    forge: ({ messages }) => ({ messages: [...messages, live] }),
    found: /^cards: one has buttons about ask-1-1, which is settled/,
  },
  "a run that is over and can be cancelled": {
    forge: ({ messages }) => ({
      messages: [...messages, message("Robin asked", "Finished", { action_id: "cancel", value: "r00abc" })],
    }),
    found: /^cards: the run r00abc is over, and can be cancelled/,
  },
  "a yes that no card shows": {
    forge: ({ messages }) => ({ messages: messages.slice(0, 1) }),
    found: /^reaction: tool1 \(ask-1-1\) was settled “approved”, and no card says so/,
  },
  "an end that its message does not show": {
    forge: ({ messages }) => ({ messages: messages.slice(1) }),
    found: /^reaction: the run ended, and its message does not say so/,
  },
  "a gap in the audit": {
    forge: ({ audit }) => ({ audit: audit.toSpliced(3, 1) }),
    found: /^audit: #5 follows #3/,
  },
  "a fact that the audit has under two numbers": {
    forge: ({ audit }) => ({ audit: [...audit, (audit.at(-1) ?? "").replace(/^#\d+/, `#${audit.length + 1}`)] }),
    found: /^audit: finished \(fact \d+\) has 2 numbers/,
  },
  "one number that says two things": {
    forge: ({ audit }) => ({ audit: [...audit, first(audit).replace("run started", "run shown")] }),
    found: /^audit: #1 says two things/,
  },
  "a person who was told of what did not happen": {
    forge: ({ words }) => ({ words: [...words, { who: "U0APP2", text: "Recorded: approved, tool1." }] }),
    found: /^truth: U0APP2 was told “Recorded: approved/,
  },
  "words that nobody can check": {
    forge: ({ words }) => ({ words: [...words, { who: "U0APP2", text: "All is well." }] }),
    found: /^truth: U0APP2 was told what nobody can check/,
  },
}

test.for(Object.entries(BROKEN))("finds %s", ([, { forge, found }]) => {
  const it = evidence()
  expect(judge({ ...it, ...forge(it) })).toContainEqual(expect.stringMatching(found))
})

test("finds a run that waits for an answer which no live card asks for, and none when one does", () => {
  const waiting = take(newLife(), [{ do: "ask" }], 2000)
  const it = { ...evidence(waiting), executions: [], messages: [], words: [] }
  expect(judge(it)).toEqual([expect.stringMatching(/^rest: the run waits for an answer to ask-1-1/)])
  expect(judge({ ...it, messages: [live] })).toEqual([])
})

test("accepts one that came twice, the second time without what only a private channel is shown", () => {
  const { facts } = whole()
  const said = { prompt: "restart “web”", args: '{"service":"web"}' }
  const [told, bare] = [said, {}].map((beside) => facts.map((fact, n) => lineOf(String(n + 1), fact, beside)))
  const it = evidence()
  expect(judge({ ...it, audit: [...(told ?? []).slice(0, 3), ...(bare ?? [])] })).toEqual([])
})

test("accepts an audit line that came twice with its number", () => {
  const it = evidence()
  expect(judge({ ...it, audit: [...it.audit.slice(0, 3), ...it.audit.slice(1)] })).toEqual([])
})
