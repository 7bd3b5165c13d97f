/**
 * Judges a life by what is left of it: what is stored, what tools did, what stands in Slack, what people were told, and the
 * audit. Each finding is a sentence that begins with the promise it breaks. It knows no bot and no border.
 */
import { brokenAt, type Fact } from "../../src/core/fact.ts"
import { sha256 } from "../../src/core/digest.ts"
import { openAsks, type Ask, type Run } from "../../src/core/run.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { promptFault } from "../fakes/balance.ts"
import { nodes, wordsOf } from "../promises/seen.ts"
import type { Execution, Kept } from "./cell.ts"
import { isOpen } from "./person.ts"
import { falseWords, type Word } from "./truth.ts"

/** What is left of a life. */
export interface Evidence {
  kept: readonly Kept[]
  executions: readonly Execution[]
  /** Of the channel where runs live. */
  messages: readonly Message[]
  /** Of the audit channel, in order. */
  audit: readonly string[]
  /** What people were told privately. */
  words: readonly Word[]
  /** Asks whose turn is over, as they are kept. */
  archived: readonly Ask[]
}

export function judge(evidence: Evidence): string[] {
  return [
    ...evidence.kept.flatMap((kept) => [
      ...rested(kept, evidence),
      ...executed(kept, evidence),
      ...balanced(kept),
      ...chained(kept),
    ]),
    ...shown(evidence),
    ...reacted(evidence),
    ...audited(evidence),
    ...falseWords(evidence),
  ]
}

const isAbout = (message: Message, id: string): boolean => JSON.stringify(message.blocks ?? []).includes(id)

/** A run has ended, or somebody can see that it waits. */
function rested({ run }: Kept, { messages }: Evidence): string[] {
  if (run.ended) return []
  const open = openAsks(run)
  if (open.length === 0) return [`rest: the run ${run.id} neither ended nor waits for anybody`]
  return open
    .filter((ask) => !messages.some((message) => isOpen(message) && isAbout(message, ask.id)))
    .map((ask) => `rest: the run waits for an answer to ${ask.id} (${ask.tool}), and no live card asks for one`)
}

const count = <T>(list: readonly T[], test: (one: T) => boolean): number => list.filter(test).length

/** No attempt is executed twice, none without a yes; a call has another attempt only where that was asked for. */
function executed({ run, facts }: Kept, { executions }: Evidence): string[] {
  const own = named(run, facts, executions)
  const twice = own.filter(
    ({ attempt }, index) => attempt !== undefined && own.findIndex((other) => other.attempt === attempt) < index,
  )
  const calls = [...new Set(own.map(({ callId }) => callId))]
  return [
    ...twice.map(({ name }) => `at most once: one attempt of ${name} was executed twice`),
    ...calls.flatMap((callId) => {
      const of = own.filter((one) => one.callId === callId)
      const name = of[0]?.name ?? ""
      const about = facts.filter(({ call }) => call === callId.slice(run.id.length + 1))
      const started = count(about, ({ what, call }) => what === "started" && call !== undefined)
      const allowed =
        1 + count(about, isAgain) + count(about, ({ what, outcome }) => what === "asked" && outcome === "tool")
      const many = ["read", "scale"].includes(name) || of.length <= allowed
      const known =
        name === "read" ||
        of.every(({ attempt }) =>
          about.some(({ cause, what }) => what === "started" && (attempt === undefined || cause === attempt)),
        )
      const agreed = name === "read" || about.find(({ what }) => what === "started") === undefined || hasYes(about)
      return [
        ...(many
          ? []
          : [`at most once: ${name} was executed ${of.length} times, ${allowed} allowed (${started} started)`]),
        ...(known ? [] : [`started first: ${name} was executed by an attempt of which there is no fact`]),
        ...(agreed ? [] : [`a yes first: ${name} was started, and nobody had agreed`]),
      ]
    }),
  ]
}

