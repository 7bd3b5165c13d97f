/** The box that takes messages and slash commands. It keeps a draft per conversation and knows nothing of what happens to it. */
import { EXAMPLES } from "../../demo/model.ts"
import { button, el, icon, on } from "../dom.ts"

export interface Draft {
  /** Names the conversation or thread, for its own draft. */
  key: string
  label: string
  /** Commands don't work in threads. */
  commands: boolean
}

/** What the box offers when somebody begins a command. */
const examples = [
  ...EXAMPLES.map((text) => ({ command: `/agent ${text}`, says: "start a run" })),
  { command: "/agent list", says: "my runs, and what waits for me" },
  { command: "/agent help", says: "what it can do" },
]

export function makeComposer(send: (text: string) => Promise<string | undefined>) {
  const drafts = new Map<string, string>()
  let draft: Draft = { key: "", label: "Message", commands: true }
  const box = el("textarea", { rows: 1, class: "input", spellcheck: true })
  const hint = el("ul", { class: "examples", "aria-label": "Commands to try", hidden: true })
  const says = el("p", { class: "says", role: "status" })
  const post = button(icon("send"), { class: "send", "aria-label": "Send" }, () => void go())

  async function go(): Promise<void> {
    const text = box.value.trim()
    if (text === "" || box.readOnly) return
    const { key } = draft
    hint.hidden = true
    box.readOnly = true
    post.setAttribute("aria-busy", "true")
    const problem = await send(text)
    post.removeAttribute("aria-busy")
    box.readOnly = false
    if (draft.key !== key) return void (problem === undefined && drafts.delete(key))
    if (problem === undefined) box.value = ""
    typed()
    hint.hidden = true
    says.textContent = problem ?? ""
  }

  function typed(): void {
    drafts.set(draft.key, box.value)
    says.textContent = ""
    hint.hidden = !draft.commands || !box.value.startsWith("/") || box.value.includes("\n")
    post.classList.toggle("ready", box.value.trim() !== "")
    box.rows = Math.min(box.value.split("\n").length, 8)
  }

  function take(command: string): void {
    box.value = command
    typed()
    hint.hidden = true
    box.focus()
  }

  for (const { command, says: what } of examples) {
    hint.append(
      el(
        "li",
        {},
        button([el("code", {}, command), el("span", {}, what)], {}, () => take(command)),
      ),
    )
  }
  on(box, {
    input: typed,
    keydown: (event) => {
      if (event.key === "Escape") hint.hidden = true
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
      event.preventDefault()
      void go()
    },
  })
  const node = el("div", { class: "composer" }, hint, el("div", { class: "box" }, box, post), says)

  /** Shows the draft of a conversation. */
  function show(next: Draft): void {
    box.placeholder = next.label
    box.setAttribute("aria-label", next.label)
    if (next.key === draft.key) return
    draft = next
    box.value = drafts.get(next.key) ?? ""
    typed()
  }
  return { node, show, focus: () => box.focus(), take }
}
