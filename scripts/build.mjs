// Makes dist/ from src/: the compiled modules, the Lua scripts beside them, and the sandbox's page.
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(fileURLToPath(import.meta.url), "..", "..")
const inRoot = (...names) => join(root, ...names)

rmSync(inRoot("dist"), { recursive: true, force: true })
run("tsc", "-p", ".")
// tsc leaves behind what is not TypeScript.
cpSync(inRoot("src"), inRoot("dist"), {
  recursive: true,
  filter: (from) => !relative(inRoot("src"), from).startsWith(join("sandbox", "page")) && !/\.[cm]?tsx?$/.test(from),
})
if (existsSync(inRoot("src", "sandbox", "page", "vite.config.ts"))) {
  run("tsc", "-p", "src/sandbox/page")
  run("vite", "build", "--config", "src/sandbox/page/vite.config.ts", "--logLevel", "warn")
}

function run(tool, ...args) {
  const { status, error } = spawnSync(inRoot("node_modules", ".bin", tool), args, { cwd: root, stdio: "inherit" })
  if (error) console.error(`${tool}: ${error.message}. Run npm ci first.`)
  if (status !== 0) process.exit(1)
}
