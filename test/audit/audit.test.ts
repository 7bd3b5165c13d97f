import { randomUUID } from "node:crypto"
import { Redis } from "ioredis"
import { describe, expect, onTestFinished, test } from "vitest"
import { startAudit, type Audit, type AuditChannel, type AuditOptions, type Posted } from "../../src/audit/audit.ts"
import { fold, verify } from "../../src/audit/journal.ts"
import { verifyAudit } from "../../src/audit/verifying.ts"
import { edit } from "../../src/core/edit.ts"
import { withAsk, type Ask } from "../../src/core/run.ts"
import { settle } from "../../src/core/settle.ts"
import { canonical, sha256 } from "../../src/core/digest.ts"
import type { Fact } from "../../src/core/fact.ts"
import type { Run, Step } from "../../src/core/run.ts"
import { rooted } from "../../src/core/thread.ts"
import { begin, took } from "../../src/core/turn.ts"
import { ADA, AUDIT, GRACE, ROBIN } from "../../src/sandbox/seed.ts"
import { startSlack, type SandboxSlack } from "../../src/sandbox/slack.ts"
import { createLog } from "../../src/log.ts"
import { slackClient } from "../../src/slack/client.ts"
import { auditChannel } from "../../src/slack/audit-channel.ts"
import { Pace } from "../../src/slack/show/pace.ts"
import { runIdOf, shardKeys } from "../../src/store/keys.ts"
import { Store } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"

interface Rig {
  prefix: string
  slack: SandboxSlack
  store: Store
  logged: string[]
  channel: AuditChannel
  start(channel?: Partial<AuditChannel>, more?: Partial<AuditOptions>): Audit
  begin(prompt?: string): Promise<string>
  ask(run: string, args: unknown): Promise<string>
  decide(run: string, ask: string, ok: boolean, who?: { user: string; name: string }, cause?: string): Promise<void>
  /** Every line in the audit channel, in order. */
  lines(): string[]
  drained(): Promise<void>
}

async function rig(): Promise<Rig> {
  const slack = await startSlack()
  const audits: Audit[] = []
  const prefix = freshPrefix()
  const store = await Store.open({
    url: redisUrl(),
    prefix,
    shards: 1,
    confirm: 0,
    outbox: true,
    onCommit: (id, step) => audits.forEach((audit) => audit.committed(id, step)),
  })
  const logged: string[] = []
  const client = slackClient({ token: slack.botToken, apiUrl: slack.apiUrl, timeout: 2000 })
  const log = createLog({
    level: "warn",
    secrets: [],
    mask: (text) => text,
    out: { write: (line) => void logged.push(line) },
  })
  const pace = new Pace(store, { "chat.postMessage": { every: 5, burst: 4 } })
  const channel = auditChannel({ client, channel: AUDIT, pace, args: "masked", admins: [GRACE] })
  const pulse = setInterval(() => {
    store.peek().then(
      (peeked) => audits.forEach((audit) => audit.tick(peeked)),
      () => undefined,
    )
  }, 50)
  onTestFinished(async () => {
    clearInterval(pulse)
    slack.workspace.behave()
    await Promise.all(audits.map((audit) => audit.stop()))
    await store.close()
    await slack.close()
  })
  const change = async (id: string, next: (run: Run | undefined, now: number) => Step | undefined): Promise<void> => {
    const done = await store.apply(id, (run, now) => {
      const step = next(run, now)
      return { outcome: undefined, ...(step ? { step } : {}) }
    })
    expect(done.kind).toBe("applied")
  }
  const lines = (): string[] =>
    slack.workspace
      .messages(AUDIT)
      .flatMap((message) =>
        (message.blocks ?? []).flatMap((block) => block["elements"] as { elements: { text: string }[] }[]),
      )
      .map(({ elements }) =>
        elements
          .map(({ text }) => text)
          .join("")
          .trimEnd(),
      )
  return {
    prefix,
    slack,
    store,
    logged,
    lines,
    channel,
    start(own = {}, more = {}) {
      const audit = startAudit({ store, owner: randomUUID(), log, channel: { ...channel, ...own }, every: 20, ...more })
      audits.push(audit)
      return audit
    },
    async begin(prompt = "restart web") {
      const cause = randomUUID()
      const id = runIdOf("T1", cause, 1)
      await change(id, (_, now) =>
        begin(
          {
            id,
            cause,
            requester: { team: "T1", user: ROBIN, name: "Robin" },
            channel: "C0OPS",
            prompt,
            keep: 1000,
            rooted: false,
            via: "command",
            transcript: ["{}"],
          },
          now,
        ),
      )
      await change(id, (run, now) => run && rooted(run, "1700000000.000100", now))
      return id
    },
    async ask(id, args) {
      const request = `pnd-${randomUUID()}`
      const text = canonical(args)
      const rule = { approvers: [ADA, GRACE], selfApproval: false as const, expiresIn: 60_000, startWithin: 60_000 }
      await change(
        id,
        (run, now) =>
          run &&
          took(
            run,
            {
              message: "{}",
              text: "",
              usage: { prompt: 1, completion: 1 },
              planned: [
                {
                  ref: "call_1",
                  tool: "restart",
                  effects: "once",
                  args: text,
                  digest: sha256(text),
                  next: { do: "ask", request: { id: request, kind: "approval", prompt: "Run restart?" }, rule },
                },
              ],
            },
            now,
          ),
      )
      return request
    },
    decide: (id, ask, ok, who = { user: ADA, name: "Ada" }, cause = randomUUID()) =>
      change(
        id,
        (run, now) =>
          run &&
          settle(
            run,
            {
              ask,
              version: 1,
              ok,
              who: { person: { team: "T1", ...who }, standing: "member", member: {} },
              via: "click",
              cause,
            },
            now,
          ).step,
      ),
    async drained() {
      await expect.poll(async () => (await store.peek()).outbox, { timeout: 10_000 }).toBe(0)
    },
  }
}

