/** Files that go with a message: those that somebody picks for what they write, and those that stand below what was written. */
import { button, el, fill, icon, on } from "../dom.ts"
import type { Message } from "../wire.ts"

type Described = Pick<NonNullable<Message["files"]>[number], "name" | "size">

/** What the local Slack takes of one message. */
const MOST_FILES = 10
const MOST_BYTES = 10_000_000

function sizeOf({ size }: Described): string {
  if (size < 1000) return `${size} bytes`
  return size < 1_000_000 ? `${Math.round(size / 1000)} kB` : `${(size / 1_000_000).toFixed(1)} MB`
}

const described = (file: Described): (Node | string)[] => [
  icon("file"),
  el("span", { class: "name", dir: "auto" }, file.name),
  el("span", { class: "size" }, sizeOf(file)),
]

/** The files of a message. */
export const attachedTo = ({ files = [] }: Message): HTMLElement | false =>
  files.length > 0 &&
  el(
    "ul",
    { class: "files", "aria-label": "Attached files" },
    ...files.map((file) => el("li", { class: "file" }, ...described(file))),
  )

/** Why these can't go with one message. */
function tooMuch(files: readonly File[]): string | undefined {
  if (files.length > MOST_FILES) return `At most ${MOST_FILES} files go with one message here.`
  const size = files.reduce((sum, file) => sum + file.size, 0)
  return size > MOST_BYTES
    ? `These files have ${sizeOf({ name: "", size })}; 10 MB go with one message here.`
    : undefined
}

/** What is picked for a message, by draft. `changed` hears of each change, and why something was not taken. */
export function makePicked(changed: (problem?: string) => void) {
  const drafts = new Map<string, File[]>()
  let key = ""
  const list = el("ul", { class: "files", "aria-label": "Files to send", hidden: true })
  const input = el("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files to attach" })
  const attach = button(icon("clip"), { class: "attach", "aria-label": "Attach files", title: "Attach files" }, () =>
    input.click(),
  )
  const files = (): readonly File[] => drafts.get(key) ?? []

  function set(next: readonly File[]): void {
    drafts.set(key, [...next])
    draw()
  }

  /** Takes them, unless it would be too much. */
  function add(more: readonly File[]): void {
    const all = [...files(), ...more]
    const problem = tooMuch(all)
    if (problem === undefined && more.length > 0) set(all)
    changed(problem)
  }

  function draw(): void {
    const shown = files()
    list.hidden = shown.length === 0
    fill(
      list,
      shown.map((file, index) => ({
        key: String(index),
        version: `${file.name} ${file.size}`,
        build: () => {
          const drop = (): void => (set(files().toSpliced(index, 1)), changed(), attach.focus())
          const label = `Leave ${file.name} out`
          const out = button(icon("close"), { class: "quiet", "aria-label": label, title: label }, drop)
          return el("li", { class: "file" }, ...described(file), out)
        },
      })),
    )
  }

  on(input, {
    change: () => {
      add([...(input.files ?? [])])
      // The same file may be picked again.
      input.value = ""
    },
  })
  return {
    list,
    /** The button, and what it opens. */
    attach: el("span", {}, attach, input),
    files,
    add,
    clear: () => set([]),
    /** Shows those of another draft. */
    show: (next: string) => {
      key = next
      draw()
    },
    forget: (other: string) => void drafts.delete(other),
  }
}
