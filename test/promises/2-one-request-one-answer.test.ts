/**
 * Promise 2: clicks, cancelling, the timer and a second process race for one atomic step. One wins, everybody else is told
 * truthfully who, and nothing decided is ever decided again.
 */
import { randomUUID } from "node:crypto"
import { describe, expect, test, vi } from "vitest"
import { cancel, expire, utc } from "../../src/core/ask.ts"
import { settle } from "../../src/core/settle.ts"
import type { Fact } from "../../src/core/fact.ts"
import { askOf } from "../../src/core/run.ts"
import type { Ask, Run } from "../../src/core/run.ts"
import type { Applied, Change, Store } from "../../src/store/store.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { freshPrefix } from "../redis.ts"
import { APPROVER, asking, beginning, freshId, openStore } from "../store/runs.ts"
import { APP1, APP2, must, OUT, REQ, Team, until, type Message } from "./team.ts"

vi.setConfig({ testTimeout: 180_000 })

const wanting = (name: string, args: Record<string, unknown> = {}): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name, args }] },
  { text: "That is all." },
]

const rooms = (count: number): string[] => Array.from({ length: count }, (_, index) => `C0ROOM${index}`)
const terminal = (facts: Fact[]): Fact[] => facts.filter(({ what, ask }) => ask && /^(settled|expired)$/.test(what))

/** What everybody else is told of who was first. */
function saying({ tool, expiresAt, settled }: Ask): string {
  const { ok, reason = "approved", by, at } = must(settled, "what settled it")
  if (reason === "expired") return `Too late: ${tool} expired at ${utc(expiresAt)}`
  const { name, user } = must(by, "who settled it")
  return `Already settled: ${ok ? "approved" : reason}, ${tool} by ${name} (${user}) at ${utc(at)}.`
}

/** The ask of a run as it was when its turn was over. */
async function archived(it: Team, id: string, ask: string): Promise<Ask> {
  const [text] = await it.store.texts(id, [`ask:${ask}`])
  return JSON.parse(text ?? "null") as Ask
}

describe("fifty clicks at once on two processes", () => {
  test("are one answer, one execution at most, and forty-nine true words about who was first", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, { scripts: { fifty: wanting("restart") } })
    const bots = await Promise.all([it.process(), it.process()])
    const run = await it.begin("fifty")
    const card = await it.cardOf(run)
    const [ask] = (await it.runOf("fifty")).asks
    // Both who may and who may not, with both buttons; the requester may decline alone.
    const clicks = Array.from({ length: 50 }, (_, i) => ({
      user: [APP1, APP2, OUT, REQ, APP2][i % 5] ?? "",
      action: i % 3 === 0 ? "decline" : "approve",
    }))
    const before = it.told(REQ).length
    const seen = await Promise.all(clicks.map(({ user, action }) => it.click(user, card, action)))
    expect(seen.every(({ acked }) => acked)).toBe(true)
    await it.endOf("fifty")
    const won = await archived(it, run.id, must(ask).id)
    const settled = must(won.settled)
    const winner = must(settled.by).user
    expect([APP1, APP2, REQ]).toContain(winner)
    expect(it.executions()).toHaveLength(settled.ok ? 1 : 0)

    const unlisted = "Not recorded. You are not among those who may decide this."
    const own = "Not recorded. You asked for this run, so somebody else has to approve it. You may decline it."
    const refusal = (user: string) => (user === REQ ? own : unlisted)
    const told = (user: string) =>
      it
        .told(user)
        .slice(user === REQ ? before : 0)
        // Who was first is told so as well, where Slack is slow to show it; and where the run's thread is, at any time.
        .filter((text) => (user !== winner || !text.startsWith("Recorded")) && !text.startsWith("Started"))
    for (const user of new Set(clicks.map((click) => click.user))) {
      const mine = clicks.filter((click) => click.user === user).length - (user === winner ? 1 : 0)
      await until(
        () => told(user).length >= mine,
        () => `${mine} words to ${user}: ${JSON.stringify(told(user))}`,
      )
      expect(told(user)).toHaveLength(mine)
      expect(told(user).filter((text) => !text.startsWith(saying(won)) && text !== refusal(user))).toEqual([])
      if (user.startsWith("U0APP")) expect(told(user)).not.toContain(unlisted)
    }

    // Repeats are counted into a later fact; the last of them when a bot stops.
    await Promise.all(bots.map((bot) => bot.stop()))
    const facts = await it.facts(run)
    expect(terminal(facts)).toMatchObject([{ by: { user: winner } }])
    const refused = facts.filter(({ what }) => what === "refused")
    expect(refused.reduce((sum, { repeats = 0 }) => sum + 1 + repeats, 0)).toBe(49)
  })
})

