import { describe, expect, test } from "vitest"
import * as fc from "fast-check"
import { cancel, cancelled, expire, raise, shown } from "../../src/core/ask.ts"
import { settle } from "../../src/core/settle.ts"
import type { Attempted } from "../../src/core/settle.ts"
import { brokenAt } from "../../src/core/fact.ts"
import { sha256, shortened } from "../../src/core/digest.ts"
import type { Rule } from "../../src/core/policy.ts"
import { FORMAT, indexesOf, needsOf, openAsks, NewerFormat, saidLately, wakeAt } from "../../src/core/run.ts"
import type { Ask, Call, Run, Step } from "../../src/core/run.ts"
import { readRun, writeRun } from "../../src/core/stored.ts"
import { doubted } from "../../src/core/doubt.ts"
import { begin, askedAgain, decided, end, finished, starting, suspended, took, unmarked } from "../../src/core/turn.ts"
import { stumbled } from "../../src/core/stumble.ts"
import { commit, imbalance, member, newLife, REQ, result, RULE, take, turnOf } from "./life.ts"
import type { Life, Want } from "./life.ts"

const yes = (ask: string, user = "U0APP1", more: Partial<Attempted> = {}): Attempted => ({
  ask,
  version: 1,
  ok: true,
  who: member(user),
  via: "click",
  cause: `${user}:${ask}:1.1`,
  ...more,
})
const attempt = (id: string, owner = "me") => ({ id, owner, at: 0 })
const done = (ref: string) => ({ message: result(ref), isError: false, outcome: "ok" })
const call = (run: Run, index = 0) => {
  const found = run.calls[index]
  if (!found) throw new Error(`no call ${index}`)
  return found
}

describe("an ask", () => {
  test("is settled once; whoever comes later is told who won", () => {
    let life = take(newLife(), [{ do: "ask" }], 2000)
    const first = settle(life.run, yes("ask-1-1"), 3000)
    expect(first.outcome).toMatchObject({ kind: "recorded" })
    life = commit(life, first.step)
    const second = settle(life.run, yes("ask-1-1", "U0APP2", { ok: false }), 3001)
    expect(second.outcome).toMatchObject({
      kind: "settled",
      ask: { settled: { ok: true, by: { user: "U0APP1" }, at: 3000 } },
    })
    life = commit(life, second.step)
    expect(life.run.asks[0]?.settled).toMatchObject({ ok: true, at: 3000 })
    expect(life.facts.at(-1)).toMatchObject({ what: "refused", outcome: "already settled", by: { user: "U0APP2" } })
  })

  test("knows a repeated delivery of the click that settled it, and writes nothing for it", () => {
    const life = take(newLife(), [{ do: "ask" }], 2000)
    const after = commit(life, settle(life.run, yes("ask-1-1"), 3000).step)
    expect(settle(after.run, yes("ask-1-1"), 4000)).toEqual({ outcome: { kind: "recorded", ask: after.run.asks[0] } })
  })

  test("is expired by whoever looks first after its deadline, a yes included", () => {
    const life = take(newLife(), [{ do: "ask" }], 2000)
    const late = settle(life.run, yes("ask-1-1"), 2000 + RULE.expiresIn)
    expect(late.outcome).toMatchObject({
      kind: "settled",
      ask: { settled: { ok: false, reason: "expired", via: "timer" } },
    })
    expect(late.step?.facts.map((fact) => `${fact.what} ${fact.outcome}`)).toEqual([
      "expired expired",
      "refused too late",
    ])
    const texts = new Map(late.step?.texts.map(({ field, text }) => [field, text]))
    expect(JSON.parse(texts.get("answer:ask-1-1") ?? "")).toEqual({
      id: "ask-1-1",
      ok: false,
      data: { note: "the card is not known to have been delivered before 1970-01-01 00:01 UTC" },
      reason: "expired",
    })
  })

  test("is still open one millisecond before its deadline", () => {
    const life = take(newLife(), [{ do: "ask" }], 2000)
    expect(expire(life.run, 2000 + RULE.expiresIn - 1)).toBeUndefined()
    expect(settle(life.run, yes("ask-1-1"), 2000 + RULE.expiresIn - 1).outcome.kind).toBe("recorded")
  })

  test.each([
    ["an outsider", { who: member("U0OUT") }, "not listed"],
    ["the requester, who is no approver", { who: member("U0REQ") }, "own request"],
    ["a guest", { who: { ...member("U0APP1"), standing: "guest" as const } }, "guest"],
    ["somebody of another organisation", { who: { ...member("U0APP1"), standing: "foreign" as const } }, "foreign"],
    ["a deactivated account", { who: { ...member("U0APP1"), standing: "deactivated" as const } }, "deactivated"],
    [
      "somebody whose standing can't be looked up",
      { who: { ...member("U0APP1"), standing: "unknown" as const } },
      "cannot check",
    ],
  ])("refuses %s, and stays open", (_name, more, why) => {
    const life = take(newLife(), [{ do: "ask" }], 2000)
    const tried = settle(life.run, yes("ask-1-1", "U0OUT", more), 3000)
    expect(tried.outcome).toMatchObject({ kind: "denied", why })
    expect(openAsks(tried.step?.run ?? life.run)).toHaveLength(1)
    expect(tried.step?.facts).toMatchObject([{ what: "refused", outcome: why }])
  })

  test("may be declined by the requester, never approved", () => {
    const rule = { ...RULE, approvers: ["U0REQ"] }
    const life = newLife()
    const turn = turnOf(life.run, [{ do: "ask" }])
    const planned = turn.planned.map((one) => (one.next.do === "ask" ? { ...one, next: { ...one.next, rule } } : one))
    const asked = commit(life, took(life.run, { ...turn, planned }, 2000))
    expect(settle(asked.run, yes("ask-1-1", "U0REQ"), 3000).outcome).toMatchObject({
      kind: "denied",
      why: "own request",
    })
    expect(settle(asked.run, yes("ask-1-1", "U0REQ", { ok: false }), 3000).outcome.kind).toBe("recorded")
  })

  test("refuses a click on a version that is not the present one", () => {
    const life = take(newLife(), [{ do: "ask" }], 2000)
    expect(settle(life.run, yes("ask-1-1", "U0APP1", { version: 2 }), 3000).outcome.kind).toBe("changed")
  })

  test("can be told about when its turn is over", () => {
    let life = take(newLife(), [{ do: "ask" }], 2000)
    life = commit(life, settle(life.run, yes("ask-1-1", "U0APP1", { ok: false }), 3000).step)
    life = commit(life, decided(life.run, "1.1", done("call_1_1"), 3100))
    expect(life.run.asks).toEqual([])
    const archived = JSON.parse(life.texts.get("ask:ask-1-1") ?? "null")
    expect(settle(life.run, yes("ask-1-1", "U0APP2"), 9000, { archived }).outcome).toMatchObject({ kind: "settled" })
    expect(settle(life.run, yes("ask-1-1"), 9000).outcome).toEqual({ kind: "unknown" })
  })
})

