/** Which tools there are, for whoever may start runs where they ask: who may not, learns no name. */
import type { Person } from "../core/fact.ts"
import { mayStart } from "../core/policy.ts"
import type { Message } from "./blocks/limits.ts"
import { toolsList } from "./blocks/tools.ts"
import { note, words } from "./blocks/words.ts"
import { rightOf, type Front } from "./front.ts"

export async function toolsFor(
  { people, lists, sources }: Front,
  { person, channel }: { person: Person; channel: string },
): Promise<Message> {
  const { right } = await rightOf(people, person, lists.starters, (who) => mayStart(lists, who, channel))
  return right.ok ? toolsList(sources()) : note(words({ about: "start", why: right.why }))
}
