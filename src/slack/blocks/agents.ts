/**
 * The agents that somebody may use, in words: for the command, and a section of the app's home. What they are called and are for
 * is the configuration's; it mentions nobody.
 */
import type { KnownBlock } from "@slack/types"
import { guarded, type Message } from "./limits.ts"
import { bold, code, header, rich, section, words, type Rich } from "./rich.ts"
import { clip, count, oneLine, visible } from "./text.ts"

/** As the configuration says. */
export interface ShownAgent {
  name: string
  description: string
  prompts: readonly string[]
}

/** One of a list: what to type, what it is for, what it might be asked. `command` begins with a slash. */
function agentEntry({ name, description, prompts }: ShownAgent, command: string): Rich {
  const asked = prompts.map((prompt) => `\n• ${clip(oneLine(visible(prompt)), 160)}`)
  return section(code(`${oneLine(command)} @${name} …`), ` ${clip(oneLine(visible(description)), 320)}`, ...asked, "\n")
}

/** As many as there is room for. */
const MANY = 12

/** The section of the home; none where the configuration names no agents that the reader may use. */
export function agentsSection({
  agents = [],
  command,
}: {
  agents?: readonly ShownAgent[]
  command: string
}): KnownBlock[] {
  if (agents.length === 0) return []
  const entries = agents.slice(0, MANY).map((agent) => agentEntry(agent, command))
  return [header("Agents"), rich(...entries, ...more(agents.length - MANY))]
}

const more = (rest: number): Rich[] => (rest > 0 ? [section(words(`and ${rest} more`, { italic: true }))] : [])

/** What the command answers who asks for the agents. */
export function agentsList(agents: readonly ShownAgent[], command: string): Message {
  const text =
    agents.length === 0 ? "You can use one agent here" : `You can use ${count(agents.length, "agent")} by name`
  const usual = section(code(`${oneLine(command)} …`), " Without a name, the usual agent works on it.\n")
  const none = section("There is none with a name that you can use here.\n")
  const entries = agents.slice(0, MANY).map((agent) => agentEntry(agent, command))
  const blocks = [
    header("Agents"),
    rich(...(agents.length === 0 ? [none] : entries), usual, ...more(agents.length - MANY)),
  ]
  const names = agents.map(({ name }) => name).join(", ")
  return guarded({ text, blocks }, () => ({ text, blocks: [rich(section(bold(text), `: ${clip(names, 2000)}`))] }))
}