describe("a call", () => {
  test("starts after its yes, and its yes ages", () => {
    let life = take(newLife(), [{ do: "ask" }], 2000)
    life = commit(life, settle(life.run, yes("ask-1-1"), 3000).step)
    expect(wakeAt(life.run)).toBe(0)
    expect(starting(life.run, "1.1", attempt("a"), 3000 + RULE.startWithin).outcome).toEqual({ kind: "go" })
    expect(starting(life.run, "1.1", attempt("a"), 3001 + RULE.startWithin).outcome).toEqual({ kind: "stale yes" })
    life = commit(life, askedAgain(life.run, "1.1", { id: "again", kind: "approval", prompt: "Run tool1" }, 20_000))
    expect(call(life.run).state).toBe("asked")
    expect(openAsks(life.run).map((ask) => ask.id)).toEqual(["again"])
  })

  test("in doubt, whose new attempt did not start in time, is in doubt again", () => {
    let life = take(newLife(), [{ do: "run" }], 2000)
    life = commit(life, starting(life.run, "1.1", attempt("a", "gone"), 2100).step)
    const mint = () => ({ id: "doubt-1", kind: "doubt", prompt: "It is not known" })
    life = commit(life, doubted(life.run, { ruleOf: () => RULE, mint }, 3000))
    life = commit(life, settle(life.run, yes("doubt-1", "U0APP1", { choice: "again" }), 3500).step)
    expect(starting(life.run, "1.1", attempt("b"), 14_000).outcome).toEqual({ kind: "stale yes" })
    life = commit(life, askedAgain(life.run, "1.1", { ...mint(), id: "doubt-2" }, 14_000))
    expect(openAsks(life.run)).toMatchObject([{ id: "doubt-2", from: "doubt", kind: "doubt" }])
    expect(starting(life.run, "1.1", attempt("b"), 14_001).outcome).toEqual({ kind: "no" })
    expect(doubted(life.run, { ruleOf: () => RULE, mint }, 14_001)).toBeUndefined()
    const done = commit(life, settle(life.run, yes("doubt-2", "U0APP1", { choice: "done" }), 15_000).step)
    expect(call(done.run).state).toBe("decided")
    const over = commit(life, cancelled(life.run, { via: "cli", cause: "c" }, 15_000))
    expect(call(over.run).state).toBe("decided")
    life = commit(life, settle(life.run, yes("doubt-2", "U0APP1", { choice: "again" }), 15_000).step)
    expect(starting(life.run, "1.1", attempt("c"), 15_001).outcome).toEqual({ kind: "go" })
  })

  test("in doubt is for those who may let it run, whoever answered its tool's question", () => {
    let life = take(newLife(), [{ do: "run" }], 2000)
    life = commit(life, starting(life.run, "1.1", attempt("a", "gone"), 2100).step)
    const asker = { ...RULE, approvers: [REQ.user], selfApproval: true }
    const how = { request: { id: "own", kind: "question", prompt: "Which one?" }, rule: asker }
    life = commit(life, suspended(life.run, "1.1", "a", how, 2200))
    life = commit(life, settle(life.run, yes("own", REQ.user, { data: { output: "this" } }), 2300).step)
    life = commit(life, starting(life.run, "1.1", attempt("b", "gone"), 2400).step)
    const mint = () => ({ id: "doubt-1", kind: "doubt", prompt: "It is not known" })
    life = commit(life, doubted(life.run, { ruleOf: () => RULE, mint }, 3000))
    const again = { choice: "again" } as const
    expect(settle(life.run, yes("doubt-1", REQ.user, again), 3100).outcome).toMatchObject({ kind: "denied" })
    expect(settle(life.run, yes("doubt-1", "U0APP1", again), 3100).outcome.kind).toBe("recorded")
  })

  test("is started by one attempt only", () => {
    let life = take(newLife(), [{ do: "run" }], 2000)
    life = commit(life, starting(life.run, "1.1", attempt("a"), 2100).step)
    expect(starting(life.run, "1.1", attempt("b"), 2200).outcome).toEqual({ kind: "no" })
    expect(starting(life.run, "1.1", attempt("a"), 2200)).toEqual({ outcome: { kind: "go" } })
  })

  test("whose attempt is lost becomes a doubt, unless it may be repeated", () => {
    let life = take(newLife(), [{ do: "run" }, { do: "run", effects: "repeatable" }], 2000)
    life = commit(life, starting(life.run, "1.1", attempt("a", "gone"), 2100).step)
    life = commit(life, starting(life.run, "1.2", attempt("b", "gone"), 2100).step)
    const mint = () => ({ id: "doubt-1", kind: "doubt", prompt: "It is not known" })
    life = commit(life, doubted(life.run, { ruleOf: () => RULE, mint }, 3000))
    expect(life.run.calls.map((one) => one.state)).toEqual(["running", "ready"])
    expect(openAsks(life.run)).toMatchObject([{ id: "doubt-1", from: "doubt", call: "1.1" }])
    expect(doubted(life.run, { ruleOf: () => RULE, mint }, 3001)).toBeUndefined()
    expect(settle(life.run, yes("doubt-1"), 3500).outcome.kind).toBe("choice missing")
    const again = commit(life, settle(life.run, yes("doubt-1", "U0APP1", { choice: "again" }), 3500).step)
    expect(call(again.run)).toMatchObject({ state: "ready", yes: { at: 3500 } })
    const known = commit(life, settle(life.run, yes("doubt-1", "U0APP1", { choice: "done" }), 3500).step)
    expect(call(known.run).state).toBe("decided")
    const failed = commit(life, settle(life.run, yes("doubt-1", "U0APP1", { ok: false }), 3500).step)
    expect(call(failed.run).state).toBe("decided")
  })

  test.each(["once", "repeatable"] as const)(
    "(%s) whose attempt is lost in a cancelled run is asked of nobody: its outcome is unknown",
    (effects) => {
      let life = take(newLife(), [{ do: "run", effects }], 2000)
      life = commit(life, starting(life.run, "1.1", attempt("a", "gone"), 2100).step)
      life = commit(life, cancelled(life.run, { via: "cli", cause: "c" }, 2200))
      const mint = () => ({ id: "doubt-1", kind: "doubt", prompt: "It is not known" })
      life = commit(life, doubted(life.run, { ruleOf: () => RULE, mint }, 3000))
      expect(openAsks(life.run)).toEqual([])
      expect(call(life.run)).toMatchObject({ state: "decided", ask: "doubt-1" })
      expect(life.run.asks).toMatchObject([{ from: "doubt", settled: { ok: false, reason: "cancelled" } }])
    },
  )

  test("in doubt takes the result of its own attempt, which closes the doubt, and no other's", () => {
    let life = take(newLife(), [{ do: "run" }], 2000)
    life = commit(life, starting(life.run, "1.1", attempt("a", "slow"), 2100).step)
    const mint = () => ({ id: "doubt-1", kind: "doubt", prompt: "It is not known" })
    life = commit(life, doubted(life.run, { ruleOf: () => RULE, mint }, 3000))
    expect(finished(life.run, "1.1", "other", done("call_1_1"), 4000)).toBeUndefined()
    life = commit(life, finished(life.run, "1.1", "a", done("call_1_1"), 4000))
    expect(imbalance(life.transcript)).toBeUndefined()
    expect(JSON.parse(life.texts.get("ask:doubt-1") ?? "null")).toMatchObject({ settled: { via: "bot" } })
    expect(needsOf(life.run)).toBe("transcript")
  })

  test("needs what it goes on with, and no text that bears a tool's own idea of a name", () => {
    const life = take(newLife(), [{ do: "run" }], 2000)
    const started = commit(life, starting(life.run, "1.1", attempt("a", "slow"), 2100).step)
    for (const [id, further] of [
      ["own", ["req:own", "answer:own"]],
      ["my own, at 10!", []],
    ] as const) {
      const how = { request: { id, kind: "approval", prompt: "Really?" }, rule: RULE }
      const asked = commit(started, suspended(started.run, "1.1", "a", how, 2200))
      expect(needsOf(asked.run)).toEqual([])
      for (const ok of [true, false]) {
        const answered = commit(asked, settle(asked.run, yes(id, "U0APP1", { ok }), 2300).step)
        expect(needsOf(answered.run)).toEqual(["args:1.1", ...further])
        for (const name of further) expect(answered.texts.has(name)).toBe(true)
      }
    }
  })

  test("whose yes is recorded takes no result of an attempt before it", () => {
    let life = take(newLife(), [{ do: "run" }, { do: "run", effects: "none" }], 2000)
    life = commit(life, starting(life.run, "1.1", attempt("a", "slow"), 2100).step)
    const mint = () => ({ id: "doubt-1", kind: "doubt", prompt: "It is not known" })
    const doubt = commit(life, doubted(life.run, { ruleOf: () => RULE, mint }, 3000))
    const again = commit(doubt, settle(doubt.run, yes("doubt-1", "U0APP1", { choice: "again" }), 3500).step)
    const how = { request: { id: "own", kind: "approval", prompt: "Really?" }, rule: RULE }
    const asked = commit(life, suspended(life.run, "1.1", "a", how, 2200))
    const answered = commit(asked, settle(asked.run, yes("own"), 2300).step)
    for (const { run } of [again, answered]) {
      expect(call(run).state).toBe("ready")
      expect(unmarked(run, "1.1", done("call_1_1"), 4000)).toBeUndefined()
      expect(suspended(run, "1.1", "a", { ...how, request: { ...how.request, id: "own2" } }, 4000)).toBeUndefined()
    }
    // What changes nothing needs no mark.
    expect(unmarked(life.run, "1.2", done("call_1_2"), 4000)).toBeDefined()
  })

  test("whose mark, or yes as well, the store lost takes the result of the attempt that began by it", () => {
    const asked = take(newLife(), [{ do: "ask" }], 2000)
    const ask = openAsks(asked.run)[0]?.id ?? ""
    const ready = commit(asked, settle(asked.run, yes(ask), 2100).step)
    const began = call(ready.run)
    for (const before of [asked, ready]) {
      expect(finished(before.run, "1.1", "a", done("call_1_1"), 3000)).toBeUndefined()
      const after = commit(before, finished(before.run, "1.1", "a", done("call_1_1"), 3000, began))
      expect(imbalance(after.transcript)).toBeUndefined()
      expect(JSON.parse(after.texts.get(`ask:${ask}`) ?? "null")).toMatchObject({ settled: { ok: true }, ran: "ok" })
      expect(after.run).toMatchObject({ calls: [], asks: [] })
    }
    const how = { request: { id: "own", kind: "approval", prompt: "Really?" }, rule: RULE }
    const own = commit(asked, suspended(asked.run, "1.1", "a", how, 3000, began))
    expect(openAsks(own.run).map(({ id }) => id)).toEqual(["own"])
    // Who ran it begins nothing: the yes to another question is for another attempt.
    const answered = commit(own, settle(own.run, yes("own"), 3100).step)
    expect(finished(answered.run, "1.1", "a", done("call_1_1"), 3200, began)).toBeUndefined()
    const changed = { ...began, digest: "of other args" }
    expect(finished(ready.run, "1.1", "a", done("call_1_1"), 3000, changed)).toBeUndefined()
  })

  test("that the tool suspended runs again with the answer, and can't suspend twice", () => {
    let life = take(newLife(), [{ do: "run" }], 2000)
    life = commit(life, starting(life.run, "1.1", attempt("a"), 2100).step)
    const how = { request: { id: "own", kind: "approval", prompt: "Really?" }, rule: RULE }
    expect(suspended(life.run, "1.1", "b", how, 2200)).toBeUndefined()
    life = commit(life, suspended(life.run, "1.1", "a", how, 2200))
    life = commit(life, settle(life.run, yes("own"), 2300).step)
    expect(call(life.run)).toMatchObject({ state: "ready", answered: "own" })
    life = commit(life, starting(life.run, "1.1", attempt("c"), 2400).step)
    expect(suspended(life.run, "1.1", "c", { ...how, request: { ...how.request, id: "own2" } }, 2500)).toBeUndefined()
  })

  test("keeps the sooner of the rule's and the Request's own deadline", () => {
    const life = take(newLife(), [{ do: "run" }], 2000)
    const near = { id: "n", kind: "approval", prompt: "?", expiresAt: "1970-01-01T00:00:10Z" }
    const far = { ...near, id: "f", expiresAt: "9999-12-31T23:59:59Z" }
    expect(
      raise(life.run, call(life.run), { request: near, from: "tool", rule: RULE }, 3000).run.asks[0]?.expiresAt,
    ).toBe(10_000)
    expect(
      raise(life.run, call(life.run), { request: far, from: "tool", rule: RULE }, 3000).run.asks[0]?.expiresAt,
    ).toBe(63_000)
  })
})

