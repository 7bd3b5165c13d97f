import fc from "fast-check"
import { afterEach, describe, expect, test } from "vitest"
import { expire } from "../../src/core/ask.ts"
import { type Outcome } from "../../src/core/settle.ts"
import type { Run } from "../../src/core/run.ts"
import type { Applied, Change, Store } from "../../src/store/store.ts"
import { startProxy } from "../fakes/proxy.ts"
import { freshPrefix, redisUrl } from "../redis.ts"
import { asking, beginning, clicking, freshId, HOUR, marking, marks, openStore } from "./runs.ts"

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function opened(options: Parameters<typeof openStore>[0] = {}): Promise<Store> {
  const store = await openStore(options)
  closing.push(() => store.close())
  return store
}

/** Two processes on one Redis. */
async function two(): Promise<[Store, Store]> {
  const prefix = freshPrefix()
  return [await opened({ prefix }), await opened({ prefix })]
}

async function parked(store: Store, expiresIn = HOUR): Promise<string> {
  const id = freshId()
  await store.apply(id, beginning(id))
  expect((await store.apply(id, asking("a", expiresIn))).kind).toBe("applied")
  return id
}

const outcomeOf = <O>(result: Applied<O>): O | string => (result.kind === "applied" ? result.outcome : result.kind)

/** The timer: whoever finds an ask overdue. */
const timer = (run: Run | undefined, now: number): Change<string> => {
  const step = run && expire(run, now)
  return step ? { step, outcome: "expired" } : { outcome: run?.asks[0]?.settled?.cause ?? "open" }
}

describe("many applies for one run in one process", () => {
  test("are merged into few commits, a fact each", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    closing.push(() => proxy.close())
    const store = await opened({ url: proxy.url, outbox: true })
    const id = await parked(store)
    proxy.forget()
    const clicks = Array.from({ length: 50 }, (_, i) =>
      store.apply(id, clicking("a", `click ${i}`), { notAfterMs: 15_000 }),
    )
    const outcomes = (await Promise.all(clicks)).map(outcomeOf) as Outcome[]
    // The first goes alone, everybody else waits for it and goes together: two reads, two commits.
    expect(proxy.count("evalsha")).toBe(4)
    expect(outcomes.map(({ kind }) => kind)).toEqual(["recorded", ...Array(49).fill("settled")])
    const facts = (await store.facts(id)).map((fact) => JSON.parse(fact))
    expect(facts.map(({ n }) => n)).toEqual(Array.from({ length: 52 }, (_, i) => i + 1))
    expect(facts.filter(({ what }) => what === "refused")).toHaveLength(49)
    expect((await store.outbox.read(0, "", 100)).length).toBe(52)
    expect((await store.load(id))?.revision).toBe(4)
  })

  test("of which each creates its own run need no reading first, and are asked again where there is one", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    closing.push(() => proxy.close())
    const store = await opened({ url: proxy.url })
    await store.peek()
    const ids = [freshId(), freshId()]
    await store.apply(ids[0] ?? "", beginning(ids[0] ?? ""), { known: "none" })
    proxy.forget()
    const results = await Promise.all(ids.map((id) => store.apply(id, beginning(id), { known: "none" })))
    expect(results.map(outcomeOf)).toEqual(["known", "started"])
    // Both commits go together.
    expect(proxy.count("evalsha")).toBe(1)
    const at = (await store.load(ids[1] ?? ""))?.run.at ?? 0
    expect(Math.abs(at - (await store.now()))).toBeLessThan(1000)
  })

  test("of owner and others stay apart: a lost lease costs nobody else their commit", async () => {
    const store = await opened()
    const id = await parked(store)
    const results = await Promise.all([
      store.apply(id, marking("a")),
      store.apply(id, marking("b"), { owner: "nobody" }),
      store.apply(id, marking("c")),
    ])
    expect(results.map((result) => result.kind)).toEqual(["applied", "not owner", "applied"])
    expect(Object.keys((await store.load(id))?.run.refusals ?? {})).toEqual(["a", "c"])
  })

  test("get each the texts that they wanted", async () => {
    const store = await opened()
    const id = await parked(store)
    const wants = [["prompt"], [], ["why:1", "prompt"], ["none"], ["args:1.1"]]
    const results = await Promise.all(wants.map((want, i) => store.apply(id, marking(`m${i}`), { want })))
    const texts = await Promise.all(wants.map((want) => store.texts(id, want)))
    expect(results.map((result) => result.kind === "applied" && result.wanted)).toEqual(texts)
  })

  test("of many runs don't wait for each other", async () => {
    const store = await opened()
    const ids = await Promise.all(Array.from({ length: 20 }, () => parked(store)))
    const results = await Promise.all(ids.map((id) => store.apply(id, clicking("a", "c"))))
    expect(results.map(outcomeOf)).toEqual(ids.map(() => expect.objectContaining({ kind: "recorded" })))
  })
})

