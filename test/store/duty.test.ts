import { expect, onTestFinished, test, vi } from "vitest"
import { Duty, type DutyOptions } from "../../src/store/duty.ts"

interface Done {
  duty: Duty
  /** How often `next` was asked. */
  count(): number
  leases: number[]
  errors: string[]
}

function duty(next: (count: number, duty: Duty) => Promise<number> | number, more: Partial<DutyOptions> = {}): Done {
  vi.useFakeTimers()
  let count = 0
  const leases: number[] = []
  const errors: string[] = []
  const made: Duty = new Duty({
    lease: (ms) => Promise.resolve(leases.push(ms) > 0),
    length: 10_000,
    spare: 4000,
    next: async () => next((count += 1), made),
    log: { error: (_, words) => void errors.push(words) },
    interrupted: { about: {}, words: "interrupted" },
    ...more,
  })
  onTestFinished(async () => {
    await made.stop()
    vi.useRealTimers()
  })
  return { duty: made, count: () => count, leases, errors }
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

test("rests as long as it is told, or until it is woken", async () => {
  const { duty: one, count } = duty((n) => (n === 1 ? 500 : Infinity))
  await pass(499)
  expect(count()).toBe(1)
  await pass(1)
  expect(count()).toBe(2)
  await pass(1e6)
  expect(count()).toBe(2)
  one.wake()
  await pass(0)
  expect(count()).toBe(3)
})

test("looks again at what came while it looked", async () => {
  const { count } = duty((n, one) => {
    if (n === 1) one.wake()
    return Infinity
  })
  await pass(0)
  expect(count()).toBe(2)
})

test("a patient one is not hurried, and forgets no wake-up", async () => {
  const { duty: one, count } = duty((n) => (n === 1 ? 1000 : Infinity), { patient: true })
  await pass(10)
  for (let n = 0; n < 5; n++) one.wake()
  await pass(900)
  expect(count()).toBe(1)
  await pass(100)
  expect(count()).toBe(2)
  one.wake()
  await pass(0)
  expect(count()).toBe(3)
})

test("goes on a second after it failed", async () => {
  const { count, errors } = duty((n) => (n === 1 ? Promise.reject(new Error("no")) : Infinity))
  await pass(999)
  expect([count(), errors]).toEqual([1, ["interrupted"]])
  await pass(1)
  expect(count()).toBe(2)
})

test("renews the lease when too little of it is left, and gives back what it holds", async () => {
  const { duty: one, leases } = duty(() => Infinity)
  expect(await one.leased()).toBe(true)
  await pass(5000)
  expect(await one.leased()).toBe(true)
  expect(leases).toEqual([10_000])
  await pass(2000)
  expect(await one.leased()).toBe(true)
  expect(leases).toEqual([10_000, 10_000])
  await one.letGo()
  await one.letGo()
  expect(leases).toEqual([10_000, 10_000, 1])
})

test("begins nothing after it was stopped", async () => {
  const { duty: one, count } = duty(() => 10)
  await pass(0)
  await one.stop()
  const before = count()
  await pass(1000)
  expect(count()).toBe(before)
})
