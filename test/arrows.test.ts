import { readdirSync, readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { dirname, join, relative, resolve } from "node:path"
import { expect, test } from "vitest"

const src = resolve(import.meta.dirname, "..", "src")

/**
 * Who may import whom inside src; a folder may always import itself. Arrows point down only.
 * A key is a folder or a file at the top of src; a value names folders or files.
 */
const ALLOWED: Record<string, readonly string[]> = {
  "main.ts": ["*"],
  "bot.ts": ["*"],
  "agents.ts": ["*"],
  "stops.ts": ["log.ts"],
  "sign-ins.ts": ["*"],
  check: ["*"],
  "index.ts": ["core", "agent"],
  "config.ts": ["config", "store/address.ts"],
  config: ["core", "store/address.ts"],
  "log.ts": [],
  core: [],
  agent: ["core", "config.ts", "log.ts"],
  store: ["core", "config.ts", "log.ts"],
  tools: ["agent/tool.ts", "core", "config", "config.ts", "log.ts", "store/drawer.ts"],
  slack: ["store", "core", "config.ts", "log.ts"],
  audit: ["store", "core", "config.ts", "log.ts"],
  work: ["agent", "store", "core", "config.ts", "log.ts"],
  // It starts the bot as a process of its own, and knows it by what it says to Slack alone.
  sandbox: [],
}

/** Packages that one part alone knows. Every other package may be used anywhere but in core. */
const KNOWN_TO: Record<string, readonly string[]> = {
  "@slack/bolt": ["slack"],
  "@slack/web-api": ["slack", "check"],
  "@slack/socket-mode": ["slack"],
  "@slack/types": ["slack", "sandbox"],
  ioredis: ["store"],
  "@ai-sdk/anthropic": ["agent/model"],
  "@ai-sdk/openai-compatible": ["agent/model"],
  "@ai-sdk/provider": ["agent", "sandbox/demo", "bot.ts", "agents.ts"],
  yaml: ["config"],
  pino: ["log.ts"],
}

const CORE_PACKAGES: Record<string, readonly string[]> = {
  "": ["zod", "node:crypto"],
  "core/digest.ts": ["json-canonicalize"],
}

type Arrow = { from: string; to: string }

function sources(folder: string): string[] {
  return (
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|tsx|mts)$/.test(name))
      .map((name) => name.replaceAll("\\", "/"))
      // The page is a program of its own, for the browser.
      .filter((name) => !name.startsWith("sandbox/page/"))
  )
}

const IMPORT =
  /(?:^|[\n;}])\s*(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"']+)["']|(?:^|[\n;])\s*import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g

function arrowsOf(file: string, text: string): Arrow[] {
  return [...text.matchAll(IMPORT)].map((found) => {
    const to = found[1] ?? found[2] ?? found[3] ?? ""
    const local = to.startsWith(".")
    return { from: file, to: local ? relative(src, resolve(join(src, dirname(file)), to)).replaceAll("\\", "/") : to }
  })
}

const within = (file: string, part: string) =>
  file === part || file.startsWith(`${part}/`) || file.startsWith(`${part}.`)

/** The most particular entry of a table that the file belongs to. */
function entryOf(file: string, table: Record<string, readonly string[]>): string | undefined {
  return Object.keys(table)
    .filter((part) => within(file, part))
    .sort((a, b) => b.length - a.length)[0]
}

function fault({ from, to }: Arrow): string | undefined {
  const entry = entryOf(from, ALLOWED)
  if (entry === undefined) return `${from} stands nowhere in the table of arrows`
  const part = from.split("/")[0] ?? from
  if (/\.[a-z]+$/.test(to) && !to.startsWith("node:") && entryOf(to, ALLOWED) !== undefined) {
    if (to.split("/")[0] === part) return undefined
    const allowed = ALLOWED[entry] ?? []
    return allowed.includes("*") || allowed.some((target) => within(to, target)) ? undefined : `${from} -> ${to}`
  }
  return packageFault(from, part, to)
}

function packageFault(from: string, part: string, to: string): string | undefined {
  const name = to.startsWith("node:")
    ? to
    : to
        .split("/")
        .slice(0, to.startsWith("@") ? 2 : 1)
        .join("/")
  if (builtinModules.includes(name)) return `${from} -> ${to} (write node:${to})`
  if (part === "core") {
    const allowed = [...(CORE_PACKAGES[""] ?? []), ...(CORE_PACKAGES[from] ?? [])]
    return allowed.includes(name) ? undefined : `${from} -> ${to}`
  }
  const knowers = KNOWN_TO[name]
  return knowers === undefined || knowers.some((who) => within(from, who)) ? undefined : `${from} -> ${to}`
}

test("imports in src point down only, and one part alone knows Slack, Redis, a model provider", () => {
  const arrows = sources(src).flatMap((file) => arrowsOf(file, readFileSync(join(src, file), "utf8")))
  expect(arrows.length).toBeGreaterThan(0)
  expect(arrows.map(fault).filter((words) => words !== undefined)).toEqual([])
})

test.each([
  ["core/run.ts", 'import { x } from "../store/store.ts"', "core/run.ts -> store/store.ts"],
  ["core/run.ts", 'import { readFile } from "node:fs"', "core/run.ts -> node:fs"],
  ["core/run.ts", 'import canonicalize from "json-canonicalize"', "core/run.ts -> json-canonicalize"],
  ["core/run.ts", 'import {\n  a,\n  b,\n} from "../log.ts"', "core/run.ts -> log.ts"],
  ["slack/app.ts", 'export * from "../work/worker.ts"', "slack/app.ts -> work/worker.ts"],
  ["slack/app.ts", 'import type { Redis } from "ioredis"', "slack/app.ts -> ioredis"],
  ["work/worker.ts", 'const x = await import("../slack/show.ts")', "work/worker.ts -> slack/show.ts"],
  ["store/store.ts", 'import { App } from "@slack/bolt/dist/App.js"', "store/store.ts -> @slack/bolt/dist/App.js"],
  ["sandbox/start.ts", 'import { start } from "../main.ts"', "sandbox/start.ts -> main.ts"],
  ["sandbox/api.ts", 'import "../core/run.ts"', "sandbox/api.ts -> core/run.ts"],
  ["tools/modules.ts", 'import { a } from "../agent/advance.ts"', "tools/modules.ts -> agent/advance.ts"],
  ["agent/client.ts", 'import { a } from "@ai-sdk/anthropic"', "agent/client.ts -> @ai-sdk/anthropic"],
  ["new/thing.ts", 'import { a } from "../core/run.ts"', "new/thing.ts stands nowhere in the table of arrows"],
  ["slack/app.ts", 'import { readFile } from "fs"', "slack/app.ts -> fs (write node:fs)"],
])("finds the wrong arrow of %s: %s", (file, text, words) => {
  expect(arrowsOf(file, text).map(fault)).toEqual([words])
})

test.each([
  ["core/digest.ts", 'import { canonicalize } from "json-canonicalize"'],
  ["agent/model/index.ts", 'import { createAnthropic } from "@ai-sdk/anthropic"'],
  ["agent/model.ts", 'import { createAnthropic } from "@ai-sdk/anthropic"'],
  ["tools/modules.ts", 'import type { Tool } from "../agent/tool.ts"'],
  ["work/worker.ts", 'import { a } from "../agent/advance.ts"'],
  ["store/redis.ts", 'import { Redis } from "ioredis"'],
])("allows %s: %s", (file, text) => {
  expect(arrowsOf(file, text).map(fault)).toEqual([undefined])
})
