/** The box that takes messages and slash commands. It keeps a draft per conversation and knows nothing of what happens to it. */
import { EXAMPLES, TO_AGENTS } from "../../demo/examples.ts"
import { button, el, fill, icon, on } from "../dom.ts"
import type { Channel } from "../wire.ts"
import { makePicked } from "./files.ts"

export interface Draft {
  /** Names the conversation or thread, for its own draft. */
  key: string
  label: string
  /** Commands don't work in threads. */
  commands: boolean
  /** What the app suggests to ask there. */
  prompts: Channel["prompts"]
}

/** What is written, and the files that go with it. Resolves with what went wrong. */
export type Send = (text: string, files: readonly File[]) => Promise<string | undefined>

/** What the box offers to who begins to type it. */
const examples = [
  ...EXAMPLES.map((text) => ({ command: `/agent ${text}`, says: "start a run" })),
  ...TO_AGENTS.map((text) => ({ command: `/agent ${text}`, says: "start a run of this agent" })),
  { command: "/agent tools", says: "what it can use, and what is asked about" },
  { command: "/agent agents", says: "the agents that I can use here" },
  { command: "/agent list", says: "my runs, and what waits for me" },
  { command: "/agent help", says: "what it can do" },
]

const NO_FILES = "Files can't go with a command. Mention the bot, or write to it directly."

export function makeComposer(send: Send) {
  const drafts = new Map<string, string>()
  let draft: Draft = { key: "", label: "Message", commands: true, prompts: [] }
  const box = el("textarea", { rows: 1, class: "input", spellcheck: true })
  const hint = el("ul", { class: "examples", "aria-label": "Commands to try", hidden: true })
  const says = el("p", { class: "says", role: "status" })
  const post = button(icon("send"), { class: "send", "aria-label": "Send" }, () => void go())
  const picked = makePicked((problem = "") => (keep(), (says.textContent = problem)))
  const suggested = el("ul", { class: "prompts", "aria-label": "Suggested prompts", hidden: true })

  async function go(): Promise<void> {
    const [text, files] = [box.value.trim(), picked.files()]
    if ((text === "" && files.length === 0) || box.readOnly) return
    if (text.startsWith("/") && files.length > 0) return void (says.textContent = NO_FILES)
    const { key } = draft
    const problem = await sending(text, files)
    if (problem === undefined) sent(key)
    else if (draft.key === key) says.textContent = problem
  }

  /** The draft has become a message. */
  function sent(key: string): void {
    drafts.delete(key)
    picked.forget(key)
    if (draft.key !== key) return
    box.value = ""
    picked.show(key)
    keep()
  }

  /** Nothing is changed meanwhile. */
  async function sending(text: string, files: readonly File[]): Promise<string | undefined> {
    hint.hidden = true
    box.readOnly = true
    post.setAttribute("aria-busy", "true")
    const problem = await send(text, files)
    post.removeAttribute("aria-busy")
    box.readOnly = false
    return problem
  }

  /** What is suggested goes as it is, as in Slack. */
  async function ask(message: string): Promise<void> {
    if (box.readOnly) return
    const { key } = draft
    const problem = await sending(message, [])
    if (draft.key === key) says.textContent = problem ?? ""
  }

  /** The draft is what stands in the box now; nothing is offered for it. */
  function keep(): void {
    drafts.set(draft.key, box.value)
    says.textContent = ""
    hint.hidden = true
    const isEmpty = box.value.trim() === "" && picked.files().length === 0
    post.classList.toggle("ready", !isEmpty)
    suggested.hidden = draft.prompts.length === 0 || !isEmpty
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
  const line = el("div", { class: "line" }, picked.attach, box, post)
  const node = el("div", { class: "composer" }, hint, suggested, el("div", { class: "box" }, picked.list, line), says)
  on(node, {
    paste: (event) => {
      const files = [...(event.clipboardData?.files ?? [])]
      if (files.length === 0 || box.readOnly) return
      event.preventDefault()
      picked.add(files)
    },
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
    const isOther = next.key !== draft.key
    draft = next
    fill(
      suggested,
      next.prompts.map(({ title, message }, index) => ({
        key: String(index),
        version: `${title} ${message}`,
        build: () =>
          el(
            "li",
            {},
            button(title, {}, () => void ask(message)),
          ),
      })),
    )
    if (!isOther) return void (suggested.hidden = next.prompts.length === 0 || post.classList.contains("ready"))
    box.value = drafts.get(next.key) ?? ""
    picked.show(next.key)
    keep()
  }
  return { node, show, focus: () => box.focus(), take }
}
