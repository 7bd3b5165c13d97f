import { afterEach, describe, expect, test, vi } from "vitest"
import { fold, verify } from "../../src/audit/journal.ts"
import { brokenAt, type Fact } from "../../src/core/fact.ts"
import type { Run } from "../../src/core/run.ts"
import type { WireCall, WireTurn } from "../fakes/provider.ts"
import { auditLines, isLive, nodes, wordsOf } from "./seen.ts"
import { APP1, APP2, AUDIT, OPS, OUT, REQ, Team, until, type Message } from "./team.ts"

// Each waits for what it says, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let team: Team
afterEach(() => team.close())

const call = (id: string, name: string, args: WireCall["args"] = {}): WireCall => ({ id, name, args })
const END: WireTurn = { text: "Over." }

/** All facts of all runs, by the words that a line ends on. */
async function factsByLine(users = [REQ]): Promise<Map<string, Fact>> {
  const runs = (await Promise.all(users.map((user) => team.runs(user)))).flat()
  const facts = (await Promise.all(runs.map((run) => team.facts(run)))).flat()
  return new Map(facts.map((fact) => [`run ${fact.run} fact ${fact.n} ${fact.hash.slice(0, 12)}`, fact]))
}

const NUMBERED = /^#(\d+) · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC · /
const numberOf = (line: string): number => Number(NUMBERED.exec(line)?.[1])
const tagOf = (line: string): string => /run \S+ fact \d+ [0-9a-f]{12}/.exec(line)?.[0] ?? ""

/** Resolves with the lines when every fact there is has one. */
async function audited(users = [REQ]): Promise<string[]> {
  const missing = async (): Promise<string[]> => {
    const tags = new Set(auditLines(team).map(tagOf))
    return [...(await factsByLine(users)).keys()].filter((tag) => !tags.has(tag))
  }
  await until(
    async () => (await missing()).length === 0,
    () => `lines for all facts, of which there are ${auditLines(team).length}`,
    30_000,
  )
  return auditLines(team).filter((line) => NUMBERED.test(line))
}

const cardAbout = async (run: Run, words: string): Promise<Message> => {
  const find = (): Message | undefined =>
    team.slack.workspace
      .messages(OPS)
      .find(
        (one) =>
          isLive(one) &&
          wordsOf(one).includes(run.id) &&
          wordsOf(one).includes(words) &&
          wordsOf(one).includes("Fingerprint"),
      )
  await until(
    () => find() !== undefined,
    () => `a card about ${words}`,
  )
  const found = find()
  if (!found) throw new Error("no card")
  return found
}

const settledOf = (prompt: string, count: number): Promise<Run> =>
  team.runOf(prompt, ({ ended, asks }) => ended !== undefined || asks.filter(({ settled }) => settled).length >= count)

const kindsOf = (facts: readonly Fact[]): string[] =>
  facts.map(({ what, tool = "run", outcome = "", via }) => `${what} ${tool} ${outcome} ${via}`.replaceAll("  ", " "))

