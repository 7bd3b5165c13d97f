/**
 * All that is stored about an ask, for a window: whoever may see the run may read it, with its masks. Decides nothing and
 * leaves no trace.
 */
import type { ModalView } from "@slack/types"
import type { Fact, Person } from "../core/fact.ts"
import { principalsOf } from "../core/policy.ts"
import { maySeeAsk, textsOf, type Found } from "./ask.ts"
import { detailsView } from "./blocks/details.ts"
import type { Said } from "./blocks/words.ts"
import type { Front } from "./front.ts"

/** For who may not see the run there is nothing of the kind. */
export async function fillDetails(front: Front, person: Person, { loaded, ask }: Found): Promise<ModalView | Said> {
  const { run } = loaded
  if (!(await maySeeAsk(front, run, ask, person))) return { about: "stale" }
  const [{ request, args }, facts, names] = await Promise.all([
    textsOf(front, run.id, ask),
    front.store.facts(run.id),
    front.names.of(principalsOf(ask.rule)),
  ])
  const history = facts.map((text) => JSON.parse(text) as Fact).filter((fact) => isAbout(fact, ask.id, ask.call))
  return detailsView({ run, ask, request, args, history, names })
}

const isAbout = (fact: Fact, ask: string, call: string): boolean => fact.ask === ask || fact.call === call
