/**
 * The agents that the configuration names beside its own: what each may say, which is what the file says, or less. It knows
 * neither what the file says nor any tool.
 */
import { z } from "zod"
import { isRecord } from "../core/json.ts"
import { approvals, consistent, toolGlob } from "./approvals.ts"
import { asking } from "./asking.ts"
import { ids, mapping, said, show } from "./forms.ts"
import { modelSettings } from "./model.ts"
import type { Surroundings } from "./references.ts"

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?$/
/** Behind an @ these ping everybody. */
const TAKEN = ["here", "channel", "everyone", "group"]
const FORM = "a name of at most 30 of a-z, 0-9 and -, which people type behind an @"

/** What people are offered to ask for: as many as Slack shows. */
export const prompts = z
  .array(
    z
      .string({ error: said('what people might ask for, such as "How is web?"') })
      .trim()
      .min(1, { error: "is empty: put what people might ask for" })
      .max(150, { error: "has more than 150 characters: put it shorter" }),
    { error: said('a list of what people might ask for, such as [ "How is web?" ]') },
  )
  .max(4, { error: "has more than four prompts, which is what Slack shows: put fewer" })

export function agents(around: Surroundings) {
  const agent = mapping(
    {
      description: z
        .string({ error: said("what the agent is for, a sentence") })
        .trim()
        .min(1, { error: "is empty: put what the agent is for, a sentence" })
        .max(300, { error: "has more than 300 characters: put it shorter" }),
      instructions: z.string({ error: said("text for the model") }).optional(),
      model: modelSettings(around, false).optional(),
      tools: z.array(toolGlob, { error: said("a list of tools' names, such as [ get_*, deploy ]") }).optional(),
      ...z.object(asking).partial().shape,
      approvals: approvals.default([]),
      starters: people.optional(),
      channels: ids(["C"], "channels (C…)")
        .min(1, { error: "is empty: leave it out, and the agent may be used wherever runs may be started" })
        .optional(),
      prompts: prompts.default([]),
    },
    "{ description: Looks after the web tier }",
  ).check(consistent)
  return z
    .record(z.string(), agent, {
      error: said("a mapping of names to agents, such as { ops: { description: Looks after the web tier } }"),
    })
    .check(({ value, issues }) => {
      for (const name of Object.keys(value)) {
        const message = faultOf(name)
        if (message !== undefined) issues.push({ code: "custom", input: name, path: [name], message })
      }
    })
}

const people = ids(["U", "S"], "users (U…) and user groups (S…)").min(1, {
  error: "is empty: leave it out, and whoever may start runs may use the agent",
})

function faultOf(name: string): string | undefined {
  if (TAKEN.includes(name)) return `can't be an agent's name: @${name} means everybody in Slack. Put another one`
  return NAME.test(name) ? undefined : `can't be an agent's name: it must be ${FORM}, not ${show(name)}`
}

/**
 * The settings as they are to be read: a model of an agent that names no provider is the file's, with what it says instead. What
 * isn't of that form is left for the reading.
 */
export function withWholeModels(data: Record<string, unknown>): Record<string, unknown> {
  const { agents: all, model } = data
  if (!isRecord(all) || !isRecord(model)) return data
  const whole = Object.entries(all).map(([name, agent]): [string, unknown] => {
    const own = isRecord(agent) ? agent["model"] : undefined
    if (!isRecord(agent) || !isRecord(own) || "provider" in own) return [name, agent]
    return [name, { ...agent, model: { ...model, ...own } }]
  })
  return { ...data, agents: Object.fromEntries(whole) }
}

/** Whether what is wrong at `path` is told of the file's own model, out of which the agent's was made. */
export function isTheFiles(path: readonly PropertyKey[], data: Record<string, unknown>): boolean {
  const [first, name, model, key] = path
  if (first !== "agents" || model !== "model" || key === undefined) return false
  const agent = isRecord(data["agents"]) ? data["agents"][String(name)] : undefined
  const own = isRecord(agent) ? agent["model"] : undefined
  return isRecord(own) && !Object.hasOwn(own, String(key))
}