/** The run's own, those of servers by the call whose key they were sent. */
function named(
  { id }: Run,
  facts: readonly Fact[],
  executions: readonly Execution[],
): (Execution & { callId: string })[] {
  const calls = [...new Set(facts.flatMap(({ call }) => (call === undefined ? [] : [`${id}.${call}`])))]
  return executions.flatMap((one) => {
    const callId = one.callId ?? calls.find((call) => sha256(call).startsWith(one.key ?? "-"))
    return callId?.startsWith(`${id}.`) ? [{ ...one, callId }] : []
  })
}

const isAgain = ({ what, outcome }: Fact): boolean => what === "settled" && outcome === "again"

/** What was asked by the guard was agreed to before it was started. */
function hasYes(about: readonly Fact[]): boolean {
  const asked = about.some(({ what, outcome }) => what === "asked" && outcome === "guard")
  const yes = about.findIndex(({ what, outcome }) => what === "settled" && outcome === "approved")
  return !asked || (yes !== -1 && yes < about.findIndex(({ what }) => what === "started"))
}

function balanced({ run, transcript }: Kept): string[] {
  const entries = transcript.map((text) => JSON.parse(text) as Parameters<typeof promptFault>[0][number])
  const fault = run.ended || run.calls.length === 0 ? promptFault(entries) : undefined
  return fault === undefined ? [] : [`balance: ${fault}`]
}

function chained({ run, facts }: Kept): string[] {
  const at = brokenAt(facts)
  const tip = facts.at(-1)
  return [
    ...(at === undefined ? [] : [`facts: the chain is broken at ${at}`]),
    ...(tip?.n === run.facts.n && tip.hash === run.facts.hash ? [] : ["facts: the last one is not the run's"]),
    ...missingFacts({ run, facts }),
  ]
}

/** What begins has an end, and what is settled was asked. */
function missingFacts({ run, facts }: Pick<Kept, "run" | "facts">): string[] {
  const of = (...kinds: Fact["what"][]) => facts.filter(({ what }) => kinds.includes(what))
  const settled = of("settled", "expired").map(({ ask }) => ask)
  const open = new Set(openAsks(run).map(({ id }) => id))
  const asked = of("asked").map(({ ask }) => ask ?? "")
  return [
    ...asked
      .filter((ask) => !settled.includes(ask) && !open.has(ask))
      .map((ask) => `facts: what became of ${ask} is missing`),
    ...settled.filter((ask, index) => settled.indexOf(ask) < index).map((ask) => `facts: ${ask} was settled twice`),
    ...(of("started").some(({ call }) => call === undefined) ? [] : ["facts: that the run started is missing"]),
    ...(count(of("finished"), ({ call }) => call === undefined) === (run.ended ? 1 : 0)
      ? []
      : ["facts: the run's end must be there once, and only when it has ended"]),
  ]
}

/** Which ask a live card's buttons are about, and at which version. */
function refsOf({ blocks }: Message): { ask: string; version: number }[] {
  return nodes(blocks)
    .filter(({ type }) => type === "button")
    .flatMap(({ value }) => {
      const [, version, ...ask] = String(value).split(":")
      return version === undefined ? [] : [{ ask: ask.join(":"), version: Number(version) }]
    })
}

/** Every card is settled, or live and true; what is over has no button that says otherwise. */
function shown({ kept, messages, archived }: Evidence): string[] {
  const asks = new Map([...archived, ...kept.flatMap(({ run }) => run.asks)].map((ask) => [ask.id, ask]))
  const live = messages.filter(isOpen).flatMap((message) =>
    refsOf(message).flatMap(({ ask: id, version }) => {
      const ask = asks.get(id)
      if (!ask) return [`cards: one has buttons about ${id}, of which nothing is known`]
      if (ask.settled) return [`cards: one has buttons about ${id}, which is settled: “${message.text}”`]
      return ask.version === version ? [] : [`cards: one is of version ${version} of ${id}, which is at ${ask.version}`]
    }),
  )
  const roots = kept
    .filter(({ run }) => run.ended && messages.some((message) => hasCancel(message, run.id)))
    .map(({ run }) => `cards: the run ${run.id} is over, and can be cancelled in Slack`)
  return [...new Set(live), ...roots]
}

