/**
 * Finds a program that this machine must have, or gets it through apt where that is welcome, or says what to do.
 * It knows nothing of what the program is for.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { accessSync, constants } from "node:fs"
import { createInterface } from "node:readline/promises"

export type Wanted = {
  /** Names to look for on the path, best first. */
  names: readonly string[]
  /** The Debian package that brings one of them. */
  debianPackage: string
  /** How to get it where apt can't be used: a whole sentence. */
  elsewhere: string
}

/** The first of the names that can be started, as a name the path resolves; undefined when there is none. */
export function findProgram(names: readonly string[]): string | undefined {
  return names.find((name) => {
    if (name.includes("/")) return isExecutable(name)
    return spawnSync("sh", ["-c", 'command -v -- "$1"', "sh", name], { stdio: "ignore" }).status === 0
  })
}

/**
 * Finds the program or installs its package: as root without a terminal unasked, at a terminal after a yes.
 * Otherwise `fault` tells the person exactly what to do. Messages go to stderr; apt's own output too.
 */
export async function needProgram(
  wanted: Wanted,
): Promise<{ ok: true; program: string } | { ok: false; fault: string }> {
  const found = findProgram(wanted.names)
  if (found !== undefined) return { ok: true, program: found }

  const missing = `${wanted.names.join(" or ")} is not installed on this machine.`
  if (findProgram(["apt-get"]) === undefined) return { ok: false, fault: `${missing} ${wanted.elsewhere}` }
  if (!(await mayInstall(`${missing} Install ${wanted.debianPackage} with apt-get now? [y/N] `))) {
    const byHand = `Run: sudo apt-get update && sudo apt-get install --yes ${wanted.debianPackage}`
    return { ok: false, fault: `${missing} ${byHand}` }
  }
  await install(wanted.debianPackage)
  const program = findProgram(wanted.names)
  if (program !== undefined) return { ok: true, program }
  return {
    ok: false,
    fault: `apt-get could not install ${wanted.debianPackage}; its own words are above. ${wanted.elsewhere}`,
  }
}

/** A machine with nobody at it is set up unasked when we are root; a person is asked before their machine changes. */
async function mayInstall(question: string): Promise<boolean> {
  const terminal = process.stdin.isTTY && process.stderr.isTTY
  if (!terminal) return isRoot()
  return (isRoot() || findProgram(["sudo"]) !== undefined) && (await agreed(question))
}

async function install(debianPackage: string): Promise<void> {
  process.stderr.write(`Installing ${debianPackage} with apt-get ...\n`)
  const prefix = isRoot() ? [] : ["sudo"]
  // Without `update` first, a fresh container has no package lists, or stale ones whose files are gone.
  await run([...prefix, "apt-get", "update", "-qq"])
  const quietly = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "--yes", "-qq"]
  await run([...prefix, ...quietly, "--no-install-recommends", debianPackage])
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function agreed(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-C and Ctrl-D at the question reject it; at the end of a piped input it would stay open for ever.
  const closed = once(lines, "close").then(() => "")
  const answer = lines.question(question).catch(() => "")
  try {
    return /^\s*y(es)?\s*$/i.test(await Promise.race([answer, closed]))
  } finally {
    lines.close()
  }
}

/** Runs a command to its end, with its output on stderr, so that stdout stays the caller's. */
function run(command: readonly string[]): Promise<void> {
  const [name = "false", ...args] = command
  return new Promise((done) => {
    const child = spawn(name, args, { stdio: ["inherit", process.stderr, process.stderr] })
    child.once("error", () => done())
    child.once("exit", () => done())
  })
}
