/** Shows what an app sent, as it came. */
import { button, el, icon, on } from "../dom.ts"
import type { Message } from "../wire.ts"

export function showPayload(message: Message): void {
  const before = document.activeElement
  const close = (): void => {
    node.close()
    node.remove()
    if (before instanceof HTMLElement) before.focus()
  }
  const node = el(
    "dialog",
    { class: "modal payload", "aria-labelledby": "payload-title" },
    el(
      "header",
      {},
      el("h2", { id: "payload-title" }, "The payload"),
      button(icon("close"), { class: "quiet", "aria-label": "Close" }, close),
    ),
    el("pre", { tabindex: 0 }, JSON.stringify(message, null, 2)),
  )
  on(node, { cancel: (event) => (event.preventDefault(), close()) })
  document.body.append(node)
  node.showModal()
}
