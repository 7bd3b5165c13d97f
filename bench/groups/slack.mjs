// End to end over signed HTTP: from a press through Bolt, Redis and the WebClient to a Slack that says ok to everything,
// beside a handler for Bolt around the minimal loop, and beside one that only acks.
import { contender } from "../contender.mjs"
import { median, quantile, sleep } from "../measure.mjs"
import { presser, SECRET } from "../press.mjs"

const AT_ONCE = 16
const PRESSES = 100
const ROUNDS = 5
const PER_SECOND = 200
const BURST = 200
const BURSTS = 3

/** Presses all at 16 at once; a lane goes on when its run has ended. `shown`: when Slack has all there is to see. */
async function pressAll({ one, port, ended }, count, before) {
  const parked = await one.call("park", count)
  const door = presser(port)
  const began = performance.now()
  let next = 0
  const lane = async () => {
    while (next < parked.length) {
      const { run, value } = parked[next++]
      const end = ended(run)
      await door.press(value)
      await end
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  const finished = performance.now() - began
  door.close()
  await one.call("shown", before + count)
  const shown = performance.now() - began
  return { finished: (count * 1000) / finished, shown: (count * 1000) / shown }
}

async function opened(name, options) {
  const waiting = new Map()
  const one = await contender(name, options, [], ({ id }) => {
    waiting.get(id)?.()
    waiting.delete(id)
  })
  const ended = (id) => new Promise((resolve) => waiting.set(id, resolve))
  return { one, port: await one.call("port"), ended, close: () => one.close() }
}

/** Acks of presses that come evenly, whatever became of those before. */
async function burst({ port }, values) {
  const door = presser(port)
  const began = performance.now()
  const acks = []
  for (const [index, value] of values.entries()) {
    const wait = began + (index * 1000) / PER_SECOND - performance.now()
    if (wait > 0) await sleep(wait)
    acks.push(door.press(value))
  }
  const found = await Promise.all(acks)
  door.close()
  return found
}

export async function slack({ url, table, sizes }) {
  table.group("End to end: signed presses over HTTP, through Bolt and the WebClient, to a bare fake Slack")
  const fake = await contender("fake-slack")
  const options = { url, api: await fake.call("api"), secret: SECRET, sizes: await sizes() }
  const ours = await opened("slack", options)
  const hand = await opened("bolt", { ...options, does: "all" })
  const acker = await opened("bolt", { ...options, does: "ack" })

  await fake.call("counts")
  await pressAll(ours, 1, 0)
  const calls = await fake.call("counts")
  const { "users.info": _lookup, ...messages } = calls
  const total = Object.values(messages).reduce((sum, count) => sum + count, 0)
  const note = Object.entries(messages)
    .map(([method, count]) => `${method} ${count}`)
    .join(", ")
  table.add({ what: "Slack calls per lifecycle with one card", ours: total, most: 5, note })

  const found = { ours: [], hand: [] }
  let pressed = 0
  await pressAll(ours, PRESSES * 2, 0)
  await pressAll(hand, PRESSES * 2, pressed)
  pressed += PRESSES * 2
  for (let round = 0; round < ROUNDS; round += 1) {
    found.ours.push(await pressAll(ours, PRESSES, 0))
    found.hand.push(await pressAll(hand, PRESSES, pressed))
    pressed += PRESSES
  }
  for (const { what, of, least } of [
    { what: `presses to finished runs at ${AT_ONCE} at once`, of: ({ finished }) => finished, least: 0.8 },
    { what: "the same, and shown in Slack", of: ({ shown }) => shown },
  ]) {
    table.add({
      what,
      unit: "/s",
      ours: median(found.ours.map(of)),
      beside: { name: "a handler for Bolt around the plain loop", value: median(found.hand.map(of)) },
      ratio: median(found.ours.map((one, round) => of(one) / of(found.hand[round]))),
      least,
    })
  }

  const acks = { ours: [], bare: [] }
  for (let round = 0; round < BURSTS; round += 1) {
    const parked = await ours.one.call("park", BURST)
    acks.ours.push(
      ...(await burst(
        ours,
        parked.map(({ value }) => value),
      )),
    )
    await ours.one.call("shown")
    acks.bare.push(
      ...(await burst(
        acker,
        parked.map(({ value }) => value),
      )),
    )
  }
  table.add({
    what: `ack under ${PER_SECOND} presses a second, p99`,
    unit: "ms",
    ours: quantile(acks.ours, 0.99),
    beside: { name: "a handler for Bolt that only acks", value: quantile(acks.bare, 0.99) },
    most: 2,
  })
  for (const one of [ours, hand, acker]) await one.close()
  await fake.close()
}
