import { afterEach, describe, expect, test, vi } from "vitest"
import type { Json } from "../fakes/balance.ts"
import type { Style, WireCall } from "../fakes/provider.ts"
import { APP1, APP2, OPS, Team, until } from "./team.ts"

// Each waits for what it says, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

// The provider refuses with 400 whatever the real ones refuse: a request whose calls and results don't match ends the
// run in failure, so a run that is done had every transcript in balance.

let team: Team
afterEach(() => team.close())

interface Result {
  id: string
  text: string
  /** Only Anthropic's wire has a word for it. */
  isError?: boolean
}

/** The results that end a request. */
function lastResults(style: Style, body: Json): Result[] {
  const messages: Json[] = body.messages
  if (style === "anthropic") {
    return (messages.at(-1).content as Json[]).map(({ tool_use_id: id, content, is_error: isError = false }) => ({
      id,
      text: typeof content === "string" ? content : content.map((part: Json) => part.text).join(""),
      isError,
    }))
  }
  const after = messages.findLastIndex(({ role }) => role !== "tool") + 1
  return messages.slice(after).map(({ tool_call_id: id, content: text }) => ({ id, text }))
}

/** As the wire has it: without `isError` where it has no word for that. */
const onWire = (style: Style, results: Required<Result>[]): Result[] =>
  results.map(({ isError, ...rest }) => (style === "anthropic" ? { ...rest, isError } : rest))

const call = (id: string, name: string, args: WireCall["args"] = {}): WireCall => ({ id, name, args })

/** The card about a tool's call, or one that says something, as it is now. */
const cardSaying = (words: string) => {
  const found = team.cards().find((card) => JSON.stringify(card.blocks).includes(words))
  if (!found) throw new Error(`no card says ${words}`)
  return found
}

describe.each<Style>(["openai", "anthropic"])("on the %s wire", (style) => {
  test("a plain call and two that ask, one approved and one declined, across a restart", async () => {
    team = await Team.start({
      style,
      turns: [
        {
          text: "Looking first.",
          calls: [call("c1", "read", { text: "load 0.9" }), call("c2", "restart"), call("c3", "page")],
        },
        { text: "All settled." },
      ],
    })
    const first = await team.bot()
    await team.command("tidy up")
    await team.card(2)
    await until(
      () => team.executions("read").length === 1,
      () => "the plain call",
    )
    await first.stop()
    await team.bot()
    await team.click(APP1, cardSaying("restart"), "decline")
    await team.click(APP2, cardSaying("page"), "approve")
    const run = await team.ended()

    expect(run.ended?.how).toBe("done")
    expect(team.executions().map(({ name }) => name)).toEqual(["read", "page"])
    expect(team.provider.requests).toHaveLength(2)
    expect(lastResults(style, team.provider.requests[1]?.body)).toEqual(
      onWire(style, [
        { id: "c1", text: "load 0.9", isError: false },
        { id: "c2", text: "declined/expired: Run restart", isError: true },
        { id: "c3", text: "paged", isError: false },
      ]),
    )
  })

  test("tools that suspend by themselves, answered in any order, each get their own answer", async () => {
    team = await Team.start({
      style,
      turns: [
        {
          calls: [
            call("c1", "confirm", { prompt: "Delete a?", file: "a" }),
            call("c2", "confirm", { prompt: "Delete b?", file: "b" }),
            call("c3", "confirm", { prompt: "Delete c?", file: "c" }),
          ],
        },
        { text: "Done with them." },
      ],
    })
    await team.bot()
    await team.command("delete them")
    await team.card(3)
    await team.click(APP1, cardSaying("Delete c?"), "approve")
    await team.click(APP1, cardSaying("Delete b?"), "decline")
    await team.click(APP1, cardSaying("Delete a?"), "approve")
    const run = await team.ended()

    expect(run.ended?.how).toBe("done")
    const answered = team.executions("confirm").filter(({ answer }) => answer !== undefined)
    expect(answered.map(({ args }) => String(args["file"])).toSorted()).toEqual(["a", "c"])
    expect(lastResults(style, team.provider.requests[1]?.body)).toEqual(
      onWire(style, [
        { id: "c1", text: 'confirmed with {"output":"approved"}', isError: false },
        { id: "c2", text: "declined/expired: Delete b?", isError: true },
        { id: "c3", text: 'confirmed with {"output":"approved"}', isError: false },
      ]),
    )
  })

  test("every fate that a call can have, in one turn", async () => {
    team = await Team.start({
      style,
      config: {
        approvals: [
          { tool: "read", do: "allow" },
          { tool: "confirm", do: "allow" },
          { tool: "insist", do: "allow" },
          { tool: "scale", do: "deny" },
        ],
      },
      turns: [
        {
          calls: [
            call("c1", "fail"),
            call("c2", "nosuch"),
            call("c3", "read", '{"text":"a","text":"b"}'),
            call("c4", "insist"),
            call("c5", "scale"),
            call("c6", "confirm", { prompt: "Quick?", expiresAt: new Date(Date.now() + 6000).toISOString() }),
            call("c7", "page"),
            call("c8", "read", { text: "as it is" }),
          ],
        },
        { text: "So be it." },
      ],
    })
    await team.bot()
    await team.command("everything at once")
    await team.card(4)
    await team.click(APP1, cardSaying("fail"), "approve")
    await team.click(APP1, cardSaying("Again?"), "approve")
    await team.click(APP1, cardSaying("page"), "approve")
    const run = await team.ended()

    expect(run.ended).toMatchObject({ how: "done" })
    const results = lastResults(style, team.provider.requests[1]?.body)
    expect(results.map(({ id }) => id)).toEqual(["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"])
    const texts = results.map(({ text }) => text)
    expect(texts[0]).toContain("the disk is full")
    expect(texts[1]).toBe("Unknown tool: nosuch")
    expect(texts[2]).toContain("text")
    expect(texts[3]).toBe("unresolved: Again?")
    expect(texts[4]).not.toContain("scaled")
    expect(texts[5]).toMatch(/^declined\/expired: Quick\?\nnobody answered before /)
    expect(texts.slice(6)).toEqual(["paged", "as it is"])
    if (style === "anthropic") {
      expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true, true, true, false, false])
    }
    // Only the ones that may run did.
    expect(
      team
        .executions()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["confirm", "fail", "insist", "insist", "page", "read"].toSorted())
  })
})

