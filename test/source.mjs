// Runs a TypeScript module of src or test as a process of its own, on a Node that can't: node test/source.mjs <file> [args]
// Everything but the types is Node's own doing, as it is for dist/.
import { register } from "node:module"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"

register("./source.hooks.mjs", import.meta.url)
process.argv.splice(1, 2, resolve(process.argv[2]))
await import(pathToFileURL(process.argv[1]).href)
