/**
 * Every tool that the file gives, told to whoever writes it: where it comes from, what it takes, what its calls may do, and under
 * which rule they fall. It calls none; what can't be looked at is said, and hides nothing else.
 */
import { defineTool, type Tool } from "../agent/tool.ts"
import type { Known, Reading } from "../config.ts"
import { anyMatches, globMatches, type ApprovalRule, type When } from "../core/rules.ts"
import { whyAway } from "../tools/mcp/server.ts"
import type { Servers } from "../tools/mcp/servers.ts"
import { loadTools } from "../tools/modules.ts"
import { signInDefinition } from "../tools/oauth/asks.ts"
import { personalOf, sharedOf } from "../tools/oauth/kits.ts"
import { testPolicy, unknownAgent } from "./policy-test.ts"
import { plain } from "./report.ts"
import { withServers } from "./servers.ts"

export interface Wanted {
  tool?: string | undefined
  /** JSON text. */
  args?: string | undefined
  user?: string | undefined
  /** Of the agents that the file names, the one whose tools they shall be. */
  agent?: string | undefined
}

export interface Listed {
  lines: string[]
  /** Sentences with their remedy. */
  faults: string[]
}

/** A tool, and where it comes from. */
interface Given {
  tool: Tool
  from: string
  /** No rule is needed for it to run. */
  unasked?: true
}

/** All tools, or the one that is named, with the rule for the args that are given. */
export async function listTools(reading: Reading, wanted: Wanted = {}): Promise<Listed> {
  const { known, settings } = reading
  const unknown = settings && unknownAgent(settings, wanted)
  if (unknown !== undefined) return { lines: [], faults: [unknown] }
  const { tools, faults, notes } = await gathered(known, reading.ok ? reading.secrets : [])
  const own = tools.filter(({ tool }) => isOf(settings, wanted.agent, tool.name))
  const told =
    wanted.tool === undefined ? allOf(own, notes, reading, wanted) : await oneOf(own, reading, wanted, wanted.tool)
  return { ...told, faults: [...ofFile(reading.faults), ...faults, ...told.faults] }
}

function allOf(tools: readonly Given[], notes: readonly string[], reading: Reading, wanted: Wanted): Listed {
  const lines = tools.flatMap((one, index) => [...(index === 0 ? [] : [""]), ...about(one, reading, wanted)])
  return { lines: [...lines, "", counted(tools.length), ...notes], faults: [] }
}

async function oneOf(tools: readonly Given[], reading: Reading, wanted: Wanted, name: string): Promise<Listed> {
  const { args, user, agent } = wanted
  const one = tools.find(({ tool }) => tool.name === name)
  if (!one) {
    const names = tools.map(({ tool }) => tool.name)
    const [none, some] = agent === undefined ? ["there are none", "there are"] : ["it has none", "it has"]
    const missing =
      agent === undefined ? `no tool's name is ${plain(name)}` : `the agent ${agent} has no tool ${plain(name)}`
    return { lines: [], faults: [`--tool: ${missing}; ${names.length === 0 ? none : `${some} ${names.join(", ")}`}.`] }
  }
  const lines = about(one, reading, wanted)
  if (args === undefined && user === undefined) return { lines, faults: [] }
  const told = await testPolicy(reading, { tool: name, args: args ?? "{}", user, agent }, one.tool)
  return told.ok ? { lines: [...lines, "", ...told.lines], faults: [] } : { lines, faults: told.faults }
}

/** Whether the agent has it; the file's own has all. */
function isOf(settings: Reading["settings"], agent: string | undefined, tool: string): boolean {
  const globs = agent === undefined ? undefined : settings?.agents[agent]?.tools
  return globs === undefined || anyMatches(globs, tool)
}

const counted = (count: number): string => (count === 1 ? "1 tool." : `${count} tools.`)

/** What is missing in the environment has nothing to do with tools. */
const ofFile = (faults: readonly string[]): string[] => faults.filter((fault) => !/^[A-Z_]+ /.test(fault))

interface Gathered {
  tools: Given[]
  faults: string[]
  /** What of a server's tools can't be used, which is the server's to mend: a sentence each. */
  notes: string[]
}

