import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { type Sandbox, type SandboxOptions, startSandbox } from "../../src/sandbox/start.ts"
import { scratchFolder } from "../redis.ts"

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const BOT = [process.execPath, path("../source.mjs"), path("../../src/main.ts"), "start"] as const

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A program in the bot's place. */
async function program(source: string): Promise<[string, string]> {
  const file = join(await scratchFolder("bot"), "bot.mjs")
  writeFileSync(file, source)
  return [process.execPath, file]
}

async function started(options: Partial<SandboxOptions> = {}): Promise<Sandbox & { said: string[]; dir: string }> {
  const dir = options.dir ?? (await scratchFolder("sandbox"))
  const said: string[] = []
  const box = await startSandbox({
    dir,
    port: 0,
    bot: BOT,
    say: (line) => said.push(line),
    env: process.env,
    ...options,
  })
  onTestFinished(() => box.stop())
  return { ...box, said, dir }
}

/** How many lines the bot holds to the local Slack. */
async function connected(url: string): Promise<number> {
  const state = (await (await fetch(`${url}sandbox/state?as=U0REQ`)).json()) as { connected: number }
  return state.connected
}

const botOf = (box: Sandbox): number => box.botPid() ?? 0

test("stands when the bot is connected; a bot that is killed comes back, and all ends together", async () => {
  const box = await started()
  const first = botOf(box)
  expect(await connected(box.url)).toBeGreaterThan(0)
  process.kill(first, "SIGKILL")
  await expect
    .poll(() => box.said[0], { timeout: 10_000 })
    .toMatch(/^The bot ended \(SIGKILL\); it starts again in 1 s\. Its log: .*bot\.log$/)
  await expect.poll(() => connected(box.url), { timeout: 20_000 }).toBe(0)
  await expect.poll(() => connected(box.url), { timeout: 30_000 }).toBeGreaterThan(0)
  const second = botOf(box)
  expect(second).not.toBe(first)
  expect(box.said.slice(1)).toEqual([`The bot is back: process ${second}.`])
  await box.stop()
  expect(alive(second)).toBe(false)
  await expect(fetch(box.url)).rejects.toThrow("fetch failed")
}, 90_000)

test("killed itself, it leaves neither the bot nor Redis behind", async () => {
  const dir = await scratchFolder("sandbox")
  const { child, line } = await boxProcess(dir)
  const { bot } = JSON.parse(line) as { bot: number }
  const redis = Number(readFileSync(join(dir, "redis", "port"), "utf8"))
  expect(alive(bot)).toBe(true)
  child.kill("SIGKILL")
  await expect.poll(() => alive(bot), { timeout: 10_000 }).toBe(false)
  await expect.poll(() => answers(redis), { timeout: 10_000 }).toBe(false)
}, 60_000)

test("takes nothing from a sandbox that runs in the same folder", async () => {
  const dir = await scratchFolder("sandbox")
  const running = await started({ dir, bot: await program(CONNECTING) })
  const kept = join(dir, "redis", "appendonlydir")
  expect(existsSync(kept)).toBe(true)
  await expect(started({ dir })).rejects.toThrow(
    /redis is in use by a Redis server on port \d+: end the program that started it first/,
  )
  expect(existsSync(kept)).toBe(true)
  expect(await connected(running.url)).toBe(1)
})

test("begins with nothing of the sandbox before it", async () => {
  const dir = await scratchFolder("sandbox")
  const bot = await program(CONNECTING)
  const first = await started({ dir, bot })
  await first.stop()
  writeFileSync(join(dir, "redis", "left"), "")
  await started({ dir, bot })
  expect(existsSync(join(dir, "redis", "left"))).toBe(false)
})

test("a bot that refuses to start isn't started again: its faults are told, and nothing is left running", async () => {
  const log = join(await scratchFolder("sandbox"), "starts")
  const bot = await program(`
    import { appendFileSync } from "node:fs"
    appendFileSync(${JSON.stringify(log)}, "once ")
    process.stderr.write("2 faults:\\n  - this\\n  - that\\n")
    process.exitCode = 2`)
  const dir = await scratchFolder("sandbox")
  await expect(started({ dir, bot })).rejects.toThrow("The bot refused to start:\n2 faults:\n  - this\n  - that")
  expect(readFileSync(log, "utf8")).toBe("once ")
  expect(readFileSync(join(dir, "bot.log"), "utf8")).toContain("- that")
  expect(await answers(Number(readFileSync(join(dir, "redis", "port"), "utf8")))).toBe(false)
})

