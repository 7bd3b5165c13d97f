// The product without Slack: store, worker, steps, and a model in this process.
import { asking, bytesOf, openBot, TRANSCRIPT } from "../bot.mjs"
import { arrivals, repeat } from "../measure.mjs"

const LANES = 128

export async function open({ url, prefix = "bench" }) {
  const transcript = asking()
  let seen
  const bot = await openBot(url, prefix, ({ run, facts }, { now }) => {
    if (!seen) return
    const [ask] = run.asks
    if (ask && facts.some(({ what }) => what === "expired")) {
      seen.recorded(now - ask.expiresAt, ask.settled?.reason === "expired")
    }
    if (run.ended) seen.ended(run.id)
  })

  return {
    one: () => bot.lifecycle(transcript),
    sizes: () => sizes(url, transcript),
    /** Parks so many runs as they come: by a model's turn each. */
    park: async (count) => void (await repeat(() => bot.park(transcript), { atOnce: 64, ms: Infinity, most: count })),
    /** Parks so many, fast; none is due within a day. */
    async parkMany(count) {
      const due = (await bot.store.now()) + 86_400_000
      await repeat(() => bot.parkOnce(transcript, due), { atOnce: LANES, ms: Infinity, most: count })
    },
    /**
     * Parks runs that nobody will answer in time: from `from` on (ms by Redis' clock), one is due every `every` ms. False when
     * that took too long.
     */
    async parkDue({ count, from, every }) {
      let next = 0
      const one = () => bot.parkOnce(transcript, Math.floor(from + every * next++))
      await repeat(one, { atOnce: LANES, ms: Infinity, most: count })
      seen = arrivals(count, from)
      return (await bot.store.now()) < from
    },
    /** What became of them, once all have ended or `ms` are over. */
    due: ({ ms }) => seen.all(ms),
    close: () => bot.close(),
  }
}

/** How many bytes a lifecycle writes, by what it is for, in the four steps of the minimal loop. */
async function sizes(url, transcript) {
  const found = { transcript: TRANSCRIPT, parking: 0, answering: 0, facts: 0, ending: 0 }
  const bot = await openBot(url, "measured", (step) => {
    const { asks, ended } = step.run
    const part = asks.some(({ settled }) => settled) ? "answering" : asks.length > 0 || !ended ? "parking" : "ending"
    found[part] += JSON.stringify(step.run).length + bytesOf(step)
    found.facts += JSON.stringify(step.facts).length
  })
  await bot.lifecycle(transcript)
  await bot.close()
  found.parking -= found.transcript
  return found
}
