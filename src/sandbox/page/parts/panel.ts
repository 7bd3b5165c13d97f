/** The side panel: one of a thread, the tray and the switches at a time. */
import { button, el, icon, on } from "../dom.ts"

export function makePanel(closed: () => void) {
  const title = el("h2", { id: "panel-title" })
  const where = el("span", { class: "where" })
  const content = el("div", { class: "panel-content" })
  const node = el(
    "aside",
    { class: "panel", "aria-labelledby": "panel-title", hidden: true },
    el("header", {}, title, where, button(icon("close"), { class: "quiet", "aria-label": "Close the panel" }, closed)),
    content,
  )
  on(node, {
    keydown: (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) closed()
    },
  })

  function show(what: { title: string; where: string; nodes: HTMLElement[] } | undefined): void {
    node.hidden = what === undefined
    if (what === undefined) return
    title.textContent = what.title
    where.textContent = what.where
    const same =
      content.children.length === what.nodes.length && what.nodes.every((one, i) => content.children[i] === one)
    if (!same) content.replaceChildren(...what.nodes)
  }
  return { node, show }
}