describe("a run", () => {
  test.each([
    ["  restart web\nand then api ", "restart web"],
    ["x".repeat(151), `${"x".repeat(149)}…`],
    // Where it is cut, half of a password would be no password to the mask.
    [`${"x".repeat(130)} postgres://u:hunter2@db`, `${"x".repeat(130)} postgres://u:[pass…`],
  ])("is called by the first line of what was asked for: %j", (prompt, title) => {
    const how = { id: "r00abc", cause: "c", requester: REQ, channel: "C0OPS", keep: 1, via: "command" } as const
    const { run, texts } = begin({ ...how, prompt, rooted: false, transcript: [] }, 1000)
    expect(run.title).toBe(title)
    expect(texts).toEqual([{ field: "prompt", text: prompt }])
    const named = begin({ ...how, prompt: "restart web", rooted: false, transcript: [] }, 1000)
    expect([named.run.title, named.texts]).toEqual(["restart web", []])
  })

  test("ends with the model's last words, and is due for deletion after its keep", () => {
    const life = take(newLife(), [], 2000)
    expect(life.run.ended).toEqual({ how: "done", at: 2000 })
    expect(wakeAt(life.run)).toBe(3000)
    expect(end(life.run, { how: "failed" }, 2001)).toBeUndefined()
  })

  test("whose answer was cut at the model's limit is incomplete, with what there is", () => {
    const life = newLife()
    const cut = commit(life, took(life.run, { ...turnOf(life.run, []), cut: "maxOutputTokens" }, 2000))
    expect(cut.run.ended).toEqual({ how: "incomplete", at: 2000, words: "maxOutputTokens" })
    expect(cut.texts.get("answer")).toBe("because")
  })

  test("retries the model with back-off, then fails with words", () => {
    let life = newLife()
    const how = { words: "the model is overloaded", retryable: true, limit: 2 }
    life = commit(life, stumbled(life.run, how, 2000))
    expect(wakeAt(life.run)).toBe(3000)
    life = commit(life, stumbled(life.run, { ...how, retryAfter: 9000 }, 3000))
    expect(wakeAt(life.run)).toBe(12_000)
    life = commit(life, stumbled(life.run, how, 12_000))
    expect(life.run.ended).toMatchObject({ how: "failed", words: "the model is overloaded" })
  })

  test("cancelled while asks are open settles them so, and ends when every call has its result", () => {
    let life = take(newLife(), [{ do: "ask" }, { do: "run" }], 2000)
    life = commit(life, starting(life.run, "1.2", attempt("a"), 2050).step)
    const by = { who: member("U0REQ"), people: [], via: "command" as const, cause: "trigger-2" }
    const tried = cancel(life.run, by, 2100)
    expect(tried.outcome).toEqual({ kind: "cancelled" })
    life = commit(life, tried.step)
    expect(life.run.asks[0]?.settled).toMatchObject({ ok: false, reason: "cancelled" })
    expect(life.run.ended).toBeUndefined()
    life = commit(life, decided(life.run, "1.1", done("call_1_1"), 2200))
    life = commit(life, finished(life.run, "1.2", "a", done("call_1_2"), 2300))
    expect(life.run.ended).toMatchObject({ how: "cancelled" })
    expect(imbalance(life.transcript)).toBeUndefined()
    expect(cancel(life.run, { ...by, cause: "other" }, 2400).outcome).toEqual({ kind: "over", how: "cancelled" })
  })

  test("can't be cancelled by an outsider, and says so in a fact", () => {
    const life = newLife()
    const tried = cancel(life.run, { who: member("U0OUT"), people: ["U0APP1"], via: "command", cause: "x" }, 2000)
    expect(tried.outcome).toEqual({ kind: "denied", why: "not listed" })
    expect(tried.step?.facts).toMatchObject([{ what: "refused", outcome: "cancel: not listed" }])
  })

  test("is found by its requester and, while an ask is open, by those it waits for", () => {
    let life = take(newLife(), [{ do: "ask" }], 2000)
    expect([...indexesOf(life.run).keys()]).toEqual(["requester:T1:U0REQ", "waits:U0APP1", "waits:U0APP2"])
    life = commit(life, settle(life.run, yes("ask-1-1"), 2100).step)
    expect([...indexesOf(life.run)]).toEqual([
      ["requester:T1:U0REQ", 1000],
      ["decided:T1:U0APP1", 2100],
    ])
  })

  test("is found by who said something in it, for as long as it is kept, twenty people at most", () => {
    const { run } = newLife()
    const people = Array.from({ length: 25 }, (_, n) => ({ team: "T1", user: `U${n}` }))
    const said = people.reduce((run, person, at) => saidLately(run, person, { id: "a" }, at), run)
    const last = saidLately(said, { team: "T1", user: "U10" }, { id: "b" }, 99)
    expect(last.lately).toHaveLength(20)
    expect(last.lately?.at(-1)).toEqual({ by: "T1:U10", ask: "b", at: 99 })
    expect(indexesOf({ ...last, ended: { how: "done", at: 100 } }).get("decided:T1:U10")).toBe(99)
    expect(indexesOf(last).has("decided:T1:U4")).toBe(false)
  })

  test("is stored without what its asks and calls both say, and read as it was", () => {
    const { run } = take(newLife(), [{ do: "ask" }, { do: "ask" }], 2000)
    const [digest = ""] = run.calls.map((call) => call.digest)
    expect(writeRun(run).split(shortened(digest))).toHaveLength(2)
    expect(readRun(writeRun(run))).toEqual(run)
    const edited = { ...run, asks: run.asks.map((ask) => ({ ...ask, digest: "another" })) }
    expect(readRun(writeRun(edited))).toEqual(edited)
    const odd = { ...run, calls: [] }
    expect(readRun(writeRun(odd))).toEqual(odd)
    const rare = {
      ...run,
      refusals: { x: 1 },
      calls: run.calls.map((call) => ({ ...call, digest: sha256("a"), effects: "repeatable" as const })),
      asks: run.asks.map((ask) => ({ ...ask, digest: sha256("a"), kind: "doubt", version: 2, expiresAt: 1 })),
    }
    rare.asks[0] = { ...rare.asks[0], from: "doubt" } as Ask
    expect(readRun(writeRun(rare))).toEqual(rare)
    // As releases before this one wrote it.
    expect(readRun(JSON.stringify(rare))).toEqual(rare)
  })

  test("is stored with all that can be said of it, nothing of it lost", () => {
    const person = { team: "T1", user: "U1", enterprise: "E1", name: "Ada" }
    const by = { team: "T1", user: "U2", enterprise: "E2" }
    const [digest, other] = [sha256("a"), sha256("b")]
    const rule: Required<Rule> = {
      name: "approvals[1]",
      approvers: ["U1", "S1"],
      also: [["U2"]],
      selfApproval: "confirm",
      quorum: 2,
      expiresIn: 60,
      startWithin: 70,
      notify: "dm",
      cards: "C1",
      remind: [10, 20],
      escalate: { after: 30, to: ["U3"], channel: "C2" },
      reason: { decline: "required" },
      edit: { by: "approvers", votes: true },
      grant: { for: 5, same: ["env"] },
      mask: ["args.token"],
    }
    const call: Required<Call> = {
      id: "1.1",
      ref: "call_1",
      tool: "deploy",
      effects: "repeatable",
      destructive: true,
      hints: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
      since: "changed",
      print: "0123456789abcdef",
      digest,
      edit: 1,
      state: "running",
      ask: "ask-1",
      yes: { ask: "ask-1", at: 4, within: 70 },
      grant: { id: "g0", request: "pnd-1" },
      answered: "ask-0",
      attempt: { id: "a1", owner: "w1", at: 5 },
      outcome: "error",
    }
    const ask: Required<Ask> = {
      id: "ask-1",
      call: "1.1",
      tool: "another",
      from: "doubt",
      held: "a1",
      kind: "doubt",
      version: 2,
      digest: other,
      at: 3,
      expiresAt: 44,
      rule,
      votes: [{ by: person, at: 3, cause: "c" }],
      edit: 1,
      editors: [by],
      reminded: 1,
      escalated: 33,
      shownAt: 4,
      settled: { ok: false, reason: "declined", choice: "again", by: person, via: "form", at: 5, cause: "c" },
      ran: "no",
      notRun: "cancelled",
    }
    const run: Required<Run> = {
      format: FORMAT,
      seal: "plain",
      id: "r00abc",
      cause: "trigger",
      requester: person,
      channel: "C1",
      thread: "1700000000.000100",
      below: true,
      asker: by,
      speakers: [by],
      said: [{ by, at: 5, cause: "message:C1:1700000001.000100", field: "said:1" }],
      heard: ["message:C1:1700000001.000100"],
      stretch: { n: 1, turns: 1, tokens: 7 },
      agent: "ops",
      title: "deploy",
      at: 1,
      keep: 2,
      rooted: true,
      counts: true,
      turns: 1,
      usage: { prompt: 3, completion: 4 },
      spent: { cached: 1, cost: 2, currency: "USD", last: 5 },
      calls: [call],
      asks: [ask],
      refusals: { x: 1 },
      grants: [
        {
          id: "g0",
          ask: "ask-0",
          tool: "deploy",
          mark: "m",
          rule,
          escalated: true,
          by,
          at: 1,
          until: 2,
          revoked: { by, at: 2, cause: "c" },
        },
      ],
      lately: [{ by: "T1:U1", ask: "ask-1", at: 5 }],
      retry: { count: 1, at: 9, words: "later" },
      cancelled: { by, via: "command", at: 6, cause: "c" },
      ended: { how: "cancelled", at: 7, words: "cancelled by Ada" },
      facts: { n: 3, hash: other },
    }
    expect(readRun(writeRun(run))).toEqual(run)
    for (const requester of [by, { team: "T1", user: "U1" }, { team: "T1", user: "U1", name: "" }]) {
      expect(readRun(writeRun({ ...run, requester })).requester).toEqual(requester)
    }
  })

  test("of the format before is read as it was", () => {
    const before =
      '{"format":1,"id":"r00abc","cause":"trigger-1","requester":{"team":"T1","user":"U0REQ","name":"Robin"},"channel":"C0OPS",' +
      '"title":"restart web","at":1000,"keep":1000,"rooted":true,"turns":1,"usage":{"prompt":10,"completion":5},"calls":[{"id":"1.1",' +
      '"ref":"call_1","tool":"restart","digest":"ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs","state":"ready","yes":{"ask":"pnd-1",' +
      '"at":2500,"within":900000}}],"asks":[{"id":"pnd-1","call":"1.1","at":2000,"rule":{"approvers":["U0APP"],"selfApproval":false,' +
      '"expiresIn":3600000,"startWithin":900000},"settled":{"ok":true,"by":{"team":"T1","user":"U0APP"},"via":"click","at":2500,' +
      '"cause":"c"}}],"lately":[{"by":"T1:U0APP","ask":"pnd-1","at":2500}],"facts":{"n":3,"hash":"ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs"}}'
    const digest = sha256("a")
    const run = readRun(before)
    expect(run).toMatchObject({ format: FORMAT, rooted: true, facts: { n: 3, hash: digest }, refusals: {} })
    expect(run.calls).toEqual([
      expect.objectContaining({
        tool: "restart",
        effects: "once",
        digest,
        yes: { ask: "pnd-1", at: 2500, within: 900_000 },
      }),
    ])
    expect(run.asks).toEqual([
      expect.objectContaining({
        tool: "restart",
        digest,
        from: "guard",
        kind: "approval",
        version: 1,
        expiresAt: 3_602_000,
      }),
    ])
    expect(readRun(writeRun(run))).toEqual(run)
  })

  test("of a newer format is handed back by name", () => {
    const { run } = newLife()
    expect(readRun(JSON.stringify(run))).toEqual(run)
    expect(() => readRun(JSON.stringify({ ...run, format: FORMAT + 1 }))).toThrow(NewerFormat)
    expect(() => readRun(JSON.stringify([FORMAT + 1, run.id]))).toThrow(NewerFormat)
    for (const none of ["[]", "{}", "null", "1", '"x"', '["1"]']) expect(() => readRun(none)).toThrow("no run")
  })
})

