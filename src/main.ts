#!/usr/bin/env node
/**
 * The command line: reads what was typed and the configuration, starts what was asked for, and ends it in order when it
 * is told to. Says every fault at once, on stderr, and ends with 2 when it is the user's to mend.
 */
import { join } from "node:path"
import { parseArgs } from "node:util"
import { startBot } from "./bot.ts"
import { readConfig } from "./config.ts"
import type { Config } from "./config.ts"
import { mask } from "./core/mask.ts"
import { createLog } from "./log.ts"
import { demoModel } from "./sandbox/demo/model.ts"
import { startSandbox } from "./sandbox/start.ts"
import { loadTools } from "./tools/modules.ts"
import type { Tool } from "./agent/tool.ts"

const USAGE = `Countersign parks agent runs until a person has agreed.

  countersign start           run the bot (environment and countersign.yaml)
  countersign check [--live]  look at configuration, Slack and Redis; every fault at once
  countersign sandbox         try it on this machine, without Slack, model key or Redis

`

/** ms that a stopping bot may spend on what is under way. */
const DRAIN = 10_000

interface Ready {
  config: Config
  secrets: string[]
  tools: Tool[]
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

function complain(faults: readonly string[]): void {
  const many = faults.length === 1 ? "1 fault" : `${faults.length} faults`
  process.stderr.write(`Countersign can't start: ${many}.\n${faults.map((fault) => `  - ${fault}\n`).join("")}`)
}

/** Configuration and tools; or undefined, when their faults have been told. */
async function ready(): Promise<Ready | undefined> {
  const read = readConfig(process.env)
  const loaded = read.ok ? await loadTools(read.config.tools) : undefined
  const faults = read.ok ? (loaded?.ok === false ? loaded.faults : []) : read.faults
  if (!read.ok || !loaded?.ok) {
    complain(faults)
    process.exitCode = 2
    return undefined
  }
  return { config: read.config, secrets: read.secrets, tools: loaded.tools }
}

/** Until somebody wants us to end. */
const told = (): Promise<string> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(signal))
  })

async function start(): Promise<void> {
  const all = await ready()
  if (!all) return
  const { config, secrets, tools } = all
  const log = createLog({ level: config.logLevel, secrets, mask: (text) => mask(text).text })
  process.on("unhandledRejection", (error) => log.error({ err: error }, "a rejection that nobody handled"))
  const ending = told()
  const bot = await startBot({ config, tools, log, demo: demoModel })
  log.info({ command: config.command, port: bot.port }, "started")
  log.info({ signal: await ending }, "stopping")
  await bot.stop(DRAIN)
}

async function sandbox(): Promise<void> {
  const ending = told()
  const [, script = ""] = process.argv
  const port = Number(process.env["COUNTERSIGN_SANDBOX_PORT"] ?? "3333")
  const box = await startSandbox({
    dir: join(process.cwd(), ".data", "sandbox"),
    port,
    bot: [process.execPath, script, "start"],
    say,
    env: process.env,
  })
  say(`Open ${box.url} and type: /agent restart the web tier`)
  await ending
  say("Stopping …")
  await box.stop()
}

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { help: { type: "boolean", short: "h" }, live: { type: "boolean" } },
  })
  const [command] = positionals
  if (values.help || command === undefined) say(USAGE)
  else if (command === "start") await start()
  else if (command === "sandbox") await sandbox()
  else {
    process.stderr.write(`There is no command "${command}".\n\n${USAGE}`)
    process.exitCode = 2
  }
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