describe.concurrent("what Slack delivers more than once", () => {
  test("a command starts one run, at once or later, on one bot or two", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, { scripts: { twice: wanting("restart") } })
    await it.bot()
    await it.bot()
    const { workspace } = it.slack
    await it.command("list")
    const sample = workspace.deliveries.at(-1)?.envelope
    if (!sample) throw new Error("no command was sent")
    const payload = { ...sample.payload, text: "twice", trigger_id: "77.88.99" }
    const send = (retry_attempt: number) =>
      workspace.deliver({ ...sample, payload, envelope_id: randomUUID(), retry_attempt, retry_reason: "timeout" })
    const acks = await Promise.all([send(0), send(1), send(2)])
    expect(acks.every(({ acked }) => acked)).toBe(true)
    expect(acks.filter(({ payload: said }) => JSON.stringify(said)?.includes("Started."))).toHaveLength(1)
    const run = await it.runOf("twice")
    const card = await it.cardOf(run)
    expect(await send(3)).toMatchObject({ acked: true })
    await it.click(APP1, card, "approve")
    await it.endOf("twice")
    expect(await send(4)).toMatchObject({ acked: true })
    expect(await it.runs()).toHaveLength(1)
    expect(it.executions()).toHaveLength(1)
    expect(it.provider.requests).toHaveLength(2)
  })

  test("a click is one answer, and its repetition no second attempt", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, { scripts: { click: wanting("restart") } })
    await it.bot()
    await it.bot()
    const run = await it.begin("click")
    const card = await it.cardOf(run)
    const { workspace } = it.slack
    workspace.misbehave({ do: "repeat", envelope: "interactive" })
    await it.click(APP1, card, "approve")
    const sent = workspace.deliveries.at(-1)?.envelope
    if (!sent) throw new Error("no click was sent")
    await Promise.all([1, 2, 3].map(() => workspace.deliver({ ...sent, envelope_id: randomUUID() })))
    await it.endOf("click")
    await workspace.deliver({ ...sent, envelope_id: randomUUID() })
    const facts = await it.facts(run)
    expect(terminal(facts)).toMatchObject([{ outcome: "approved", by: { user: APP1 } }])
    expect(facts.filter(({ what }) => what === "refused")).toEqual([])
    expect(it.told(APP1).filter((text) => !text.startsWith("Recorded"))).toEqual([])
    expect(it.executions()).toHaveLength(1)
  })
})

describe.concurrent("what was decided stays decided", () => {
  test("a no is not undone by any later press, also when the run is over and the bot another", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, { scripts: { over: wanting("restart") } })
    const first = await it.bot()
    const run = await it.begin("over")
    const card = await it.cardOf(run)
    await it.click(APP1, card, "decline")
    await it.endOf("over")
    await first.stop()
    await it.bot()
    for (const [user, action] of [
      [APP2, "approve"],
      [APP2, "decline"],
      [APP1, "approve"],
    ] as const)
      await it.click(user, card, action)
    await it.hears(APP2, /^Already settled: declined, restart by ada \(U0APP1\) at /)
    await it.hears(APP1, /^Already settled: declined, restart by ada \(U0APP1\) at /)
    expect(it.executions()).toEqual([])
    const facts = await it.facts(run)
    expect(terminal(facts)).toMatchObject([{ outcome: "declined", by: { user: APP1 } }])
    expect(await it.results(run)).toEqual([{ isError: true, output: expect.stringContaining("declined/expired:") }])
  })

  test("a press that was overtaken on its way is told who was first, also when the turn is over by then", async ({
    onTestFinished,
  }) => {
    const it = await Team.during(onTestFinished, { scripts: { overtaken: wanting("restart") } })
    const proxy = await it.proxy()
    await it.bot({ redisUrl: proxy.url })
    const run = await it.begin("overtaken")
    const card = await it.cardOf(run)
    const held = proxy.holdFrom('"what":"settled"')
    await it.click(APP2, card, "decline")
    await held
    const ada = {
      person: { team: "T1", user: APP1, name: "ada" },
      standing: "member",
      member: { S0SRE: "yes" },
    } as const
    const ask = must((await it.runOf("overtaken")).asks[0]).id
    await it.store.apply(run.id, (state, now) =>
      settle(must(state), { ask, version: 1, ok: true, who: ada, via: "click", cause: "faster" }, now),
    )
    await it.bot()
    await it.endOf("overtaken")
    proxy.release()
    await it.hears(APP2, /^Already settled: approved, restart by ada \(U0APP1\) at /)
    const refused = (await it.facts(run)).filter(({ what }) => what === "refused")
    expect(refused).toMatchObject([{ outcome: "already settled", by: { user: APP2 } }])
    expect(it.executions()).toHaveLength(1)
  })

  test("each of two requests of one turn gets its own answer, in any order", async ({ onTestFinished }) => {
    const calls = [
      { id: "c1", name: "restart", args: { env: "a" } },
      { id: "c2", name: "restart", args: { env: "b" } },
    ]
    const it = await Team.during(onTestFinished, { scripts: { two: [{ text: "Both.", calls }, { text: "Done." }] } })
    await it.bot()
    const run = await it.begin("two")
    const cards = [await it.cardOf(run, "approve", 1), await it.cardOf(run, "approve", 2)]
    const withEnv = (env: string): Message => {
      const found = cards.find((card) => JSON.stringify(card.blocks).includes(`{\\"env\\":\\"${env}\\"}`))
      if (!found) throw new Error(`no card for ${env}`)
      return found
    }
    await it.click(APP1, withEnv("b"), "approve")
    await until(
      () => it.executions().length === 1,
      () => "the call that was approved",
    )
    expect((await it.runOf("two")).asks.map(({ settled }) => settled?.ok)).toEqual([undefined, true])
    expect(it.executions()).toMatchObject([{ args: { env: "b" } }])
    await it.click(APP2, withEnv("a"), "approve")
    await it.endOf("two")
    expect(it.executions().map(({ args }) => args["env"])).toEqual(["b", "a"])
    expect(it.provider.requests).toHaveLength(2)
  })

  test("a press that comes before Slack has said that the card stands is an answer", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, { scripts: { early: wanting("restart") } })
    await it.bot()
    let pressed = 0
    it.slack.workspace.misbehave({
      method: "chat.postMessage",
      during: async () => {
        const [card] = it.cards()
        if (!card || pressed > 0) return
        pressed += 1
        await it.click(APP1, card, "approve")
        await until(
          () => it.executions().length === 1,
          () => "the execution, before the card's post is answered",
          5000,
        )
      },
    })
    const run = await it.begin("early")
    await it.endOf("early")
    expect(it.executions()).toHaveLength(1)
    await it.closed(run)
  })
})

