import { afterAll, beforeEach, describe, expect, test } from "vitest"
import { step } from "../../src/core/run.ts"
import type { ToLook, ToShow } from "../../src/store/show.ts"
import type { Store } from "../../src/store/store.ts"
import { asking, beginning, clicking, freshId, marking, openStore } from "./runs.ts"

let store: Store
beforeEach(async () => {
  await store?.close()
  store = await openStore({ outbox: true })
})
afterAll(() => store.close())

async function begun(): Promise<string> {
  const id = freshId()
  expect((await store.apply(id, beginning(id))).kind).toBe("applied")
  return id
}

async function due(): Promise<ToShow> {
  const next = await store.show.showDue(0)
  if (!("id" in next)) throw new Error("nothing to show")
  return next
}

const resting = (id: string) =>
  store.apply(id, (run, now) => (run ? { step: step(run, now, [], { show: "rest" }), outcome: 1 } : { outcome: 0 }))

describe("the show agenda", () => {
  test("gives cards that wait for people before everything else", async () => {
    const [first, second] = [await begun(), await begun()]
    for (const id of [first, second]) {
      const shown = await due()
      expect(shown).toMatchObject({ id, class: "cards", revision: 1, run: { id }, learnt: "" })
      expect([...shown.owed]).toEqual([["root", "{}"]])
      expect(await store.show.leaveShow(id, shown.revision)).toBe(true)
    }
    expect(await store.show.showDue(0)).toMatchObject({ next: undefined })
    await resting(first)
    await store.apply(second, asking("a"))
    expect(await due()).toMatchObject({ id: second, class: "cards" })
    await store.show.leaveShow(second, 2)
    expect(await due()).toMatchObject({ id: first, class: "rest" })
  })

  test("keeps a run that moved on while it was shown", async () => {
    const id = await begun()
    const { revision } = await due()
    await store.apply(id, asking("a"))
    expect(await store.show.leaveShow(id, revision)).toBe(false)
    expect((await due()).revision).toBe(2)
    expect(await store.show.leaveShow(id, 2)).toBe(true)
  })

  test("is not touched by commits that change nothing that people see", async () => {
    const id = await begun()
    await store.show.leaveShow(id, 1)
    await store.apply(id, marking("m"))
    expect(await store.show.showDue(0)).toMatchObject({ next: undefined })
  })

  test("puts off what Slack doesn't take now, unless it moved on", async () => {
    const id = await begun()
    const { now, revision } = await due()
    expect(await store.show.showLater(id, "cards", now + 60_000, { revision })).toBe(true)
    expect(await store.show.showDue(0)).toMatchObject({ next: now + 60_000 })
    await store.apply(id, asking("a"))
    expect((await due()).revision).toBe(2)
    expect(await store.show.showLater(id, "cards", now + 60_000, { revision })).toBe(false)
    expect((await due()).revision).toBe(2)
    expect(await store.show.showLater(id, "rest", now + 60_000)).toBe(true)
    expect(await store.show.showDue(0)).toMatchObject({ next: now + 60_000 })
  })

  test("forgets runs that are gone", async () => {
    const id = await begun()
    await store.show.leaveShow(id, 1)
    await store.lease(0, "audit", "me", 1000)
    const [entry] = await store.outbox.read(0, "", 1)
    await store.outbox.advance(0, "me", {}, entry?.entry)
    await store.remove(id)
    expect(await store.show.showLater(id, "rest", 1)).toBe(false)
    expect(await store.show.leaveShow(id, 1)).toBe(true)
    expect(await store.show.showDue(0)).toMatchObject({ next: undefined })
  })
})

describe("what Slack was sent", () => {
  test("is kept by slot, beside what is owed, and never counted as a change of the run", async () => {
    const id = await begun()
    await store.show.recordSent(id, "root", '{"ts":"1.1","hash":"x"}')
    await store.show.recordSent(id, "card:a", '{"ts":"1.2"}')
    await store.show.recordSent(id, "card:a", '{"ts":"1.2","hash":"y"}')
    const shown = await store.show.shown(id)
    expect([...shown.sent]).toEqual([
      ["root", '{"ts":"1.1","hash":"x"}'],
      ["card:a", '{"ts":"1.2","hash":"y"}'],
    ])
    expect([...shown.owed.keys()]).toEqual(["root"])
    expect((await store.load(id))?.revision).toBe(1)
    expect((await due()).sent).toEqual(shown.sent)
  })

  test("includes copies that a click taught, which are then due", async () => {
    const id = await begun()
    await store.apply(id, asking("a"))
    const { revision, learnt } = await due()
    expect(await store.show.addCopy(id, "card:a", "2.2", "{}")).toBe(true)
    expect(await store.show.addCopy(id, "card:a", "2.2", "{}")).toBe(false)
    // Rendered before the copy was known: not done yet.
    expect(await store.show.leaveShow(id, revision, learnt)).toBe(false)
    const again = await due()
    expect(again.copies).toEqual(new Map([["card:a", new Map([["2.2", "{}"]])]]))
    expect(await store.show.leaveShow(id, again.revision, again.learnt)).toBe(true)
    await store.show.addCopy(id, "card:a", "3.3", "{}")
    expect((await due()).copies.get("card:a")?.size).toBe(2)
  })

  test("owes each slot once, however often it is asked for", async () => {
    const id = await begun()
    const word = (data: string) => [{ name: "word:click 1", data }]
    await store.apply(id, marking("1", { slots: word('{"first":1}') }))
    await store.apply(id, marking("2", { slots: word('{"second":2}') }))
    expect((await store.show.shown(id)).owed.get("word:click 1")).toBe('{"first":1}')
  })
})