test("whatever is tried and whatever happens is in the run's chain, in the audit channel and in the log", async () => {
  team = await Team.start({
    scripts: {
      everything: [
        {
          calls: [
            call("c1", "read"),
            call("c2", "restart", { service: "web" }),
            call("c3", "page", { password: "correct-horse-9" }),
            call("c4", "confirm", { prompt: "Quick?", expiresAt: new Date(Date.now() + 8000).toISOString() }),
            call("c5", "nosuch"),
          ],
        },
        END,
      ],
      "to be cancelled": [{ calls: [call("c1", "restart")] }],
    },
  })
  const bot = await team.bot()
  const run = await team.begin("everything")
  const restart = await cardAbout(run, "restart")
  const page = await cardAbout(run, "page")
  await cardAbout(run, "Quick?")
  await team.click(OUT, restart, "approve")
  await team.hears(OUT, "Not recorded.")
  const newer = structuredClone(restart)
  for (const node of nodes(newer.blocks))
    if (node["type"] === "button") node["value"] = String(node["value"]).replace(":1:", ":7:")
  await team.click(APP2, newer, "approve")
  await team.hears(APP2, "changed since you saw it")
  await team.click(OUT, page, "reveal")
  await team.hears(OUT, "Not shown.")
  await team.click(APP1, page, "reveal")
  await team.click(APP1, restart, "approve")
  await settledOf("everything", 1)
  await team.click(APP2, restart, "decline")
  await team.hears(APP2, "Already settled")
  await team.click(APP2, page, "decline")
  const done = await team.endOf("everything")
  const facts = await team.facts(done)

  expect(brokenAt(facts)).toBeUndefined()
  expect(await verify(team.store, done.id)).toMatchObject({ kind: "whole", facts: facts.length })
  expect(kindsOf(facts).toSorted()).toEqual(
    [
      "started run command",
      "shown run bot",
      "finished nosuch unknown tool bot",
      "finished read ok bot",
      "asked restart guard bot",
      "asked page guard bot",
      "started confirm bot",
      "asked confirm tool bot",
      "shown restart bot",
      "shown page bot",
      "shown confirm bot",
      "refused restart not listed click",
      "refused restart changed click",
      "refused page reveal: not listed click",
      "revealed page click",
      "settled restart approved click",
      "started restart bot",
      "finished restart ok bot",
      "refused restart already settled click",
      "settled page declined click",
      "finished page declined bot",
      "expired confirm expired timer",
      "finished confirm expired bot",
      "finished run done bot",
    ].toSorted(),
  )
  const settled = facts.find(({ what, outcome }) => what === "settled" && outcome === "approved")
  expect(settled).toMatchObject({ by: { team: "T1", user: APP1, name: expect.any(String) }, version: 1, via: "click" })
  expect(settled?.cause).toMatch(/^approve:[\d.]+:U0APP1:/)

  const other = await team.begin("to be cancelled")
  await team.click(OUT, await cardAbout(other, "restart"), "decline")
  const root = team.slack.workspace
    .messages(OPS)
    .findLast((one) => one.thread_ts === undefined || one.thread_ts === one.ts)
  if (!root) throw new Error("no root")
  await team.click(OUT, root, "cancel")
  await team.hears(OUT, "Not cancelled.")
  await team.command(`cancel ${other.id}`)
  const cancelled = await team.facts(await team.endOf("to be cancelled"))
  expect(brokenAt(cancelled)).toBeUndefined()
  expect(kindsOf(cancelled)).toEqual(
    expect.arrayContaining([
      "refused restart not listed click",
      "refused run cancel: not listed click",
      "cancelled run command",
      "settled restart cancelled command",
      "finished run cancelled bot",
    ]),
  )

  const lines = await audited()
  expect(lines.map(numberOf)).toEqual(lines.map((_, index) => index + 1))
  const byLine = await factsByLine()
  expect(lines.map(tagOf).toSorted()).toEqual([...byLine.keys()].toSorted())
  // Of one run, in the order in which they happened.
  for (const { id } of [done, other]) {
    const numbers = lines.filter((line) => line.includes(`run ${id} `)).map((line) => byLine.get(tagOf(line))?.n)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  }
  const approved = lines.find((line) => line.includes("approved:"))
  expect(approved).toMatch(
    /^#\d+ · \S+ \S+ UTC · approved: restart \(call 1\.2\) · by .*U0APP1, team T1.* · via click · .*args \{"service":"web"\}.* · request \S+ v1 · run \S+ fact \d+ [0-9a-f]{12} · cause approve:/,
  )
  // Masked there too, and marked as masked.
  expect(lines.filter((line) => /\[[a-z ]+, \d+ characters?\]/.test(line)).length).toBeGreaterThan(0)
  expect(lines.join("\n") + bot.log()).not.toContain("correct-horse-9")

  const logged = new Set(
    bot
      .log()
      .split("\n")
      .filter((line) => line.includes('"fact"'))
      .map((line) => (JSON.parse(line) as { fact: Fact }).fact.hash),
  )
  expect([...byLine.values()].filter(({ hash }) => !logged.has(hash))).toEqual([])
})

