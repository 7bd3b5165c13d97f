// Measures the product beside others on one Redis, and prints one table with the target beside each number:
// run.mjs [group …]. Timings are this machine's; what counts are the ratios, each of one run and taken by turns.
// Needs dist/, REDIS_URL and bench/node_modules (npm run bench).
import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Redis } from "ioredis"
import { clicks } from "./groups/clicks.mjs"
import { due } from "./groups/due.mjs"
import { fsync } from "./groups/fsync.mjs"
import { lifecycles, peers } from "./groups/lifecycles.mjs"
import { parked } from "./groups/parked.mjs"
import { profile } from "./groups/profile.mjs"
import { slack } from "./groups/slack.mjs"
import { turns } from "./groups/turns.mjs"
import { contender } from "./contender.mjs"
import { Table } from "./table.mjs"

const GROUPS = { lifecycles, peers, clicks, parked, due, fsync, slack, turns }
/** With what fills no table, and is measured only when asked for. */
const ALL = { ...GROUPS, profile }

const url = process.env.REDIS_URL
if (!url) fail("REDIS_URL is missing: run it with npm run bench")
const asked = process.argv.slice(2)
for (const name of asked) {
  if (!Object.hasOwn(ALL, name)) fail(`There is no group ${name}; there are ${Object.keys(ALL).join(", ")}`)
}
const groups = asked.length > 0 ? asked : Object.keys(GROUPS)

const admin = new Redis(url)
const dir = fileURLToPath(new URL("../.data", import.meta.url))
mkdirSync(dir, { recursive: true })
// Rewriting its file takes a core for seconds, from whoever happens to be measured then.
await admin.config("SET", "auto-aof-rewrite-percentage", "0")
const version = /redis_version:(\S+)/u.exec(await admin.info("server"))?.[1]
const table = new Table()

/** What a lifecycle of ours writes: asked once, for all that write as much. */
let asking
const sizes = () => (asking ??= measuredSizes())

async function measuredSizes() {
  const ours = await contender("countersign", { url })
  const found = await ours.call("sizes")
  await ours.close()
  return found
}

const began = performance.now()
for (const name of groups) {
  console.error(`measuring ${name} …`)
  await admin.flushall()
  await ALL[name]({ url, dir, table, admin, sizes })
}
await admin.flushall()
await admin.quit()
const minutes = ((performance.now() - began) / 60_000).toFixed(1)
console.log(`\nNode ${process.version}, Redis ${version}, append-only, everysec; ${minutes} minutes\n`)
if (!table.isEmpty) console.log(table.text())

function fail(words) {
  console.error(words)
  process.exit(2)
}