test("whoever takes up a run sees whether the one before came to an end with it", async () => {
  const id = await begun()
  const begin = (serving: boolean) => store.show.showLater(id, "cards", 0, { serving })
  expect((await due()).served).toBe(false)
  await begin(true)
  // Whatever else puts it off.
  await store.show.showLater(id, "cards", 0)
  expect((await due()).served).toBe(true)
  await begin(false)
  expect((await due()).served).toBe(false)
  await begin(true)
  expect(await store.show.leaveShow(id, 1)).toBe(true)
  await resting(id)
  expect((await due()).served).toBe(false)
})

describe("the line of those that are compared with Slack", () => {
  async function left(lookIn?: number): Promise<string> {
    const id = await begun()
    expect(await store.show.leaveShow(id, 1, "", lookIn)).toBe(true)
    return id
  }
  async function next(every = 0): Promise<ToLook> {
    const found = await store.show.lookNext(0, every)
    if (!("id" in found)) throw new Error("nobody waits")
    return found
  }

  test("has those that left the show agenda for it, each once, the longest waiting first", async () => {
    const [one, two] = [await left(0), await left(0)]
    await left()
    expect(await store.show.leaveShow(one, 1, "", 0)).toBe(true)
    const line = [await next(), await next(), await next(), await next()]
    expect(line.map(({ id }) => id)).toEqual([one, two, one, two])
    expect(line[0]).toMatchObject({ revision: 1, run: { id: one }, place: expect.stringMatching(`^\\d+ ${one}$`) })
  })

  test("says when the next is due, also to whoever looks at everything", async () => {
    const before = await store.now()
    await left(60_000)
    const idle = await store.show.lookNext(0, 1)
    expect(idle).toMatchObject({ next: expect.any(Number) as number })
    expect("id" in idle ? 0 : (idle.next ?? 0) - before).toBeGreaterThanOrEqual(60_000)
    expect((await store.peek()).looks).toBe("id" in idle ? 0 : idle.next)
  })

  test("loses whoever is done, unless the run moved on; they may come again", async () => {
    const id = await left(0)
    const first = await next()
    await resting(id)
    expect(await store.show.lookDone(first)).toBe(false)
    expect(await store.show.lookDone(await next())).toBe(true)
    expect(await store.show.lookNext(0, 0)).toMatchObject({ next: undefined })
    expect((await store.peek()).looks).toBeUndefined()
    await store.show.leaveShow(id, 2, "", 0)
    expect((await next()).id).toBe(id)
  })

  test("forgets runs that are gone", async () => {
    const id = await left(0)
    await store.lease(0, "audit", "me", 60_000)
    await store.outbox.advance(0, "me", {}, (await store.outbox.read(0, "", 1000)).at(-1)?.entry)
    expect(await store.remove(id)).toBe(true)
    expect(await store.show.lookNext(0, 0)).toMatchObject({ next: undefined })
    expect((await store.peek()).looks).toBeUndefined()
  })

  test("has whoever may still change before all others, once nothing can, until that is looked at", async () => {
    const [one, two] = [await left(0), await begun()]
    const now = await store.now()
    await store.show.recordSent(two, "root", "late", now)
    expect(await next()).toMatchObject({ id: two, why: "late", due: now })
    await store.show.recordSent(two, "root", "later", now + 60_000)
    await store.show.recordSent(two, "root", "and late again", now)
    expect(await next()).toMatchObject({ id: one, why: "line" })
    const [, ...others] = [await store.show.lookDone(await next()), await store.show.lookNext(0, 0)]
    expect(others).toMatchObject([{ next: now + 60_000 }])
    expect((await store.peek()).looks).toBe(now + 60_000)
  })

  test("loses whoever can't change any more, unless there was another call since", async () => {
    const id = await begun()
    const now = await store.now()
    await store.show.recordSent(id, "root", "late", now)
    const first = await next(10)
    await store.show.recordSent(id, "root", "later", now + 60_000)
    expect(await store.show.lateDone(first)).toBe(false)
    expect(await store.show.lookNext(0, 0)).toMatchObject({ next: now + 60_000 })
    expect(await store.show.lateDone({ id, place: String(now + 60_000) })).toBe(true)
    expect(await store.show.lookNext(0, 0)).toMatchObject({ next: undefined })
  })

  test("keeps a run from being deleted while it may still change", async () => {
    const id = await begun()
    await store.lease(0, "audit", "me", 60_000)
    await store.outbox.advance(0, "me", {}, (await store.outbox.read(0, "", 1000)).at(-1)?.entry)
    await store.show.leaveShow(id, 1)
    await store.show.recordSent(id, "root", "late", await store.now())
    expect(await store.remove(id)).toBe(false)
    expect(await store.show.lateDone(await next(60_000))).toBe(true)
    expect(await store.remove(id)).toBe(true)
  })

  test("corrects what is noted without a word where nothing is to be shown by it", async () => {
    const id = await left()
    await store.show.recordSent(id, "root", "old")
    expect(await store.show.correct(id, "root", "older", "new", "quiet")).toBe(false)
    expect(await store.show.correct(id, "root", "old", "new", "quiet")).toBe(true)
    expect((await store.show.shown(id)).sent.get("root")).toBe("new")
    expect(await store.show.showDue(0)).toMatchObject({ next: undefined })
  })

  test("corrects what is noted only where that still stands", async () => {
    const id = await left(0)
    await store.show.recordSent(id, "root", "old")
    expect(await store.show.correct(id, "root", "older", "new")).toBe(false)
    expect((await store.show.shown(id)).sent.get("root")).toBe("old")
    expect(await store.show.showDue(0)).toMatchObject({ next: undefined })
    expect(await store.show.correct(id, "root", "old", "new")).toBe(true)
    expect((await store.show.shown(id)).sent.get("root")).toBe("new")
    expect(await due()).toMatchObject({ id, class: "cards" })
  })
})

