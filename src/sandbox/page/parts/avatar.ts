/** The square that stands for a person or the bot. */
import { el, icon } from "../dom.ts"

const hues = 8
const met = new Map<string, number>()

/** Each id keeps the colour it was first met with; the first few differ. */
function hueOf(id: string): number {
  const hue = met.get(id) ?? met.size % hues
  met.set(id, hue)
  return hue
}

export function avatar(id: string, name: string, bot: boolean): HTMLElement {
  const attributes = { class: "avatar", "data-hue": bot ? "bot" : hueOf(id), "aria-hidden": "true" }
  return el("span", attributes, bot ? icon("stamp") : (Array.from(name)[0] ?? "?").toUpperCase())
}
