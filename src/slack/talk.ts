/**
 * What people write to the agent: a mention starts a run or goes on with one, a reply in a run's thread goes on with that, a direct
 * message starts one. Each is stored before anything is said about it. Knows no rule by which anything is allowed.
 */
import { hear, type Heard } from "../core/converse.ts"
import type { Person } from "../core/fact.ts"
import { userMessage } from "../core/parts.ts"
import { samePerson } from "../core/policy.ts"
import { unended, type Run } from "../core/run.ts"
import { runIdOf } from "../store/keys.ts"
import type { Applied } from "../store/store.ts"
import { working } from "./assistant.ts"
import { nameOf } from "./blocks/rich.ts"
import { note, words, type Said } from "./blocks/words.ts"
import { isOpen, mayEnter, type DoorName } from "./doors.ts"
import { partsOf, type Attached } from "./files.ts"
import { tell, type Front, type Way } from "./front.ts"
import { heardOf, type HeardMessage } from "./heard.ts"
import { ofMessage, failed, unapplied } from "./replies.ts"
import { startRun } from "./start.ts"
import { wordData } from "./word.ts"

/** A message that may be for the agent; every other event is left alone. */
export async function onMessage(front: Front, body: object): Promise<void> {
  const message = heardOf(body, front.home)
  if (!message || !isForUs(front, message)) return
  const told = await answerTo(front, message).catch((error: unknown) => {
    front.log.error({ err: error, channel: message.channel }, "a message could not be dealt with")
    // Where nobody is known to speak to us, nobody waits for a word.
    return message.mentions || message.isDirect ? [note(words(ofMessage(failed(error))))] : []
  })
  for (const one of told) await tell(front, wayOf(message), one)
}

/** Of one message that both names us and stands in a thread, Slack sends two events: one of them counts. */
function isForUs({ doors }: Front, { event, mentions, isDirect, thread }: HeardMessage): boolean {
  if (isDirect) return event === "message"
  if (event === "mention") return isOpen(doors, "mention") || thread === undefined || !isOpen(doors, "reply")
  return thread !== undefined && isOpen(doors, "reply") && !(mentions && isOpen(doors, "mention"))
}

const wayOf = ({ person, channel, thread }: HeardMessage): Way => ({
  user: person.user,
  channel,
  ...(thread === undefined ? {} : { thread }),
})

type Told = ReturnType<typeof note>[]

const say = (said: Said): Told => [note(words(ofMessage(said)))]

/** What the person is told now, for them alone. */
async function answerTo(front: Front, message: HeardMessage): Promise<Told> {
  const { channel, thread, isDirect, mentions, parent } = message
  const found = thread === undefined ? undefined : await front.store.inThread(channel, thread)
  if (found) return goOn(front, message, found.run)
  if (!mentions && !isDirect) return []
  // Below what the bot wrote to them there is nothing to go on with.
  if (isDirect && thread !== undefined && parent === front.home.botUser) return say({ about: "no run here" })
  return start(front, message)
}

async function start(front: Front, message: HeardMessage): Promise<Told> {
  const { store, home } = front
  const { person, channel, ts, isDirect, files, thread = ts } = message
  const text = wordsIn(message)
  if (text === undefined) return say({ about: "no words" })
  const door = isDirect ? "message" : "mention"
  // One run a thread: whoever is second speaks to the first one's.
  const id = runIdOf(home.team, `thread:${channel}:${thread}`, store.shards)
  const cause = causeOf(message)
  const started = await startRun(front, { id, cause, person, channel, door, below: thread, files }, text)
  if (started.kind === "other") return goOn(front, message, started.run)
  if (started.kind === "refused") return started.messages
  if (started.kind !== "started") return []
  if (isDirect) working(front, { channel, thread })
  return started.notes.map((sentence) => note(sentence))
}

/** What it says: no provider takes a message without words, now or in any later turn. Undefined where it says nothing at all. */
function wordsIn({ text, files }: HeardMessage): string | undefined {
  if (text !== "") return text
  return files.length > 0 ? "Look at what is attached." : undefined
}

