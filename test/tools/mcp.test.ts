import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test, vi } from "vitest"
import { createToolkit } from "../../src/agent/tool.ts"
import { createLog } from "../../src/log.ts"
import { nameOf } from "../../src/tools/mcp/names.ts"
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

/** Every wrong server at once, each under the name of what is wrong with it. */
const wrong = (...hows: string[]) => hows.map((how) => liar(how, "", { name: how }))

test("why a server is away is known also while it is tried again", { timeout: 60_000 }, async () => {
  const missing = liar("well", "", { name: "missing", command: "/no/such/program" })
  const { all } = await started([missing], { retryBase: 1 })
  const seen = new Set<string>()
  await expect
    .poll(
      () => {
        const [state] = all.standing().map((one) => one.state)
        expect(state).toMatchObject({ why: expect.stringMatching(/^there is no program/) as string })
        return seen.add(state?.kind ?? "").size
      },
      { interval: 1, timeout: 30_000 },
    )
    .toBe(2)
  expect([...seen].sort()).toEqual(["away", "connecting"])
})

test(
  "servers that are wrong in every way cost no other server, and each is told why",
  { timeout: 60_000 },
  async () => {
    const SECRET = "sk-very-secret-key"
    const missing = liar("well", "", { name: "missing", command: "/no/such/program" })
    const line = liar("well", "", { name: "line", command: "no-such-program -y server" })
    const elsewhere = liar("well", "", { name: "elsewhere", cwd: "/no/such/folder" })
    const servers = [
      ...wrong("dies", "flood", "long", "stderr", "noise", "well"),
      missing,
      line,
      elsewhere,
      liar("well", "", { name: "off", disabled: true }),
    ]
    const { all, call, lines, names } = await started(servers, {
      secrets: [SECRET],
      retryBase: 60_000,
    })
    await expect.poll(() => all.standing().find(({ name }) => name === "flood")?.state.kind).toBe("away")
    const states = Object.fromEntries(all.standing().map(({ name, state }) => [name, state]))
    expect(states).toMatchObject({
      dies: { kind: "away", why: "its process ended; the last it wrote was: the key [our secret] is wrong" },
      flood: { kind: "away", why: "it sent more than 5000 messages within 10 s" },
      long: { kind: "away", why: "it sent a message that is too long" },
      stderr: { kind: "ready" },
      noise: { kind: "ready" },
      well: { kind: "ready" },
      missing: { kind: "away", why: `there is no program /no/such/program, or no folder ${folder} to run it in` },
      line: { kind: "away", why: expect.stringContaining("what follows the program's name belongs into args") },
      elsewhere: { kind: "away" },
      off: { kind: "disabled" },
    })
    expect(lines.join("")).not.toContain(SECRET)
    expect(await call("well_fine", { a: 1 })).toMatchObject({ isError: false })
    expect(await call("stderr_fine")).toMatchObject({ isError: false })
    // What it has been is known, and said to be away.
    expect(names().filter((name) => name.startsWith("off"))).toEqual([])
    if (names().includes("flood_fine")) {
      expect((await call("flood_fine")).output).toMatch(
        /^the MCP server flood is away \(.*\); the call was not executed/,
      )
    }
  },
)

test("a server that does not answer is not waited for", async () => {
  const { all, lines } = await started(wrong("mute"), { connectWithin: 500, retryBase: 100 })
  expect(all.standing()).toMatchObject([{ state: { kind: "away", why: "it did not answer within 0.5 s" } }])
  // It is tried again, after more and more time.
  await expect.poll(() => lines.filter((line) => line.includes("is away")).length).toBe(2)
  expect(lines.map((line) => (JSON.parse(line) as { again: number }).again)).toEqual([100, 200])
})

