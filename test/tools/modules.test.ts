import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { loadTools } from "../../src/tools/modules.ts"
import { scratchFolder } from "../redis.ts"

const folder = await scratchFolder("two words")

let files = 0
async function file(code: string, end = "mjs"): Promise<string> {
  const path = join(folder, `${++files}.${end}`)
  await writeFile(path, code)
  return path
}

const good = (name: string) => `{ name: "${name}", description: "does it", run: () => "${name} ran" }`

test("tools come in the order of the files, whose paths may have blanks", async () => {
  const first = await file(`export default [${good("b")}, ${good("a")}]`)
  const second = await file(`module.exports = [${good("c-1_X")}]`, "cjs")
  const loaded = await loadTools([first, second])
  expect(loaded.ok && loaded.tools.map((tool) => tool.name)).toEqual(["b", "a", "c-1_X"])
})

test("a tool may be an object of a class, with what it needs on itself", async () => {
  const path = await file(`
    class Deploy { name = "deploy"; description = "d"; effects = "once"; inputSchema = { type: "object" }
      #target = "web"; run() { return this.#target } }
    export default [new Deploy()]`)
  const loaded = await loadTools([path])
  expect(loaded.ok && (await loaded.tools[0]?.run({}, {}))).toBe("web")
})

test("no files are no tools", async () => {
  expect(await loadTools([])).toEqual({ ok: true, tools: [] })
})

test.each<[string, string, string]>([
  ["no default export", "export const tools = []", " has no default export: write export default [ … ]."],
  [
    "one tool instead of a list",
    `export default ${good("a")}`,
    " must export an array of tools as its default: export default [ … ].",
  ],
  ["a syntax error", "export default [", " could not be loaded: SyntaxError: Unexpected end of input."],
  ["an error of its own", 'throw new Error("no database.")', " could not be loaded: Error: no database."],
  ["a thrown string", 'throw "no"', " could not be loaded: no."],
  [
    "an item that is no tool",
    "export default [null]",
    ": item 0 of its default export must be a tool: { name, description, run }.",
  ],
  [
    "a tool with nothing",
    "export default [{}]",
    ": tool 0 (from 0) must have a name of 1 to 64 letters, digits, _ or -, and must have a description: the model chooses by it, and must have a function run(args, ctx).",
  ],
  [
    "a name with a blank",
    'export default [{ name: "a b", description: "d", run() {} }]',
    ": tool a b must have a name of 1 to 64 letters, digits, _ or -.",
  ],
  [
    "a name that is too long",
    `export default [{ name: "${"a".repeat(65)}", description: "d", run() {} }]`,
    `: tool ${"a".repeat(65)} must have a name of 1 to 64 letters, digits, _ or -.`,
  ],
  [
    "effects that do not exist",
    'export default [{ name: "a", description: "d", effects: "some", run() {} }]',
    ": tool a must have effects none, repeatable or once (left out: once).",
  ],
  [
    "a schema that is none",
    'export default [{ name: "a", description: "d", inputSchema: { env: "string" }, run() {} }]',
    ': tool a must have a JSON Schema of type "object" as inputSchema, or none.',
  ],
  [
    "a validator instead of a schema",
    'export default [{ name: "a", description: "d", inputSchema: { type: "object", safeParse() {} }, run() {} }]',
    ': tool a must have a JSON Schema of type "object" as inputSchema, or none.',
  ],
  [
    "a name twice",
    `export default [${good("a")}, ${good("a")}]`,
    ": tool a is there twice, first in FILE: rename one.",
  ],
])("%s is told with the file", async (_, code, words) => {
  const path = await file(code)
  expect(await loadTools([path])).toEqual({ ok: false, faults: [path + words.replace("FILE", path)] })
})

test("a file that isn't there, one that never finishes and one with a double name are told together", async () => {
  const gone = join(folder, "gone.mjs")
  const never = await file("await new Promise(() => {}); export default []")
  const first = await file(`export default [${good("a")}]`)
  const again = await file(`export default [${good("a")}, ${good("fine")}]`)
  expect(await loadTools([gone, never, first, again], 50)).toEqual({
    ok: false,
    faults: [
      `${gone} does not exist: correct its path in tools.`,
      `${never} was not loaded after 0.05 s: it awaits something that does not come.`,
      `${again}: tool a is there twice, first in ${first}: rename one.`,
    ],
  })
})
