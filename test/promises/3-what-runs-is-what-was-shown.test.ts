/**
 * Promise 3: what is shown, digested, stored and executed is one text, whole. Nothing is hidden, stripped or asked for again
 * in between, and a call that is no longer what was shown does not run.
 */
import { writeFileSync } from "node:fs"
import { Redis } from "ioredis"
import { describe, expect, test, vi } from "vitest"
import { canonical, sha256 } from "../../src/core/digest.ts"
import { visibleJson } from "../../src/slack/blocks/text.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { redisUrl } from "../redis.ts"
import { nodes, wordsOf } from "./seen.ts"
import { APP1, APP2, must, OPS, REQ, Team, until, type Message } from "./team.ts"

vi.setConfig({ testTimeout: 120_000 })

const wanting = (name: string, args: Record<string, unknown> | string = {}): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name, args }] },
  { text: "That is all." },
]

/** The texts that stand in a message exactly as they are. */
const exact = (message: Pick<Message, "blocks">): string =>
  nodes(message.blocks)
    .filter(({ type }) => type === "rich_text_preformatted")
    .map((block) =>
      nodes(block["elements"])
        .map(({ text }) => String(text))
        .join(""),
    )
    .join("")

/** Whether Slack was sent something with that button. */
const offers = (blocks: unknown, action = "approve"): boolean =>
  nodes(blocks).some(({ action_id }) => action_id === action)

const ARGS = {
  argv: ["git ", "status"],
  cwd: "/x",
  env: { PATH: "/evil", EMPTY: "", LIST: [], NONE: null },
  n: [1e21, -0.5, 0],
  order: { b: 1, a: 2 },
  text: 'quote " back\\slash\ttab and ünïcode 漢字',
}

