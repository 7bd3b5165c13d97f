import { inspect } from "node:util"
import { Redis } from "ioredis"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { FORMAT, type Run, type Step, step } from "../../src/core/run.ts"
import { type Store, type Applied, type Change } from "../../src/store/store.ts"
import { freshPrefix, redisUrl, startRedis } from "../redis.ts"
import { ARGS, asking, beginning, clicking, freshId, HOUR, marking, marks, openStore, PROMPT } from "./runs.ts"

const prefix = freshPrefix()
let store: Store
let redis: Redis
beforeAll(async () => {
  store = await openStore({ prefix, outbox: true })
  redis = new Redis(redisUrl())
})
afterAll(async () => {
  await store.close()
  redis.disconnect()
})

const key = (kind: string, id = "") => `{${prefix}:0}:${kind}${id}`

type Done<O> = Applied<O> & { kind: "applied" }
function applied<O>(result: Applied<O>): Done<O> {
  if (result.kind !== "applied") throw new Error(`not applied: ${JSON.stringify(result)}`)
  return result
}

async function begun(): Promise<string> {
  const id = freshId()
  applied(await store.apply(id, beginning(id)))
  return id
}

async function parked(expiresIn = HOUR): Promise<string> {
  const id = await begun()
  applied(await store.apply(id, asking(`ask-${id}`, expiresIn)))
  return id
}

const revisionOf = async (id: string) => (await store.load(id))?.revision

/** A plain change with whatever goes beside it. */
const writing =
  ({ texts = {}, ...rest }: Partial<Omit<Step, "run" | "facts" | "texts">> & { texts?: Record<string, string> }) =>
  (run: Run | undefined, now: number): Change<string> => {
    const all = Object.entries(texts).map(([field, text]) => ({ field, text }))
    return run
      ? { step: step(run, now, [], { show: "", texts: all, ...rest }), outcome: "written" }
      : { outcome: "none" }
  }

