// The same lifecycles where Redis writes each command to disk before it answers: what is told to people survives a power cut.
import { byTurns, openAll, rateRow } from "./lifecycles.mjs"

export async function fsync({ url, dir, table, admin, sizes }) {
  table.group("Lifecycles with appendfsync always, beside the same loop under it")
  const all = await openAll({ url, dir, table, names: ["plain"], sizes })
  await admin.config("SET", "appendfsync", "always")
  for (const at of [1, 16, 64]) {
    const { countersign, plain } = await byTurns(all, at, 5)
    table.add(rateRow({ ours: countersign, theirs: plain, name: "plain", at, least: 0.35 }))
  }
  await admin.config("SET", "appendfsync", "everysec")
  for (const one of all) await one.close()
}