describe.concurrent("the args of a call", () => {
  test("are one text: on the card, in its fingerprint, in Redis, and in what runs", async ({ onTestFinished }) => {
    // As a model may write it: its own order and spacing, and spellings of its own.
    const raw = JSON.stringify(ARGS, null, 1)
      .replace("漢字", "\\u6f22\\u5b57")
      .replace("1e+21", "1000000000000000000000")
    const it = await Team.during(onTestFinished, { scripts: { args: wanting("restart", raw) } })
    await it.bot()
    const run = await it.begin("args")
    const card = await it.cardOf(run)
    const text = canonical(ARGS)
    expect(exact(card)).toBe(text)
    const [ask] = (await it.runOf("args")).asks
    expect(must(ask).digest).toBe(sha256(text))
    expect(wordsOf(card)).toContain(`Fingerprint ${sha256(text).slice(0, 12)}`)
    expect(await it.store.texts(run.id, ["args:1.1"])).toEqual([text])
    await it.click(APP1, card, "approve")
    await until(
      () => it.executions().length === 1,
      () => "the execution",
    )
    expect(it.executions()[0]?.args).toEqual(ARGS)
    expect(canonical(it.executions()[0]?.args)).toBe(text)
    await it.endOf("args")
    // Between the question and the execution no model was asked; its second request comes after the result.
    expect(it.provider.requests).toHaveLength(2)
    const facts = (await it.facts(run)).filter(({ args }) => args !== undefined)
    expect(new Set(facts.map(({ args }) => args))).toEqual(new Set([sha256(text)]))
    expect(facts.map(({ what }) => what)).toEqual(["asked", "shown", "settled", "started", "finished"])
  })

  test.for<[string, string, string]>([
    ["a key twice", '{"path":"/tmp/x","path":"/"}', 'the key "path" twice'],
    ["a number that would change", '{"id":15947634569000323123}', "can't be kept exactly"],
    ["no JSON", '{"path":', "not valid JSON"],
    ["no object", '["/"]', "must be one JSON object"],
  ])("with %s go back to the model, and nobody is asked", async ([, raw, words], { onTestFinished, expect }) => {
    const it = await Team.during(onTestFinished, { scripts: { broken: wanting("restart", raw) } })
    await it.bot()
    const run = await it.begin("broken")
    await it.endOf("broken")
    expect(await it.results(run)).toEqual([{ isError: true, output: expect.stringContaining(words) as string }])
    expect((await it.facts(run)).filter(({ what }) => what === "asked")).toEqual([])
    expect(it.executions()).toEqual([])
  })

  test("with a secret show that and how much is masked, and run with the real value", async ({ onTestFinished }) => {
    const password = "correct-horse-9"
    const it = await Team.during(onTestFinished, { scripts: { secret: wanting("restart", { password, user: "ada" }) } })
    await it.bot()
    const run = await it.begin("secret")
    const card = await it.cardOf(run)
    expect(wordsOf(card)).toContain("1 value masked: the call gets the real one.")
    await it.click(APP1, card, "reveal")
    await until(
      () => it.slack.workspace.ephemerals(APP1).some((message) => exact(message).includes(password)),
      () => "the masked value, for who may decide",
    )
    await it.click(APP1, card, "approve")
    await it.endOf("secret")
    expect(it.executions()[0]?.args).toEqual({ password, user: "ada" })
  })

  test("that are too long for a card stand whole in the thread before there is a yes", async ({ onTestFinished }) => {
    const command = `echo ok ${"and on ".repeat(1100)}${" ".repeat(4000)}; rm -rf /data`
    const it = await Team.during(onTestFinished, { scripts: { long: wanting("restart", { command }) } })
    await it.bot()
    const run = await it.begin("long")
    const card = await it.cardOf(run, "approve", 1, 60_000)
    const text = canonical({ command })
    const thread = it.slack.workspace.messages(OPS, must(card.thread_ts))
    const pieces = thread.filter(({ text }) => text.includes("part "))
    expect(pieces.length).toBeGreaterThan(1)
    expect(pieces.map(exact).join("")).toBe(visibleJson(text))
    expect(wordsOf(card)).toContain(`${text.length.toLocaleString("en")} characters`)
    // No yes was ever on offer before the last of it stood there.
    const calls = it.slack.workspace.calls.filter(({ method }) => /^chat\.(postMessage|update)$/.test(method))
    const offered = calls.findIndex(
      ({ args }) => offers(args["blocks"]) || String(args["blocks"]).includes('"approve"'),
    )
    const last = calls.findLastIndex(({ args }) => String(args["text"]).includes("part "))
    expect(offered).toBeGreaterThan(last)
    expect(last).toBeGreaterThan(0)
    await it.click(APP1, card, "approve")
    await it.endOf("long")
    expect(it.executions()[0]?.args).toEqual({ command })
  })

  test("that Slack does not take in full can be declined, and not approved", async ({ onTestFinished }) => {
    const command = `echo ${"word ".repeat(3000)}; rm -rf /data`
    const it = await Team.during(onTestFinished, { scripts: { refused: wanting("restart", { command }) } })
    const { workspace } = it.slack
    await it.bot()
    let refusals = 0
    onTestFinished(
      workspace.on("call", () => {
        // After the root comes the first piece: it is refused in full, and in short.
        if (workspace.messages(OPS).length !== 1 || refusals > 0) return
        refusals = 2
        workspace.misbehave({
          do: "error",
          error: "invalid_blocks",
          method: "chat.postMessage",
          channel: OPS,
          times: refusals,
        })
      }),
    )
    const run = await it.begin("refused")
    const card = await it.cardOf(run, "decline")
    expect(offers(card.blocks)).toBe(false)
    expect(wordsOf(card)).toContain("Approve appears when everything above can be read in full.")
    await it.click(APP1, card, "decline")
    await it.endOf("refused")
    expect(it.executions()).toEqual([])
  })
})

