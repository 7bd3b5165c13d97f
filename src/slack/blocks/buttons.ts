/** The buttons of an open ask: which there are depends on what is asked and whether all of it can be read. */
import type { Button, KnownBlock } from "@slack/types"
import type { CardView } from "./card.ts"
import { isGrantable } from "../../core/grant.ts"
import { ruleOf } from "../../core/run.ts"
import { PRESS, refOf, verdictOf, withReason, type VerdictName } from "./intent.ts"
import { LIMITS } from "./limits.ts"
import { isLong, type Part } from "./material.ts"
import { actions, button, rich, section, words } from "./rich.ts"
import { grantLabel, grantWords } from "./rule.ts"
import { escape } from "./text.ts"

/** What an answer consists of: a yes, a sign-in, or what a form asks for. */
type Wanted = "yes" | "sign in" | "form" | "nothing"

function wanted({ ask, request }: CardView): Wanted {
  if (ask.from !== "tool") return "yes"
  if (request.kind === "authorization") return "sign in"
  // A relay's calls are answered by whoever relays them.
  if (request.kind === "tool_call") return "nothing"
  return request.kind === "input" || request.kind === "question" || request.data?.["schema"] !== undefined
    ? "form"
    : "yes"
}

/** The actions of an open card, after a word about what is missing. */
export function buttons(view: CardView, parts: readonly Part[]): KnownBlock[] {
  const value = valueOf(view)
  if (value === undefined) return [note(UNPRESSABLE)]
  const readable = view.argsPosted || !parts.some(isLong)
  const hidden = parts.some((part) => part.masked > 0)
  const open = readable && view.paused !== true
  const yes = open ? agreeing(view, value) : []
  const list: Button[] = [
    ...yes,
    ...(view.paused === true ? [] : editing(view, value)),
    ...refusing(view, value),
    ...(hidden ? [reveal(view.ask.tool, value)] : []),
    details(view.ask.tool, value),
  ]
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
  if (open && wanted(view) === "nothing") return ["It asks for something that can't be given here. It can be declined."]
  return readable ? [] : ["Approve appears when everything above can be read in full."]
}

const note = (text: string): KnownBlock => rich(section(words(text, { italic: true })))

function agreeing(view: CardView, value: string): Button[] {
  const { tool, from } = view.ask
  if (from === "doubt") {
    return [
      saying(view, "done", { text: "It was done", label: `It was done: ${tool}`, value }),
      saying(view, "again", { text: "Run it again", label: `Run it again: ${tool}`, value, style: "danger" }),
    ]
  }
  switch (wanted(view)) {
    case "yes":
      return [
        saying(view, "approve", { text: "Approve", label: `Approve: ${tool}`, value, style: "primary" }),
        ...granting(view, value),
      ]
    case "sign in":
      return [
        button({
          id: PRESS.signIn,
          text: "Open sign-in",
          label: `Show me where to sign in, for: ${tool}`,
          value,
          style: "primary",
        }),
        saying(view, "approve", { text: "I have done it", label: `I have done it, for: ${tool}`, value }),
      ]
    case "form":
      return [
        button({ id: PRESS.answer, text: "Answer", label: `Answer the question of: ${tool}`, value, style: "primary" }),
      ]
    case "nothing":
      return []
  }
}

/** A yes and the like of it for a while, where the rule lets an approver say so. */
function granting(view: CardView, value: string): Button[] {
  const { ask } = view
  const rule = ruleOf(ask)
  if (ask.from !== "guard" || !isGrantable(rule)) return []
  const confirm = {
    title: "Approve, and not only this once?",
    text: `This approves the call. ${grantWords(rule, view.args)}`,
    yes: "Approve",
    no: "Back",
  }
  return [
    saying(view, "grant", {
      text: grantLabel(rule),
      label: `Approve and don't ask again: ${ask.tool}`,
      value,
      confirm,
    }),
  ]
}

function editing(view: CardView, value: string): Button[] {
  const { ask } = view
  if (ask.from !== "guard" || ruleOf(ask).edit === undefined || view.editable === false) return []
  return [button({ id: PRESS.edit, text: "Edit", label: `Change the arguments of: ${ask.tool}`, value })]
}

/** A button that says it; where the rule wants to know why, it asks first. */
function saying({ ask }: CardView, name: VerdictName, how: Omit<Parameters<typeof button>[0], "id">): Button {
  const { reason } = ruleOf(ask)
  const need = verdictOf(name).ok ? reason?.approve : reason?.decline
  if (need === undefined) return button({ id: name, ...how })
  // The window that asks says all of it.
  const { confirm: _confirm, ...rest } = how
  return button({ id: withReason(name), ...rest })
}

function refusing(view: CardView, value: string): Button[] {
  const { tool, from } = view.ask
  return from === "doubt"
    ? [saying(view, "failed", { text: "It failed", label: `It failed: ${tool}`, value })]
    : [saying(view, "decline", { text: "Decline", label: `Decline: ${tool}`, value, style: "danger" })]
}

const reveal = (tool: string, value: string): Button =>
  button({ id: PRESS.reveal, text: "Show masked values", label: `Show me the masked values: ${tool}`, value })

const details = (tool: string, value: string): Button =>
  button({ id: PRESS.details, text: "Details", label: `Everything about: ${tool}`, value })
