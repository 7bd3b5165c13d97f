// What a click costs by what stands beside the state: a long transcript, or a sibling's long output. And what goes to Redis
// with a turn, which should be its own bytes, however long the conversation is.
import { randomUUID } from "node:crypto"
import { sha256 } from "../../dist/core/digest.js"
import { took } from "../../dist/core/turn.js"
import { runIdOf } from "../../dist/store/keys.js"
import { Store } from "../../dist/store/store.js"
import { click, log, RULE, start, text, TRANSCRIPT } from "../bot.mjs"
import { median, sleep } from "../measure.mjs"

/** Clicks of each size: of the largest, Redis then holds so many times 2 MB. */
const CLICKS = 60
const SIZES = [
  ["2 kB", 2e3],
  ["200 kB", 2e5],
  ["2 MB", 2e6],
]
const MOST = 1.2

/** A turn of the model with two asks whose first call already has its output, so that a click finds that beside it. */
function turnOf(output) {
  const args = '{"service":"web"}'
  const result = { type: "tool-result", toolCallId: "a", toolName: "read", output: { type: "text", value: output } }
  const message = JSON.stringify({ role: "tool", content: [result] })
  const base = { tool: "restart", effects: "once", args, digest: sha256(args) }
  const asked = (ref, id) => ({
    ...base,
    ref,
    next: { do: "ask", rule: RULE, request: { id, kind: "approval", prompt: ref } },
  })
  const planned = [
    { ...base, ref: "a", next: { do: "result", message, isError: false, why: "ok" } },
    asked("b", "ask-b"),
    asked("c", "ask-c"),
  ]
  return { message: '{"role":"assistant","content":[]}', text: "", usage: { prompt: 1, completion: 1 }, planned }
}

const take = (store, id, output) =>
  store.apply(id, (run, now) => ({ step: took(run, turnOf(output), now), outcome: undefined }))

async function parkTwo(store, transcript, output) {
  const id = runIdOf("T1", randomUUID(), 1)
  await start(store, id, transcript)
  await take(store, id, output)
  return id
}

export async function clicks({ url, table, admin }) {
  table.group("A click (read and commit), and a turn, by what stands beside the state")
  const store = await Store.open({ url, prefix: "clicks", shards: 1, confirm: 0, outbox: false, log })
  const small = text(TRANSCRIPT)

  /** ms of each click, for each of the sizes, which take turns: what else the machine does meets all alike. */
  async function times(sizes, park) {
    const ids = []
    for (const size of sizes) {
      const big = text(size)
      ids.push([])
      for (let i = 0; i < CLICKS; i += 1) ids.at(-1).push(await park(big))
    }
    // Redis still writes to its file what was parked.
    await sleep(1500)
    const found = ids.map(() => [])
    for (let i = 0; i < CLICKS; i += 1) {
      for (let turn = 0; turn < ids.length; turn += 1) {
        // Each is first as often as the others: who follows whom costs something, too.
        const index = (i + turn) % ids.length
        const of = ids[index]
        const began = performance.now()
        await click(store, of[i], "ask-b")
        found[index].push(performance.now() - began)
      }
    }
    await admin.flushall()
    return found
  }

  /** Bytes that Redis was sent by `act`, and that it answered. */
  async function moved(act) {
    const read = async () => {
      const stats = await admin.info("stats")
      return ["input", "output"].map((way) => Number(new RegExp(`total_net_${way}_bytes:(\\d+)`, "u").exec(stats)?.[1]))
    }
    // What asking costs is taken off: the answer's length changes by no more than a digit or two.
    await read()
    const first = await read()
    const second = await read()
    await act()
    return (await read()).reduce((sum, now, way) => sum + now - second[way] - (second[way] - first[way]), 0)
  }

  const rows = [
    { beside: "a transcript", park: (big) => parkTwo(store, big, small) },
    { beside: "a sibling's output", park: (big) => parkTwo(store, small, big) },
  ]
  for (const { beside, park } of rows) {
    const found = await times(
      SIZES.map(([, bytes]) => bytes),
      park,
    )
    for (const [index, [size]] of SIZES.entries()) {
      if (index === 0) continue
      table.add({
        what: `click beside ${beside} of ${size}`,
        unit: "ms",
        ours: median(found[index]),
        beside: { name: `beside one of ${SIZES[0][0]}`, value: median(found[0]) },
        ratio: median(found[index].map((ms, i) => ms / found[0][i])),
        most: MOST,
      })
    }
  }
  const turns = []
  const presses = []
  for (const [, bytes] of SIZES) {
    const id = runIdOf("T1", randomUUID(), 1)
    await start(store, id, text(bytes))
    turns.push(await moved(() => take(store, id, "ok")))
    presses.push(await moved(() => click(store, id, "ask-b")))
  }
  for (const { what, found } of [
    { what: "bytes to and from Redis of a turn", found: turns },
    { what: "bytes to and from Redis of a click", found: presses },
  ]) {
    for (const [index, [size]] of SIZES.entries()) {
      if (index === 0) continue
      table.add({
        what: `${what}, transcript of ${size}`,
        unit: "B",
        ours: found[index],
        beside: { name: `with one of ${SIZES[0][0]}`, value: found[0] },
        most: 1.05,
      })
    }
  }
  await store.close()
}
