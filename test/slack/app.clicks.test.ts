import { Redis } from "ioredis"
import { describe, expect, test } from "vitest"
import { expire } from "../../src/core/ask.ts"
import { settle } from "../../src/core/settle.ts"
import { decided } from "../../src/core/turn.ts"
import { OSCAR } from "../../src/sandbox/seed.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { startProxy } from "../fakes/proxy.ts"
import { redisUrl } from "../redis.ts"
import { ADA, GRACE, OPS, rig, ROBIN, SRE, type Rig } from "./app.rig.ts"
import { buttonsOf, isCard } from "./show.rig.ts"

/** A run with one card. */
async function asked(it: Rig, ...calls: Parameters<Rig["ask"]>[1][]): Promise<{ id: string; card: Message }> {
  const id = await it.start()
  const [card] = await it.ask(id, ...calls)
  if (!card) throw new Error("no card")
  return { id, card }
}

const settledFacts = async (it: Rig, id: string) => (await it.facts(id)).filter(({ what }) => what === "settled")
const refusals = async (it: Rig, id: string) => (await it.facts(id)).filter(({ what }) => what === "refused")
const open = async (it: Rig, id: string) => (await it.asks(id)).filter((ask) => !ask.settled).length
const deliveryOf = (it: Rig) => {
  const delivery = it.slack.workspace.deliveries.findLast(({ envelope }) => envelope.type === "interactive")
  if (!delivery) throw new Error("nothing was delivered")
  return delivery.envelope
}

describe("who may", () => {
  test("somebody who is no approver is refused in words, for yes and for no, and the card stays", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    await it.press(OSCAR, card, "approve")
    await it.told(OSCAR, "You are not among those who may decide this")
    // Where they look: in the thread.
    expect(it.slack.workspace.ephemerals(OSCAR).map(({ thread_ts }) => thread_ts)).toEqual([card.thread_ts])
    await it.press(OSCAR, card, "decline")
    await it.slack.workspace.waitFor(() => it.slack.workspace.ephemerals(OSCAR).length === 2)
    expect(await open(it, id)).toBe(1)
    expect(await refusals(it, id)).toMatchObject([
      { outcome: "not listed", by: { user: OSCAR, team: "T1" }, via: "click" },
    ])
    await it.press(ADA, card, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect(await settledFacts(it, id)).toMatchObject([{ outcome: "approved", by: { user: ADA } }])
  })

  test("an approver who was let in a moment ago needs not wait for our memory", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    await it.press(OSCAR, card, "approve")
    await it.told(OSCAR, "You are not among those")
    it.slack.workspace.alterGroup(SRE, { users: [OSCAR] })
    it.clock.later += 5000
    await it.press(OSCAR, card, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect(await settledFacts(it, id)).toMatchObject([{ by: { user: OSCAR } }])
  })

  test("whoever asked for the run may say no to their own request, and not yes", async () => {
    const it = await rig()
    it.slack.workspace.alterGroup(SRE, { users: [ROBIN, ADA] })
    const { id, card } = await asked(it)
    await it.press(ROBIN, card, "approve")
    await it.told(ROBIN, "You asked for this run, so somebody else has to approve it")
    expect(await open(it, id)).toBe(1)
    await it.press(ROBIN, card, "decline")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect(await settledFacts(it, id)).toMatchObject([{ outcome: "declined", by: { user: ROBIN } }])
  })

  test("a rule can let them, or ask them alone", async () => {
    const it = await rig()
    it.slack.workspace.alterGroup(SRE, { users: [ROBIN, ADA] })
    const id = await it.start()
    const [mine, alone] = await it.ask(id, { rule: { selfApproval: true } }, { rule: { selfApproval: "confirm" } })
    if (!mine || !alone) throw new Error("no cards")
    await it.press(ROBIN, mine, "approve")
    await it.press(ADA, alone, "approve")
    await it.told(ADA, "Only the person who asked")
    await it.press(ROBIN, alone, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(alone)).length === 0)
    expect(await settledFacts(it, id)).toMatchObject([{ by: { user: ROBIN } }, { by: { user: ROBIN } }])
  })

  test.each([
    ["a guest", { is_restricted: true }, "Guests"],
    ["a single-channel guest", { is_restricted: true, is_ultra_restricted: true }, "Guests"],
    ["a stranger", { is_stranger: true }, "other organisations"],
    ["somebody of another team in a shared channel", { team_id: "T2" }, "other organisations"],
    ["a deactivated account", { deleted: true }, "deactivated"],
  ])("%s is refused, listed or not", async (_, change, words) => {
    const it = await rig()
    const { id, card } = await asked(it, { rule: { approvers: [ADA, SRE] } })
    it.slack.workspace.alterPerson(ADA, change)
    it.clock.later += 61_000
    await it.press(ADA, card, "approve")
    await it.told(ADA, words)
    expect(await open(it, id)).toBe(1)
  })

  test("a payload that names a foreign team for one of ours is refused", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    await it.press(OSCAR, card, "approve")
    const { payload, ...envelope } = structuredClone(deliveryOf(it))
    const user = { id: ADA, username: "ada", name: "ada", team_id: "T2" }
    await it.slack.workspace.deliver({ ...envelope, envelope_id: "forged", payload: { ...payload, user } })
    await it.told(OSCAR, "other organisations")
    expect(await open(it, id)).toBe(1)
  })

  test("a name that looks like an approver's id opens nothing", async () => {
    const it = await rig()
    it.slack.workspace.alterPerson(OSCAR, { name: ADA, real_name: ADA })
    const { id, card } = await asked(it, { rule: { approvers: [ADA] } })
    await it.press(OSCAR, card, "approve")
    await it.told(OSCAR, "You are not among those")
    expect(await open(it, id)).toBe(1)
  })

  test.each([
    ["missing_scope", { do: "error", error: "missing_scope" }],
    ["500", { do: "status" }],
    ["429", { do: "429", retryAfter: 30 }],
    ["silence", { do: "hang" }],
  ] as const)(
    "when a group can't be looked up (%s) the answer is no, the card stays, and it can be tried again",
    async (_, rule) => {
      const it = await rig()
      const { id, card } = await asked(it)
      const broken = it.slack.workspace.misbehave({ ...rule, method: "usergroups.users.list" })
      await it.press(ADA, card, "approve")
      await it.told(ADA, "I can't check your rights now")
      expect(await open(it, id)).toBe(1)
      expect(buttonsOf(it.now(card))).toEqual(["approve", "decline"])
      expect(await refusals(it, id)).toMatchObject([{ outcome: "cannot check" }])
      broken.remove()
      it.clock.later += 31_000
      await it.press(ADA, card, "approve")
      await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    },
  )
})