describe("two processes", () => {
  test("with fifty clicks at once: one wins, and all the others are told who", async () => {
    const stores = await two()
    for (let round = 0; round < 5; round++) {
      const id = await parked(stores[0])
      const clicks = Array.from({ length: 50 }, (_, i) =>
        (i % 2 === 0 ? stores[0] : stores[1]).apply(id, clicking("a", `click ${i}`, i % 3 === 0), {
          notAfterMs: 15_000,
        }),
      )
      const outcomes = (await Promise.all(clicks)).map(outcomeOf) as Outcome[]
      const won = outcomes.filter(({ kind }) => kind === "recorded")
      expect(won).toHaveLength(1)
      const named = new Set(outcomes.map((outcome) => "ask" in outcome && JSON.stringify(outcome.ask.settled)))
      expect(named.size).toBe(1)
      const winner = won[0]?.kind === "recorded" ? won[0].ask.settled : undefined
      const run = (await stores[1].load(id))?.run
      expect(run?.asks[0]?.settled).toEqual(winner)
      const facts = (await stores[1].facts(id)).map((fact) => JSON.parse(fact))
      expect(facts.filter(({ what }) => what === "settled")).toHaveLength(1)
      expect(facts.map(({ n }) => n)).toEqual(facts.map((_, i) => i + 1))
    }
  })

  test("and the timer at the deadline: one outcome, the same for everybody", async () => {
    const [one, other] = await two()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 0, max: 25 }), async (expiresIn, wait) => {
        const id = await parked(one, expiresIn)
        const clickedAt = Date.now() + wait
        while (Date.now() < clickedAt) await new Promise(setImmediate)
        const [clicked, timed] = await Promise.all([one.apply(id, clicking("a", "click")), other.apply(id, timer)])
        const loaded = await other.load(id)
        const settled = loaded?.run.asks[0]?.settled
        const outcome = outcomeOf(clicked) as Outcome
        if (settled?.ok) {
          expect(settled.cause).toBe("click")
          expect(outcome.kind).toBe("recorded")
          expect(settled.at).toBeLessThan(loaded?.run.asks[0]?.expiresAt ?? 0)
        } else {
          expect(settled).toMatchObject({ reason: "expired", via: "timer" })
          expect(outcome).toMatchObject({ kind: "settled", ask: { settled } })
          // A timer that looked too early found it open; the click then was the one to find it overdue.
          expect(["expired", settled?.cause, "open"]).toContain(outcomeOf(timed))
        }
        const facts = (await other.facts(id)).map((fact) => JSON.parse(fact).what)
        expect(facts.filter((what) => what === "settled" || what === "expired")).toHaveLength(1)
      }),
      { numRuns: 60 },
    )
  })

  test("that claim at once never hold the same run", async () => {
    const stores = await two()
    const ids = Array.from({ length: 40 }, () => freshId())
    await Promise.all(ids.map((id) => stores[0].apply(id, beginning(id))))
    const claims = await Promise.all(
      ids.map((_, i) => (i % 2 === 0 ? stores[0] : stores[1]).claim(`w${i % 2}`, 30_000)),
    )
    const taken = claims.map((claim) => (claim.kind === "run" ? claim.id : "none"))
    expect([...taken].sort()).toEqual([...ids].sort())
  })

  test("that change one run in any order lose no change", async () => {
    const stores = await two()
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), fc.nat(8)), { maxLength: 25 }), async (changes) => {
        const id = freshId()
        await stores[0].apply(id, beginning(id))
        const results = await Promise.all(
          changes.map(([who, cause]) => (who === 0 ? stores[0] : stores[1]).apply(id, marking(`m${cause}`))),
        )
        const causes = new Set(changes.map(([, cause]) => cause))
        const made = results.filter((result) => result.kind === "applied" && result.outcome === "marked")
        expect(made).toHaveLength(causes.size)
        expect(marks((await stores[1].load(id))?.run)).toBe(causes.size)
        expect(await stores[1].facts(id)).toHaveLength(causes.size + 1)
      }),
      { numRuns: 40 },
    )
  })
})
