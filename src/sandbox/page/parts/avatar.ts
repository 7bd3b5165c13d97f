/** The square that stands for a person or the bot. */
import { el, icon } from "../dom.ts"

const hues = 6

/** The same id has the same colour everywhere. */
const hueOf = (id: string): number => [...id].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % hues

export function avatar(id: string, name: string, bot: boolean): HTMLElement {
  const attributes = { class: "avatar", "data-hue": bot ? "bot" : hueOf(id), "aria-hidden": "true" }
  return el("span", attributes, bot ? icon("stamp") : ([...name][0] ?? "?").toUpperCase())
}
