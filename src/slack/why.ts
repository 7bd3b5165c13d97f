/**
 * What is needed to tell how a run came to where it is: its facts, its asks (also those of turns that are over), the args
 * they were about and the Answers that the agent got. Words none of it.
 */
import type { Fact } from "../core/fact.ts"
import { argsField, type Ask, type Run } from "../core/run.ts"
import { sha256 } from "../core/digest.ts"
import type { Loaded } from "../store/store.ts"
import type { Why } from "./blocks/why.ts"
import type { Front } from "./front.ts"
import { keyOf, linksTo } from "./links.ts"

/** The most asks that are looked up; the facts of all are told. */
const ASKS = 100

export async function whyOf(front: Front, { run }: Loaded): Promise<Why> {
  const { store } = front
  const root = { run, slot: "root" }
  const [stored, links] = await Promise.all([store.facts(run.id), linksTo(front, [root])])
  const facts = stored.map((text) => JSON.parse(text) as Fact)
  const ids = [...new Set(facts.flatMap(({ ask }) => ask ?? []))].slice(-ASKS)
  const asks = await asksOf(front, run, ids)
  const argsFields = [...new Set([...asks.values()].flatMap(versionsOf))]
  const answerIds = [...asks.keys()]
  const texts = await store.texts(run.id, [...argsFields, ...answerIds.map((id) => `answer:${id}`)])
  const args = texts.slice(0, argsFields.length).flatMap((text) => text ?? [])
  const answers = answerIds.flatMap((id, index): [string, string][] => {
    const text = texts[argsFields.length + index]
    return text === undefined ? [] : [[id, text]]
  })
  return {
    run,
    facts,
    asks,
    args: new Map(args.map((text) => [sha256(text), text])),
    answers: new Map(answers),
    link: links.get(keyOf(root)),
  }
}

/** By id: from the turn under way, or as they were put away. */
async function asksOf({ store }: Front, run: Run, ids: readonly string[]): Promise<Map<string, Ask>> {
  const current = new Map(run.asks.map((ask) => [ask.id, ask]))
  const away = ids.filter((id) => !current.has(id))
  const texts = await store.texts(
    run.id,
    away.map((id) => `ask:${id}`),
  )
  const archived = texts.flatMap((text) => (text === undefined ? [] : [JSON.parse(text) as Ask]))
  return new Map([...archived.map((ask): [string, Ask] => [ask.id, ask]), ...current])
}

/** The names of the texts that hold the args of an ask, one for each time that people changed them. */
const versionsOf = ({ call, edit = 0 }: Ask): string[] =>
  Array.from({ length: edit + 1 }, (_, version) => argsField({ id: call, edit: version }))