describe("one Request, one Answer", () => {
  test("of fifty simultaneous presses against two processes one wins, and the others are told who did", async () => {
    const it = await rig()
    await it.another()
    const crowd = Array.from({ length: 50 }, (_, n) => `U0CROWD${n}`)
    for (const user of crowd) {
      it.slack.workspace.addPerson({ id: user })
      it.slack.workspace.join(OPS, user)
    }
    it.slack.workspace.alterGroup(SRE, { users: crowd })
    const { id, card } = await asked(it)
    const seen = await Promise.all(crowd.map((user) => it.press(user, card, "approve")))
    expect(seen.filter(({ acked, ackMs }) => acked && ackMs < 3000)).toHaveLength(50)
    await expect.poll(() => settledFacts(it, id), { timeout: 20_000 }).toHaveLength(1)
    const [won] = await settledFacts(it, id)
    const winner = won?.by?.user ?? ""
    for (const user of crowd.filter((it) => it !== winner)) {
      expect(await it.told(user, "Already settled: approved, restart by")).toContain(won?.by?.name)
    }
    // Who was first is told so as well, where Slack is slow to show it.
    expect(it.slack.workspace.ephemerals(winner).filter(({ text }) => !text.startsWith("Recorded"))).toEqual([])
    expect(await settledFacts(it, id)).toHaveLength(1)
    expect(await refusals(it, id)).toHaveLength(49)
  }, 60_000)

  test.each([
    ["", 5000],
    [", however soon the bot must stop", 0],
  ])("one person's repeated presses are answered each, and counted in one later fact%s", async (_name, ms) => {
    const it = await rig()
    const { id, card } = await asked(it)
    await Promise.all(Array.from({ length: 12 }, () => it.press(OSCAR, card, "approve")))
    await it.slack.workspace.waitFor(() => it.slack.workspace.ephemerals(OSCAR).length === 12)
    expect(await refusals(it, id)).toHaveLength(1)
    await it.bot.app.stop(ms)
    const [first, later, ...rest] = await refusals(it, id)
    expect(first).not.toHaveProperty("repeats")
    expect(later).toMatchObject({ by: { user: OSCAR }, outcome: "not listed", repeats: 10 })
    expect(rest).toEqual([])
  })

  test("a press answers the card it was made on, and no other", async () => {
    const it = await rig()
    const id = await it.start()
    const [first, second] = await it.ask(id, { args: { env: "a" } }, { args: { env: "b" } })
    if (!first || !second) throw new Error("no cards")
    await it.press(ADA, second, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(second)).length === 0)
    expect((await it.asks(id)).map((ask) => ask.settled?.ok)).toEqual([undefined, true])
    expect(buttonsOf(it.now(first))).toEqual(["approve", "decline"])
  })

  test("a yes after the no changes nothing, also when the run has gone on since", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    await it.press(ADA, card, "decline")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    await it.press(GRACE, card, "approve")
    await it.told(GRACE, "Already settled: declined, restart by ada")
    const [call] = (await it.run(id)).calls
    const result = { message: "{}", isError: true, outcome: "declined" }
    await it.change(id, (run, now) => decided(run, call?.id ?? "", result, now))
    expect((await it.run(id)).asks).toEqual([])
    await it.press(GRACE, card, "approve")
    await it.slack.workspace.waitFor(() => it.slack.workspace.ephemerals(GRACE).length === 2)
    expect(await settledFacts(it, id)).toMatchObject([{ outcome: "declined" }])
    expect((await it.run(id)).calls).toEqual([])
  })

  test("a press that Slack delivers again is the same press, and needs no second word", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    await it.press(ADA, card, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    const envelope = deliveryOf(it)
    for (const retry of [1, 2]) {
      const again = await it.slack.workspace.deliver({
        ...envelope,
        envelope_id: `again-${retry}`,
        retry_attempt: retry,
      })
      expect(again.acked).toBe(true)
    }
    await it.press(OSCAR, card, "approve")
    await it.told(OSCAR, "Already settled")
    expect(it.slack.workspace.ephemerals(ADA)).toEqual([])
    expect(await settledFacts(it, id)).toHaveLength(1)
  })

  test("a press that comes before our post has returned is honoured", async () => {
    const it = await rig()
    const id = await it.start()
    const { workspace } = it.slack
    workspace.misbehave({
      method: "chat.postMessage",
      times: 1,
      during: async () => {
        const card = workspace.messages(OPS).find(isCard)
        if (card) await workspace.click(ADA, card, "approve")
        await expect.poll(() => settledFacts(it, id), { timeout: 10_000 }).toHaveLength(1)
      },
    })
    const [card] = await it.ask(id)
    if (!card) throw new Error("no card")
    await workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect(await settledFacts(it, id)).toMatchObject([{ by: { user: ADA } }])
  })

  test("a press after the deadline is too late, whether anybody looked before or not", async () => {
    const it = await rig()
    const { id, card } = await asked(it, { rule: { expiresIn: 1500 } })
    const [ask] = await it.asks(id)
    await expect.poll(() => it.store.now(), { timeout: 5000 }).toBeGreaterThan(ask?.expiresAt ?? Infinity)
    await it.press(ADA, card, "approve")
    await it.told(ADA, "Too late: restart expired at")
    const facts = await it.facts(id)
    expect(facts.slice(-2)).toMatchObject([
      { what: "expired", via: "timer" },
      { what: "refused", outcome: "too late", by: { user: ADA } },
    ])
    expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: false, reason: "expired", via: "timer" })
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
  })

  test("a press on a copy that we knew nothing of settles both copies", async () => {
    const it = await rig({ slack: { scopes: ["commands", "chat:write", "users:read", "usergroups:read", "im:write"] } })
    const id = await it.start()
    const lost = it.slack.workspace.misbehave({ do: "lose-reply", method: "chat.postMessage", times: 1 })
    await it.ask(id)
    const copies = await it.slack.workspace.waitFor(() => {
      const found = it.slack.workspace.messages(OPS).filter(isCard)
      return found.length === 2 && found
    }, 15_000)
    expect(lost.hits).toBe(1)
    const [unknown] = copies
    if (!unknown) throw new Error("no copy")
    await it.press(ADA, unknown, "approve")
    await it.slack.workspace.waitFor(() => copies.every((copy) => buttonsOf(it.now(copy)).length === 0))
    expect(await settledFacts(it, id)).toHaveLength(1)
  })
})

