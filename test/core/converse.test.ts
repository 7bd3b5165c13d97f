import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { cancel, cancelled } from "../../src/core/ask.ts"
import { endName, handedOver, hear, MOST_KEPT, stretchOf, usedBy, type Heard } from "../../src/core/converse.ts"
import { brokenAt } from "../../src/core/fact.ts"
import { mayDecide } from "../../src/core/policy.ts"
import { indexesOf, needsOf, wakeAt, wishOf } from "../../src/core/run.ts"
import { readRun, writeRun } from "../../src/core/stored.ts"
import { rooted } from "../../src/core/thread.ts"
import { decided, end, starting, finished, took } from "../../src/core/turn.ts"
import { commit, member, newLife, REQ, RULE, turnOf, type Life, type Want } from "./life.ts"

const ADA = { team: "T1", user: "U0APP1", name: "Ada" }
const entry = (text: string) => JSON.stringify({ role: "user", content: [{ type: "text", text }] })

function say(life: Life, text: string, { by = REQ, now = 5000, cause = `message:C:${text}` } = {}) {
  const { step, heard } = hear(life.run, { by, via: "reply", cause, entry: entry(text) }, now)
  return { life: commit(life, step), heard, step }
}

const turn = (life: Life, wants: readonly Want[], now = 3000): Life =>
  commit(life, took(life.run, turnOf(life.run, wants), now))

/** Runs and finishes every call that may start. */
function worked(life: Life, now = 4000): Life {
  let next = life
  for (const { id, state } of life.run.calls) {
    const message = entry(`result of ${id}`)
    if (state === "ready") {
      const { step } = starting(next.run, id, { id: `a${id}`, owner: "w", at: now }, now)
      next = commit(next, step)
      next = commit(next, finished(next.run, id, `a${id}`, { message, isError: false, outcome: "ok" }, now))
    } else if (state === "decided") {
      next = commit(next, decided(next.run, id, { message, isError: true, outcome: "declined" }, now))
    }
  }
  return next
}

