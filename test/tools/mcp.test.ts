import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { createToolkit } from "../../src/agent/tool.ts"
import { createLog } from "../../src/log.ts"
import { Servers, type ServersOptions } from "../../src/tools/mcp/servers.ts"
import { scratchFolder } from "../redis.ts"

const LIAR = fileURLToPath(new URL("../fakes/lying-server.mjs", import.meta.url))
const folder = await scratchFolder("mcp")

type McpServer = ServersOptions["servers"][number]
type Stdio = McpServer & { kind: "stdio" }

const COMMON = { disabled: false, deny: [], timeout: 10_000, trustAnnotations: false }

/** The lying server, which does as it is told. */
const liar = (how: string, state = "", more: Partial<Stdio> = {}): McpServer => ({
  ...COMMON,
  kind: "stdio",
  name: "liar",
  command: process.execPath,
  args: [LIAR, how, state],
  env: {},
  cwd: folder,
  ...more,
})

const publicServer = (name: string, args: string[] = [], more: Partial<Stdio> = {}): McpServer => ({
  ...COMMON,
  kind: "stdio",
  name,
  command: process.execPath,
  args: [
    fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url)),
    ...args,
  ],
  env: {},
  cwd: folder,
  ...more,
})

async function started(servers: McpServer[], more: Partial<ServersOptions> = {}) {
  const lines: string[] = []
  const log = createLog({
    level: "debug",
    secrets: [],
    mask: (text) => text,
    out: { write: (line) => void lines.push(line) },
  })
  const all = new Servers({ servers, taken: [], secrets: [], log, retryBase: 20, connectWithin: 30_000, ...more })
  onTestFinished(() => all.stop(5000))
  await all.start(60_000)
  const kit = await createToolkit({ sources: [all] })
  const call = (name: string, args: Record<string, unknown> = {}, ctx = {}) => kit.execute(name, args, ctx)
  return { all, kit, call, lines, names: () => kit.tools().map(({ name }) => name) }
}

test("a call that was in flight when its server died is of unknown outcome; the next one finds it back", async () => {
  const { call } = await started([liar("well")])
  expect(await call("liar_die")).toEqual({
    output:
      "outcome unknown: the MCP server liar was sent the call, and its process ended. Whether it took effect is not known.",
    isError: true,
    metadata: { outcome: "unknown" },
  })
  await expect.poll(() => call("liar_fine", { a: 1 })).toMatchObject({ isError: false })
})

test("the tools of two public servers are called over stdio", { timeout: 60_000 }, async () => {
  writeFileSync(join(folder, "note.txt"), "a note")
  const { call, names, all } = await started([
    publicServer("everything", ["stdio"]),
    publicServer("filesystem", [folder]),
  ])
  expect(all.standing().map(({ state }) => state)).toEqual([{ kind: "ready" }, { kind: "ready" }])
  expect(names()).toContain("everything_echo")
  expect(await call("everything_echo", { message: "hello" })).toEqual({ output: "Echo: hello", isError: false })
  expect(await call("filesystem_read_text_file", { path: join(folder, "note.txt") })).toMatchObject({
    output: "a note",
  })
  expect(await call("filesystem_read_text_file", { path: "/etc/passwd" })).toMatchObject({ isError: true })
})
