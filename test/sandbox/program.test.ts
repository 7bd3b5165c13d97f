import { spawn } from "node:child_process"
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { findProgram, needProgram } from "../../src/sandbox/program.ts"
import { scratchFolder } from "../redis.ts"

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** A path on which there is a shell, and an apt-get that writes down what it is asked and may do it. */
async function machine(apt: "installs" | "fails" | "none") {
  const bin = join(await scratchFolder("machine"), "bin")
  await mkdir(bin)
  for (const name of ["sh", "env", "chmod"]) await symlink(`/usr/bin/${name}`, join(bin, name))
  const log = join(bin, "asked")
  await writeFile(log, "")
  const installing = `case "$1" in install) echo '#!/bin/sh' >"${bin}/wanted"; chmod +x "${bin}/wanted";; esac`
  const body = `#!/bin/sh\necho "$@" >>"${log}"\necho noise\n${apt === "installs" ? installing : "exit 100"}\n`
  if (apt !== "none") await writeFile(join(bin, "apt-get"), body, { mode: 0o755 })
  return { bin, asked: async () => (await readFile(log, "utf8")).trim().split("\n") }
}

async function ask(bin: string, uid = 0) {
  const child = spawn(
    process.execPath,
    [script("../source.mjs"), script("program.process.ts"), "wanted", String(uid)],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: bin },
    },
  )
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (!out.startsWith("{")) throw new Error(err)
  return { result: JSON.parse(out) as unknown, err }
}

test("a program is found by the best name that is there", async () => {
  expect(findProgram(["never-there", "sh", "env"])).toBe("sh")
  expect(findProgram(["never-there"])).toBeUndefined()
  expect(findProgram(["sh; true"])).toBeUndefined()
  expect(findProgram(["/never/there", process.execPath])).toBe(process.execPath)
  expect(findProgram([script("program.test.ts")])).toBeUndefined()
  const wanted = { names: ["never-there", "sh"], debianPackage: "none", elsewhere: "" }
  expect(await needProgram(wanted)).toEqual({ ok: true, program: "sh" })
})

test("root without a terminal gets it through apt, lists first, and stdout stays clean", async () => {
  const { bin, asked } = await machine("installs")
  const { result, err } = await ask(bin)
  expect(result).toEqual({ ok: true, program: "wanted" })
  expect(await asked()).toEqual(["update -qq", "install --yes -qq --no-install-recommends a-package"])
  expect(err).toContain("Installing a-package with apt-get ...")
  expect(err).toContain("noise")
})

test("when apt fails, the person is told where to look and what else to do", async () => {
  const { bin } = await machine("fails")
  expect((await ask(bin)).result).toEqual({
    ok: false,
    fault: "apt-get could not install a-package; its own words are above. Build it yourself.",
  })
})

test("where there is no apt-get, the person is told what to do", async () => {
  const { bin } = await machine("none")
  expect((await ask(bin)).result).toEqual({
    ok: false,
    fault: "never-there or wanted is not installed on this machine. Build it yourself.",
  })
})

test("who is not root, and has no terminal, is told what to run; nothing is installed", async () => {
  const { bin, asked } = await machine("installs")
  const { result } = await ask(bin, 1_000)
  expect(result).toEqual({
    ok: false,
    fault:
      "never-there or wanted is not installed on this machine. Run: sudo apt-get update && sudo apt-get install --yes a-package",
  })
  expect(await asked()).toEqual([""])
})
