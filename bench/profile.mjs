// Where the processor's time goes in a process: recorded by V8's sampling profiler, kept as a .cpuprofile (Chromium's
// DevTools and speedscope draw it as a flame graph), and summed up by function and by file.
import { writeFileSync } from "node:fs"
import { Session } from "node:inspector/promises"

const INTERVAL_US = 200

/** Records while `act` runs. */
export async function recorded(file, act) {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.setSamplingInterval", { interval: INTERVAL_US })
  await session.post("Profiler.start")
  await act()
  const { profile } = await session.post("Profiler.stop")
  session.disconnect()
  writeFileSync(file, JSON.stringify(profile))
  return { file, ...summed(profile) }
}

/** What is nobody's work: waiting, and the profiler's own beginning and end. */
const NO_WORK = new Set(["(idle)", "dispatch"])

/** Shares of all time, the largest first: self time by function and by file; `busy` is what was not idle. */
function summed({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const functions = new Map()
  const files = new Map()
  let total = 0
  let idle = 0
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = byId.get(id).callFrame
    const us = timeDeltas[index]
    total += us
    if (url === "" && NO_WORK.has(functionName)) {
      idle += us
      continue
    }
    const file = url === "" ? "node and V8" : url.replace(/^.*\/(?=dist\/|node_modules\/|bench\/)/u, "")
    const name = url === "" ? functionName : `${functionName || "(anonymous)"} ${file}:${lineNumber + 1}`
    functions.set(name, (functions.get(name) ?? 0) + us)
    files.set(file, (files.get(file) ?? 0) + us)
  }
  const top = (map, count) =>
    [...map]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([name, us]) => ({ name, share: us / total }))
  return { busy: 1 - idle / total, functions: top(functions, 25), files: top(files, 15) }
}
