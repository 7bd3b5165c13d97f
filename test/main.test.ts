import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { ADA, AUDIT, NO_BOT, OPS, ROBIN, SRE } from "../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../src/sandbox/slack.ts"
import { startProxy } from "./fakes/proxy.ts"
import { freshPrefix, redisUrl, scratchFolder } from "./redis.ts"

// Each test starts the program as a process, some of them twice; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 90_000 })

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The real program as a process of its own. */
function program(args: readonly string[], env: Record<string, string> = {}, cwd?: string): ChildProcess {
  const child = spawn(process.execPath, [path("source.mjs"), path("../src/main.ts"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  return child
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = program(args, env)
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new Error("no pipes")
  const [out, err, [code]] = await Promise.all([text(stdout), text(stderr), once(child, "close")])
  return { code: code as number, out, err }
}

/** A workspace, and the environment and file of a bot that has nothing wrong. */
async function setUp(file: Record<string, unknown> = {}) {
  const slack = await startSlack()
  onTestFinished(() => slack.close())
  const config = join(await scratchFolder("main"), "countersign.yaml")
  const settings = {
    model: { provider: "demo" },
    tools: [path("./fakes/ops.mjs")],
    starters: [ROBIN],
    channels: [OPS],
    approvers: [SRE],
    audit: { channel: AUDIT },
    redis: { prefix: freshPrefix() },
    ...file,
  }
  writeFileSync(config, JSON.stringify(settings))
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    REDIS_URL: redisUrl(),
    COUNTERSIGN_CONFIG: config,
  }
  return { slack, env }
}

describe("what is typed", () => {
  test.each<[string[], number, { out?: RegExp; err?: RegExp }]>([
    // Every line of it is for whoever reads it.
    [["--help"], 0, { out: /^Countersign parks agent runs(?!.*\n[<=>]{7}).*countersign check \[--live\]/s }],
    [["--version"], 0, { out: /^\d+\.\d+\.\d+\n$/ }],
    [[], 2, { err: /^What shall it do\?\n\nCountersign parks/ }],
    [["halt"], 2, { err: /^There is no command "halt"\.\n\nCountersign parks/ }],
    [["check", "--lively"], 2, { err: /^Unknown option '--lively'\.\n\nCountersign parks/ }],
    [["start", "--live"], 2, { err: /^start takes no --live\.\n/ }],
    [["sandbox", "--port", "http"], 2, { err: /^"http" is no port: put 0 \(any\) to 65535\.\n/ }],
    [["check", "all"], 2, { err: /^check takes no "all"\.\n/ }],
    [["tools", "--args", "{}"], 2, { err: /^tools needs --tool, the name of a tool\.\n/ }],
    [["policy"], 2, { err: /^policy goes on with "test": policy test\.\n/ }],
    [["policy", "test"], 2, { err: /^policy test needs --tool, the name of a tool\.\n/ }],
    [["audit"], 2, { err: /^audit goes on with "verify" or "export": audit verify\.\n/ }],
    [["audit", "verify", "--since", "1d"], 2, { err: /^audit verify takes no --since\.\n/ }],
    [["policy", "test", "all"], 2, { err: /^policy test takes no "all"\.\n/ }],
  ])("%j ends with %i", async (args, code, { out, err }) => {
    expect(await run(args)).toEqual({
      code,
      out: out ? expect.stringMatching(out) : "",
      err: err ? expect.stringMatching(err) : "",
    })
  })
})

describe("policy test", () => {
  test("tells which rule applies and what a person may do, and ends with 0; with 2 when that can't be told", async () => {
    const { env } = await setUp({ approvals: [{ tool: "scale_*", when: { service: "web" }, do: "ask", quorum: 2 }] })
    const args = ["--args", '{"service":"web","replicas":3}', "--user", ADA]
    const told = await run(["policy", "test", "--tool", "scale_service", ...args], env)
    expect(told).toMatchObject({ code: 0, err: "" })
    expect(told.out).toContain(`${env.COUNTERSIGN_CONFIG}:1: approvals[0] (scale_*): applies: service is "web".`)
    expect(told.out).toContain("of another's run: may approve, may decline.")
    const wrong = await run(["policy", "test", "--tool", "scale", ...args], env)
    expect(wrong).toMatchObject({ code: 2, out: "" })
    expect(wrong.err).toMatch(/^That can't be told: 1 fault\.\n {2}- --tool: no tool's name is scale;/)
  })
})

describe("audit", () => {
  test("verifies and exports what Redis holds: 0 when it is whole, 2 when it is not, 1 when Redis does not answer", async () => {
    const { env } = await setUp({ redis: { prefix: freshPrefix() } })
    const whole = await run(["audit", "verify"], env)
    expect(whole).toMatchObject({ code: 0, err: "" })
    expect(whole.out).toMatch(
      /^0 runs of 0 verified, with 0 facts: each chain is unbroken\.\nShard 0: no line was posted/,
    )
    const root = "a".repeat(64)
    const broken = await run(["audit", "verify", "--count", "3", "--root", root], env)
    expect(broken).toMatchObject({ code: 2 })
    expect(broken.err).toMatch(/^Not verified: 1 fault\.\n {2}- Shard 0: the channel had 3 lines, Redis knows of 0:/)
    expect(await run(["audit", "export", "--since", "1d"], env)).toEqual({ code: 0, out: "", err: "" })
    const odd = await run(["audit", "export", "--since", "yesterday"], env)
    expect(odd).toMatchObject({ code: 2, out: "" })
    expect(odd.err).toContain("--since takes a time, such as 2026-01-31")
    const away = await run(["audit", "verify"], { ...env, REDIS_URL: "redis://127.0.0.1:1" })
    expect(away).toMatchObject({ code: 1, out: "" })
  })
})

describe("check", () => {
  test("says that nothing is wrong, and ends with 0", async () => {
    const { slack, env } = await setUp()
    expect(await run(["check", "--live"], env)).toEqual({ code: 0, out: "No faults, no warnings.\n", err: "" })
    expect(slack.workspace.calls.some(({ method }) => method === "blocks.validate")).toBe(true)
  })

  test("says faults and warnings, and ends with 2", async () => {
    const { env } = await setUp({ channels: [OPS, NO_BOT], approvals: [{ tool: "gte_*", do: "allow" }] })
    const file = env.COUNTERSIGN_CONFIG
    expect(await run(["check"], env)).toEqual({
      code: 2,
      out: [
        "1 fault: with these the bot does not start.",
        `  - ${file}:1: approvals[0]: no tool's name is gte_*; there are get_status, restart_service, scale_service: put one of these, or take the rule out.`,
        "",
        "1 warning:",
        "  - channels: C0NOBOT (#no-bot) does not have the bot as a member: type /invite @countersign there.",
        "",
      ].join("\n"),
      err: "",
    })
  })

  test("says what may pass by itself, and ends with 1 when that is all", async () => {
    const { slack, env } = await setUp()
    const away = { ...env, REDIS_URL: "redis://127.0.0.1:1" }
    const alone = await run(["check"], away)
    expect(alone.out).toMatch(
      /^1 outage: the bot does not start until that is over\.\n {2}- Redis can't be reached at 127\.0\.0\.1:1 \(.*\): start it, or correct REDIS_URL\.\n$/,
    )
    expect(alone.code).toBe(1)
    slack.workspace.scopes.delete("im:write")
    const both = await run(["check"], away)
    expect(both.out).toMatch(/^1 fault: .*\n {2}- The scope im:write .*\n\n1 outage: .*\n {2}- Redis can't be reached/)
    expect(both.code).toBe(2)
  })

  test("ends although a tool's module holds something open", async () => {
    const file = join(await scratchFolder("main"), "tools.mjs")
    writeFileSync(file, "setInterval(() => undefined, 1000)\nexport default []\n")
    const { env } = await setUp({ tools: [file] })
    expect(await run(["check"], env)).toEqual({ code: 0, out: "No faults, no warnings.\n", err: "" })
  })

  test("warnings alone end with 0", async () => {
    const { env } = await setUp({ starters: [] })
    const { code, out } = await run(["check"], env)
    expect(out).toMatch(/^1 warning:\n {2}- starters is empty: nobody may start a run\./)
    expect(code).toBe(0)
  })
})

describe("start", () => {
  test("refuses on faults, all of them at once, and never comes to Slack's door", async () => {
    const { slack, env } = await setUp({ channels: [NO_BOT] })
    slack.workspace.scopes.delete("commands")
    const { code, out, err } = await run(["start"], env)
    expect(err).toMatch(
      /^Countersign can't start: 2 faults\.\n {2}- The scope commands is missing.*\n {2}- channels: C0NOBOT/,
    )
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(slack.workspace.sockets.count).toBe(0)
  })

  test("refuses without any configuration, naming what to write", async () => {
    const { code, err } = await run(["start"], {
      COUNTERSIGN_CONFIG: "/nowhere/countersign.yaml",
      REDIS_URL: redisUrl(),
    })
    expect(code).toBe(2)
    expect(err).toMatch(/^Countersign can't start: 3 faults\.\n {2}- SLACK_BOT_TOKEN is missing/)
    expect(err).toContain("/nowhere/countersign.yaml does not exist: write it")
  })

  test.each<[string, (slack: SandboxSlack) => Record<string, string>, string]>([
    ["Redis", () => ({ REDIS_URL: "redis://127.0.0.1:1" }), "Redis can't be reached at 127.0.0.1:1 ("],
    [
      "Slack",
      () => ({ SLACK_API_URL: "http://127.0.0.1:1/api/" }),
      "Slack can't be reached at http://127.0.0.1:1/api/ (",
    ],
    [
      "Slack, which says so",
      ({ workspace }) => {
        workspace.misbehave({ method: "auth.test", do: "status", status: 503 })
        return {}
      },
      "Slack at http://",
    ],
  ])("does not start while nothing is heard of %s, and ends with 1: it may pass", async (_, without, words) => {
    const { slack, env } = await setUp()
    const { code, err } = await run(["start"], { ...env, ...without(slack) })
    expect(err).toContain(`Countersign can't start just now.\n  - ${words}`)
    expect(err).toMatch(/\.\nStart it again when that is over\.\n$/)
    expect(code).toBe(1)
  })

  test("says both what is to be mended and what may pass, and ends with 2", async () => {
    const { env } = await setUp({ admins: ["U0TYPO"] })
    const { code, err } = await run(["start"], { ...env, REDIS_URL: "redis://127.0.0.1:1" })
    expect(err).toMatch(
      /^Countersign can't start: 1 fault\.\n {2}- admins: U0TYPO .*\nAnd 1 outage:\n {2}- Redis can't/,
    )
    expect(code).toBe(2)
  })

  test("a Redis that falls silent after the check is told with the remedy for that", async () => {
    const { env } = await setUp()
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    onTestFinished(() => proxy.close())
    const held = proxy.holdFrom("countersign-main")
    const { code, err } = await run(["start"], { ...env, REDIS_URL: proxy.url })
    await held
    expect(err).toMatch(
      /^Countersign can't start just now\.\n {2}- Redis at 127\.0\.0\.1:\d+ takes connections but isn't ready .*: wait until redis-cli ping says PONG/,
    )
    expect(code).toBe(1)
  })

  test("what is over when it is looked for again is told in its own words", async () => {
    const { slack, env } = await setUp()
    const { workspace } = slack
    // The check asks first, then the bot itself, then the check again.
    const during = () => void workspace.misbehave({ method: "auth.test", do: "error", error: "fatal_error", times: 1 })
    workspace.misbehave({ method: "auth.test", times: 1, during })
    const { code, err } = await run(["start"], env)
    expect(err).toMatch(
      /^Countersign can't start just now\.\n {2}- .*fatal_error\. There is nothing else wrong now: start it again\.\n/,
    )
    expect(code).toBe(1)
  })

  test("a port that is taken is to be mended", async () => {
    const { slack, env } = await setUp()
    const { SLACK_APP_TOKEN: _, ...http } = env
    const port = new URL(slack.apiUrl).port
    const { code, err } = await run(["start"], { ...http, SLACK_SIGNING_SECRET: "0123456789abcdef", PORT: port })
    expect(err).toMatch(
      new RegExp(
        `^Countersign can't start: 1 fault\\.\n {2}- PORT ${port} is taken by another program: put another one, `,
      ),
    )
    expect(code).toBe(2)
  })

  test("logs its warnings, connects, and ends in order when it is told to", async () => {
    const { slack, env } = await setUp({ starters: [] })
    const child = program(["start"], env)
    const closed = once(child, "close")
    const { stdout, stderr } = child
    if (!stdout || !stderr) throw new Error("no pipes")
    const log = text(stdout)
    const err = text(stderr)
    await slack.workspace.waitFor(() => slack.workspace.sockets.count > 0, 60_000, "the bot's connection")
    child.kill("SIGTERM")
    expect(await closed).toEqual([0, null])
    const lines = (await log)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { level: number; msg: string })
    expect(lines.find(({ level }) => level === 40)?.msg).toMatch(/^starters is empty: nobody may start a run\./)
    expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(["started", "stopping"]))
    expect(await err).toBe("")
    expect(JSON.stringify(lines)).not.toContain(slack.botToken)
  })
})

test("the program's version is the package's", async () => {
  const { version } = JSON.parse(readFileSync(path("../package.json"), "utf8")) as { version: string }
  expect((await run(["--version"])).out).toBe(`${version}\n`)
})

describe("pause and resume", () => {
  test("hold up everything and let it go on, from the command line", async () => {
    const { env } = await setUp()
    expect(await run(["pause"], env)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Paused: nothing new starts/),
    })
    expect(await run(["pause"], env)).toMatchObject({ code: 0, out: "It is paused already.\n" })
    expect(await run(["resume"], env)).toMatchObject({ code: 0, out: "Resumed.\n" })
    expect(await run(["resume"], env)).toMatchObject({ code: 0, out: "It is not paused.\n" })
  })
})
