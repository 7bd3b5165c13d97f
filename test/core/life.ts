/** Builds runs for the tests of transitions, and plays them: what a commit would write is kept beside the run. */
import { begin, took } from "../../src/core/turn.ts"
import type { Planned } from "../../src/core/turn.ts"
import { sha256 } from "../../src/core/digest.ts"
import type { Fact } from "../../src/core/fact.ts"
import type { Rule, Who } from "../../src/core/policy.ts"
import type { Run, Step } from "../../src/core/run.ts"

export const REQ = { team: "T1", user: "U0REQ", name: "Robin" }
export const RULE: Rule = {
  approvers: ["U0APP1", "U0APP2"],
  selfApproval: false,
  expiresIn: 60_000,
  startWithin: 10_000,
}
export const member = (user: string): Who => ({ person: { team: "T1", user }, standing: "member", member: {} })

/** A run with all that was committed for it. */
export interface Life {
  run: Run
  facts: Fact[]
  texts: Map<string, string>
  transcript: string[]
}

/** What the store does with a step, in memory. */
export function commit(life: Life, step: Step | undefined): Life {
  if (!step) return life
  const texts = new Map(life.texts)
  for (const { field, text } of step.texts) texts.set(field, text)
  const transcript = [...life.transcript]
  for (const entry of step.append) {
    if (typeof entry === "string") transcript.push(entry)
    else {
      const text = texts.get(entry.field)
      if (text === undefined) throw new Error(`${entry.field} is not there to be moved`)
      transcript.push(text)
      texts.delete(entry.field)
    }
  }
  return { run: step.run, facts: [...life.facts, ...step.facts], texts, transcript }
}

export function newLife(now = 1000): Life {
  const user = JSON.stringify({ role: "user", content: [{ type: "text", text: "restart web" }] })
  const step = begin(
    {
      id: "r00abc",
      cause: "trigger-1",
      requester: REQ,
      channel: "C0OPS",
      prompt: "restart web",
      keep: 1000,
      rooted: true,
      via: "command",
      transcript: [user],
    },
    now,
  )
  return commit({ run: step.run, facts: [], texts: new Map(), transcript: [] }, step)
}

export interface Want {
  do: "run" | "ask" | "result"
  effects?: Planned["effects"]
  args?: string
}

/** The model's turn: one call per wish, named `tool<n>`; asks have the ids `ask-<turn>-<n>`. */
export function turnOf(
  run: Run,
  wants: readonly Want[],
): { message: string; text: string; usage: Run["usage"]; planned: Planned[] } {
  const planned = wants.map((want, index): Planned => {
    const args = want.args ?? `{"n":${index + 1}}`
    const ref = `call_${run.turns + 1}_${index + 1}`
    const tool = `tool${index + 1}`
    const base = { ref, tool, effects: want.effects ?? "once", args, digest: sha256(args) } as const
    if (want.do === "run") return { ...base, next: { do: "run" } }
    if (want.do === "result")
      return { ...base, next: { do: "result", message: result(ref), isError: true, why: "bad args" } }
    const request = { id: `ask-${run.turns + 1}-${index + 1}`, kind: "approval", prompt: `Run ${tool}` }
    return { ...base, next: { do: "ask", request, rule: RULE } }
  })
  const content = planned.map(({ ref, tool, args }) => ({
    type: "tool-call",
    toolCallId: ref,
    toolName: tool,
    input: args,
  }))
  return {
    message: JSON.stringify({ role: "assistant", content }),
    text: "because",
    usage: { prompt: 10, completion: 5 },
    planned,
  }
}

export const take = (life: Life, wants: readonly Want[], now: number): Life =>
  commit(life, took(life.run, turnOf(life.run, wants), now))

export const result = (ref: string): string =>
  JSON.stringify({ role: "tool", content: [{ type: "tool-result", toolCallId: ref }] })

interface Message {
  role: string
  content: { type: string; toolCallId?: string }[]
}

/** The first thing at which a transcript is not balanced: each call of an assistant message has one result, in call order. */
export function imbalance(transcript: readonly string[]): string | undefined {
  let expected: string[] = []
  for (const text of transcript) {
    const message = JSON.parse(text) as Message
    if (message.role === "tool") {
      const [first, ...rest] = expected
      const got = message.content[0]?.toolCallId
      if (first !== got) return `expected the result of ${first ?? "nothing"}, found ${got ?? "nothing"}`
      expected = rest
      continue
    }
    if (expected.length > 0) return `no result for ${expected.join(", ")}`
    if (message.role === "assistant")
      expected = message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId ?? ""] : []))
  }
  return expected.length > 0 ? `no result for ${expected.join(", ")}` : undefined
}
