/** Which tools there are, for whoever may start runs where they ask: who may not, learns no name, of tools or of agents. */
import type { Person } from "../core/fact.ts"
import { mayStart, type Denial } from "../core/policy.ts"
import { mayUse, principalsFor } from "./agents.ts"
import type { Message } from "./blocks/limits.ts"
import { toolsList } from "./blocks/tools.ts"
import { note, words } from "./blocks/words.ts"
import { placesIn } from "./doors.ts"
import { rightOf, type Front } from "./front.ts"

/** `named`: the agent whose tools they shall be, as its rules have them; the file's own, unless said. */
export async function toolsFor(
  front: Front,
  { person, channel }: { person: Person; channel: string },
  named?: string,
): Promise<Message> {
  const { people, agents, sources, command } = front
  const lists = placesIn(front, channel)
  const { right } = await rightOf(people, person, lists.starters, (who) => mayStart(lists, who, channel))
  if (!right.ok) return denied(right.why)
  if (named === undefined) return toolsList(await sources(person))
  const agent = agents.find(({ name }) => name === named)
  const use =
    agent &&
    (await rightOf(people, person, principalsFor(lists, [agent]), (who) => mayUse(lists, agent, who, channel))).right
  if (use?.ok) return toolsList(await sources(person, named), named)
  return use?.why === "cannot check" ? denied(use.why) : note(words({ about: "no such agent", name: named, command }))
}

const denied = (why: Denial): Message => note(words({ about: "start", why }))