describe("whatever happens", () => {
  test("a card outlives the process that posted it", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    await it.bot.stop()
    await it.another()
    expect((await it.press(ADA, card, "approve")).acked).toBe(true)
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    expect(await settledFacts(it, id)).toHaveLength(1)
  })

  test("when Redis is away nothing is recorded, and that is what the person reads; the next press works", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    const it = await rig({ redisUrl: proxy.url })
    const { card } = await asked(it)
    proxy.refuse(true)
    expect((await it.press(ADA, card, "approve")).acked).toBe(true)
    await it.slack.workspace.waitFor(() => it.slack.workspace.ephemerals(ADA).length === 1, 20_000)
    expect(await it.told(ADA, "Not recorded")).toContain("press again")
    expect(buttonsOf(it.now(card))).toEqual(["approve", "decline"])
    proxy.refuse(false)
    await expect.poll(() => it.store.now().catch(() => 0), { timeout: 10_000 }).toBeGreaterThan(0)
    await it.press(ADA, card, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0, 10_000)
    await it.bot.stop()
    await proxy.close()
  }, 60_000)

  test("when Redis is slow the ack is not, and the press counts once", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    const it = await rig()
    const { id, card } = await asked(it)
    await it.bot.app.stop(1000)
    const slow = await it.another({ redisUrl: proxy.url, show: false })
    proxy.delay(2000)
    const seen = await it.press(ADA, card, "approve")
    expect(seen).toMatchObject({ acked: true })
    expect(seen.ackMs).toBeLessThan(1000)
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0, 20_000)
    expect(await settledFacts(it, id)).toHaveLength(1)
    proxy.delay(0)
    await slow.stop()
    await proxy.close()
  }, 60_000)

  test("when the socket drops between receipt and ack, what was recorded stays and the redelivery is the same press", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    it.slack.workspace.misbehave({ do: "drop-socket", envelope: "interactive", times: 1 })
    await it.press(ADA, card, "approve")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    await it.slack.workspace.deliver({ ...deliveryOf(it), envelope_id: "again", retry_attempt: 1 })
    expect(await settledFacts(it, id)).toHaveLength(1)
    expect(it.slack.workspace.ephemerals(ADA)).toEqual([])
  })

  test("a button that belongs to nothing we know is answered", async () => {
    const it = await rig()
    const { card } = await asked(it)
    await it.press(ADA, card, "decline")
    const { payload, ...envelope } = structuredClone(deliveryOf(it))
    const [action] = payload["actions"] as Record<string, unknown>[]
    const forge = (change: object, envelope_id: string) =>
      it.slack.workspace.deliver({
        ...envelope,
        envelope_id,
        payload: { ...payload, actions: [{ ...action, ...change }] },
      })
    let told = it.slack.workspace.ephemerals(ADA).length
    for (const change of [
      { value: "r00000000000000:1:pnd-1" },
      { value: "nonsense" },
      { value: "" },
      { action_id: "explode" },
      { action_id: "cancel", value: "r00000000000000" },
    ]) {
      expect((await forge(change, `forged-${told}`)).acked).toBe(true)
      told += 1
      await it.slack.workspace.waitFor(() => it.slack.workspace.ephemerals(ADA).length === told)
    }
    expect(it.slack.workspace.ephemerals(ADA).at(-1)?.text).toContain("there is no such run")
  })

  test("a press made before the request changed is not counted for what it says now", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    await it.change(id, (run) => ({
      run: { ...run, asks: run.asks.map((ask) => ({ ...ask, version: 2 })) },
      facts: [],
      texts: [],
      append: [],
      slots: [],
      show: "",
    }))
    await it.press(ADA, card, "approve")
    await it.told(ADA, "has changed since you saw it")
    expect(await open(it, id)).toBe(1)
  })

  test("a run that a newer release wrote is left alone, and the person hears why", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    await it.bot.show?.stop()
    const redis = new Redis(redisUrl())
    const key = `{${it.prefix}:0}:run:${id}`
    const state = JSON.parse((await redis.hget(key, "state")) ?? "{}") as object
    await redis.hset(key, "state", JSON.stringify({ ...state, format: 99 }), "format", "99")
    await it.press(ADA, card, "approve")
    await it.told(ADA, "I'm being updated")
    expect(JSON.parse((await redis.hget(key, "state")) ?? "{}")).toEqual({ ...state, format: 99 })
    await redis.quit()
  })

  test("when the response url no longer works the word comes as a direct message", async () => {
    const it = await rig()
    const { card } = await asked(it)
    it.slack.workspace.misbehave({ do: "status", method: "response_url", status: 404 })
    await it.press(OSCAR, card, "approve")
    await it.told(OSCAR, "You are not among those")
    expect(it.slack.workspace.ephemerals(OSCAR)).toEqual([])
  })
})

