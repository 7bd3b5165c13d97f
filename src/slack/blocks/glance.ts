/**
 * What a card says at a glance beside the args: what a doubt is about, where somebody signs in, how risky the call is, what
 * people changed, and why it was settled. Pure; foreign words stay text.
 */
import type { KnownBlock, RichTextElement } from "@slack/types"
import { ruleOf, wishOf, type Call } from "../../core/run.ts"
import type { CardView } from "./card.ts"
import { differences } from "./difference.ts"
import { bold, code, instant, nameOf, quote, rich, section, words, type Rich } from "./rich.ts"
import { cautions, clip, count, oneLine, safe, toolName, visible } from "./text.ts"

/** What an open doubt is about, and what each answer to it will do. */
export function doubtful(view: CardView): KnownBlock[] {
  const { ask, run, request } = view
  const call = run.calls.find((call) => call.id === ask.call)
  // What ran the call went away, or does not answer, and the process that called it knows why.
  const why = /^outcome unknown: (.*)$/su.exec(request.prompt)?.[1]
  const stopped = "the process that ran it stopped before its result arrived"
  const reason = why === undefined ? stopped : "its result did not arrive"
  const started = call?.attempt?.at
  const since = started === undefined ? [] : [words(" "), instant(started)]
  const again = (ruleOf(ask).quorum ?? 1) > 1 ? " It takes as many approvals as the call itself." : ""
  return [
    rich(
      section(
        code(toolName(ask.tool)),
        " was started",
        ...since,
        `, in the run of ${nameOf(run.requester)}, and ${reason}. It may have run wholly, in part or not at all. Check whether it took effect, then press what is true; it will not run again by itself.`,
      ),
      ...(why === undefined ? [] : [quote(clip(oneLine(safe(why)), 600))]),
      list([
        [bold("It was done"), words(": it is not run again, and the agent is told that it was done.")],
        [
          bold("Run it again"),
          words(`: it starts once more with the same arguments; what it did before may happen twice.${again}`),
        ],
        [bold("It failed"), words(": it is not run again, and the agent is told that it failed.")],
      ]),
    ),
  ]
}

const list = (items: RichTextElement[][][]): Rich => ({
  type: "rich_text_list",
  style: "bullet",
  elements: items.map((parts) => section(...parts)),
})

/** Where somebody is to sign in, as far as everybody may know. */
export function signingIn({ run, ask, request }: CardView): KnownBlock[] {
  if (ask.settled || ask.from !== "tool" || ask.kind !== "authorization" || request.url === undefined) return []
  const host = URL.canParse(request.url) ? new URL(request.url).host : "an address that can't be read"
  const odd = cautions(request.url, request.url).map((warning) => `\n• ${clip(visible(warning), 300)}`)
  return [
    rich(
      section(
        bold("Sign in at "),
        code(clip(oneLine(host), 300)),
        `. The address is shown to ${nameOf(wishOf(run).asker)} alone, by Open sign-in. Opening it answers nothing: press “I have done it” afterwards, and the tool looks whether it is so.`,
        ...odd,
      ),
    ),
  ]
}

/** What a call does, as the tool's author declares it. */
const EFFECTS: Record<Call["effects"], string> = {
  none: "Read-only: it changes nothing.",
  repeatable: "Has effects. Running it twice does no more than once.",
  once: "Has effects.",
}

/** Of a call that is still there. What its author says is said to be theirs. */
export function risk({ run, ask }: CardView): KnownBlock[] {
  const call = run.calls.find((call) => call.id === ask.call)
  if (!call || ask.settled) return []
  const destructive = call.destructive === true ? [bold("⚠ Destructive: what it does may not be undone. ")] : []
  const rest = call.destructive === true ? "" : EFFECTS[call.effects]
  const whose = call.hints === undefined ? "As the tool declares." : serverSays(call.hints)
  return [
    rich(
      section(...destructive, words(rest), words(`${rest === "" ? "" : " "}(${whose})`, { italic: true })),
      ...late(call),
    ),
  ]
}

/** What a server says of its tool's effects: words of a few, none of them its own. */
function serverSays({ readOnly, destructive, idempotent, openWorld }: NonNullable<Call["hints"]>): string {
  const said = [
    ...(readOnly === undefined ? [] : [readOnly ? "read-only" : "not read-only"]),
    ...(destructive === undefined ? [] : [destructive ? "destructive" : "not destructive"]),
    ...(idempotent === undefined ? [] : [idempotent ? "may be repeated" : "not to be repeated"]),
    ...(openWorld === true ? ["reaches others"] : []),
  ]
  if (said.length === 0) return "Its server says nothing of what it does."
  return `Its server says: ${said.join(", ")}. Nobody has checked that.`
}

const late = ({ since }: Call): Rich[] =>
  since === undefined
    ? []
    : [section(bold(`⚠ This tool ${since} after the bot started`), ", so no rule with a wildcard lets it run unasked.")]

/** Why it was settled so. */
export function reasonOf({ ask, note }: CardView): Rich[] {
  if (note === undefined || note.trim() === "") return []
  const { by } = ask.settled ?? {}
  const whose = by ? `, in the words of ${nameOf(by)}:` : ":"
  return [section(bold("Reason"), whose), quote(clip(safe(note).trim(), 900))]
}

/** What people changed of what the agent wanted. */
export function changes(view: CardView): KnownBlock[] {
  const { ask, before } = view
  const { editors = [], version } = ask
  if (before === undefined || (version === 1 && editors.length === 0)) return []
  const found = differences(before, view.args, ruleOf(ask).mask)
  const names = [...new Set(editors.map(nameOf))].join(", ")
  const lines = found.lines.map((line) => [
    code(line.path),
    words(": "),
    words(line.before),
    words("  →  "),
    words(line.after),
  ])
  const more =
    found.more === 0 ? [] : [[words(`${count(found.more, "further place")}, in the details`, { italic: true })]]
  const none = found.lines.length === 0 ? [[words("Nothing: it is what the agent wanted again")]] : []
  return [
    rich(
      section(
        bold(`Changed by ${clip(names, 600)}`),
        `, since the agent asked${version === 1 ? "" : ` (now version ${version})`}`,
      ),
      list([...lines, ...more, ...none]),
    ),
  ]
}
