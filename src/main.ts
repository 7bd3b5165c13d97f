#!/usr/bin/env node
/**
 * The command line: reads what was typed and the configuration, starts what was asked for, and ends it in order when it
 * is told to. Says every fault at once, on stderr, and ends with 2 when it is the user's to mend, with 1 when it may pass
 * by itself. Each command loads what it needs: whoever asks for help doesn't wait for Bolt.
 */
import { readFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Report } from "./check.ts"

const USAGE = `Countersign parks agent runs until a person has agreed.

  countersign start             run the bot (environment and countersign.yaml)
  countersign check [--live]    look at configuration, tools, Slack and Redis: every fault at once, with its remedy;
                                --live: have Slack validate one message of every kind
  countersign tools [--agent NAME] [--tool NAME [--args JSON] [--user U…]]
                                list every tool: where it comes from, what it takes, which rule its calls fall under
  countersign policy test --tool NAME [--args JSON] [--user U…] [--agent NAME]
                                say which rule a call falls under and why, who decides, and what that person may do
  countersign audit verify [--run ID] [--count N --root HEX [--shard N]]
                                look whether the facts in Redis are unbroken chains, and whether the latest checkpoint
                                in the audit channel is the one that Redis holds
  countersign audit export [--run ID] [--since 24h | 2026-01-31]
                                print the facts in Redis as JSON lines, secrets masked
  countersign pause | resume    nothing starts and no call begins, on all processes, until it is resumed
  countersign sandbox [--port N]
                                try it on this machine, without Slack, model key or Redis (N: the page's port, 3333)
  countersign --help, --version

Ends with 0; with 2 when something is to be mended first; with 1 when Redis or Slack doesn't answer just now, or on an error.
`

/** What each command takes. */
const COMMANDS: Record<string, Command | { next: Record<string, Command> }> = {
  start: { run: start, takes: [] },
  check: { run: checkAll, takes: ["live"] },
  tools: { run: toolsList, takes: ["tool", "args", "user", "agent"] },
  policy: { next: { test: { run: policyTest, takes: ["tool", "args", "user", "agent"] } } },
  audit: {
    next: {
      verify: { run: auditVerify, takes: ["run", "count", "root", "shard"] },
      export: { run: auditExport, takes: ["run", "since"] },
    },
  },
  pause: { run: () => pauseAll(true), takes: [] },
  resume: { run: () => pauseAll(false), takes: [] },
  sandbox: { run: sandbox, takes: ["port"] },
}

interface Command {
  run: (given: Given) => Promise<void>
  takes: readonly (keyof Given)[]
}

interface Given {
  live?: boolean
  port?: string
  tool?: string
  args?: string
  user?: string
  agent?: string
  run?: string
  since?: string
  count?: string
  root?: string
  shard?: string
}

/** ms that a stopping bot may spend on what is under way. */
const DRAIN = 10_000
const PAGE_PORT = "3333"

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const complain = (text: string): void => void process.stderr.write(`${text}\n`)

/** Something typed that can't be meant; it ends with 2. */
const misused = (words: string): void => deny(`${words}\n\n${USAGE}`)

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`
const listed = (words: readonly string[]): string => words.map((one) => `\n  - ${one}`).join("")

/** Until somebody wants us to end. A second signal ends us at once. */
const told = (): Promise<string> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(signal))
  })

async function start(): Promise<void> {
  const [{ readConfig }, { check, checkAgain }] = await Promise.all([import("./config.ts"), import("./check.ts")])
  const reading = readConfig(process.env)
  const { tools, ...report } = await check(reading)
  if (!reading.ok || report.faults.length + report.outages.length > 0) return refuse(report)
  const { config, secrets } = reading
  const [{ startBot }, { mask }, { createLog }, { demoModel }] = await Promise.all([
    import("./bot.ts"),
    import("./core/mask.ts"),
    import("./log.ts"),
    import("./sandbox/demo/model.ts"),
  ])
  const log = createLog({ level: config.logLevel, secrets, mask: (text) => mask(text).text })
  for (const words of report.warnings) log.warn(words)
  process.on("unhandledRejection", (error) => log.error({ err: error }, "a rejection that nobody handled"))
  const ending = told()
  const bot = await startBot({ config, tools, secrets, log, demo: demoModel }).catch(async (error: unknown) =>
    refuse(await checkAgain(reading, error)),
  )
  if (!bot) return
  log.info({ command: config.command, port: bot.port }, "started")
  log.info({ signal: await ending }, "stopping")
  await bot.stop(DRAIN)
}

/** Ends with what keeps the bot from starting. */
function refuse({ faults, outages, warnings }: Report): void {
  const cannot = faults.length > 0 ? `can't start: ${counted(faults.length, "fault")}` : "can't start just now"
  complain(`Countersign ${cannot}.${listed(faults.length > 0 ? faults : outages)}`)
  if (faults.length === 0) complain("Start it again when that is over.")
  else if (outages.length > 0) complain(`And ${counted(outages.length, "outage")}:${listed(outages)}`)
  if (warnings.length > 0) complain(`And ${counted(warnings.length, "warning")}:${listed(warnings)}`)
  process.exitCode = codeOf({ faults })
}

