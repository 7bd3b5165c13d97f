// The product without Slack: store, worker, steps, and a model in this process.
import { asking, bytesOf, openBot, TRANSCRIPT } from "../bot.mjs"

export async function open({ url, prefix = "bench" }) {
  const transcript = asking()
  const bot = await openBot(url, prefix)

  return {
    one: () => bot.lifecycle(transcript),
    /** How many bytes a lifecycle writes, by what it is for, in the four steps of the minimal loop. */
    async sizes() {
      const sizes = { transcript: TRANSCRIPT, parking: 0, answering: 0, facts: 0, ending: 0 }
      const measured = await openBot(url, "measured", (step) => {
        const { asks, ended } = step.run
        const part = asks.some(({ settled }) => settled)
          ? "answering"
          : asks.length > 0 || !ended
            ? "parking"
            : "ending"
        sizes[part] += JSON.stringify(step.run).length + bytesOf(step)
        sizes.facts += JSON.stringify(step.facts).length
      })
      await measured.lifecycle(transcript)
      await measured.close()
      sizes.parking -= sizes.transcript
      return sizes
    },
    close: () => bot.close(),
  }
}
