// Runs a TypeScript module of src or test as a process of its own, on a Node that can't: node test/source.mjs <file> [args]
import { resolve } from "node:path"
import { runnerImport } from "vite"

const [node, , file, ...args] = process.argv
process.argv = [node, resolve(file), ...args]
await runnerImport(resolve(file), { configFile: false, logLevel: "error" })
