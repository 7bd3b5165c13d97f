/** The buttons of an open ask: which there are depends on what is asked and whether all of it can be read. */
import type { Button, KnownBlock } from "@slack/types"
import type { CardView } from "./card.ts"
import { PRESS, refOf } from "./intent.ts"
import { LIMITS } from "./limits.ts"
import { isLong, type Part } from "./material.ts"
import { actions, button, rich, section, words } from "./rich.ts"
import { escape } from "./text.ts"

/** What an answer consists of: a yes, a text, or fields that this card can't ask for. */
type Wanted = "yes" | "sign in" | "text" | "fields"

function wanted({ ask, request }: CardView): Wanted {
  if (ask.from !== "tool") return "yes"
  if (request.kind === "authorization") return "sign in"
  if (request.kind === "tool_call" || request.data?.["schema"] !== undefined) return "fields"
  return request.kind === "input" || request.kind === "question" ? "text" : "yes"
}

/** The actions of an open card, after a word about what is missing. */
export function buttons(view: CardView, parts: readonly Part[]): KnownBlock[] {
  const value = valueOf(view)
  if (value === undefined) return [note(UNPRESSABLE)]
  const readable = view.argsPosted || !parts.some(isLong)
  const hidden = parts.some((part) => part.masked > 0)
  const open = readable && view.paused !== true
  const yes = open ? agreeing(view, value) : []
  const list: Button[] = [...yes, ...refusing(view, value), ...(hidden ? [reveal(view.ask.tool, value)] : [])]
  const id = `decide-${view.ask.version}-${yes.length}-${hidden ? 1 : 0}`
  return [...missing(view, open, readable).map(note), actions(id, list)]
}

/** The actions of a card that can't show what is decided about: a no alone. */
export function refusals(view: CardView): KnownBlock[] {
  const value = valueOf(view)
  return value === undefined ? [note(UNPRESSABLE)] : [actions(`refuse-${view.ask.version}`, refusing(view, value))]
}

const UNPRESSABLE = "Its id is too long for a button; it can only be cancelled with its run."

function valueOf({ run, ask }: CardView): string | undefined {
  const value = refOf(run, ask)
  return escape(value).length > LIMITS.buttonValue ? undefined : value
}

/** Why there is no yes, where that is not plain to see. */
function missing(view: CardView, open: boolean, readable: boolean): string[] {
  if (view.paused === true) return ["Nothing can be approved at the moment: Countersign is paused."]
  if (open && wanted(view) === "fields")
    return ["It asks for an answer in several fields, which can't be given here. It can be declined."]
  return readable ? [] : ["Approve appears when everything above can be read in full."]
}

const note = (text: string): KnownBlock => rich(section(words(text, { italic: true })))

function agreeing(view: CardView, value: string): Button[] {
  const { tool, from } = view.ask
  if (from === "doubt") {
    return [
      button({ id: PRESS.done, text: "It was done", label: `It was done: ${tool}`, value }),
      button({ id: PRESS.again, text: "Run it again", label: `Run it again: ${tool}`, value, style: "danger" }),
    ]
  }
  switch (wanted(view)) {
    case "yes":
      return [button({ id: PRESS.approve, text: "Approve", label: `Approve: ${tool}`, value, style: "primary" })]
    case "sign in":
      return [
        button({
          id: PRESS.approve,
          text: "I have done this",
          label: `I have done this, for: ${tool}`,
          value,
          style: "primary",
        }),
      ]
    case "text":
      return [
        button({ id: PRESS.answer, text: "Answer", label: `Answer the question of: ${tool}`, value, style: "primary" }),
      ]
    case "fields":
      return []
  }
}

function refusing(view: CardView, value: string): Button[] {
  const { tool, from } = view.ask
  return from === "doubt"
    ? [button({ id: PRESS.failed, text: "It failed", label: `It failed: ${tool}`, value })]
    : [button({ id: PRESS.decline, text: "Decline", label: `Decline: ${tool}`, value, style: "danger" })]
}

const reveal = (tool: string, value: string): Button =>
  button({ id: PRESS.reveal, text: "Show masked values", label: `Show me the masked values: ${tool}`, value })
