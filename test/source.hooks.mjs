// Node's loader asks this for every module; TypeScript comes back without its types. What was stripped once is kept, since
// a process that needs not load the compiler starts in half the time.
import { createHash } from "node:crypto"
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

const kept = new URL("../.data/stripped/", import.meta.url)

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context)
  const path = fileURLToPath(url)
  const text = await readFile(path, "utf8")
  const file = new URL(`${createHash("sha256").update(text).digest("hex")}.mjs`, kept)
  const source = await readFile(file, "utf8").catch(() => strip(path, text, file))
  return { format: "module", source, shortCircuit: true }
}

async function strip(path, text, file) {
  const { transformWithOxc } = await import("vite")
  const { code } = await transformWithOxc(text, path, { sourcemap: false })
  await mkdir(kept, { recursive: true })
  // Several processes may do this at once: nobody must read half a file.
  const own = new URL(`${file.href}.${process.pid}`)
  await writeFile(own, code)
  await rename(own, file)
  return code
}
