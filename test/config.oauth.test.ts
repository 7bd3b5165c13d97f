import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readConfig } from "../src/config.ts"
import { scratchFolder } from "./redis.ts"

const folder = await scratchFolder("config-oauth")
const KEY = randomBytes(32)
const PAGES = { url: "https://countersign.example.com", port: 3010 }
const URL = "https://mcp.example.com/mcp"

let files = 0
function read(file: Record<string, unknown>, env: NodeJS.ProcessEnv = {}) {
  const path = join(folder, `${++files}.yaml`)
  writeFileSync(path, JSON.stringify({ model: { provider: "demo" }, ...file }))
  return readConfig({
    SLACK_BOT_TOKEN: "xoxb-1-secret",
    SLACK_APP_TOKEN: "xapp-1-secret",
    COUNTERSIGN_CONFIG: path,
    ...env,
  })
}

const faults = (file: Record<string, unknown>, env?: NodeJS.ProcessEnv): string[] =>
  read(file, env).faults.map((fault) => fault.replace(/^\/.*?\.yaml:1: /, ""))

const withKey = { COUNTERSIGN_KEY: KEY.toString("base64") }

test.each([
  ["base64", KEY.toString("base64")],
  ["base64url", KEY.toString("base64url")],
  ["hex", KEY.toString("hex")],
])("a key is taken as %s, and is a secret in whatever spelling", (_, spelled) => {
  const mcpServers = { far: { url: URL, oauth: { clientId: "us", clientSecret: "${SECRET}", scopes: ["read"] } } }
  const reading = read({ mcpServers, signIn: PAGES }, { COUNTERSIGN_KEY: spelled, SECRET: "hush-hush" })
  if (!reading.ok) throw new Error(reading.faults.join("\n"))
  expect(reading.config.key?.equals(KEY)).toBe(true)
  expect(reading.config.signIn).toEqual({ ...PAGES, host: "127.0.0.1" })
  expect(reading.config.mcpServers.servers[0]).toMatchObject({
    oauth: { clientId: "us", clientSecret: "hush-hush", scopes: ["read"] },
  })
  const spellings = [KEY.toString("base64"), KEY.toString("base64url"), KEY.toString("hex"), spelled, "hush-hush"]
  expect(reading.secrets).toEqual(expect.arrayContaining(spellings))
})

test("a server without a sign-in, or that is switched off, needs neither key nor pages", () => {
  for (const far of [{ url: URL }, { url: URL, oauth: false }, { url: URL, oauth: true, disabled: true }]) {
    expect(faults({ mcpServers: { far } })).toEqual([])
  }
})

test.each<[string, Record<string, unknown>, NodeJS.ProcessEnv, RegExp[]]>([
  [
    "neither key nor pages",
    { mcpServers: { far: { url: URL, oauth: true } } },
    {},
    [/^signIn is missing: people sign in to the MCP server "far"/, /^COUNTERSIGN_KEY is missing: .*openssl rand/],
  ],
  [
    "a key that is none",
    { mcpServers: { far: { url: URL, oauth: true } }, signIn: PAGES },
    { COUNTERSIGN_KEY: "a-key-of-mine" },
    [/^COUNTERSIGN_KEY must be 32 bytes in base64 or hex: make one with: openssl rand -base64 32\.$/],
  ],
  [
    "a key that is too short",
    {},
    { COUNTERSIGN_KEY: randomBytes(16).toString("base64") },
    [/^COUNTERSIGN_KEY must be/],
  ],
  [
    "pages in the open",
    { signIn: { url: "http://countersign.example.com", port: 3010 } },
    {},
    [/^signIn\.url must be an https address/],
  ],
  [
    "pages below an address",
    { signIn: { url: "https://example.com/countersign", port: 3010 } },
    {},
    [/^signIn\.url must end with the host/],
  ],
  ["no port", { signIn: { url: PAGES.url } }, {}, [/^signIn\.port is missing/]],
  [
    "a secret in the file",
    { mcpServers: { far: { url: URL, oauth: { clientId: "us", clientSecret: "in-the-file" } } }, signIn: PAGES },
    withKey,
    [/^mcpServers\.far\.oauth\.clientSecret must come from the environment/],
  ],
  [
    "a secret of nobody",
    { mcpServers: { far: { url: URL, oauth: { clientSecret: "${SECRET}" } } }, signIn: PAGES },
    { ...withKey, SECRET: "hush-hush" },
    [/^mcpServers\.far\.oauth has a clientSecret without a clientId/],
  ],
  [
    "the key for somebody else",
    { mcpServers: { far: { url: URL, headers: { "X-Key": "${COUNTERSIGN_KEY}" } } } },
    withKey,
    [/^mcpServers\.far\.headers\.X-Key must not use \$\{COUNTERSIGN_KEY\}/],
  ],
  [
    "two ways to say who comes",
    { mcpServers: { far: { url: URL, oauth: true, headers: { Authorization: "Bearer ${T}" } } }, signIn: PAGES },
    { ...withKey, T: "a-token" },
    [/^mcpServers\.far has both oauth and a header Authorization/],
  ],
  [
    "neither yes nor no",
    { mcpServers: { far: { url: URL, oauth: "yes" } }, signIn: PAGES },
    withKey,
    [/^mcpServers\.far\.oauth must be a mapping, such as .*, or true, not "yes"/],
  ],
  [
    "one port for two",
    { signIn: PAGES },
    { SLACK_APP_TOKEN: "", SLACK_SIGNING_SECRET: "signing-secret", PORT: "3010" },
    [/^signIn\.port is PORT as well/],
  ],
])("%s is told with its remedy", (_, file, env, words) => {
  const told = faults(file, env)
  expect(told).toHaveLength(words.length)
  for (const [index, one] of words.entries()) expect(told[index]).toMatch(one)
  expect(told.join("\n")).not.toMatch(/a-key-of-mine|in-the-file|hush-hush/)
})
