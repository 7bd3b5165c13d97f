/**
 * Models of whatever provider a configuration names: ours, or a module that speaks the AI SDK's provider specification v3.
 * Finds and loads such a module and says what is wrong with it; asks no provider anything.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { setTimeout as after } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import type { LanguageModelV3 } from "@ai-sdk/provider"
import { isRecord } from "../core/json.ts"
import { createModel, direct } from "./model.ts"
import type { ModelOptions } from "./model.ts"

/** `provider`: one of ours, the name of a package, or the absolute path of a module. */
export type ProviderOptions = Omit<ModelOptions, "provider"> & { provider: string }

export type LoadedModel = { ok: true; model: LanguageModelV3 } | { ok: false; fault: string }

/** ms that a module may take to load. */
const LOAD_WITHIN = 10_000
/** What of a provider's releases speaks v3: said where one is missing. */
const SPEAKS = "that belongs to AI SDK 6 and so speaks its provider specification v3"

/**
 * A model, or why there is none, to go on after `model.provider "…"`, with the remedy. A package is looked for from `folder`
 * (that of the configuration) on upwards, then among the bot's own.
 */
export async function loadModel(options: ProviderOptions, folder: string): Promise<LoadedModel> {
  const { provider } = options
  if (provider === "openai-compatible" || provider === "anthropic") {
    return { ok: true, model: createModel({ ...options, provider }) }
  }
  const loaded = await moduleOf(provider, folder)
  return loaded.ok ? modelFrom(loaded.module, options) : loaded
}

type Loaded = { ok: true; module: Record<string, unknown> } | { ok: false; fault: string }

async function moduleOf(name: string, folder: string): Promise<Loaded> {
  const isPath = resolve(name) === name
  const entry = isPath ? name : entryIn(name, folder)
  if (isPath && !existsSync(name)) return { ok: false, fault: "does not exist: correct its path" }
  const url = entry === undefined ? name : pathToFileURL(entry).href
  const patience = new AbortController()
  try {
    const late = after(LOAD_WITHIN, undefined, { signal: patience.signal })
    const module = await Promise.race([import(url) as Promise<Record<string, unknown>>, late])
    if (module) return { ok: true, module }
    return { ok: false, fault: `was not loaded within ${LOAD_WITHIN / 1000} s: it awaits something that does not come` }
  } catch (error) {
    return { ok: false, fault: entry === undefined && isMissing(error, name) ? missing(name, folder) : broken(error) }
  } finally {
    patience.abort()
  }
}

const missing = (name: string, folder: string): string =>
  `is not installed: run "npm i ${name}@…" in ${folder}, with a version ${SPEAKS}`

const broken = (error: unknown): string => `could not be loaded: ${firstLine(error)}`

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0]?.slice(0, 300) ?? ""

const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(name)

/** The file that an import of the package means, looked for in the folder and those above it. */
function entryIn(name: string, folder: string): string | undefined {
  const home = join(folder, "node_modules", name)
  const described = join(home, "package.json")
  if (!existsSync(described)) return dirname(folder) === folder ? undefined : entryIn(name, dirname(folder))
  const about: unknown = JSON.parse(readFileSync(described, "utf8"))
  if (!isRecord(about)) return undefined
  const { exports, module, main } = about
  const root = isRecord(exports) && "." in exports ? exports["."] : exports
  const entry = importOf(root) ?? [module, main].find((one) => typeof one === "string") ?? "index.js"
  return join(home, entry)
}

const CONDITIONS = ["node", "import", "module-sync", "default"]

/** What an `exports` means for an import in Node: its first condition that holds. */
function importOf(exported: unknown): string | undefined {
  if (typeof exported === "string") return exported
  if (!isRecord(exported)) return undefined
  for (const [condition, target] of Object.entries(exported)) {
    const found = CONDITIONS.includes(condition) ? importOf(target) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function modelFrom(module: Record<string, unknown>, options: ProviderOptions): LoadedModel {
  const { provider, baseUrl, apiKey, model: name, fetch = globalThis.fetch } = options
  const create = factoryOf(module)
  if (!create) {
    return {
      ok: false,
      fault: `is no provider: it exports no function whose name begins with "create", as the AI SDK's do`,
    }
  }
  const key = apiKey === undefined ? {} : { apiKey }
  const address = baseUrl === undefined ? {} : { baseURL: baseUrl.replace(/\/+$/, "") }
  try {
    const made = create({ name: provider, ...address, ...key, fetch: direct(fetch), includeUsage: true })
    const model = modelNamed(made, name)
    return isV3(model) ? { ok: true, model } : { ok: false, fault: otherVersion(model, provider) }
  } catch (error) {
    return { ok: false, fault: `can't be set up: ${firstLine(error)}` }
  }
}

type Create = (settings: Record<string, unknown>) => unknown

/** By their habit there is one; of several the shortest name is the general one. */
function factoryOf(module: Record<string, unknown>): Create | undefined {
  const all = [module, module["default"]].filter(isRecord)
  const found = all.flatMap((one) =>
    Object.entries(one).filter(([name, value]) => /^create[A-Z]/.test(name) && typeof value === "function"),
  )
  return found.sort(([a], [b]) => a.length - b.length)[0]?.[1] as Create | undefined
}

function modelNamed(made: unknown, name: string): unknown {
  const named = made as { languageModel?: (name: string) => unknown; chatModel?: (name: string) => unknown }
  if (typeof named.languageModel === "function") return named.languageModel(name)
  return typeof made === "function" ? (made as (name: string) => unknown)(name) : undefined
}

/** Of an instance of a class, too. */
const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined

const isV3 = (model: unknown): model is LanguageModelV3 =>
  fieldOf(model, "specificationVersion") === "v3" && typeof fieldOf(model, "doGenerate") === "function"

function otherVersion(model: unknown, name: string): string {
  const version = fieldOf(model, "specificationVersion")
  if (typeof version !== "string") return "is no provider of language models, as the AI SDK's are"
  const words = `speaks version ${version.slice(0, 20)} of the provider specification, and we speak v3`
  return `${words}: install a version of ${name} ${SPEAKS}`
}