describe("a commit", () => {
  test("creates a run once, and knows it again by its cause", async () => {
    const id = freshId()
    const first = applied(await store.apply(id, beginning(id)))
    const second = applied(await store.apply(id, beginning(id)))
    expect([first.outcome, second.outcome]).toEqual(["started", "known"])
    expect(second.revision).toBe(1)
    expect(await store.load(id)).toMatchObject({ revision: 1, run: { id, cause: `trigger:${id}` } })
  })

  test("swaps one revision for the next, with its facts, texts and transcript", async () => {
    const id = await parked()
    const loaded = await store.load(id)
    expect(loaded?.revision).toBe(2)
    expect(loaded?.run.asks).toHaveLength(1)
    expect((await store.facts(id)).map((fact) => JSON.parse(fact).what)).toEqual(["started", "asked"])
    expect(await store.transcript(id)).toEqual([
      '{"role":"user","content":"restart web"}',
      '{"role":"assistant","content":"…"}',
    ])
    expect(await store.texts(id, ["prompt", "args:1.1", "why:1", "nothing"])).toEqual([
      PROMPT,
      ARGS,
      "I would like to restart it.",
      undefined,
    ])
  })

  test("that lost the race is asked again, on the state that won", async () => {
    const id = await begun()
    const known = await store.load(id)
    applied(await store.apply(id, marking("first")))
    const seen: number[] = []
    const result = await store.apply(
      id,
      (run, now) => {
        seen.push(marks(run))
        return marking("second")(run, now)
      },
      { known },
    )
    expect(seen).toEqual([0, 1])
    expect(applied(result)).toMatchObject({ outcome: "marked", revision: 3 })
    expect(marks((await store.load(id))?.run)).toBe(2)
  })

  test("that recognises its cause in the newer state is not repeated", async () => {
    const id = await begun()
    const known = await store.load(id)
    applied(await store.apply(id, marking("the same")))
    expect(applied(await store.apply(id, marking("the same"), { known })).outcome).toBe("known")
    expect(await revisionOf(id)).toBe(2)
  })

  test("of a run that is gone is asked again without one", async () => {
    const id = await begun()
    const known = await store.load(id)
    await store.show.leaveShow(id, 1)
    await store.outbox.advance(0, "nobody", {})
    await redis.xtrim(key("outbox"), "MAXLEN", 0)
    expect(await store.remove(id)).toBe(true)
    expect(applied(await store.apply(id, marking("late"), { known }))).toMatchObject({
      outcome: "none",
      run: undefined,
    })
  })

  test("returns the texts and the transcript that were wanted, also when nothing changes", async () => {
    const id = await begun()
    const want = { want: ["prompt", "new", "none"], wantLog: true }
    const changed = applied(await store.apply(id, writing({ texts: { new: "n" }, append: ["2"] }), want))
    expect(changed.wanted).toEqual([PROMPT, "n", undefined])
    expect(changed.log).toEqual(['{"role":"user","content":"restart web"}', "2"])
    const same = applied(await store.apply(id, () => ({ outcome: 1 }), want))
    expect(same).toMatchObject({ wanted: changed.wanted, log: changed.log, revision: 2 })
  })

  test("moves texts to the transcript, those it writes itself and those that stood there", async () => {
    const id = await begun()
    applied(await store.apply(id, writing({ texts: { "out:1": "one", "out:2": "two", keep: "kept" } })))
    const append = [{ field: "out:2" }, "between", { field: "out:3" }, { field: "out:1" }]
    applied(await store.apply(id, writing({ texts: { "out:3": "three" }, append })))
    expect((await store.transcript(id)).slice(1)).toEqual(["two", "between", "three", "one"])
    const left = await store.texts(id, ["out:1", "out:2", "out:3", "keep"])
    expect(left).toEqual([undefined, undefined, undefined, "kept"])
  })

  test("that would move a text that isn't there changes nothing", async () => {
    const id = await begun()
    const result = await store.apply(id, writing({ texts: { x: "x" }, append: ["a", { field: "missing" }] }))
    expect(result).toMatchObject({ kind: "not recorded", error: { message: expect.stringContaining("missing") } })
    expect([await revisionOf(id), await store.transcript(id), await store.texts(id, ["x"])]).toEqual([
      1,
      ['{"role":"user","content":"restart web"}'],
      [undefined],
    ])
  })

  test("carries thousands of entries at once", async () => {
    const id = await begun()
    const append = Array.from({ length: 3000 }, (_, i) => String(i))
    const texts = Object.fromEntries(append.map((i) => [`t${i}`, i]))
    applied(await store.apply(id, writing({ append, texts })))
    expect((await store.transcript(id)).slice(1)).toEqual(append)
    expect(await store.texts(id, ["t0", "t999", "t1000", "t2999"])).toEqual(["0", "999", "1000", "2999"])
    applied(await store.apply(id, writing({ append: append.map((i) => ({ field: `t${i}` })) })))
    expect((await store.transcript(id)).slice(3001)).toEqual(append)
    expect(await redis.hexists(key("run:", id), "t1500")).toBe(0)
  })

  test("with a transition that throws rejects, and stores nothing", async () => {
    const id = await begun()
    const failing = store.apply(id, () => {
      throw new Error("a bug")
    })
    await expect(failing).rejects.toThrow("a bug")
    expect(await revisionOf(id)).toBe(1)
  })

  test("tells this process about itself", async () => {
    const told: [string, string][] = []
    const own = await openStore({ onCommit: (run, { show }) => told.push([run, show]) })
    const id = freshId()
    await own.apply(id, beginning(id))
    await own.apply(id, () => ({ outcome: "nothing" }))
    await own.apply(id, marking("m"))
    await own.close()
    expect(told).toEqual([
      [id, "cards"],
      [id, ""],
    ])
  })
})

