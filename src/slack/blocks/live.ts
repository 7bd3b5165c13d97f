/**
 * What is under way in a run, as one message: what its model says while it says it, and what its tools tell. Pure; whatever
 * stands there is somebody else's text and unfinished, and the message says so.
 */
import type { KnownBlock } from "@slack/types"
import type { Run } from "../../core/run.ts"
import { guarded, type Message } from "./limits.ts"
import { markdown } from "./markdown.ts"
import { bold, rich, section, words, type Rich } from "./rich.ts"
import { clip, cost, count, escape, legible, oneLine, safe, toolName } from "./text.ts"

export interface UnderWay {
  /** What the model said so far in this turn. */
  text: string
  /** By call: the tool, and what it told last. */
  calls: ReadonlyMap<string, { tool: string; text: string }>
}

/** Of a text, what is shown at most: its end. */
const ROOM = 3000
const LINE = 300
const LINES = 10

const WRITING = "Still writing; what stands here is not the answer yet:"

/** Undefined while there is nothing to show. */
export function live(run: Pick<Run, "title">, { text, calls }: UnderWay): Message | undefined {
  const said = spoken(text)
  const told = [...calls.values()]
    .slice(-LINES)
    .map(({ tool, text: latest }) => section("• ", bold(toolName(tool)), `: ${clip(oneLine(safe(latest)), LINE)}`))
  if (said.length === 0 && told.length === 0) return undefined
  const more = calls.size > LINES ? [section(words(`and ${calls.size - LINES} others`, { italic: true }))] : []
  const head = said.length === 0 ? "Under way:" : WRITING
  const message: Message = {
    text: escape(`The agent is at work: ${clip(oneLine(safe(run.title)), 150)}`),
    blocks: [rich(section(words(head, { italic: true }))), rich(...said, ...told, ...more)],
  }
  return guarded(message, () => ({ ...message, blocks: [rich(section("The agent is at work."))] }))
}

/** When nothing is under way that could be shown, and the message stands already. */
export const idle = (run: Pick<Run, "title">): Message => ({
  text: escape(`The agent is at work: ${clip(oneLine(safe(run.title)), 150)}`),
  blocks: [rich(section(words("The agent is at work.", { italic: true })))],
})

/**
 * Up to the last whole word: half an address is another address, and half a secret looks like none. Masked as a whole, and of
 * that the end.
 */
function spoken(text: string): Rich[] {
  const whole = legible(text.slice(0, endOfWords(text))).trim()
  if (whole === "") return []
  const from = beginOf(whole)
  const before = from === 0 ? [] : [section(words(`… after ${count(from, "character")}`, { italic: true }))]
  return [...before, ...shown(whole.slice(from))]
}

function endOfWords(text: string): number {
  const end = /\s\S*$/u.exec(text)
  return end === null ? 0 : end.index
}

/** Where to begin, so that the rest fits: at a line, or at a word. */
function beginOf(text: string): number {
  if (text.length <= ROOM) return 0
  const from = text.length - ROOM
  const line = text.indexOf("\n", from) + 1
  if (line > 0 && line < from + ROOM / 2) return line
  return text.indexOf(" ", from) + 1 || from
}

/** As many elements, from the end, as fit. */
function shown(text: string): Rich[] {
  const all = [...markdown(text)]
  let room = 2 * ROOM
  const kept = all.reverse().filter((element) => (room -= cost(JSON.stringify(element))) > 0)
  return kept.reverse()
}

/** The most that a message holds which only grows, in characters. */
const GROWN = 8000

/**
 * What a message that only grows gets next. `sent`: what it has, masked as it was then. Whole lines alone, and no code before its
 * end. `undefined`: what it has is not how the text begins any more, so it can't go on growing.
 */
export function growth(text: string, sent: string): { sent: string; blocks: KnownBlock[] } | undefined {
  const whole = legible(wholeLines(text))
  if (!whole.startsWith(sent)) return undefined
  const more = sent.length >= GROWN ? "" : whole.slice(sent.length, GROWN)
  const elements = [...markdown(more.trim())]
  if (more.trim() === "") return { sent, blocks: [] }
  const head = sent === "" ? [rich(section(words(WRITING, { italic: true })))] : []
  return { sent: sent + more, blocks: [...head, rich(...elements)] }
}

/** Up to the last line that is complete and in no block of code. */
function wholeLines(text: string): string {
  const lines = text.split("\n").slice(0, -1)
  let closed = 0
  let isCode = false
  for (const [index, line] of lines.entries()) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode
    if (!isCode) closed = index + 1
  }
  return lines
    .slice(0, closed)
    .map((line) => `${line}\n`)
    .join("")
}