test("who sees no change because Slack takes none is told that the press is recorded", async () => {
  const it = await rig()
  const { id, card } = await asked(it)
  it.slack.workspace.misbehave({ do: "429", retryAfter: 60, method: "chat.update" })
  await it.press(ADA, card, "approve")
  await it.told(ADA, "Recorded: approved, restart")
  expect(await settledFacts(it, id)).toHaveLength(1)
  expect(buttonsOf(it.now(card))).toEqual(["approve", "decline"])
})

describe("the cancel button", () => {
  const root = (it: Rig): Message => {
    const found = it.slack.workspace
      .messages(OPS)
      .find((message) => message.thread_ts === undefined || message.thread_ts === message.ts)
    if (!found) throw new Error("no root")
    return found
  }

  test("is for the requester and those who may decide; what was asked is answered no", async () => {
    const it = await rig()
    const { id, card } = await asked(it)
    await it.press(OSCAR, root(it), "cancel")
    await it.told(OSCAR, "You are not among those who may cancel this run")
    expect(await open(it, id)).toBe(1)
    await it.press(ROBIN, root(it), "cancel")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(root(it))).length === 0)
    expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: false, reason: "cancelled", by: { user: ROBIN } })
    await it.press(ADA, card, "approve")
    await it.told(ADA, "Already settled")
  })

  test("on a run that is over says so", async () => {
    const it = await rig()
    const id = await it.start()
    const before = root(it)
    await it.press(ADA, before, "cancel")
    await it.slack.workspace.waitFor(() => buttonsOf(it.now(before)).length === 0)
    await it.press(ROBIN, before, "cancel")
    await it.told(ROBIN, "the run is over (cancelled)")
    expect((await it.facts(id)).filter(({ what }) => what === "cancelled")).toHaveLength(1)
  })
})

