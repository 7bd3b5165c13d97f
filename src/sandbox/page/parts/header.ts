/** The line above a conversation: where one is, and the switches of the side panel. */
import { button, el, icon, setAttributes } from "../dom.ts"
import type { Channel } from "../wire.ts"

export interface HeaderActs {
  toggle: (which: "tray" | "misbehave") => void
  menu: () => void
  /** Goes to one of the app's tabs. */
  go: (tab: "home" | "messages") => void
}

export interface Heading {
  title: string
  kind: Channel["kind"] | undefined
  /** Whether people of other organisations are there. */
  shared: boolean
  /** The app's tab, when one is open. */
  tab: "home" | "messages" | undefined
  side: string | undefined
  /** Notifications that nobody looked at yet. */
  pinged: number
  /** Misbehaviour that is on. */
  rules: number
}

const signOf = (kind: Channel["kind"] | undefined): SVGSVGElement | undefined =>
  kind === undefined || kind === "dm" ? undefined : icon(kind === "private" ? "lock" : "hash")

export function makeHeader({ toggle, menu, go }: HeaderActs) {
  const title = el("h2")
  const beside = el("span", { class: "beside" }, "with people of another organisation")
  const count = el("span", { class: "badge", hidden: true })
  const active = el("span", { class: "badge warn", hidden: true })
  const bell = button([icon("bell"), el("span", { class: "wide" }, "Notifications"), count], { class: "tool" }, () =>
    toggle("tray"),
  )
  const bolt = button([icon("bolt"), el("span", { class: "wide" }, "Misbehave"), active], { class: "tool" }, () =>
    toggle("misbehave"),
  )
  const open = button(icon("menu"), { class: "tool menu", "aria-label": "Menu", "aria-controls": "sidebar" }, menu)
  const home = button("Home", { class: "tab" }, () => go("home"))
  const messages = button("Messages", { class: "tab" }, () => go("messages"))
  const tabs = el("nav", { class: "tabs", "aria-label": "The app" }, home, messages)
  const node = el("header", { class: "top" }, open, title, beside, tabs, el("span", { class: "gap" }), bell, bolt)

  function show({ title: text, kind, shared, tab, side, pinged, rules }: Heading): void {
    const sign = tab === undefined ? signOf(kind) : icon("stamp")
    title.replaceChildren(...(sign === undefined ? [] : [sign]), text)
    beside.hidden = !shared
    tabs.hidden = tab === undefined
    setAttributes(home, { "aria-current": tab === "home" && "page" })
    setAttributes(messages, { "aria-current": tab === "messages" && "page" })
    setAttributes(bell, {
      "aria-pressed": String(side === "tray"),
      "aria-label": pinged > 0 ? `Notifications, ${pinged} new` : "Notifications",
    })
    setAttributes(bolt, {
      "aria-pressed": String(side === "misbehave"),
      "aria-label": rules > 0 ? "Misbehave, on" : "Misbehave",
    })
    count.hidden = pinged === 0
    count.textContent = String(pinged)
    active.hidden = rules === 0
    active.textContent = "on"
  }
  return { node, show }
}