async function gathered({ tools, httpTools, mcpServers }: Known, secrets: readonly string[]): Promise<Gathered> {
  const loaded = await loadTools(tools.items, httpTools.items)
  const given = loaded.tools.map((tool) => ({ tool, from: loaded.from.get(tool.name) ?? tool.source }))
  const taken = given.map(({ tool }) => tool.name)
  const all = mcpServers?.servers ?? []
  const foreign = await withServers(sharedOf(all), { taken, secrets }, ofServers)
  return {
    tools: [...given, ...foreign.tools, ...personalOf(all).map(signInOf)],
    faults: [...(loaded.ok ? [] : loaded.faults), ...foreign.faults],
    notes: foreign.notes,
  }
}

/** Of a server that people sign in to, all that is there for everybody. */
const signInOf = ({ name }: { name: string }): Given => ({
  tool: defineTool({ ...signInDefinition(name), run: () => undefined }),
  from: `mcpServers.${name}`,
  unasked: true,
})

/** What each has that is connected to. */
function ofServers(servers: Servers): Gathered {
  const standing = servers.standing()
  return {
    tools: standing.flatMap(({ name, tools }) => tools.map((tool) => ({ tool, from: `mcpServers.${name}` }))),
    faults: standing.flatMap(({ name, state }) =>
      state.kind === "away" || state.kind === "connecting" ? [awayWords(name, whyAway(state))] : [],
    ),
    notes: standing.flatMap(({ name, notes }) =>
      notes.map((note) => `mcpServers.${name}: ${plain(note).replace(/\.$/, "")}.`),
    ),
  }
}

const awayWords = (name: string, why: string | undefined): string =>
  `mcpServers.${name}: it could not be asked for its tools${why === undefined ? "" : ` (${plain(why)})`}.`

function about({ tool, from, unasked }: Given, { settings, known }: Reading, { args, agent }: Wanted): string[] {
  const { name, description, effects, destructive, inputSchema } = tool
  return [
    `${name}, from ${plain(from)}`,
    `  ${plain(description.split("\n")[0] ?? "")}`,
    `  Effects: ${EFFECTS[effects]}${destructive ? ", and what it does may not be undone" : ""}.`,
    `  Takes: ${takes(inputSchema)}`,
    // With args it is told which rule applies to just these.
    ...(settings && args === undefined ? ruling(tool.name, settings.approvals, known.at, unasked && UNASKED) : []),
    ...(settings && args === undefined && agent !== undefined ? besides(tool.name, settings, agent, known.at) : []),
  ]
}

const EFFECTS: Record<Tool["effects"], string> = {
  none: "none",
  repeatable: "repeatable, so it may run again after a crash",
  once: "once, so it is never run again unasked",
}

/** Enough to see what it is for; a schema of a server may have a million characters. */
const LONGEST = 4000

function takes(schema: Tool["inputSchema"]): string {
  const text = JSON.stringify(schema).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "")
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text
}

const UNASKED = (more: boolean): string =>
  `${more ? "Else it" : "It"} runs without asking: it only asks its own person to sign in.`

/** What the agent's own rules say besides. */
function besides(name: string, { agents }: Settings, agent: string, at: Known["at"]): string[] {
  const rules = agents[agent]?.approvals ?? []
  const own: Known["at"] = (path) => at(["agents", agent, ...path])
  const unmatched = (more: boolean): string =>
    `${more ? "Else it" : "It"} is as the file has it, with the agent's own settings.`
  return [
    "  With the agent besides, which can only make it stricter:",
    ...ruling(name, rules, own, unmatched).map((line) => `  ${line}`),
  ]
}

type Settings = NonNullable<Reading["settings"]>

const DOES = { allow: "runs without asking", ask: "is asked about", deny: "is refused to everybody" }

/** Each rule that a call of the tool may fall under, down to the one that takes all that are left. */
function ruling(
  name: string,
  rules: readonly ApprovalRule[],
  at: Known["at"],
  unmatched = (more: boolean): string => `${more ? "Else it" : "It"} is asked about: no rule is about it.`,
): string[] {
  const lines: string[] = []
  for (const [index, { tool, when, do: does }] of rules.entries()) {
    if (!globMatches(tool, name)) continue
    const rule = `by ${at(["approvals", index])} (${tool})`
    if (when === undefined) return [...lines, `  ${lines.length > 0 ? "Else it" : "It"} ${DOES[does]}, ${rule}.`]
    lines.push(`  With ${wordsOf(when)} it ${DOES[does]}, ${rule}.`)
  }
  return [...lines, `  ${unmatched(lines.length > 0)}`]
}

const wordsOf = (when: When): string =>
  Object.entries(when)
    .map(([path, wanted]) => `${path} ${plain(JSON.stringify(wanted))}`)
    .join(" and ")
