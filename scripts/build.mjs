// Makes dist/ from src/: the compiled modules, the Lua scripts beside them, and the sandbox's page. All of it is built
// aside and takes the place of the old dist/ at the end: what runs from there keeps its files until then, and when the
// build fails.
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(fileURLToPath(import.meta.url), "..", "..")
const inRoot = (...names) => join(root, ...names)
// Two builds at once don't write into one another.
const aside = inRoot(".data", `build-${process.pid}`)
const fresh = join(aside, "new")
const old = join(aside, "old")

process.on("exit", () => rmSync(aside, { recursive: true, force: true }))
// Ctrl-C ends the tool that runs, and with it the build, in order.
process.on("SIGINT", () => process.exit(1))
mkdirSync(aside, { recursive: true })

run("tsc", "-p", ".", "--outDir", fresh)
// tsc leaves behind what is not TypeScript.
cpSync(inRoot("src"), fresh, {
  recursive: true,
  filter: (from) => !relative(inRoot("src"), from).startsWith(join("sandbox", "page")) && !/\.[cm]?tsx?$/.test(from),
})
if (existsSync(inRoot("src", "sandbox", "page", "vite.config.ts"))) {
  const out = join(fresh, "sandbox", "page")
  run("tsc", "-p", "src/sandbox/page")
  run("vite", "build", "--config", "src/sandbox/page/vite.config.ts", "--outDir", out, "--logLevel", "warn")
}
if (existsSync(inRoot("dist"))) renameSync(inRoot("dist"), old)
renameSync(fresh, inRoot("dist"))

function run(tool, ...args) {
  const { status, error } = spawnSync(inRoot("node_modules", ".bin", tool), args, { cwd: root, stdio: "inherit" })
  if (error) console.error(`${tool}: ${error.message}. Run npm ci first.`)
  if (status !== 0) process.exit(1)
}
