/** A small panel that makes the local Slack misbehave, to see that the bot copes. */
import { button, el, fill, on } from "../dom.ts"
import type { Outcome, Rule } from "../wire.ts"

interface Trick {
  name: string
  says: string
  rule: Rule
}

const tricks: Trick[] = [
  {
    name: "Lose a reply",
    says: "The next message is posted, but the bot never hears so.",
    rule: { do: "lose-reply", method: "chat.postMessage", times: 1 },
  },
  { name: "Answer slowly", says: "Every call of the bot takes four seconds.", rule: { do: "delay", ms: 4000 } },
  {
    name: "Too many requests",
    says: "The bot's next five calls get a 429 and two seconds to wait.",
    rule: { do: "429", times: 5, retryAfter: 2 },
  },
  {
    name: "Deliver twice",
    says: "The next click or command reaches the bot twice.",
    rule: { do: "repeat", times: 1 },
  },
  {
    name: "Drop the socket",
    says: "The connection that carries the next click or command is cut right after it.",
    rule: { do: "drop-socket", times: 1 },
  },
]

const same = (a: Rule, b: Rule): boolean => a.do === b.do && a.method === b.method

/** `changed` is told when a switch has had its effect. */
export function makeMisbehave(set: (rules: Rule[]) => Promise<Outcome>, changed: () => void) {
  const list = el("ul", { class: "tricks", "aria-label": "Ways to misbehave" })
  const says = el("p", { class: "says", role: "status" })
  const stop = button("Behave again", { class: "btn" }, () => apply([]))
  const node = el("div", { class: "misbehave" }, list, stop, says)
  /** What is on, or asked for: while that is on its way, what the local Slack said before is old. */
  let current: Rule[] = []
  let underWay = 0
  let sent: Promise<void> = Promise.resolve()

  function apply(rules: Rule[]): void {
    current = rules
    underWay += 1
    sent = sent.then(async () => {
      const { ok, error } = await set(rules)
      says.textContent = ok ? "" : `That did not work: ${error ?? "no reason given"}.`
      underWay -= 1
      changed()
    })
    draw()
  }

  function show(rules: Rule[]): void {
    if (underWay === 0) current = rules
    draw()
  }

  function draw(): void {
    stop.hidden = current.length === 0
    fill(
      list,
      tricks.map(({ name, says: what, rule }) => {
        const active = current.some((one) => same(one, rule))
        const toggle = (): void => apply(active ? current.filter((one) => !same(one, rule)) : [...current, rule])
        return {
          key: name,
          version: String(active),
          build: () => {
            const box = el("input", { type: "checkbox", role: "switch", checked: active, "data-control": name })
            on(box, { change: toggle })
            return el("li", {}, el("label", { class: "trick" }, box, el("span", {}, name), el("small", {}, what)))
          },
        }
      }),
    )
  }
  return { node, show }
}
