import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { checkServers, withServers } from "../src/check/servers.ts"
import { readConfig } from "../src/config.ts"
import { scratchFolder } from "./redis.ts"

const folder = await scratchFolder("check-servers")
const LIAR = fileURLToPath(new URL("./fakes/lying-server.mjs", import.meta.url))
const ENV = { SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1" }

let files = 0
function configOf(mcpServers: Record<string, object>) {
  const path = join(folder, `${++files}.yaml`)
  writeFileSync(path, JSON.stringify({ model: { provider: "demo" }, mcpServers }))
  const read = readConfig({ ...ENV, COUNTERSIGN_CONFIG: path })
  if (!read.ok) throw new Error(read.faults.join("\n"))
  return read.config
}

const liar = (how: string, ...more: string[]) => ({ command: process.execPath, args: [LIAR, how, ...more] })
const NONE = { taken: [], secrets: [] }

test("servers that answer are no finding, and the names of their tools are known", { timeout: 60_000 }, async () => {
  const config = configOf({ well: liar("well"), off: { ...liar("well"), disabled: true } })
  const { report, names } = await checkServers(config, NONE)
  expect(report).toEqual({ faults: [], outages: [], warnings: [] })
  expect(names).toContain("well_fine")
  expect(names?.some((name) => name.startsWith("off_"))).toBe(false)
})

test(
  "one that is away is a warning that says what follows; then not all names are known",
  { timeout: 60_000 },
  async () => {
    const gone = { command: join(folder, "nowhere") }
    const { report, names } = await checkServers(configOf({ well: liar("well"), gone }), NONE)
    expect(report).toEqual({
      faults: [],
      outages: [],
      warnings: [
        expect.stringMatching(
          /^The MCP server gone is away: there is no program .*nowhere.*\. The bot starts and works without it, and tries again; until then rules for tools that there aren't go unnoticed\.$/,
        ),
      ],
    })
    expect(names).toBeUndefined()
  },
)

test("what of a server can't be used is told, twenty lines of it at most", { timeout: 60_000 }, async () => {
  const list = join(folder, "list.json")
  const wrong = Array.from({ length: 25 }, (_, index) => ({ name: `w${index}`, inputSchema: { type: "array" } }))
  writeFileSync(list, JSON.stringify([{ name: "fine", inputSchema: { type: "object" } }, ...wrong]))
  const { report, names } = await checkServers(configOf({ odd: liar("file", list) }), NONE)
  expect(names).toEqual(["odd_fine"])
  expect(report.faults).toEqual([])
  expect(report.warnings).toHaveLength(21)
  expect(report.warnings[0]).toMatch(/^The MCP server odd: .*w0/)
  expect(report.warnings.at(-1)).toBe("The MCP server odd: 5 more like it.")
})

test(
  "a name that another tool has is told, and servers are ended whatever becomes of the look",
  { timeout: 60_000 },
  async () => {
    const config = configOf({ well: liar("well", join(folder, "state")) })
    const { report } = await checkServers(config, { taken: ["well_fine"], secrets: [] })
    expect(report.warnings).toEqual([
      expect.stringMatching(/^The MCP server well: .*well_fine|^The MCP server well: .*fine/),
    ])
    let seen: { standing(): readonly { state: { kind: string } }[] } | undefined
    const looking = withServers(config.mcpServers.servers, NONE, (servers) => {
      seen = servers
      throw new Error("the look failed")
    })
    await expect(looking).rejects.toThrow("the look failed")
    expect(seen?.standing().map(({ state }) => state.kind)).toEqual(["stopped"])
  },
)