describe.concurrent("races of different kinds", () => {
  test("a press at the deadline: card, reply, transcript and facts tell the same story", async ({ onTestFinished }) => {
    const count = 8
    const prompts = Array.from({ length: count }, (_, index) => `race ${index}`)
    const it = await Team.during(onTestFinished, {
      scripts: Object.fromEntries(prompts.map((prompt) => [prompt, wanting("restart", { prompt })])),
      config: { channels: rooms(count), approvals: [{ tool: "restart", do: "ask", expiresIn: "8s" }] },
    })
    const offset = (await it.store.now()) - Date.now()
    await it.bot()
    await it.bot()
    const stories = await Promise.all(
      rooms(count).map(async (room, index) => {
        const prompt = prompts[index] ?? ""
        const run = await it.begin(prompt, REQ, it.room(room))
        const card = await it.cardOf(run)
        const [ask] = (await it.runOf(prompt)).asks
        // From well before to well after, most of them close by.
        const at = (ask?.expiresAt ?? 0) - offset + ([-60, -25, -12, -6, -3, 0, 5, 30][index] ?? 0)
        await new Promise((resolve) => setTimeout(resolve, at - Date.now()))
        await it.click(APP1, card, "approve")
        await it.endOf(prompt)
        await it.closed(run)
        const facts = await it.facts(run)
        const settled = (await archived(it, run.id, ask?.id ?? "")).settled
        const [result] = await it.results(run)
        return { run, card: it.now(card), facts, settled, result, prompt, expiresAt: ask?.expiresAt ?? 0 }
      }),
    )
    for (const { facts, settled, result, card, prompt, expiresAt } of stories) {
      const [only, ...more] = terminal(facts)
      expect(more).toEqual([])
      const ran = it.executions().filter(({ args }) => args["prompt"] === prompt).length
      if (settled?.ok) {
        expect(only).toMatchObject({ what: "settled", outcome: "approved", via: "click" })
        expect(settled.at).toBeLessThan(expiresAt)
        expect([ran, result?.isError]).toEqual([1, false])
        expect(card.text).toMatch(/^Approved: restart/)
      } else {
        expect(only).toMatchObject({ what: "expired", via: "timer" })
        expect(settled?.at).toBeGreaterThanOrEqual(expiresAt)
        expect([ran, result?.isError]).toEqual([0, true])
        expect(card.text).toMatch(/^Expired: restart/)
      }
    }
    const late = stories.filter(({ settled }) => !settled?.ok)
    await until(
      () => it.told(APP1).filter((text) => text.startsWith("Too late: restart expired at ")).length === late.length,
      () => `${late.length} words: ${JSON.stringify(it.told(APP1))}`,
    )
  })

  test("cancelling and approving at once: the ask is settled once, and both are told what is so", async ({
    onTestFinished,
  }) => {
    const count = 6
    const prompts = Array.from({ length: count }, (_, index) => `stop ${index}`)
    const it = await Team.during(onTestFinished, {
      scripts: Object.fromEntries(prompts.map((prompt) => [prompt, wanting("restart", { prompt })])),
      config: { channels: rooms(count) },
    })
    await it.bot()
    await it.bot()
    await Promise.all(
      prompts.map(async (prompt, index) => {
        const run = await it.begin(prompt, REQ, it.room(`C0ROOM${index}`))
        const card = await it.cardOf(run)
        const root = await it.cardOf(run, "cancel")
        const both = [() => it.click(REQ, root, "cancel"), () => it.click(APP1, card, "approve")]
        await Promise.all((index % 2 === 0 ? both : both.toReversed()).map((press) => press()))
        const ended = await it.endOf(prompt)
        await it.closed(run)
        const [only, ...more] = terminal(await it.facts(ended))
        expect(more).toEqual([])
        const ran = it.executions().filter(({ args }) => args["prompt"] === prompt).length
        expect(ran).toBeLessThanOrEqual(only?.outcome === "approved" ? 1 : 0)
        expect(["cancelled", "done"]).toContain(ended.ended?.how)
      }),
    )
    const cancelledFirst = (await Promise.all((await it.runs()).map((run) => it.facts(run)))).filter(
      (facts) => terminal(facts)[0]?.outcome === "cancelled",
    )
    await until(
      () =>
        it.told(APP1).filter((text) => text.startsWith("Already settled: cancelled")).length === cancelledFirst.length,
      () => `${cancelledFirst.length} words: ${JSON.stringify(it.told(APP1))}`,
    )
  })

  test("the atomic step, a thousand times: yes, no, cancel and timer at the deadline, from two processes", async ({
    onTestFinished,
  }) => {
    const prefix = freshPrefix()
    const stores = await Promise.all([openStore({ prefix }), openStore({ prefix })])
    for (const store of stores) onTestFinished(() => store.close())
    const [one, other] = stores
    const tally = new Map<string, number>()
    for (let round = 0; round < 50; round++) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const how = await raced(one, other, 20 + ((round + index) % 12), index % 5)
          tally.set(how, (tally.get(how) ?? 0) + 1)
        }),
      )
    }
    expect([...tally.values()].reduce((sum, count) => sum + count, 0)).toBe(1000)
    // It was a race, not a procession.
    expect([...tally.keys()].toSorted()).toEqual(["approved", "cancelled", "declined", "expired"])
  })
})