describe.concurrent("a call that is no longer what was shown does not run, and the card says so", () => {
  test("when its stored args were changed", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, { scripts: { changed: wanting("restart", { env: "staging" }) } })
    const redis = new Redis(redisUrl())
    onTestFinished(() => redis.disconnect())
    await it.bot()
    const run = await it.begin("changed")
    const card = await it.cardOf(run)
    const key = `{${it.prefix}:0}:run:${run.id}`
    expect(await redis.hget(key, "args:1.1")).toBe('{"env":"staging"}')
    await redis.hset(key, "args:1.1", '{"env":"prod"}')
    await it.click(APP1, card, "approve")
    await it.endOf("changed")
    expect(it.executions()).toEqual([])
    expect(await it.results(run)).toEqual([
      { isError: true, output: "the stored arguments are not those that were shown; it was not executed" },
    ])
    const facts = await it.facts(run)
    expect(facts.find(({ what, call }) => what === "finished" && call === "1.1")).toMatchObject({
      outcome: "args changed",
      args: sha256('{"env":"staging"}'),
    })
    expect(facts.filter(({ what, call }) => what === "started" && call !== undefined)).toEqual([])
    await until(
      () => wordsOf(it.now(card)).includes("not run after all: its stored arguments are not those that were shown."),
      () => wordsOf(it.now(card)),
    )
  })

  const tool = (rest: string): string => `export default [{
    name: "restart", description: "restart (once)", ${rest},
    run: () => { throw new Error("it ran") },
  }]`
  const open = "inputSchema: { type: 'object', additionalProperties: true }"
  test.for<[string, string, string, string]>([
    [
      "removed",
      tool(open).replace('"restart"', '"reboot"'),
      "tool not available any more: restart",
      "is not available",
    ],
    [
      "changed so that the args no longer fit",
      tool("inputSchema: { type: 'object', required: ['host'], properties: { host: { type: 'string' } } }"),
      "tool has changed: invalid arguments for restart",
      "has changed since",
    ],
  ])("when its tool was %s", async ([, source, words, said], { onTestFinished, expect }) => {
    const it = await Team.during(onTestFinished, { scripts: { deploy: wanting("restart", { service: "web" }) } })
    const first = await it.bot()
    const run = await it.begin("deploy")
    const card = await it.cardOf(run)
    await first.stop()
    writeFileSync(it.path("later.mjs"), source)
    it.reconfigure({ tools: [it.path("later.mjs")] })
    await it.bot()
    await it.click(APP1, card, "approve")
    const ended = await it.endOf("deploy")
    expect(ended.ended?.how).toBe("done")
    expect(await it.results(run)).toEqual([{ isError: true, output: expect.stringContaining(words) as string }])
    expect(it.executions()).toEqual([])
    await it.closed(run)
    await until(
      () => wordsOf(it.now(card)).includes(`The call was not run after all: its tool ${said}`),
      () => wordsOf(it.now(card)),
    )
  })
})

describe("a press counts for what it was made on", () => {
  test("and names neither another version, nor another ask, nor other args", async ({ onTestFinished }) => {
    const it = await Team.during(onTestFinished, {
      scripts: { mine: wanting("restart", { run: "mine" }), other: wanting("restart", { run: "other" }) },
    })
    await it.bot()
    const [mine, other] = [await it.begin("mine"), await it.begin("other", REQ)]
    const [card, others] = [await it.cardOf(mine), await it.cardOf(other)]
    const [ask, otherAsk] = [await it.runOf("mine"), await it.runOf("other")].map(({ asks }) => must(asks[0]).id)
    const forged = async (user: string, value: string): Promise<void> => {
      const blocks = structuredClone(card.blocks ?? [])
      for (const node of nodes(blocks)) if (node["action_id"] === "approve") node["value"] = value
      await it.click(user, { ...card, blocks }, "approve")
    }
    await forged(APP1, `${mine.id}:2:${ask}`)
    await it.hears(APP1, "the request has changed since you saw it")
    // The ask of another run, under this one's name.
    await forged(APP2, `${mine.id}:1:${otherAsk}`)
    await it.hears(APP2, "Not recorded: this button belongs to nothing that I know.")
    expect((await it.runOf("mine")).asks[0]?.settled).toBeUndefined()
    expect((await it.runOf("other")).asks[0]?.settled).toBeUndefined()
    await it.click(APP1, others, "approve")
    await it.endOf("other")
    expect(it.executions().map(({ args }) => args["run"])).toEqual(["other"])
    await it.click(APP1, card, "approve")
    await it.endOf("mine")
    expect(it.executions().map(({ args }) => args["run"])).toEqual(["other", "mine"])
  })
})
