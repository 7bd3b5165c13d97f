/** The left side: conversations, App Home, and who the viewer is. It only says where to go. */
import { button, el, fill, icon, type Kept, on } from "../dom.ts"
import { HOME, isBot, type Reading, type Spot } from "../scene.ts"
import type { Channel, Person, State } from "../wire.ts"
import { avatar } from "./avatar.ts"

export interface Moves {
  go: (channel: string) => void
  be: (person: string) => void
}

const signs: Record<Channel["kind"], "hash" | "lock" | undefined> = { channel: "hash", private: "lock", dm: undefined }

function row(channel: Channel, open: boolean, unread: boolean, moves: Moves): Kept {
  const { name } = channel
  const sign = signs[channel.kind]
  return {
    key: channel.id,
    version: JSON.stringify([name, channel.kind, open, unread]),
    build: () =>
      el(
        "li",
        {},
        button(
          [
            sign === undefined ? avatar(channel.id, name, true) : icon(sign),
            el("span", { class: "name" }, name),
            unread && el("span", { class: "visually-hidden" }, ", unread"),
          ],
          {
            class: unread ? "place unread" : "place",
            "aria-current": open && "page",
            "data-control": channel.id,
            "data-channel": channel.id,
          },
          () => moves.go(channel.id),
        ),
      ),
  }
}

function personRow(person: Person, me: string, waiting: number, moves: Moves): Kept {
  return {
    key: person.id,
    version: JSON.stringify([person, person.id === me, waiting]),
    build: () => {
      const radio = el("input", { type: "radio", name: "me", value: person.id, "data-control": person.id })
      radio.checked = person.id === me
      on(radio, { change: () => moves.be(person.id) })
      const badge =
        waiting > 0 && el("span", { class: "badge" }, String(waiting), el("span", { class: "visually-hidden" }, " new"))
      return el(
        "label",
        { class: "person" },
        radio,
        avatar(person.id, person.name, false),
        el("span", { class: "name" }, person.name, el("small", {}, person.role)),
        badge,
      )
    },
  }
}

const titled = (title: string, list: HTMLElement): HTMLElement => el("section", {}, el("h2", {}, title), list)

export function makeSidebar(moves: Moves) {
  const channels = el("ul", { "aria-label": "Channels" })
  const direct = el("ul", { "aria-label": "Direct messages" })
  const people = el("fieldset", { class: "people" })
  const link = el("span", { class: "link" })
  const home = button([icon("home"), el("span", { class: "name" }, "App Home")], { class: "place" }, () =>
    moves.go(HOME),
  )
  const homeRow = el("li", {}, home)
  const node = el(
    "nav",
    { class: "sidebar", id: "sidebar", "aria-label": "Workspace" },
    el("header", {}, el("h1", {}, "Sandbox"), link),
    el("div", { class: "places" }, titled("Channels", channels), titled("Apps", direct)),
    people,
  )
  const legend = el("legend", {}, "You are")
  const rows = el("div", { class: "rows" })
  people.append(legend, rows)
  direct.after(el("ul", { "aria-label": "Apps" }, homeRow))

  const show = (state: State, spot: Spot, reading: Reading, reachable: boolean): void => {
    const rowsOf = (dm: boolean): Kept[] =>
      state.channels
        .filter(({ kind }) => (kind === "dm") === dm)
        .map((channel) => row(channel, channel.id === spot.channel, reading.unread(state, channel.id), moves))
    fill(channels, rowsOf(false))
    fill(direct, rowsOf(true))
    home.toggleAttribute("aria-current", spot.channel === HOME)
    if (spot.channel === HOME) home.setAttribute("aria-current", "page")
    const others = state.people.filter((person) => !isBot(person))
    fill(
      rows,
      others.map((person) => personRow(person, state.me, reading.waiting(state, person.id).length, moves)),
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
