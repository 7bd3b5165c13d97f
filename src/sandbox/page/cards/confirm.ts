/** The question Slack asks before a press that has a `confirm`. */
import type { ConfirmationDialog, TextObject } from "@slack/types"
import { button, el, on } from "../dom.ts"
import type { Names } from "../text/draw.ts"
import { drawLabel, drawText } from "./place.ts"

const plain = (text: string): TextObject => ({ type: "plain_text", text })

/** Resolves to whether the person confirmed; Escape is a no. */
export function confirmed(dialog: ConfirmationDialog, names: Names): Promise<boolean> {
  return new Promise((resolve) => {
    const before = document.activeElement
    const node = el("dialog", { class: "modal confirm", "aria-labelledby": "confirm-title" })
    const answer = (yes: boolean): void => {
      node.close()
      node.remove()
      if (before instanceof HTMLElement) before.focus()
      resolve(yes)
    }
    const style = dialog.style === "danger" ? "btn btn-danger solid" : "btn btn-primary"
    node.append(
      el("h2", { id: "confirm-title" }, ...drawLabel(dialog.title ?? plain("Are you sure?"), names)),
      drawText(dialog.text, names),
      el(
        "footer",
        {},
        button(drawLabel(dialog.deny ?? plain("Cancel"), names), { class: "btn" }, () => answer(false)),
        button(drawLabel(dialog.confirm ?? plain("Yes"), names), { class: style }, () => answer(true)),
      ),
    )
    on(node, { cancel: (event) => (event.preventDefault(), answer(false)) })
    document.body.append(node)
    node.showModal()
  })
}
