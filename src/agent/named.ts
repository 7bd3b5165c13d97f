/**
 * What an agent that the configuration names differs by from the one of the whole file: fewer tools, or that it isn't there any
 * more. It reads no configuration.
 */
import { anyMatches } from "../core/rules.ts"
import type { Agent } from "./agent.ts"
import { failure } from "./tool.ts"
import type { Toolkit } from "./tool.ts"

/** The tools of a kit whose names match one of the globs: those that come later, too. */
export function narrowed(kit: Toolkit, globs: readonly string[]): Toolkit {
  const isOurs = (name: string): boolean => anyMatches(globs, name)
  return {
    ...kit,
    tools: () => kit.tools().filter(({ name }) => isOurs(name)),
    get: (name) => (isOurs(name) ? kit.get(name) : undefined),
    execute: async (name, args, ctx) =>
      isOurs(name) ? kit.execute(name, args, ctx) : failure(`Unknown tool: ${name}`),
  }
}

/** For runs of an agent that the file no longer names: `like` tells how its people are asked; it does nothing any more. */
export const gone = (like: Agent, name: string): Agent => ({
  ...like,
  tools: narrowed(like.tools, []),
  toolsFor: undefined,
  gone: `the agent ${name} is not configured any more`,
})
