/**
 * Which scopes the bot needs and what for; the manifest asks for the same ones.
 */
import type { Known } from "../config.ts"
import { listsOf } from "./lists.ts"
import { fault, type Report, together, warning } from "./report.ts"

interface Scope {
  /** Completes "without it …". */
  without: string
  /** Whether the bot can't do its work without it; else it is only a loss. */
  needed: (known: Known) => boolean
}

const names = (known: Known, kind: RegExp): boolean => listsOf(known).some(({ ids }) => ids.some((id) => kind.test(id)))
const always = (): boolean => true

export const SCOPES: Record<string, Scope> = {
  commands: { without: "nobody can type the command", needed: always },
  "chat:write": { without: "no run, card, answer or audit line can be posted", needed: always },
  "im:write": { without: "nobody can be told anything where the bot can't post", needed: always },
  "users:read": { without: "nobody's standing can be looked up, so nobody may do anything", needed: always },
  "usergroups:read": {
    without: "members of user groups can't be told from others, so they may do nothing",
    needed: (known) => names(known, /^S/),
  },
  "channels:read": {
    without: "members of public channels can't be told from others, so they don't see its runs",
    needed: () => false,
  },
  "groups:read": {
    without: "members of private channels can't be told from others, so they may do nothing by that",
    needed: (known) => names(known, /^[CG]/),
  },
}

const unseen = "a lost reply of Slack's may leave a card twice, and nobody sees that one was deleted or changed there"

/** The manifest asks for them as optional ones. */
export const OPTIONAL: Record<string, Scope> = {
  "channels:history": {
    without: `in public channels no reply in a run's thread is heard, ${unseen}`,
    needed: () => false,
  },
  "groups:history": {
    without: `in private channels no reply in a run's thread is heard, ${unseen}`,
    needed: () => false,
  },
  "app_mentions:read": { without: "nobody who mentions the bot is heard", needed: () => false },
  "im:history": { without: "nobody is heard in a direct message", needed: () => false },
  "assistant:write": {
    without: "nothing is suggested in direct messages",
    needed: () => false,
  },
  "files:read": { without: "files that people attach can't be handed to the model", needed: () => false },
}

/** `granted` is undefined when Slack didn't say. */
export function checkScopes(granted: ReadonlySet<string> | undefined, known: Known): Report {
  if (granted === undefined) {
    return warning("Slack didn't say which scopes SLACK_BOT_TOKEN has (a stand-in?), so they couldn't be checked.")
  }
  const missing = Object.entries({ ...SCOPES, ...OPTIONAL }).filter(([scope]) => !granted.has(scope))
  return together(
    ...missing.map(([scope, { without, needed }]) => {
      const remedy = "add it (your Slack app's page, OAuth & Permissions, Bot Token Scopes) and reinstall the app"
      const words = `The scope ${scope} is missing: without it ${without}; ${remedy}.`
      return needed(known) ? fault(words) : warning(words)
    }),
  )
}
