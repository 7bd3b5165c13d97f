/**
 * The slash command: start, list, cancel, help. What it answers within Slack's three seconds claims no more than is stored
 * by then; the rest follows by its response url. Knows no rule by which anything is allowed.
 */
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import { mayStart } from "../core/policy.ts"
import { begin } from "../core/turn.ts"
import { runIdOf } from "../store/keys.ts"
import { commandOf, type Command } from "./blocks/intent.ts"
import type { Message } from "./blocks/limits.ts"
import { help } from "./blocks/messages.ts"
import { note, words, type Said } from "./blocks/words.ts"
import { cancelRun } from "./cancel.ts"
import { rightOf, tell, type Front, type Way } from "./front.ts"
import { listFor } from "./home.ts"
import { failed, inTime, ofCommand, unapplied, type Ack } from "./replies.ts"
import { wordData } from "./word.ts"

/** Who typed what, and where. */
interface Typed {
  person: Person
  channel: string
  /** The same over redeliveries of one command. */
  trigger: string
  text: string
  way: Way
}

export async function onCommand(front: Front, body: object, ack: Ack): Promise<void> {
  const typed = typedOf(body)
  if (!typed) {
    front.log.warn({}, "a command without a person, a place or a trigger")
    return ack()
  }
  const command = commandOf(typed.text)
  const work = answerTo(front, command, typed).catch((error: unknown) => {
    front.log.error({ err: error, command: command.kind }, "a command could not be dealt with")
    return note(words(ofCommand(failed(error))))
  })
  const early = await inTime(work)
  const acked = await answer(front, ack, early ? early.done : note(words({ about: "received" })))
  if (early && acked) return
  const late = early?.done ?? (await work) ?? note(words({ about: "started" }))
  await tell(front, typed.way, late)
}

async function answer(front: Front, ack: Ack, message: Message | undefined): Promise<boolean> {
  try {
    await ack(message && { response_type: "ephemeral", ...message })
    return true
  } catch (error) {
    front.log.warn({ err: error }, "an ack of a command did not get through")
    return false
  }
}

/** What the person is told. Undefined: nothing, for they were told before. */
async function answerTo(front: Front, command: Command, typed: Typed): Promise<Message | undefined> {
  switch (command.kind) {
    case "help":
      return help(front.command)
    case "list":
      return listFor(front, typed.person)
    case "cancel": {
      if (command.run === "") return note(words({ about: "no id" }))
      const { person, trigger, way } = typed
      const { said } = await cancelRun(front, {
        run: command.run,
        person,
        via: "command",
        cause: `command:${trigger}`,
        way,
      })
      return note(words(ofCommand(said)))
    }
    case "start": {
      const said = await start(front, command.prompt, typed)
      return said && note(words(ofCommand(said)))
    }
  }
}

/** ms that a person waits for their run to be stored. */
const PATIENCE = 15_000

/** Undefined: this very command had started its run before. */
async function start(
  front: Front,
  prompt: string,
  { person, channel, trigger, way }: Typed,
): Promise<Said | undefined> {
  const { store, people, lists, log } = front
  const { who, right } = await rightOf(people, person, lists.starters, (who) => mayStart(lists, who, channel))
  if (!right.ok) {
    log.info(
      { what: "refused", via: "command", by: who.person, channel, outcome: `start: ${right.why}` },
      "a run was not started",
    )
    return { about: "start", why: right.why }
  }
  // From the team that the command names, which a redelivery names again, whatever the directory says by then.
  const id = runIdOf(person.team, trigger, store.shards)
  const whole = prompt.replaceAll(/\p{Cs}/gu, "\u{fffd}")
  const applied = await store.apply(
    id,
    (run, now) => {
      if (run) return { outcome: "before" as const }
      const step = begin(
        {
          id,
          cause: trigger,
          requester: who.person,
          channel,
          prompt: whole,
          keep: front.keepEnded,
          rooted: false,
          via: "command",
          transcript: front.opening(whole),
          slots: [{ name: "link", data: wordData({ ...way, text: "" }) }],
        },
        now,
      )
      return { step, outcome: "started" as const }
    },
    // Whether it exists is seen by the commit itself.
    { notAfterMs: PATIENCE, confirm: true, known: "none" },
  )
  if (applied.kind !== "applied") return unapplied(applied)
  return applied.outcome === "started" ? { about: "started" } : undefined
}

/** Reads a slash command: flat, and all texts. */
function typedOf(body: object): Typed | undefined {
  const read = (key: string): string | undefined => {
    const value = isRecord(body) ? body[key] : undefined
    return typeof value === "string" && value !== "" ? value : undefined
  }
  const [user, team, channel, trigger] = ["user_id", "team_id", "channel_id", "trigger_id"].map(read)
  if (user === undefined || team === undefined || channel === undefined || trigger === undefined) return undefined
  const [enterprise, name, responseUrl] = ["enterprise_id", "user_name", "response_url"].map(read)
  return {
    person: {
      team,
      user,
      ...(enterprise === undefined ? {} : { enterprise }),
      ...(name === undefined ? {} : { name }),
    },
    channel,
    trigger,
    text: read("text") ?? "",
    way: { user, channel, ...(responseUrl === undefined ? {} : { responseUrl }) },
  }
}
