/** What blocks need to know of where they stand: names to show, and what a press does. */
import type { TextObject } from "@slack/types"
import { drawPassages, drawSpans, type Names } from "../text/draw.ts"
import { readMrkdwn, readPlain } from "../text/mrkdwn.ts"
import type { Passage } from "../text/passage.ts"
import type { Press } from "../wire.ts"

export interface Place {
  names: Names
  /** Ends when the person has seen what came of it. */
  press: (press: Press, from: HTMLElement) => Promise<void>
  /** What is wrong with an input block, by block id. */
  errors: Record<string, string>
}

/** A text object as passages: mrkdwn with Slack's automatic links and mentions unless it is `verbatim`. */
export function readText(text: TextObject): Passage[] {
  if (text.type === "plain_text") return readPlain(text.text, text.emoji !== false)
  const automatic = text.verbatim !== true
  return readMrkdwn(text.text, { links: automatic, mentions: automatic })
}

export const drawText = (text: TextObject, names: Names): HTMLElement => drawPassages(readText(text), names)

/** A label's text, for places that hold a single line. */
export const drawLabel = (text: TextObject, names: Names): (Node | string)[] =>
  readText(text).flatMap((passage) => ("spans" in passage ? drawSpans(passage.spans, names) : []))
