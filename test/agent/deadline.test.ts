import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, test } from "vitest"
import { Deadline } from "../../src/agent/deadline.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

test("fires in time although nobody but its listeners holds it", async () => {
  const fired = await new Promise((resolve) => {
    new Deadline([new AbortController().signal], 50).signal.addEventListener("abort", (event) =>
      resolve((event.target as AbortSignal).reason),
    )
    collect()
  })
  expect(fired).toMatchObject({ name: "TimeoutError" })
})

test("aborts with any of the others, for their reason, also when that was before", () => {
  const other = new AbortController()
  const [first, second] = [new Deadline([undefined, other.signal], undefined), new Deadline([], undefined)]
  const both = new Deadline([first, second], 1000)
  expect([both.aborted, both.signal.aborted]).toEqual([false, false])
  other.abort("enough")
  expect([first.signal.reason, both.reason, both.signal.reason]).toEqual(["enough", "enough", "enough"])
  expect(new Deadline([other.signal], 1000).signal.reason).toBe("enough")
  expect(new Deadline([second, first], 1000).signal.reason).toBe("enough")
  expect([both.isLate, second.aborted]).toEqual([false, false])
})

test("tells whoever listens once, for the first reason, also whoever comes later", () => {
  const limit = new Deadline([], undefined)
  const told: unknown[] = []
  limit.whenAborted(() => told.push(["before", limit.reason]))
  limit.whenAborted(() => told.push("never"))()
  limit.abort("enough")
  limit.abort("again")
  limit.whenAborted(() => told.push(["after", limit.reason]))
  expect(told).toEqual([
    ["before", "enough"],
    ["after", "enough"],
  ])
  expect(limit.signal.reason).toBe("enough")
})

test("lets go of the others when it is cleared", () => {
  const [signal, other] = [new AbortController(), new Deadline([], undefined)]
  const limit = new Deadline([signal.signal, other], 1000)
  limit.clear()
  signal.abort("late")
  other.abort("late")
  expect([limit.aborted, limit.signal.aborted]).toEqual([false, false])
})
