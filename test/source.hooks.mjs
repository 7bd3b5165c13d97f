// Node's loader asks this for every module; TypeScript comes back without its types.
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { transformWithOxc } from "vite"

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context)
  const path = fileURLToPath(url)
  const { code } = await transformWithOxc(await readFile(path, "utf8"), path, { sourcemap: false })
  return { format: "module", source: code, shortCircuit: true }
}