const numbers = (lines: readonly string[]): number[] =>
  lines.flatMap((line) => (line.startsWith("#") ? [Number.parseInt(line.slice(1), 10)] : []))
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
const errors = (logged: readonly string[]): Record<string, unknown>[] =>
  logged
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ level }) => level === "error" || level === 50)
const factsOf = async (store: Store, id: string): Promise<Fact[]> =>
  (await store.facts(id)).map((text) => JSON.parse(text) as Fact)

describe("the audit channel", () => {
  test("shows the args that each fact is about, of a call whose args people changed", async () => {
    const bot = await rig()
    bot.start()
    const id = await bot.begin()
    const request = await bot.ask(id, { service: "web" })
    const args = canonical({ service: "api" })
    const who = { person: { team: "T1", user: ADA }, standing: "member", member: {} } as const
    const tried = { ask: request, version: 1, who, via: "form", cause: "e", args, digest: sha256(args) } as const
    await bot.store.apply(id, (run, now) => {
      const rule = run?.asks[0]?.rule
      if (!run || !rule) throw new Error("there is no ask")
      const able = withAsk(run, { ...run.asks[0], rule: { ...rule, edit: { by: "approvers" } } } as Ask)
      const decision = { do: "allow" } as const
      return edit(able, { ...tried, decision, request: { id: request, kind: "approval", prompt: "Run it" } }, now)
    })
    await bot.drained()
    const about = bot.lines().filter((line) => line.includes(request))
    expect(about.find((line) => line.includes("asked about"))).toContain('args {"service":"web"}')
    expect(about.find((line) => line.includes("edited"))).toContain('args {"service":"api"}')
  })

  test("tells of three decisions by itself: what, decision, who, when, run, Request, door", async () => {
    const bot = await rig()
    bot.start()
    const decided: [string, string, boolean][] = []
    for (const ok of [true, false, true]) {
      const id = await bot.begin()
      const request = await bot.ask(id, { service: "web", n: decided.length })
      await bot.decide(id, request, ok)
      decided.push([id, request, ok])
    }
    await bot.drained()
    for (const [index, [id, request, ok]] of decided.entries()) {
      const line = bot.lines().find((it) => it.includes(request) && it.includes("by “Ada”"))
      expect(line).toMatch(/^#\d+ · 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC · /)
      expect(line).toContain(`${ok ? "approved" : "declined"}: restart`)
      expect(line).toContain(`args {"n":${index},"service":"web"} · args sha-256 `)
      expect(line).toContain("(U0APP1, team T1) · via click")
      expect(line).toContain(`run ${id}`)
    }
  })

  test("has every fact once, in order, under its number", async () => {
    const bot = await rig()
    bot.start()
    const ids: string[] = []
    for (let n = 0; n < 12; n++) {
      const id = await bot.begin(`run ${n}`)
      await bot.decide(id, await bot.ask(id, { n }), n % 2 === 0)
      ids.push(id)
    }
    await bot.drained()
    const count = (await Promise.all(ids.map((id) => factsOf(bot.store, id)))).flat().length
    expect(numbers(bot.lines())).toEqual(upTo(count))
    // Together, not one message each.
    expect(bot.slack.workspace.messages(AUDIT).length).toBeLessThan(count)
  })

  test("says who by id and team whatever they are called", async () => {
    const bot = await rig()
    bot.start()
    const id = await bot.begin()
    const request = await bot.ask(id, {})
    await bot.decide(id, request, true, { user: ADA, name: "Sam" }, "U0APP1 100.5 x")
    await bot.decide(id, request, true, { user: GRACE, name: "Sam" }, "U0APP2 100.6 x")
    await bot.drained()
    const byThem = bot.lines().filter((line) => line.includes("“Sam”"))
    expect(
      byThem.map((line) => [
        line.includes("(U0APP1, team T1)"),
        line.includes("approved: restart"),
        line.includes("already settled"),
      ]),
    ).toEqual([
      [true, true, false],
      [false, false, true],
    ])
    expect(byThem[1]).toContain("cause U0APP2 100.6 x")
    expect(bot.slack.workspace.notifications()).toEqual([])
  })

  test.each([
    ["digest", false],
    ["masked", true],
  ])("args: %s", async (_, showsArgs) => {
    const bot = await rig()
    bot.start({ showsArgs: () => Promise.resolve(showsArgs) })
    const secret = "xoxb-1111111111-2222222222-abcdefabcdef"
    const id = await bot.begin(`please ${secret}`)
    await bot.ask(id, { header: `Authorization: Bearer ${secret}`, service: "web" })
    await bot.drained()
    const all = bot.lines().join("\n")
    expect(all).not.toContain(secret)
    expect(all.includes('"service":"web"')).toBe(showsArgs)
    expect(all.includes("please")).toBe(showsArgs)
    expect(all).toContain("args sha-256 ")
  })

  test("args stay out when it can't be known who reads the channel", async () => {
    const bot = await rig()
    bot.start({ showsArgs: () => Promise.reject(new Error("timeout")) })
    await bot.ask(await bot.begin(), { service: "web" })
    await bot.drained()
    expect(bot.lines().join("\n")).not.toContain("web")
  })

  test("a checkpoint bears the root over all lines before it", async () => {
    const bot = await rig()
    bot.start({}, { checkpointEvery: 4 })
    const ids: string[] = []
    for (let n = 0; n < 6; n++) {
      const id = await bot.begin()
      await bot.ask(id, { n })
      ids.push(id)
    }
    await bot.drained()
    const facts = new Map(
      (await Promise.all(ids.map((id) => factsOf(bot.store, id)))).flat().map((fact) => [fact.hash.slice(0, 12), fact]),
    )
    let root = ""
    let count = 0
    let checked = 0
    for (const line of bot.lines()) {
      if (line.startsWith("checkpoint")) {
        expect(line).toBe(`checkpoint · shard 0 · ${count} lines · root ${root}`)
        checked += 1
        continue
      }
      const fact = facts.get(/fact \d+ ([0-9a-f]{12})/.exec(line)?.[1] ?? "")
      expect(fact).toBeDefined()
      if (fact) root = fold(root, fact)
      count += 1
    }
    expect(checked).toBeGreaterThan(0)
    expect(count).toBe(18)
    const [, lines, last = ""] =
      / · (\d+) lines · root (\S+)/.exec(bot.lines().findLast((it) => it.startsWith("c")) ?? "") ?? []
    const checkpoint = { shard: 0, count: Number(lines), root: last }
    expect((await verifyAudit(bot.store, { checkpoint })).faults).toEqual([])
  })
})

describe("an audit that is interrupted", () => {
  test("goes on where it stopped, without a gap", async () => {
    const bot = await rig()
    const first = bot.start()
    const one = await bot.begin()
    await bot.ask(one, { n: 1 })
    await bot.drained()
    await first.stop()
    const other = await bot.begin()
    await bot.ask(other, { n: 2 })
    expect(numbers(bot.lines())).toEqual(upTo(3))
    bot.start()
    await bot.drained()
    expect(numbers(bot.lines())).toEqual(upTo(6))
  })

  test("repeats a message whose reply was lost, under the same numbers", async () => {
    const bot = await rig()
    bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "lose-reply", times: 1 })
    const id = await bot.begin()
    await bot.ask(id, { n: 1 })
    bot.start()
    await bot.drained()
    expect(numbers(bot.lines())).toEqual([1, 2, 3, 1, 2, 3])
    const [before, after] = [bot.lines().slice(0, 3), bot.lines().slice(3)]
    expect(after).toEqual(before)
  })

  test("repeats what it posted without noting it", async () => {
    const bot = await rig()
    const id = await bot.begin()
    await bot.ask(id, { n: 1 })
    let died: () => void = () => undefined
    let bury: (posted: Posted) => void = () => undefined
    const dead = new Promise<Posted>((resolve) => {
      bury = resolve
    })
    const posted = new Promise<void>((resolve) => {
      died = resolve
    })
    // Posts, and is never heard of again.
    const post: AuditChannel["post"] = async (lines) => {
      await bot.channel.post(lines)
      died()
      return dead
    }
    bot.start({ post }, { owner: "lost" })
    await posted
    await bot.store.lease(0, "audit", "lost", 1)
    bot.start()
    await bot.drained()
    expect(numbers(bot.lines())).toEqual([1, 2, 3, 1, 2, 3])
    bury({ kind: "failed", error: "", content: false })
  })

  test("waits as long as Slack says, and loses nothing", async () => {
    const bot = await rig()
    const limited = bot.slack.workspace.misbehave({ method: "chat.postMessage", do: "429", retryAfter: 1, times: 1 })
    await bot.begin()
    bot.start()
    await bot.drained()
    expect(limited.hits).toBe(1)
    const [first, second] = bot.slack.workspace.calls.filter(({ method }) => method === "chat.postMessage")
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(950)
    expect(numbers(bot.lines())).toEqual([1, 2])
  })

  test("a channel that takes nothing holds the lines until it does", async () => {
    const bot = await rig()
    const refuse = bot.slack.workspace.misbehave({
      method: "chat.postMessage",
      channel: AUDIT,
      do: "error",
      error: "is_archived",
    })
    await bot.begin()
    bot.start()
    await expect.poll(() => refuse.hits).toBe(1)
    expect((await bot.store.peek()).outbox).toBe(2)
    expect(bot.logged.join()).toContain("is_archived")
    refuse.remove()
    await bot.drained()
    expect(numbers(bot.lines())).toEqual([1, 2])
  })

  test("a channel that was closed: those who can mend it are told once, and the channel when it is open again", async () => {
    const bot = await rig()
    const { workspace } = bot.slack
    const toGrace = () => {
      const dm = [...workspace.channels.values()].find(({ kind, members }) => kind === "dm" && members.includes(GRACE))
      return workspace.messages(dm?.id ?? "").map(({ text }) => text)
    }
    const setArchived = (is_archived: boolean) =>
      workspace.channels.set(AUDIT, { ...workspace.channel(AUDIT), is_archived })
    setArchived(true)
    await bot.begin()
    const first = bot.start()
    await expect.poll(() => errors(bot.logged).length, { timeout: 10_000 }).toBe(2)
    await first.stop()
    bot.start()
    await expect.poll(() => errors(bot.logged).length, { timeout: 10_000 }).toBe(3)
    expect(toGrace()).toEqual([
      expect.stringMatching(/audit channel C0AUDIT: it is archived\. Unarchive it.*No line is lost/),
    ])
    setArchived(false)
    await bot.drained()
    expect(bot.lines()[0]).toMatch(/^gap · shard 0 · nothing could be posted here since .* UTC \(is_archived\); /)
    expect(numbers(bot.lines())).toEqual([1, 2])
    await bot.begin()
    await bot.drained()
    expect(bot.lines().filter((line) => line.startsWith("gap"))).toHaveLength(1)
  })

  test("a line that Slack refuses goes as a bare one, the others as they are", async () => {
    const bot = await rig()
    await bot.begin("first")
    bot.start({
      post: (lines) =>
        lines.some((line) => line.includes("asked for “first”"))
          ? Promise.resolve({ kind: "failed", error: "invalid_blocks", content: true })
          : bot.channel.post(lines),
    })
    await bot.drained()
    expect(numbers(bot.lines())).toEqual([1, 2])
    expect(bot.lines()[0]).toMatch(/^#1 · [^·]* UTC · started · via command · run \S+ fact 1 [0-9a-f]{64}$/)
    expect(bot.lines()[1]).toContain("run shown")
  })

  test("a line that is refused even as a bare one leaves its number in the channel, and its fact in the log", async () => {
    const bot = await rig()
    const id = await bot.begin("first")
    const [first, second] = await factsOf(bot.store, id)
    bot.start({
      post: (lines) =>
        lines.some((line) => line.includes("fact 1 "))
          ? Promise.resolve({ kind: "failed", error: "invalid_blocks", content: true })
          : bot.channel.post(lines),
    })
    await bot.drained()
    expect(bot.lines()[0]).toBe("#1 · (this line could not be shown)")
    expect(numbers(bot.lines())).toEqual([1, 2])
    expect(bot.lines()[1]).toContain(`fact 2 ${second?.hash.slice(0, 12)}`)
    expect(errors(bot.logged)).toMatchObject([{ number: "1", fact: { hash: first?.hash }, error: "invalid_blocks" }])
  })

  test("a line that is refused whatever stands in it is tried three times, told to the log, and holds up no other", async () => {
    const bot = await rig()
    const id = await bot.begin("first")
    const [first] = await factsOf(bot.store, id)
    let plain = 0
    bot.start({
      post: (lines) => {
        if (lines[0]?.includes("could not be shown")) plain += 1
        return lines.some((line) => line.startsWith("#1 "))
          ? Promise.resolve({ kind: "failed", error: "invalid_blocks", content: true })
          : bot.channel.post(lines)
      },
    })
    await bot.drained()
    expect(plain).toBe(3)
    expect(numbers(bot.lines())).toEqual([2])
    expect(errors(bot.logged).at(-1)).toMatchObject({
      number: "1",
      fact: { hash: first?.hash },
      msg: expect.stringContaining("not in the channel") as string,
    })
    // The root counts it, so that a checkpoint shows what is missing.
    const reached = await bot.store.outbox.audit(0)
    expect(reached).toMatchObject({ lines: "2" })
  })

  test.each([
    ["whose state is no JSON", ["HSET", "state", "x"]],
    ["whose key holds something else", ["SET", "x"]],
  ] as const)("a run %s is told of without its texts, and holds up no other", async (_, [command, ...garbage]) => {
    const bot = await rig()
    const redis = new Redis(redisUrl())
    onTestFinished(() => redis.disconnect())
    const broken = await bot.begin("restart db")
    await bot.ask(broken, { service: "db" })
    const other = await bot.begin()
    await redis.call(command, shardKeys(bot.prefix, 0).run + broken, ...garbage)
    bot.start()
    await bot.drained()
    expect(numbers(bot.lines())).toEqual(upTo(5))
    expect(bot.lines().filter((line) => line.includes(`run ${broken}`))).toHaveLength(3)
    expect(bot.lines().find((line) => line.includes(`run ${other}`))).toContain("asked for “restart web”")
  })

  test("two processes write each line once", async () => {
    const bot = await rig()
    bot.start()
    bot.start()
    for (let n = 0; n < 10; n++) await bot.begin()
    await bot.drained()
    expect(numbers(bot.lines())).toEqual(upTo(20))
  })
})