/** What people said, as the model reads it, in order. */
const texts = ({ transcript }: Life): string[] =>
  transcript.flatMap((text) => [...text.matchAll(/"text":"([^"]*)"/g)].map(([, said = ""]) => said))

describe("a reply", () => {
  test("while a call runs is kept, and read after the results of the turn", () => {
    const busy = turn(newLife(), [{ do: "run" }])
    const { life, heard } = say(busy, "and worker")
    expect(heard).toBe("kept")
    expect(texts(life)).not.toContain("and worker")
    expect(wakeAt(life.run)).toBe(wakeAt(busy.run))
    const after = worked(life)
    expect(texts(after).slice(-2)).toEqual(["result of 1.1", "and worker"])
    expect(after.run.said).toBeUndefined()
    expect(needsOf(after.run)).toBe("transcript")
  })

  test("while a card waits answers nothing, and is read once that is settled", () => {
    const { life, heard } = say(turn(newLife(), [{ do: "ask" }]), "yes, approve it")
    expect(heard).toBe("kept")
    expect(life.run.asks.map(({ settled }) => settled)).toEqual([undefined])
    expect(wakeAt(life.run)).toBe(life.run.asks[0]?.expiresAt)
  })

  test("while the model answers is read in the next turn, and the answer stands", () => {
    const { life } = say(newLife(), "one more thing")
    const after = turn(life, [])
    expect(after.run.ended).toBeUndefined()
    expect(after.run.stretch).toEqual({ n: 1, turns: 1, tokens: usedBy(life.run).tokens + 15 })
    expect(texts(after).at(-1)).toBe("one more thing")
    expect(after.texts.has("answer")).toBe(true)
    expect(wakeAt(after.run)).toBe(0)
    const over = turn(after, [])
    expect(over.run.ended?.how).toBe("done")
    expect([...over.texts.keys()].filter((field) => field.startsWith("answer"))).toEqual(["answer", "answer:1"])
  })

  test("to a run that has ended wakes it: with its limits anew, in its lists, not to be deleted", () => {
    const over = turn(newLife(), [])
    expect(wakeAt(over.run)).toBe(3000 + over.run.keep)
    const { life, heard, step } = say(over, "go on")
    expect(heard).toBe("goes on")
    expect(step?.facts.map(({ what }) => what)).toEqual(["said", "continued"])
    expect(life.run.ended).toBeUndefined()
    expect(wakeAt(life.run)).toBe(0)
    expect(usedBy(life.run)).toEqual({ turns: 0, tokens: 0 })
    expect(texts(life).at(-1)).toBe("go on")
    expect(brokenAt(life.facts)).toBeUndefined()
    expect(readRun(writeRun(life.run))).toEqual(life.run)
  })

  test("comes again, and is heard once; so does the message that the run began with", () => {
    const { life } = say(turn(newLife(), []), "go on")
    expect(say(life, "go on").heard).toBe("before")
    expect(say(life, "x", { cause: life.run.cause }).heard).toBe("before")
    const later = Array.from({ length: 10 }, (_, n) => `more ${n}`).reduce((at, text) => say(at, text).life, life)
    expect(say(turn(later, []), "go on").heard).toBe("before")
  })

  test("of so many that are kept already is not kept, and neither is one to a run that is being cancelled", () => {
    let life = turn(newLife(), [{ do: "ask" }])
    const heard: Heard[] = []
    for (let n = 0; n <= MOST_KEPT; n++) {
      const said = say(life, `no ${n}`)
      heard.push(said.heard)
      life = said.life
    }
    expect(heard).toEqual([...Array<Heard>(MOST_KEPT).fill("kept"), "too much"])
    const stopping = commit(life, cancelled(life.run, { via: "bot", cause: "c" }, 6000))
    expect(say(stopping, "stop").heard).toBe("stopping")
  })

  test("that was not read before the run was cancelled is counted, and read with the next one", () => {
    const waits = say(turn(newLife(), [{ do: "ask" }]), "first").life
    const stopped = worked(commit(waits, cancelled(waits.run, { via: "command", cause: "command:t2", by: REQ }, 6000)))
    expect(stopped.run.ended?.how).toBe("cancelled")
    const { life, step } = say(stopped, "second")
    expect(texts(life).slice(-2)).toEqual(["first", "second"])
    expect(step?.run.cancelled).toBeUndefined()
  })

  test("is not ended by the cancelling before it, when that comes again", () => {
    const who = { ...member(ADA.user), person: ADA }
    const by = { who, people: [ADA.user], via: "command", cause: "command:t2" } as const
    const first = cancel(turn(newLife(), [{ do: "ask" }]).run, by, 6000)
    const stopped = worked(commit(turn(newLife(), [{ do: "ask" }]), first.step))
    expect(stopped.run.ended?.how).toBe("cancelled")
    const { life } = say(stopped, "go on after all")
    expect(cancel(life.run, by, 7000)).toEqual({ outcome: { kind: "cancelled" } })
    expect(cancel(life.run, { ...by, cause: "command:t3" }, 7000).step?.run.ended?.how).toBe("cancelled")
  })

  test("ends what was granted for the stretch before it, and forgets what was refused in that", () => {
    const over = turn(newLife(), [])
    const grant = { id: "g", ask: "a", tool: "t", mark: "m", rule: RULE, by: ADA, at: 1, until: 999_999 }
    const { life } = say({ ...over, run: { ...over.run, grants: [grant], refusals: { x: 3 } } }, "go on")
    expect(life.run.grants?.map(({ until }) => until)).toEqual([5000])
    expect(life.run.refusals).toEqual({})
  })
})

describe("who spoke", () => {
  const waits = turn(say(turn(newLife(), []), "restart worker, too", { by: ADA }).life, [{ do: "ask" }])

  test("may not approve, whoever asked first may not either, and both may decline", () => {
    const wish = wishOf(waits.run)
    expect(wish).toEqual({ requester: REQ, asker: ADA, speakers: [ADA] })
    expect(mayDecide(RULE, wish, member("U0APP1"), true)).toEqual({ ok: false, why: "own words" })
    expect(mayDecide(RULE, wish, member("U0REQ"), true)).toEqual({ ok: false, why: "own request" })
    expect(mayDecide(RULE, wish, member("U0APP2"), true)).toEqual({ ok: true })
    for (const user of ["U0APP1", "U0REQ"]) expect(mayDecide(RULE, wish, member(user), false)).toEqual({ ok: true })
  })

  test("last is who confirms alone, and finds it in their list", () => {
    const confirm = { ...RULE, selfApproval: "confirm" as const }
    expect(mayDecide(confirm, wishOf(waits.run), member("U0APP1"), true)).toEqual({ ok: true })
    expect(mayDecide(confirm, wishOf(waits.run), member("U0REQ"), true)).toEqual({ ok: false, why: "requester only" })
    const asked = { ...waits.run, asks: waits.run.asks.map((ask) => ({ ...ask, rule: confirm })) }
    expect([...indexesOf(asked).keys()].filter((name) => name.startsWith("waits:"))).toEqual(["waits:U0APP1"])
  })

  test("while a card waits is no party to it yet: the words were not read when it was asked", () => {
    const { run } = say(turn(newLife(), [{ do: "ask" }]), "also worker", { by: ADA }).life
    expect(mayDecide(RULE, wishOf(run), member("U0APP1"), true)).toEqual({ ok: true })
    expect(handedOver(run, 6000)).toBeUndefined()
  })
})

test("a run is found by its thread, and by the new one when its first message was posted anew", () => {
  const { run } = newLife()
  const at = (ts: string, of = run) => rooted(of, ts, 2000)?.run ?? of
  const first = at("1700000000.000100")
  expect(indexesOf(first).get("thread:C0OPS")).toBe(1_700_000_000_000_100)
  expect(rooted(first, "1700000000.000100", 2000)).toBeUndefined()
  expect(indexesOf(at("1700000009.000100", first)).get("thread:C0OPS")).toBe(1_700_000_009_000_100)
  const below = { ...run, below: true as const, thread: "1600000000.000100" }
  expect(at("1700000000.000100", below).thread).toBe("1600000000.000100")
})

test("ends of stretches are told apart from their messages", () => {
  expect([0, 1, 12].map((n) => stretchOf(endName(n)))).toEqual([0, 1, 12])
  expect(["end:0", "end:s1.0", "root", "card:end"].map(stretchOf)).toEqual([undefined, undefined, undefined, undefined])
})

test("whatever people say and the model does, each message is read once, in order, after balanced turns", () => {
  const act = fc.oneof(
    fc.record({ act: fc.constant("say" as const), by: fc.constantFrom(REQ, ADA) }),
    fc.record({ act: fc.constant("again" as const) }),
    fc.record({ act: fc.constant("turn" as const), calls: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ act: fc.constant("work" as const) }),
    fc.record({ act: fc.constant("fail" as const) }),
  )
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      let life = newLife()
      const said: string[] = []
      for (const [n, one] of acts.entries()) {
        const now = 5000 + n
        if (one.act === "say") {
          const after = say(life, `say ${n}.`, { by: one.by, now })
          life = after.life
          if (after.heard === "kept" || after.heard === "goes on") said.push(`say ${n}.`)
        } else if (one.act === "again") {
          const last = said.at(-1)
          if (last !== undefined) expect(say(life, last, { now }).heard).toBe("before")
        } else if (one.act === "turn") {
          if (life.run.ended || life.run.calls.length > 0) continue
          life = turn(
            life,
            Array.from({ length: one.calls }, (): Want => ({ do: "run" })),
            now,
          )
        } else if (one.act === "work") life = worked(life, now)
        else if (life.run.calls.length === 0) life = commit(life, end(life.run, { how: "failed", words: "no" }, now))
        expect(readRun(writeRun(life.run))).toEqual(life.run)
      }
      const read = texts(worked(life)).filter((text) => text.startsWith("say"))
      expect(read).toEqual(said.slice(0, read.length))
      expect((life.run.said ?? []).length).toBeGreaterThanOrEqual(0)
      if (worked(life).run.ended) expect(read).toEqual(said)
      expect(brokenAt(life.facts)).toBeUndefined()
    }),
    { numRuns: 100 },
  )
})
