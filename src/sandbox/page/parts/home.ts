/** The bot's App Home. */
import { drawBlocks } from "../cards/blocks.ts"
import { readValues, writeValues } from "../cards/fields.ts"
import { el, fill } from "../dom.ts"
import type { Names } from "../text/draw.ts"
import type { Press, View } from "../wire.ts"

export function makeHome(press: (view: View, press: Press) => Promise<string | undefined>) {
  let whose = ""
  const content = el("div")
  const says = el("p", { class: "says", role: "status" })
  const node = el("div", { class: "home", tabindex: 0, role: "region", "aria-label": "App Home" }, content, says)

  const build = (view: View, names: Names, before: HTMLElement | undefined): HTMLElement => {
    const form = el("div", { tabindex: -1 })
    const pressed = async (made: Press): Promise<void> => {
      says.textContent = (await press(view, { ...made, state: readValues(form) })) ?? ""
    }
    form.append(drawBlocks(view.blocks, { names, errors: {}, press: pressed }))
    if (before !== undefined) writeValues(form, readValues(before))
    return form
  }

  const nothing = (): HTMLElement => el("p", { class: "empty" }, "The app has not put anything here for you yet.")

  function show(view: View | undefined, names: Names, namesVersion: string): void {
    const version = JSON.stringify([view, namesVersion])
    const draw = (before: HTMLElement | undefined): HTMLElement =>
      view === undefined ? nothing() : build(view, names, before)
    // Another person's home begins at its top, and what was said of a press is not for them.
    if (names.me !== whose) {
      says.textContent = ""
      node.scrollTop = 0
      whose = names.me
    }
    fill(content, [{ key: names.me, version, build: draw }])
  }
  return { node, show }
}
