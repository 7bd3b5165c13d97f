/**
 * A process with bots in it, each the whole bot that the program starts, with its own environment. Whoever started it says
 * by message which bots there are to be; it ends by being killed.
 */
import { createWriteStream } from "node:fs"
import { startBot } from "../../src/bot.ts"
import { readConfig } from "../../src/config.ts"
import { mask } from "../../src/core/mask.ts"
import { createLog } from "../../src/log.ts"
import { loadTools } from "../../src/tools/modules.ts"

export interface Order {
  id: number
  env: Record<string, string>
  /** Where its log goes. */
  log: string
  /** ms from one comparison of a run with Slack to the next. */
  lookEvery?: number
  /** How long after it was sent Slack may carry out a call that was not answered, ms. */
  lateFor?: number
}

export type Report = { id: number; fault?: string }

async function start({ env, log: file, lookEvery, lateFor }: Order): Promise<void> {
  const reading = readConfig(env)
  if (!reading.ok) throw new Error(reading.faults.join("\n"))
  const tools = await loadTools(reading.config.tools, reading.config.httpTools)
  if (!tools.ok) throw new Error(tools.faults.join("\n"))
  const out = createWriteStream(file, { flags: "a" })
  const log = createLog({ level: "info", secrets: reading.secrets, mask: (text) => mask(text).text, out })
  const demo = () => {
    throw new Error("no demo here")
  }
  const looks = { ...(lookEvery === undefined ? {} : { lookEvery }), ...(lateFor === undefined ? {} : { lateFor }) }
  await startBot({ config: reading.config, tools: tools.tools, secrets: [], log, demo, ...looks })
}

// Answers to people go to addresses that any bot may be told: there they say whose they are.
const { fetch: plain } = globalThis
globalThis.fetch = (to, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set("x-process", String(process.pid))
  return plain(to, { ...init, headers })
}

process.on("message", (order: Order) => {
  const report = (said: Report): void => void process.send?.(said)
  start(order).then(
    () => report({ id: order.id }),
    (error: unknown) => report({ id: order.id, fault: String(error) }),
  )
})
// Nobody is left to say anything.
process.on("disconnect", () => process.exit())
process.on("unhandledRejection", () => undefined)
