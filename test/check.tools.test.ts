import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { listTools, type Wanted } from "../src/check/tools.ts"
import { readConfig } from "../src/config.ts"
import { scratchFolder } from "./redis.ts"

const folder = await scratchFolder("tools")
const OPS = fileURLToPath(new URL("./fakes/ops.mjs", import.meta.url))
const HTTP = `
httpTools:
  - name: refund
    description: Refunds an order
    method: POST
    url: https://api.example.com/orders/{id}/refunds
    headers: { Authorization: "Bearer \${TOKEN}" }
    destructive: true
`
const RULES = `
approvals:
  - { tool: "get_*", do: allow }
  - { tool: scale_service, when: { service: web, replicas: [ 3, 4 ] }, do: ask }
  - { tool: scale_service, do: deny }
`

let files = 0
async function list(text: string, wanted: Wanted = {}) {
  const path = join(folder, `${++files}.yaml`)
  writeFileSync(path, `model: { provider: demo }\n${text}`)
  const { lines, faults } = await listTools(readConfig({ COUNTERSIGN_CONFIG: path, TOKEN: "tok-very-secret" }), wanted)
  const plain = (words: string): string => words.replaceAll(path, "F").replaceAll(OPS, "OPS")
  return { out: plain(lines.join("\n")), faults: faults.map(plain) }
}

describe("every tool", () => {
  test("of a server that people sign in to is the one by which they do; nobody is asked for it, unless a rule says so", async () => {
    const far =
      'mcpServers: { far: { url: "https://mcp.example.com/mcp", oauth: true } }\nsignIn: { url: "https://us.example", port: 1 }\n'
    const { out, faults } = await list(far)
    expect(faults).toEqual([])
    expect(out).toMatch(
      /^far_sign_in, from mcpServers\.far\n.*\n.*Effects: repeatable.*\n.*\n {2}It runs without asking: it only asks its own person to sign in\.\n\n1 tool\.$/,
    )
    const told = await list(far, { tool: "far_sign_in", args: "{}" })
    expect(told.out).toMatch(
      /There are no rules: what only asks its own person to sign in runs without asking\.\n\nIt runs without asking\.$/,
    )
    const ruled = await list(`${far}approvals: [ { tool: "far_*", do: deny } ]\n`, { tool: "far_sign_in", args: "{}" })
    expect(ruled.out).toMatch(/It is refused to everybody, by F:\d+: approvals\[0\]\.$/)
  })

  test("is told with where it comes from, what it takes and which rules are about it", async () => {
    const { out, faults } = await list(`tools: [ ${OPS} ]${HTTP}${RULES}`)
    expect(faults).toEqual([])
    expect(out.split("\n\n")).toEqual([
      [
        "get_status, from OPS",
        "  Tells how the services are",
        "  Effects: none.",
        '  Takes: {"type":"object","properties":{},"additionalProperties":false}',
        "  It runs without asking, by F:12: approvals[0] (get_*).",
      ].join("\n"),
      expect.stringMatching(
        /^restart_service, from OPS\n.*\n {2}Effects: once, so it is never run again unasked\.\n.*\n {2}It is asked about: no rule is about it\.$/,
      ),
      expect.stringMatching(
        /\n {2}With service "web" and replicas \[3,4\] it is asked about, by F:13: approvals\[1\] \(scale_service\)\.\n {2}Else it is refused to everybody, by F:14: approvals\[2\] \(scale_service\)\.$/,
      ),
      expect.stringMatching(
        /^refund, from httpTools \(POST https:\/\/api\.example\.com\)\n.*\n {2}Effects: once, .*, and what it does may not be undone\.\n.*"required":\["id"\]/,
      ),
      "4 tools.",
    ])
    expect(out).not.toContain("very-secret")
  })

  test("is told though others, or the file, are wrong; and what is wrong with them", async () => {
    const { out, faults } = await list(`tools: [ ${OPS}, ./gone.mjs ]\nquorum: no\n`)
    expect(out).toContain("scale_service, from OPS")
    expect(out).toContain("3 tools.")
    expect(faults).toEqual([
      expect.stringMatching(/^F:3: quorum must be/),
      expect.stringMatching(/gone\.mjs does not exist/),
    ])
  })
})