describe("pace", () => {
  test("is one for all shards", async () => {
    const three = await openStore({ shards: 3 })
    const limit = { key: "chat.update", every: 100, burst: 1, spare: 0 }
    expect(await three.show.takePace([limit], 1000)).toEqual({ at: 0, limit: 0, now: 1000 })
    expect(await three.show.takePace([limit], 1001)).toEqual({ at: 1100, limit: 0, now: 1001 })
    await three.show.setPace("chat.update", 1234)
    expect(await three.show.takePace([limit], 1233)).toMatchObject({ at: 1234 })
    await three.close()
  })

  test("takes under all limits or none, and by Redis' clock", async () => {
    const [wide, narrow] = [
      { key: "posts", every: 10, burst: 5, spare: 0 },
      { key: "posts:C1", every: 100, burst: 1, spare: 0 },
    ]
    expect(await store.show.takePace([wide, narrow], 1000)).toMatchObject({ at: 0 })
    for (let n = 0; n < 9; n++) {
      expect(await store.show.takePace([wide, narrow], 1000)).toMatchObject({ at: 1100, limit: 1 })
    }
    // One was taken, and nine were not.
    for (let n = 0; n < 4; n++) expect((await store.show.takePace([wide], 1000)).at).toBeLessThanOrEqual(1000)
    expect((await store.show.takePace([wide], 1000)).at).toBe(1010)
    const { now } = await store.show.takePace([wide])
    expect(Math.abs(now - (await store.now()))).toBeLessThan(1000)
  })
})

describe("the outbox", () => {
  test("holds every fact in order, as it was chained, until the audit is past it", async () => {
    const [one, two] = [await begun(), await begun()]
    await store.apply(one, asking("a"))
    await store.apply(one, clicking("a", "c"))
    const entries = await store.outbox.read(0, "", 10)
    expect(entries.map(({ run, fact }) => [run, JSON.parse(fact).what])).toEqual([
      [one, "started"],
      [two, "started"],
      [one, "asked"],
      [one, "settled"],
    ])
    expect(entries.filter(({ run }) => run === one).map(({ fact }) => fact)).toEqual(await store.facts(one))
    expect(await store.outbox.read(0, entries[1]?.entry ?? "", 1)).toEqual(entries.slice(2, 3))

    expect(await store.lease(0, "audit", "me", 10_000)).toBe(true)
    expect(await store.outbox.advance(0, "me", { cursor: "c1", lines: "2" }, entries[1]?.entry)).toBe(true)
    expect(await store.outbox.read(0, "", 10)).toEqual(entries.slice(2))
    expect(await store.outbox.audit(0)).toEqual({ cursor: "c1", lines: "2" })
    expect((await store.peek()).outbox).toBe(2)
  })

  test("is trimmed by nobody without the lease", async () => {
    await begun()
    const [entry] = await store.outbox.read(0, "", 1)
    expect(await store.outbox.advance(0, "me", { cursor: "c1" }, entry?.entry)).toBe(false)
    expect(await store.outbox.audit(0)).toEqual({})
    expect(await store.outbox.read(0, "", 10)).toHaveLength(1)
  })

  test("is empty where nobody reads it", async () => {
    const quiet = await openStore()
    const id = freshId()
    await quiet.apply(id, beginning(id))
    expect(await quiet.outbox.read(0, "", 10)).toEqual([])
    expect(await quiet.facts(id)).toHaveLength(1)
    await quiet.close()
  })
})
