/** Draws conversations and threads, message by message, each one anew only when it changed. */
import { readValues, writeValues } from "../cards/fields.ts"
import type { Place } from "../cards/place.ts"
import { drawBlocks } from "../cards/blocks.ts"
import { button, type Child, el, fill, icon, type Kept } from "../dom.ts"
import { clock, dayName, fullDate } from "../text/dates.ts"
import { drawPassages, type Names } from "../text/draw.ts"
import { readMrkdwn } from "../text/mrkdwn.ts"
import { isReply } from "../scene.ts"
import type { Message, Press } from "../wire.ts"
import { avatar } from "./avatar.ts"

export interface Reactions {
  names: Names
  press(message: Message, press: Press, from: HTMLElement): Promise<void>
  /** Opens the thread of a message. */
  thread(root: string): void
  dismiss(message: Message): void
  payload(message: Message): void
}

export const timeOf = (ts: string): Date => new Date(Number(ts) * 1000)

const GROUPED_FOR = 5 * 60_000

/** Whether a message goes under the heading of the one before it. */
function follows(message: Message, before: Message | undefined): boolean {
  if (before === undefined || before.deleted === true || message.user !== before.user) return false
  if (message.ephemeral !== before.ephemeral || (before.reply_count ?? 0) > 0) return false
  const [then, now] = [timeOf(before.ts), timeOf(message.ts)]
  return now.getTime() - then.getTime() < GROUPED_FOR && then.toDateString() === now.toDateString()
}

function heading(message: Message): HTMLElement {
  return el(
    "header",
    {},
    el("strong", { class: "author" }, message.username),
    message.is_bot && el("span", { class: "app" }, "APP"),
    stampOf(message),
  )
}

function stampOf({ ts }: Message): HTMLElement {
  const at = timeOf(ts)
  return el("time", { datetime: at.toISOString(), title: fullDate(at) }, clock(at))
}

function body(message: Message, { names, press }: Reactions): HTMLElement {
  if (message.deleted === true) return el("p", { class: "gone" }, "This message was deleted.")
  const place: Place = { names, errors: {}, press: (made, from) => press(message, made, from) }
  if (message.blocks !== undefined && message.blocks.length > 0) return drawBlocks(message.blocks, place)
  return drawPassages(readMrkdwn(message.text, { links: true, mentions: false }), names)
}

function replies(message: Message, last: Message | undefined, { thread }: Reactions): Child {
  const count = message.reply_count ?? 0
  if (count === 0) return undefined
  const label = `${count} ${count === 1 ? "reply" : "replies"}`
  const when =
    last &&
    el(
      "span",
      { class: "last" },
      `last ${dayName(timeOf(last.ts), new Date()).toLowerCase()} at ${clock(timeOf(last.ts))}`,
    )
  return button([icon("reply"), el("span", {}, label), when], { class: "replies", "data-control": "thread" }, () =>
    thread(message.ts),
  )
}

function tools(message: Message, inThread: boolean, reactions: Reactions): HTMLElement {
  return el(
    "div",
    { class: "tools" },
    !inThread &&
      message.ephemeral !== true &&
      button(
        icon("reply"),
        { "aria-label": "Reply in thread", title: "Reply in thread", "data-control": "reply" },
        () => reactions.thread(message.ts),
      ),
    button(
      icon("braces"),
      { "aria-label": "Show the payload", title: "Show the payload", "data-control": "payload" },
      () => reactions.payload(message),
    ),
  )
}

const onlyYou = (message: Message, { dismiss }: Reactions): Child =>
  message.ephemeral === true &&
  el(
    "p",
    { class: "only-you" },
    icon("eye"),
    "Only visible to you",
    button("Dismiss", { class: "quiet", "data-control": "dismiss" }, () => dismiss(message)),
  )

interface Drawn {
  message: Message
  compact: boolean
  inThread: boolean
  last: Message | undefined
}

function build({ message, compact, inThread, last }: Drawn, reactions: Reactions): HTMLElement {
  const kind = [message.ephemeral === true && "ephemeral", compact && "compact"].filter(Boolean).join(" ")
  const side = compact ? stampOf(message) : avatar(message.user, message.username, message.is_bot)
  return el(
    "article",
    {
      class: `message ${kind}`,
      tabindex: -1,
      "data-ts": message.ts,
      "aria-label": `${message.username}, ${clock(timeOf(message.ts))}`,
    },
    el("div", { class: "side" }, side),
    el(
      "div",
      { class: "main" },
      onlyYou(message, reactions),
      !compact && heading(message),
      el("div", { class: "body" }, body(message, reactions)),
      message.edited !== undefined && el("span", { class: "edited" }, "(edited)"),
      !inThread && replies(message, last, reactions),
    ),
    tools(message, inThread, reactions),
  )
}

const divider = (text: string): Kept => ({
  key: `divider ${text}`,
  version: text,
  build: () => el("div", { class: "divider" }, el("span", {}, text)),
})

/** The newest reply of each thread. */
function lastReplies(messages: Message[]): Map<string, Message> {
  const last = new Map<string, Message>()
  for (const message of messages) {
    if (isReply(message) && message.ephemeral !== true) last.set(message.thread_ts ?? "", message)
  }
  return last
}

function keep(drawn: Drawn, reactions: Reactions, namesVersion: string): Kept {
  return {
    key: drawn.message.ts,
    version: JSON.stringify([drawn, namesVersion]),
    build: (before) => {
      const node = build(drawn, reactions)
      if (before !== undefined) writeValues(node, readValues(before))
      return node
    },
  }
}

export interface Shown {
  /** All the messages of the conversation, replies among them. */
  messages: Message[]
  thread: string | undefined
  /** Changes when a name changes, so that messages that show it are drawn anew. */
  namesVersion: string
}

/** Fills `list` with the conversation, or with one thread of it. */
export function showMessages(list: HTMLElement, { messages, thread, namesVersion }: Shown, reactions: Reactions): void {
  const inThread = thread !== undefined
  const shown = messages.filter((message) =>
    inThread ? message.ts === thread || message.thread_ts === thread : !isReply(message),
  )
  const last = lastReplies(messages)
  const items: Kept[] = []
  for (const [index, message] of shown.entries()) {
    const before = shown[index - 1]
    const newDay = before === undefined || timeOf(before.ts).toDateString() !== timeOf(message.ts).toDateString()
    if (newDay && !inThread) items.push(divider(dayName(timeOf(message.ts), new Date())))
    const compact = !newDay && follows(message, before) && !(inThread && before?.ts === thread)
    items.push(keep({ message, compact, inThread, last: last.get(message.ts) }, reactions, namesVersion))
    if (inThread && message.ts === thread && shown.length > 1) items.push(divider(countOf(shown.length - 1)))
  }
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60
  fill(list, items)
  if (atEnd) list.scrollTop = list.scrollHeight
}

const countOf = (count: number): string => `${count} ${count === 1 ? "reply" : "replies"}`