const codeOf = ({ faults }: Pick<Report, "faults">): number => (faults.length > 0 ? 2 : 1)

async function checkAll({ live = false }: Given): Promise<void> {
  const [{ readConfig }, { check }] = await Promise.all([import("./config.ts"), import("./check.ts")])
  const report = await check(readConfig(process.env), { live, servers: true })
  say(wordsOf(report))
  if (report.faults.length + report.outages.length > 0) process.exitCode = codeOf(report)
}

function wordsOf({ faults, outages, warnings }: Report): string {
  const parts: string[] = []
  if (faults.length > 0)
    parts.push(`${counted(faults.length, "fault")}: with these the bot does not start.${listed(faults)}`)
  if (outages.length > 0)
    parts.push(`${counted(outages.length, "outage")}: the bot does not start until that is over.${listed(outages)}`)
  if (warnings.length > 0) parts.push(`${counted(warnings.length, "warning")}:${listed(warnings)}`)
  return parts.length === 0 ? "No faults, no warnings." : parts.join("\n\n")
}

async function policyTest({ tool, args = "{}", user, agent }: Given): Promise<void> {
  if (tool === undefined) return misused("policy test needs --tool, the name of a tool.")
  const [{ readConfig }, { testPolicy }] = await Promise.all([import("./config.ts"), import("./check/policy-test.ts")])
  const told = await testPolicy(readConfig(process.env), { tool, args, user, agent })
  if (told.ok) return say(told.lines.join("\n"))
  deny(`That can't be told: ${counted(told.faults.length, "fault")}.${listed(told.faults)}`)
}

async function toolsList({ tool, args, user, agent }: Given): Promise<void> {
  if (tool === undefined && (args ?? user) !== undefined) return misused("tools needs --tool, the name of a tool.")
  const [{ readConfig }, { listTools }] = await Promise.all([import("./config.ts"), import("./check/tools.ts")])
  const { lines, faults } = await listTools(readConfig(process.env), { tool, args, user, agent })
  if (lines.length > 0) say(lines.join("\n"))
  if (faults.length > 0) deny(`Not all can be told: ${counted(faults.length, "fault")}.${listed(faults)}`)
}

async function auditVerify(given: Given): Promise<void> {
  const [{ readConfig }, { auditVerify }] = await Promise.all([import("./config.ts"), import("./check/audit.ts")])
  const { lines, faults } = await auditVerify(readConfig(process.env), given)
  if (lines.length > 0) say(lines.join("\n"))
  if (faults.length > 0) deny(`Not verified: ${counted(faults.length, "fault")}.${listed(faults)}`)
}

async function auditExport(given: Given): Promise<void> {
  const [{ readConfig }, { auditExport }] = await Promise.all([import("./config.ts"), import("./check/audit.ts")])
  const faults = await auditExport(readConfig(process.env), given, (one) => say(JSON.stringify(one)))
  if (faults.length > 0) deny(`Not exported: ${counted(faults.length, "fault")}.${listed(faults)}`)
}

