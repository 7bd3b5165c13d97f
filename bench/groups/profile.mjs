// Where a busy second goes, and what a process does while a hundred thousand runs are parked and nothing is due.
import { join } from "node:path"
import { contender } from "../contender.mjs"

const MANY = 100_000

const percent = (share) => `${(share * 100).toFixed(1)} %`.padStart(8)

function print(title, { file, busy, functions, files }) {
  console.log(`\n${title}: busy ${percent(busy).trim()} of the time; ${file}`)
  for (const { name, share } of functions) console.log(`${percent(share)}  ${name}`)
  console.log("by file")
  for (const { name, share } of files) console.log(`${percent(share)}  ${name}`)
}

export async function profile({ url, dir }) {
  const one = await contender("countersign", { url })
  await one.call("lifecycles", { atOnce: 16, ms: 15_000, most: 8000 })
  const busy = { atOnce: 16, ms: 3000 }
  print("Three busy seconds at 16", await one.call("profile", join(dir, "busy.cpuprofile"), "lifecycles", busy))
  await one.call("parkMany", MANY)
  print("Ten seconds idle", await one.call("profile", join(dir, "idle.cpuprofile"), "idle", 10_000))
  await one.close()
}
