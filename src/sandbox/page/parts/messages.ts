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
import { attachedTo } from "./files.ts"

export interface Reactions {
  names: Names
  press: (message: Message, press: Press, from: HTMLElement) => Promise<void>
  /** Opens the thread of a message. */
  thread: (root: string) => void
  dismiss: (message: Message) => void
  payload: (message: Message) => void
}

export const timeOf = (ts: string): Date => new Date(Number(ts) * 1000)

const GROUPED_FOR = 5 * 60_000

/** Whether a message goes under the heading of the one before it. */
function follows(message: Message, before: Message | undefined): boolean {
  if (before === undefined || before.deleted === true || message.user !== before.user) return false
  if (message.ephemeral === true || before.ephemeral === true || (before.reply_count ?? 0) > 0) return false
  const [then, now] = [timeOf(before.ts), timeOf(message.ts)]
  return now.getTime() - then.getTime() < GROUPED_FOR && then.toDateString() === now.toDateString()
}

function heading(message: Message, name: string): HTMLElement {
  return el(
    "header",
    {},
    el("strong", { class: "author" }, name),
    message.is_bot && el("span", { class: "app" }, "APP"),
    stampOf(message),
  )
}

/** In the narrow margin there is no room for AM and PM. */
function stampOf({ ts }: Message, narrow = false): HTMLElement {
  const at = timeOf(ts)
  const text = narrow ? clock(at).replace(/\s[AP]M$/, "") : clock(at)
  return el("time", { datetime: at.toISOString(), title: fullDate(at) }, text)
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
  /** What the app says that it does in the thread. */
  status: string | undefined
}

function build({ message, compact, inThread, last, status }: Drawn, reactions: Reactions): HTMLElement {
  const kind = [message.ephemeral === true && "ephemeral", compact && "compact"].filter(Boolean).join(" ")
  const name = reactions.names.of(message.user) ?? message.username
  const side = compact ? stampOf(message, true) : avatar(message.user, name, message.is_bot)
  return el(
    "article",
    {
      class: `message ${kind}`,
      tabindex: -1,
      "data-ts": message.ts,
      "aria-label": `${name}, ${clock(timeOf(message.ts))}`,
    },
    onlyYou(message, reactions),
    el("div", { class: "side" }, side),
    el(
      "div",
      { class: "main" },
      !compact && heading(message, name),
      el("div", { class: "body" }, body(message, reactions)),
      attachedTo(message),
      message.edited !== undefined && el("span", { class: "edited" }, "(edited)"),
      !inThread && replies(message, last, reactions),
      status !== undefined && statusLine(status),
    ),
    tools(message, inThread, reactions),
  )
}

const statusLine = (status: string): HTMLElement =>
  el("p", { class: "status", role: "status" }, el("span", { class: "dots", "aria-hidden": "true" }), status)

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
  /** By thread, what the app says that it does there. */
  statuses: Record<string, string>
  thread: string | undefined
  /** What stands where no message does. */
  empty: Kept
  /** Changes when a name changes, so that messages that show it are drawn anew. */
  namesVersion: string
}

const isAtEnd = (list: HTMLElement): boolean => list.scrollHeight - list.scrollTop - list.clientHeight < 60

/** A list of messages that stays at its end while its size changes, if that is where the viewer was. */
export function makeList(label: string): HTMLElement {
  const list = el("div", { class: "messages", role: "log", "aria-label": label, tabindex: 0 })
  let atEnd = true
  list.addEventListener("scroll", () => {
    atEnd = isAtEnd(list)
  })
  new ResizeObserver(() => {
    if (atEnd) list.scrollTop = list.scrollHeight
  }).observe(list)
  return list
}

/** Shows where a message is; false when it is not in this list. */
export function pointOut(list: HTMLElement, ts: string): boolean {
  const node = [...list.querySelectorAll<HTMLElement>("[data-ts]")].find((one) => one.dataset["ts"] === ts)
  node?.scrollIntoView({ block: "center" })
  node?.classList.add("pointed-out")
  setTimeout(() => node?.classList.remove("pointed-out"), 2500)
  return node !== undefined
}

/** Fills `list` with the conversation, or with one thread of it. */
export function showMessages(list: HTMLElement, shown: Shown, reactions: Reactions): void {
  const atEnd = isAtEnd(list)
  fill(list, shown.thread === undefined ? conversation(shown, reactions) : replyList(shown, shown.thread, reactions))
  if (atEnd) list.scrollTop = list.scrollHeight
}

function conversation({ messages, statuses, namesVersion, empty }: Shown, reactions: Reactions): Kept[] {
  const shown = messages.filter((message) => !isReply(message))
  if (shown.length === 0) return [empty]
  const last = lastReplies(messages)
  return shown.flatMap((message, index) => {
    const before = shown[index - 1]
    const newDay = before === undefined || dayOf(before) !== dayOf(message)
    const compact = !newDay && follows(message, before)
    const { ts } = message
    const drawn = { message, compact, inThread: false, last: last.get(ts), status: statuses[ts] }
    const kept = keep(drawn, reactions, namesVersion)
    return newDay ? [divider(dayName(timeOf(message.ts), new Date())), kept] : [kept]
  })
}

function replyList({ messages, statuses, namesVersion }: Shown, thread: string, reactions: Reactions): Kept[] {
  const [root, ...replies] = messages.filter(({ ts, thread_ts }) => ts === thread || thread_ts === thread)
  if (root === undefined) return []
  const draw = (message: Message, compact: boolean): Kept =>
    keep({ message, compact, inThread: true, last: undefined, status: undefined }, reactions, namesVersion)
  const rest = replies.map((message, index) => draw(message, follows(message, replies[index - 1])))
  const count = replies.filter(({ ephemeral }) => ephemeral !== true).length
  const status = statuses[thread]
  const below: Kept[] =
    status === undefined ? [] : [{ key: "status", version: status, build: () => statusLine(status) }]
  return [draw(root, false), ...(count === 0 ? [] : [divider(countOf(count))]), ...rest, ...below]
}

const dayOf = ({ ts }: Message): string => timeOf(ts).toDateString()
const countOf = (count: number): string => `${count} ${count === 1 ? "reply" : "replies"}`