/** The same over redeliveries, and for both events of one message. */
const causeOf = ({ channel, ts }: HeardMessage): string => `message:${channel}:${ts}`

/** ms that a person waits for what they said to be stored. */
const PATIENCE = 15_000

type Outcome = { heard: Heard } | { barred: Said } | { gone: true }

async function goOn(front: Front, message: HeardMessage, run: Run): Promise<Told> {
  const { channel, isDirect, mentions, isToOthers } = message
  const isAddressed = mentions || isDirect
  // People talk to each other in threads, too.
  if (!isAddressed && isToOthers) return []
  const came = await comeBy(front, message, run)
  if ("why" in came) return isAddressed ? say(came.why) : []
  const attached = await partsOf(front, message.files)
  const applied = await heardBy(front, message, run, { ...came, attached })
  if (applied.kind !== "applied") return say(unapplied(applied))
  if (isDirect) working(front, { channel, thread: run.thread ?? message.ts })
  return afterwards(applied.outcome)
}

/** The door of a message, who came by it, and what they say; or why that is not taken. */
async function comeBy(
  front: Front,
  message: HeardMessage,
  run: Run,
): Promise<{ door: DoorName; by: Person; text: string } | { why: Said }> {
  const { doors, log, command } = front
  const { person, channel, isDirect, mentions } = message
  const door = isDirect ? "message" : mentions && isOpen(doors, "mention") ? "mention" : "reply"
  if (!isOpen(doors, door)) return { why: { about: "closed door", door, command } }
  const { who, right } = await mayEnter(front, door, person, channel, run.agent)
  const text = wordsIn(message)
  if (right.ok) return text === undefined ? { why: { about: "no words" } } : { door, by: who.person, text }
  const outcome = `reply: ${right.why}`
  log.info({ what: "refused", via: door, by: who.person, channel, run: run.id, outcome }, "a reply was not taken")
  return { why: { about: "speak", why: right.why } }
}

/** Stores it, with the word that the person is owed for it. */
async function heardBy(
  front: Front,
  message: HeardMessage,
  run: Run,
  { door, by, text: said, attached }: { door: DoorName; by: Person; text: string; attached: Attached },
): Promise<Applied<Outcome>> {
  const cause = causeOf(message)
  const barred = await barredFrom(front, run)
  const saying = { by, via: door, cause, entry: entryOf(run, by, said, attached) }
  return front.store.apply<Outcome>(
    run.id,
    (now, at) => {
      if (!now) return { outcome: { gone: true } }
      if (now.ended && barred && !now.heard?.includes(cause)) return { outcome: { barred } }
      const text = [words({ about: "heard", how: now.ended ? "goes on" : "kept" }), ...attached.notes].join("\n")
      const word = { name: `word:${cause}`, data: wordData({ ...wayOf(message), text }) }
      const { step, heard } = hear(now, { ...saying, slots: [word] }, at)
      return { step, outcome: { heard } }
    },
    { notAfterMs: PATIENCE, confirm: true },
  )
}

/** What was stored is told by the run itself, whatever becomes of this process. */
function afterwards(outcome: Outcome): Told {
  if ("gone" in outcome) return say({ about: "no run here" })
  if ("barred" in outcome) return say(outcome.barred)
  const { heard } = outcome
  return heard === "kept" || heard === "goes on" || heard === "before" ? [] : say({ about: "heard", how: heard })
}

/** Why a run that has ended may not go on now. */
async function barredFrom({ store, limits, command }: Front, run: Run): Promise<Said | undefined> {
  if (!run.ended) return undefined
  const paused = await store.pause.read()
  if (paused) return { about: "start in a pause", ...paused }
  const lists = unended(run)
  const full = await store.fullOne([
    { index: lists.requester, most: limits.requester },
    { index: lists.channel, most: limits.channel },
  ])
  const of = full?.index === lists.requester ? "requester" : "channel"
  return full && { about: "full", of, count: full.count, command }
}

/** What the model reads: whose words they are, where they are not those of whoever asked for the run. */
function entryOf({ requester }: Run, by: Person, text: string, { parts }: Attached): string {
  return userMessage(samePerson(by, requester) ? text : `${nameOf(by)}: ${text}`, parts)
}
