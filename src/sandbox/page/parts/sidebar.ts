/** The left side: conversations, App Home, and who the viewer is. It only says where to go. */
import { button, el, fill, icon, type Kept, on } from "../dom.ts"
import { HOME, isApps, isBot, MESSAGES, nameOf, type Spot, tabOf, waiting } from "../scene.ts"
import type { Channel, Person, State } from "../wire.ts"
import { avatar } from "./avatar.ts"

export interface Moves {
  go: (channel: string) => void
  be: (person: string) => void
}

/** What stands under a person's name: what they are to the demo. */
const roles: Record<Person["role"], string> = {
  requester: "Starts runs",
  approver: "Approver, in @sre",
  lead: "Lead, in @leads",
  outsider: "Member without a say",
  guest: "Guest",
  foreigner: "Of another organisation",
  bot: "The bot",
}

const signs: Record<"channel" | "private", "hash" | "lock"> = { channel: "hash", private: "lock" }

interface Row {
  /** Where it leads, as a spot names it. */
  to: string
  key: string
  name: string
  kind: Channel["kind"]
  /** In a direct conversation: the other one. */
  other: { id: string; bot: boolean }
  open: boolean
  unread: boolean
  pings: number
}

const badgeOf = (count: number): HTMLElement | false =>
  count > 0 && el("span", { class: "badge" }, String(count), el("span", { class: "visually-hidden" }, " new"))

function row(shown: Row, moves: Moves): Kept {
  const { to, key, name, kind, other, open, unread, pings } = shown
  return {
    key,
    version: JSON.stringify(shown),
    build: () =>
      el(
        "li",
        {},
        button(
          [
            kind === "dm" ? avatar(other.id, name, other.bot) : icon(signs[kind]),
            el("span", { class: "name" }, name),
            pings > 0 ? badgeOf(pings) : unread && el("span", { class: "visually-hidden" }, ", unread"),
          ],
          {
            class: unread ? "place unread" : "place",
            "aria-current": open && "page",
            "data-control": key,
            "data-channel": key,
          },
          () => moves.go(to),
        ),
      ),
  }
}

function channelRow(state: State, spot: Spot, channel: Channel, moves: Moves): Kept {
  const { id, name, kind, unread, pings } = channel
  const to = nameOf(state, channel)
  const other = { id: channel.with ?? id, bot: false }
  return row({ to, key: id, name, kind, other, open: to === spot.channel, unread, pings }, moves)
}

/** The app: a press leads to its messages where there are new ones, else to its home. */
function appRow(state: State, spot: Spot, moves: Moves): Kept[] {
  const bot = state.people.find(isBot)
  if (bot === undefined) return []
  const { unread = false, pings = 0 } = state.channels.find((channel) => isApps(state, channel)) ?? {}
  const open = tabOf(spot) !== undefined
  const to = unread ? MESSAGES : HOME
  return [
    row({ to, key: "app", name: bot.name, kind: "dm", other: { id: bot.id, bot: true }, open, unread, pings }, moves),
  ]
}

function personRow(person: Person, me: string, pings: number, moves: Moves): Kept {
  return {
    key: person.id,
    version: JSON.stringify([person, person.id === me, pings]),
    build: () => {
      const radio = el("input", { type: "radio", name: "me", value: person.id, "data-control": person.id })
      radio.checked = person.id === me
      on(radio, { change: () => moves.be(person.id) })
      return el(
        "label",
        { class: "person" },
        radio,
        avatar(person.id, person.name, false),
        el("span", { class: "name" }, person.name, el("small", {}, roles[person.role])),
        badgeOf(pings),
      )
    },
  }
}

const titled = (title: string, list: HTMLElement): HTMLElement => el("section", {}, el("h2", {}, title), list)

export function makeSidebar(moves: Moves) {
  const channels = el("ul", { "aria-label": "Channels" })
  const direct = el("ul", { "aria-label": "Direct messages" })
  const directs = titled("Direct messages", direct)
  const apps = el("ul", { "aria-label": "Apps" })
  const people = el("fieldset", { class: "people" })
  const link = el("span", { class: "link" })
  const node = el(
    "nav",
    { class: "sidebar", id: "sidebar", "aria-label": "Workspace" },
    el("header", {}, el("h1", {}, "Sandbox"), link),
    el("div", { class: "places" }, titled("Channels", channels), directs, titled("Apps", apps)),
    people,
  )
  const legend = el("legend", {}, "You are")
  const rows = el("div", { class: "rows" })
  people.append(legend, rows)

  const show = (state: State, spot: Spot, reachable: boolean): void => {
    const rowsOf = (dm: boolean): Kept[] =>
      state.channels
        .filter((channel) => (channel.kind === "dm") === dm && !isApps(state, channel))
        .map((channel) => channelRow(state, spot, channel, moves))
    fill(channels, rowsOf(false))
    fill(direct, rowsOf(true))
    fill(apps, appRow(state, spot, moves))
    directs.hidden = direct.childElementCount === 0
    const others = state.people.filter((person) => !isBot(person))
    fill(
      rows,
      others.map((person) => personRow(person, state.me, waiting(state, person.id), moves)),
    )
    link.className = reachable && state.connected > 0 ? "link up" : "link"
    link.textContent = linkText(state, reachable)
  }
  return { node, show }
}

function linkText(state: State, reachable: boolean): string {
  if (!reachable) return "No connection, trying again…"
  return state.connected > 0 ? "The bot is connected" : "The bot is not connected"
}