describe("MCP servers", () => {
  test("are asked for theirs, and one that is not there hides nothing", { timeout: 60_000 }, async () => {
    const files = fileURLToPath(
      new URL("../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", import.meta.url),
    )
    const odd = join(folder, "odd.json")
    writeFileSync(odd, JSON.stringify([{ name: "wrong", inputSchema: { type: "array" } }]))
    const lying = fileURLToPath(new URL("./fakes/lying-server.mjs", import.meta.url))
    const servers = {
      files: { command: process.execPath, args: [files, folder] },
      odd: { command: process.execPath, args: [lying, "file", odd] },
      gone: { command: "/nowhere/server" },
    }
    const { out, faults } = await list(
      `mcpServers: ${JSON.stringify(servers)}\napprovals: [ { tool: "files_read_*", do: allow } ]\n`,
    )
    expect(out).toMatch(
      /files_read_text_file, from mcpServers\.files\n.*\n {2}Effects: once, .*\n.*\n {2}It runs without asking, by F:3: approvals\[0\]/,
    )
    // It is the server's to mend.
    expect(out).toMatch(/\d+ tools\.\nmcpServers\.odd: .*wrong.*\.$/)
    const one = await list(
      `mcpServers: ${JSON.stringify({ files: servers.files })}\napprovals: [ { tool: "files_read_*", do: allow } ]\n`,
      { tool: "files_read_text_file", args: '{"path":"/x"}' },
    )
    expect(one.faults).toEqual([])
    expect(one.out).toContain("It runs without asking, by F:3: approvals[0].")
    expect(faults).toEqual([
      expect.stringMatching(/^mcpServers\.gone: it could not be asked for its tools \(there is no program/),
    ])
  })
})

describe("an agent", () => {
  const AGENTS = `
agents:
  web:
    description: Looks after the web tier
    tools: [ "*_service" ]
    approvals:
      - { tool: scale_service, when: { service: api }, do: deny }
`
  test("is told its tools, with what its rules say beside the file's", async () => {
    const { out, faults } = await list(`tools: [ ${OPS} ]${RULES}${AGENTS}`, { agent: "web" })
    expect(faults).toEqual([])
    expect(out).not.toContain("get_status")
    expect(out).toContain("2 tools.")
    expect(out).toMatch(
      /restart_service, from OPS\n(?:.*\n)*? {2}It is asked about: no rule is about it\.\n {2}With the agent besides, which can only make it stricter:\n {4}It is as the file has it, with the agent's own settings\./,
    )
    expect(out).toMatch(
      /With the agent besides.*\n {4}With service "api" it is refused to everybody, by F:13: agents\.web\.approvals\[0\] \(scale_service\)\.\n {4}Else it is as the file has it/,
    )
    const args = '{"service":"api","replicas":3}'
    const one = await list(`tools: [ ${OPS} ]${RULES}${AGENTS}`, { agent: "web", tool: "scale_service", args })
    expect(one.out).toMatch(/It is refused to everybody, by F:\d+: approvals\[2\]/)
  })

  test("that there isn't is a fault that names those there are; and a tool that isn't its own is none", async () => {
    expect(await list(`tools: [ ${OPS} ]${AGENTS}`, { agent: "db" })).toEqual({
      out: "",
      faults: ["--agent: no agent's name is db; there are web."],
    })
    const { faults } = await list(`tools: [ ${OPS} ]${AGENTS}`, { agent: "web", tool: "get_status" })
    expect(faults).toEqual(["--tool: the agent web has no tool get_status; it has restart_service, scale_service."])
  })
})

describe("one tool", () => {
  test("is told with the rule for its args, and what a person may do", async () => {
    const args = '{"service":"web","replicas":3}'
    const { out, faults } = await list(`tools: [ ${OPS} ]\napprovers: [ UADA ]${RULES}`, {
      tool: "scale_service",
      args,
      user: "UADA",
    })
    expect(faults).toEqual([])
    expect(out).toContain("scale_service, from OPS")
    expect(out).toContain("It is asked about, by F:6: approvals[1].")
    expect(out).toContain("of another's run: may approve")
    expect(out).not.toContain("get_status")
  })

  test("that there isn't is a fault that names those there are", async () => {
    const { faults } = await list(`tools: [ ${OPS} ]`, { tool: "scale" })
    expect(faults).toEqual(["--tool: no tool's name is scale; there are get_status, restart_service, scale_service."])
  })

  test("with args that are no JSON is told all the same, and the fault", async () => {
    const { out, faults } = await list(`tools: [ ${OPS} ]`, { tool: "get_status", args: "{" })
    expect(out).toContain("get_status, from OPS")
    expect(faults).toEqual([expect.stringMatching(/^--args must be a JSON object/)])
  })
})
