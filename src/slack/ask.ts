/**
 * An ask as the doors look it up: the run it is of, its texts, and who a person is to it now. Settles nothing.
 */
import { validateAnswerData } from "../core/answer-schema.ts"
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import { mayDecide, maySee, type Who } from "../core/policy.ts"
import { argsOf, askOf, decidersOf, ruleOf, wishOf, type Ask, type Run } from "../core/run.ts"
import type { Request } from "../core/suspension.ts"
import type { Loaded } from "../store/store.ts"
import type { Ref } from "./blocks/intent.ts"
import { rightOf, type Front } from "./front.ts"

export interface Found {
  loaded: Loaded
  ask: Ask
  /** Its turn is over: it can only be told about. */
  archived: boolean
}

/** The run and the ask; undefined when there is none (any more). Throws when it can't be read. */
export async function find({ store }: Pick<Front, "store">, ref: Pick<Ref, "run" | "ask">): Promise<Found | undefined> {
  const loaded = await store.load(ref.run)
  if (!loaded) return undefined
  const current = askOf(loaded.run, ref.ask)
  if (current) return { loaded, ask: current, archived: false }
  const [text] = await store.texts(ref.run, [`ask:${ref.ask}`])
  return text === undefined ? undefined : { loaded, ask: JSON.parse(text) as Ask, archived: true }
}

/** Who the person is to the ask now; whoever would be refused is looked up anew. */
export async function whoDecides(
  { people }: Pick<Front, "people">,
  run: Run,
  ask: Ask,
  person: Person,
  ok: boolean,
): Promise<Who> {
  const rule = ruleOf(ask)
  const { who } = await rightOf(people, person, decidersOf(ask), (who) => mayDecide(rule, wishOf(run), who, ok))
  return who
}

/** Those who said yes before, as they are now: a yes counts only while whoever gave it may still give it. */
export async function votersOf(front: Pick<Front, "people">, run: Run, ask: Ask): Promise<Who[]> {
  return Promise.all((ask.votes ?? []).map(({ by }) => whoDecides(front, run, ask, by, true)))
}

/** Whether the person may know of the run at all: as one of its people, or in its channel. */
export async function maySeeAsk({ people, lists }: Front, run: Run, ask: Ask, person: Person): Promise<boolean> {
  const deciders = [...new Set([...lists.approvers, ...lists.admins, ...decidersOf(ask)])]
  return maySee(deciders, wishOf(run), run.channel, await people.seer(person, deciders, run.channel))
}

/** The Request of the ask, and the args as they are now, as stored. Throws without them: nobody may be shown others. */
export async function textsOf(
  { store }: Pick<Front, "store">,
  run: string,
  ask: Ask,
): Promise<{ request: Request; args: string }> {
  const [request, args] = await store.texts(run, [`req:${ask.id}`, argsOf(ask)])
  if (args === undefined) throw new Error(`the args of ${ask.id} are not stored`)
  const stored: unknown = JSON.parse(request ?? "null")
  return {
    request: isRecord(stored) ? (stored as unknown as Request) : { id: ask.id, kind: ask.kind, prompt: "" },
    args,
  }
}

/** Whether the data of a yes is an answer to what is asked: a press is made in somebody else's program. */
export function isAnswer(ask: Ask, request: Request, data: Record<string, unknown> | undefined): boolean {
  if (ask.from !== "tool") return true
  if ((ask.kind === "input" || ask.kind === "question") && data === undefined) return false
  const schema = request.data?.["schema"]
  return !isRecord(schema) || validateAnswerData(schema, data).ok
}
