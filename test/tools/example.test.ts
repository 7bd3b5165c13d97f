import { execFile } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { checkArgs, runTool } from "../../src/agent/tool.ts"
import { pendingOf } from "../../src/core/suspension.ts"
import { loadTools } from "../../src/tools/modules.ts"
import { scratchFolder } from "../redis.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const tsc = join(root, "node_modules", ".bin", "tsc")
const run = promisify(execFile)

/** The code of README that begins so. */
function exampleOf(language: string, begins: string): string {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  const blocks = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
  const found = blocks.find(([, lang, code = ""]) => lang === language && code.startsWith(begins))
  return found?.[2] ?? ""
}

test("the project in the README is built and loaded as it stands there", { timeout: 120_000 }, async () => {
  const folder = await scratchFolder("shop")
  const library = join(folder, "node_modules", "countersign")
  mkdirSync(join(folder, "src"))
  mkdirSync(library, { recursive: true })
  cpSync(join(root, "package.json"), join(library, "package.json"))
  await run(tsc, ["-p", root, "--outDir", join(library, "dist")])
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  writeFileSync(join(folder, "tsconfig.json"), exampleOf("json", '{\n  "compilerOptions"'))
  writeFileSync(join(folder, "src", "shop.ts"), exampleOf("ts", "// src/shop.ts"))
  await run(tsc, ["-p", folder]).catch(({ stdout }: { stdout: string }) => expect(stdout).toBe(""))

  const loaded = await loadTools([join(folder, "dist", "shop.js")])
  expect(loaded).toMatchObject({ ok: true, names: ["refund_order", "get_order"] })
  const [refund, lookUp] = loaded.tools
  if (!refund || !lookUp) throw new Error("no tools")
  expect(refund).toMatchObject({ effects: "once", destructive: true })
  expect(refund.summary?.({ id: "7", cents: 1250 })).toBe("Refund 12.50 of order 7")
  expect(checkArgs(refund, { id: "7", cents: 1250 })).toBeUndefined()
  expect(checkArgs(refund, { id: "seven", cents: 0 })).toMatch(/id must match pattern/)
  const ctx = { callId: "r1.1.1", requester: { team: "T", user: "U1" } }
  const result = await runTool(refund, '{"cents":1250,"id":"7"}', ctx)
  expect(JSON.parse(result.output)).toEqual({ id: "7", cents: 1250, reason: "none given", for: "U1", key: "r1.1.1" })
  const large = '{"cents":500000,"id":"7"}'
  const request = pendingOf(await runTool(refund, large, ctx))
  expect(request?.prompt).toBe("Really refund 500000 cents of order 7?")
  const answered = { ...ctx, ...(request ? { request, answer: { id: request.id, ok: true } } : {}) }
  expect(await runTool(refund, large, answered)).toMatchObject({ isError: false })
  expect(await runTool(lookUp, '{"id":"7"}')).toEqual({ output: "order 7: two lamps", isError: false })
})