test("a call that is declined again and again is not asked for ever, and the limit is named", async () => {
  const again = (n: number) => ({ calls: [call(`c${n}`, "restart", { service: "web" })] })
  team = await Team.start({ model: { maxTurns: 6 }, turns: [1, 2, 3, 4, 5, 6, 7].map(again) })
  await team.bot()
  await team.command("restart, whatever they say")
  for (const n of [1, 2, 3]) {
    await team.run((run) => run.turns === n)
    const card = await team.card(1)
    await team.click(APP1, card, "decline")
    await until(
      () => !JSON.stringify(team.now(card).blocks).includes('"action_id":"approve"'),
      () => "the card to close",
    )
  }
  const run = await team.ended()

  expect(run.ended).toMatchObject({ how: "incomplete", words: "maxTurns (6)" })
  expect(team.executions()).toEqual([])
  expect(team.provider.requests).toHaveLength(6)
  expect(lastResults("openai", team.provider.requests[4]?.body)[0]?.text).toContain("declined 3 times")
  const asked = (await team.facts(run)).filter(({ what }) => what === "asked")
  expect(asked).toHaveLength(3)
  await until(
    () => JSON.stringify(team.slack.workspace.messages(OPS)).includes("The run stopped before it was done"),
    () => "the end to be told",
  )
  expect(JSON.stringify(team.slack.workspace.messages(OPS))).toContain("maxTurns (6)")
})

test("a run that has used its tokens up ends incomplete, with every call answered", async () => {
  const usage = { prompt: 600, completion: 100 }
  team = await Team.start({
    model: { maxTokens: 1000 },
    turns: [1, 2, 3].map((n) => ({ calls: [call(`c${n}`, "read", { text: "more" })], usage })),
  })
  await team.bot()
  await team.command("read on and on")
  const run = await team.ended()
  expect(run.ended).toMatchObject({ how: "incomplete", words: "maxTokens (1000)" })
  expect(team.provider.requests).toHaveLength(2)
  expect(await team.results(run)).toEqual([
    { isError: false, output: "more" },
    { isError: false, output: "more" },
  ])
})

describe("a provider that stumbles", () => {
  test("is asked again later with the same request, and nothing runs twice", async () => {
    team = await Team.start({
      turns: [
        { status: 429, headers: { "retry-after": "1" } },
        { calls: [call("c1", "restart")] },
        { status: 500 },
        { cut: "midway" },
        { text: "Got there." },
      ],
    })
    await team.bot()
    await team.command("restart it")
    await until(
      () => JSON.stringify(team.slack.workspace.messages(OPS)).includes("too many requests (429)"),
      () => "the wait to be told",
    )
    await team.click(APP1, await team.card(), "approve")
    const run = await team.ended()
    expect(run.ended?.how).toBe("done")
    expect(team.executions("restart")).toHaveLength(1)
    const raw = team.provider.requests.map((request) => request.raw)
    expect(raw).toHaveLength(5)
    expect(raw[1]).toBe(raw[0])
    expect(raw[3]).toBe(raw[2])
    expect(raw[4]).toBe(raw[2])
    expect(lastResults("openai", team.provider.requests[4]?.body)).toEqual([{ id: "c1", text: "restarted" }])
  })

  test("for good ends the run, in words that a person understands", async () => {
    const message = (text: string) => JSON.stringify({ error: { message: text } })
    team = await Team.start({
      scripts: {
        "wrong key": [{ status: 401, body: message("Incorrect API key provided: sk-test-key-of-the-team") }],
        "no credit": [{ status: 429, body: message("You exceeded your current quota, insufficient_quota") }],
        "too long": [{ status: 400, body: message("This model's maximum context length is 8192 tokens") }],
        "no model": [{ status: 404, body: message("The model does not exist") }],
        "after a call": [{ calls: [call("c1", "read", { text: "kept" })] }, { status: 403 }],
      },
    })
    const bot = await team.bot()
    const words = new Map<string, string | undefined>()
    for (const prompt of ["wrong key", "no credit", "too long", "no model", "after a call"]) await team.begin(prompt)
    for (const prompt of ["wrong key", "no credit", "too long", "no model", "after a call"]) {
      const { ended } = await team.endOf(prompt)
      expect(ended?.how).toBe("failed")
      words.set(prompt, ended?.words)
    }
    expect(Object.fromEntries(words)).toEqual({
      "wrong key": "the model's server refuses our key (401); check model.apiKey",
      "no credit": "the account at the model's provider has no credit left (429)",
      "too long": "the conversation has become too long for the model",
      "no model": expect.stringContaining("check model.model and model.baseUrl"),
      "after a call": expect.stringContaining("(403)"),
    })
    const posted = () => JSON.stringify(team.slack.workspace.messages(OPS))
    await until(
      () => [...words.values()].every((said) => posted().includes(JSON.stringify(said).slice(1, -1))),
      () => "the words in the threads",
      30_000,
    )
    expect(posted() + bot.log()).not.toContain("sk-test-key")
  })
})
