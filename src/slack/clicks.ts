/**
 * Buttons: each press is acked at once, and then gets one visible and true reaction. Knows what the buttons are called
 * from what builds them, and no rule by which anything is decided.
 */
import type { Person } from "../core/fact.ts"
import { intentOf, verdictOf, type Intent } from "./blocks/intent.ts"
import { note, revealed, words, type Said } from "./blocks/words.ts"
import { cancelRun } from "./cancel.ts"
import { decide, type Reaction } from "./decide.ts"
import { tell, type Front } from "./front.ts"
import { personOf, strayWay, wayOf } from "./press.ts"
import { failed, type Ack } from "./replies.ts"
import { reveal } from "./reveal.ts"
import { cardPressed, shownBy } from "./show/record.ts"
import { respond, whisper } from "./show/send.ts"
import { openWindow } from "./window.ts"

export async function onClick(front: Front, body: object, ack: Ack): Promise<void> {
  const acked = ack().catch((error: unknown) => front.log.warn({ err: error }, "an ack of a click did not get through"))
  const intent = intentOf(body)
  if (intent.kind === "link") return acked
  if (!isPress(intent)) {
    front.log.warn({ why: intent.kind === "none" ? intent.why : intent.kind }, "a press that names nothing of ours")
    const way = strayWay(body)
    if (way) await tell(front, way, note(words({ about: "stale" })))
    return acked
  }
  // What stands there is asked before anything can change it, and not waited for.
  const noted = notedOf(front, intent)
  // A window first: what opens it is good for three seconds.
  const reaction = await react(front, intent)
  await acked
  if (reaction && !reaction.told) await tell(front, wayOf(intent.press), note(words(reaction.said)))
  const before = await noted
  if (before) await learnCopy(front, intent, before)
  if (reaction && changesMessage(reaction))
    setTimeout(() => void assure(front, intent, reaction, before), PATIENCE).unref()
}

export type Pressed = Extract<Intent, { kind: "decide" | "reveal" | "open" | "cancel" }>

export const isPress = (intent: Intent): intent is Pressed =>
  ["decide", "reveal", "open", "cancel"].includes(intent.kind)

/** What came of it; undefined when the person has seen that already. */
export async function react(front: Front, intent: Pressed): Promise<Reaction | undefined> {
  const person = personOf(intent.press)
  try {
    switch (intent.kind) {
      case "decide":
        return await decide(front, { ...intent, ...verdictOf(intent.says), via: "click" }, person)
      case "cancel":
        return await cancelRun(front, {
          run: intent.run,
          person,
          via: "click",
          cause: intent.press.cause,
          way: wayOf(intent.press),
        })
      case "reveal":
        return await showMasked(front, intent, person)
      case "open":
        return await openWindow(front, intent, person)
    }
  } catch (error) {
    front.log.error({ err: error, run: intent.run }, "a click could not be dealt with")
    return { said: failed(error), told: false }
  }
}

/** Uses of a response url. */
const USES = 5

/** To this one person's eyes alone: never a message that stays, never a slot that is stored. */
async function showMasked(
  front: Front,
  intent: Extract<Intent, { kind: "reveal" }>,
  person: Person,
): Promise<Reaction | undefined> {
  const { press } = intent
  const shown = await reveal(front, intent, press, person)
  if ("said" in shown) return shown
  const pages = revealed(shown.text)
  const { user, channel, thread, responseUrl } = wayOf(press)
  for (const page of pages) {
    const sent =
      responseUrl !== undefined && pages.length <= USES ? await respond({ url: responseUrl, thread }, page) : undefined
    if (sent?.kind === "sent") continue
    const to = { channel: channel ?? user, user, ...(thread === undefined ? {} : { thread }) }
    const whispered = await whisper(front.client, to, page)
    if (whispered.kind === "sent") continue
    front.log.warn({ run: intent.run, failure: whispered.kind }, "masked values could not be shown")
    return { said: UNSHOWN, told: false }
  }
  return undefined
}

const UNSHOWN: Said = { about: "not shown" }

type Shown = Awaited<ReturnType<Front["store"]["show"]["shown"]>>

/** The slot of the message that was pressed on: the card of an ask may stand in several places. */
const slotOf = (intent: Pressed, noted: Shown): string =>
  intent.kind === "cancel" ? "root" : cardPressed(noted, intent.ask, intent.press)

/** What is noted of the run's messages; undefined when that can't be read. */
async function notedOf({ store, log }: Front, { run }: Pressed): Promise<Shown | undefined> {
  try {
    return await store.show.shown(run)
  } catch (error) {
    log.warn({ err: error, run }, "what stands in Slack could not be looked up")
    return undefined
  }
}

/** A press on a message that we don't know of (the reply to its post was lost) tells us where it stands. */
async function learnCopy(front: Front, intent: Pressed, noted: Shown): Promise<void> {
  const { channel, ts } = intent.press
  const slot = slotOf(intent, noted)
  // Only what is a message of the run can have a copy.
  const isOwed = intent.kind === "cancel" ? noted.owed.has(slot) : noted.owed.has(`card:${intent.ask}`)
  if (channel === undefined || ts === undefined || !isOwed) return
  if (noted.sent.get(slot)?.includes(`"${ts}"`) === true || noted.copies.get(slot)?.has(ts) === true) return
  await front.store.show.addCopy(intent.run, slot, ts, channel).catch((error: unknown) => {
    front.log.warn({ err: error, run: intent.run }, "a copy of a message could not be noted")
  })
}

/** ms after which somebody whose press was recorded, and who sees no change yet, is told in words. */
const PATIENCE = 3000

const changesMessage = ({ said, told }: Reaction): boolean =>
  told &&
  ((said.about === "decision" && (said.outcome.kind === "recorded" || said.outcome.kind === "voted")) ||
    (said.about === "cancel" && said.outcome.kind === "cancelled"))

/** When Slack takes no change for a while, or none at all any more, the person would see nothing of what they did. */
async function assure(front: Front, intent: Pressed, { said }: Reaction, before: Shown | undefined): Promise<void> {
  const after = await notedOf(front, intent)
  const [was, is] = [before, after].map(
    (noted) => noted && shownBy(noted.sent.get(slotOf(intent, noted)), intent.press.ts),
  )
  if (after && (is === undefined || is === was)) await tell(front, wayOf(intent.press), note(words(said)))
}