describe("verifying a run", () => {
  test("its chain is whole, and ends where the run says", async () => {
    const bot = await rig()
    const id = await bot.begin()
    await bot.decide(id, await bot.ask(id, {}), true)
    const facts = await factsOf(bot.store, id)
    expect(await verify(bot.store, id)).toEqual({ kind: "whole", facts: facts.length, tip: facts.at(-1)?.hash })
    expect(await verify(bot.store, "r00000000000000")).toEqual({ kind: "no such run" })
  })
})

test.each([
  [
    "altered",
    async (redis: Redis, key: string) => {
      const fact = await redis.hget(key, "fact:3")
      await redis.hset(key, "fact:3", (fact ?? "").replace("restart", "reboot"))
    },
    3,
  ],
  ["taken out", (redis: Redis, key: string) => redis.hdel(key, "fact:2"), 2],
  ["cut off at the end", (redis: Redis, key: string) => redis.hdel(key, "fact:3"), 3],
])("a fact that was %s shows", async (_, tamper, at) => {
  const bot = await rig()
  const id = await bot.begin()
  await bot.ask(id, {})
  const redis = new Redis(redisUrl())
  await tamper(redis, `${shardKeys(bot.prefix, 0).run}${id}`)
  await redis.quit()
  expect(await verify(bot.store, id)).toEqual({ kind: "broken", at })
})

test("each fact goes to the log as it is committed, whatever else is logged", async () => {
  const bot = await rig()
  bot.start()
  const id = await bot.begin()
  const logged = bot.logged.map((line) => JSON.parse(line) as { fact?: Fact; msg: string })
  expect(logged.map(({ fact }) => fact)).toEqual(await factsOf(bot.store, id))
  expect(new Set(logged.map(({ msg }) => msg))).toEqual(new Set(["fact"]))
})

test("without a channel facts go to the log alone", async () => {
  const bot = await rig()
  bot.start({}, { channel: undefined })
  const id = await bot.begin()
  expect(bot.logged).toHaveLength((await factsOf(bot.store, id)).length)
  expect(bot.slack.workspace.calls).toEqual([])
})