test("a list is read as far as it can be used, and what is left out is told", { timeout: 60_000 }, async () => {
  const { all, kit, names } = await started([
    ...wrong("same", "garbage", "many", "pages", "circle"),
    liar("well", "", { name: "some", allow: ["f*", "h*", "d?e"], deny: ["han?"] }),
  ])
  const of = (server: string) => all.standing().find(({ name }) => name === server)
  expect(of("same")?.notes).toEqual(["twice is listed twice: the first is taken"])
  expect(kit.get("same_twice")?.description).toBe("first")
  expect(names().filter((name) => name.startsWith("garbage"))).toEqual(["garbage_fine", "garbage_wordy"])
  expect(of("garbage")?.notes).toEqual([
    "a tool without a name is left out",
    "a tool without a name is left out",
    "a tool without a name is left out",
    expect.stringMatching(/^x+… is left out: its name has more than 200 characters$/),
    "array is left out: its schema is not that of an object",
    "large is left out: its schema has more than 50000 characters",
    'odd_key is left out: its schema has an argument "a b", a name that providers refuse',
    "task is left out: it runs as a task of the server's, which is not supported",
    expect.stringMatching(/^nonsense is left out: .*inputSchema is wrong/),
    expect.stringMatching(/^unknown_type is left out: .*inputSchema is wrong/),
  ])
  expect(kit.get("garbage_wordy")?.description).toHaveLength(4000 + "… [cut]".length)
  expect(of("many")?.tools).toHaveLength(1000)
  expect(of("many")?.notes).toEqual(["it has 10000 tools; 1000 are taken: say by allow or deny which"])
  expect(of("pages")?.tools).toHaveLength(101)
  expect(of("pages")?.notes).toEqual(["its list has no end: its first pages are taken"])
  expect(of("circle")?.notes).toEqual([
    "its list begins again and again: its first pages are taken",
    "round is listed twice: the first is taken",
  ])
  expect(names().filter((name) => name.startsWith("some"))).toEqual(["some_die", "some_fine"])
})

test("names are those of server and tool in the letters that providers take; of two of one name the first counts", () => {
  expect(nameOf("git hub", "issues.list/all")).toBe("git_hub_issues_list_all")
  const long = nameOf("server", "t".repeat(100))
  expect(long).toMatch(/^server_t{48}_[0-9a-f]{8}$/)
  expect(long).toHaveLength(64)
  expect(nameOf("server", `${"t".repeat(99)}u`)).not.toBe(long)
})

test("a tool whose name another one has is left out, whichever order the server lists them in", async () => {
  const list = join(folder, "names.json")
  const tool = (name: string) => ({ name, description: name, inputSchema: { type: "object" } })
  writeFileSync(list, JSON.stringify([tool("a.b"), tool("a_b"), tool("taken")]))
  const { all, kit } = await started([liar("file", list)], { taken: ["liar_taken"] })
  expect(kit.tools().map(({ foreign }) => foreign?.tool)).toEqual(["a_b"])
  expect(all.standing()[0]?.notes).toEqual([
    "taken is left out: its name here, liar_taken, is that of a tool of the configuration's. Leave one of them out by deny",
    "a.b is left out: its name here, liar_a_b, is that of a_b of the server liar. Leave one of them out by deny",
  ])
})

test("a program gets what the configuration gives it, and nothing else of our environment", async () => {
  vi.stubEnv("SLACK_BOT_TOKEN", "xoxb-ours")
  vi.stubEnv("SOMETHING", "ours")
  onTestFinished(() => void vi.unstubAllEnvs())
  const { call } = await started([liar("well", "", { env: { GIVEN: "theirs-alone" } })], { secrets: ["theirs-alone"] })
  const { output } = await call("liar_env")
  expect(output).toContain('"GIVEN":"[our secret]"')
  expect(
    Object.keys(JSON.parse(output) as object).filter(
      (key) => !/^(?:HOME|LOGNAME|PATH|SHELL|TERM|USER|GIVEN)$/.test(key),
    ),
  ).toEqual([])
})

