import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, describe, onTestFinished, test } from "vitest"
import { testPolicy, type Question, type Told } from "../src/check/policy-test.ts"
import { readConfig } from "../src/config.ts"
import { ADA, GRACE, GUS, LEADS, LENA, OPS, OSCAR, ROBIN, SRE } from "../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../src/sandbox/slack.ts"
import { scratchFolder } from "./redis.ts"

const RULES = `
  - { tool: "get_*", do: allow }
  - { tool: scale_service, when: { service: web, replicas: [ 3, 4 ] }, do: ask, quorum: 2, escalate: { after: 15m, to: [ ${LEADS} ] } }
  - { tool: scale_service, when: { service: api }, do: deny }
  - { tool: "restart_*", do: ask, selfApproval: confirm }
  - { tool: scale_service, do: ask, approvers: [ ${ADA} ], edit: approvers, expiresIn: 90s }
`

async function setUp(rules = RULES, slack?: SandboxSlack) {
  const path = join(await scratchFolder("policy"), "countersign.yaml")
  const tools = fileURLToPath(new URL("./fakes/ops.mjs", import.meta.url))
  const head = `model: { provider: demo }\ntools: [ ${tools} ]\nstarters: [ ${ROBIN} ]\nchannels: [ ${OPS} ]\napprovers: [ ${SRE} ]\n`
  writeFileSync(path, `${head}approvals:${rules}`)
  const env = slack
    ? { SLACK_BOT_TOKEN: slack.botToken, SLACK_APP_TOKEN: slack.appToken, SLACK_API_URL: slack.apiUrl }
    : {}
  return async (question: Omit<Question, "args"> & { args?: unknown }): Promise<string> => {
    const told = await testPolicy(readConfig({ ...env, COUNTERSIGN_CONFIG: path }), {
      ...question,
      args: typeof question.args === "string" ? question.args : JSON.stringify(question.args ?? {}),
    })
    return wordsOf(told).replaceAll(path, "countersign.yaml")
  }
}

const wordsOf = (told: Told): string => (told.ok ? told.lines.join("\n") : told.faults.join("\n"))

async function withSlack(rules?: string) {
  const slack = await startSlack()
  onTestFinished(() => slack.close())
  return { slack, ask: await setUp(rules, slack) }
}

describe("which rule a call falls under", () => {
  test("is told with its place in the file, and why the earlier ones did not apply", async () => {
    const ask = await setUp()
    const said = await ask({ tool: "scale_service", args: { service: "worker", replicas: 3 } })
    expect(said).toContain("countersign.yaml:7: approvals[0] (get_*): is about other tools.")
    expect(said).toContain('countersign.yaml:8: approvals[1] (scale_service): does not apply: service is "worker".')
    expect(said).toContain('countersign.yaml:9: approvals[2] (scale_service): does not apply: service is "worker".')
    expect(said).toContain("countersign.yaml:11: approvals[4] (scale_service): applies.")
    expect(said).toContain("It is asked about, by countersign.yaml:11: approvals[4].")
    expect(said).toContain(`Who may approve: ${ADA}; not whoever asked for the run.`)
    expect(said).toContain("No answer within 90s is a no; a yes is good for 15m.")
    expect(said).toContain("The args may be changed by those who approve.")
  })

  test("of a server's tool is told without its schema, and what asks the server", async () => {
    const said = await (await setUp(`${RULES}mcpServers: { my.docs: { command: node } }\n`))({ tool: "my_docs_read" })
    expect(said).toContain(
      "It may be one of an MCP server, which is not asked here: “tools --tool my_docs_read” asks it.",
    )
    expect(said).toContain("It is asked about, by the file's own settings.")
  })

  test("is told as what would be, where the tool doesn't take the args", async () => {
    const said = await (await setUp())({ tool: "scale_service", args: { service: "worker" } })
    expect(said).toContain("so as they are it is neither asked about nor run.")
    expect(said).toContain("It would be asked about, by countersign.yaml:11: approvals[4].")
  })

  test.each([
    ["allowed", { tool: "get_status" }, "It runs without asking, by countersign.yaml:7: approvals[0]."],
    [
      "denied",
      { tool: "scale_service", args: { service: "api", replicas: 1 } },
      "It is refused to everybody, by countersign.yaml:9: approvals[2].",
    ],
    [
      "confirmed",
      { tool: "restart_service", args: { service: "web" } },
      "Who may approve: whoever asked for the run, and nobody else.",
    ],
  ])("also when it is %s", async (_, question, words) => {
    expect(await (await setUp())(question)).toContain(words)
  })

  test("what no rule matches is asked about under the file's own settings", async () => {
    const said = await (await setUp(" []"))({ tool: "get_status" })
    expect(said).toContain("There are no rules: what none matches is asked about, under the file's own settings.")
    expect(said).toContain("It is asked about, by the file's own settings.")
  })

  test("a value that no rule can name opens no laxer rule, and that is said", async () => {
    const said = await (await setUp())({ tool: "scale_service", args: { service: ["web"], replicas: 3 } })
    expect(said).toContain('approvals[1] (scale_service): may have been meant: service is ["web"]')
    expect(said).toContain(
      "It would be refused to everybody, by countersign.yaml:9: approvals[2], and whatever else may have been meant",
    )
    expect(said).toContain("The tool doesn't take these args (")
    const missing = await (await setUp())({ tool: "scale_service", args: {} })
    expect(missing).toContain("there is no one service, there is no one replicas")
  })
})

