/** The box that takes messages and slash commands. It keeps a draft per conversation and knows nothing of what happens to it. */
import { EXAMPLES } from "../../demo/examples.ts"
import { button, el, icon, on } from "../dom.ts"

export interface Draft {
  /** Names the conversation or thread, for its own draft. */
  key: string
  label: string
  /** Commands don't work in threads. */
  commands: boolean
}

/** What the box offers to who begins to type it. */
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
    keep()
    says.textContent = problem ?? ""
  }

  /** The draft is what stands in the box now; nothing is offered for it. */
  function keep(): void {
    drafts.set(draft.key, box.value)
    says.textContent = ""
    hint.hidden = true
    post.classList.toggle("ready", box.value.trim() !== "")
    box.rows = Math.min(box.value.split("\n").length, 8)
  }

  function take(command: string): void {
    box.value = command
    keep()
    box.focus()
  }

  const offers = examples.map(({ command, says: what }) => {
    const press = button([el("code", {}, command), el("span", {}, what)], {}, () => take(command))
    return { command, item: el("li", {}, press) }
  })
  hint.append(...offers.map(({ item }) => item))

  /** Offers the commands that begin like the draft. */
  function offer(): void {
    const begun = box.value.toLowerCase()
    for (const { command, item } of offers) item.hidden = command === begun || !command.startsWith(begun)
    hint.hidden = !draft.commands || begun === "" || offers.every(({ item }) => item.hidden)
  }

  on(box, {
    input: () => (keep(), offer()),
    keydown: (event) => {
      if (event.key === "Escape") hint.hidden = true
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
      event.preventDefault()
      void go()
    },
  })
  const node = el("div", { class: "composer" }, hint, el("div", { class: "box" }, box, post), says)
  on(node, {
    // Not every browser gives the focus to a pressed button: the box keeps it, so that the offer is there for the click.
    mousedown: (event) => hint.contains(event.target as Node) && event.preventDefault(),
    focusout: ({ relatedTarget }) => {
      if (!node.contains(relatedTarget as Node | null)) hint.hidden = true
    },
  })

  /** Shows the draft of a conversation. */
  function show(next: Draft): void {
    box.placeholder = next.label
    box.setAttribute("aria-label", next.label)
    if (next.key === draft.key) return
    draft = next
    box.value = drafts.get(next.key) ?? ""
    keep()
  }
  return { node, show, focus: () => box.focus(), take }
}
