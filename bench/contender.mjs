// Whatever is measured lives in a process of its own, so that none pays for another's garbage or code; they take turns on one
// Redis. This file starts such a process and asks it; child.mjs is the other side.
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url))

/**
 * Starts `contenders/<name>.mjs` with what its `open` needs. Calls of what comes back are calls of what `open` gave there;
 * they reject with the words of what was thrown, or of how the process ended. `onEvent` is told what it says unasked.
 */
export async function contender(name, options = {}, execArgv = [], onEvent = () => {}) {
  const child = fork(CHILD, [name, JSON.stringify(options)], { serialization: "advanced", execArgv })
  const asked = new Map()
  let count = 0
  child.on("message", (message) => {
    if (message.event !== undefined) return onEvent(message)
    const { id, error, value } = message
    const { resolve, reject } = asked.get(id)
    asked.delete(id)
    if (error === undefined) resolve(value)
    else reject(new Error(`${name}: ${error}`))
  })
  child.on("exit", (code, signal) => {
    for (const { reject } of asked.values()) reject(new Error(`${name} ended with ${signal ?? code}`))
    asked.clear()
  })
  const call = (what, ...args) =>
    new Promise((resolve, reject) => {
      asked.set(++count, { resolve, reject })
      child.send({ id: count, what, args })
    })
  await call("ready")
  return {
    name,
    call,
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve))
      await call("close")
      child.disconnect()
      await ended
    },
  }
}
