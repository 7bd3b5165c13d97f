/**
 * A run's own messages: its root and its end. Pure functions of the stored run; nothing in a foreign text makes
 * a mention, a button or a link that hides its address.
 */
import type { KnownBlock } from "@slack/types"
import { endOf, type End } from "../../core/converse.ts"
import type { Run } from "../../core/run.ts"
import { openAsks } from "../../core/run.ts"
import { PRESS } from "./intent.ts"
import { Kept } from "./kept.ts"
import { guarded, type Message } from "./limits.ts"
import { markdown } from "./markdown.ts"
import {
  actions,
  bold,
  button,
  code,
  instant,
  mention,
  nameOf,
  quote,
  rich,
  section,
  until,
  words,
  type Rich,
} from "./rich.ts"
import { beginning, clip, cost, count, escape, legible, oneLine, safe } from "./text.ts"

/** The run's message, under which its thread stands. `prompt` is what was asked for, whole; `paused`: nothing may start now. */
export function root(run: Run, { prompt, paused = false }: { prompt: string; paused?: boolean }): Message {
  const asked = clip(safe(prompt).trim(), 5000)
  // Without an @, which in a text may ping.
  const agent = run.agent === undefined ? "the agent" : `the agent ${clip(oneLine(run.agent), 40)}`
  const buttons: KnownBlock[] = over(run)
    ? []
    : [
        actions("run", [
          button({
            id: PRESS.cancel,
            text: "Stop",
            label: `Stop the run: ${oneLine(safe(run.title))}`,
            value: run.id,
            confirm: {
              title: "Stop this run?",
              text: "Nothing new of it will start, and whatever waits for a decision is answered no. What is running is stopped.",
              yes: "Stop it",
              no: "Let it go on",
            },
          }),
        ]),
      ]
  const whole: Message = {
    text: escape(`${nameOf(run.requester)} asked ${agent}: ${clip(oneLine(safe(run.title)), 200)}`),
    blocks: [
      rich(section(bold(nameOf(run.requester)), ` asked ${agent}:`), quote(asked)),
      rich(
        section(
          bold(state(run).head),
          ...state(run).more,
          ...(paused ? pausing(run) : []),
          "\nrun ",
          code(run.id),
          usage(run),
        ),
      ),
      ...buttons,
    ],
  }
  return guarded(whole, () => ({ ...whole, blocks: [rich(section(bold(state(run).head))), ...buttons] }))
}

const pausing = (run: Run): ReturnType<typeof words>[] =>
  over(run)
    ? []
    : [words("\n"), bold("Paused"), words(": nothing new starts until Countersign is resumed; deadlines go on.")]

/** What it took so far. While it works that changes with each turn, and would be a Slack call each. */
function usage(run: Run): string {
  const { prompt, completion } = run.usage
  if (prompt + completion === 0 || (!run.ended && openAsks(run).length === 0)) return ""
  const { cached = 0, cost, currency = "" } = run.spent ?? {}
  const kept = cached === 0 ? "" : ` (${cached.toLocaleString("en-US")} of them cached)`
  const price = cost === undefined ? "" : `, about ${money(cost)} ${currency}`
  return `, ${count(prompt, "token")} in${kept}, ${completion.toLocaleString("en-US")} out${price}`
}

/** Of millionths: so many digits that something can be seen. */
function money(millionths: number): string {
  const amount = millionths / 1_000_000
  return amount.toFixed(amount === 0 || amount >= 1 ? 2 : 4)
}

const over = (run: Run): boolean => run.ended !== undefined || run.cancelled !== undefined

export interface State {
  /** A few words. */
  head: string
  more: ReturnType<typeof words>[]
}

const ENDS = {
  done: "Finished",
  failed: "Failed",
  incomplete: "Stopped before it was done",
  cancelled: "Cancelled",
} as const

/** Why it ended, to go on after a word for how; empty when nothing is said. */
function reasonOf({ how, words: said = "" }: Pick<End, "how" | "words">, max: number): string {
  const why = clip(oneLine(safe(said)), max).replace(/\.$/, "")
  if (why === "" || why === "cancelled") return ""
  return how === "cancelled" && why.startsWith("cancelled by ") ? why.slice("cancelled".length) : `: ${why}`
}

/** Where the run stands. */
export function state(run: Run): State {
  const { ended, cancelled } = run
  if (ended) {
    const why = ended.how === "done" ? "" : reasonOf(ended, 500)
    return { head: ENDS[ended.how], more: [words(`${why}, `), instant(ended.at)] }
  }
  if (cancelled)
    return { head: "Being cancelled", more: [words("; what is running is stopped first. "), instant(cancelled.at)] }
  const waiting = openAsks(run)
  if (waiting.length > 0) {
    const first = waiting.reduce((a, b) => (b.expiresAt < a.expiresAt ? b : a))
    const tools = waiting.map((ask) => clip(oneLine(ask.tool), 80))
    const by = waiting.some((ask) => ask.expiresAt !== first.expiresAt) ? "the first until" : "until"
    const more = [words(`: ${clip(tools.join(", "), 300)}, ${by} `), until(first)]
    return { head: waiting.length === 1 ? "Waiting for a decision" : `Waiting for ${waiting.length} decisions`, more }
  }
  if (run.retry) {
    const why = `: ${clip(oneLine(safe(run.retry.words)), 300)}. Next try `
    return { head: "The model could not be asked", more: [words(why), instant(run.retry.at, true)] }
  }
  return { head: "Working", more: [] }
}

