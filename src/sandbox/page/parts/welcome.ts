/** What stands in a conversation in which nothing was said yet: how to begin. */
import { EXAMPLES } from "../../demo/examples.ts"
import { button, el, type Kept } from "../dom.ts"
import type { Channel } from "../wire.ts"

/** `take` puts a command into the box, to be looked at and sent. */
export function welcome(channel: Channel, isApps: boolean, take: (command: string) => void): Kept {
  return {
    key: "welcome",
    version: channel.id,
    build: () =>
      isApps ? alone(channel, take) : channel.kind === "channel" ? beginning(channel, take) : quiet(channel),
  }
}

const quiet = ({ name }: Channel): HTMLElement =>
  el("div", { class: "welcome" }, el("h3", {}, name), el("p", {}, "Nothing was said here yet."))

const offers = (commands: string[], label: string, take: (command: string) => void): HTMLElement =>
  el(
    "ul",
    { "aria-label": label },
    ...commands.map((command) =>
      el(
        "li",
        {},
        button(command, {}, () => take(command)),
      ),
    ),
  )

function alone({ name }: Channel, take: (command: string) => void): HTMLElement {
  return el(
    "div",
    { class: "welcome" },
    el("h3", {}, `You and ${name}`),
    el("p", {}, "What the bot has to say to you alone comes here. Ask it here, or by a command."),
    offers(["/agent list", "/agent agents", "/agent help"], "To try here", take),
  )
}

function beginning({ name }: Channel, take: (command: string) => void): HTMLElement {
  const commands = EXAMPLES.map((text) => `/agent ${text}`)
  return el(
    "div",
    { class: "welcome" },
    el("h3", {}, `Start a run in #${name}`),
    el("p", {}, "Say what you want done. The agent works in a thread, and where a person must agree it asks there."),
    el("p", {}, "Then be Ada or Grace, at the lower left, and answer. Oscar, Gus and Fay may look, but have no say."),
    offers(commands, "Runs to try", take),
  )
}
