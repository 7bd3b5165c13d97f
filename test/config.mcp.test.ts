import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readConfig } from "../src/config.ts"
import { scratchFolder } from "./redis.ts"

const folder = await scratchFolder("config-mcp")

let files = 0
function read(mcpServers: unknown, env: NodeJS.ProcessEnv = {}) {
  const path = join(folder, `${++files}.yaml`)
  writeFileSync(path, JSON.stringify({ model: { provider: "demo" }, mcpServers }))
  return readConfig({
    SLACK_BOT_TOKEN: "xoxb-1-secret",
    SLACK_APP_TOKEN: "xapp-1-secret",
    COUNTERSIGN_CONFIG: path,
    ...env,
  })
}

const faults = (mcpServers: unknown, env?: NodeJS.ProcessEnv): string[] =>
  read(mcpServers, env).faults.map((fault) => fault.replace(/^\/.*?\.yaml:1: /, ""))

const USUAL = { disabled: false, deny: [], timeout: 120_000, trustAnnotations: false }

test("servers stand in the shape that every client has, with what is ours besides", () => {
  const reading = read(
    {
      files: {
        command: "./bin/server",
        args: ["--token", "${TOKEN}"],
        env: { DEBUG: 1, KEY: "k-in-the-file" },
        allow: ["read_*"],
      },
      far: {
        type: "http",
        url: "https://mcp.example.com/${TEAM}",
        headers: { Authorization: "Bearer ${TOKEN}" },
        timeout: "30s",
        trustAnnotations: true,
      },
    },
    { TOKEN: "a-secret-token", TEAM: "ops" },
  )
  if (!reading.ok) throw new Error(reading.faults.join("\n"))
  expect(reading.config.mcpServers).toEqual({
    servers: [
      {
        ...USUAL,
        name: "files",
        kind: "stdio",
        command: join(folder, "bin/server"),
        args: ["--token", "a-secret-token"],
        env: { DEBUG: "1", KEY: "k-in-the-file" },
        cwd: folder,
        allow: ["read_*"],
      },
      {
        ...USUAL,
        name: "far",
        kind: "http",
        url: "https://mcp.example.com/ops",
        headers: { Authorization: "Bearer a-secret-token" },
        timeout: 30_000,
        trustAnnotations: true,
      },
    ],
    notes: [],
  })
  expect(reading.secrets).toEqual(expect.arrayContaining(["a-secret-token", "k-in-the-file"]))
})

test.each<[string, unknown, RegExp[]]>([
  ["neither way", { a: {} }, [/mcpServers\.a has neither command/]],
  ["both ways", { a: { command: "x", url: "https://x.example" } }, [/mcpServers\.a has both command and url/]],
  ["an unknown key", { a: { command: "x", allways: [] } }, [/mcpServers\.a has no setting "allways"/]],
  [
    "the transport before",
    { a: { type: "sse", url: "https://x.example" } },
    [/mcpServers\.a\.type is sse, the transport before/],
  ],
  ["an open way", { a: { url: "http://mcp.example.com" } }, [/mcpServers\.a\.url must be an https address/]],
  [
    "the bot's own secret",
    { a: { command: "x", env: { T: "${SLACK_BOT_TOKEN}" } } },
    [/mcpServers\.a\.env\.T must not use \$\{SLACK_BOT_TOKEN\}/],
  ],
  [
    "a variable that is not set",
    { a: { command: "x", args: ["${NOT_SET}"] } },
    [/mcpServers\.a\.args\[0\] uses \$\{NOT_SET\}/],
  ],
  [
    "a reference of another client",
    { a: { command: "x", args: ["${input:token}"] } },
    [/mcpServers\.a\.args\[0\] has \$\{input:token\}, which means nothing here/],
  ],
  [
    "a header of the protocol",
    { a: { url: "https://x.example", headers: { "Mcp-Session-Id": "1" } } },
    [/mcpServers\.a\.headers has a header that the protocol sets/],
  ],
  ["no mapping", ["a"], [/mcpServers must be a mapping of servers by name, or the path/]],
  [
    "a file that is not there",
    "./none.json",
    [/mcpServers names .*none\.json, which does not exist: correct its path/],
  ],
])("%s is told with its place", (_, mcpServers, words) => {
  const told = faults(mcpServers)
  expect(told).toHaveLength(words.length)
  for (const [index, one] of words.entries()) expect(told[index]).toMatch(one)
})

test.each(["mcpServers", "servers", "mcp"])(
  "a JSON file has them under %s; what other clients put there is passed over with a word",
  (key) => {
    const shared = join(folder, `${key}.json`)
    const servers = {
      good: { command: "npx", args: ["-y", "x"], alwaysAllow: ["a"], timeout: 60, icon: "y" },
      old: { type: "sse", url: "https://x.example" },
    }
    writeFileSync(shared, JSON.stringify({ inputs: [], [key]: servers }))
    const reading = read(`./${key}.json`)
    if (!reading.ok) throw new Error(reading.faults.join("\n"))
    expect(reading.config.mcpServers.servers).toMatchObject([{ ...USUAL, name: "good", command: "npx", cwd: folder }])
    expect(reading.warnings).toEqual(
      expect.arrayContaining([
        `${shared}: "good" has alwaysAllow, icon, a timeout without a unit, which means nothing here.`,
        expect.stringMatching(/"old" is left out: type is sse/),
      ]),
    )
  },
)
