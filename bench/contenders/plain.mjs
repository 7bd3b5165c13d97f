// The minimal loop: no rule, no person, no fact; nothing but the bytes in four scripts, and a sorted set as its timer.
import { plainLoop, plainTimer } from "../plain.mjs"
import { arrivals } from "../measure.mjs"

export async function open({ url, sizes }) {
  const loop = plainLoop(url, sizes)
  let timer
  let seen
  return {
    one: () => loop.one(),
    async parkDue({ count, from, every }) {
      seen = arrivals(count, from)
      await timer?.close()
      timer = plainTimer(url, sizes, seen)
      await timer.park(count, (i) => Math.floor(from + every * i))
      return Date.now() < from
    },
    due: ({ ms }) => seen.all(ms),
    async close() {
      await timer?.close()
      await loop.close()
    },
  }
}