describe("texts", () => {
  const odd = {
    empty: "[]",
    nested: '{"choices":[],"a":{},"id":15947634569000323}',
    separators: '"line\u2028paragraph\u2029"',
    nul: "a\u0000b",
    astral: "🛫 😀 e\u0301",
    spaces: "  \r\n\t ",
    none: "",
  }
  test("come back byte for byte, whatever they hold", async () => {
    const id = await begun()
    applied(await store.apply(id, writing({ texts: odd, append: Object.values(odd) })))
    const names = Object.keys(odd)
    expect(await store.texts(id, names)).toEqual(Object.values(odd))
    expect((await store.transcript(id)).slice(1)).toEqual(Object.values(odd))
    for (const [name, text] of Object.entries(odd)) {
      expect(await redis.hgetBuffer(key("run:", id), name)).toEqual(Buffer.from(text))
    }
  })

  test("with half a character are refused, and nobody else's commit with them", async () => {
    const id = await begun()
    const half = "\ud83d"
    const others = store.apply(id, marking("before"))
    const refused = [
      store.apply(id, writing({ texts: { a: half } })),
      store.apply(id, writing({ texts: { [half]: "a" } })),
      store.apply(id, writing({ append: [half] })),
      store.apply(id, writing({ slots: [{ name: "s", data: half }] })),
    ]
    const after = store.apply(id, marking("after"))
    for (const one of refused) await expect(one).rejects.toThrow(/half a character/)
    expect([applied(await others).outcome, applied(await after).outcome]).toEqual(["marked", "marked"])
    expect(marks((await store.load(id))?.run)).toBe(2)
  })
})

describe("a deadline", () => {
  test("is judged by Redis' clock: a step made before it is not stored after it", async () => {
    const id = await parked(300)
    const known = await store.load(id)
    const times: number[] = []
    // The click is judged in time, and reaches Redis too late.
    const result = await store.apply(
      id,
      (run, now) => {
        const change = clicking(`ask-${id}`, `click ${times.push(now)}`)(run, now)
        if (times.length === 1) busyFor(400)
        return change
      },
      { known },
    )
    expect(times).toHaveLength(2)
    expect(applied(result).outcome).toMatchObject({
      kind: "settled",
      ask: { settled: { reason: "expired", via: "timer" } },
    })
    expect((await store.load(id))?.run.asks[0]?.settled).toMatchObject({ ok: false, reason: "expired" })
  })

  test("that passed while the caller's knowledge aged is not judged from memory", async () => {
    const id = await parked(200)
    const known = await store.load(id)
    busyFor(250)
    const result = applied(await store.apply(id, clicking(`ask-${id}`, "c"), { known }))
    expect(result.outcome.kind).toBe("settled")
  })

  test("in the year 9999 is kept to the millisecond", async () => {
    const id = await begun()
    const at = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
    applied(await store.apply(id, (run, now) => asking(`ask-${id}`, at - now)(run, now)))
    expect(await redis.zscore(key("agenda"), id)).toBe(String(at))
    expect((await store.load(id))?.run.asks[0]?.expiresAt).toBe(at)
  })
})

describe("a person's commit", () => {
  test("that comes after its time is not recorded", async () => {
    const id = await begun()
    const result = await store.apply(
      id,
      (run, now) => {
        busyFor(120)
        return marking("slow")(run, now)
      },
      { notAfterMs: 50 },
    )
    expect(result.kind).toBe("not recorded")
    expect(await revisionOf(id)).toBe(1)
  })
})