test("a bot that refuses after a crash is told, too, and left alone", async () => {
  const flag = join(await scratchFolder("sandbox"), "flag")
  const box = await started({
    bot: await program(`
      import { existsSync, writeFileSync } from "node:fs"
      if (existsSync(${JSON.stringify(flag)})) {
        process.stderr.write("no longer\\n")
        process.exit(2)
      }
      writeFileSync(${JSON.stringify(flag)}, "")
      ${CONNECTING}`),
  })
  process.kill(botOf(box), "SIGKILL")
  await expect
    .poll(() => box.said.at(-1), { timeout: 10_000 })
    .toBe("The bot does not start again; it says:\nno longer")
  expect(box.botPid()).toBeUndefined()
})

test("a bot that crashes at once is started again after growing pauses, until the deadline names its log", async () => {
  const said: string[] = []
  const bot = await program("throw new Error('broken')")
  const starting = started({ bot, connectWithin: 6000, say: (line) => said.push(line) })
  await expect(starting).rejects.toThrow(/^The bot is not connected after 6 s\. Its log: .*bot\.log$/)
  const pauses = said.flatMap((line) => /^The bot ended \(exit 1\); it starts again in (\d+) s/.exec(line)?.[1] ?? [])
  expect(pauses.slice(0, 2)).toEqual(["1", "2"])
})

test("the bot gets the sandbox's own tokens and Redis, whatever the environment says", async () => {
  const file = join(await scratchFolder("sandbox"), "env")
  const bot = await program(`
    import { writeFileSync } from "node:fs"
    writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env))
    ${CONNECTING}`)
  const ours = {
    SLACK_BOT_TOKEN: "xoxb-real",
    SLACK_SIGNING_SECRET: "real",
    REDIS_URL: "redis://prod",
    PORT: "1",
    COUNTERSIGN_CONFIG: "/real",
  }
  const box = await started({ bot, env: { ...process.env, ...ours, LOG_LEVEL: "debug" } })
  const env = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>
  expect(env).toMatchObject({ LOG_LEVEL: "debug", SLACK_API_URL: `${box.url}api/` })
  expect(env["SLACK_BOT_TOKEN"]).toMatch(/^xoxb-sandbox-/)
  expect(env["REDIS_URL"]).toMatch(/^redis:\/\/127\.0\.0\.1:\d+$/)
  expect(Object.keys(env)).not.toContain("PORT")
  expect(Object.keys(env)).not.toContain("SLACK_SIGNING_SECRET")
})

test("takes the next free port when the page's is taken, and says so", async () => {
  const other = createServer()
  await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening))
  onTestFinished(() => new Promise((closed) => other.close(() => closed())))
  const { port } = other.address() as AddressInfo
  const box = await started({ bot: await program(CONNECTING), port })
  const got = Number(new URL(box.url).port)
  expect(got).toBeGreaterThan(port)
  expect(box.said).toContain(`Port ${port} is taken, so the page is on ${got}.`)
})

/** Opens one Socket Mode line and holds it, as the bot does. */
const CONNECTING = `
  const { createRequire } = await import("node:module")
  const { WebSocket } = createRequire(${JSON.stringify(path("../../package.json"))})("ws")
  const answer = await fetch(process.env.SLACK_API_URL + "apps.connections.open", {
    method: "POST",
    headers: { authorization: "Bearer " + process.env.SLACK_APP_TOKEN },
  })
  new WebSocket((await answer.json()).url)
`

async function boxProcess(dir: string): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [path("../source.mjs"), path("start.process.ts"), dir, "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  const [line] = (await once(child.stdout, "data")) as [Buffer]
  return { child, line: line.toString() }
}

async function answers(port: number): Promise<boolean> {
  const { connect } = await import("node:net")
  return new Promise((answer) => {
    const socket = connect({ port, host: "127.0.0.1" })
    socket.once("connect", () => (socket.destroy(), answer(true)))
    socket.once("error", () => answer(false))
  })
}
