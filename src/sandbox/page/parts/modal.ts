/** The modal of the app that is open on top, as a form: it keeps what was typed when the app draws it anew. */
import { drawBlocks } from "../cards/blocks.ts"
import { problems, readValues, type Values, writeValues } from "../cards/fields.ts"
import { drawLabel } from "../cards/place.ts"
import { button, el, fill, icon, on } from "../dom.ts"
import type { Names } from "../text/draw.ts"
import type { Press, View } from "../wire.ts"

export interface ModalActs {
  /** Resolves to what went wrong, in words for the person, if anything did. */
  submit: (view: View, values: Values) => Promise<string | undefined>
  press: (view: View, press: Press) => Promise<string | undefined>
  /** Closes this modal, or with `all` those below it too. */
  close: (view: View, all: boolean) => Promise<void>
}

interface Trouble {
  view: string
  errors: Record<string, string>
  says: string | undefined
}

const none: Trouble = { view: "", errors: {}, says: undefined }

export function makeModal(acts: ModalActs) {
  let view: View | undefined
  let names: Names = { me: "", of: () => undefined }
  let trouble = none
  let namesVersion = ""
  /** What was filled in in the modals below the one that is shown, by view. */
  const below = new Map<string, Values>()
  const node = el("dialog", { class: "modal", "aria-labelledby": "modal-title" })
  const close = (all: boolean): void => void (view && acts.close(view, all))

  const tell = (now: View, errors: Record<string, string>, says: string | undefined): void => {
    trouble = { view: now.id, errors, says }
    draw()
  }

  async function submit(form: HTMLFormElement, now: View, send: HTMLElement): Promise<void> {
    if (send.getAttribute("aria-busy") === "true") return
    const wrong = problems(form)
    if (Object.keys(wrong).length > 0) {
      tell(now, wrong, undefined)
      toFault(node)
      return
    }
    send.setAttribute("aria-busy", "true")
    const says = await acts.submit(now, readValues(form))
    send.removeAttribute("aria-busy")
    tell(now, {}, says)
  }

  function build(now: View, before: HTMLElement | undefined): HTMLFormElement {
    const errors = { ...now.errors, ...(trouble.view === now.id ? trouble.errors : {}) }
    const says = trouble.view === now.id ? trouble.says : undefined
    const press = async (made: Press): Promise<void> => {
      const problem = await acts.press(now, { ...made, state: readValues(form) })
      if (problem !== undefined) tell(now, {}, problem)
    }
    const send =
      now.submit &&
      el(
        "button",
        { type: "submit", class: "btn btn-primary", "data-control": "submit" },
        ...drawLabel(now.submit, names),
      )
    const dismiss = now.close === undefined ? ["Cancel"] : drawLabel(now.close, names)
    const form = el(
      "form",
      { novalidate: true, tabindex: -1 },
      el(
        "header",
        {},
        el("h2", { id: "modal-title" }, ...(now.title === undefined ? [] : drawLabel(now.title, names))),
        button(icon("close"), { "aria-label": "Close", class: "quiet" }, () => close(true)),
      ),
      drawBlocks(now.blocks, { names, errors, press }),
      el(
        "footer",
        {},
        says !== undefined && el("p", { class: "error", role: "alert" }, says),
        button(dismiss, { class: "btn", "data-control": "close" }, () => close(false)),
        send,
      ),
    )
    const filledIn = before === undefined ? below.get(now.id) : readValues(before)
    if (filledIn !== undefined) writeValues(form, filledIn)
    return on(form, { submit: (event) => (event.preventDefault(), send && void submit(form, now, send)) })
  }

  function draw(): void {
    if (view === undefined) return
    const now = view
    const version = JSON.stringify([now, trouble, namesVersion])
    const at = node.querySelector(".blocks")?.scrollTop ?? 0
    fill(node, [{ key: now.id, version, build: (before) => build(now, before) }])
    const blocks = node.querySelector(".blocks")
    if (blocks !== null && at > 0) blocks.scrollTop = at
  }

  on(node, { cancel: (event) => (event.preventDefault(), close(false)) })

  /** Another one comes on top; what was filled in in those that stay open is kept. */
  function turnTo(views: View[]): void {
    trouble = none
    if (view !== undefined) below.set(view.id, readValues(node))
    for (const id of below.keys()) if (views.every((one) => one.id !== id)) below.delete(id)
  }

  function hide(): void {
    if (node.open) node.close()
    below.clear()
    fill(node, [])
  }

  /** To where the person goes on after the app changed it: the first control of what is new, or what it did not take. */
  function lead(asked: boolean, isRefused: boolean): void {
    if (!asked && asks(node)) firstControl(node)?.focus()
    else if (isRefused) toFault(node)
  }

  /** Shows the topmost of the person's open views, or none. */
  function show(views: View[], withNames: Names, version: string): void {
    const next = views.at(-1)
    const opened = next !== undefined && next.id !== view?.id
    // One that only said "Checking…" and now asks something is as good as new.
    const asked = asks(node)
    const refused = marks(view)
    if (opened) turnTo(views)
    view = next
    names = withNames
    namesVersion = version
    if (next === undefined) return hide()
    draw()
    if (!node.open) node.showModal()
    if (opened) firstControl(node)?.focus()
    else lead(asked, marks(next) !== refused)
  }
  return { node, show }
}

const asks = (node: HTMLElement): boolean => node.querySelector(".input-block") !== null

const firstControl = (node: HTMLElement): HTMLElement | null =>
  node.querySelector<HTMLElement>(".input-block input, .input-block textarea, .input-block select") ??
  node.querySelector<HTMLElement>("footer button")

/** What the app said of the fields. */
const marks = (view: View | undefined): string => JSON.stringify(view?.errors ?? {})

/** Leads to the first field that is refused. */
function toFault(node: HTMLElement): void {
  const fault = node.querySelector<HTMLElement>("[aria-invalid]")
  fault?.focus({ preventScroll: true })
  fault?.closest(".input-block")?.scrollIntoView({ block: "nearest" })
}