/** The most that a message of an answer holds, of text, and the most elements. */
const TOGETHER = 7500
const ELEMENTS = 60
/** The most messages of one answer: they come one a second. */
const MESSAGES = 50

const pagesOf = new Kept<Rich[][]>()

/** What a run, or one stretch of it, came to: the answer in order, as many as it takes. The first one pings whoever asked, unless `mention` is false. */
export function answers(
  run: Run,
  { answer, mention: pings = true, ...rest }: { answer: string; mention?: boolean; end?: End },
): Message[] {
  const { end = endOf(run, run.ended ?? { how: "done" }) } = rest
  const { how, to } = end
  const pages = pagesOf.get([answer], () => paged(answer))
  const asker = pings ? [mention(to.user)] : words(nameOf(to))
  const opening: Rich = section(asker, " ", ...ending(end, pages.length > 0))
  const last = Math.max(pages.length, 1)
  return Array.from({ length: last }, (_, index): Message => {
    const page = pages[index] ?? []
    const place = last === 1 ? "" : ` (${index + 1} of ${last})`
    const title = `${ENDS[how]}: ${clip(oneLine(safe(run.title)), 150)}${place}`
    const more = index === 0 ? [] : [section(words(`The answer goes on${place}:`, { italic: true }))]
    const message: Message = {
      text: escape(title),
      blocks: [
        ...(index === 0 ? [rich(opening)] : more.map((it) => rich(it))),
        ...(page.length === 0 ? [] : [rich(...page)]),
      ],
    }
    return guarded(message, () => ({
      text: message.text,
      blocks: [rich(section("This part of the answer does not fit into a Slack message."))],
    }))
  })
}

/** How it ended, with what the person should know next; `said` is whether there is an answer below. */
const ENDING: Record<keyof typeof ENDS, (said: boolean) => [head: string, next: string]> = {
  done: (said) => ["Finished", said ? "" : " The agent gave no final text."],
  failed: () => ["The run failed", " Nothing more will happen; start it again if it is still needed."],
  incomplete: (said) => ["The run stopped before it was done", said ? " What there is so far:" : ""],
  cancelled: () => ["The run was cancelled", " What had not started by then was not run."],
}

function ending(end: End, said: boolean): (string | ReturnType<typeof words>)[] {
  const { how, unread = 0 } = end
  const [head, next] = ENDING[how](said)
  const why = how === "done" ? "" : reasonOf(end, 1000)
  return [bold(head), why === "" ? "." : `${why}.`, next, left(unread)]
}

function left(unread: number): string {
  if (unread === 0) return ""
  const what = unread === 1 ? "A reply that came meanwhile was" : `${unread} replies that came meanwhile were`
  return ` ${what} not read: with the next reply the agent reads all of it.`
}

/** The answer's elements onto messages, in order; what is too much for any thread is left out with a word. */
function paged(answer: string): Rich[][] {
  const text = legible(answer).trim()
  const most = beginning(text, MESSAGES * TOGETHER)
  const pages: Rich[][] = []
  let room = 0
  for (const element of parts(most)) {
    const price = cost(JSON.stringify(element))
    const page = pages.at(-1)
    if (page && price <= room && page.length < ELEMENTS) page.push(element)
    else if (pages.length === MESSAGES) return cutOff(pages, answer)
    else pages.push([element])
    room = (pages.at(-1) === page ? room : TOGETHER) - price
  }
  return most.length < text.length ? cutOff(pages, answer) : pages
}

function cutOff(pages: Rich[][], answer: string): Rich[][] {
  const words = `The answer goes on: it has ${count(answer.length, "character")}, too many to show all of them here.`
  pages.at(-1)?.push(section(bold(words)))
  return pages
}

function* parts(text: string): Generator<Rich, void, undefined> {
  for (const element of markdown(text)) yield* parted(element)
}

/** Where every other word is bold or a link, an element costs many times its letters: then it goes in parts. */
function parted(element: Rich): Rich[] {
  if (cost(JSON.stringify(element)) <= TOGETHER) return [element]
  const parts = element.type === "rich_text_list" ? element.elements.flatMap(parted) : element.elements
  if (parts.length < 2) return [element]
  const middle = Math.ceil(parts.length / 2)
  return [parts.slice(0, middle), parts.slice(middle)].flatMap((elements) => parted({ ...element, elements } as Rich))
}