describe("what stands in Redis", () => {
  test("begins with the prefix and the shard, and each step stays in one slot of a cluster", async () => {
    const server = await startRedis({ args: ["--cluster-enabled", "yes"] })
    const cluster = new Redis(server.url)
    await cluster.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
    await expect.poll(() => cluster.call("CLUSTER", "INFO"), { timeout: 10_000 }).toContain("cluster_state:ok")
    const three = await openStore({ url: server.url, prefix: "bot", shards: 3, outbox: true })
    const ids = Array.from({ length: 6 }, () => freshId(3))
    for (const id of ids) {
      applied(await three.apply(id, beginning(id)))
      applied(await three.apply(id, asking(`ask-${id}`)))
      applied(await three.apply(id, clicking(`ask-${id}`, "c")))
      await three.show.recordSent(id, "root", "{}")
      await three.show.addCopy(id, "root", "1.1", "{}")
    }
    await three.show.setPace("chat.update", 1)
    for (const shard of [0, 1, 2]) {
      await three.lease(shard, "audit", "me", 1000)
      await three.outbox.advance(shard, "me", { cursor: "1" })
      await three.show.showDue(shard)
    }
    const claim = await three.claim("me", 1000)
    expect(claim.kind === "run" && ids.includes(claim.id)).toBe(true)
    expect(await three.list(["requester:T1:U_REQ"], 10)).toHaveLength(6)
    await three.peek()
    const slots = new Map<string, Set<number>>()
    for (const name of await keysLike("*", cluster)) {
      const tag = /^(\{bot:\d\}):/.exec(name)?.[1] ?? name
      slots.set(tag, (slots.get(tag) ?? new Set()).add(Number(await cluster.call("CLUSTER", "KEYSLOT", name))))
    }
    expect([...slots.keys()].sort()).toEqual(["{bot:0}", "{bot:1}", "{bot:2}"])
    for (const [tag, of] of slots) expect([tag, of.size]).toEqual([tag, 1])
    await three.close()
    cluster.disconnect()
    await server.stop()
  })

  test("has no time to live, whatever the deadline", async () => {
    const id = await parked(14 * 24 * HOUR)
    const keys = await keysLike(`*${prefix}*${id}`)
    const kinds = keys.map((name) => name.slice(`{${prefix}:0}:`.length).split(":")[0])
    expect(new Set(kinds)).toEqual(new Set(["run", "log", "sent"]))
    for (const name of await keysLike(`{${prefix}:*`)) expect([name, await redis.ttl(name)]).toEqual([name, -1])
  })

  test("of two bots with different prefixes never meets", async () => {
    const other = await openStore()
    const id = await parked()
    expect(await other.load(id)).toBeUndefined()
    expect(await other.claim("w", 1000)).toMatchObject({ kind: "idle", next: undefined })
    applied(await other.apply(id, beginning(id, "another bot's")))
    applied(await other.apply(id, marking("m")))
    expect(marks((await store.load(id))?.run)).toBe(0)
    expect(await store.texts(id, ["prompt"])).toEqual([PROMPT])
    await other.close()
  })

  test("keeps the run in the lists that its state names", async () => {
    const id = await parked()
    const waits = key("index:waits:U_APP1")
    const requester = key("index:requester:T1:U_REQ")
    expect(await redis.zscore(requester, id)).toMatch(/^\d{13}$/)
    expect(await redis.zscore(waits, id)).toMatch(/^\d{13}$/)
    applied(await store.apply(id, clicking(`ask-${id}`, "c")))
    expect(await redis.zscore(waits, id)).toBeNull()
    expect(await redis.zscore(requester, id)).toMatch(/^\d{13}$/)
  })

  test("records the format, so that an older release leaves the run alone", async () => {
    const id = await begun()
    expect((await redis.hget(key("run:", id), "head"))?.split(" ")[3]).toBe(String(FORMAT))
  })
})

describe("lists", () => {
  test("are the newest of all shards, each run once", async () => {
    const three = await openStore({ shards: 3 })
    const ids: string[] = []
    for (let i = 0; i < 9; i++) {
      const id = freshId(3)
      ids.push(id)
      applied(await three.apply(id, beginning(id)))
      if (i % 2 === 0) applied(await three.apply(id, asking(`ask-${id}`)))
    }
    const mine = await three.list(["requester:T1:U_REQ", "waits:U_APP1"], 20)
    expect(mine.map(({ run }) => run.id).sort()).toEqual([...ids].sort())
    expect(mine[0]).toMatchObject({ revision: 2, now: expect.any(Number) })
    const waiting = await three.list(["waits:U_APP1"], 3)
    expect(waiting.map(({ run }) => run.id)).toEqual([ids[8], ids[6], ids[4]])
    expect(await three.list(["waits:nobody"], 3)).toEqual([])
    await three.close()
  })
})

describe("removing", () => {
  test("takes every key of the run and every mention of it", async () => {
    const own = freshPrefix()
    const one = await openStore({ prefix: own, outbox: true })
    const [gone, stays] = [freshId(), freshId()]
    for (const id of [gone, stays]) {
      applied(await one.apply(id, beginning(id)))
      applied(await one.apply(id, asking(`ask-${id}`)))
      await one.show.recordSent(id, "root", "{}")
    }
    expect(await one.remove(gone)).toBe(false)
    expect(await one.show.leaveShow(gone, 2)).toBe(true)
    expect(await one.remove(gone)).toBe(false)
    const again = Number(await redis.zscore(`{${own}:0}:agenda`, gone)) - (await one.now())
    expect(Math.abs(again - 60_000)).toBeLessThan(2000)
    await redis.xtrim(`{${own}:0}:outbox`, "MAXLEN", 0)
    expect(await one.remove(gone)).toBe(true)
    expect(await keysLike(`*${own}*${gone}*`)).toEqual([])
    expect(await keysLike(`*${own}*${stays}*`)).toHaveLength(3)
    for (const name of await keysLike(`{${own}:*`)) {
      if ((await redis.type(name)) === "zset") expect([name, await redis.zscore(name, gone)]).toEqual([name, null])
    }
    expect(await one.show.recordSent(gone, "late", "{}")).toBe(false)
    expect(await keysLike(`*${own}*${gone}*`)).toEqual([])
    await one.close()
  })
})

