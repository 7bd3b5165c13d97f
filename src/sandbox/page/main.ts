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
import * as scene from "./scene.ts"
import type { Names } from "./text/draw.ts"
import * as wire from "./wire.ts"

type Side = "thread" | "tray" | "misbehave" | undefined

const spot: scene.Spot = { as: "U0REQ", channel: "", thread: undefined, ...scene.spotOf(location.hash) }
/** Private messages that were dismissed. */
const dismissed = new Set<string>()
let side: Side = spot.thread === undefined ? undefined : "thread"
let state: wire.State | undefined
let reachable = true
/** A message to point out as soon as it is shown. */
let sought = scene.soughtIn(location.hash)
/** Up to where the local Slack was last told that somebody has read. */
let told = ""
let watching: wire.Watch | undefined

const list = makeList("Messages")
const thread = makeList("Thread")
const composer = makeComposer((text, files) => sendTo(undefined, text, files))
const threadComposer = makeComposer((text, files) => sendTo(spot.thread, text, files))
const go = (channel: string): void => move({ channel, thread: undefined })
const sidebar = makeSidebar({ go, be })
const header = makeHeader({ toggle: toggleSide, menu: () => document.body.classList.toggle("menu-open"), go })
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

async function sendTo(root: string | undefined, text: string, files: readonly File[]): Promise<string | undefined> {
  const channel = state && scene.channelAt(state, spot)
  if (channel === undefined) return undefined
  const { ok, error } = await wire.send(spot.as, { channel: channel.id, thread_ts: root, text, files })
  watching?.refresh()
  if (ok) return undefined
  const command = text.split(/\s/, 1)[0] ?? ""
  return commandError(text.startsWith("/") ? command : "The message", error ?? "operation_timeout")
}

const namesIn = ({ people, channels, groups }: wire.State): [string, string][] =>
  [...people, ...channels, ...groups].map(({ id, name }) => [id, name])

function namesOf(now: wire.State): Names {
  const names = new Map(namesIn(now))
  return { me: now.me, of: (id) => names.get(id) }
}

const titles = { thread: "Thread", tray: "Notifications", misbehave: "Misbehave" }

function draw(): void {
  // What another person sees is no longer of interest.
  if (state === undefined || state.me !== spot.as) return
  const now = state
  const channel = scene.channelAt(now, spot)
  if (channel !== undefined) spot.channel = scene.nameOf(now, channel)
  const names = namesOf(now)
  const namesVersion = JSON.stringify([now.me, namesIn(now)])
  if (channel !== undefined) noteRead(now, channel)
  sidebar.show(now, spot, reachable)
  drawConversation(now, names, namesVersion)
  drawSide(now, names)
  drawTop(now, channel)
  modal.show(now.views, names, namesVersion)
  if (sought !== undefined && (pointOut(thread, sought) || pointOut(list, sought))) sought = undefined
}

/** What the viewer looks at counts as read. */
function noteRead({ me, messages }: wire.State, { id, unread, pings }: wire.Channel): void {
  if (document.hidden || (!unread && pings === 0)) return
  const upTo = scene.newest(messages[id] ?? [])
  const telling = `${me} ${id} ${upTo}`
  if (telling === told) return
  told = telling
  void wire.read(me, id, upTo)
}

function drawTop(now: wire.State, channel: wire.Channel | undefined): void {
  const tab = scene.tabOf(spot)
  const title = tab === undefined ? (channel?.name ?? "") : (now.people.find(scene.isBot)?.name ?? "The app")
  const pinged = now.people.reduce((sum, { id }) => sum + scene.waiting(now, id), 0)
  header.show({
    title,
    kind: channel?.kind,
    shared: channel?.shared === true,
    tab,
    side,
    pinged,
    rules: now.misbehave.length,
  })
  document.title = `${title} · Countersign sandbox`
}

function drawConversation(now: wire.State, names: Names, namesVersion: string): void {
  const channel = scene.channelAt(now, spot)
  home.node.hidden = spot.channel !== scene.HOME
  list.hidden = composer.node.hidden = channel === undefined
  if (spot.channel === scene.HOME) home.show(now.home, names, namesVersion)
  if (channel === undefined) return
  const messages = (now.messages[channel.id] ?? []).filter(({ ts }) => !dismissed.has(`${now.me} ${ts}`))
  const reactions: Reactions = {
    names,
    press: pressMessage,
    thread: (root) => move({ thread: root }),
    dismiss: ({ ts }) => (dismissed.add(`${now.me} ${ts}`), draw()),
    payload: showPayload,
  }
  const key = `${now.me} ${channel.id}`
  const shown = { messages, statuses: scene.statusesIn(now, channel), namesVersion }
  const empty = welcome(channel, scene.isApps(now, channel), composer.take)
  showConversation(list, key, () => showMessages(list, { ...shown, empty, thread: undefined }, reactions))
  composer.show({ key, label: `Message ${scene.placeName(channel)}`, commands: true, prompts: channel.prompts })
  // A thread whose last message was deleted is no more.
  if (spot.thread !== undefined && scene.threadOf(messages, spot.thread).length === 0) spot.thread = undefined
  const root = spot.thread
  if (root === undefined) return
  showConversation(thread, `${key} ${root}`, () => showMessages(thread, { ...shown, empty, thread: root }, reactions))
  threadComposer.show({ key: `${key} ${root}`, label: "Reply…", commands: false, prompts: [] })
}

/** Another conversation begins at its end; the same one stays where the viewer scrolled. */
function showConversation(node: HTMLElement, key: string, show: () => void): void {
  const other = node.dataset["key"] !== key
  node.dataset["key"] = key
  show()
  if (other) node.scrollTop = node.scrollHeight
}

function drawSide(now: wire.State, names: Names): void {
  const channel = scene.channelAt(now, spot)
  if (side === "thread" && (channel === undefined || spot.thread === undefined)) side = undefined
  if (side === "tray") tray.show(now, { names, open: openNotification })
  if (side === "misbehave") tricks.show(now.misbehave)
  const nodes = { thread: [thread, threadComposer.node], tray: [tray.node], misbehave: [tricks.node] }
  const where = side === "thread" && channel !== undefined ? scene.placeName(channel) : ""
  panel.show(side && { title: titles[side], where, nodes: nodes[side] })
  document.body.classList.toggle("panel-open", side !== undefined)
}

function move(to: Partial<scene.Spot>): void {
  Object.assign(spot, to)
  if ("thread" in to) side = to.thread === undefined ? (side === "thread" ? undefined : side) : "thread"
  document.body.classList.remove("menu-open")
  history.replaceState(null, "", scene.hashOf(spot))
  if (to.channel !== undefined) enterApp()
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

/** The app hears of it when somebody comes to one of its tabs. */
function enterApp(): void {
  const tab = scene.tabOf(spot)
  if (tab !== undefined) void wire.openApp(spot.as, tab).then(() => watching?.refresh())
}

function be(person: string): void {
  spot.as = person
  history.replaceState(null, "", scene.hashOf(spot))
  watchAs()
  enterApp()
}

function openNotification({ user, channel, ts, thread_ts: root }: wire.Notification): void {
  Object.assign(spot, { channel, thread: root })
  side = root === undefined ? side : "thread"
  sought = ts
  be(user)
}

/** Links to messages open here; every other one leads out of the page. */
function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href]") : null
  const message = link === null ? undefined : scene.permalink(link.href)
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
  const before = spot.as
  sought = scene.soughtIn(location.hash)
  move(scene.spotOf(location.hash))
  if (spot.as !== before) watchAs()
})
addEventListener("visibilitychange", draw)
watchAs()
enterApp()