test("any mixture of calls, answers, crashes and cancels leaves a balanced transcript, one Answer an ask, an unbroken chain", () => {
  const want = fc.record({
    do: fc.constantFrom<Want["do"]>("run", "ask", "result"),
    effects: fc.constantFrom<NonNullable<Want["effects"]>>("none", "repeatable", "once"),
  })
  const move = fc.record({
    kind: fc.constantFrom(
      "yes",
      "no",
      "again",
      "start",
      "finish",
      "suspend",
      "crash",
      "expire",
      "cancel",
      "decide",
      "shown",
    ),
    pick: fc.nat(7),
    wait: fc.nat(9000),
  })
  fc.assert(
    fc.property(fc.array(want, { minLength: 1, maxLength: 5 }), fc.array(move, { maxLength: 60 }), (wants, moves) => {
      let now = 2000
      let life: Life = take(newLife(), wants, now)
      const answers = new Map<string, string>()
      for (const { kind, pick, wait } of moves) {
        now += wait
        life = play(life, kind, pick, now)
        for (const [field, text] of life.texts) {
          if (!field.startsWith("answer:")) continue
          expect(answers.get(field) ?? text).toBe(text)
          answers.set(field, text)
        }
        expect(Number.isFinite(wakeAt(life.run))).toBe(true)
      }
      for (let round = 0; life.run.calls.length > 0 && round < 50; round += 1) {
        now += RULE.expiresIn + 1
        for (const kind of ["crash", "expire", "decide", "start", "finish"]) {
          for (let pick = 0; pick < wants.length; pick += 1) life = play(life, kind, pick, now)
        }
      }
      expect(life.run.calls).toEqual([])
      expect(imbalance(life.transcript)).toBeUndefined()
      expect(brokenAt(life.facts)).toBeUndefined()
      expect(life.facts.length).toBe(life.run.facts.n)
    }),
    { numRuns: 300 },
  )
})