describe("who may do what", () => {
  test("groups are looked up, and a person's rights told with the reason", async () => {
    const { ask } = await withSlack()
    const question = { tool: "scale_service", args: { service: "web", replicas: 3 } }
    const said = await ask({ ...question, user: ADA })
    expect(said).toContain(`Who may approve: 2 of ${SRE} (${ADA}, ${GRACE}); not whoever asked for the run.`)
    expect(said).toContain(`From 15m after asking on also: ${LEADS} (${LENA}).`)
    expect(said).toContain(`${ADA} (ada)\n  of another's run: may approve, may decline.`)
    expect(said).toContain("of their own run: may not approve (it is their own request), may decline.")
    expect(await ask({ ...question, user: OSCAR })).toContain("of another's run: may not approve (not listed)")
    expect(await ask({ ...question, user: GUS })).toContain("may not approve (guests may nothing)")
    const lena = await ask({ ...question, user: LENA })
    expect(lena).toContain("of another's run: may not approve (not listed)")
    expect(lena).toContain("Once it was handed on: may approve, may decline.")
    expect(await ask({ tool: "scale_service", args: { service: "worker", replicas: 1 }, user: ADA })).toContain(
      "of another's run: may approve, may decline, may edit.",
    )
  })

  test("without a token that is said, and nothing is guessed", async () => {
    const said = await (await setUp())({ tool: "scale_service", args: { service: "web", replicas: 3 }, user: ADA })
    expect(said).toContain("Groups and channels were not looked up: there is no SLACK_BOT_TOKEN to ask Slack with.")
    expect(said).toContain("taken for a member of the workspace")
    expect(said).toContain("may not approve (their groups can't be looked up)")
  })

  test("with a token that Slack refuses, too", async () => {
    const { slack, ask } = await withSlack()
    slack.workspace.misbehave({ method: "auth.test", do: "error", error: "invalid_auth" })
    const said = await ask({ tool: "scale_service", args: { service: "web", replicas: 3 }, user: ADA })
    expect(said).toContain("Groups and channels were not looked up: SLACK_BOT_TOKEN is not known to Slack")
  })
})

describe("what can't be told", () => {
  test.each([
    [
      "a tool that there isn't",
      { tool: "scale" },
      "--tool: no tool's name is scale; there are get_status, restart_service, scale_service.",
    ],
    ["args that are no JSON", { tool: "get_status", args: "{env" }, "--args must be a JSON object"],
    ["args that are a list", { tool: "get_status", args: [1] }, "--args must be a JSON object"],
    ["a name for a person", { tool: "get_status", user: "@ada" }, "--user must be a person's id"],
  ])("%s", async (_, question, words) => {
    expect(await (await setUp())(question)).toContain(words)
  })

  test("a file with a fault", async () => {
    const ask = await setUp("\n  - { tool: get_status, do: alow }\n")
    expect(await ask({ tool: "get_status" })).toContain("approvals[0].do must be allow, ask or deny")
  })
})

describe("what an agent's rules add", () => {
  const AGENTS = `${RULES}agents:
  web:
    description: Looks after the web tier
    tools: [ "get_*", "scale_*" ]
    approvers: [ ${GRACE} ]
    approvals:
      - { tool: get_status, when: { service: web }, do: ask }
`

  test("is told behind the file's, with whom both name", async () => {
    const ask = await setUp(AGENTS)
    const said = await ask({ tool: "get_status", args: { service: "web" }, agent: "web" })
    expect(said).toContain("approvals[0] (get_*): applies.")
    expect(said).toContain("With the agent web besides, which can only make it stricter:")
    expect(said).toMatch(/:\d+: agents\.web\.approvals\[0\] \(get_status\): applies: service is "web"\./)
    expect(said).toMatch(
      /It would be asked about, by countersign\.yaml:7: approvals\[0\] and countersign\.yaml:\d+: agents\.web/,
    )
    expect(said).toContain(`Who may approve: ${GRACE}; not whoever asked for the run.`)
    expect(said).toContain(`and each must be one of: ${SRE}`)
    const bare = await ask({ tool: "get_status", args: { service: "web" } })
    expect(bare).toContain("It would run without asking")
  })

  test("is nothing where none of its rules applies, but its people", async () => {
    const ask = await setUp(AGENTS)
    const said = await ask({ tool: "scale_service", args: { service: "worker", replicas: 3 }, agent: "web" })
    expect(said).toContain("None of its rules applies")
    expect(said).toContain(`Who may approve: ${GRACE}`)
    expect(said).toContain(`and each must be one of: ${ADA}`)
  })

  test("can't be told of an agent that there is not, and a tool that it does not have is named", async () => {
    const ask = await setUp(AGENTS)
    expect(await ask({ tool: "get_status", agent: "wep" })).toBe("--agent: no agent's name is wep; there are web.")
    expect(await ask({ tool: "restart_service", args: { service: "web" }, agent: "web" })).toContain(
      "The agent web does not have this tool",
    )
  })
})
