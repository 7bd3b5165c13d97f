/**
 * A private Redis server as a child process: on loopback, with its own data folder, gone when its parent goes.
 * It knows how to start and stop one, and nothing of what is kept in it.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { join, resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { needProgram } from "./program.ts"
import { watched } from "./watched.ts"

export type RedisServer = {
  url: string
  port: number
  /** The server's own process, for whoever wants to signal it. */
  pid: number
  dir: string
  /** Resolves when the server has ended, for whatever reason; `why` is what it said last. */
  ended: Promise<{ why: string }>
  /** Ends it in order (everything acknowledged is on disk then), within 20 s, and waits for that. A second call does no harm. */
  stop(): Promise<void>
}

export type RedisOptions = {
  /** The data folder, made when missing. One server at a time uses it. */
  dir: string
  /** A fixed port; by default a free one is taken. */
  port?: number
  /** Further settings, such as `["--maxmemory", "4mb"]`; later ones win over ours. */
  args?: readonly string[]
}

/** Redis, or Valkey, which speaks the same: found, installed, or explained. */
export function needRedis(): Promise<{ ok: true; program: string } | { ok: false; fault: string }> {
  return needProgram({
    names: ["redis-server", "valkey-server"],
    debianPackage: "redis-server",
    elsewhere:
      "Install Redis 6.2 or newer, or Valkey (macOS: brew install redis; Fedora: dnf install valkey; Alpine: apk add redis), so that redis-server or valkey-server is on the path.",
  })
}

/**
 * Starts a server and resolves once it has loaded its data and answers.
 *
 * @throws Error when the folder is in use by another server, or the server ends before it is ready (with its last words).
 */
export async function startRedis(program: string, options: RedisOptions): Promise<RedisServer> {
  const dir = resolve(options.dir)
  await mkdir(dir, { recursive: true })
  await refuseSecondServer(dir)
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort())
    const started = await launch(program, dir, port, options.args ?? [])
    if (started.ok) {
      await writeFile(join(dir, "port"), `${port}\n`)
      return started.server
    }
    // Between finding the free port and binding it, somebody else may have taken it.
    const taken = /address already in use/i.test(started.why)
    if (!taken || options.port !== undefined || attempt === 5) {
      throw new Error(`${program} did not start in ${dir}: ${started.why}`)
    }
  }
}

// CONT, because a stopped process would hear TERM only after it.
const END = "kill -TERM $$; kill -CONT $$"
/** How long a server is asked to end in order, ms; it is killed after that. */
const STOPPING = 20_000

async function launch(
  program: string,
  dir: string,
  port: number,
  args: readonly string[],
): Promise<{ ok: true; server: RedisServer } | { ok: false; why: string }> {
  const network = ["--bind", "127.0.0.1", "--port", String(port), "--daemonize", "no"]
  const keeping = ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"]
  const settings = [...network, ...keeping, "--maxmemory-policy", "noeviction"]
  // Its own process group: Ctrl-C at a terminal goes to us first, and we end the server after our own work is stored.
  // The folder is the working directory and not an argument, so that blanks and quotes in its name need no care.
  const [shell, words] = watched(program, [...settings, ...args], END)
  const child = spawn(shell, words, {
    cwd: dir,
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  })
  const log = lastLines(child)
  const ended = new Promise<{ why: string }>((done) => {
    child.once("error", (error) => done({ why: error.message }))
    child.once("close", (code, signal) => done({ why: log.words() || `it ended with ${signal ?? `code ${code}`}` }))
  })
  const first = await Promise.race([log.ready.then(() => undefined), ended])
  if (first !== undefined) return { ok: false, why: first.why }
  const { pid } = child
  if (pid === undefined) return { ok: false, why: "it has no process id" }

  async function stop(): Promise<void> {
    for (const until = performance.now() + STOPPING; child.exitCode === null && child.signalCode === null;) {
      // While it writes its first append-only file it takes no SIGTERM, and forgets that there was one.
      child.kill(performance.now() < until ? "SIGTERM" : "SIGKILL")
      child.kill("SIGCONT")
      await Promise.race([ended, delay(500, undefined, { ref: false })])
    }
    await ended
  }
  return { ok: true, server: { url: `redis://127.0.0.1:${port}`, port, pid, dir, ended, stop } }
}

/** Keeps reading, or a full pipe would stop the server; remembers the last few lines for an error message. */
function lastLines(child: ChildProcess): { ready: Promise<void>; words(): string } {
  const lines: string[] = []
  let tail = ""
  const ready = new Promise<void>((isReady) => {
    function read(chunk: string): void {
      const parts = (tail + chunk).split("\n")
      tail = parts.pop() ?? ""
      for (const line of parts) {
        if (line.trim() !== "") lines.push(line.trim())
        if (lines.length > 5) lines.shift()
        if (/ready to accept connections/i.test(line)) isReady()
      }
    }
    child.stdout?.setEncoding("utf8").on("data", read)
    child.stderr?.setEncoding("utf8").on("data", read)
  })
  // When the child could not be started, or ends first, writing to nobody must not throw.
  child.stdin?.on("error", () => undefined)
  return { ready, words: () => lines.join(" / ") }
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer()
    probe.once("error", failed)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => {
        if (typeof address === "object" && address !== null) found(address.port)
        else failed(new Error("no free port on 127.0.0.1"))
      })
    })
  })
}

/**
 * Two servers that append to one file would ruin it. A predecessor that is just ending is waited for.
 *
 * @throws Error when a server of ours uses the folder and stays.
 */
export async function refuseSecondServer(dir: string): Promise<void> {
  const port = Number(await readFile(join(dir, "port"), "utf8").catch(() => ""))
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return
  const until = Date.now() + 3_000
  while (await servesFolder(port, dir)) {
    if (Date.now() > until) {
      throw new Error(`${dir} is in use by a Redis server on port ${port}: end the program that started it first`)
    }
    await new Promise((next) => setTimeout(next, 50))
  }
}

function servesFolder(port: number, dir: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect({ port, host: "127.0.0.1" })
    let reply = ""
    const finish = (yes: boolean) => {
      socket.destroy()
      answer(yes)
    }
    socket.setEncoding("utf8").setTimeout(1_000, () => finish(false))
    socket.once("connect", () => socket.write("CONFIG GET dir\r\n"))
    socket.once("error", () => finish(false))
    socket.once("close", () => finish(false))
    socket.on("data", (chunk: string) => {
      reply += chunk
      const [, , , , value] = reply.split("\r\n")
      if (value !== undefined) finish(value === dir)
      else if (!reply.startsWith("*")) finish(false)
    })
  })
}
