import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { readConfig } from "../src/config.ts"
import { scratchFolder } from "./redis.ts"

const folder = await scratchFolder("config-agents")
const path = join(folder, "countersign.yaml")
const ENV = { SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1", KEY: "sk-one", OTHER: "sk-two" }
const MODEL = 'model: { provider: openai-compatible, baseUrl: https://a.example/v1, model: big, apiKey: "${KEY}" }\n'

function read(agents: string, model = MODEL) {
  writeFileSync(path, `${model}agents:\n${agents}`)
  return readConfig({ ...ENV, COUNTERSIGN_CONFIG: path })
}

const faults = (agents: string, model?: string): string[] =>
  read(agents, model).faults.map((fault) => fault.replace(/^\/.*?\.yaml:/, ""))

function agents(text: string, model?: string) {
  const reading = read(text, model)
  if (!reading.ok) throw new Error(reading.faults.join("\n"))
  return { agents: reading.config.agents, secrets: reading.secrets }
}

test("an agent says what is different from the file, and no more need be said", () => {
  const { ops, db } = agents(`
  ops: { description: Looks after the web tier }
  db:
    description: Looks after databases
    instructions: Be careful.
    tools: [ "get_*", drop_table ]
    approvers: [ U0DBA ]
    quorum: 2
    expiresIn: 10m
    approvals: [ { tool: drop_table, do: ask, reason: { approve: required } } ]
    starters: [ S0DBA ]
    channels: [ C0DB ]
    prompts: [ "How big is the orders table?" ]
`).agents
  expect(ops).toEqual({ description: "Looks after the web tier", approvals: [], prompts: [] })
  expect(db).toEqual({
    description: "Looks after databases",
    instructions: "Be careful.",
    tools: ["get_*", "drop_table"],
    approvers: ["U0DBA"],
    quorum: 2,
    expiresIn: 600_000,
    approvals: [{ tool: "drop_table", do: "ask", reason: { approve: "required" } }],
    starters: ["S0DBA"],
    channels: ["C0DB"],
    prompts: ["How big is the orders table?"],
  })
})

describe("an agent's model", () => {
  test("is the file's with what the agent says instead, or, with a provider, its own alone", () => {
    const {
      agents: { a, b },
      secrets,
    } = agents(`
  a: { description: A, model: { model: small, maxTurns: 3 } }
  b: { description: B, model: { provider: anthropic, model: other, apiKey: "\${OTHER}" } }
`)
    expect(a?.model).toMatchObject({ baseUrl: "https://a.example/v1", model: "small", apiKey: "sk-one", maxTurns: 3 })
    expect(b?.model).toMatchObject({ provider: "anthropic", model: "other", apiKey: "sk-two" })
    expect(b?.model).not.toHaveProperty("baseUrl")
    expect(secrets).toContain("sk-two")
  })

  test("what is wrong with the file's is told once, and with the agent's own where it stands", () => {
    const wrong = 'model: { provider: openai-compatible, baseUrl: https://a.example, model: big, apiKey: "sk-raw" }\n'
    expect(faults("  a: { description: A, model: { maxTurns: none } }\n", wrong)).toEqual([
      expect.stringMatching(/^1: model\.apiKey must name an environment variable/),
      '3: agents.a.model.maxTurns must be a whole number of turns from 1 to 1000, not "none".',
    ])
    expect(faults("  a: { description: A, model: small }\n")).toEqual([
      '3: agents.a.model must be a mapping, such as { model: gpt-5-mini }, not "small".',
    ])
    expect(faults("  a: { description: A, model: { nodel: x } }\n")).toEqual([
      expect.stringMatching(/^3: agents\.a\.model has no setting "nodel" \(did you mean model\?\)/),
    ])
  })
})

test.each<[agent: string, words: string | RegExp]>([
  ["ops: {}", "3: agents.ops.description is missing: put what the agent is for, a sentence."],
  [
    "Ops: { description: A }",
    /^3: agents\.Ops can't be an agent's name: it must be a name of at most 30 of a-z, 0-9 and -/,
  ],
  ["-a: { description: A }", /agents\.-a can't be an agent's name/],
  [`${"a".repeat(31)}: { description: A }`, /can't be an agent's name/],
  ["here: { description: A }", /agents\.here can't be an agent's name: @here means everybody in Slack/],
  ["ops: { description: A, aprovers: [ U1 ] }", /agents\.ops has no setting "aprovers" \(did you mean approvers\?\)/],
  ["ops: { description: A, starters: [] }", /agents\.ops\.starters is empty: leave it out/],
  ["ops: { description: A, channels: [] }", /agents\.ops\.channels is empty: leave it out/],
  ["ops: { description: A, tools: get_* }", /agents\.ops\.tools must be a list of tools' names/],
  ["ops: { description: A, tools: [ 'a b' ] }", /agents\.ops\.tools\[0\] must be a tool's name/],
  ["ops: { description: A, quorum: 2, selfApproval: confirm }", /agents\.ops has a quorum with selfApproval: confirm/],
  [
    "ops: { description: A, approvals: [ { tool: x, do: alow } ] }",
    /agents\.ops\.approvals\[0\]\.do must be allow, ask or deny/,
  ],
  ["ops: { description: A, prompts: [ a, b, c, d, e ] }", /agents\.ops\.prompts has more than four prompts/],
  ["[ ops ]", /agents must be a mapping of names to agents/],
])("%s is told in a sentence with its line and remedy", (agent, words) => {
  expect(faults(`  ${agent}\n`)).toEqual([typeof words === "string" ? words : expect.stringMatching(words)])
})