/** Ends with 2: something is to be mended first. */
function deny(words: string): void {
  complain(words)
  process.exitCode = 2
}

async function pauseAll(pausing: boolean): Promise<void> {
  const [{ readConfig }, { withStore }] = await Promise.all([import("./config.ts"), import("./check/opened.ts")])
  const reading = readConfig(process.env)
  if (!reading.ok) {
    return deny(`That can't be done: ${counted(reading.faults.length, "fault")}.${listed(reading.faults)}`)
  }
  const by = `the command line (${userInfo().username})`
  const { done } = await withStore(reading.config.redis, async (store) =>
    store.pause.turn(pausing ? { by, at: await store.now() } : undefined),
  )
  if (!done) return say(pausing ? "It is paused already." : "It is not paused.")
  say(pausing ? "Paused: nothing new starts and no call begins. What was running goes on." : "Resumed.")
}

async function sandbox({ port = process.env["COUNTERSIGN_SANDBOX_PORT"] ?? PAGE_PORT }: Given): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) return misused(`"${port}" is no port: put 0 (any) to 65535.`)
  const [{ startSandbox }, { EXAMPLES, TO_AGENTS }] = await Promise.all([
    import("./sandbox/start.ts"),
    import("./sandbox/demo/examples.ts"),
  ])
  const ending = told()
  const [, script = ""] = process.argv
  say("Starting Redis, a local Slack and the bot …")
  const box = await startSandbox({
    dir: join(process.cwd(), ".data", "sandbox"),
    port: Number(port),
    bot: [process.execPath, ...process.execArgv, script, "start"],
    say,
    env: process.env,
  })
  const tries = [...EXAMPLES, ...TO_AGENTS.slice(0, 1)].map((example) => `    /agent ${example}`).join("\n")
  say(`Open ${box.url}\n\n  Type one of these as Robin, in #ops, and approve or decline as Ada or Grace:\n${tries}`)
  say(
    `\n  The bot is process ${box.botPid() ?? 0}: kill -9 it while a card waits, and nothing is lost. Ctrl-C ends all.`,
  )
  await ending
  say("Stopping …")
  await box.stop()
}

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h" },
      version: { type: "boolean" },
      live: { type: "boolean" },
      port: { type: "string" },
      tool: { type: "string" },
      args: { type: "string" },
      user: { type: "string" },
      agent: { type: "string" },
      run: { type: "string" },
      since: { type: "string" },
      count: { type: "string" },
      root: { type: "string" },
      shard: { type: "string" },
    },
  })
  const { help, version, ...given } = values
  const [name, ...words] = positionals
  if (help) return say(USAGE)
  if (version) return say(ownVersion())
  const command = Object.entries(COMMANDS).find(([known]) => known === name)?.[1]
  if (command === undefined) return misused(name === undefined ? "What shall it do?" : `There is no command "${name}".`)
  if (!("next" in command)) return obey(name ?? "", command, given, words)
  const next = Object.entries(command.next).find(([known]) => known === words[0])?.[1]
  if (next !== undefined) return obey(`${name} ${words[0]}`, next, given, words.slice(1))
  const known = Object.keys(command.next)
  const both = known.map((word) => `"${word}"`).join(" or ")
  misused(`${name} goes on with ${both}: ${name} ${known[0]}.`)
}

async function obey(name: string, command: Command, given: Given, more: readonly string[]): Promise<void> {
  const foreign = Object.keys(given).find((option) => !command.takes.some((taken) => taken === option))
  if (foreign !== undefined) return misused(`${name} takes no --${foreign}.`)
  if (more.length > 0) return misused(`${name} takes no "${more.join(" ")}".`)
  await command.run(given)
}

function ownVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8")
  return (JSON.parse(text) as { version: string }).version
}

try {
  await main()
  // Whatever a tool module holds open (a pool, a timer) must not keep a program that is through.
  process.exit()
} catch (error) {
  const words = error instanceof Error ? error.message : String(error)
  if (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")) {
    // What follows the first sentence is for programmers.
    misused(`${words.split(". ")[0] ?? words}.`)
  } else {
    complain(words)
    process.exit(1)
  }
}
