/**
 * The slash command: start a run, look at what there is, end it, or pause everything. What it answers within Slack's three
 * seconds claims no more than is stored by then; the rest follows by its response url. Knows no rule by which anything is
 * allowed.
 */
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import { runIdOf } from "../store/keys.ts"
import { commandOf, type Command } from "./blocks/command.ts"
import type { Message } from "./blocks/limits.ts"
import { help, NO_GRANT, NO_RUN, WHICH_GRANT } from "./blocks/lists.ts"
import { signedOut } from "./blocks/sign-out.ts"
import { why } from "./blocks/why.ts"
import { note, words } from "./blocks/words.ts"
import { cancelRun } from "./cancel.ts"
import { findGrant, findRun } from "./find-run.ts"
import { tell, type Front, type Way } from "./front.ts"
import { revokeGrant } from "./grants.ts"
import { pauseOrResume } from "./pause.ts"
import { failed, inTime, ofCommand, type Ack } from "./replies.ts"
import { choicesFor, grantChoices, grantsListFor, listFor, runFor } from "./show-run.ts"
import { agentsFor, startRun } from "./start.ts"
import { toolsFor } from "./tools.ts"
import { whyOf } from "./why.ts"
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
    return [note(words(ofCommand(failed(error))))]
  })
  const early = await inTime(work)
  const acked = await answer(front, ack, early ? early.done[0] : note(words({ about: "received" })))
  if (early && acked) return tellAll(front, typed.way, early.done.slice(1))
  const late = early?.done ?? (await work)
  await tellAll(front, typed.way, late.length > 0 ? late : [note(words({ about: "started" }))])
}

/** One after another, for they are read in order. */
async function tellAll(front: Front, way: Way, messages: readonly Message[]): Promise<void> {
  for (const message of messages) await tell(front, way, message)
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

/** What the person is told, in one message or several; none when they were told before. */
async function answerTo(front: Front, command: Command, typed: Typed): Promise<Message[]> {
  switch (command.kind) {
    case "start":
      return start(front, command.prompt, typed)
    case "pause":
    case "resume":
      return [note(words(await pauseOrResume(front, command.kind, typed.person)))]
    case "revoke":
      return [await revoked(front, command.grant, typed)]
    case "sign-out":
      return [note(signedOut(await front.signOut(typed.person, command.server)))]
    case "cancel":
    case "show":
    case "why":
      return command.run === "" ? [note(words({ about: "no id" }))] : answerAbout(front, command, typed)
    default:
      return [await looked(front, command, typed)]
  }
}

/** What there is to see without an id. */
async function looked(
  front: Front,
  command: Extract<Command, { kind: "help" | "list" | "agents" | "grants" | "tools" }>,
  typed: Typed,
): Promise<Message> {
  switch (command.kind) {
    case "help":
      return help(front.command)
    case "list":
      return listFor(front, typed.person)
    case "agents":
      return agentsFor(front, typed)
    case "tools":
      return toolsFor(front, typed, command.agent)
    case "grants":
      return grantsListFor(front, typed.person)
  }
}

type About = Extract<Command, { run: string }>

/** The command about one run, or what its id could mean. */
async function answerAbout(front: Front, { kind, run: id }: About, typed: Typed): Promise<Message[]> {
  const found = await findRun(front, id, typed.person)
  if (found.kind === "several") return [await choicesFor(front, id, found.found)]
  // Who may not see a run is refused by it, and that is a fact of it.
  if (kind === "cancel") return [await cancelled(front, found.kind === "one" ? found.loaded.run.id : id, typed)]
  if (found.kind === "none") return [note(NO_RUN)]
  return kind === "show" ? [await runFor(front, found.loaded)] : why(await whyOf(front, found.loaded))
}

async function cancelled(front: Front, run: string, { person, trigger, way }: Typed): Promise<Message> {
  const { said } = await cancelRun(front, { run, person, via: "command", cause: `command:${trigger}`, way })
  return note(words(ofCommand(said)))
}

async function revoked(front: Front, id: string, { person, trigger }: Typed): Promise<Message> {
  if (id === "") return note(WHICH_GRANT)
  const found = await findGrant(front, id, person)
  if (found.kind === "several") return grantChoices(front, found.found)
  if (found.kind === "none") return note(NO_GRANT)
  const { loaded, grant } = found
  const said = await revokeGrant(front, { loaded, grant, person, via: "command", cause: `command:${trigger}` })
  return note(words(ofCommand(said)))
}

async function start(front: Front, text: string, { person, channel, trigger, way }: Typed): Promise<Message[]> {
  // From the team that the command names, which a redelivery names again, whatever the directory says by then.
  const id = runIdOf(person.team, trigger, front.store.shards)
  const slots = [{ name: "link", data: wordData({ ...way, text: "" }) }]
  const started = await startRun(front, { id, cause: trigger, person, channel, door: "command", slots }, text)
  if (started.kind === "refused") return started.messages
  return started.kind === "started" ? [note(words({ about: "started" }))] : []
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
