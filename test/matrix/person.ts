/**
 * What people do in a life: step after step, each when what it is about can be seen in Slack, and once more when a bot died
 * and nothing came of it. They look at Slack alone.
 */
import type { LiveWorkspace, Seen } from "../../src/sandbox/live.ts"
import type { Given } from "../../src/sandbox/form.ts"
import type { Message, View } from "../../src/sandbox/workspace.ts"
import { nodes } from "../promises/seen.ts"
import { APP2, OPS } from "./cell.ts"

export type Step =
  /** Types `/agent <text>`. `heard`: what they are told when it was done; without it, a run's message shows that. */
  | { do: "type"; who: string; text: string; heard?: RegExp }
  /** Presses a button of the first message that has it. `tool`: of a card about that tool; `stays`: the button stands after it. */
  | { do: "press"; who: string; action: string; tool?: string; stays?: true }
  /** Presses a button that opens a window, fills that in (by the labels of its fields) and sends it. */
  | { do: "fill"; who: string; action: string; given: Record<string, string> }
  /** Does nothing until a message with that button stands. */
  | { do: "see"; action: string }
  /** Does nothing until no card waits any more. */
  | { do: "wait" }

/** One thing that somebody did, and what they saw of it at once. */
export interface Deed {
  who: string
  what: string
  /** How many bots had died before it. */
  deaths: number
  seen?: Seen
}

/** What a step is done in. */
export interface Place {
  workspace: LiveWorkspace
  /** What stands where runs live, looked at anew only when something changed. */
  messages: () => readonly Message[]
  deeds: Deed[]
  /** What one person was told alone so far, in order. */
  told: (who: string) => readonly string[]
  /** How many bots have died. */
  deaths: () => number
  /** Whether a bot is there to hear it. */
  isHeard: () => boolean
  /** Whether nothing is left to do for any bot. */
  isAtRest: () => Promise<boolean>
  /** Whether every run that was started has ended. */
  hasEnded: () => Promise<boolean>
}

/** ms that somebody waits for what they did to show, when no bot died meanwhile. */
const PATIENCE = 30_000
/** After so long they act again whatever is under way, ms: longer than some faults hold a run up together, or it is done twice. */
const ANYWAY = 180_000

/**
 * What is said of a press that counts, or that came too late, where Slack shows that on no message. What was said of a change
 * may come when whoever made it has pressed something else since.
 */
const SETTLES = {
  press: /^(Recorded|Already settled|You have approved|Too late|Cancelled|Nothing to cancel)\b/,
  fill: /^(Recorded|Already settled|Too late|Changed)\b/,
}

/** What is said of a press on a card that had changed meanwhile, and was not drawn anew yet: whoever reads it presses again. */
const OUTDATED = /^Not recorded: .*(somebody changed|has changed since)/

/** What is said where it could not be recorded at once, and will be. */
const WAITS = /^Received\. I'll tell you/

/** A step that is under way. */
export class Doing {
  readonly step: Step
  readonly #place: Place
  /** What they looked at when they acted. */
  #acted: { deaths: number; at: number; on: Message | undefined; told: number; done: boolean } | undefined
  /** How much they had been told before they acted at all. */
  #told = 0

  constructor(step: Step, place: Place) {
    this.step = step
    this.#place = place
  }

