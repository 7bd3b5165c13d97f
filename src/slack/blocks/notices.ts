/**
 * What a run says to people beside its cards: reminders, who is called in, what ran unasked, what was refused. Pure
 * functions of the stored run; nothing in a foreign text makes a mention or a link.
 */
import type { RichTextElement } from "@slack/types"
import { grantRef } from "../../core/grant.ts"
import { shownArgs } from "../../core/mask.ts"
import type { Person } from "../../core/fact.ts"
import { isPerson, type Principal } from "../../core/policy.ts"
import type { Ask, Call, Grant, Run } from "../../core/run.ts"
import { guarded, type Message } from "./limits.ts"
import {
  bold,
  code,
  instant,
  mention,
  nameById,
  nameOf,
  quote,
  rich,
  section,
  until,
  words,
  type Rich,
} from "./rich.ts"
import { clip, count, escape, oneLine, safe, toolName, visibleJson } from "./text.ts"

export type Names = Readonly<Record<string, string>>

/** Whom a message pings, by id; the others that it names stay names. */
export interface To {
  pinged: readonly Principal[]
  named?: readonly Principal[]
  names?: Names
}

/** The most asks that are named one by one. */
const MANY = 10

const listed = (tools: readonly string[]): string => clip(tools.join(", "), 300)
const toolsOf = (asks: readonly Ask[]): string => listed([...new Set(asks.map(({ tool }) => toolName(tool)))])

/** `@a, @b: `, or nothing where nobody is called. */
function called({ pinged, named = [], names = {} }: To): RichTextElement[] {
  const all = [...pinged.map(mention), ...named.flatMap((id) => words(clip(nameById(id, names[id]), 200)))]
  return all.flatMap((one, index) => [one, ...words(index === all.length - 1 ? ": " : ", ")])
}

const message = (text: string, ...elements: Rich[]): Message => {
  const whole: Message = { text: escape(text), blocks: [rich(...elements)] }
  return guarded(whole, () => ({ text: whole.text, blocks: [rich(section(words(text)))] }))
}

/** Asks that nobody has decided about for a while, `asks` in their order. */
export function reminder(asks: readonly Ask[], to: To): Message {
  const shown = asks.slice(0, MANY)
  const more = asks.length - shown.length
  const head = asks.length === 1 ? "Still waiting for a decision" : `Still waiting for ${asks.length} decisions`
  return message(
    `${head}: ${toolsOf(asks)}. Please look at ${asks.length === 1 ? "the card" : "the cards"}.`,
    section(...called(to), bold(head)),
    ...shown.map((ask) => section("• ", ...waiting(ask))),
    ...(more > 0 ? [section(`• and ${count(more, "more call")}`)] : []),
  )
}

function waiting(ask: Ask): RichTextElement[] {
  const { quorum = 1 } = ask.rule
  const votes = ask.votes?.length ?? 0
  const voted = quorum > 1 ? words(`, ${votes} of ${quorum} have approved`) : []
  return [
    ...bold(toolName(ask.tool)),
    ...words(", asked for "),
    ...instant(ask.at),
    ...voted,
    ...words(". Decide by "),
    ...until(ask),
    ...words(ask.from === "doubt" ? "; without an answer it counts as failed." : "; no answer until then is a no."),
  ]
}

/** People who may decide as well from now on, since nobody did before. */
export function calledIn(asks: readonly Ask[], to: To): Message {
  const [first] = asks
  const tools = toolsOf(asks)
  const head = `Nobody has decided about ${tools} yet, so you may decide as well.`
  return message(
    head,
    section(
      ...called(to),
      bold("you may decide as well."),
      words(` Nobody has decided about ${tools} yet`),
      ...(first ? [words(", asked for "), instant(first.at), words(". Decide by "), until(first)] : []),
      ".",
    ),
  )
}

/** A call whose args somebody changed while people were asked about it. */
export function changedCall(ask: Ask, by: Pick<Person, "user" | "name">, to: To): Message {
  const tool = toolName(ask.tool)
  return message(
    `${tool} was changed since you were asked. Please look at its card again.`,
    section(
      ...called(to),
      bold(`${tool} was changed`),
      ` by ${nameOf(by)} since you were asked. What was said before no longer counts; please look at its card again.`,
    ),
  )
}

