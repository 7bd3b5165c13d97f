// What `npm test` runs: gets what the tests need, builds, checks, tests; further arguments go to vitest.
// The last line is always "N passed, N failed"; the exit code is 0 only when the check is clean, tests ran and none failed.
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(fileURLToPath(import.meta.url), "..", "..")
const args = process.argv.slice(2)
process.exitCode = await main()

async function main() {
  if (!run(process.execPath, ["scripts/build.mjs"])) return end("The build failed, so no test ran.")

  const needs = await getNeeds()
  if (!needs.ok) return end(needs.fault, 2)

  const clean = run("npm", ["run", "--silent", "check"])
  const report = join(root, ".data", "test", "report.json")
  mkdirSync(join(report, ".."), { recursive: true })
  rmSync(report, { force: true })
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
  const green = run(join(root, "node_modules", ".bin", "vitest"), ["run", ...reporters, ...args], needs.env)
  return verdict(clean, green, count(report))
}

function verdict(clean, green, counts) {
  const words = []
  if (!clean) words.push("The check failed: its findings are above the tests; `npm run fix` mends what can be mended.")
  if (counts.passed + counts.failed === 0) words.push("No test ran.")
  else if (!green && counts.failed === 0) words.push("vitest failed outside of the tests: see above.")
  return end(words.join("\n"), words.length === 0 && counts.failed === 0 ? 0 : 1, counts)
}

function end(words, code = 1, { passed, failed, skipped } = { passed: 0, failed: 0, skipped: 0 }) {
  if (words !== "") console.log(`\n${words}`)
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`)
  return code
}

/** A file that could not even be loaded has no tests in the report; it counts as one that failed. */
function count(report) {
  let files
  try {
    files = JSON.parse(readFileSync(report, "utf8")).testResults
  } catch {
    files = []
  }
  const tests = files.flatMap((file) => file.assertionResults)
  const inState = (...states) => tests.filter((test) => states.includes(test.status)).length
  const unloadable = files.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length
  return {
    passed: inState("passed"),
    failed: inState("failed") + unloadable,
    skipped: inState("pending", "skipped", "todo", "disabled"),
  }
}

/** Whether the run may come to a test that drives a browser: one whose name the filters (arguments without a dash) allow. */
function wantsBrowser() {
  const filters = args.filter((arg) => !arg.startsWith("-"))
  const files = readdirSync(join(root, "test"), { recursive: true }).filter((name) => name.endsWith(".test.ts"))
  return files
    .map((name) => join("test", name))
    .filter((name) => filters.length === 0 || filters.some((filter) => name.includes(filter)))
    .some((name) => readFileSync(join(root, name), "utf8").includes("playwright-core"))
}

/** Redis always, Chromium when a browser test may run; `env` is what the tests get. The modules used are the build's. */
async function getNeeds() {
  const { needRedis } = await import("../dist/sandbox/redis.js")
  const { needProgram } = await import("../dist/sandbox/program.js")
  const redis = await needRedis()
  if (!redis.ok || !wantsBrowser()) return { ...redis, env: process.env }
  const named = process.env.CHROMIUM
  const chromium = await needProgram({
    names: named ? [named] : ["chromium", "chromium-browser", "google-chrome"],
    debianPackage: "chromium",
    elsewhere: "Install Chromium or Chrome and name its binary in the environment variable CHROMIUM.",
  })
  return chromium.ok ? { ok: true, env: { ...process.env, CHROMIUM: pathOf(chromium.program) } } : chromium
}

/** The driver looks nothing up on the path. */
function pathOf(program) {
  return spawnSync("sh", ["-c", 'command -v -- "$1"', "sh", program], { encoding: "utf8" }).stdout.trim()
}

function run(command, commandArgs, env = process.env) {
  const { status, error } = spawnSync(command, commandArgs, { cwd: root, env, stdio: "inherit" })
  if (error) console.error(`${command}: ${error.message}`)
  return status === 0
}