test("a run that somebody needs by now is not removed, and stays as it is", async () => {
  const id = await begun()
  await store.show.leaveShow(id, 1)
  await redis.xtrim(key("outbox"), "MAXLEN", 0)
  const seen: Run[] = []
  expect(await store.remove(id, (run) => seen.push(run) > 0)).toBe(false)
  expect((await store.load(id))?.run).toEqual(seen[0])
  expect(await store.remove(id, () => false)).toBe(true)
})

describe("a run that can't be removed for its facts", () => {
  test("is removed when nobody takes facts any more", async () => {
    const own = freshPrefix()
    const audited = await openStore({ prefix: own, outbox: true })
    const id = freshId()
    applied(await audited.apply(id, beginning(id)))
    await audited.show.leaveShow(id, 1)
    expect(await audited.remove(id)).toBe(false)
    await audited.close()
    const quiet = await openStore({ prefix: own })
    expect(await quiet.remove(id)).toBe(true)
    expect(await quiet.load(id)).toBeUndefined()
    await quiet.close()
  })
})

describe("an error", () => {
  test("of Redis carries no text of people", async () => {
    const id = await begun()
    const broken = await openStore({ prefix })
    await redis.del(key("log:", id))
    await redis.set(key("log:", id), "not a list")
    const result = await broken.apply(id, writing({ append: ["a secret"] }))
    expect(result).toMatchObject({ kind: "not known", error: { name: "ReplyError" } })
    expect(inspect(result, { depth: 9, showHidden: true })).not.toContain("secret")
    const reading = await broken.transcript(id).catch((error: unknown) => error)
    expect(Object.keys(reading as Error)).not.toContain("command")
    await broken.close()
  })
})

describe("ids", () => {
  test("that people type are just unknown", async () => {
    for (const id of ["", "x", "r00", "r00'; DROP", "r00aaaaaaaaaaa!", "rzzaaaaaaaaaaaa", `${freshId()} `, "{}"]) {
      expect(await store.load(id)).toBeUndefined()
    }
  })
})

describe("opening", () => {
  test("fixes the number of shards at the first start; another is refused with the remedy", async () => {
    const own = freshPrefix()
    await (await openStore({ prefix: own, shards: 3 })).close()
    await (await openStore({ prefix: own, shards: 3 })).close()
    await expect(openStore({ prefix: own, shards: 2 })).rejects.toThrow(/set redis\.shards to 3/)
  })

  test("says what is wrong with a prefix or a number of shards", async () => {
    for (const bad of ["", "a b", "{x}"]) await expect(openStore({ prefix: bad })).rejects.toThrow(/redis\.prefix/)
    for (const bad of [0, 1.5, 1297]) await expect(openStore({ shards: bad })).rejects.toThrow(/redis\.shards/)
  })

  test("reports how Redis keeps what it is given", async () => {
    const health = await store.health()
    expect(health).toMatchObject({ policy: "noeviction", aof: true, replicas: 0, role: "master" })
    expect(health.version).toMatch(/^\d+\.\d+/)
    expect(Math.abs(health.clockSkewMs)).toBeLessThan(1000)
    expect(Math.abs((await store.now()) - Date.now())).toBeLessThan(1000)
  })
})

function busyFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

async function keysLike(pattern: string, client = redis): Promise<string[]> {
  const found: string[] = []
  for await (const keys of client.scanStream({ match: pattern, count: 1000 })) found.push(...(keys as string[]))
  return [...new Set(found)]
}
