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
  expect(loaded.ok && (await loaded.tools[0]?.execute({}))).toEqual({ output: "web", isError: false })
})

test("no files are no tools", async () => {
  expect(await loadTools([])).toEqual({ ok: true, tools: [], names: [], from: new Map() })
})

test.each<[string, string, string | (string | RegExp)[]]>([
  ["no default export", "export const tools = []", " has no default export: write export default [ … ]."],
  [
    "one tool instead of a list",
    `export default ${good("a")}`,
    " must export an array of tools as its default: export default [ … ].",
  ],
  ["a syntax error", "export default [", " could not be loaded: SyntaxError: Unexpected end of input."],
  ["an error of its own", 'throw new Error("no database.")', " could not be loaded: Error: no database."],
  ["a thrown string", 'throw "no"', " could not be loaded: no."],
  ["an item that is no tool", "export default [null]", ": item 0: a tool is an object, not null."],
  [
    "a tool with nothing",
    "export default [{}]",
    [
      ": item 0: tool undefined: a name has 1 to 64 of a-z, A-Z, 0-9, _ and -.",
      ": item 0: tool undefined: a description is required, a text for the model.",
      ": item 0: tool undefined: run is required, a function (args, ctx).",
    ],
  ],
  [
    "everything of a tool but its name",
    'export default [{ name: "a", description: 5, effects: 1n, inputSchema: { type: "array" }, run: "x" }]',
    [
      ": item 0: tool a: a description is required, a text for the model.",
      ": item 0: tool a: run is required, a function (args, ctx).",
      ': item 0: tool a: effects must be "none", "repeatable" or "once", not a bigint.',
      ': item 0: tool a: inputSchema must have type "object".',
    ],
  ],
  [
    "every place of a schema",
    'export default [{ name: "a", description: "d", run() {}, inputSchema: { properties: { x: { type: "what" }, y: { minLength: "1" } } } }]',
    [/^: item 0: tool a: inputSchema is wrong: .*properties\/x\/type.*properties\/y\/minLength/],
  ],
  [
    "several items",
    `export default [null, ${good("a")}, { name: "b", description: "d" }, { name: "b c", description: "d", run() {} }]`,
    [
      ": item 0: a tool is an object, not null.",
      ": item 2: tool b: run is required, a function (args, ctx).",
      ': item 3: tool "b c": a name has 1 to 64 of a-z, A-Z, 0-9, _ and -.',
    ],
  ],
  [
    "a tool that does nothing",
    `export default [${good("a")}, { name: "b", description: "d" }]`,
    ": item 1: tool b: run is required, a function (args, ctx).",
  ],
  [
    "effects that do not exist",
    'export default [{ name: "a", description: "d", effects: "some", run() {} }]',
    ': item 0: tool a: effects must be "none", "repeatable" or "once", not "some".',
  ],
  [
    "a name twice",
    `export default [${good("a")}, ${good("a")}]`,
    ": tool a is there twice, first in FILE: rename one.",
  ],
])("%s is told with the file", async (_, code, words) => {
  const path = await file(code)
  const loaded = await loadTools([path])
  const faults = loaded.ok ? [] : loaded.faults.map((fault) => fault.replaceAll(path, "FILE"))
  const expected = typeof words === "string" ? [words] : words
  expect(faults.map((fault) => fault.replace(/^FILE/, ""))).toEqual(
    expected.map((one) => (typeof one === "string" ? one : expect.stringMatching(one))),
  )
})

test("a file that isn't there and a name that another file has are told together", async () => {
  const gone = join(folder, "gone.mjs")
  const first = await file(`export default [${good("a")}]`)
  const again = await file(`export default [${good("a")}, ${good("fine")}]`)
  expect(await loadTools([gone, first, again])).toMatchObject({
    ok: false,
    names: undefined,
    faults: [
      `${gone} does not exist: correct its path in tools.`,
      `${again}: tool a is there twice, first in ${first}: rename one.`,
    ],
  })
})

test("a module that never finishes is told and not waited for", async () => {
  const never = await file("await new Promise(() => {}); export default []")
  expect(await loadTools([never], [], 50)).toMatchObject({
    ok: false,
    names: undefined,
    faults: [`${never} was not loaded after 0.05 s: it awaits something that does not come.`],
  })
})

test("a folder is told in words of ours, with what to put instead", async () => {
  expect(await loadTools([folder])).toMatchObject({
    faults: [`${folder} is a folder: put the path of each tool file in it into tools.`],
  })
})

test("the names of broken tools are known where they have one, twice or not", async () => {
  const broken = `{ name: "b", description: "d" }`
  const path = await file(`export default [${good("a")}, ${broken}, ${broken}]`)
  const loaded = await loadTools([path])
  expect(loaded).toMatchObject({ ok: false, names: ["a", "b"] })
  expect(!loaded.ok && loaded.faults.at(-1)).toBe(`${path}: tool b is there twice, first in ${path}: rename one.`)
  const nameless = await file("export default [{}]")
  expect(await loadTools([path, nameless])).toMatchObject({ ok: false, names: undefined })
})
