/**
 * The bot as a process of its own, so that it can be killed: started again after a crash or a kill, never after it refused
 * to start, and gone when this process is gone. It knows the bot by its exit code and its words alone.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, writeSync } from "node:fs"
import { watched } from "./watched.ts"

export interface BotOptions {
  /** The program that starts the bot, with its arguments. */
  command: readonly [string, ...string[]]
  env: NodeJS.ProcessEnv
  /** Takes what it writes, on stdout and stderr. */
  logFile: string
  /** Says one line to whoever started the sandbox. */
  say: (line: string) => void
}

export interface BotProcess {
  /** Of the process that runs now; undefined while there is none. */
  pid(): number | undefined
  /** Resolves when the bot ends because of faults that somebody must mend (exit code 2), with its words; it stays ended then. */
  readonly refused: Promise<string>
  /** Ends it in order, and by force when that takes too long. */
  stop(): Promise<void>
}

/** How long the bot may take to end in order, ms. */
const STOP_WITHIN = 15_000
/** ms before it is started again: the first time, and at most; one that ran for `SOUND` begins anew. */
const PAUSE = { first: 1000, most: 30_000 }
const SOUND = 20_000
/** The exit code of a program that its user must mend first. */
const REFUSED = 2
/** Characters of its last words that are kept. */
const LAST_WORDS = 4000

export function keepBot({ command: [program, ...args], env, logFile, say }: BotOptions): BotProcess {
  const log = openSync(logFile, "a")
  // Everything it would have to put in order (Redis, Slack) is gone when the sandbox is.
  const [shell, words] = watched(program, args, "kill -KILL $$")
  let refuse: (words: string) => void = () => undefined
  const refused = new Promise<string>((resolve) => (refuse = resolve))
  let child: ChildProcess | undefined
  let again: NodeJS.Timeout | undefined
  let stopping = false
  let pause = PAUSE.first

  const launch = (): ChildProcess => {
    // A group of its own: at a terminal Ctrl-C reaches us alone, and we end it in order.
    const started = spawn(shell, words, { stdio: ["pipe", log, "pipe"], detached: true, env })
    const since = performance.now()
    const lastWords = keptWords(started, log)
    child = started
    started.once("close", (code, signal) => {
      if (stopping) return
      child = undefined
      if (code === REFUSED) return refuse(lastWords())
      if (performance.now() - since > SOUND) pause = PAUSE.first
      say(`The bot ended (${signal ?? `exit ${code}`}); it starts again in ${pause / 1000} s. Its log: ${logFile}`)
      again = setTimeout(relaunch, pause)
      pause = Math.min(2 * pause, PAUSE.most)
    })
    return started
  }
  const relaunch = (): void => {
    const { pid } = launch()
    if (pid !== undefined) say(`The bot is back: process ${pid}.`)
  }
  launch()
  return {
    pid: () => child?.pid,
    refused,
    async stop() {
      if (stopping) return
      stopping = true
      clearTimeout(again)
      if (child) await endOf(child)
      closeSync(log)
    },
  }
}

/** What it says on stderr goes to the log, and the end of it is kept. */
function keptWords({ stdin, stderr }: ChildProcess, log: number): () => string {
  let words = ""
  // When it ends at once, its pipe is broken before we hear of it.
  stdin?.on("error", () => undefined)
  stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    writeSync(log, chunk)
    words = (words + chunk).slice(-LAST_WORDS)
  })
  return () => words.trim()
}

async function endOf(child: ChildProcess): Promise<void> {
  const ended = once(child, "close")
  child.kill("SIGTERM")
  const hard = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN)
  await ended
  clearTimeout(hard)
}
