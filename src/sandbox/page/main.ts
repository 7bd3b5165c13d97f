/** The page of the local Slack: puts its parts together and shows them what the viewer sees, now and after every change. */
import { readValues } from "./cards/fields.ts"
import { button, el, icon, on } from "./dom.ts"
import { commandError, pressError, submitError } from "./errors.ts"
import { makeComposer } from "./parts/composer.ts"
import { makeHeader } from "./parts/header.ts"
import { makeHome } from "./parts/home.ts"
import { makeList, pointOut, type Reactions, showMessages } from "./parts/messages.ts"
import { makeMisbehave } from "./parts/misbehave.ts"
import { makeModal } from "./parts/modal.ts"
import { makeTray } from "./parts/notices.ts"
import { makePanel } from "./parts/panel.ts"
import { showPayload } from "./parts/payload.ts"
import { makeSidebar } from "./parts/sidebar.ts"
import { welcome } from "./parts/welcome.ts"
import { channelAt, HOME, hashOf, isReply, permalink, Reading, type Spot, spotOf, threadOf } from "./scene.ts"
import type { Names } from "./text/draw.ts"
import * as wire from "./wire.ts"

type Side = "thread" | "tray" | "misbehave" | undefined

const spot: Spot = { as: "U0REQ", channel: "", thread: undefined, ...spotOf(location.hash) }
const reading = new Reading()
/** Private messages that were dismissed. */
const dismissed = new Set<string>()
let side: Side = spot.thread === undefined ? undefined : "thread"
let state: wire.State | undefined
let reachable = true
/** A message to point out as soon as it is shown. */
let sought: string | undefined
let watching: wire.Watch | undefined

const list = makeList("Messages")
const thread = makeList("Thread")
const composer = makeComposer((text) => sendTo(undefined, text))
const threadComposer = makeComposer((text) => sendTo(spot.thread, text))
const sidebar = makeSidebar({ go: (channel) => move({ channel, thread: undefined }), be })
const header = makeHeader({ toggle: toggleSide, menu: () => document.body.classList.toggle("menu-open") })
const panel = makePanel(closeSide)
const tray = makeTray()
const tricks = makeMisbehave(wire.misbehave, () => watching?.refresh())
const home = makeHome((view, press) => pressed(wire.click(spot.as, { view_id: view.id }, press)))
const modal = makeModal({
  submit: async (view, values) => {
    const { ok, error } = await wire.submit(spot.as, view.id, values)
    watching?.refresh()
    return ok ? undefined : submitError(error ?? "operation_timeout")
  },
  press: (view, press) => pressed(wire.click(spot.as, { view_id: view.id }, press)),
  close: async (view, all) => {
    await wire.close(spot.as, view.id, all)
    watching?.refresh()
  },
})

async function pressed(click: Promise<wire.Outcome>): Promise<string | undefined> {
  const { ok, error } = await click
  watching?.refresh()
  return ok ? undefined : pressError(error ?? "operation_timeout")
}

async function pressMessage(message: wire.Message, press: wire.Press, from: HTMLElement): Promise<void> {
  const card = from.closest<HTMLElement>(".message")
  card?.querySelector(".body > .press-error")?.remove()
  const values = card === null ? {} : readValues(card)
  const at = { channel: message.channel, ts: message.ts }
  const problem = await pressed(wire.click(spot.as, at, { ...press, state: values }))
  if (problem === undefined) return
  const says = el("p", { class: "error press-error", role: "alert" }, icon("warning"), problem)
  card?.querySelector(".body")?.append(says)
}

async function sendTo(root: string | undefined, text: string): Promise<string | undefined> {
  const channel = state && channelAt(state, spot)
  if (channel === undefined) return undefined
  const { ok, error } = await wire.send(spot.as, channel.id, root, text)
  watching?.refresh()
  if (ok) return undefined
  const command = text.split(/\s/, 1)[0] ?? ""
  return commandError(text.startsWith("/") ? command : "The message", error ?? "operation_timeout")
}

function namesOf(now: wire.State): Names {
  const names = new Map<string, string>()
  for (const { id, name } of [...now.people, ...now.channels, ...now.groups]) names.set(id, name)
  return { me: now.me, of: (id) => names.get(id) }
}

const titles = { thread: "Thread", tray: "Notifications", misbehave: "Misbehave" }

function draw(): void {
  if (state === undefined) return
  const now = state
  const channel = channelAt(now, spot)
  if (channel !== undefined) spot.channel = channel.id
  const names = namesOf(now)
  const namesVersion = JSON.stringify([now.me, now.people, now.channels, now.groups])
  noteRead(now, channel)
  sidebar.show(now, spot, reading, reachable)
  drawConversation(now, names, namesVersion)
  drawSide(now, names)
  drawTop(now, channel)
  modal.show(now.views.at(-1), names, namesVersion)
  if (sought !== undefined && (pointOut(thread, sought) || pointOut(list, sought))) sought = undefined
}

/** What the viewer looks at counts as read. */
function noteRead(now: wire.State, channel: wire.Channel | undefined): void {
  for (const notification of reading.waiting(now, now.me)) reading.saw(notification)
  if (channel !== undefined) reading.read(now, channel.id)
}

