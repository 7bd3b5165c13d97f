/** The line above a conversation: where one is, and the switches of the side panel. */
import { button, el, icon, setAttributes } from "../dom.ts"
import type { Channel } from "../wire.ts"

export interface HeaderActs {
  toggle: (which: "tray" | "misbehave") => void
  menu: () => void
}

export interface Heading {
  title: string
  kind: Channel["kind"] | undefined
  side: string | undefined
  /** Notifications that nobody looked at yet. */
  pinged: number
  /** Misbehaviour that is on. */
  rules: number
}

export function makeHeader({ toggle, menu }: HeaderActs) {
  const title = el("h2")
  const count = el("span", { class: "badge", hidden: true })
  const active = el("span", { class: "badge warn", hidden: true })
  const bell = button([icon("bell"), el("span", { class: "wide" }, "Notifications"), count], { class: "tool" }, () =>
    toggle("tray"),
  )
  const bolt = button([icon("bolt"), el("span", { class: "wide" }, "Misbehave"), active], { class: "tool" }, () =>
    toggle("misbehave"),
  )
  const open = button(icon("menu"), { class: "tool menu", "aria-label": "Menu", "aria-controls": "sidebar" }, menu)
  const node = el("header", { class: "top" }, open, title, bell, bolt)

  function show({ title: text, kind, side, pinged, rules }: Heading): void {
    const sign = kind === "dm" ? undefined : icon(kind === undefined ? "home" : kind === "private" ? "lock" : "hash")
    title.replaceChildren(...(sign === undefined ? [] : [sign]), text)
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
