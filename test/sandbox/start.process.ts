/** A sandbox of the real bot, in the folder and on the port that are given, for a test to kill. Prints one JSON line when it stands. */
import { fileURLToPath } from "node:url"
import { startSandbox } from "../../src/sandbox/start.ts"

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const [, , dir = "", port = "0"] = process.argv
const box = await startSandbox({
  dir,
  port: Number(port),
  bot: [process.execPath, path("../source.mjs"), path("../../src/main.ts"), "start"],
  say: (line) => void process.stderr.write(`${line}\n`),
  env: process.env,
})
process.once("SIGTERM", () => void box.stop().then(() => process.exit(0)))
process.stdout.write(`${JSON.stringify({ url: box.url, bot: box.botPid() })}\n`)
