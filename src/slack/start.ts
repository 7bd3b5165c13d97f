/**
 * Starting a run for somebody who came by one of the doors: may they, with which agent, is there room; then it is stored. Knows
 * no door in particular.
 */
import type { Person, Via } from "../core/fact.ts"
import type { Part } from "../core/parts.ts"
import { mayStart, type Denial } from "../core/policy.ts"
import { begin } from "../core/turn.ts"
import { agentsList } from "./blocks/agents.ts"
import type { Message } from "./blocks/limits.ts"
import { note, words, type Said } from "./blocks/words.ts"
import { mayUse, principalsFor, usableBy, wishOf, type Wish } from "./agents.ts"
import { refusedAsFull } from "./full.ts"
import { rightOf, type Front, type Way } from "./front.ts"
import { ofCommand, unapplied } from "./replies.ts"
import { wordData } from "./word.ts"

/** Who came, by which door, and where the run is to be. */
export interface Came {
  /** The run's: the same over redeliveries. */
  id: string
  cause: string
  person: Person
  channel: string
  way: Way
  via: Via
  /** What they attached. */
  parts?: readonly Part[]
}

/** ms that a person waits for their run to be stored. */
const PATIENCE = 15_000

/** What the person is told, in one message or several; none when this very thing had started its run before. */
export async function startRun(front: Front, came: Came, text: string): Promise<Message[]> {
  const { store, people, lists } = front
  const { id, person, channel } = came
  const { who, right } = await rightOf(people, person, lists.starters, (who) => mayStart(lists, who, channel))
  if (!right.ok) return denied(front, came, right.why)
  const wish = wishOf(text, front.agents)
  const unfit = wish.agent === undefined ? undefined : await unfitAgent(front, came, wish.agent, wish.prompt)
  if (unfit) return unfit
  const paused = await store.pause.read()
  if (paused) return say({ about: "start in a pause", ...paused })
  const full = await refusedAsFull(front, { id, requester: who.person, channel })
  if (full) return full
  const said = await stored(front, came, { ...wish, requester: who.person })
  return said ? say(said) : []
}

const say = (said: Said): Message[] => [note(words(ofCommand(said)))]

function denied(front: Front, came: Came, why: Denial): Message[] {
  refused(front, came, why)
  return say({ about: "start", why })
}

const refused = ({ log }: Front, { via, person, channel }: Came, why: string): void =>
  log.info({ what: "refused", via, by: person, channel, outcome: `start: ${why}` }, "a run was not started")

/** Why the agent that is named can't be used; undefined when it can. Which there are is told with it. */
async function unfitAgent(front: Front, came: Came, name: string, prompt: string): Promise<Message[] | undefined> {
  const { people, lists, agents, command } = front
  const { person, channel } = came
  const agent = agents.find((one) => one.name === name)
  const right =
    agent &&
    (await rightOf(people, person, principalsFor(lists, [agent]), (who) => mayUse(lists, agent, who, channel))).right
  if (agent && right?.ok) return prompt === "" ? [agentsList([agent], command)] : undefined
  if (right?.ok === false && right.why === "cannot check") return denied(front, came, right.why)
  refused(front, came, `no agent ${name}`)
  return [...say({ about: "no agent", name }), await agentsFor(front, came)]
}

/** Undefined: this very thing had started its run before. */
async function stored(
  { store, keepEnded, opening }: Front,
  { id, cause, channel, way, via, parts }: Came,
  { agent, prompt, requester }: Wish & { requester: Person },
): Promise<Said | undefined> {
  const whole = prompt.replaceAll(/\p{Cs}/gu, "\u{fffd}")
  const applied = await store.apply(
    id,
    (run, now) => {
      if (run) return { outcome: "before" as const }
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
          via,
          transcript: opening(whole, parts),
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

/** The agents that the person may use in the channel, in words. */
export async function agentsFor(
  { people, lists, agents, command }: Front,
  { person, channel }: Pick<Came, "person" | "channel">,
): Promise<Message> {
  const who = await people.who(person, principalsFor(lists, agents))
  return agentsList(usableBy(lists, agents, who, channel), command)
}