describe("masked values", () => {
  const SECRET = "xoxb-111111111111-222222222222-abcdefghijklmnopqrstuvwx"

  test("are shown to those who decide alone, to their eyes alone, and that is a fact", async () => {
    const it = await rig()
    const { id, card } = await asked(it, { args: { header: `Bearer ${SECRET}` } })
    expect(buttonsOf(card)).toEqual(["approve", "decline", "reveal"])
    await it.press(OSCAR, card, "reveal")
    await it.told(OSCAR, "may see the masked values")
    await it.press(ADA, card, "reveal")
    await it.told(ADA, "arguments with their masked values")
    expect(JSON.stringify(it.slack.workspace.ephemerals(ADA))).toContain(SECRET)
    expect(JSON.stringify(it.slack.workspace.ephemerals(OSCAR))).not.toContain(SECRET)
    expect(JSON.stringify(it.slack.workspace.messages(OPS))).not.toContain(SECRET)
    expect(it.logged.join("")).not.toContain(SECRET)
    const shown = await it.store.show.shown(id)
    expect(JSON.stringify([...shown.owed, ...shown.sent])).not.toContain(SECRET)
    const looks = (await it.facts(id)).filter(({ by }) => by?.user === OSCAR || by?.user === ADA)
    expect(looks).toMatchObject([
      { what: "refused", outcome: "reveal: not listed", by: { user: OSCAR } },
      { what: "revealed", by: { user: ADA } },
    ])
  })

  test("whoever asked for the run sees them only if they are one of those who decide", async () => {
    const it = await rig()
    const { card } = await asked(it, { args: { token: SECRET } })
    await it.press(ROBIN, card, "reveal")
    await it.told(ROBIN, "may see the masked values")
    it.slack.workspace.alterGroup(SRE, { users: [ADA, ROBIN] })
    it.clock.later += 61_000
    await it.press(ROBIN, card, "reveal")
    await it.told(ROBIN, "arguments with their masked values")
  })
})

test("the rules of settling are asked with what is true at that moment", async () => {
  const it = await rig()
  const { id, card } = await asked(it)
  const [ask] = await it.asks(id)
  await it.change(id, (run) => expire(run, (ask?.expiresAt ?? 0) + 1))
  await it.press(ADA, card, "approve")
  await it.told(ADA, "Too late")
  const run = await it.run(id)
  const who = { person: { team: "T1", user: ADA }, standing: "member" as const, member: { [SRE]: "yes" as const } }
  const again = settle(run, { ask: ask?.id ?? "", version: 1, ok: true, who, via: "cli", cause: "x" }, 0)
  expect(again.outcome.kind).toBe("settled")
})
