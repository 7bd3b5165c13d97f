// npm run bench [-- group …]: installs what we are measured beside into bench/node_modules on first use, and measures on a
// Redis of its own. Needs dist/ (npm run build).
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

if (!existsSync(path("bench/node_modules"))) {
  console.error("Installing what we are measured beside: npm ci --prefix bench (some minutes where SQLite is compiled)")
  run("npm", ["ci", "--prefix", path("bench"), "--no-fund", "--no-audit"])
}
const redis = path("scripts/with-redis.mjs")
process.exit(run(process.execPath, [redis, process.execPath, path("bench/run.mjs"), ...process.argv.slice(2)]))

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: "inherit" })
  if (error) throw error
  if (command === "npm" && status !== 0) process.exit(status ?? 1)
  return status ?? 1
}