type Move = (life: Life, pick: number, now: number) => Step | undefined

const oneOf = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(list.length, 1)]
const fresh = (life: Life, name: string) => ({ id: `${name}-${life.facts.length}`, kind: "approval", prompt: "?" })

const answering =
  (more: Partial<Attempted>): Move =>
  ({ run }, pick, now) => {
    const ask = oneOf(run.asks, pick)
    return ask && settle(run, yes(ask.id, "U0APP1", { cause: `${pick}:${now}`, ...more }), now).step
  }

const MOVES: Record<string, Move> = {
  yes: answering({}),
  no: answering({ ok: false }),
  again: answering({ choice: "again" }),
  start: ({ run }, pick, now) => {
    const one = oneOf(run.calls, pick)
    return one && starting(run, one.id, attempt(`a${now}`), now).step
  },
  finish: ({ run }, pick, now) => {
    const one = oneOf(run.calls, pick)
    return one?.attempt && finished(run, one.id, one.attempt.id, done(one.ref), now)
  },
  suspend: (life, pick, now) => {
    const one = oneOf(life.run.calls, pick)
    const how = { request: fresh(life, `own${pick}`), rule: RULE }
    return one?.attempt && suspended(life.run, one.id, one.attempt.id, how, now)
  },
  crash: (life, _pick, now) =>
    doubted(life.run, { ruleOf: () => RULE, mint: ({ id }) => fresh(life, `doubt-${id}`) }, now),
  expire: ({ run }, _pick, now) => expire(run, now),
  cancel: ({ run }, _pick, now) => (run.cancelled ? undefined : cancelled(run, { via: "cli", cause: "c" }, now)),
  shown: ({ run }, pick, now) => {
    const ask = oneOf(run.asks, pick)
    return ask && shown(run, ask.id, now)
  },
  /** What a worker does with a call that won't run, or whose yes has aged. */
  decide: (life, pick, now) => {
    const one = oneOf(life.run.calls, pick)
    const over = one && (one.state === "decided" || (one.state === "ready" && life.run.cancelled))
    if (over) return decided(life.run, one.id, done(one.ref), now)
    const aged = one?.yes && one.yes.at + one.yes.within < now
    return aged ? askedAgain(life.run, one.id, fresh(life, `re${pick}`), now) : undefined
  },
}

const play = (life: Life, kind: string, pick: number, now: number): Life => commit(life, MOVES[kind]?.(life, pick, now))