function drawTop(now: wire.State, channel: wire.Channel | undefined): void {
  const title = channel?.name ?? "App Home"
  const pinged = now.people.flatMap(({ id }) => reading.waiting(now, id)).length
  header.show({ title, kind: channel?.kind, side, pinged, rules: now.misbehave.length })
  document.title = `${title} · Countersign sandbox`
}

function drawConversation(now: wire.State, names: Names, namesVersion: string): void {
  const channel = channelAt(now, spot)
  home.node.hidden = channel !== undefined
  list.hidden = composer.node.hidden = channel === undefined
  if (channel === undefined) {
    home.show(now.home, names, namesVersion)
    return
  }
  const messages = (now.messages[channel.id] ?? []).filter(({ ts }) => !dismissed.has(`${now.me} ${ts}`))
  const name = channel.kind === "dm" ? channel.name : `#${channel.name}`
  const reactions: Reactions = {
    names,
    press: pressMessage,
    thread: (root) => move({ thread: root }),
    dismiss: ({ ts }) => (dismissed.add(`${now.me} ${ts}`), draw()),
    payload: showPayload,
  }
  const key = `${now.me} ${channel.id}`
  const empty = welcome(channel, composer.take)
  showConversation(list, key, () => showMessages(list, { messages, empty, thread: undefined, namesVersion }, reactions))
  composer.show({ key, label: `Message ${name}`, commands: true })
  const root = spot.thread
  if (root === undefined || threadOf(messages, root).length === 0) return
  showConversation(thread, `${key} ${root}`, () =>
    showMessages(thread, { messages, empty, thread: root, namesVersion }, reactions),
  )
  threadComposer.show({ key: `${key} ${root}`, label: "Reply…", commands: false })
}

/** Another conversation begins at its end; the same one stays where the viewer scrolled. */
function showConversation(node: HTMLElement, key: string, show: () => void): void {
  const other = node.dataset["key"] !== key
  node.dataset["key"] = key
  show()
  if (other) node.scrollTop = node.scrollHeight
}

function drawSide(now: wire.State, names: Names): void {
  const channel = channelAt(now, spot)
  const where = (id: string): string => {
    const found = now.channels.find((one) => one.id === id)
    if (found === undefined) return "another conversation"
    return found.kind === "dm" ? "a direct message" : `#${found.name}`
  }
  if (side === "thread" && (channel === undefined || spot.thread === undefined)) side = undefined
  if (side === "tray") {
    const isNew = (one: wire.Notification): boolean => reading.waiting(now, one.user).includes(one)
    tray.show(now, { names, where, isNew, open: openNotification })
  }
  if (side === "misbehave") tricks.show(now.misbehave)
  const nodes = { thread: [thread, threadComposer.node], tray: [tray.node], misbehave: [tricks.node] }
  panel.show(
    side && { title: titles[side], where: side === "thread" && channel ? where(channel.id) : "", nodes: nodes[side] },
  )
  document.body.classList.toggle("panel-open", side !== undefined)
}

function move(to: Partial<Spot>): void {
  Object.assign(spot, to)
  if ("thread" in to) side = to.thread === undefined ? (side === "thread" ? undefined : side) : "thread"
  document.body.classList.remove("menu-open")
  history.replaceState(null, "", hashOf(spot))
  if (spot.channel === HOME && to.channel === HOME) void wire.openHome(spot.as).then(() => watching?.refresh())
  draw()
  if (to.thread !== undefined) threadComposer.focus()
}

function toggleSide(which: "tray" | "misbehave"): void {
  side = side === which ? undefined : which
  draw()
}

function closeSide(): void {
  if (side === "thread") move({ thread: undefined })
  else side = undefined
  draw()
}

function be(person: string): void {
  spot.as = person
  history.replaceState(null, "", hashOf(spot))
  watchAs()
  if (spot.channel === HOME) void wire.openHome(person)
}

function openNotification({ user, channel, ts }: wire.Notification): void {
  const message = state?.messages[channel]?.find((one) => one.ts === ts)
  const root = message !== undefined && isReply(message) ? message.thread_ts : undefined
  Object.assign(spot, { channel, thread: root })
  side = root === undefined ? side : "thread"
  sought = ts
  be(user)
}

/** Links to messages open here; every other one leads out of the page. */
function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href]") : null
  const message = link === null ? undefined : permalink(link.href)
  if (message === undefined || state?.channels.every(({ id }) => id !== message.channel) !== false) return
  event.preventDefault()
  sought = message.ts
  move({ channel: message.channel, thread: message.thread })
}

function watchAs(): void {
  watching?.stop()
  watching = wire.watch(
    spot.as,
    (next) => {
      state = next
      reading.begin(next)
      draw()
    },
    (yes) => {
      if (reachable === yes) return
      reachable = yes
      draw()
    },
  )
}

const main = el(
  "main",
  { class: "conversation", "aria-label": "Conversation" },
  header.node,
  home.node,
  list,
  composer.node,
)
const scrim = button("", { class: "scrim", "aria-label": "Close the menu", tabindex: -1 }, () =>
  document.body.classList.remove("menu-open"),
)
document.body.append(sidebar.node, scrim, main, panel.node, modal.node)
on(document.body, {
  click: follow,
  keydown: (event) => event.key === "Escape" && document.body.classList.remove("menu-open"),
})
addEventListener("hashchange", () => {
  const next = spotOf(location.hash)
  const other = next.as !== undefined && next.as !== spot.as
  move(next)
  if (other && next.as !== undefined) be(next.as)
})
watchAs()
