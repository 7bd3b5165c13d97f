/**
 * Starting a run for somebody who came by one of the doors: may they, with which agent, is there room; then it is stored. Knows
 * no door in particular.
 */
import type { Person } from "../core/fact.ts"
import type { Denial } from "../core/policy.ts"
import type { Run, Slot } from "../core/run.ts"
import { begin } from "../core/turn.ts"
import { agentsList } from "./blocks/agents.ts"
import type { Message } from "./blocks/limits.ts"
import { note, words, type Said } from "./blocks/words.ts"
import { mayUse, principalsFor, usableBy, addressedIn, type Addressed } from "./agents.ts"
import { isOpen, mayEnter, placesBy, placesIn, type DoorName } from "./doors.ts"
import { partsOf, type Attached } from "./files.ts"
import { refusedAsFull } from "./full.ts"
import { rightOf, type Front } from "./front.ts"
import { ofCommand, unapplied } from "./replies.ts"

/** Who came, by which door, and where the run is to be. */
export interface Came {
  /** The run's: the same over redeliveries. */
  id: string
  cause: string
  person: Person
  channel: string
  door: DoorName
  /** The ts of the message below which it is to live; absent: it has one of its own. */
  below?: string
  /** Owed to whoever came. */
  slots?: Slot[]
  /** What they attached, as Slack tells it. */
  files?: readonly unknown[]
}

/**
 * started: it is stored now, and `notes` says what of the files the agent did not get · before: this very thing had started it before · other: somebody else's run of this id stands there ·
 * refused: what is said instead.
 */
export type Started =
  | { kind: "started"; notes: string[] }
  | { kind: "before" }
  | { kind: "other"; run: Run }
  | { kind: "refused"; messages: Message[] }

/** ms that a person waits for their run to be stored. */
const PATIENCE = 15_000

export async function startRun(front: Front, came: Came, text: string): Promise<Started> {
  const { store, command } = front
  const { id, person, channel, door } = came
  if (!isOpen(front.doors, door)) return instead(say({ about: "closed door", door, command }))
  const { who, right } = await mayEnter(front, door, person, channel)
  if (!right.ok) return instead(denied(front, came, right.why))
  const asked = addressedIn(text, front.agents)
  const unfit = asked.agent === undefined ? undefined : await unfitAgent(front, came, asked.agent, asked.prompt)
  if (unfit) return instead(unfit)
  const paused = await store.pause.read()
  if (paused) return instead(say({ about: "start in a pause", ...paused }))
  const full = await refusedAsFull(front, { id, requester: who.person, channel, via: door })
  if (full) return instead(full)
  // Only of somebody who may start runs is anything downloaded.
  const attached = await partsOf(front, came.files)
  return stored(front, came, { ...asked, requester: who.person, attached })
}

const instead = (messages: Message[]): Started => ({ kind: "refused", messages })

const say = (said: Said): Message[] => [note(words(ofCommand(said)))]

function denied(front: Front, came: Came, why: Denial): Message[] {
  refused(front, came, why)
  return say({ about: "start", why })
}

const refused = ({ log }: Front, { door, person, channel }: Came, why: string): void =>
  log.info({ what: "refused", via: door, by: person, channel, outcome: `start: ${why}` }, "a run was not started")

/** Why the agent that is named can't be used; undefined when it can. Which there are is told with it. */
async function unfitAgent(front: Front, came: Came, name: string, prompt: string): Promise<Message[] | undefined> {
  const { people, agents, command } = front
  const { person, channel, door } = came
  const lists = placesBy(front, door, channel)
  const agent = agents.find((one) => one.name === name)
  const right =
    agent &&
    (await rightOf(people, person, principalsFor(lists, [agent]), (who) => mayUse(lists, agent, who, channel))).right
  if (agent && right?.ok) return prompt === "" ? [agentsList([agent], command)] : undefined
  if (right?.ok === false && right.why === "cannot check") return denied(front, came, right.why)
  refused(front, came, `no agent ${name}`)
  return [...say({ about: "no agent", name }), await agentsFor(front, came)]
}

async function stored(
  { store, keepEnded, opening }: Front,
  { id, cause, channel, door, below, slots = [] }: Came,
  { agent, prompt, requester, attached }: Addressed & { requester: Person; attached: Attached },
): Promise<Started> {
  const whole = prompt.toWellFormed()
  const applied = await store.apply<Started>(
    id,
    (run, now) => {
      if (run) return { outcome: run.cause === cause ? { kind: "before" } : { kind: "other", run } }
      const step = begin(
        {
          id,
          cause,
          requester,
          channel,
          agent,
          prompt: whole,
          keep: keepEnded,
          rooted: false,
          counts: true,
          via: door,
          below,
          transcript: opening(whole, attached.parts),
          slots,
        },
        now,
      )
      return { step, outcome: { kind: "started", notes: attached.notes } }
    },
    // Whether it exists is seen by the commit itself.
    { notAfterMs: PATIENCE, confirm: true, known: "none" },
  )
  return applied.kind === "applied" ? applied.outcome : instead(say(unapplied(applied)))
}

/** The agents that the person may use in the channel, in words. */
export async function agentsFor(front: Front, { person, channel }: Pick<Came, "person" | "channel">): Promise<Message> {
  const { people, agents, command } = front
  const lists = placesIn(front, channel)
  const who = await people.who(person, principalsFor(lists, agents))
  return agentsList(usableBy(lists, agents, who, channel), command)
}