  /** Does what can be done now; true when the step is over. */
  async isOver(): Promise<boolean> {
    if (this.#shows()) return true
    if (this.step.do === "wait" || this.step.do === "see" || !(await this.#mayAct())) return false
    const on = this.#target()
    if (!on && this.step.do !== "type") return false
    void this.#act(on)
    return false
  }

  /** Whether Slack shows that something came of it. */
  #shows(): boolean {
    const { step } = this
    const messages = this.#place.messages()
    if (step.do === "see") return messages.some((message) => buttonOf(message, step.action))
    if (step.do === "wait") return messages.length > 0 && !messages.some(isOpen)
    if (!this.#acted?.done) return false
    if (step.do === "type") return step.heard ? this.#hasHeard(step, step.heard) : messages.length > 0
    const { on } = this.#acted
    if (this.#hasHeard(step, SETTLES[step.do])) return true
    const now = messages.find(({ ts }) => ts === on?.ts)
    if (this.#hasHeard(step, OUTDATED, this.#acted.told)) return false
    if (step.do === "press" && step.stays !== true) return now === undefined || !buttonOf(now, step.action)
    return on !== undefined && JSON.stringify(now?.blocks) !== JSON.stringify(on.blocks)
  }

  #hasHeard(step: Step, words: RegExp, from = this.#told): boolean {
    const since = "who" in step ? this.#place.told(step.who).slice(from) : []
    return since.some((text) => words.test(text))
  }

  /** Once, and again when a bot died since, and whatever that left was dealt with; or when nothing came of it for long. */
  async #mayAct(): Promise<boolean> {
    const { isHeard, isAtRest, deaths } = this.#place
    if (!isHeard() || this.#acted?.done === false) return false
    if (!this.#acted) return true
    // Who was told to wait does so, unless nothing comes of it.
    const died = this.#acted.deaths < deaths() && !this.#hasHeard(this.step, WAITS, this.#acted.told)
    const since = performance.now() - this.#acted.at
    if (!died && since < PATIENCE) return false
    // A tool may take so long as somebody does nothing.
    if (since > ANYWAY) return !this.#shows()
    return (await isAtRest()) && (await pause(SETTLED)) && (await isAtRest()) && !this.#shows()
  }

  #target(): Message | undefined {
    const { step } = this
    if (step.do !== "press" && step.do !== "fill") return undefined
    const about = step.do === "press" && step.tool !== undefined ? step.tool : ""
    return this.#place.messages().find((message) => buttonOf(message, step.action) && message.text.includes(about))
  }

  async #act(on: Message | undefined): Promise<void> {
    const told = "who" in this.step ? this.#place.told(this.step.who).length : 0
    const acted = { deaths: this.#place.deaths(), at: performance.now(), on, told, done: false }
    if (!this.#acted) this.#told = told
    this.#acted = acted
    try {
      if (this.step.do === "type") await this.#type(this.step)
      else if (on && this.step.do === "press") await this.#press(this.step, on)
      else if (on && this.step.do === "fill") await this.#fill(this.step, on)
    } finally {
      acted.done = true
    }
  }

  async #type({ who, text }: Extract<Step, { do: "type" }>): Promise<void> {
    const { workspace } = this.#place
    await this.#did(who, `typed ${text}`, () => workspace.command(who, OPS, text))
  }

  async #press({ who, action }: Extract<Step, { do: "press" }>, on: Message): Promise<void> {
    const { workspace } = this.#place
    await this.#did(who, `pressed ${action}`, () => workspace.click(who, on, action))
  }

  async #fill({ who, action, given }: Extract<Step, { do: "fill" }>, on: Message): Promise<void> {
    const { workspace, deaths } = this.#place
    const before = deaths()
    // A window that was left behind says nothing that could still be sent.
    for (const { id } of workspace.views(who)) await workspace.closeView(who, id, true)
    await this.#did(who, `pressed ${action}`, () => workspace.click(who, on, action))
    const filled = await this.#window(who, () => deaths() > before)
    if (!filled) return
    await this.#did(who, `sent ${action}`, () => workspace.submit(who, filled.id, valuesOf(filled, given)))
  }

  /** The window, once it can be sent; undefined when it will never be. */
  async #window(who: string, isLost: () => boolean): Promise<View | undefined> {
    const { workspace } = this.#place
    const until = performance.now() + PATIENCE
    while (performance.now() < until) {
      const open = workspace.views(who).at(-1)
      if (open?.submit) return open
      if (isLost()) return undefined
      await pause(50)
    }
    return undefined
  }

  async #did(who: string, what: string, act: () => Promise<Seen>): Promise<void> {
    const deed: Deed = { who, what, deaths: this.#place.deaths() }
    this.#place.deeds.push(deed)
    deed.seen = await act()
  }
}

/** What is written into each field, as the form sends it. */
function valuesOf({ blocks }: View, given: Record<string, string>): Given {
  const values: Given = {}
  for (const [label, value] of Object.entries(given)) {
    const block = blocks.find((one) => one.type === "input" && textOf(one["label"]) === label)
    const action = nodes(block?.["element"]).find(({ action_id }) => typeof action_id === "string")?.["action_id"]
    if (!block?.block_id) throw new Error(`the window has no field “${label}”: ${JSON.stringify(blocks)}`)
    values[block.block_id] = { [String(action)]: value }
  }
  return values
}

const textOf = (label: unknown): unknown => nodes(label)[0]?.["text"]

/** ms in which what somebody pressed gets from Slack to Redis, before it is called lost. */
const SETTLED = 1500

const pause = async (ms: number): Promise<true> => {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return true
}

/** The buttons of messages that were looked at: each is looked at ten times a second, by whoever waits. */
const looked = new WeakMap<Message, ReadonlySet<unknown>>()

function buttonOf(message: Message, action: string): boolean {
  let buttons = looked.get(message)
  if (!buttons) {
    const found = nodes(message.blocks).filter(({ type }) => type === "button")
    buttons = new Set(found.map(({ action_id }) => action_id))
    looked.set(message, buttons)
  }
  return buttons.has(action)
}

/** What decides an ask; the root's own button is none of these. */
const DECIDES = ["approve", "decline", "answer", "again", "done", "failed"]

export const isOpen = (message: Message): boolean => DECIDES.some((action) => buttonOf(message, action))

export type DoubtAnswer = "again" | "done" | "failed" | "wait"

/** Cards about an unknown outcome, which may come up in any life; each is answered as the life says. */
export class Doubts {
  readonly #place: Place
  readonly #answer: DoubtAnswer
  readonly #doing = new Map<string, Doing>()

  constructor(place: Place, answer: DoubtAnswer) {
    this.#place = place
    this.#answer = answer
  }

  async answer(): Promise<void> {
    if (this.#answer === "wait") return
    const cards = this.#place.messages().filter((message) => buttonOf(message, "again"))
    for (const { ts } of cards) {
      const step: Step = { do: "press", who: APP2, action: this.#answer }
      const doing = this.#doing.get(ts) ?? new Doing(step, this.#place)
      this.#doing.set(ts, doing)
      await doing.isOver()
    }
  }
}
