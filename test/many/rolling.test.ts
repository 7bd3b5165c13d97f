/** Three processes that are replaced one after the other, while people start runs and press buttons all the time. */
import { setTimeout as delay } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { brokenAt } from "../../src/core/fact.ts"
import type { Run } from "../../src/core/run.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { APP1, OUT, REQ, Team, until } from "../promises/team.ts"

vi.setConfig({ testTimeout: 120_000 })

const ROOMS = ["C0EAST", "C0WEST", "C0NORTH"]

/** Connections that a process holds. */
const LINES = 2

const wanting = (name: string): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name, args: {} }] },
  { text: "That is all." },
]

test("in a rolling restart each press has its true reaction, each run its end, and nothing runs twice", async ({
  onTestFinished,
}) => {
  const scripts: Record<string, WireTurn[]> = { standing: wanting("restart") }
  const team = await Team.during(onTestFinished, { scripts, config: { channels: ROOMS } })
  for (const room of ROOMS) team.room(room)
  const bots = await Promise.all([team.process(), team.process(), team.process()])
  const card = await team.cardOf(await team.begin("standing", REQ, "C0EAST"))

  let over = false
  // Whoever presses goes on for as long as nobody acks, also when the test was given up.
  let finished = false
  onTestFinished(() => {
    over = finished = true
  })
  const failed: Awaited<ReturnType<Team["click"]>>[] = []
  /** Presses again what Slack says did not go through, as people do. */
  const press = async (user: string, on: typeof card, action: string): Promise<void> => {
    while (!finished) {
      const delivery = await team.click(user, on, action)
      if (delivery.acked) return
      failed.push(delivery)
    }
  }
  let refused = 0
  const strangers = async (): Promise<void> => {
    for (; !over; refused += 1) {
      await press(OUT, card, "approve")
      await delay(60)
    }
  }
  const runs: Run[] = []
  const owners = async (room: string): Promise<void> => {
    for (let n = 1; !over; n++) {
      const prompt = `${room} ${n}`
      scripts[prompt] = wanting("restart")
      const run = await team.begin(prompt, REQ, room)
      runs.push(run)
      await press(APP1, await team.cardOf(run), "approve")
      const { ended } = await team.endOf(prompt)
      expect(ended?.how).toBe("done")
      expect(brokenAt(await team.facts(run))).toBeUndefined()
      await team.closed(run)
    }
  }
  const load = Promise.all([strangers(), ...ROOMS.map(owners)])
  for (const bot of bots) {
    await bot.stop()
    await team.process()
  }
  over = true
  await load

  const ids = team.executions("restart").map(({ callId }) => callId)
  expect(new Set(ids)).toEqual(new Set(runs.map(({ id }) => `${id}.1.1`)))
  expect(ids).toHaveLength(runs.length)
  await until(
    () => team.told(OUT).length >= refused,
    () => `${refused} refusals to be told of, not ${team.told(OUT).length}`,
  )
  // What Slack sends while a connection is being closed is acked by nobody: Slack says so at once, and pressing again is right.
  expect(failed.filter(({ error }) => error !== "operation_timeout")).toEqual([])
  expect(failed.length).toBeLessThanOrEqual(LINES * bots.length)
})
