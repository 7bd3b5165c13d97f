/**
 * The agents that somebody may use, and the one that a text names. Knows what the configuration says of each, and starts nothing.
 */
import { mayStart, type Principal, type Right, type Starting, type Who } from "../core/policy.ts"
import type { Lists } from "./front.ts"

/** An agent as people choose it. */
export interface NamedAgent {
  name: string
  /** What it is for, a sentence. */
  description: string
  /** What people might ask it for. */
  prompts: readonly string[]
  /** Who may use it, and where, of those whom the file lets start runs; all of them, unless said. */
  starters?: readonly Principal[] | undefined
  channels?: readonly string[] | undefined
}

/** Everybody who must be looked up to know who may use which agent. */
export const principalsFor = (lists: Lists, agents: readonly NamedAgent[]): string[] => [
  ...new Set([...lists.starters, ...agents.flatMap(({ starters }) => starters ?? [])]),
]

/** Where and by whom it may be used: never more than the file lets anybody start anything. */
const startingOf = ({ starters, channels }: Starting, agent: NamedAgent): Starting => ({
  starters: agent.starters ?? starters,
  channels: (agent.channels ?? channels).filter((one) => channels.includes(one)),
})

/** Whether the person, who may start runs there, may use the agent for it. */
export const mayUse = (file: Starting, agent: NamedAgent, who: Who, channel: string): Right =>
  mayStart(startingOf(file, agent), who, channel)

/** Those that the person may use there, or, without a channel, somewhere. */
export const usableBy = (file: Starting, agents: readonly NamedAgent[], who: Who, channel?: string): NamedAgent[] =>
  agents.filter((agent) => {
    const [somewhere = ""] = startingOf(file, agent).channels
    return mayUse(file, agent, who, channel ?? somewhere).ok
  })

export interface Addressed {
  /** The agent's name, where one is named. */
  agent?: string
  prompt: string
}

/** As Slack names people. */
const PERSON = /^[UW](?=.*\d)[A-Z0-9]{4,}$/

/** What a text asks for: `@ops restart web` names an agent, where there are any; else it is all prompt, also where it begins with a person. */
export function addressedIn(text: string, agents: readonly NamedAgent[]): Addressed {
  const [, name, prompt = ""] = /^@([\w-]{1,80})(?:\s+([\s\S]*))?$/u.exec(text.trim()) ?? []
  const agent = name?.toLowerCase()
  const isPerson = PERSON.test(name ?? "") && agents.every((one) => one.name !== agent)
  return agent === undefined || agents.length === 0 || isPerson
    ? { prompt: text.trim() }
    : { agent, prompt: prompt.trim() }
}
