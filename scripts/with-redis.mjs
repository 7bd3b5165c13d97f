// Runs a command with REDIS_URL naming a private Redis that lives as long as the command: with-redis.mjs <command> [args]
// Needs dist/ (npm run build): the sandbox's own way to find and start Redis is used.
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { needRedis, startRedis } from "../dist/sandbox/redis.js"

const [command, ...args] = process.argv.slice(2)
if (command === undefined) fail("Usage: node scripts/with-redis.mjs <command> [args]")

const redis = await needRedis()
if (!redis.ok) fail(redis.fault)

const data = join(fileURLToPath(import.meta.url), "..", "..", ".data")
mkdirSync(data, { recursive: true })
const dir = mkdtempSync(join(data, "redis-"))
const server = await startRedis(redis.program, { dir })

const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, REDIS_URL: server.url } })
// Ctrl-C reaches the command itself; we stay until it has ended, and Redis stays until then too.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => signal !== "SIGINT" && child.kill(signal))
}
const code = await new Promise((ended) => {
  child.once("error", (error) => {
    console.error(`${command}: ${error.message}`)
    ended(127)
  })
  child.once("exit", (status, signal) => ended(status ?? (signal === "SIGINT" ? 130 : 143)))
})
await server.stop()
rmSync(dir, { recursive: true, force: true })
process.exit(code)

function fail(words) {
  console.error(words)
  process.exit(2)
}