const hasCancel = ({ blocks }: Message, id: string): boolean =>
  nodes(blocks).some(({ action_id, value }) => action_id === "cancel" && value === id)

const VERDICTS: Record<string, RegExp> = {
  approved: /^(Approved|Answered)/,
  declined: /^(Declined|Failed)/,
  expired: /^Expired/,
  cancelled: /^Cancelled/,
  again: /^Run again/,
  done: /^Was done/,
  known: /^Outcome known/,
}

/** Who decided sees it on a card; and who started a run sees its end. */
function reacted({ kept, messages }: Evidence): string[] {
  return kept.flatMap(({ run, facts }) => [
    ...facts
      .filter(({ what }) => what === "settled" || what === "expired")
      // Whoever cancelled before its card stood sees that on the run's message.
      .filter(
        (fact) => fact.outcome !== "cancelled" || facts.some(({ what, ask }) => what === "shown" && ask === fact.ask),
      )
      .filter(
        ({ ask, outcome = "" }) => !messages.some((one) => isCardOf(one, run.id) && saysSo(one, ask, outcome, facts)),
      )
      .map(({ ask, outcome, tool }) => `reaction: ${tool} (${ask}) was settled “${outcome}”, and no card says so`),
    ...(run.ended &&
    run.rooted &&
    !messages.some((one) => isAbout(one, run.id) && /Finished|Failed|Cancelled|Stopped/.test(wordsOf(one)))
      ? [`reaction: the run ended, and its message does not say so`]
      : []),
  ])
}

const isCardOf = (message: Message, run: string): boolean => isAbout(message, run)

/** A card bears its ask's id no longer when it is settled: it is told by its tool and verdict. */
function saysSo({ text }: Message, ask: string | undefined, outcome: string, facts: readonly Fact[]): boolean {
  const tool = facts.find((fact) => fact.ask === ask)?.tool ?? ""
  return (VERDICTS[outcome]?.test(text) ?? false) && text.includes(tool)
}

/** Without its args and what was asked for, which stand there only while it can be looked up that the channel is private. */
const bare = (line: string): string =>
  line.replace(/ · args \{.*?\} · /u, " · ").replace(/ · asked for “[^”]*” · /u, " · ")

const LINE = /^#(\d+) · /

/** The audit has every fact in order under one number; a line that came twice has its number again, and says the same. */
function audited({ kept, audit }: Evidence): string[] {
  const lines = audit.flatMap((line) => {
    const number = LINE.exec(line)?.[1]
    return number === undefined ? [] : [{ number: Number(number), line }]
  })
  const byNumber = new Map<number, string>()
  const findings: string[] = []
  for (const { number, line } of lines) {
    const before = byNumber.get(number)
    if (before !== undefined && bare(before) !== bare(line))
      findings.push(`audit: #${number} says two things: ${before} / ${line}`)
    if (before === undefined && number !== byNumber.size + 1)
      findings.push(`audit: #${number} follows #${byNumber.size}`)
    byNumber.set(number, line)
  }
  const all = kept.flatMap(({ facts }) => facts)
  for (const fact of all) {
    const mark = `run ${fact.run} fact ${fact.n} ${fact.hash.slice(0, 12)}`
    const of = [...byNumber.values()].filter((line) => line.includes(mark))
    if (of.length !== 1) findings.push(`audit: ${fact.what} (fact ${fact.n}) has ${of.length} numbers`)
  }
  if (byNumber.size !== all.length) findings.push(`audit: ${byNumber.size} lines for ${all.length} facts`)
  return findings
}