test("a call is given up when nothing of it is heard for its time, and not while it tells progress", async () => {
  const state = join(folder, "cancelled")
  writeFileSync(state, "")
  const { call } = await started([liar("well", state, { timeout: 400 })])
  const told: string[] = []
  const slow = await call("liar_slow", { ms: 1200 }, { progress: (text: string) => told.push(text) })
  expect(slow).toEqual({ output: "slow but well", isError: false })
  expect(told.length).toBeGreaterThan(3)
  expect(await call("liar_hang")).toEqual({
    output:
      "outcome unknown: the MCP server liar was sent the call, and it did not answer within 0.4 s. Whether it took effect is not known.",
    isError: true,
    metadata: { outcome: "unknown" },
  })
  await expect.poll(() => readFileSync(state, "utf8")).toBe("cancelled\n")
  const stop = new AbortController()
  const stopped = call("liar_hang", {}, { signal: stop.signal })
  stop.abort()
  expect((await stopped).output).toMatch(/^outcome unknown: .*it was told to stop/)
  expect(await call("liar_error")).toEqual({
    output: "the MCP server liar answered with an error: no such thing",
    isError: true,
  })
  expect(await call("liar_garbage")).toMatchObject({ isError: true })
})

test(
  "changes of a list are picked up, and what is not as it was at the start says so",
  { timeout: 60_000 },
  async () => {
    const list = join(folder, "list.json")
    const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } })
    writeFileSync(list, JSON.stringify([tool("a", "reads"), tool("b", "reads")]))
    const { kit, names, lines } = await started([liar("file", list)])
    const before = kit.tools()
    const since = () => kit.tools().map(({ name, foreign }) => [name, foreign?.since])
    expect(since()).toEqual([
      ["liar_a", undefined],
      ["liar_b", undefined],
    ])
    writeFileSync(list, JSON.stringify([tool("c", "new"), tool("b", "deletes"), tool("a", "reads")]))
    await expect.poll(since).toEqual([
      ["liar_a", undefined],
      ["liar_b", "changed"],
      ["liar_c", "appeared"],
    ])
    // What has not changed is the very same: nothing is compiled or sent anew.
    expect(kit.get("liar_a")).toBe(before[0])
    expect(lines.filter((line) => line.includes("not what it was"))).toHaveLength(2)
    writeFileSync(list, JSON.stringify([tool("b", "reads")]))
    await expect.poll(since).toEqual([["liar_b", undefined]])
    expect(names()).toEqual(["liar_b"])
  },
)

test(
  "a server that was away at the start is connected again with more and more time between",
  { timeout: 60_000 },
  async () => {
    const state = join(folder, "second")
    const { all, call, kit } = await started([liar("second", state)])
    await expect.poll(() => all.standing()[0]?.state.kind).toBe("ready")
    expect(await call("liar_fine")).toMatchObject({ isError: false })
    expect(kit.get("liar_fine")?.foreign?.since).toBe("appeared")
  },
)

test.each([
  [false, { readOnlyHint: true }, "once", undefined],
  [true, { readOnlyHint: true, destructiveHint: true }, "none", undefined],
  [true, { idempotentHint: true, destructiveHint: true }, "repeatable", true],
  [true, {}, "once", undefined],
  [false, { destructiveHint: true }, "once", true],
])("with trustAnnotations: %s, %j means %s", async (trustAnnotations, annotations, effects, destructive) => {
  const list = join(folder, `hints-${JSON.stringify([trustAnnotations, annotations]).length}.json`)
  writeFileSync(list, JSON.stringify([{ name: "t", inputSchema: { type: "object" }, annotations }]))
  const { kit } = await started([liar("file", list, { trustAnnotations })])
  expect(kit.get("liar_t")).toMatchObject({ effects })
  expect(kit.get("liar_t")?.destructive).toBe(destructive)
})

test("its programs end with the bot, those that are under way too", async () => {
  const state = join(folder, "ended")
  writeFileSync(state, "")
  const { all, call } = await started([liar("well", state)])
  const hanging = call("liar_hang")
  await all.stop(5000)
  expect((await hanging).output).toMatch(/^outcome unknown/)
  expect(await call("liar_fine")).toMatchObject({ isError: true, output: expect.stringMatching(/was not executed/) })
  expect(all.standing().map(({ state }) => state.kind)).toEqual(["stopped"])
  await expect.poll(() => readFileSync(state, "utf8")).toMatch(/ended\n$/)
})

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