const who = { person: APPROVER, standing: "member" as const, member: {} }
const pressing =
  (ok: boolean) =>
  (run: Run | undefined, now: number): Change<unknown> =>
    settle(must(run), { ask: "a", version: 1, ok, who, via: "click", cause: `press:${ok}` }, now)
const timer = (run: Run | undefined, now: number): Change<unknown> => ({
  step: expire(must(run), now),
  outcome: undefined,
})
const stopping = (run: Run | undefined, now: number): Change<unknown> =>
  cancel(must(run), { who, people: [APPROVER.user], via: "command", cause: "stop" }, now)

/** Four parties at one ask's deadline. Returns what became of it; throws when two of them see it differently. */
async function raced(one: Store, other: Store, expiresIn: number, first: number): Promise<string> {
  const id = freshId()
  await one.apply(id, beginning(id))
  await one.apply(id, asking("a", expiresIn))
  const parties = [
    () => one.apply(id, pressing(true)),
    () => other.apply(id, pressing(false)),
    () => one.apply(id, timer),
    () => other.apply(id, stopping),
    () => other.apply(id, timer),
  ]
  // From well before to just after.
  const wait = expiresIn - must([18, 12, 6, 18, -1][first])
  await new Promise((resolve) => setTimeout(resolve, wait))
  const seen = await Promise.all([...parties.slice(first), ...parties.slice(0, first)].map((party) => party()))
  const ask = must(askOf(must(await one.load(id)).run, "a"))
  const settled = must(ask.settled)
  for (const applied of seen) expectSame(applied, ask)
  if (settled.reason !== "expired") expect(settled.at).toBeLessThan(ask.expiresAt)
  const last = terminal((await one.facts(id)).map((text) => JSON.parse(text) as Fact))
  expect(last).toHaveLength(1)
  return must(must(last[0]).outcome)
}

/** Whoever was told of a settled ask was told of this one. */
function expectSame(applied: Applied<unknown>, ask: Ask): void {
  if (applied.kind !== "applied") throw new Error(applied.kind)
  const outcome = applied.outcome as { ask?: Ask } | undefined
  if (outcome?.ask?.settled) expect(outcome.ask.settled).toEqual(ask.settled)
}
