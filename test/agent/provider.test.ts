import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { takeTurn } from "../../src/agent/model.ts"
import { loadModel } from "../../src/agent/provider.ts"
import { scratchFolder } from "../redis.ts"
import { closeAll, provide, STYLES } from "./wires.ts"

afterEach(closeAll)

const PACKAGES = { openai: "@ai-sdk/openai-compatible", anthropic: "@ai-sdk/anthropic" }

/** A package of this name in the folder's node_modules. */
function install(folder: string, name: string, about: object, files: Record<string, string>): void {
  const home = join(folder, "node_modules", name)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, "package.json"), JSON.stringify({ name, version: "1.0.0", ...about }))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(home, file), text)
}

const providerOf = (version: string) => `
  export const createAcmeWithMore = () => { throw new Error("not this one") }
  export function createAcme(settings) {
    class Model {
      specificationVersion = "${version}"
      provider = "acme"
      constructor(id) { this.modelId = id }
      async doGenerate() {
        const text = JSON.stringify({ id: this.modelId, baseURL: settings.baseURL, apiKey: settings.apiKey })
        const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
        return { content: [{ type: "text", text }], finishReason: { unified: "stop" }, usage, warnings: [] }
      }
    }
    return { languageModel: (id) => new Model(id) }
  }`

const asked = { messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }], tools: [] }

describe.each(STYLES)("the provider of %s by its package's name", (style) => {
  test("is the bot's own where the configuration's folder has none, and speaks to its address with its key", async () => {
    const provider = await provide(style, [{ text: "hello" }])
    const baseUrl = style === "anthropic" ? `${provider.baseUrl}/v1/` : `${provider.baseUrl}/`
    const how = { provider: PACKAGES[style], baseUrl, model: "m", apiKey: "key-1" }
    const loaded = await loadModel(how, await scratchFolder("provider"))
    if (!loaded.ok) throw new Error(loaded.fault)
    const wishes = { temperature: 0.25, maxOutputTokens: 77, stopSequences: ["END"] }
    expect(await takeTurn(loaded.model, { ...asked, wishes })).toMatchObject({ ok: true, text: "hello" })
    const { headers, body } = await provider.came(1)
    expect(headers).toMatchObject(style === "openai" ? { authorization: "Bearer key-1" } : { "x-api-key": "key-1" })
    const stop = style === "openai" ? { stop: ["END"] } : { stop_sequences: ["END"] }
    expect(body).toMatchObject({ model: "m", temperature: 0.25, max_tokens: 77, ...stop })
  })
})

test("options of the provider's own are passed on", async () => {
  const provider = await provide("anthropic", [{ text: "hello" }])
  const how = { provider: "anthropic", baseUrl: provider.baseUrl, model: "m", apiKey: "k" }
  const loaded = await loadModel(how, "/")
  if (!loaded.ok) throw new Error(loaded.fault)
  const wishes = { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2000 } } } }
  await takeTurn(loaded.model, { ...asked, wishes })
  expect((await provider.came(1)).body).toMatchObject({ thinking: { type: "enabled", budget_tokens: 2000 } })
})

describe("a package", () => {
  test.each([
    [
      "by the import condition of its exports",
      { exports: { ".": { require: "./no.cjs", import: { default: "./a.mjs" } } } },
    ],
    ["by exports alone", { exports: "./a.mjs" }],
    ["by main", { main: "a.mjs" }],
  ])("is found from the configuration's folder upwards %s", async (_how, about) => {
    const folder = await scratchFolder("provider")
    install(folder, "@acme/models", about, { "a.mjs": providerOf("v3") })
    const below = join(folder, "deep", "er")
    mkdirSync(below, { recursive: true })
    const loaded = await loadModel(
      { provider: "@acme/models", baseUrl: "https://a.example/v1/", model: "m-1", apiKey: "k" },
      below,
    )
    if (!loaded.ok) throw new Error(loaded.fault)
    const told = { id: "m-1", baseURL: "https://a.example/v1", apiKey: "k" }
    expect(await takeTurn(loaded.model, asked)).toMatchObject({ ok: true, text: JSON.stringify(told) })
  })

  test.each<[string, Record<string, string> | undefined, RegExp]>([
    [
      "is missing",
      undefined,
      /^is not installed: run "npm i @acme\/models@…" in \/.*, with a version that belongs to AI SDK 6/,
    ],
    [
      "speaks another version",
      { "index.js": providerOf("v4") },
      /^speaks version v4 .* we speak v3: install a version/,
    ],
    ["is something else", { "index.js": "export const x = 1" }, /^is no provider: it exports no function/],
    ["makes something else", { "index.js": "export const createX = () => () => ({})" }, /^is no provider of language/],
    [
      "throws when it is set up",
      { "index.js": "export const createX = () => { throw new Error('no\\nway') }" },
      /^can't be set up: no$/,
    ],
    ["throws when it is loaded", { "index.js": "throw new Error('old Node')" }, /^could not be loaded: old Node$/],
    [
      "needs what is missing",
      { "index.js": "import 'nowhere-to-be-found'" },
      /^could not be loaded: .*nowhere-to-be-found/,
    ],
  ])("that %s is told so, with what to do", async (_what, files, words) => {
    const folder = await scratchFolder("provider")
    if (files) install(folder, "@acme/models", { type: "module" }, files)
    const loaded = await loadModel({ provider: "@acme/models", model: "m" }, folder)
    expect(loaded).toEqual({ ok: false, fault: expect.stringMatching(words) })
  })

  test("may be a module by its path", async () => {
    const folder = await scratchFolder("provider")
    writeFileSync(join(folder, "own.mjs"), providerOf("v3"))
    expect(await loadModel({ provider: join(folder, "own.mjs"), model: "m" }, folder)).toMatchObject({ ok: true })
    const gone = await loadModel({ provider: join(folder, "gone.mjs"), model: "m" }, folder)
    expect(gone).toEqual({ ok: false, fault: "does not exist: correct its path" })
  })
})
