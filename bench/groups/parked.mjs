// What parked runs cost while nothing is due: bytes in Redis and in the process, commands, and whether work is slower beside
// ten thousand or a hundred thousand of them than in an empty store. Three servers, so that the three take turns.
import { TRANSCRIPT } from "../bot.mjs"
import { contender } from "../contender.mjs"
import { median } from "../measure.mjs"
import { executed, furtherRedis, memory } from "../redis.mjs"

const FEW = 10_000
const MANY = 100_000
const ROUNDS = 9
const TURN_MS = 500
const AT_ONCE = 16
const IDLE_MS = 6000

export async function parked({ url, dir, table, admin }) {
  table.group(`Parked runs, while nothing is due (${TRANSCRIPT} bytes of transcript each)`)
  const servers = [{ url, admin, stop: async () => {} }, await furtherRedis(dir), await furtherRedis(dir)]
  const bots = []
  for (const server of servers) bots.push(await contender("countersign", { url: server.url }, ["--expose-gc"]))
  const [empty, few, many] = bots
  await Promise.all(bots.map(({ call }) => call("lifecycles", { atOnce: AT_ONCE, ms: 15_000, most: 3000 })))
  for (const server of servers) await server.admin.flushall()

  const before = await memory(servers[1].admin)
  await few.call("park", FEW)
  const bytes = ((await memory(servers[1].admin)) - before) / FEW - TRANSCRIPT
  table.add({ what: `${FEW} parked: bytes in Redis per run beyond its transcript`, unit: "B", ours: bytes, most: 2500 })

  const heap = await many.call("heap")
  await many.call("parkMany", MANY)
  const each = ((await many.call("heap")) - heap) / MANY
  table.add({ what: `${MANY} parked: heap per run in the process`, unit: "B", ours: each, most: 100 })

  const commands = await executed(servers[2].admin)
  const { trips, cpuMs } = await many.call("idle", IDLE_MS)
  const all = (((await executed(servers[2].admin)) - commands) * 1000) / IDLE_MS
  table.add({ what: `${MANY} parked: Redis commands a second of an idle process`, ours: trips, most: 2 })
  table.add({ what: `${MANY} parked: those inside of scripts too`, ours: all })
  table.add({ what: `${MANY} parked: CPU of an idle process, per second`, unit: "ms", ours: cpuMs, most: 10 })

  const rates = bots.map(() => [])
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let turn = 0; turn < bots.length; turn += 1) {
      // Each is first as often as the others.
      const index = (round + turn) % bots.length
      const { perSecond } = await bots[index].call("lifecycles", { atOnce: AT_ONCE, ms: TURN_MS })
      rates[index].push(perSecond)
    }
  }
  for (const [index, count] of [
    [1, FEW],
    [2, MANY],
  ]) {
    table.add({
      what: `lifecycles at ${AT_ONCE} at once beside ${count} parked`,
      unit: "/s",
      ours: median(rates[index]),
      beside: { name: "in an empty store", value: median(rates[0]) },
      ratio: median(rates[index].map((rate, round) => rate / rates[0][round])),
      least: 0.95,
    })
  }
  for (const bot of [empty, few, many]) await bot.close()
  for (const server of servers) await server.stop()
}