/** A call that ran without a question, on somebody's word; `command` begins with a slash. */
export function ranUnasked(
  run: Run,
  { call, args, grant, command }: { call: Pick<Call, "id" | "tool">; args: string; grant: Grant; command: string },
): Message {
  const tool = toolName(call.tool)
  const shown = clip(visibleJson(shownArgs(args, grant.rule.mask).text), 600)
  return message(
    `${tool} ran unasked, under a grant by ${nameOf(grant.by)}.`,
    section(
      "Unasked: ",
      bold(tool),
      " ",
      code(shown),
      `, under the grant that ${nameOf(grant.by)} gave, until `,
      instant(grant.until),
      ". To end it: ",
      code(`${oneLine(command)} revoke ${grantRef(run, grant)}`),
    ),
  )
}

/** Calls of whoever asked for the run that people said no to, or nobody answered; with the reasons that were given. */
export function refusedCalls(
  how: "declined" | "expired",
  asks: readonly Ask[],
  notes: ReadonlyMap<string, string>,
  to: To,
): Message {
  const tools = toolsOf(asks)
  const it = asks.length === 1 ? "it" : "them"
  const after = `The agent is told and goes on without ${it}.`
  if (how === "expired") {
    const said = `Nobody answered in time about ${tools}`
    const counts = asks.every(({ from }) => from === "doubt") ? "failed" : "declined"
    return message(`${said}.`, section(...called(to), words(`${said}, which counts as ${counts}. ${after}`)))
  }
  return message(
    `Declined: ${tools}.`,
    ...asks
      .slice(0, MANY)
      .flatMap((ask, index) => [
        section(...(index === 0 ? called(to) : []), ...refusal(ask)),
        ...noteOf(notes.get(ask.id)),
      ]),
    section(after),
  )
}

function refusal(ask: Ask): RichTextElement[] {
  const { by } = ask.settled ?? {}
  const who = by ? nameOf(by) : "Somebody"
  return ask.from === "doubt"
    ? [...words(`${who} says that `), ...bold(toolName(ask.tool)), ...words(" failed.")]
    : [...words(`${who} declined `), ...bold(toolName(ask.tool)), ...words(".")]
}

const noteOf = (note: string | undefined): Rich[] =>
  note === undefined || note.trim() === "" ? [] : [quote(clip(safe(note).trim(), 500))]

/** A place where the cards of `asks` should stand and can't; `error` is Slack's word for why. */
export function unplaced(place: Principal, error: string, asks: readonly Ask[], to: To): Message {
  const said = cantPost(place, asks, to.names)
  return message(
    `${said}.`,
    section(...called(to), words(`${said}: ${remedyOf(error)}. What waits can be decided here.`)),
  )
}

/** That cards can't be posted to a place, as a sentence without its end. */
export function cantPost(place: Principal, asks: readonly Ask[], names: Names | undefined): string {
  const where = isPerson(place)
    ? `a direct message to ${clip(nameById(place, names?.[place]), 200)}`
    : `the channel ${clip(names?.[place] ?? place, 200)}`
  return `I can't post ${asks.length === 1 ? "the card" : "the cards"} about ${toolsOf(asks)} to ${where}`
}

/** Why, with what mends it, as a clause; `error` is Slack's word, `where` what names the place. */
export const remedyOf = (error: string, where = "the rule"): string =>
  (REMEDIES[error] ?? `Slack says: ${clip(oneLine(error), 100)}`).replace("WHERE", where)

const REMEDIES: Record<string, string> = {
  not_in_channel: "I'm not a member. Invite me there (type /invite and my name)",
  channel_not_found: "I'm not a member, or there is no such channel. Invite me there (type /invite and my name)",
  is_archived: "it is archived. Unarchive it, or put another one into WHERE",
  user_not_found: "Slack knows nobody by that id",
  cannot_dm_bot: "that is a bot",
}
