/** What one person is told about their run's messages. Knows no door by which it reaches them. */
import { mask } from "../../core/mask.ts"
import type { Ask, Run } from "../../core/run.ts"
import { guarded, type Message } from "../blocks/limits.ts"
import { cantPost, remedyOf, type Names } from "../blocks/notices.ts"
import { rich, section, words as rendered } from "../blocks/rich.ts"
import { clip, escape, oneLine } from "../blocks/text.ts"
import { note, words } from "../blocks/words.ts"

const titleOf = (run: Run): string => `“${clip(oneLine(mask(run.title).text), 200)}”`

/** Where the run that a person started can be followed; `link` is Slack's own address of it. */
export function linkMessage(run: Run, link: string | undefined): Message {
  const said = `Started ${titleOf(run)}. Its thread: `
  if (link === undefined) return note(words({ about: "started" }))
  return guarded(
    {
      text: escape(said + link),
      blocks: [rich(section(rendered(said), [{ type: "link", url: link, text: link }]))],
    },
    () => note(words({ about: "started" })),
  )
}

/** Why something of a run can't be seen in Slack, what that means for the run, and how to mend it. */
export function undeliverable(run: Run, error: string, what: "root" | "thread" | "card" | "end"): string {
  const title = titleOf(run)
  switch (what) {
    case "root":
      return `${title}: ${words({ about: "channel", error })}`
    case "thread":
      return `Slack no longer lets me write in the channel of your run ${title} (${error}), so the run was cancelled: nothing new starts. Let me back in, or use another channel, and give the command again.`
    case "card":
      return `Slack did not take a card of your run ${title} (${error}). Nobody could have decided about it, so it counts as declined and was not run.`
    case "end":
      return `Slack did not take the last message of your run ${title} (${error}). The run is over.`
  }
}

/** That cards of their run can't stand where the rule wants them as well, and how to mend it. */
export function misplaced(
  run: Run,
  { place, error, asks, names }: { place: string; error: string; asks: readonly Ask[]; names: Names },
): string {
  return `In your run ${titleOf(run)}, ${cantPost(place, asks, names)}: ${remedyOf(error)}. What waits can be decided in the run's thread.`
}

/** That the audit channel takes nothing, for those who can mend it. */
export const auditClosed = (channel: string, error: string): string =>
  `I can't post to the audit channel ${channel}: ${remedyOf(error, "the configuration")}. No line is lost: they wait, and are posted when I can write there again.`

/** Of a message whose run or request Redis lost, when it failed over to a server that had not got it yet. */
export const LOST: Message = note(
  "This is lost: Redis failed over to a server that had not got it. Nothing can be decided here any more. If the run goes on, it asks again; if it does not, please start it again.",
)
