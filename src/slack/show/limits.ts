/**
 * Under which of Slack's limits an act falls, and how urgent it is among those that wait for the same one. Knows no rates.
 */
import type { Act } from "./acts.ts"
import { doorOf } from "./doors.ts"
import type { Urgency } from "./pace.ts"
import { readName } from "./places.ts"

/** The limits of a message that is posted to a channel, or to a person; the narrowest last. */
export const limitsOfPost = (channel: string): string[] => ["posts", `chat.postMessage:${channel}`]

/** The limits of a call, the narrowest last: that is held when Slack says 429. None: Slack limits it by nothing we know. */
export function limitsOf(act: Act): string[] {
  switch (act.do) {
    case "post":
      return limitsOfPost(act.to.channel)
    case "update":
      return ["chat.update"]
    case "remove":
      return ["chat.delete"]
    case "tell": {
      const door = doorOf(act.word, act.slot)
      if (door === "whisper") return ["chat.postEphemeral"]
      return door === "message" ? limitsOfPost(act.word.user) : []
    }
    case "seek":
      return ["conversations.replies"]
    case "link":
    case "mark":
      return []
  }
}

export function urgencyOf(act: Act): Urgency {
  if (act.lane === "cards") return "card"
  return act.do === "post" && readName(act.slot.name).kind === "end" ? "result" : "change"
}
