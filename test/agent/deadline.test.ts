import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, test } from "vitest"
import { deadline } from "../../src/agent/deadline.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

test("fires in time although nobody but its listeners holds it", async () => {
  const fired = await new Promise((resolve) => {
    deadline([new AbortController().signal], 50).signal.addEventListener("abort", (event) =>
      resolve((event.target as AbortSignal).reason),
    )
    collect()
  })
  expect(fired).toMatchObject({ name: "TimeoutError" })
})

test("aborts with any of the others, for their reason, also when that was before", () => {
  const other = new AbortController()
  const { signal } = deadline([undefined, other.signal], undefined)
  expect(signal.aborted).toBe(false)
  other.abort("enough")
  expect(signal.reason).toBe("enough")
  expect(deadline([other.signal], 1000).signal.reason).toBe("enough")
})

test("lets go of the others when it is cleared", () => {
  const other = new AbortController()
  const { signal, clear } = deadline([other.signal], 1000)
  clear()
  other.abort("late")
  expect(signal.aborted).toBe(false)
})