test("the lines go on without a gap after a restart, and a lost reply repeats a line under its own number", async () => {
  const scripts = { one: [{ calls: [call("c1", "restart")] }, END], two: [{ calls: [call("c1", "read")] }, END] }
  team = await Team.start({ scripts })
  const first = await team.bot()
  const run = await team.begin("one")
  const card = await team.cardOf(run)
  for (let n = 0; n < 4; n += 1) await team.click(OUT, card, "approve")
  await until(
    () => team.told(OUT).filter((text) => text.startsWith("Not recorded.")).length === 4,
    () => "an answer to each press",
  )
  const lost = team.slack.workspace.misbehave({
    do: "lose-reply",
    method: "chat.postMessage",
    channel: AUDIT,
    times: 1,
  })
  await team.click(APP1, card, "approve")
  await team.endOf("one")
  await until(
    () => lost.hits === 1,
    () => "a lost reply",
  )
  await first.stop()
  // What was only counted is a fact by the time the bot has stopped.
  const refused = (await team.facts(run)).filter(({ what }) => what === "refused")
  expect(refused.map(({ repeats = 0 }) => repeats)).toEqual([0, 2])

  await team.bot()
  await team.begin("two")
  await team.endOf("two")
  const lines = await audited()
  const numbers = lines.map(numberOf)
  const unique = new Map(lines.map((line) => [numberOf(line), line]))
  expect([...unique.keys()].toSorted((a, b) => a - b)).toEqual([...unique.keys()].map((_, index) => index + 1))
  expect(numbers.length).toBeGreaterThan(unique.size)
  // A repeat is the same line, and what follows goes on from there.
  for (const line of lines) expect(unique.get(numberOf(line))).toBe(line)
  expect([...unique.values()].map(tagOf).toSorted()).toEqual([...(await factsByLine()).keys()].toSorted())
  expect(lines.filter((line) => line.includes("and 2 more like it"))).toHaveLength(1)
})

test("a checkpoint bears a root that anybody can compute from the facts", async () => {
  const reads = Array.from({ length: 10 }, (_, n) => call(`c${n}`, "read", { text: String(n) }))
  team = await Team.start({ turns: [...Array.from({ length: 10 }, (): WireTurn => ({ calls: reads })), END] })
  await team.bot()
  await team.command("read a lot")
  const run = await team.ended()
  expect((await team.facts(run)).length).toBeGreaterThan(100)
  const lines = await audited()
  const checkpoint = auditLines(team).find((line) => line.startsWith("checkpoint · shard 0 · "))
  const [, count = "", root = ""] =
    /^checkpoint · shard 0 · (\d+) lines · root ([0-9a-f]{64})$/.exec(checkpoint ?? "") ?? []
  const facts = await factsByLine()
  const through = lines.slice(0, Number(count)).map((line) => facts.get(tagOf(line)))
  expect(through.length).toBeGreaterThanOrEqual(100)
  expect(through.reduce((folded, fact) => fold(folded, { hash: fact?.hash ?? "" }), "")).toBe(root)
})

describe("args in the audit", () => {
  const turns = [{ calls: [call("c1", "restart", { service: "the-web-tier" })] }, END]
  test.each([
    ["the configuration says digest", { audit: { channel: AUDIT, args: "digest" } }, "private"],
    ["the channel is public", {}, "channel"],
  ] as const)("are their digest alone where %s", async (_, config, kind) => {
    team = await Team.start({ turns, config })
    const channel = team.slack.workspace.channels.get(AUDIT)
    if (!channel) throw new Error("no audit channel")
    channel.kind = kind
    await team.bot()
    await team.command("restart the-web-tier")
    await team.click(APP1, await team.card(), "approve")
    const run = await team.ended()
    const text = (await audited()).join("\n")
    expect(text).not.toContain("the-web-tier")
    const digest = (await team.facts(run)).find(({ what }) => what === "asked")?.args ?? ""
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
    expect(text).toContain(`args sha-256 ${digest.slice(0, 16)}`)
  })
})

test("who may not start a run is on the record, although there is no run", async () => {
  team = await Team.start()
  const bot = await team.bot()
  const seen = await team.command("restart everything", OUT)
  expect(JSON.stringify(seen.response)).toContain("Not started. You are not among those who may start runs.")
  const entry = bot
    .log()
    .split("\n")
    .find((line) => line.includes('"start: not listed"'))
  expect(JSON.parse(entry ?? "{}")).toMatchObject({ what: "refused", via: "command", by: { user: OUT }, channel: OPS })
})
