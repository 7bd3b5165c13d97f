/**
 * What every door of the bot works with (commands, clicks, forms, the home), and how it says something to the one person
 * who came. Knows no door in particular.
 */
import type { WebClient } from "@slack/web-api"
import type { Denial, Right, Rule, Who } from "../core/policy.ts"
import type { Decision } from "../core/rules.ts"
import type { Run } from "../core/run.ts"
import type { Request } from "../core/suspension.ts"
import type { Person } from "../core/fact.ts"
import type { Part } from "../core/parts.ts"
import type { Store } from "../store/store.ts"
import type { Message } from "./blocks/limits.ts"
import type { ShownSource } from "./blocks/tools.ts"
import type { SignedOut } from "./blocks/sign-out.ts"
import type { Home, Log } from "./client.ts"
import type { NamedAgent } from "./agents.ts"
import type { FileLimits } from "./files.ts"
import type { Doors } from "./doors.ts"
import type { People } from "./people.ts"
import type { Repeats } from "./repeats.ts"
import type { Names } from "./show/names.ts"
import { post, respond, whisper, type Sending } from "./show/send.ts"
import type { Word } from "./word.ts"

/** Who may do what; ids of users, groups and channels. */
export interface Lists {
  starters: readonly string[]
  channels: readonly string[]
  /** Who may decide where no rule says otherwise, and cancel any run. */
  approvers: readonly string[]
  /** Those, and whoever the rules name besides: whose lists of what waits for them are kept. */
  deciders: readonly string[]
  admins: readonly string[]
}

/** A call with other args, as the tools and the rules see it. */
export type Judged =
  | { ok: true; args: string; digest: string; decision: Decision; request: Request }
  /** In words, why the tool can't take these. */
  | { ok: false; why: string }

/** What the tools and the file's rules say of calls. */
export interface Calls {
  /** The tool's input schema; undefined when there is no such tool (any more). */
  schemaOf(tool: string): Record<string, unknown> | undefined
  /** Where the configuration and the tool's author let people be asked to sign in, for this tool. */
  hostsOf(tool: string): readonly string[]
  /** `agent`: whose call it is; absent, the file's own. */
  judge(tool: string, args: Record<string, unknown>, agent?: string): Judged
  /** What a grant for this call would cover; undefined when there is no such tool. */
  markOf(tool: string, args: string, rule: Rule): string | undefined
}

export interface Front {
  store: Store
  /** What is to be said of the calls of a run: not everybody has the same tools. */
  callsFor: (run: Run) => Promise<Calls>
  people: People
  client: WebClient
  log: Log
  home: Home
  lists: Lists
  /** Those that the configuration names. */
  agents: readonly NamedAgent[]
  /** Where the tools of a person come from, as it is now; by an agent, with what its rules make of those that it has. */
  sources: (person: Person, agent?: string) => Promise<readonly ShownSource[]>
  /** Forgets what a person got by signing in to a server; "unknown": nobody signs in to one of that name. */
  signOut: (person: Person, server: string) => Promise<SignedOut>
  doors: Doors
  repeats: Repeats
  names: Pick<Names, "of">
  /** With its slash. */
  command: string
  /** How many runs may be at once, those that wait included: of one requester, and in one channel. */
  limits: { requester: number; channel: number }
  /** Which of the files that people attach are taken. */
  files: FileLimits
  /** ms that an ended run is kept. */
  keepEnded: number
  /** The transcript that a run begins with, as JSON texts; the prompt is its last entry. */
  opening: (prompt: string, parts?: readonly Part[]) => string[]
}

/** Where and how a person can be answered. */
export type Way = Pick<Word, "user" | "channel" | "thread" | "responseUrl">

/** How long a word to somebody may take, ms: there may be a second and a third way to try. */
const WORD_TIMEOUT = 5000

/**
 * Says something to one person now: by the response url, else for them alone where they acted, else in a direct message.
 * False when no way worked. A word whose reply was lost may arrive twice.
 */
export async function tell(
  { client, log }: Pick<Front, "client" | "log">,
  way: Way,
  message: Message,
): Promise<boolean> {
  const { user, channel, thread, responseUrl } = way
  const tries: (() => Promise<Sending>)[] = [() => post(client, { channel: user }, message)]
  if (channel !== undefined) {
    tries.unshift(() => whisper(client, { channel, user, ...(thread === undefined ? {} : { thread }) }, message))
  }
  if (responseUrl !== undefined) tries.unshift(() => respond({ url: responseUrl, thread }, message, WORD_TIMEOUT))
  for (const attempt of tries) {
    const sending = await attempt()
    if (sending.kind === "sent") return true
    log.warn({ user, failure: sending.kind }, "a word to a person did not get through; trying the next way")
  }
  return false
}

/**
 * Asks a right with what is known of the person; who would be refused is looked up anew first, for they may have been
 * let in a moment ago.
 */
export async function rightOf(
  people: People,
  person: Person,
  principals: readonly string[],
  right: (who: Who) => Right,
): Promise<{ who: Who; right: Right }> {
  const who = await people.who(person, principals)
  const first = right(who)
  if (first.ok || !mayChange(first.why)) return { who, right: first }
  const again = await people.who(person, principals, { fresh: true })
  return { who: again, right: right(again) }
}

/** Whether looking the person up again can change the answer. */
const mayChange = (why: Denial): boolean =>
  !["nobody listed", "wrong channel", "own request", "own words", "requester only"].includes(why)
